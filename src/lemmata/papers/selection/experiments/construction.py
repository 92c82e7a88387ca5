"""The experiments behind Theorem C.3 and Eq. (8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from scipy.special import softmax

from lemmata.claims import AbstractInstances, Bench, Experiment, Scale, Several
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from .. import theory
from ..setting import (
    Attention,
    Plan,
    Task,
    attend_by_scale,
    equation_8,
    inner_products,
    largest_off_subset,
    near_orthogonal,
    one_hot,
    self_attention,
    tight_encodings,
    walsh,
)
from .plans import (
    AbstractOfPlan,
    AbstractPlanned,
    Drawn,
    Plans,
    Size,
    Trial,
    Unseen,
    length_problem,
    tabulate,
)

MOST_SUBSETS = 5_000
"""If there are more subsets, so many random ones are looked at."""

CLOSE = 0.5
"""The proof of Theorem C.3 has |<e_i, e_y>| at most this."""

MOST_NUMBERS = 500_000
"""Inner products that are kept."""

MOST_POSITIONS = 1_000
"""Longer encodings are not looked at."""


@dataclass(frozen=True)
class Encoded(AbstractPlanned):
    """Encodings, the inner products <e_i, e_y> for many subsets, and the plan's epsilon.

    Attributes:
        plan: T, q, d and the error that is asked of attention.
        E: the encodings.
        y, g: subsets, and the inner products of all positions with their encodings.
    """

    plan: Plan
    E: Float[np.ndarray, "d_e T"]
    y: Int[np.ndarray, "subsets q"]
    g: Float[np.ndarray, "subsets T"]

    @property
    def epsilon(self) -> float:
        """The error that is asked of attention."""
        return self.plan.epsilon

    @cached_property
    def coherence(self) -> float:
        """The largest |<e_i, e_j>|."""
        gram = self.E.T @ self.E
        return float(np.abs(gram - np.diag(np.diag(gram))).max())

    @cached_property
    def closest(self) -> float:
        """The largest |<e_i, e_y>| off the subset."""
        return largest_off_subset(self.g, self.y)

    @property
    def scale(self) -> int:
        """The alpha of Theorem C.3's proof."""
        return theory.printed_scale(self.task.T, self.epsilon)

    def attention(self, scale: float | None = None) -> Attention:
        """The weights of a scale, by default that of the proof."""
        return attend_by_scale(self.g, self.y, float(self.scale) if scale is None else scale)

    def log_missed(self, scale: float) -> float:
        """The logarithm of the largest attention off a subset; -inf if there is nothing off it."""
        off = np.ones(self.g.shape, dtype=bool)
        np.put_along_axis(off, self.y, False, axis=1)
        if not off.any():
            return -np.inf
        others = np.logaddexp.reduce(np.where(off, scale * (self.g - 1), -np.inf), axis=1)
        return float((others - np.logaddexp(np.log(self.task.q), others)).max())

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the proof needs and these encodings lack."""
        problems = list(length_problem(self.plan, self.E))
        if self.closest > CLOSE:
            text = f"some |<e_i, e_y>| off the subset is {self.closest:.4f}, more than 1/2"
            problems.append(Problem("encodings_too_close", self.name, text))
        if self.closest >= 1:
            text = f"some |<e_i, e_y>| off the subset is {self.closest:.4f}: not below 1"
            problems.append(Problem("encodings_mislead", self.name, text))
        if self.task.q == self.task.T:
            problems.append(Problem("all_chosen", self.name, "every position is chosen"))
        return tuple(problems)


@dataclass(frozen=True)
class HandMade(AbstractInstances):
    """Three vectors with inner products of 1/4 for subsets of two, and 64 with inner products 1/2.

    The latter are as close as the proof of Theorem C.3 allows, all of them.
    """

    epsilons: tuple[float, ...]

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        near = np.concatenate([np.ones((64, 64)), walsh(6)]) / np.sqrt(128)
        made = (("three vectors", tight_encodings(), 2), ("64 vectors half-way", near, 1))
        return [
            Plan(f"{name}, q={q} eps={eps:.2g}", Task(E.shape[1], q, 1), 1.0, eps, len(E), 1.0, E)
            for name, E, q in made
            for eps in self.epsilons
        ]

    @property
    def says(self) -> str:
        return "three vectors with inner products of 1/4, 64 with inner products of 1/2"


def encode(plan: Plan, seed: int = 0) -> Encoded:
    """A plan's encodings with all subsets, or with many random ones."""
    task, E = plan.task, encodings_of(plan, seed)
    most = max(min(MOST_SUBSETS, MOST_NUMBERS // task.T), 1)
    y = task.some_subsets(most, np.random.default_rng(seed))
    return Encoded(plan, E, y, inner_products(E, y))


def encodings_of(plan: Plan, seed: int) -> Float[np.ndarray, "d_e T"]:
    """A plan's own encodings, one-hot ones, or random ones."""
    if plan.encodings is not None:
        return plan.encodings
    if plan.d_e is None:
        return one_hot(plan.task.T)
    return near_orthogonal(plan.d_e, plan.task.T, plan.threshold, seed)


def encode_all(plans: Sequence[Plan], seed: int) -> tuple[list[Encoded], tuple[Unseen, ...]]:
    """The plans with their encodings, and those that are too long to look at."""
    seen, unseen = [], []
    for plan in plans:
        if plan.task.T > MOST_POSITIONS:
            text = f"T = {plan.task.T} is more than {MOST_POSITIONS}: too large to look at"
            unseen.append(Unseen(plan, (Problem("too_large", plan.name, text),)))
        else:
            seen.append(encode(plan, seed))
    return seen, tuple(unseen)


def _encoded(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Encoded]:
    """Attention by inner products of encodings, on all subsets or many random ones."""
    seen, unseen = encode_all(plans, experiment.seed)
    return as_evidence(seen, unseen)


def as_evidence(cases: Sequence[Encoded], unseen: tuple[Unseen, ...] = ()) -> Evidence[Encoded]:
    """With the numbers that the proof of Theorem C.3 is about as columns."""
    return tabulate(cases, "scale", "closest", "coherence", skipped=unseen)


def _mixed(*epsilons: float) -> Several:
    """One-hot, random and hand-made encodings, with these errors asked for."""
    sizes = (
        Size(20, 3, 2),
        Size(30, 3, 5, 300, threshold=0.25),
        Size(100, 2, 4, 400, threshold=0.25),
    )
    return Several((Plans(sizes, epsilons=epsilons), HandMade(epsilons)))


ENCODED = Experiment(_mixed(0.5, 0.9, 0.1, 0.01), _encoded)


@dataclass(frozen=True)
class Literal8(AbstractOfPlan):
    """The model of Eq. (8) on some inputs, next to what Theorem C.3 says of it.

    Attributes:
        scale: alpha.
        inputs: as Eq. (8) has them.
        weights, outputs: of the model at the last column.
        softmax: softmax(alpha <e_i, e_y>).
    """

    d_e: int
    scale: float
    inputs: Float[np.ndarray, "inputs width T"]
    weights: Float[np.ndarray, "inputs T"]
    outputs: Float[np.ndarray, "inputs d"]
    softmax: Float[np.ndarray, "inputs T"]


FEW_INPUTS = 6


def _literal(case: Encoded, scale: float, seed: int) -> Literal8:
    draw = np.random.default_rng([seed, 8])
    chosen = draw.choice(len(case.y), min(FEW_INPUTS, len(case.y)), replace=False)
    X = case.task.draw_tokens(len(chosen), draw)
    d_e = len(case.E)
    model = self_attention(case.task.d, d_e, scale)
    inputs = [equation_8(x, case.E, y) for x, y in zip(X, case.y[chosen], strict=True)]
    return Literal8(
        name=f"{case.name}, α = {scale:g}",
        plan=case.plan,
        d_e=d_e,
        scale=scale,
        inputs=np.stack(inputs),
        weights=np.stack([model.weights(given) for given in inputs]),
        outputs=np.stack([model(given) for given in inputs]),
        softmax=softmax(scale * case.g[chosen], axis=1),
    )


def _literal_models(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Literal8]:
    """A few random inputs, written out as Eq. (8) has them, with alpha 1 and that of the proof."""
    seen, unseen = encode_all(plans, experiment.seed)
    models = [
        _literal(case, scale, experiment.seed)
        for case in seen
        for scale in (1.0, float(case.scale))
    ]
    return tabulate(models, "d_e", "scale", "weights", "softmax", "outputs", skipped=unseen)


LITERAL = Experiment(
    Several((_mixed(0.5), Plans((Size(6, 2, 6),), epsilons=(0.5,)))), _literal_models
)

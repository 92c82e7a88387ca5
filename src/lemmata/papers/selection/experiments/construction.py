"""The experiments behind Theorem C.3 and Eq. (8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.selection.experiments.networks import Unseen
from lemmata.papers.selection.theory import _networks as theory
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.selection.setting import Plan, Task
    from lemmata.papers.selection.setting._construction import Attention

EPSILONS = (0.5, 0.1, 0.01)

MOST_SUBSETS = 20_000
"""If there are more subsets, so many random ones are looked at."""

CLOSE = 0.5
"""The proof of Theorem C.3 has |<e_i, e_y>| at most this."""


MOST_NUMBERS = 4_000_000
"""Inner products that are kept."""

MOST_POSITIONS = 3_000
"""Longer encodings are not looked at."""


@dataclass(frozen=True)
class Encoded:
    """Encodings, and the inner products <e_i, e_y> for many subsets.

    Attributes:
        task: T, q, d.
        epsilons: the errors asked for.
        E: the encodings.
        y, g: subsets, and the inner products of all positions with their encodings.
    """

    name: str
    task: "Task"
    epsilons: tuple[float, ...]
    E: Float[np.ndarray, "d_e T"]
    y: Int[np.ndarray, "subsets q"]
    g: Float[np.ndarray, "subsets T"]

    @cached_property
    def coherence(self) -> float:
        """The largest |<e_i, e_j>|."""
        gram = self.E.T @ self.E
        return float(np.abs(gram - np.diag(np.diag(gram))).max())

    @cached_property
    def closest(self) -> float:
        """The largest |<e_i, e_y>| off the subset."""
        from lemmata.papers.selection.setting._construction import largest_off_subset

        return largest_off_subset(self.g, self.y)

    @property
    def asked(self) -> "list[Asked]":
        """One row for each epsilon."""
        return [Asked(f"{self.name}, ε = {epsilon:g}", self, epsilon) for epsilon in self.epsilons]

    def attention(self, scale: float) -> "Attention":
        """The weights of a scale."""
        from lemmata.papers.selection.setting._construction import attend_by_scale

        return attend_by_scale(self.g, self.y, scale)

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
        found = []
        if self.closest > CLOSE:
            text = f"some |<e_i, e_y>| off the subset is {self.closest:.4f}, more than 1/2"
            found.append(Problem("encodings_too_close", self.name, text))
        if self.closest >= 1:
            text = f"some |<e_i, e_y>| off the subset is {self.closest:.4f}: not below 1"
            found.append(Problem("encodings_mislead", self.name, text))
        if self.task.q == self.task.T:
            found.append(Problem("all_chosen", self.name, "every position is chosen"))
        return tuple(found)


@dataclass(frozen=True)
class Asked:
    """Encodings, and the error that is asked of attention."""

    name: str
    encoded: Encoded
    epsilon: float

    @property
    def T(self) -> int:
        """How many positions there are."""
        return self.encoded.task.T

    @property
    def q(self) -> int:
        """How many of them are chosen."""
        return self.encoded.task.q

    @property
    def scale(self) -> int:
        """The alpha of Theorem C.3's proof."""
        return theory.printed_scale(self.T, self.epsilon)

    def used(self, weak: bool) -> float:
        """That alpha, or half of what one-hot encodings need: too little for negative controls."""
        if weak:
            return theory.least_scale(self.T, self.q, self.epsilon, 0.0) / 2
        return float(self.scale)

    def attention(self, weak: bool = False) -> "Attention":
        """The weights with one or the other."""
        return self.encoded.attention(self.used(weak))


def encode(
    name: str,
    task: "Task",
    E: Float[np.ndarray, "d_e T"],
    epsilons: Sequence[float] = EPSILONS,
    seed: int = 0,
) -> Encoded:
    """Encodings with all subsets, or with many random ones."""
    from lemmata.papers.selection.setting import inner_products

    most = max(min(MOST_SUBSETS, MOST_NUMBERS // task.T), 1)
    if task.subset_count <= most:
        y = task.all_subsets()
    else:
        y = task.draw_subsets(most, np.random.default_rng(seed))
    return Encoded(name, task, tuple(epsilons), E, y, inner_products(E, y))


def encodings_of(plan: "Plan", seed: int) -> Float[np.ndarray, "d_e T"]:
    """A plan's own encodings, one-hot ones, or random ones."""
    from lemmata.papers.selection.setting import near_orthogonal, one_hot

    if plan.encodings is not None:
        return plan.encodings
    if plan.d_e is None:
        return one_hot(plan.task.T)
    return near_orthogonal(plan.d_e, plan.task.T, plan.threshold, seed)


def _planned(plan: "Plan", seed: int) -> Encoded | Unseen:
    if plan.task.T > MOST_POSITIONS:
        text = f"T = {plan.task.T} is more than {MOST_POSITIONS}: too large to look at"
        return Unseen(plan.name, (Problem("too_large", plan.name, text),))
    return encode(plan.name, plan.task, encodings_of(plan, seed), (plan.epsilon,), seed)


RANDOM = ((30, 3, 5, 300), (100, 2, 4, 400))
"""T, q, d and d_e of the default random encodings, with inner products up to 1/4."""


def _encoded(bench: Bench) -> Cases[Encoded | Unseen]:
    from lemmata.papers.selection.setting import Task, near_orthogonal, one_hot
    from lemmata.papers.selection.setting._construction import tight_encodings

    if bench.instances is not None:
        return Cases(tuple(_planned(plan, bench.seed) for plan in bench.instances))
    found = [
        encode("one-hot, T=20 q=3 d=2", Task(20, 3, 2), one_hot(20)),
        encode("three vectors, q=2", Task(3, 2, 1), tight_encodings()),
    ]
    for T, q, d, d_e in RANDOM:
        name = f"T={T} q={q} d={d} d_e={d_e}"
        found.append(encode(name, Task(T, q, d), near_orthogonal(d_e, T, 0.25, bench.seed)))
    return Cases(tuple(found))


ENCODED: Experiment[Cases[Encoded | Unseen]] = Experiment(
    "encoded-subsets",
    "one-hot encodings with T=20, q=3; random ones with T=30, q=3, d_e=300 and T=100, q=2, "
    "d_e=400; three vectors with inner products of 1/4; all subsets; epsilon 0.5, 0.1, 0.01",
    _encoded,
)


@dataclass(frozen=True)
class Literal8:
    """The model of Eq. (8) on some inputs, next to what Theorem C.3 says of it.

    Attributes:
        scale: alpha.
        inputs: as Eq. (8) has them.
        weights, outputs: of the model at the last column.
        softmax: softmax(alpha <e_i, e_y>).
    """

    name: str
    task: "Task"
    d_e: int
    scale: float
    inputs: Float[np.ndarray, "inputs width T"]
    weights: Float[np.ndarray, "inputs T"]
    outputs: Float[np.ndarray, "inputs d"]
    softmax: Float[np.ndarray, "inputs T"]
    problems: tuple[Problem, ...] = ()


def _literal(name: str, found: Encoded, scale: float, seed: int) -> Literal8:
    from scipy.special import softmax

    from lemmata.papers.selection.setting._construction import equation_8, self_attention

    draw = np.random.default_rng([seed, 8])
    chosen = draw.choice(len(found.y), min(6, len(found.y)), replace=False)
    X = found.task.draw_tokens(len(chosen), draw)
    d_e = len(found.E)
    model = self_attention(found.task.d, d_e, scale)
    inputs = [equation_8(x, found.E, y) for x, y in zip(X, found.y[chosen], strict=True)]
    logits = scale * found.g[chosen]
    return Literal8(
        name=name,
        task=found.task,
        d_e=d_e,
        scale=scale,
        inputs=np.stack(inputs),
        weights=np.stack([model.weights(one) for one in inputs]),
        outputs=np.stack([model(one) for one in inputs]),
        softmax=softmax(logits, axis=1),
    )


def _literal_models(bench: Bench) -> Cases[Literal8 | Unseen]:
    from lemmata.papers.selection.setting import Task, one_hot

    cases = list(bench.evidence(ENCODED))
    if bench.instances is None:
        cases.append(encode("one-hot, T=6 q=2 d=6", Task(6, 2, 6), one_hot(6)))
    models: list[Literal8 | Unseen] = [case for case in cases if isinstance(case, Unseen)]
    for case in cases:
        if isinstance(case, Encoded):
            for scale in (1.0, float(case.asked[0].scale)):
                models.append(_literal(f"{case.name}, α = {scale:g}", case, scale, bench.seed))
    return Cases(tuple(models))


LITERAL: Experiment[Cases[Literal8 | Unseen]] = Experiment(
    "equation-8",
    "the encodings of Theorem C.3's check, and one-hot ones with d = T = 6; six random inputs "
    "each, written out as Eq. (8) has them, with alpha 1 and that of the proof for epsilon 0.5",
    _literal_models,
)

"""Random encodings of plans, and how near to orthonormal they are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.claims import AbstractInstances, Bench, Experiment, Scale
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from ..counterexamples import walsh_plan
from ..setting import (
    ENCODED_PLANS,
    FamilyAttention,
    Isometry,
    Plan,
    Task,
    largest_epsilon,
    largest_rate,
    measure_isometry,
    near_orthogonal_family,
    orthogonal,
)
from ..theory import NEEDED_DELTA
from .plans import AbstractPlanned, Drawn, Plans, Size, Trial, all_problems, length_problem


@dataclass(frozen=True)
class Ensemble(AbstractPlanned):
    """Random encodings of one size, and how near to orthonormal each is."""

    plan: Plan
    E: Float[np.ndarray, "members d_e T"]
    isometries: tuple[Isometry, ...]

    @property
    def worst(self) -> Isometry:
        """The encoding with the largest delta."""
        return max(self.isometries, key=lambda isometry: isometry.delta)

    @property
    def orthogonal(self) -> bool:
        """Whether all its encodings are."""
        return all(map(orthogonal, self.E))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Hypotheses that are not met, the RIP with delta < 1/10 among them."""
        own = length_problem(self.plan, self.E)
        return (*all_problems(self.plan), *own, *self._isometry_problem)

    @property
    def _isometry_problem(self) -> tuple[Problem, ...]:
        delta, exact = self.worst.delta, self.worst.exact
        if exact and delta < NEEDED_DELTA:
            return ()
        text = f"delta is {'' if exact else 'at least '}{delta:.4f}"
        if not exact and delta < NEEDED_DELTA:
            text += "; too many sets to make sure that it is below 1/10"
        return (Problem("no_isometry", self.plan.name, text),)


def random_plans(plans: Sequence[Plan]) -> list[Plan]:
    """Those whose encodings are not one-hot."""
    return [plan for plan in plans if ENCODED_PLANS(plan)]


def draw_encodings(plan: Plan, members: int, seed: int) -> Float[np.ndarray, "members d_e T"]:
    """The plan's own encodings, or random signs of its size within its threshold."""
    if plan.encodings is not None:
        return plan.encodings[None]
    if plan.d_e is None:
        raise InputError(f"{plan.name}: one-hot encodings are not random")
    return near_orthogonal_family(members, plan.d_e, plan.task.T, plan.threshold, seed)


MEMBERS = 6
"""Encodings in a family."""

TRIED = 40
"""Draws among which encodings with the RIP are looked for, where measuring them is cheap."""


def ensemble(plan: Plan, members: int, seed: int) -> Ensemble:
    """The plan's own encodings, or draws that have the RIP with delta < 1/10 if such come up.

    Draws without it are set aside, which is the conditioning of Definition 2.5; if the first
    ones have none, they are all kept, and the hypothesis is reported as not met.
    """
    drawn = draw_encodings(plan, max(members, TRIED) if plan.task.T <= 30 else members, seed)
    kept, isometries = [], []
    for E in drawn:
        isometry = measure_isometry(E, plan.task.q)
        if len(kept) < members and isometry.exact and isometry.delta < NEEDED_DELTA:
            kept.append(E)
            isometries.append(isometry)
        if len(kept) == members or (not kept and not isometry.exact):
            break
    if not kept:
        kept = list(drawn[:members])
        isometries = [measure_isometry(E, plan.task.q) for E in kept]
    return Ensemble(plan, np.stack(kept), tuple(isometries))


DRAWS = 4
"""Encodings of each size that Appendix A is checked on."""


def _encodings(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Ensemble]:
    """Random sign encodings of each size, whatever their delta, each measured exactly."""
    cases = []
    for plan in random_plans(plans):
        E = draw_encodings(plan, DRAWS, experiment.seed)
        cases.append(Ensemble(plan, E, tuple(measure_isometry(e, plan.task.q) for e in E)))
    return Evidence(tuple(cases))


MOST_PAIRS = 3_000
"""Pairs of an encoding and a subset in a family; random ones if there are more."""


def family_gaps(family: Ensemble, seed: int) -> Float[np.ndarray, "pairs others"]:
    """1 - <e_i, e_y> outside y, for every encoding and every subset, or for random ones."""
    if family.orthogonal:
        return np.ones((1, family.task.T - family.task.q))
    draw = np.random.default_rng([seed, 11])
    y = family.task.some_subsets(MOST_PAIRS // len(family.E), draw)
    return np.asarray(FamilyAttention.of(family.E, y).gaps)


NEARLY_ORTHONORMAL = Plans(
    (Size(9, 2, 3, 2_000, 3.9), Size(16, 2, 250, 4_000, 0.4), Size(13, 3, 5, 4_000, 5.9)),
    shares=(0.9,),
)
"""Tasks whose random encodings have the RIP with delta < 1/10, with steps up to nearly 2q."""


@dataclass(frozen=True)
class Orthogonal(AbstractInstances):
    """Plans with orthogonal sign vectors and the largest step size of Theorem 3.3."""

    sizes: tuple[tuple[int, int, int, int], ...]

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        plans = []
        for T, q, d, d_e in self.sizes:
            task = Task(T, q, d)
            rate, epsilon = largest_rate(task, d_e), 0.9 * largest_epsilon(task)
            plans.append(walsh_plan(task, d_e, rate=rate, epsilon=epsilon))
        return plans

    @property
    def says(self) -> str:
        return f"{len(self.sizes)} plans with orthogonal sign vectors"


NARROW_ORTHOGONAL = Orthogonal(
    (
        (9, 2, 2, 16),
        (9, 2, 5, 32),
        (16, 2, 4, 64),
        (16, 3, 2, 32),
        (32, 2, 4, 128),
        (64, 2, 2, 128),
        (64, 4, 8, 512),
        (128, 2, 2, 256),
        (200, 3, 2, 256),
    )
)
"""T, q, d and d_e <= T d, where the largest step size is below 2q."""

ENCODINGS = Experiment(
    Plans(
        (
            Size(6, 1, 1, 60),
            Size(9, 2, 1, 200),
            Size(9, 2, 1, 2_000),
            Size(12, 3, 1, 600),
            Size(16, 2, 1, 400),
            Size(13, 3, 1, 4_000),
        )
    ),
    _encodings,
    fits=ENCODED_PLANS,
)

MATRICES_TRIED = 3
"""Random matrices of which the best is taken."""


@dataclass(frozen=True)
class Existence(AbstractPlanned):
    """What random sign matrices of a size need: the least delta^2 d_e / (q log T) among some."""

    plan: Plan
    constant: float
    problems: tuple[Problem, ...] = ()


def _existence(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Existence]:
    """Random sign matrices, the delta of each over all sets."""
    cases = []
    for plan in random_plans(plans):
        T, q, d_e = plan.task.T, plan.task.q, plan.d_e
        assert d_e is not None
        E = near_orthogonal_family(MATRICES_TRIED, d_e, T, 1.0, experiment.seed)
        delta = min(measure_isometry(e, q).delta for e in E)
        cases.append(Existence(plan, float(delta**2 * d_e / (q * np.log(T)))))
    return Evidence(tuple(cases))


EXISTENCE = Experiment(
    Plans((Size(6, 1, 1, 200), Size(9, 2, 1, 400), Size(16, 2, 1, 400), Size(30, 1, 1, 400))),
    _existence,
    fits=ENCODED_PLANS,
)

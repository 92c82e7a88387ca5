"""Gradient descent at exactly the rates of the theory, watched at every step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lemmata.claims import Bench, Experiment, Scale, Several
from lemmata.settings import Evidence
from lemmata.training import Store, log_spaced

from .. import theory
from ..setting import LEAST_GAP, WATCHED, Plan, batches_of, descend
from ..theory import Constants, Rates
from .plans import PLANS, DrawnPlans, OfPlan, look_at, rescaled

STEPS: dict[Scale, int] = {"quick": 6_000, "paper": 120_000}

WORK = 2e10
"""Multiplications that a run may cost; larger plans are run for fewer steps."""

BOUNDS: dict[str, Callable[[Constants, Any], Any]] = {
    "(61)": theory.smoothness,
    "(17)": theory.smoothness_simplified,
    "(61) repaired": theory.smoothness_repaired,
}
"""Where L comes from."""


CHOICES = ((1.0, 1.0), (1.0, 0.1), (100.0, 1.0))
"""Of gamma, relative to the least that (15) allows, and of eta_Q, relative to 1/L."""


@dataclass(frozen=True)
class TheoryRates:
    """Gradient descent at step sizes that (16) allows.

    Attributes:
        version: where L comes from.
        steps: how many; None for what the scale allows.
    """

    version: str = "(61)"
    steps: int | None = None

    @property
    def says(self) -> str:
        """What is run."""
        if self.steps is None:
            count = f"up to {STEPS['quick']:,} steps ({STEPS['paper']:,} at paper scale)"
        else:
            count = f"{self.steps:,} steps"
        return (
            f"gradient descent with L from {self.version} in (16), at the largest steps, a tenth "
            f"of them, and with a hundred times the least gamma, {count}"
        )


@dataclass(frozen=True, eq=False)
class Run(OfPlan):
    """One run, recorded.

    Attributes:
        plan: the task and the transformer.
        choice: of gamma and eta_Q, relative to the least and the largest.
        rates: the step sizes.
        steps, series: what was recorded, see ``Descent``.
        away: A-hat - A at the end.
    """

    plan: Plan
    choice: tuple[float, float]
    rates: Rates
    steps: Int[np.ndarray, "records"]
    series: dict[str, Float[np.ndarray, "records"]]
    away: Float[np.ndarray, "N K"]

    def __getitem__(self, name: str) -> Float[np.ndarray, "records"]:
        return self.series[name]

    @property
    def name(self) -> str:
        """The plan's name, and how it differs from the largest steps."""
        gamma, share = self.choice
        more = f", {gamma:g} times the least gamma" if gamma != 1 else ""
        return self.plan.name + more + (f", eta_Q = {share:g}/L" if share != 1 else "")

    @cached_property
    def radius(self) -> float:
        """alpha of (44)."""
        return float(theory.radius(self.plan.constants, self.rates.gamma))

    @property
    def sigma(self) -> float:
        """sigma of (44)."""
        return float(self.plan.constants.zeta * self.rates.gamma**2 / self.task.K)

    @property
    def log_guaranteed(self) -> float:
        """By how much the log of the gap falls in a step, at least (18)."""
        return float(np.log1p(-float(self.rates.guaranteed)))

    @property
    def gap(self) -> Float[np.ndarray, "records"]:
        """L - L*; NaN where it underflows."""
        return np.where(self["gap"] > LEAST_GAP * self.plan.constants.gap, self["gap"], np.nan)


def _records(
    plans: Sequence[Plan], training: TheoryRates, scale: Scale
) -> Int[np.ndarray, "records"]:
    sizes = ((p.task.d, p.task.N, p.task.K, p.heads) for p in plans)
    d, N, K, H = (max(size) for size in zip(*sizes, strict=True))
    cost = 2 * len(plans) * H * N * d * (d + K)
    affordable = int(min(STEPS[scale], max(100, WORK // cost)))
    return log_spaced(affordable if training.steps is None else training.steps, 60)


def _able(plan: Plan) -> bool:
    stops = {"no_full_rank", "zeta_unresolved", "singular", "no_noise"}
    return not stops & {problem.code for problem in plan.problems}


def descend_by_theory(
    experiment: Experiment[Evidence[Run]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Run]:
    """The gap, and how far the weights move, at every recorded step."""
    training: TheoryRates = experiment.training
    able = [plan for plan in plans if _able(plan)]
    unable = tuple(plan for plan in plans if not _able(plan))
    if not able:
        return Evidence((), skipped=unable)
    steps = _records(able, training, experiment.scale)
    total = len(able) * len(CHOICES) * int(steps[-1])
    progress = bench.track("descent at the theory's rates", total)
    runs = []
    sizes = [(plan.task.d, plan.task.N, plan.task.K, plan.heads) for plan in able]
    for members in batches_of(sizes, WATCHED):
        tried = [(able[i], choice) for i in members for choice in CHOICES]
        runs += _descend(tried, BOUNDS[training.version], steps, bench.store, progress)
    order = {id(plan): place for place, plan in enumerate(able)}
    runs.sort(key=lambda run: order[id(run.plan)])
    return Evidence(tuple(runs), steps, skipped=unable)


def _descend(
    tried: Sequence[tuple[Plan, tuple[float, float]]],
    bound: Callable[..., Any],
    steps: Int[np.ndarray, "records"],
    store: Store | None,
    progress: Callable[[int], None],
) -> list[Run]:
    """Plans with step sizes, side by side."""
    rates = [_rates(plan, choice, bound) for plan, choice in tried]
    recording = descend(
        [plan.task for plan, _ in tried],
        [plan.start for plan, _ in tried],
        np.array([(float(rate.Q), float(rate.w)) for rate in rates]),
        np.array([float(rate.guaranteed) for rate in rates]),
        steps,
        store=store,
        progress=progress,
    )
    runs = []
    for i, ((plan, choice), rate) in enumerate(zip(tried, rates, strict=True)):
        away = np.asarray(recording.final.here.away)[i, : plan.task.N, : plan.task.K]
        series = {name: rows[i] for name, rows in recording.series.items()}
        runs.append(Run(plan, choice, rate, steps, series, away))
    return runs


def _rates(plan: Plan, choice: tuple[float, float], bound: Callable[..., Any]) -> Rates:
    gamma = choice[0] * theory.least_gamma(plan.constants)
    return theory.theory_rates(plan.constants, gamma=gamma, share=choice[1], bound=bound)


@dataclass(frozen=True, eq=False)
class Rescaled(OfPlan):
    """A plan, and the same problem in other units, both run with the repaired (61)."""

    plan: Plan
    usual: Run
    rescaled: Run


def descend_in_other_units(
    experiment: Experiment[Evidence[Rescaled]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Rescaled]:
    """The gaps with Z as it is, ten thousand times as large, and as small."""
    able = [plan for plan in plans if _able(plan)]
    unable = tuple(plan for plan in plans if not _able(plan))
    tried = [rescaled(plan, c) for plan in able for c in (1.0, 1e4, 1e-4)]
    steps, bound = np.arange(0, 201, 10), theory.smoothness_repaired
    chosen = [(plan, CHOICES[0]) for plan in tried]
    runs = _descend(chosen, bound, steps, bench.store, lambda _: None) if able else []
    cases = [
        Rescaled(plan, runs[3 * i], runs[3 * i + other])
        for i, plan in enumerate(able)
        for other in (1, 2)
    ]
    return Evidence(tuple(cases), skipped=unable)


RESCALED = Experiment(PLANS, descend_in_other_units)

STARTS = Several(
    (
        PLANS,
        DrawnPlans(((2, 7, 3, 2, 0.5, 32),)),
        DrawnPlans(((2, 7, 3, 2, 0.5, 32),), scale=10.0),
        DrawnPlans(((3, 8, 4, 2, 0.1, 12),), scale=0.3),
    )
)
"""Also with H = 16N, and with attention that starts close to one token, or flat."""

PLANS_AT_START = Experiment(STARTS, look_at)
"""For what needs no descent."""

PAPER_PLANS = DrawnPlans(tuple((30, 200, 100, 20, 0.01, H) for H in (40, 64, 128, 400)))
AT_PAPER_SIZE = Experiment(PAPER_PLANS, look_at, own=True)
"""And for that at the size of Section 4, with unit tokens."""

DESCENTS, SIMPLIFIED_DESCENTS, REPAIRED_DESCENTS = (
    Experiment(STARTS, descend_by_theory, TheoryRates(version), free=("steps",))
    for version in ("(61)", "(17)", "(61) repaired")
)

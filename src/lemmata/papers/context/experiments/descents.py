"""Gradient descent at exactly the rates of the theory, watched at every step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lemmata.claims import Bench, Experiment, Scale
from lemmata.settings import Evidence
from lemmata.training import log_spaced

from .. import theory
from ..setting import Plan, attention_of, descend
from ..theory import Constants, Rates
from .plans import PLANS, OfPlan

STEPS: dict[Scale, int] = {"quick": 6_000, "paper": 120_000}

WORK = 2e10
"""Multiplications that a run may cost; larger plans are run for fewer steps."""

BOUNDS: dict[str, Callable[[Constants, Any], Any]] = {
    "(61)": theory.smoothness,
    "(17)": theory.smoothness_simplified,
    "(61) repaired": theory.smoothness_repaired,
}
"""Where L comes from."""


@dataclass(frozen=True)
class TheoryRates:
    """Gradient descent at the largest steps that (16) allows.

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
        return f"gradient descent at the rates of (16) with L from {self.version}, {count}"


@dataclass(frozen=True, eq=False)
class Run(OfPlan):
    """One run, recorded.

    Attributes:
        plan: the task and the transformer.
        rates: the step sizes.
        steps, series: what was recorded, see ``Descent``.
        combined: A-hat at the end.
    """

    plan: Plan
    rates: Rates
    steps: Int[np.ndarray, "records"]
    series: dict[str, Float[np.ndarray, "records"]]
    combined: Float[np.ndarray, "N K"]

    def __getitem__(self, name: str) -> Float[np.ndarray, "records"]:
        return self.series[name]

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
    def judged(self) -> np.ndarray:
        """Where the gap is more than rounding error."""
        return self["gap"] > 1e-18 * self.plan.constants.gap


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
    rates = [theory.theory_rates(plan.constants, bound=BOUNDS[training.version]) for plan in able]
    steps = _records(able, training, experiment.scale)
    recording = descend(
        [plan.task for plan in able],
        [plan.start for plan in able],
        np.array([(float(rate.Q), float(rate.w)) for rate in rates]),
        np.array([float(rate.guaranteed) for rate in rates]),
        steps,
        store=bench.store,
        progress=bench.track("descent at the theory's rates", len(able) * int(steps[-1])),
    )
    runs = []
    for i, (plan, rate) in enumerate(zip(able, rates, strict=True)):
        d, H, K = plan.task.d, plan.heads, plan.task.K
        Q = np.asarray(recording.final.weights.Q)[i, :d, :H, :d]
        w = np.asarray(recording.final.weights.w)[i, :H, :K]
        combined = np.einsum("nhk,hk->nk", attention_of(plan.task, Q), w)
        series = {name: rows[i] for name, rows in recording.series.items()}
        runs.append(Run(plan, rate, steps, series, combined))
    return Evidence(tuple(runs), steps, skipped=unable)


DESCENTS = Experiment(PLANS, descend_by_theory, TheoryRates("(61)"))
SIMPLIFIED_DESCENTS = Experiment(PLANS, descend_by_theory, TheoryRates("(17)"))
REPAIRED_DESCENTS = Experiment(PLANS, descend_by_theory, TheoryRates("(61) repaired"))

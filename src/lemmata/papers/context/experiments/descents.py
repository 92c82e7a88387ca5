"""Gradient descent at exactly the rates of the theory, watched at every step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.context import theory
from lemmata.papers.context.experiments.plans import OfPlan, plans

if TYPE_CHECKING:
    from lemmata.papers.context.setting import Plan

STEPS = {False: 6_000, True: 120_000}
"""At quick and at paper scale."""

WORK = 2e10
"""Multiplications that a run may cost; larger plans are run for fewer steps."""

BOUNDS: dict[str, Callable[[theory.Constants, Any], Any]] = {
    "(61)": theory.smoothness,
    "(17)": theory.smoothness_simplified,
    "(61) repaired": theory.smoothness_repaired,
}
"""Where L comes from."""


@dataclass(frozen=True, eq=False)
class Run(OfPlan):
    """One run, recorded.

    Attributes:
        plan: the task and the transformer.
        version: where L comes from.
        rates: the step sizes; None where the theory gives none.
        steps, series: what was recorded, see ``Descent``.
        combined: A-hat at the end.
    """

    plan: "Plan"
    version: str
    rates: theory.Rates | None = None
    steps: Int[np.ndarray, "records"] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    series: dict[str, Float[np.ndarray, "records"]] = field(default_factory=dict)
    combined: Float[np.ndarray, "N K"] = field(default_factory=lambda: np.zeros((0, 0)))

    def __getitem__(self, name: str) -> Float[np.ndarray, "records"]:
        return self.series[name]

    @property
    def used(self) -> theory.Rates:
        """The step sizes of a run that took place."""
        assert self.rates is not None
        return self.rates

    @cached_property
    def radius(self) -> float:
        """alpha of (44)."""
        return float(theory.radius(self.plan.constants, self.used.gamma))

    @property
    def sigma(self) -> float:
        """sigma of (44)."""
        return float(self.plan.constants.zeta * self.used.gamma**2 / self.task.K)

    @property
    def judged(self) -> np.ndarray:
        """Where the gap is more than rounding error."""
        return self["gap"] > 1e-18 * self.plan.constants.gap

    @property
    def frozen_gaps(self) -> Float[np.ndarray, "records"]:
        """What descent with attention frozen at the start would have, exactly."""
        return np.exp(self.plan.frozen.log_gap(self.steps.astype(float), float(self.used.w)))


def _steps(chosen: "Sequence[Plan]", paper_scale: bool) -> Int[np.ndarray, "records"]:
    from lemmata.training import log_spaced

    d, N, K, H = (
        max(sizes)
        for sizes in zip(*((p.task.d, p.task.N, p.task.K, p.heads) for p in chosen), strict=True)
    )
    cost = 2 * len(chosen) * H * N * d * (d + K)
    most = int(min(STEPS[paper_scale], max(100, WORK // cost)))
    return log_spaced(most, 60)


def _able(plan: "Plan") -> bool:
    stops = {"no_full_rank", "zeta_unresolved", "singular", "no_noise"}
    return not stops & {problem.code for problem in plan.problems}


def _descents(bench: Bench, version: str) -> Cases[Run]:
    from lemmata.papers.context.setting import attention_of, descend

    chosen = plans(bench)
    able = [plan for plan in chosen if _able(plan)]
    unable = [Run(plan, version) for plan in chosen if not _able(plan)]
    if not able:
        return Cases(tuple(unable))
    rates = [theory.theory_rates(plan.constants, bound=BOUNDS[version]) for plan in able]
    steps = _steps(able, bench.paper_scale)
    found = descend(
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
        Q = np.asarray(found.final.weights.Q)[i, :d, :H, :d]
        w = np.asarray(found.final.weights.w)[i, :H, :K]
        combined = np.einsum("nhk,hk->nk", attention_of(plan.task, Q), w)
        series = {name: rows[i] for name, rows in found.series.items()}
        runs.append(Run(plan, version, rate, steps, series, combined))
    return Cases((*runs, *unable))


DESCENTS: Experiment[Cases[Run]] = Experiment(
    "descents",
    "gradient descent at the rates of (16) with L from (61), 13 tasks, 6,000 steps",
    lambda bench: _descents(bench, "(61)"),
)

SIMPLIFIED_DESCENTS: Experiment[Cases[Run]] = Experiment(
    "simplified-descents",
    "gradient descent at the rates of (16) with L from (17), 13 tasks, 6,000 steps",
    lambda bench: _descents(bench, "(17)"),
)

REPAIRED_DESCENTS: Experiment[Cases[Run]] = Experiment(
    "repaired-descents",
    "gradient descent at the rates of (16) with L from (61) repaired, 13 tasks, 6,000 steps",
    lambda bench: _descents(bench, "(61) repaired"),
)

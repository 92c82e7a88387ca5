"""Training the one-layer transformer with Adam, as in Section 4: Figures 2a and 4."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from lemmata.claims import Bench, Experiment, Own
from lemmata.settings import Evidence
from lemmata.training import log_spaced

from ..setting import Plan, Training, TrainingRun, train_together
from .initialization import initialize
from .plans import Dictionary, OfTask, common

RECORDS = 60

STARTS = 6
"""Tasks that averages are taken over, or first weights where a user's plan is the task."""


@dataclass(frozen=True)
class AdamRuns:
    """Adam with several numbers of heads, or with that of Figure 2 on sampled prompts.

    Attributes:
        rate: Adam's step size.
        runs: the numbers of heads, and how many steps with each; the paper does not give the
            numbers of steps, nor the heads below 30.
        chosen: the number of heads of Figure 2.
        examples: the N that these numbers of heads are for.
        sample: the size of a training set; 0 for the population loss.
        steps: for all numbers of heads, if given.
    """

    rate: float
    runs: tuple[tuple[int, int], ...]
    chosen: int
    examples: int
    sample: int = 0
    steps: int | None = None

    def scaled(self, N: int) -> "AdamRuns":
        """The same for another number of examples: as many heads in proportion to it."""
        share = N / self.examples
        runs = {max(1, round(H * share)): steps for H, steps in self.runs}
        return replace(
            self, runs=tuple(runs.items()), chosen=round(self.chosen * share), examples=N
        )

    @property
    def planned(self) -> tuple[tuple[int, int], ...]:
        """Heads and steps of what is run."""
        kept = [(H, own) for H, own in self.runs if not self.sample or self.chosen == H]
        return tuple((H, own if self.steps is None else self.steps) for H, own in kept)

    @property
    def says(self) -> str:
        """What is run."""
        heads = ", ".join(str(H) for H, _ in self.planned)
        longest = max(steps for _, steps in self.planned)
        loss = f"batches from {self.sample:,} prompts" if self.sample else "the population loss"
        return f"Adam on {loss}: H = {heads}, up to {longest:,} steps of {self.rate:g}"


@dataclass(frozen=True, eq=False)
class OneLayer(OfTask):
    """One run.

    Attributes:
        tokens: ``unit`` or ``Gaussian``.
        plan: the task, with the heads and first weights of the run.
        run: what was recorded.
        group: the name of a user's plan, which is trained from several first weights; the runs of
            a figure belong together.
    """

    tokens: str
    plan: Plan
    run: TrainingRun
    group: str = ""

    @property
    def problems(self) -> tuple[()]:
        """None: what the figures show is not asked to meet the theory's assumptions."""
        return ()

    @property
    def name(self) -> str:
        """Tokens, heads and which task, or a user's plan and its first weights."""
        if self.group:
            return f"{self.group}, H={self.heads}, start {self.plan.seed}"
        return f"{self.tokens} tokens, H={self.heads}, task {self.plan.seed - 1}"

    @property
    def heads(self) -> int:
        """H."""
        return self.plan.heads

    @property
    def gaps(self) -> Float[np.ndarray, "records"]:
        """L - L* at the recorded steps."""
        return self.run["gap"]

    @cached_property
    def frozen_gap(self) -> float:
        """What a billion steps on w alone leave, with attention as at the start."""
        return self.plan.frozen.left_in_practice


def _records(steps: int) -> tuple[int, ...]:
    linear = np.linspace(0, steps, RECORDS + 1).astype(int)
    return tuple(int(t) for t in np.union1d(log_spaced(steps, RECORDS // 2), linear))


def _codes(plan: Plan) -> set[str]:
    return {problem.code for problem in plan.task.problems}


def train_one_layer(
    experiment: Experiment[Evidence[OneLayer]], plans: Sequence[Plan], bench: Bench
) -> Evidence[OneLayer]:
    """The gap and the loss out of domain at many steps.

    A user's plan is trained from several first weights, with numbers of heads that fit its N.
    """
    rule: AdamRuns = experiment.training
    groups = [("", rule, list(plans))]
    if isinstance(experiment.instances, Own):
        groups = [(plan.name, rule.scaled(plan.task.N), _restarted(plan)) for plan in plans]
    total = sum(len(own) * steps for _, fit, own in groups for _, steps in fit.planned)
    progress = bench.track("one-layer training", total)
    cases = [
        case for name, fit, own in groups for case in _train_group(fit, own, name, bench, progress)
    ]
    return Evidence(tuple(cases), common([case.run.steps for case in cases]))


def _restarted(plan: Plan) -> list[Plan]:
    """The plan with other first weights."""
    return [replace(plan, seed=plan.seed + i) for i in range(STARTS)]


def _train_group(
    rule: AdamRuns,
    plans: Sequence[Plan],
    group: str,
    bench: Bench,
    progress: Callable[[int], None],
) -> list[OneLayer]:
    cases = []
    for H, steps in rule.planned:
        trainings = [
            Training(
                plan.task,
                H,
                rate=rule.rate,
                steps=steps,
                record=_records(steps),
                sample=rule.sample,
                seed=plan.seed,
            )
            for plan in plans
        ]
        runs = train_together(trainings, store=bench.store, progress=progress)
        cases += [
            OneLayer(
                "Gaussian" if "not_unit" in _codes(plan) else "unit",
                replace(plan, heads=H),
                run,
                group,
            )
            for plan, run in zip(plans, runs, strict=True)
        ]
    return cases


QUICK = AdamRuns(3e-3, (*((H, 1_200) for H in (2, 4, 6, 12, 24)), (78, 300)), chosen=12, examples=6)
PAPER = AdamRuns(
    1e-4,
    ((4, 20_000), (8, 20_000), (20, 20_000), (30, 20_000), (64, 12_000), (400, 5_000)),
    chosen=64,
    examples=30,
)
SAMPLE = 10_000
"""Prompts of a training set (Section 4)."""

HEADS = Experiment(Dictionary(tasks=STARTS), train_one_layer, QUICK, PAPER)
SAMPLED = Experiment(
    Dictionary(),
    train_one_layer,
    replace(QUICK, sample=SAMPLE),
    replace(PAPER, sample=SAMPLE),
)
"""With Gaussian tokens this is Section 4's set-up to the letter."""

AT_START = Experiment(Dictionary(("Gaussian",)), initialize, own=True)
"""The first weights of these experiments."""


def first_task(runs: Evidence[OneLayer]) -> list[OneLayer]:
    """Those that a figure shows."""
    seed = min(case.plan.seed for case in runs)
    return [case for case in runs if case.plan.seed == seed]


def curves(bench: Bench) -> dict[str, OneLayer]:
    """The runs of Figure 2a: those with the paper's number of heads."""
    chosen = bench.bind(HEADS).training.chosen
    runs = first_task(bench.evidence(HEADS))
    return {case.tokens: case for case in runs if case.heads == chosen}

"""Training the one-layer transformer with Adam, as in Section 4: Figures 2a and 4."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.context.setting import Task, Training, TrainingRun

RECORDS = 60


@dataclass(frozen=True)
class Scale:
    """What is run.

    Attributes:
        N, K, d, m, tau: the task.
        rate: Adam's step size.
        steps: how long, for every number of heads of Figure 4.
        chosen: the number of heads of Figure 2.
        sample: the size of a training set.
    """

    N: int
    K: int
    d: int
    m: int
    tau: float
    rate: float
    steps: dict[int, int]
    chosen: int
    sample: int = 10_000


QUICK = Scale(6, 20, 30, 4, 0.01, 1e-3, dict.fromkeys((2, 4, 6, 12, 24), 4_000), 12)
PAPER = Scale(
    *(30, 200, 100, 20, 0.01, 1e-4),
    steps={4: 20_000, 8: 20_000, 20: 20_000, 30: 20_000, 64: 12_000, 400: 5_000},
    chosen=64,
)
"""The paper gives all but tau, the numbers of steps, and the heads below 30."""


def scale(bench: Bench) -> Scale:
    """The sizes of this bench."""
    return PAPER if bench.paper_scale else QUICK


@dataclass(frozen=True, eq=False)
class OneLayer:
    """One run.

    Attributes:
        tokens: ``unit`` or ``Gaussian``.
        run: what was recorded.
    """

    tokens: str
    run: "TrainingRun"
    problems: tuple[Problem, ...] = ()

    @property
    def name(self) -> str:
        """Tokens and heads."""
        return f"{self.tokens} tokens, H={self.heads}"

    @property
    def heads(self) -> int:
        """H."""
        return self.run.how.heads

    @property
    def task(self) -> "Task":
        """The task."""
        return self.run.how.task

    @property
    def gaps(self) -> Float[np.ndarray, "records"]:
        """L - L* at the recorded steps."""
        return self.run["gap"]

    @cached_property
    def floor(self) -> float:
        """The least gap with attention as it is at the start."""
        from lemmata.papers.context.setting import draw_weights, frozen

        start = draw_weights(self.task, self.heads, seed=self.run.how.seed)
        return frozen(self.task, start).floor(1e-10)


def _training(bench: Bench, tokens: str, heads: int, sample: int = 0) -> "Training":
    from lemmata.papers.context.setting import Training, draw_task
    from lemmata.training import log_spaced

    size = scale(bench)
    task = draw_task(
        size.N, size.K, size.d, size.m, size.tau, seed=bench.seed, unit=tokens == "unit"
    )
    steps = size.steps[heads]
    linear = np.linspace(0, steps, RECORDS + 1).astype(int)
    record = tuple(int(t) for t in np.union1d(log_spaced(steps, RECORDS // 2), linear))
    return Training(
        task, heads, rate=size.rate, steps=steps, record=record, sample=sample, seed=bench.seed + 1
    )


def _heads(bench: Bench) -> Cases[OneLayer]:
    from lemmata.papers.context.setting import train_together

    if bench.instances is not None:
        return Cases(())
    pairs = [(tokens, H) for tokens in ("unit", "Gaussian") for H in scale(bench).steps]
    trainings = [_training(bench, tokens, H) for tokens, H in pairs]
    progress = bench.track("one-layer training", sum(t.steps for t in trainings))
    if bench.paper_scale:
        runs = [one.run(store=bench.store, progress=progress) for one in trainings]
    else:
        runs = train_together(trainings, store=bench.store, progress=progress)
    return Cases(tuple(OneLayer(pair[0], run) for pair, run in zip(pairs, runs, strict=True)))


HEADS: Experiment[Cases[OneLayer]] = Experiment(
    "heads",
    "Adam on the population loss for several H, unit and Gaussian tokens; quick: N=6, K=20, d=30, "
    "m=4, tau=0.01, 4,000 steps of 1e-3; paper: N=30, K=200, d=100, m=20, up to 20,000 of 1e-4",
    _heads,
)


def _sampled(bench: Bench) -> Cases[OneLayer]:
    if bench.instances is not None:
        return Cases(())
    size = scale(bench)
    training = _training(bench, "unit", size.chosen, size.sample)
    progress = bench.track("training on sampled prompts", training.steps)
    return Cases((OneLayer("unit", training.run(store=bench.store, progress=progress)),))


SAMPLED: Experiment[Cases[OneLayer]] = Experiment(
    "sampled", "Adam on batches of 256 from 10,000 prompts, unit tokens", _sampled
)


def curves(bench: Bench) -> dict[str, OneLayer]:
    """The runs of Figure 2a: those with the paper's number of heads."""
    chosen = scale(bench).chosen
    return {one.tokens: one for one in bench.evidence(HEADS) if one.heads == chosen}

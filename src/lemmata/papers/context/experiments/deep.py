"""The four-layer transformer of Section 4, in a smaller size, and with different numbers of heads.

At the paper's own size a step takes a core about thirteen seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import nnls

from lemmata.claims import Bench, Experiment, Own
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from ..setting import DeepRun, DeepTraining, Plan, Task, draw_task
from .plans import Dictionary, Size

LOSSES = ("training", "in_domain", "out_of_domain")

PAPER_TASK: Size = (30, 200, 100, 20, 0.01)
"""Of Section 4, which gives no tau."""


def paper_training() -> DeepTraining:
    """The run of Figure 2b at the paper's size, which is never made."""
    return DeepTraining(draw_task(*PAPER_TASK, seed=0, unit=False))


TASK = Dictionary(("Gaussian",), quick=(8, 16, 16, 4, 0.01), paper=(8, 30, 16, 4, 0.01))


@dataclass(frozen=True)
class DeepRuns:
    """Adam on a four-layer transformer, and how often it is looked at.

    Attributes:
        d_model, d_ff, batch, rate: of the network, and of Adam.
        heads: the numbers of heads that are compared.
        steps, records, seeds: of each run.
    """

    d_model: int
    d_ff: int
    batch: int
    rate: float
    heads: tuple[int, ...]
    steps: int
    records: int
    seeds: int = 1

    @property
    def says(self) -> str:
        """What is run."""
        heads = ", ".join(map(str, self.heads))
        seeds = f" from {self.seeds} seeds" if self.seeds > 1 else ""
        return (
            f"a four-layer transformer, d_model={self.d_model}, d_ff={self.d_ff}, H = {heads}; "
            f"{self.steps:,} steps of Adam of {self.rate:g} with batches of {self.batch}{seeds}"
        )

    def training(self, task: Task, heads: int, seed: int) -> DeepTraining:
        """One run."""
        return DeepTraining(
            task,
            d_model=self.d_model,
            d_ff=self.d_ff,
            batch=self.batch,
            rate=self.rate,
            heads=heads,
            steps=self.steps,
            record=tuple(range(0, self.steps + 1, max(1, self.steps // self.records))),
            seed=seed,
        )


def train_deep(
    experiment: Experiment[Evidence[DeepRun]], plans: Sequence[Plan], bench: Bench
) -> Evidence[DeepRun]:
    """Its training loss, and its losses on prompts in and out of domain."""
    rule: DeepRuns = experiment.training
    (heads,) = rule.heads
    progress = bench.track("four-layer transformer", len(plans) * rule.steps)
    trainings = [rule.training(plan.task, heads, experiment.seed) for plan in plans]
    runs = [training.run(store=bench.store, progress=progress) for training in trainings]
    return Evidence(tuple(runs), runs[0].steps)


DEEP = Experiment(
    TASK,
    train_deep,
    DeepRuns(32, 64, 16, 3e-3, heads=(4,), steps=600, records=30),
    DeepRuns(64, 128, 64, 1e-3, heads=(4,), steps=1_500, records=60),
)
"""Figure 2b."""


@dataclass(frozen=True)
class Heads:
    """Runs with the same number of heads, one a seed.

    Attributes:
        seconds: what a step takes on this machine at best.
        group: the name of a user's plan.
    """

    name: str
    heads: int
    runs: tuple[DeepRun, ...]
    seconds: float
    group: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def steps(self) -> Int[np.ndarray, "records"]:
        """The recorded steps."""
        return self.runs[0].steps

    def __getitem__(self, loss: str) -> Float[np.ndarray, "seeds records"]:
        return np.array([run[loss] for run in self.runs])

    @property
    def heights(self) -> Float[np.ndarray, "seeds"]:
        """How high the curve of the training loss lies: the mean of its logarithm over all records
        but the first, which training has no part in."""
        return np.log(self["training"][:, 1:]).mean(axis=1)

    def after(self, seconds: float, loss: str) -> Float[np.ndarray, "seeds"]:
        """The logarithm of a loss after so many seconds, on a line between records."""
        step = min(seconds / self.seconds, float(self.steps[-1]))
        return np.array([np.interp(step, self.steps, np.log(row)) for row in self[loss]])

    @cached_property
    def floor(self) -> float:
        """What the inference loss in domain of a one-layer transformer with one head is at least.

        Its columns of A-hat have entries of one sign; least squares with signs finds the best ones.
        """
        task = self.runs[0].how.task
        wanted = (task.root @ task.target).T
        squares = [min(nnls(task.root, x)[1], nnls(task.root, -x)[1]) ** 2 for x in wanted]
        return float(np.sum(squares)) / task.K


def fixed_time(evidence: Evidence[Heads]) -> float:
    """The seconds that every number of heads is given: what the fastest needs for all steps."""
    return min(case.seconds * float(case.steps[-1]) for case in evidence)


def compare_heads(
    experiment: Experiment[Evidence[Heads]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Heads]:
    """Its training loss with each number of heads; the task is the same for all seeds."""
    rule: DeepRuns = experiment.training
    theirs = isinstance(experiment.instances, Own)
    total = len(plans) * len(rule.heads) * rule.seeds * rule.steps
    progress = bench.track("numbers of heads", total)
    cases = []
    for plan, heads in product(plans, rule.heads):
        trainings = [
            rule.training(plan.task, heads, experiment.seed + seed) for seed in range(rule.seeds)
        ]
        runs = tuple(training.run(store=bench.store, progress=progress) for training in trainings)
        group = plan.name if theirs else ""
        name = f"{group}, H={heads}" if group else f"H={heads}"
        cases.append(Heads(name, heads, runs, trainings[0].seconds_per_step(), group))
    return Evidence(tuple(cases), cases[0].steps)


HEADS = Experiment(
    Dictionary(("Gaussian",), quick=(8, 16, 16, 8, 0.01), paper=(8, 30, 16, 8, 0.01)),
    compare_heads,
    DeepRuns(32, 64, 16, 5e-3, heads=(1, 4, 16), steps=500, records=25, seeds=4),
    DeepRuns(64, 128, 64, 1e-3, heads=(1, 4, 16, 64), steps=600, records=60, seeds=3),
)
"""Figure 5, which has the tasks of Figure 3: as many examples as basic tasks."""

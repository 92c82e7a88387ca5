"""The experiments of Section 4 and Appendix F: online training, and what its figures rest on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from lemmata.claims import AbstractInstances, Bench, Experiment, Scale
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from ..setting import OnlineChoices, Plan, Task, Training, TrainingRun, largest_epsilon, run_all
from .plans import AbstractPlanned, Drawn, Trial

Arm = Literal["stochastic", "fixed"]
Series = Float[np.ndarray, "records"]


@dataclass(frozen=True)
class Sizes:
    """One scale of the experiments.

    Attributes:
        T, q, d, d_e: the training task and the dimension of its encodings.
        threshold: of the rejection; the paper gives none.
        samples: the batch size; 256 in Section 4, 128 in Appendix F.
        lengths: other lengths to test, at the same q.
        subset_sizes: other subset sizes to test, at the same T.
        steps, every: how long, and how often something is recorded.
        change, later_rate: when SGD changes its step size, and to what; None keeps it.
        seeds: independent runs of each kind.
    """

    T: int
    q: int
    d: int
    d_e: int
    threshold: float
    samples: int
    lengths: tuple[int, ...]
    subset_sizes: tuple[int, ...]
    steps: int
    every: int
    change: int
    later_rate: float | None
    seeds: int

    @property
    def tests(self) -> tuple[tuple[int, int], ...]:
        """All tasks (T, q) that are tested."""
        longer = ((T, self.q) for T in self.lengths)
        return (*longer, *((self.T, q) for q in self.subset_sizes))

    @property
    def says(self) -> str:
        """In words."""
        return (
            f"T = {self.T}, q = {self.q}, d = {self.d}, d_e = {self.d_e}, n = {self.samples}, "
            f"threshold {self.threshold:g}, {self.steps:,} steps, {self.seeds} seeds"
        )


QUICK = Sizes(40, 2, 3, 40, 0.6, 128, (50, 60, 70, 80), (3, 4, 5, 6), 6_000, 100, 6_000, None, 3)
"""A small copy of the experiment. Its step size does not change: it ends too early for that."""

PAPER = Sizes(
    T=200,
    q=3,
    d=5,
    d_e=170,
    threshold=0.3,
    samples=256,
    lengths=(250, 300, 350, 400),
    subset_sizes=(5, 6, 7, 8),
    steps=100_000,
    every=500,
    change=50_000,
    later_rate=1 / 3,
    seeds=2,
)

ADAM_RATE = 1e-3
"""The usual step size of Adam."""


@dataclass(frozen=True)
class OnlinePlans(AbstractInstances):
    """The plan of Section 4, one a seed, at two scales."""

    quick: Sizes = QUICK
    paper: Sizes = PAPER

    def at(self, scale: Scale) -> Sizes:
        """The sizes of a scale."""
        return self.paper if scale == "paper" else self.quick

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        size = self.at(scale)
        task = Task(size.T, size.q, size.d)
        return [
            Plan(
                f"seed {own}",
                task,
                rate=1.0,
                epsilon=largest_epsilon(task) / 2,
                d_e=size.d_e,
                threshold=size.threshold,
                training=OnlineChoices(
                    rate=1.0,
                    later_rate=size.later_rate,
                    change=size.change,
                    samples=size.samples,
                    tests=size.tests,
                    seed=own,
                ),
            )
            for own in range(seed, seed + size.seeds)
        ]

    @property
    def says(self) -> str:
        if self.quick == self.paper:
            return self.quick.says
        return f"{self.quick.says}; at paper scale {self.paper.says}"


@dataclass(frozen=True)
class Online:
    """How it is trained.

    Attributes:
        algorithm: SGD or Adam.
        random_start: from Gaussian weights of variance 1/(d + d_e), or from zero.
        steps, rate: in the place of those of the scale and the algorithm.
    """

    algorithm: Literal["sgd", "adam"] = "sgd"
    random_start: bool = False
    steps: int | None = None
    rate: float | None = None

    @property
    def says(self) -> str:
        """In words."""
        start = "Gaussian weights of variance 1/(d + d_e)" if self.random_start else "zero"
        rule = f"Adam, step size {ADAM_RATE:g}," if self.algorithm == "adam" else "SGD"
        changes = [("steps", self.steps), ("step size", self.rate)]
        own = "".join(f", {name} {value:g}" for name, value in changes if value is not None)
        return f"online {rule} from {start}{own}, x_query = 0"

    def of(self, size: Sizes, encodings: Arm, seed: int = 0) -> Training:
        """A run of these sizes, with x_query = 0."""
        steps, every = size.steps, size.every
        if self.steps is not None:
            steps, every = self.steps, min(size.every, max(self.steps // 60, 1))
        adam = self.algorithm == "adam"
        usual_rate = ADAM_RATE if adam else 1.0
        return Training(
            Task(size.T, size.q, size.d),
            size.d_e,
            encodings=encodings,
            threshold=size.threshold,
            samples=size.samples,
            algorithm=self.algorithm,
            rate=usual_rate if self.rate is None else self.rate,
            later_rate=None if adam else size.later_rate,
            change=size.change,
            initial=(size.d + size.d_e) ** -0.5 if self.random_start else 0.0,
            steps=steps,
            record=tuple(range(0, steps + 1, every)),
            tests=size.tests,
            seed=seed,
        )


@dataclass(frozen=True)
class Pair(AbstractPlanned):
    """The same training with fresh and with fixed encodings, from one seed."""

    plan: Plan
    stochastic: TrainingRun
    fixed: TrainingRun

    def run(self, arm: Arm) -> TrainingRun:
        """One of the two."""
        return self.stochastic if arm == "stochastic" else self.fixed

    @property
    def problems(self) -> Sequence[Problem]:
        return (*divergence(self.name, self.stochastic), *divergence(self.name, self.fixed))


def divergence(name: str, run: TrainingRun) -> Sequence[Problem]:
    """Whether training blew up."""
    if run.diverged is None:
        return ()
    message = f"the loss blew up at step {run.diverged}"
    return (Problem("diverged", f"{name}, {run.how.encodings} encodings", message),)


ARMS: tuple[Arm, Arm] = ("stochastic", "fixed")


def sizes_of(experiment: Experiment[Any]) -> Sizes:
    """The sizes at which it runs."""
    assert isinstance(experiment.instances, OnlinePlans)
    return experiment.instances.at(experiment.scale)


def _pairs(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Pair]:
    """Fresh against fixed encodings."""
    online, size = experiment.training, sizes_of(experiment)
    wanted = [online.of(size, arm, plan.training.seed) for plan in plans for arm in ARMS]
    progress = bench.track(online.says, sum(training.steps for training in wanted))
    done = run_all(wanted, store=bench.store, progress=progress)
    return Evidence(tuple(Pair(plan, *done[2 * i : 2 * i + 2]) for i, plan in enumerate(plans)))


SECTION_4 = OnlinePlans()

SGD = Experiment(SECTION_4, _pairs, Online(), own=True)
ADAM = Experiment(SECTION_4, _pairs, Online("adam"), own=True)
SGD_RANDOM = Experiment(SECTION_4, _pairs, Online(random_start=True), own=True)
ADAM_RANDOM = Experiment(SECTION_4, _pairs, Online("adam", random_start=True), own=True)


def pairs_behind(experiment: Experiment[Any], bench: Bench) -> Evidence[Pair]:
    """The trained pairs that an experiment looks at in another way."""
    return bench.evidence(replace(experiment, measure=_pairs))


@dataclass(frozen=True)
class Starts:
    """The runs of one seed from zero and from random weights."""

    name: str
    zero: Pair
    random: Pair

    @property
    def instance(self) -> Plan:
        """The plan of both."""
        return self.zero.plan

    @property
    def problems(self) -> Sequence[Problem]:
        return (*self.zero.problems, *self.random.problems)


def _starts(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Starts]:
    """Beside the same from zero."""
    random = pairs_behind(experiment, bench)
    from_zero = replace(experiment, training=replace(experiment.training, random_start=False))
    zero = pairs_behind(from_zero, bench)
    both = zip(zero, random, strict=True)
    return Evidence(tuple(Starts(first.name, first, other) for first, other in both))


SGD_STARTS = Experiment(SECTION_4, _starts, SGD_RANDOM.training, own=True)
ADAM_STARTS = Experiment(SECTION_4, _starts, ADAM_RANDOM.training, own=True)

"""The experiments behind the claims, and the evidence they give.

Everything that needs arrays on a device is imported when an experiment runs, so that claims can
be listed at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from lemmata.old_claims import Bench, Experiment
from lemmata.papers.convergence import theory
from lemmata.tokens._problems import Problem

if TYPE_CHECKING:
    from lemmata.papers.convergence.setting import Dataset, TwoStage, TwoStageRun

Column = Float[np.ndarray, "datasets 1"]
Grid = Float[np.ndarray, "datasets records"]


@dataclass(frozen=True)
class Structures:
    """Datasets, looked at but not trained."""

    datasets: "tuple[Dataset, ...]"

    def __len__(self) -> int:
        return len(self.datasets)

    def problems(self, index: int) -> Sequence[Problem]:
        return self.datasets[index].problems

    def select(self, indices: Sequence[int]) -> "Structures":
        return Structures(tuple(self.datasets[i] for i in indices))


@dataclass(frozen=True)
class Trained:
    """Runs of Algorithm 1, as grids with one row a dataset.

    Datasets without a collocation cannot be trained; they are listed so that a verdict can say
    why it does not apply to them.
    """

    run: "TwoStageRun | None"
    untrained: "tuple[Dataset, ...]" = ()

    @property
    def datasets(self) -> "tuple[Dataset, ...]":
        return (() if self.run is None else self.run.datasets) + self.untrained

    def __len__(self) -> int:
        return len(self.datasets)

    def problems(self, index: int) -> Sequence[Problem]:
        return self.datasets[index].problems

    def select(self, indices: Sequence[int]) -> "Trained":
        return Trained(None if self.run is None else self.run.select(indices))

    @cached_property
    def names(self) -> list[str]:
        return [dataset.name for dataset in self.datasets]

    @property
    def trained(self) -> "TwoStageRun":
        assert self.run is not None, "no dataset could be trained"
        return self.run

    @property
    def T(self) -> int:
        """The length of stage 1."""
        return self.trained.algorithm.stage1_steps

    @property
    def steps1(self) -> np.ndarray:
        return self.trained.stage1.steps

    @property
    def steps2(self) -> np.ndarray:
        return self.trained.stage2.steps

    def stage1(self, name: str) -> Grid:
        """A measurement of stage 1."""
        return self.trained.stage1.series[name]

    def stage2(self, name: str) -> Grid:
        """A measurement of stage 2."""
        return self.trained.stage2.series[name]

    def each(self, value: "Callable[[Dataset], float]") -> Column:
        """A constant of each dataset, as a column."""
        return np.array([[float(value(dataset))] for dataset in self.datasets])

    @property
    def K(self) -> Column:
        return self.each(lambda d: d.K)

    @property
    def N(self) -> Column:
        return self.each(lambda d: d.N)

    @property
    def L(self) -> Column:
        return self.each(lambda d: d.L_max)

    @property
    def norm_ov(self) -> Column:
        return self.each(lambda d: d.norm_ov)

    @property
    def norm_kq(self) -> Column:
        return self.each(lambda d: d.norm_kq)

    @property
    def eta0(self) -> Column:
        return self.trained.rate_ov[:, None]

    @property
    def eta(self) -> Column:
        return self.trained.rate_kq[:, None]


@dataclass(frozen=True)
class Points:
    """Losses and gradients at random weights, several points a dataset, by independent routes.

    ``series`` holds, for each quantity, one row a dataset and one column a point.
    """

    datasets: "tuple[Dataset, ...]"
    series: dict[str, Grid]
    skipped: "tuple[Dataset, ...]" = ()

    def __len__(self) -> int:
        return len(self.datasets) + len(self.skipped)

    def problems(self, index: int) -> Sequence[Problem]:
        return (self.datasets + self.skipped)[index].problems

    def select(self, indices: Sequence[int]) -> "Points":
        rows = list(indices)
        return Points(
            tuple(self.datasets[i] for i in rows),
            {name: grid[rows] for name, grid in self.series.items()},
        )

    @cached_property
    def names(self) -> list[str]:
        return [dataset.name for dataset in self.datasets]

    @property
    def numbers(self) -> np.ndarray:
        """The number of each point, in the place of t."""
        return np.arange(next(iter(self.series.values())).shape[1])

    def each(self, value: "Callable[[Dataset], float]") -> Column:
        return np.array([[float(value(dataset))] for dataset in self.datasets])


def _user_datasets(bench: Bench) -> "list[Dataset] | None":
    from lemmata.papers.convergence.setting import Dataset

    if bench.instances is None:
        return None
    many = len(bench.instances) > 1
    return [
        Dataset.from_instance(f"data[{i}]" if many else "data", instance)
        for i, instance in enumerate(bench.instances)
    ]


def random_datasets(bench: Bench, count: int = 100) -> "list[Dataset]":
    """The random datasets of Figure 2 and of most checks."""
    from lemmata.papers.convergence.setting import Realizable, generate

    return generate(Realizable(), count, bench.seed)


def special_datasets(bench: Bench) -> "list[Dataset]":
    """Datasets of other shapes: the examples, other generators, skewed frequencies."""
    from lemmata.papers.convergence.setting import (
        Dataset,
        Realizable,
        Rejection,
        example_1,
        generate,
    )

    return [
        example_1(),
        Dataset.from_sentences("abab", ["abab", "ba"]),
        *generate(Realizable(vocabulary=6, longest=5, copies=3), 2, bench.seed),
        *generate(Realizable(vocabulary=12, cycles=3, reflect=0.6), 2, bench.seed),
        *generate(Rejection(vocabulary=10, sentences=30), 2, bench.seed),
    ]


def train(bench: Bench, title: str, datasets: "Sequence[Dataset]", how: "TwoStage") -> Trained:
    """Train what can be trained, with a progress bar."""
    ready = [d for d in datasets if d.has_collocation]
    waiting = tuple(d for d in datasets if not d.has_collocation)
    if not ready:
        return Trained(None, waiting)
    total = len(ready) * (how.stage1_steps + how.steps)
    run = how.run(ready, store=bench.store, progress=bench.track(title, total))
    return Trained(run, waiting)


def _structures(bench: Bench) -> Structures:
    own = _user_datasets(bench)
    return Structures(tuple(own or [*special_datasets(bench), *random_datasets(bench)]))


def _training(bench: Bench) -> Trained:
    from lemmata.papers.convergence.setting import TwoStage

    own = _user_datasets(bench)
    if own is not None:
        return train(bench, "Algorithm 1", own, TwoStage(**bench.options))
    datasets = [*special_datasets(bench), *random_datasets(bench)]
    return train(bench, "108 datasets, the paper's step sizes", datasets, TwoStage())


def _paper_run(bench: Bench) -> "TwoStageRun":
    run = bench.evidence(TRAINING).trained
    return run.select(range(len(run.datasets) - 100, len(run.datasets)))


def _example(bench: Bench) -> Trained:
    from lemmata.papers.convergence.setting import TwoStage, example_1

    if bench.instances is None:
        return bench.evidence(TRAINING).select([0])
    return train(bench, "Example 1", [example_1()], TwoStage())


def _sixteen(bench: Bench) -> "list[Dataset]":
    """The user's datasets, or the special ones and eight random ones."""
    own = _user_datasets(bench)
    return [*special_datasets(bench), *random_datasets(bench, 8)] if own is None else own


def _large_steps(bench: Bench) -> Trained:
    from lemmata.papers.convergence.setting import TwoStage

    datasets = _sixteen(bench)
    starts = [
        theory.lemma_7_start(d.norm_kq / np.e, d.norm_kq, d.L_max)
        for d in datasets
        if d.norm_kq > 0
    ]
    steps = int(min(max([*starts, 1.0]) + 200, 20_000))
    return train(bench, "large steps", datasets, TwoStage(steps=steps, rate="largest"))


def _long_run(bench: Bench) -> Trained:
    from lemmata.papers.convergence.setting import TwoStage

    how = TwoStage(steps=5_000, rate=0.2, record="log")
    return train(bench, "long run", _sixteen(bench), how)


def _long_stage_1(bench: Bench) -> Trained:
    """Stage 1 for as long as Corollary 1 asks, on the two smallest vocabularies."""
    from lemmata.papers.convergence.setting import Dataset, TwoStage

    own = _user_datasets(bench)
    if own is not None:
        return bench.evidence(TRAINING)
    two = Dataset.from_sentences("abab", ["abab", "ba"])
    eta0 = 0.5
    steps = int(theory.corollary_1_steps(eta0, two.norm_ov, two.K))
    how = TwoStage(stage1_steps=steps, stage1_rate=eta0, steps=1, record="log")
    return train(bench, "long stage 1", [two], how)


def _without_assumption_3(bench: Bench) -> Trained:
    from lemmata.papers.convergence._counterexamples import outnumbered
    from lemmata.papers.convergence.setting import Realizable, TwoStage, generate

    if bench.instances is not None:
        return bench.evidence(TRAINING)
    walks = generate(Realizable(assumption_3=False, random_lengths=False), 10, bench.seed)
    how = TwoStage(steps=200, rate=0.05)
    return train(bench, "without Assumption 3", [outnumbered(), *walks], how)


def _sample_level(bench: Bench) -> Structures:
    from lemmata.papers.convergence._counterexamples import label_out_of_reach, shared_next_token
    from lemmata.papers.convergence.setting import Samples, generate

    own = _user_datasets(bench)
    if own is not None:
        return Structures(tuple(own))
    drawn = [
        dataset
        for vocabulary in (6, 9, 20)
        for optimal in (1, 2, 3)
        for dataset in generate(Samples(vocabulary, optimal, 1, 6), 10, bench.seed)
    ]
    return Structures((shared_next_token(), label_out_of_reach(), *drawn))


def _points(bench: Bench) -> Points:
    from lemmata.papers.convergence._points import random_points

    datasets = _user_datasets(bench)
    if datasets is None:
        datasets = [*special_datasets(bench), *random_datasets(bench, 6)]
    ready = [d for d in datasets if d.has_collocation and d.norm_kq > 0 and d.orthonormal]
    skipped = tuple(d for d in datasets if d not in ready)
    if not ready:
        return Points((), {}, skipped)
    return random_points(ready, skipped, bench.seed)


STRUCTURES: Experiment[Structures] = Experiment(
    "structures", "Example 1, 7 special and 100 random datasets; nothing is trained", _structures
)
PAPER_RUN: "Experiment[TwoStageRun]" = Experiment(
    "paper-run",
    "100 random datasets, |V| = 20, T = T1 = 900, eta0 = 0.2/sqrt(20), eta = 0.05/sqrt(20)",
    _paper_run,
)
TRAINING: Experiment[Trained] = Experiment(
    "training",
    "Algorithm 1 on 8 special and 100 random datasets, 900 + 900 steps, the paper's step sizes",
    _training,
)
EXAMPLE: Experiment[Trained] = Experiment(
    "example", "Algorithm 1 on Example 1, T = T1 = 900, eta0 = 0.1, eta = 0.025", _example
)
LARGE_STEPS: Experiment[Trained] = Experiment(
    "large-steps",
    "Algorithm 1 on 16 datasets with eta = ||W_kq*||/e, to 200 steps past the last t_0",
    _large_steps,
)
LONG_RUN: Experiment[Trained] = Experiment(
    "long-run", "Algorithm 1 on 16 datasets, 5,000 steps of eta = 0.2", _long_run
)
LONG_STAGE_1: Experiment[Trained] = Experiment(
    "long-stage-1",
    "stage 1 on {abab, ba} with eta0 = 0.5, for as many steps as Corollary 1 asks",
    _long_stage_1,
)
WITHOUT_ASSUMPTION_3: Experiment[Trained] = Experiment(
    "without-assumption-3",
    "200 steps of eta = 0.05 on one adversarial and 10 random datasets that break Assumption 3",
    _without_assumption_3,
)
SAMPLE_LEVEL: Experiment[Structures] = Experiment(
    "sample-level",
    "90 random sample-level datasets, which are not prefix-closed, and two small ones",
    _sample_level,
)
RANDOM_POINTS: Experiment[Points] = Experiment(
    "random-points", "14 datasets, 16 random weight matrices each, at four scales", _points
)


def witness(dataset: "Dataset", **numbers: Any) -> dict[str, Any]:
    """A dataset that a reader can type in, with the numbers that matter."""
    return {
        "dataset": dataset.name,
        "samples": [dataset.data.show(sample) for sample in dataset.data.samples],
        **numbers,
    }

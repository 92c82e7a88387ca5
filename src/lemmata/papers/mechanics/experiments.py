"""The experiments behind the claims and figures, and the evidence they give.

Everything that needs arrays on a device is imported when an experiment runs, so that claims can
be listed at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from lemmata.claims import Bench, Experiment
from lemmata.tokens._problems import Problem

if TYPE_CHECKING:
    from lemmata.papers.mechanics.setting import Curve, Dataset, Pseudo, Training, TrainingRun

Column = Float[np.ndarray, "datasets 1"]
Grid = Float[np.ndarray, "datasets records"]

TRIALS = 100
"""Random datasets of each figure, at any scale."""

AUTHORS_EPSILON = 2.220446049250313e-16
"""What the authors' program adds to the norm of the gradient."""


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

    @property
    def names(self) -> list[str]:
        return [dataset.name for dataset in self.datasets]

    def each(self, value: "Callable[[Dataset], float]") -> Column:
        """A number of each dataset, as a column."""
        return np.array([[float(value(dataset))] for dataset in self.datasets])


@dataclass(frozen=True)
class Trained:
    """Training runs as grids, one row a dataset."""

    run: "TrainingRun"

    @property
    def datasets(self) -> "tuple[Dataset, ...]":
        return self.run.datasets

    def __len__(self) -> int:
        return len(self.datasets)

    def problems(self, index: int) -> Sequence[Problem]:
        return self.datasets[index].problems

    def select(self, indices: Sequence[int]) -> "Trained":
        return Trained(self.run.select(indices))

    @property
    def names(self) -> list[str]:
        return [dataset.name for dataset in self.datasets]

    @property
    def steps(self) -> np.ndarray:
        return self.run.steps

    @property
    def eta(self) -> Column:
        """The step size of each dataset."""
        return self.run.rate[:, None]

    def __getitem__(self, name: str) -> Grid:
        return self.run[name]

    def each(self, value: "Callable[[Dataset], float]") -> Column:
        """A number of each dataset, as a column."""
        return np.array([[float(value(dataset))] for dataset in self.datasets])


@dataclass(frozen=True)
class Curves:
    """A curve of each dataset at the same depths or times."""

    datasets: "tuple[Dataset, ...]"
    curves: "tuple[Curve, ...]"
    places: np.ndarray

    def __len__(self) -> int:
        return len(self.datasets)

    def problems(self, index: int) -> Sequence[Problem]:
        return self.datasets[index].problems

    def select(self, indices: Sequence[int]) -> "Curves":
        return Curves(
            tuple(self.datasets[i] for i in indices),
            tuple(self.curves[i] for i in indices),
            self.places,
        )

    @property
    def names(self) -> list[str]:
        return [dataset.name for dataset in self.datasets]

    @cached_property
    def norm(self) -> Grid:
        return np.stack([curve.norm for curve in self.curves])

    @cached_property
    def one_minus_correlation(self) -> Grid:
        return np.stack([curve.one_minus_correlation for curve in self.curves])

    @cached_property
    def cyclic_distance(self) -> Grid:
        return np.stack([curve.cyclic_distance for curve in self.curves])

    @cached_property
    def log_loss(self) -> Grid:
        return np.stack([curve.log_loss for curve in self.curves])


@dataclass(frozen=True)
class Local:
    """A run with a general head, and the local limits that its end defines.

    Attributes:
        run: compared with the limits of the dataset's own graphs (global).
        authors: the same run compared with the pseudo graphs of the authors' recipe (local).
        selected: compared with our definition of the local limits.
        pseudo: the pseudo graphs behind the last two, in this order.
    """

    run: "TrainingRun"
    authors: "TrainingRun"
    selected: "TrainingRun"
    pseudo: "tuple[list[Pseudo], list[Pseudo]]"

    def __len__(self) -> int:
        return len(self.run.datasets)

    def problems(self, index: int) -> Sequence[Problem]:
        return self.run.datasets[index].problems

    def select(self, indices: Sequence[int]) -> "Local":
        first, second = self.pseudo
        return Local(
            self.run.select(indices),
            self.authors.select(indices),
            self.selected.select(indices),
            ([first[i] for i in indices], [second[i] for i in indices]),
        )


def user_datasets(bench: Bench) -> "list[Dataset] | None":
    """The user's data, if the bench has any."""
    from lemmata.papers.mechanics.setting import Dataset

    if bench.instances is None:
        return None
    many = len(bench.instances) > 1
    return [
        Dataset.from_instance(f"data[{i}]" if many else "data", instance)
        for i, instance in enumerate(bench.instances)
    ]


def trained(bench: Bench, title: str, datasets: "Sequence[Dataset]", how: "Training") -> Trained:
    """Train with a progress bar."""
    progress = bench.track(title, len(datasets) * how.steps)
    return Trained(how.run(datasets, store=bench.store, progress=progress))


FIGURE_STEPS = (*range(0, 100, 5), *range(100, 4_001, 20))


def _figure_run(bench: Bench, kind: str) -> Trained:
    from lemmata.papers.mechanics.setting import ACYCLIC, CYCLIC, Training, generate

    own = user_datasets(bench)
    recipe = ACYCLIC if kind == "acyclic" else CYCLIC
    datasets = generate(recipe, TRIALS, bench.seed) if own is None else own
    return trained(bench, f"100 {kind} datasets", datasets, Training(record=FIGURE_STEPS))


def _local(bench: Bench, loss: str) -> Local:
    from lemmata.papers.mechanics.setting import LOCAL, Training, generate, pseudo_limits

    datasets = generate(LOCAL, TRIALS, bench.seed)
    steps = (*range(0, 100, 5), *range(100, 2_001, 20))
    settings: dict[str, Any] = {"loss": loss, "head": "embedding", "epsilon": AUTHORS_EPSILON}
    how = Training(rate=0.1, steps=2_000, record=steps, **settings)
    title = f"100 datasets, {loss}"
    run = trained(bench, title, datasets, how).run
    weights = [run.weights(i) for i in range(len(datasets))]
    authors = pseudo_limits(datasets, weights, how, "authors")
    selected = pseudo_limits(datasets, weights, how, "selected")
    again = [
        how.run(
            datasets,
            limits=[pseudo.limit for pseudo in pseudos],
            store=bench.store,
            progress=bench.track(f"{title}, local limits", TRIALS * how.steps),
        )
        for pseudos in (authors, selected)
    ]
    return Local(run, again[0], again[1], (authors, selected))


ACYCLIC_RUN: Experiment[Trained] = Experiment(
    "acyclic-run",
    "100 random acyclic datasets, K = d = 8, n = 4, T = 6: 4,000 normalized steps of 0.01 from a "
    "random start (Figure 3)",
    lambda bench: _figure_run(bench, "acyclic"),
)
CYCLIC_RUN: Experiment[Trained] = Experiment(
    "cyclic-run",
    "100 random cyclic datasets, K = 6, d = 8, n = 6, T = 4: 4,000 normalized steps of 0.01 from a "
    "random start (Figure 4)",
    lambda bench: _figure_run(bench, "cyclic"),
)
SQUARED_RUN: Experiment[Local] = Experiment(
    "squared-run",
    "100 random cyclic datasets, K = d = 8, n = 4, T = 6, C = E: 2,000 normalized steps of 0.1 on "
    "(1 - softmax(C X's)_y)^2, the authors' epsilon (Figure 5)",
    lambda bench: _local(bench, "softmax-squared"),
)
LITERAL_SQUARED_RUN: Experiment[Local] = Experiment(
    "literal-squared-run",
    "the same with (1 - u)^2 as the text has it",
    lambda bench: _local(bench, "squared"),
)
CROSS_ENTROPY_RUN: Experiment[Local] = Experiment(
    "cross-entropy-run",
    "the same with cross-entropy (Figure 6)",
    lambda bench: _local(bench, "cross-entropy"),
)


def witness(dataset: "Dataset", **numbers: Any) -> dict[str, Any]:
    """A dataset that a reader can type in, with the numbers that matter."""
    samples = [dataset.data.show(sample) for sample in dataset.data.samples]
    return {"dataset": dataset.name, "samples": samples, **numbers}

"""What experiments give: datasets looked at, trained, or followed along curves.

Datasets that an experiment cannot use are listed as ``skipped``, so that a verdict can say why it
does not apply to them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from lemmata.tokens._problems import Problem

if TYPE_CHECKING:
    from lemmata.papers.mechanics.setting import (
        BallPath,
        Curve,
        Dataset,
        Pseudo,
        TrainingRun,
    )

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

    @property
    def names(self) -> list[str]:
        return [dataset.name for dataset in self.datasets]

    def each(self, value: "Callable[[Dataset], float]") -> Column:
        """A number of each dataset, as a column."""
        return np.array([[float(value(dataset))] for dataset in self.datasets])


@dataclass(frozen=True)
class Trained:
    """Training runs as grids, one row a dataset.

    Datasets without a realizable sample cannot be trained.
    """

    found: "TrainingRun | None"
    skipped: "tuple[Dataset, ...]" = ()

    @property
    def run(self) -> "TrainingRun":
        assert self.found is not None, "no dataset could be trained"
        return self.found

    @property
    def datasets(self) -> "tuple[Dataset, ...]":
        return () if self.found is None else self.found.datasets

    def __len__(self) -> int:
        return len(self.datasets) + len(self.skipped)

    def problems(self, index: int) -> Sequence[Problem]:
        return (self.datasets + self.skipped)[index].problems

    def select(self, indices: Sequence[int]) -> "Trained":
        return Trained(self.run.select([i for i in indices if i < len(self.datasets)]))

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
    skipped: "tuple[Dataset, ...]" = ()

    def __len__(self) -> int:
        return len(self.datasets) + len(self.skipped)

    def problems(self, index: int) -> Sequence[Problem]:
        return (self.datasets + self.skipped)[index].problems

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
class Balls:
    """The regularization paths of losses that are not convex, by loss."""

    datasets: "tuple[Dataset, ...]"
    paths: "dict[str, list[BallPath]]"
    skipped: "tuple[Dataset, ...]" = ()

    def __len__(self) -> int:
        return len(self.datasets) + len(self.skipped)

    def problems(self, index: int) -> Sequence[Problem]:
        return (self.datasets + self.skipped)[index].problems

    def select(self, indices: Sequence[int]) -> "Balls":
        return Balls(
            tuple(self.datasets[i] for i in indices),
            {loss: [paths[i] for i in indices] for loss, paths in self.paths.items()},
        )

    @property
    def names(self) -> list[str]:
        return [dataset.name for dataset in self.datasets]


@dataclass(frozen=True)
class Steps:
    """Every iterate of gradient descent with eta = 1/L, on a few datasets.

    Attributes:
        eta: the step size of each dataset.
        weights: W(0), W(1), ... of each dataset.
        risks: L there.
    """

    datasets: "tuple[Dataset, ...]"
    eta: Float[np.ndarray, "datasets"]
    weights: tuple[Float[np.ndarray, "steps dimension dimension"], ...]
    risks: Float[np.ndarray, "datasets steps"]
    skipped: "tuple[Dataset, ...]" = ()

    def __len__(self) -> int:
        return len(self.datasets) + len(self.skipped)

    def problems(self, index: int) -> Sequence[Problem]:
        return (self.datasets + self.skipped)[index].problems

    def select(self, indices: Sequence[int]) -> "Steps":
        rows = list(indices)
        return Steps(
            tuple(self.datasets[i] for i in rows),
            self.eta[rows],
            tuple(self.weights[i] for i in rows),
            self.risks[rows],
        )

    @property
    def names(self) -> list[str]:
        return [dataset.name for dataset in self.datasets]

    def chain(self) -> dict[str, Grid]:
        """The sides of the chain (29) to (33) at each step; NaN where ||W_perp|| <= 1/2."""
        found: dict[str, list[np.ndarray]] = {}
        for dataset, W, risk, eta in zip(
            self.datasets, self.weights, self.risks, self.eta, strict=True
        ):
            flat = W.reshape(len(W), -1)
            free = flat - (flat @ dataset.tied_basis.T) @ dataset.tied_basis
            size = np.linalg.norm(free, axis=1)
            apart = np.sum(np.diff(free, axis=0) ** 2, axis=1)
            sides = {
                "along": np.sum(np.diff(free, axis=0) * free[:-1], axis=1) / size[:-1],
                "squares": np.diff(size**2) / (2 * size[:-1]) - apart,
                "norms": np.diff(size) - apart,
                "whole": np.diff(size) - np.sum(np.diff(flat, axis=0) ** 2, axis=1),
                "risk": np.diff(size) + 2 * eta * np.diff(risk),
            }
            for name, values in sides.items():
                found.setdefault(name, []).append(np.where(size[:-1] > 0.5, values, np.nan))
        return {name: np.array(rows) for name, rows in found.items()}


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

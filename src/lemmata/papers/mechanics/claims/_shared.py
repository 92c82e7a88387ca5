"""What the claims share: their usual hypotheses, and comparisons at many points."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np

from lemmata.claims import Comparison, Identity, Inequality, Limit, tends_to
from lemmata.settings import Evidence, Grid, as_rows
from lemmata.tokens import PriorityGraph

from ..experiments import EPS, At
from ..setting import ACYCLIC_DATA, FEASIBLE, INDEPENDENT, NONZERO, REALIZABLE, Dataset

EXACT = 1e-20
"""1 - corr below this is rounding: the direction is exact, and there is no rate to see."""

LATELY, NEARLY = 10.0, 0.2
"""Descent has arrived once its growth per e-fold, over the last decade of steps, is near |W^mm|."""

SHORTEST = 1e-300
"""A Lipschitz constant of 0 counts as this."""

MANY_FOLDS = 20.0
"""Ties are decided once their distance to W^cyc has fallen by so many e-folds."""

ComparisonT = TypeVar("ComparisonT", bound=Comparison)

Numbers = Iterator[tuple[float, ...]]
"""What a statement compares, at one point after the other."""

GLOBAL = (REALIZABLE, INDEPENDENT, FEASIBLE, NONZERO)
"""What Theorems 2 to 4 ask of the data."""

SEPARABLE = (REALIZABLE, ACYCLIC_DATA, FEASIBLE, NONZERO)
"""What Theorem 1 asks of it."""


def sides(
    evidence: Evidence[Any], points: Callable[[Any], Iterable[Sequence[float]]], count: int = 2
) -> tuple[Grid, ...]:
    """The ``count`` numbers at some points of every case, as a grid for each of the numbers."""
    tables = [np.array(list(points(case)), dtype=float).reshape(-1, count) for case in evidence]
    return tuple(as_rows([table[:, k] for table in tables]) for k in range(count))


def everything(evidence: Evidence[Any]) -> Evidence[Any]:
    """All cases."""
    return evidence


def at_points(
    compare: Callable[..., ComparisonT],
    *options: str,
    only: Callable[[Evidence[Any]], Evidence[Any]] = everything,
    **constants: Any,
) -> Callable[[Callable[..., Numbers]], Callable[..., ComparisonT]]:
    """A check of what a statement says at some points of a case.

    The function below it yields the left side, the right side and the ``options`` of the
    comparison, such as its ``rounding``, at each point of one case.
    """

    def wrap(points: Callable[..., Numbers]) -> Callable[..., ComparisonT]:
        @wraps(points)
        def check(evidence: Evidence[Any], **parameters: Any) -> ComparisonT:
            some, names = only(evidence), ("left", "right", *options)
            grids = sides(some, partial(points, **parameters), len(names))
            named = dict(zip(names, grids, strict=True))
            return compare(**named, **constants, cases=some.cases)

        return check

    return wrap


def speaking(comparisons: Sequence[Inequality | Identity]) -> Sequence[Comparison]:
    """The comparisons that have something to compare; all of them if none has."""
    return [part for part in comparisons if np.size(part.left)] or comparisons


def with_ties(evidence: Evidence[Dataset]) -> Evidence[Dataset]:
    """The datasets in which some tokens are tied and Graph-SVM is feasible."""
    return evidence.where(lambda dataset: not dataset.acyclic and dataset.feasible)


def optimum_error(dataset: Dataset) -> float:
    """How far W^mm may be off, relative to its norm: what its certificate says, and rounding."""
    return dataset.margin.error_bound / max(dataset.norm, 1.0) + 64 * EPS


def reaches(graph: PriorityGraph) -> np.ndarray:
    """Reachability by repeated squaring of the adjacency matrix."""
    place = {token: i for i, token in enumerate(graph.nodes)}
    reach = np.eye(len(place), dtype=bool)
    for a, b in graph.edges:
        reach[place[a], place[b]] = True
    for _ in range(len(place).bit_length()):
        reach = reach @ reach
    return reach


def pairs_basis(dataset: Dataset) -> np.ndarray:
    """A basis of the span of all pairs, outside of which the risk does not change."""
    return np.concatenate([dataset.bound_basis, dataset.free_basis])


def slowest_pace(dataset: Dataset) -> float:
    """The least curvature of the risk along ties, at W^cyc: the pace of descent among them."""
    reduced, basis = dataset.risk.tied_only(), dataset.bound_basis
    if not len(basis):
        return np.inf
    at = At(dataset, dataset.dense(dataset.finite_part))
    share = dataset.risk.weight.sum(where=dataset.risk.choice)
    return float(share * at.curvature_roots(basis, reduced)[-1] ** 2)


def settled(evidence: Evidence[Dataset], rate: np.ndarray, values: Grid) -> Grid:
    """The values of the cases in which ties have had the time to be decided, NaN for the others.

    ``rate`` is the step size of plain descent among them.
    """
    pace = evidence.each(slowest_pace) * rate * float(np.max(evidence.records))
    return np.where(pace >= MANY_FOLDS, values, np.nan)


def arrived(
    evidence: Evidence[Dataset], grown: Grid, values: Grid, *, normalized: bool = False
) -> Grid:
    """The values of the cases on which descent goes as W^mm ln τ already, NaN for the others.

    Before, it may stand still for as long as counts are skewed, and nothing can be extrapolated;
    a step has seen every sample, too.
    ``grown`` is the norm outside S_cyc at the records. How far a step goes is told in logits: plain
    ones by L, which has four features as factors, ``normalized`` ones by its root.
    """
    records = np.asarray(evidence.records, dtype=float)
    before = int(np.searchsorted(records, records[-1] / LATELY, side="right")) - 1
    folds = np.log(records[-1] / max(records[before], 1.0))
    growth = (grown[:, -1] - grown[:, before]) / max(folds, EPS)
    sizes = evidence.each(lambda dataset: dataset.norm)[:, 0]
    steep = evidence.each(lambda d: max(d.lipschitz_tight, SHORTEST))
    pace = evidence.columns.get("rate", 1 / steep) * steep ** (0.5 if normalized else 1.0)
    seen = evidence.each(lambda d: d.risk.weight.min()) * pace * records[-1] >= 1
    there = seen & (np.abs(growth - sizes) <= NEARLY * sizes)[:, None]
    return np.where(there, values, np.nan)


def aligns(gaps: Grid, **options: Any) -> Limit:
    """1 − corr, the gaps, tends to 0; where it is rounding all the way, it is exact."""
    largest = np.nanmax(gaps, axis=1, keepdims=True, initial=0.0)
    noise = 64 * EPS
    seen = np.where((largest <= noise) & ~np.isnan(gaps), 0.0, gaps)
    return tends_to(seen, 0.0, size=np.maximum(largest, noise), above=True, **options)

"""The paper's assumptions, and short ways to judge over datasets and points."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lemmata.old_claims import Assumption, Judgement, Status, at_least, equal, statements
from lemmata.papers.mechanics.evidence import Curves, Structures, Trained

if TYPE_CHECKING:
    from lemmata.papers.mechanics.setting import Dataset

ASSUMPTION_2 = Assumption(
    "Assumption 2", "every label occurs in its sequence", frozenset({"label_not_in_sequence"})
)
ASSUMPTION_4 = Assumption(
    "Assumption 4",
    "some head has C E^T = I: the embeddings are linearly independent",
    frozenset({"embeddings_dependent"}),
)
ACYCLIC = Assumption(
    "acyclic data (Definition 2)", "no tokens beat each other", frozenset({"cyclic"})
)
FEASIBLE = Assumption("feasibility", "Graph-SVM has a solution", frozenset({"infeasible"}))
NONZERO = Assumption(
    "W^mm is not 0", "some token strictly beats another", frozenset({"max_margin_zero"})
)

GLOBAL = (ASSUMPTION_2, ASSUMPTION_4, FEASIBLE, NONZERO)
"""What Theorems 2 to 4 ask of the data."""

EPS = float(np.finfo(float).eps)

claim = statements("mechanics")


def over(evidence: Structures, value: "Callable[[Dataset], Sequence[float]]") -> np.ndarray:
    """One row a dataset; shorter rows are filled with NaN, of which nothing is said."""
    rows = [list(value(dataset)) for dataset in evidence.datasets]
    width = max(map(len, rows), default=0)
    filled = [[*row, *[np.nan] * (width - len(row))] for row in rows]
    return np.array(filled, dtype=float).reshape(len(rows), width)


def judge(
    how: Callable[..., Judgement],
    evidence: Structures | Trained | Curves,
    part: str,
    left: np.ndarray,
    right: np.ndarray | float,
    **options: Any,
) -> Judgement:
    """Judge two grids; columns are points where there are no steps."""
    if not left.size:
        return Judgement(part, Status.UNDECIDED, f"{part}: no dataset has anything to check")
    steps = evidence.steps if isinstance(evidence, Trained) else np.arange(left.shape[1])
    if isinstance(evidence, Curves):
        steps = evidence.places
    right = np.broadcast_to(np.asarray(right, dtype=float), left.shape)
    return how(part, left, right, steps=steps, names=evidence.names, **options)


def with_ties(evidence: Structures) -> Structures:
    """The datasets in which some tokens are tied and Graph-SVM is feasible."""
    return Structures(tuple(d for d in evidence.datasets if not d.acyclic and d.feasible))


def at_most_zero(
    evidence: Structures, part: str, values: np.ndarray, tolerance: float | np.ndarray
) -> Judgement:
    """Judge that errors vanish up to rounding."""
    return judge(equal, evidence, part, values, 0.0, tolerance=tolerance)


def positive(
    evidence: Structures | Trained | Curves, part: str, values: np.ndarray, **options: Any
) -> Judgement:
    """Judge values > 0."""
    return judge(at_least, evidence, part, values, 0.0, strict=True, **options)


EXACT = 1e-20
"""1 - corr below this is rounding: the direction is exact, and there is no rate to see."""


def vanishing(
    part: str,
    places: np.ndarray,
    values: np.ndarray,
    names: Sequence[str],
    small: float,
) -> Judgement:
    """Judge that values tend to 0: small at the end, or still falling, or neither.

    A limit cannot be seen, so this asks for two things: every row ends below ``small``, and
    either it has reached rounding or it fell by half over the last doubling of the place.
    """
    last = values[:, -1]
    middle = values[:, int(np.searchsorted(places, places[-1] / 2, side="right")) - 1]
    floor = 1e-13
    falling = (last < 0.75 * middle) | (last < floor)
    worst = int(np.argmax(last))
    table = {"dataset": names[worst], "at": float(places[-1]), "value": float(last[worst])}
    reason = f"{part}: at most {last.max():.3g} at {places[-1]:.6g}, on {names[worst]}"
    if (last < small).all() and falling.all():
        return Judgement(part, Status.HOLDS, reason, float(small - last.max()), witness=table)
    if falling.all():
        text = f"{reason}; falling, but the run is too short"
        return Judgement(part, Status.UNDECIDED, text, witness=table)
    stuck = int(np.argmin(falling))
    table = {
        "dataset": names[stuck],
        "halfway": float(middle[stuck]),
        "at the end": float(last[stuck]),
    }
    return Judgement(
        part,
        Status.FAILS,
        f"{part} does not tend to 0 on {names[stuck]}: {middle[stuck]:.4g}, then {last[stuck]:.4g}",
        float(small - last[stuck]),
        witness=table,
    )

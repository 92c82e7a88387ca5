"""Findings of ours about how fast, and by which algorithm, the limits are reached."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lemmata.old_claims import Judgement, Status, fact
from lemmata.papers.mechanics.claims._terms import (
    ACYCLIC,
    ASSUMPTION_2,
    EXACT,
    GLOBAL,
    NONZERO,
    claim,
    vanishing,
)
from lemmata.papers.mechanics.evidence import Curves, Trained
from lemmata.papers.mechanics.experiments import (
    BLOCK,
    FLOWS,
    LONG_DESCENT,
    LONG_NORMALIZED,
    ORBIT,
    PATHS,
)

if TYPE_CHECKING:
    pass


def slope(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The slope of a line through the points, and its standard error."""
    design = np.stack([x, np.ones_like(x)], axis=1)
    fitted, *_ = np.linalg.lstsq(design, y, rcond=None)
    rest = y - design @ fitted
    variance = float(rest @ rest) / max(len(x) - 2, 1)
    spread = float(np.sum((x - x.mean()) ** 2))
    return float(fitted[0]), float(np.sqrt(variance / spread))


@claim(
    "own/normalized-rate",
    "ours; docs/mechanics.md",
    "On acyclic data normalized descent has 1 − corr ~ C/(ηt)².",
    assumes=(ASSUMPTION_2, ACYCLIC, NONZERO),
    on=LONG_NORMALIZED,
    sharpened="~ C/(ηt)³",
)
def normalized_rate(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The slope of log(1 − corr) against log t over the last decade, with its standard error."""
    return [_rate("slope", np.log(evidence.steps[1:]), evidence, -3.0 if sharpened else -2.0)]


def _rate(part: str, x: np.ndarray, evidence: Trained, expected: float) -> Judgement:
    """Fit the last decade of every dataset; the slopes must agree with the expected one."""
    late = evidence.steps[1:] >= evidence.steps[-1] / 10
    turning = [row for row in evidence["one_minus_correlation"] if row[-1] > EXACT]
    if not turning:
        return Judgement(part, Status.UNDECIDED, "the direction is exact: there is no rate to see")
    fits = [slope(x[late], np.log(row[1:][late])) for row in turning]
    slopes, errors = np.array(fits).T
    worst = int(np.argmax(np.abs(slopes - expected)))
    reason = (
        f"{part} {slopes.mean():.3f} on average ({slopes.min():.3f} to {slopes.max():.3f}, "
        f"standard errors up to {errors.max():.1g}), against {expected:g}"
    )
    table = {"slope": float(slopes[worst]), "standard error": float(errors[worst])}
    return fact(part, bool(np.abs(slopes - expected).max() < 0.25), reason, table)


@claim(
    "own/orbit",
    "ours; docs/mechanics.md",
    "On cyclic data normalized descent with step η ends on a period-two orbit of radius η/2 around "
    "W^cyc, and the rest grows by ‖W^mm‖ per e-fold of time, as plain descent with η = 2/λ does.",
    assumes=GLOBAL,
    on=ORBIT,
    sharpened="the distance to W^cyc tends to 0",
)
def orbit(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Distances and midpoints at the end, growth over the last threefold of time."""
    distance = evidence["cyclic_distance"]
    if sharpened:
        return [vanishing("distance", evidence.steps, distance, evidence.names, 1e-4)]
    if not (distance[:, -1] > 0).all():
        text = "a run starts at W^cyc exactly, by symmetry, and never leaves it"
        return [Judgement("radius", Status.UNDECIDED, text)]
    radius = distance[:, -1] / (evidence.eta[:, 0] / 2)
    midpoint = evidence["midpoint_distance"][:, -1]
    late = int(np.searchsorted(evidence.steps, evidence.steps[-1] / 3, side="right")) - 1
    folds = np.log(evidence.steps[-1] / evidence.steps[late])
    growth = (evidence["free_norm"][:, -1] - evidence["free_norm"][:, late]) / folds
    growth /= evidence.each(lambda d: d.norm)[:, 0]
    return [
        fact(
            "radius",
            bool((np.abs(radius - 1) < 0.1).all()),
            f"distance / (η/2) between {radius.min():.4f} and {radius.max():.4f}",
            {"smallest": float(radius.min()), "largest": float(radius.max())},
        ),
        fact(
            "midpoint",
            bool((midpoint < 0.1 * evidence.eta[:, 0]).all()),
            f"the midpoint of two iterates is within {midpoint.max():.2g} of W^cyc",
        ),
        fact(
            "growth",
            bool((np.abs(growth - 1) < 0.1).all()),
            f"growth per e-fold over ‖W^mm‖ between {growth.min():.4f} and {growth.max():.4f}",
            {"smallest": float(growth.min()), "largest": float(growth.max())},
        ),
    ]


@claim(
    "own/descent-rate",
    "ours; docs/mechanics.md",
    "Plain descent has W = W^mm ln t + O(1), so 1 − corr ~ C/(ln t + c)²: (1 − corr)^{-1/2} is "
    "linear in ln t, and no run that can be waited for gets near correlation 1.",
    assumes=GLOBAL,
    on=LONG_DESCENT,
    sharpened="(1 − corr)^{-1} is",
)
def descent_rate(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The largest relative residual of a line over the last two decades, and C with its error."""
    t = evidence.steps[1:].astype(float)
    late = t >= evidence.steps[-1] / 100
    x = np.log(t[late])
    residuals, constants = [], []
    turning = [row for row in evidence["one_minus_correlation"] if row[-1] > EXACT]
    if not turning:
        return [Judgement("line", Status.UNDECIDED, "the direction is exact: there is no rate")]
    for gap in turning:
        y = gap[1:][late] ** (-1.0 if sharpened else -0.5)
        rise, error = slope(x, y)
        line = rise * (x - x.mean()) + y.mean()
        residuals.append(float(np.abs(line / y - 1).max()))
        constants.append((rise**-2, 2 * error / rise**3))
    C, errors = np.array(constants).T
    reason = (
        f"a line fits to {max(residuals):.2%} at worst; C between {C.min():.3g} and {C.max():.3g}, "
        f"standard errors up to {errors.max():.1g}"
    )
    table = {"C": C, "standard errors": errors}
    return [fact("line", max(residuals) < 0.03, reason, table)]


@claim(
    "own/path-rate",
    "ours; docs/mechanics.md",
    "On the regularization path 1 − corr ~ C/R².",
    assumes=GLOBAL,
    on=PATHS,
    sharpened="~ C/R³",
)
def path_rate(evidence: Curves, sharpened: bool) -> Sequence[Judgement]:
    """The slope over the last decade of radii, with its standard error."""
    rows = []
    turning = [curve for curve in evidence.curves if curve.one_minus_correlation[-1] > EXACT]
    if not turning:
        return [Judgement("slope", Status.UNDECIDED, "the direction is exact: there is no rate")]
    for curve in turning:
        late = curve.norm >= curve.norm[-1] / 10
        rows.append(slope(np.log(curve.norm[late]), np.log(curve.one_minus_correlation[late])))
    slopes, errors = np.array(rows).T
    expected = -3.0 if sharpened else -2.0
    reason = (
        f"slope {slopes.mean():.3f} ({slopes.min():.3f} to {slopes.max():.3f}, "
        f"standard errors up to {errors.max():.1g})"
    )
    return [fact("slope", bool(np.abs(slopes - expected).max() < 0.25), reason)]


@claim(
    "own/block",
    "ours; docs/mechanics.md",
    "Plain descent inside S_cyc and normalized descent outside reach both limits of Theorem 3: "
    "1 − corr < 10⁻⁵ and a distance to W^cyc below 10⁻⁸ in 20,000 steps.",
    assumes=GLOBAL,
    on=BLOCK,
    sharpened="1 − corr < 10⁻¹²",
)
def block(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The largest over the datasets."""
    gap = evidence["one_minus_correlation"][:, -1]
    distance = evidence["cyclic_distance"][:, -1]
    return [
        fact(
            "direction",
            bool(gap.max() < (1e-12 if sharpened else 1e-5)),
            f"1 − corr at most {gap.max():.3g} (median {np.median(gap):.2g})",
            {"dataset": evidence.names[int(np.argmax(gap))], "value": float(gap.max())},
        ),
        fact("distance", bool(distance.max() < 1e-8), f"at most {distance.max():.3g}"),
    ]


@claim(
    "own/flow",
    "ours",
    "Gradient flow has the limits of Theorem 3: ‖Π W − W^cyc‖ ~ C/t and growth of ‖W^mm‖ per "
    "e-fold of time.",
    assumes=GLOBAL,
    on=FLOWS,
    sharpened="growth of twice that",
)
def flow(evidence: Curves, sharpened: bool) -> Sequence[Judgement]:
    """Over the last decades of time."""
    times = evidence.places
    late = int(np.searchsorted(times, times[-1] / 100, side="right")) - 1
    growth = (evidence.norm[:, -1] - evidence.norm[:, late]) / np.log(times[-1] / times[late])
    ratio = growth / np.array([dataset.norm for dataset in evidence.datasets])
    expected = 2.0 if sharpened else 1.0
    reason = f"growth over ‖W^mm‖ between {ratio.min():.4f} and {ratio.max():.4f}"
    return [
        fact("growth", bool((np.abs(ratio - expected) < 0.1).all()), reason),
        vanishing("distance to W^cyc", times, evidence.cyclic_distance, evidence.names, 1e-4),
    ]

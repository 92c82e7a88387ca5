"""Section 3.2 and Figure 3: which ridge regression, and what N near m is good for."""

from collections.abc import Callable, Sequence

import numpy as np

from lemmata.old_claims import Cases, Judgement, Status, along, at_most, fact, same
from lemmata.papers.context.claims._terms import NOISE, ROUNDING, claim
from lemmata.papers.context.experiments.points import POINTS, Point
from lemmata.papers.context.experiments.ridge import FIGURE_SWEEPS, SWEEPS, Sweep

TEXT = "Section 3.2, the list after (25)"


def _no_length(why: str) -> Judgement:
    return Judgement("lengths", Status.INAPPLICABLE, why)


@claim(
    "equation-67",
    "Section 3.2, (20), (25); Appendix C, (67)",
    "The minimizer of the ridge problem is (r I + Z Z')^-1 Z y, for r = m tau and r = N tau.",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="with half the regularizer",
)
def equation_67(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """Against least squares on the problem with the regularizer as further rows."""
    share = 0.5 if sharpened else 1.0

    def solved(point: Point, level: float) -> np.ndarray:
        Z, labels = point.task.Z, _labels(point)
        left = np.vstack([Z.T, np.sqrt(level) * np.eye(point.task.m)])
        right = np.concatenate([labels, np.zeros(point.task.m)])
        return np.linalg.lstsq(left, right)[0]

    def closed(point: Point, level: float) -> np.ndarray:
        Z = point.task.Z
        return np.linalg.solve(share * level * np.eye(point.task.m) + Z @ Z.T, Z @ _labels(point))

    levels = {"m tau": lambda t: t.ridge, "N tau": lambda t: t.N * t.tau}
    return [
        same(
            evidence,
            f"r = {name}",
            lambda p, level=level: solved(p, level(p.task)),
            lambda p, level=level: closed(p, level(p.task)),
            1e-11,
        )
        for name, level in levels.items()
    ]


def _labels(point: Point) -> np.ndarray:
    return np.cos(np.arange(1, point.task.N + 1))


@claim(
    "equation-27",
    "Section 3.3, (27); Appendix C",
    "A'y is y on the prompt and ridge regression (20) on the queries: A'y = y*.",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="ridge regression with N tau + m tau",
)
def equation_27(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def ridge(point: Point) -> np.ndarray:
        task, labels = point.task, _labels(point)
        level = task.ridge + (task.N * task.tau if sharpened else 0.0)
        inner = np.linalg.solve(level * np.eye(task.m) + task.Z @ task.Z.T, task.Z @ labels)
        return np.concatenate([labels, task.Z_query.T @ inner])

    return [same(evidence, "y*", lambda p: p.task.target.T @ _labels(p), ridge, 1e-11)]


@claim(
    "equation-26",
    "Section 3.3, (26)",
    "Without noise, and with N >= m and Z of rank m, y_k = <y, Z^+ z_k> for every token.",
    assumes=(),
    on=POINTS,
    sharpened="with Z' in the place of Z^+",
)
def equation_26(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    determined = _determined(evidence)
    if not len(determined):
        return [_no_length("no task has N >= m and Z of full rank")]

    def exact(point: Point) -> np.ndarray:
        return _coefficients(point) @ point.task.representations

    def predicted(point: Point) -> np.ndarray:
        inverse = point.task.Z.T if sharpened else np.linalg.pinv(point.task.Z)
        labels = _coefficients(point) @ point.task.Z
        return labels @ inverse @ point.task.representations

    return [same(determined, "labels", predicted, exact, 1e-11)]


def _coefficients(point: Point) -> np.ndarray:
    return np.sin(np.arange(1, point.task.m + 1))


def _determined(evidence: Cases[Point]) -> Cases[Point]:
    def full(point: Point) -> bool:
        sizes = point.task.sizes
        return point.task.m <= point.task.N and bool(sizes[-1] > 0.03 * sizes[0])

    return evidence.select([i for i, p in enumerate(evidence) if full(p)])


@claim(
    "section-3.3/noiseless",
    "Section 3.3, before (26)",
    "Without noise and with N >= m, A becomes Z^+ Z-hat.",
    assumes=(),
    on=POINTS,
    sharpened="it becomes 2 Z^+ Z-hat",
)
def section_33_noiseless(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """The limit of (34) for tau to 0 has I_N in front, not the projector Z^+ Z."""
    return _limit(evidence, (2 if sharpened else 1), repaired=False)


@claim(
    "section-3.3/noiseless/repaired",
    "Section 3.3, before (26)",
    "It becomes (I, Z^+ Z^Q).",
    assumes=(),
    on=POINTS,
    sharpened="(2 I, 2 Z^+ Z^Q)",
)
def section_33_noiseless_repaired(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    return _limit(evidence, (2 if sharpened else 1), repaired=True)


def _limit(evidence: Cases[Point], times: int, *, repaired: bool) -> Sequence[Judgement]:
    """A of (34) with two small regularizers, extrapolated to zero: right to 1e-9 or so."""
    several = _determined(evidence)
    several = several.select([i for i, p in enumerate(several) if p.task.m < p.task.N])
    if not len(several):
        return [_no_length("no task has N > m and Z of full rank")]

    def at(point: Point, level: float) -> np.ndarray:
        task = point.task
        ridge = level * task.sizes[-1] ** 2
        right = task.Z.T @ task.representations + ridge * np.eye(task.N, task.K)
        return np.linalg.solve(task.Z.T @ task.Z + ridge * np.eye(task.N), right)

    def limit(point: Point) -> np.ndarray:
        return (2 * at(point, 1e-5) - at(point, 2e-5)).ravel()

    def stated(point: Point) -> np.ndarray:
        found = np.linalg.pinv(point.task.Z) @ point.task.representations
        if repaired:
            found[:, : point.task.N] = np.eye(point.task.N)
        return times * found.ravel()

    return [same(several, "A", limit, stated, 1e-7)]


@claim(
    "figure-3/minimum",
    "Section 4, Figure 3",
    "The distance of the transformer's ridge regression from the paper's best one is least at "
    "N = m, where it is zero.",
    assumes=(NOISE,),
    on=SWEEPS,
    sharpened="it is least at the smallest N",
)
def figure_3_minimum(evidence: Cases[Sweep], sharpened: bool) -> Sequence[Judgement]:
    """Trivially: at N = m the two problems are the same."""
    having = [s for s in evidence if s.task.m in s.lengths]
    if not having:
        return [_no_length("no prompt has N = m examples")]

    def there(sweep: Sweep) -> float:
        at = 0 if sharpened else int(np.flatnonzero(sweep.lengths == sweep.task.m)[0])
        return float(sweep.gaps[at])

    return [
        along(having, "least", lambda s: s.gaps, lambda s: np.full(len(s.lengths), there(s))),
        same(having, "at N = m", there, lambda _: 0.0, 0.0),
    ]


def _falling(
    evidence: Cases[Sweep], part: str, values: Callable[[Sweep], np.ndarray], sharpened: bool
) -> Judgement:
    """Judge that values fall towards N = m from both sides, from each length to the next."""

    def nearer(sweep: Sweep) -> np.ndarray:
        numbers = values(sweep) * (1.2 if sharpened else 1.0)
        below, above = sweep.lengths < sweep.task.m, sweep.lengths > sweep.task.m
        following, before = np.append(numbers[1:], np.nan), np.append(np.nan, numbers[:-1])
        return np.where(below, following, np.where(above, before, np.nan))

    return along(evidence, part, values, nearer, tolerance=1e-12)


@claim(
    "section-3.2/closer",
    f"{TEXT}; Figure 3",
    "The closer N is to m, the closer the transformer's choice is to the best possible one.",
    assumes=(NOISE,),
    on=SWEEPS,
    sharpened="by a fifth at every step",
)
def section_32_closer(evidence: Cases[Sweep], sharpened: bool) -> Sequence[Judgement]:
    return [_falling(evidence, "distance", lambda s: s.gaps, sharpened)]


@claim(
    "section-3.2/better",
    f"{TEXT}; Figure 3",
    "The closer N is to m, the better the transformer predicts.",
    assumes=(NOISE,),
    on=SWEEPS,
    sharpened="by a fifth at every step",
)
def section_32_better(evidence: Cases[Sweep], sharpened: bool) -> Sequence[Judgement]:
    """The risk E(prediction - lambda'z)^2 over queries; it falls with N all along."""
    return [_falling(evidence, "risk", lambda s: s.risks(1.0), sharpened)]


@claim(
    "section-3.2/best",
    "Section 3.2, (23) to (25)",
    "The best prediction one could hope for is ridge regression with the regularizer N tau.",
    assumes=(NOISE,),
    on=SWEEPS,
    sharpened="it is by a tenth better than with m tau",
)
def section_32_best(evidence: Cases[Sweep], sharpened: bool) -> Sequence[Judgement]:
    """m tau is better for every N but m."""
    return [
        along(
            evidence,
            "risk with m tau against that with N tau",
            lambda s: s.risks(1.0),
            lambda s: s.risks(None) * (1.1 if sharpened else 1.0),
            tolerance=1e-12,
        )
    ]


@claim(
    "section-3.2/underfit",
    TEXT,
    "For N < m the transformer chooses coefficients of a smaller norm than the best choice.",
    assumes=(NOISE,),
    on=SWEEPS,
    sharpened="of half the norm",
)
def section_32_underfit(evidence: Cases[Sweep], sharpened: bool) -> Sequence[Judgement]:
    return [_fit(evidence, "norm", lambda s: s.lengths < s.task.m, 2.0 if sharpened else 1.0)]


@claim(
    "section-3.2/overfit",
    TEXT,
    "For N > m the transformer fits the labels in the prompt closer than the best choice does.",
    assumes=(NOISE,),
    on=SWEEPS,
    sharpened="twice as close",
)
def section_32_overfit(evidence: Cases[Sweep], sharpened: bool) -> Sequence[Judgement]:
    return [_fit(evidence, "misfit", lambda s: s.lengths > s.task.m, 2.0 if sharpened else 1.0)]


def _fit(
    evidence: Cases[Sweep], what: str, where: Callable[[Sweep], np.ndarray], sharper: float
) -> Judgement:
    chosen = [s for s in evidence if where(s).any()]
    if not chosen:
        return _no_length("no prompt has such a length")
    return at_most(
        chosen,
        what,
        lambda s: s.fits[what][where(s)].ravel(),
        lambda s: s.fits[f"best_{what}"][where(s)].ravel(),
        sharper=sharper,
        tolerance=1e-9,
    )


@claim(
    "section-3.2/noise",
    TEXT,
    "For N > m it captures noise, and predicts worse than the best choice.",
    assumes=(NOISE,),
    on=SWEEPS,
    sharpened="by a tenth",
)
def section_32_noise(evidence: Cases[Sweep], sharpened: bool) -> Sequence[Judgement]:
    long = [s for s in evidence if (s.lengths > s.task.m).any()]
    if not long:
        return [_no_length("no prompt has more than m examples")]
    return [
        along(
            long,
            "risk with m tau against that with N tau",
            lambda s: np.where(s.lengths > s.task.m, s.risks(1.0), np.nan),
            lambda s: (1.1 if sharpened else 1.0) * s.risks(None),
            tolerance=1e-12,
        )
    ]


@claim(
    "own/ridge-level",
    "Section 3.2",
    "m tau is the regularizer with the least risk, for every N and every law with "
    "E lambda lambda' = I.",
    assumes=(NOISE,),
    on=SWEEPS,
    sharpened="half of it has a smaller risk",
)
def own_ridge_level(evidence: Cases[Sweep], sharpened: bool) -> Sequence[Judgement]:
    """Against regularizers from a quarter to four times as large."""
    mine = 0.5 if sharpened else 1.0
    return [
        along(
            evidence,
            f"risk with {share:g} m tau",
            lambda s, share=share: s.risks(share),
            lambda s: s.risks(mine),
            tolerance=1e-12,
        )
        for share in (0.25, 0.9, 1.1, 4.0)
    ]


@claim(
    "own/best-is-worse",
    "Section 3.2, Figure 3",
    "The risk with N tau exceeds that with m tau by exactly K / (K - N) times the distance that "
    "Figure 3 shows.",
    assumes=(NOISE,),
    on=SWEEPS,
    sharpened="by exactly the distance",
)
def own_best_is_worse(evidence: Cases[Sweep], sharpened: bool) -> Sequence[Judgement]:
    def scale(sweep: Sweep) -> float:
        return max(float(sweep.risks(1.0).max()), 1e-300)

    def excess(sweep: Sweep) -> np.ndarray:
        return (sweep.risks(None) - sweep.risks(1.0)) / scale(sweep)

    def distance(sweep: Sweep) -> np.ndarray:
        share = 1.0 if sharpened else sweep.task.K / (sweep.task.K - sweep.lengths)
        return share * sweep.gaps / scale(sweep)

    return [same(evidence, "excess risk over risk", excess, distance, ROUNDING * 10)]


@claim(
    "own/peaks",
    "Figure 3",
    "The distance to the best choice is not monotone: it has a peak on either side of N = m.",
    assumes=(NOISE,),
    on=FIGURE_SWEEPS,
    sharpened="the peaks are at the ends",
)
def own_peaks(evidence: Cases[Sweep], sharpened: bool) -> Sequence[Judgement]:
    def peak(sweep: Sweep, side: np.ndarray) -> int:
        return int(sweep.lengths[side][np.argmax(sweep.gaps[side])])

    peaks = [
        (peak(s, s.lengths < s.task.m), peak(s, s.lengths > s.task.m), s.lengths) for s in evidence
    ]
    inside = [bool(lengths[0] < low and high < lengths[-1]) for low, high, lengths in peaks]
    places = ", ".join(f"N = {low} and {high}" for low, high, _ in peaks)
    return [fact("peaks", not any(inside) if sharpened else all(inside), f"peaks at {places}")]

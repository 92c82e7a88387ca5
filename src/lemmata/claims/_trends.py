"""Where a curve goes: the distance to a target, extrapolated from the end of a run."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

Curve = Float[np.ndarray, "places"]

WINDOW = 16.0
"""The trend is read off the places from a sixteenth of the last one on."""

FEWEST = 6
"""So many records make a trend."""

AS_GOOD = 3.0
"""Laws whose residual is within this factor of the best one's cannot be told apart."""

MODESTY = 0.1
"""No extrapolation is trusted beyond this share of the distance that is left at the end."""

SLOWER, FLAT, STILL = 0.75, 0.01, 0.25
"""A curve settles if its change per doubling falls by the first, or is the second of its end; and
if the last change is at most the third of what is left."""

GONE, MOVED = 1.0, 0.1
"""A curve that may wait has settled elsewhere only if it went at least as far as is left, the first
in units of that: plateaus begin with a short way, too. And it must hardly have moved, by no more
than the second, since a quarter of the run: at the top of a hump it stands still for a moment only.
"""

POWERS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
LOG_POWERS = (1.0, 2.0, 3.0)
RATES = (1.0, 3.0, 10.0, 30.0, 100.0)
"""Of exponentials, in units of the last place."""


@dataclass(frozen=True)
class Trend:
    """The end of a curve of distances.

    Attributes:
        offset: what the distance extrapolates to.
        error: how far off that may be.
        size: how far away the curve started.
        last: the distance at the end.
        law: how it falls.
        settles: whether its changes from doubling to doubling die out, nearer to its limit than
            to the target, so that a limit other than the target can be told from a slow way to it.
    """

    offset: float
    error: float
    size: float
    last: float
    law: str
    settles: bool

    @property
    def resolution(self) -> float:
        """The smallest wrong target that would be rejected, relative to the whole way."""
        return self.error / self.size if self.size > 0 else 0.0


def fit_trend(
    places: Curve,
    distance: Curve,
    *,
    trend: Curve | None,
    rounding: float,
    height: float,
    size: Curve | None,
    waits: bool = False,
    above: bool = False,
) -> Trend | None:
    """Fit c + a * law(t) to the end of the curve; None if there are too few records.

    The laws are powers of t and of log t and exponentials, or the one that is given. The error
    covers how far equally good laws disagree, how far the two halves of the window do, the
    residual, and the rounding of a distance, which is relative to the ``height`` of the curve. A
    curve that ``waits`` does not settle before it has moved; one that stays ``above`` its target
    has no limit below it.
    """
    known = np.isfinite(distance) & (places > 1)
    t, d = places[known], distance[known]
    if len(t) < FEWEST:
        return None
    scale = float(np.abs(distance[np.isfinite(distance)]).max() if size is None else np.max(size))
    floor, last = rounding * height, float(d[-1])
    window = t >= t[-1] / WINDOW
    if window.sum() < FEWEST:
        window = np.arange(len(t)) >= len(t) - FEWEST
    late = window & (t >= t[-1] / WINDOW**0.5)
    if np.abs(d[late if late.any() else window]).max() <= floor:
        size_or_height = scale if scale > floor else height  # of one that has always been there
        return Trend(0.0, floor, size_or_height, last, "reached, up to rounding", True)
    laws = [("as stated", trend[known])] if trend is not None else list(_laws(t))
    offset, error, law = _extrapolate(d, laws, window, late)
    offset = max(offset, 0.0) if above else offset
    error = max(error + floor, MODESTY * abs(last))
    settles = _settles(t, d, offset, floor) and (
        not waits or _moved_and_stands(places, distance, offset)
    )
    return Trend(offset, error, scale, last, law, settles)


def _moved_and_stands(places: Curve, distance: Curve, offset: float) -> bool:
    """Whether a curve has gone far before a quarter of the run, and hardly moved since."""
    known = np.isfinite(distance)
    t, d = places[known], distance[known]
    gone, late = np.abs(d - d[-1]).max(), d[t >= t[-1] / 4]
    stands = late.max() - late.min() <= MOVED * abs(offset)
    return bool(stands and gone >= GONE * abs(offset))


def _settles(t: Curve, d: Curve, offset: float, floor: float) -> bool:
    """Whether the change over the last doubling is small, and clearly smaller than before, and what
    is left to the limit is less than that is away from the target.

    Changes below the rounding floor are none.
    """
    early, middle, end = np.interp(np.log(t[-1] / np.array([4.0, 2.0, 1.0])), np.log(t), d)
    before, after = (max(abs(x - y) - floor, 0.0) for x, y in ((middle, early), (end, middle)))
    flat = before + after <= FLAT * abs(offset)
    slower = after < SLOWER * before or (flat and after <= before)
    near = abs(end - offset) <= abs(offset) + floor
    return bool(slower and near and after <= STILL * abs(end))


def _laws(t: Curve) -> Iterator[tuple[str, Curve]]:
    for power in POWERS:
        yield f"t^-{power:g}", (t / t[-1]) ** -power
    for power in LOG_POWERS:
        yield f"(log t)^-{power:g}", (np.log(t) / np.log(t[-1])) ** -power
    for rate in RATES:
        yield f"exp(-{rate / t[-1]:.2g} t)", np.exp(-rate * (t / t[-1]))


def _extrapolate(
    d: Curve,
    laws: list[tuple[str, Curve]],
    window: Bool[np.ndarray, "places"],
    late: Bool[np.ndarray, "places"],
) -> tuple[float, float, str]:
    """The offset under the law that fits best, and how far others and other windows differ."""
    halves = [window, late if late.sum() >= 3 else window]
    fits = [(law, [_fit(d[part], phi[part]) for part in halves]) for law, phi in laws]
    best = min(fits, key=lambda fit: fit[1][0][1])
    residual = best[1][0][1]
    offset = best[1][1][0]
    rivals = [fit for fit in fits if fit[1][0][1] <= AS_GOOD * residual]
    spread = max(abs(part[0] - offset) for _, parts in rivals for part in parts)
    return float(offset), float(spread + 2 * residual), best[0]


def _fit(d: Curve, phi: Curve) -> tuple[float, float]:
    """Least squares of c + a phi: c, and the residual of a typical point.

    In units of the largest phi, so that a law of any size is told from the constant.
    """
    largest = float(np.abs(phi).max())
    design = np.stack([np.ones_like(phi), phi / largest if largest > 0 else phi], axis=1)
    solution, *_ = np.linalg.lstsq(design, d, rcond=None)
    residual = d - design @ solution
    return float(solution[0]), float(np.sqrt(np.mean(residual**2)))

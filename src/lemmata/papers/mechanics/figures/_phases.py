"""Ours: plain descent on one tie, over the shares of its labels and the step size."""

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from scipy.special import expit

from lemmata.claims import Bench
from lemmata.drawing import (
    MAP_DPI,
    PALETTE,
    SMALL,
    Drawing,
    GridAxis,
    draw_kinds,
    new_figure,
    number,
)

from ..setting import Dataset, Training

SIZES = {"quick": (49, 64), "paper": (121, 160)}
"""Shares and step sizes."""

STEPS = 3_000

KEPT = 64
"""The last steps, in which a period is looked for."""

STILL = 2e-3
"""What moves by less than this part of its size in the last steps stands still."""

LONGEST = 16
"""The longest period that is told from none."""

SHOWN = 0.7
"""The share of which panel (b) shows the orbits."""

KINDS = {
    "settles": "#DCE6EE",
    "period 2": PALETTE["sky"],
    "3": PALETTE["green"],
    "4": PALETTE["blue"],
    f"5–{LONGEST}": PALETTE["yellow"],
    "longer or none": PALETTE["red"],
}


def draw(bench: Bench, sizes: tuple[int, int] | None = None) -> Drawing:
    """Two sentences, a b k with labels a and b: one tie, and k below both."""
    columns, rows = sizes or SIZES[bench.scale]
    shares, rates = np.linspace(0.51, 0.99, columns), np.geomspace(0.2, 100, rows)
    periods = periods_over(shares, rates, bench)
    edge = 1 / (shares * (1 - shares))
    grid = {"width_ratios": (1.15, 1), "sharey": True}
    with new_figure(2.9, 1, 2, dpi=MAP_DPI, **grid) as (picture, (left, right)):
        _draw_map(left, shares, rates, periods, edge)
        swing = _draw_orbits(right, rates)
    numbers = _numbers(shares, rates, periods, edge) | {"mean attention on orbits": swing}
    return Drawing(picture, _caption(numbers), numbers)


def tie(share: float) -> Dataset:
    """a b k with label a, as often as ``share`` says, and else with label b."""
    data = Dataset.from_samples(f"share {share:g}", [list("abk")] * 2, ["a", "b"])
    return replace(data, log_frequency=np.log([share, 1 - share]))


def periods_over(
    shares: Float[np.ndarray, "shares"], rates: Float[np.ndarray, "rates"], bench: Bench
) -> Int[np.ndarray, "rates shares"]:
    """The period that plain descent from zero ends in; 1 where it settles, 0 for none."""
    datasets = [tie(float(share)) for share in shares]
    done = bench.track("step sizes", len(rates))
    records = tuple(range(STEPS - KEPT, STEPS + 1))
    rows = []
    for rate in rates:
        run = Training("gd", float(rate), STEPS, records).run(datasets, store=bench.store)
        pairs = zip(run["cyclic_distance"], run["midpoint_distance"], strict=True)
        rows.append([period(*pair) for pair in pairs])
        done(1)
    return np.array(rows)


def period(distance: Float[np.ndarray, "records"], midway: Float[np.ndarray, "records"]) -> int:
    """The least period of the tied part, from its distance to W^cyc.

    A distance that does not change is that of weights on their way to W^cyc, however slow, if the
    midpoint of two iterates is as far away; else W^cyc halves an orbit of period two.
    """
    size = float(distance.max())
    if size < STILL or (_repeats(distance, 1) and float(midway.max()) > size / 2):
        return 1
    return next((length for length in range(2, LONGEST + 1) if _repeats(distance, length)), 0)


def _repeats(distance: Float[np.ndarray, "records"], length: int) -> bool:
    """Whether it comes back after so many steps."""
    change = np.abs(distance[length:] - distance[:-length]).max()
    return bool(change < STILL * distance.max())


def _draw_map(
    axes: Axes,
    shares: Float[np.ndarray, "shares"],
    rates: Float[np.ndarray, "rates"],
    periods: Int[np.ndarray, "rates shares"],
    edge: Float[np.ndarray, "shares"],
) -> None:
    kinds = np.select(
        [periods == 1, periods == 2, periods == 3, periods == 4, periods > 4], range(5), 5
    )
    x, y = GridAxis("share $p$ of the label $a$", shares), GridAxis("step size $\\eta$", rates)
    draw_kinds(axes, x, y, kinds, KINDS)
    ends = [shares[0], shares[-1]]
    axes.plot(shares, edge, color=PALETTE["black"])
    data = tie(0.5)
    line = {"color": PALETTE["black"], "linewidth": 0.9}
    axes.plot(ends, [1 / data.lipschitz_tight] * 2, "--", **line)
    axes.plot(ends, [1 / data.lipschitz] * 2, ":", **line)
    words = {"fontsize": SMALL, "ha": "left", "va": "top"}
    axes.text(0.52, 0.93 * edge[0], "$2/\\lambda=1/(p(1-p))$", **words)
    axes.text(0.52, 0.93 / data.lipschitz_tight, "$1/L$, the tight constant", **words)
    axes.text(0.52, 0.93 / data.lipschitz, "$1/L$ of (23)", **words)


def _draw_orbits(axes: Axes, rates: Float[np.ndarray, "rates"]) -> list[dict[str, float]]:
    """The attention on a along the last steps, for each step size."""
    fine = np.geomspace(rates[0], rates[-1], 600)
    orbits = expit(orbit(SHOWN, fine))
    look = {"color": PALETTE["red"], "markersize": 0.7, "markeredgewidth": 0, "rasterized": True}
    axes.plot(orbits.ravel(), np.repeat(fine, KEPT), "o", **look)
    mean = expit(orbit(SHOWN, fine, kept=20_000)).mean(axis=1)
    axes.plot(mean, fine, color=PALETTE["blue"], label="its mean over time: $p$")
    edge = 1 / (SHOWN * (1 - SHOWN))
    axes.axhline(edge, color=PALETTE["black"])
    axes.text(0.0, 0.93 * edge, "$2/\\lambda$", fontsize=SMALL, va="top")
    axes.set_yscale("log")
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel(f"attention on $a$ in the last steps, $p={SHOWN:g}$")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0))
    worst = int(np.abs(mean - SHOWN).argmax())
    return [
        {"step size": float(fine[i]), "mean": float(mean[i])} for i in (0, worst, len(fine) - 1)
    ]


def orbit(
    share: float, rates: Float[np.ndarray, "rates"], kept: int = KEPT
) -> Float[np.ndarray, "rates kept"]:
    """The last steps of z = (e_a - e_b)' W e_k once k is out of the way: z + 2 eta (p - s(z))."""
    z, last = np.zeros_like(rates), []
    for step in range(STEPS + kept):
        z = z + 2 * rates * (share - expit(z))
        if step >= STEPS:
            last.append(z)
    return np.stack(last, axis=1)


def _numbers(
    shares: Float[np.ndarray, "shares"],
    rates: Float[np.ndarray, "rates"],
    periods: Int[np.ndarray, "rates shares"],
    edge: Float[np.ndarray, "shares"],
) -> dict[str, Any]:
    """The map, and how it lies to the line 2/lambda."""
    settled, below = periods == 1, rates[:, None] < edge
    data = tie(0.5)
    return {
        "shares": shares,
        "step sizes": rates,
        "periods (0 for none)": periods,
        "2/lambda": edge,
        "1/L, tight": 1 / data.lipschitz_tight,
        "1/L of (23)": 1 / data.lipschitz,
        "points": int(periods.size),
        "settled": int(settled.sum()),
        "settled above 2/lambda": int((settled & ~below).sum()),
        "not settled below 2/lambda": int((~settled & below).sum()),
    }


def _caption(numbers: dict[str, Any]) -> str:
    above, below = numbers["settled above 2/lambda"], numbers["not settled below 2/lambda"]
    return (
        "Plain gradient descent on the log loss from W(0) = 0, on two samples: a b k with the "
        "label a (share p) and with the label b. Theorem 3 lets the step size be any constant. (a) "
        f"What the tied part of W does after {STEPS:,} steps, at {numbers['points']:,} points. It "
        f"settles at W^cyc up to η = 2/λ = 1/(p(1 − p)), where λ is the curvature there: {above} "
        f"points above that line settle and {below} below it do not. 1/L of (23) is "
        f"{number(numbers['2/lambda'][0] / numbers['1/L of (23)'], 3)} times smaller at p = ½, the "
        f"tight 1/L {number(numbers['2/lambda'][0] / numbers['1/L, tight'], 3)} times. Above the "
        "line come orbits of period two, periods that double, chaos with windows, and for large "
        "steps a rotation that visits the labels in turn. (b) The attention on a along these "
        f"orbits for p = {SHOWN:g}: its mean over time is p for every step size, since the steps "
        "2η(p − s) of a bounded orbit average to zero; single iterates are wrong where their "
        "average is right."
    )

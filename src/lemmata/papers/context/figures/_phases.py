"""Ours: what Theorem 1 promises, over the size of the logits at the start and the heads."""

from math import comb
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from lemmata.claims import Bench
from lemmata.drawing import (
    MAP_DPI,
    PALETTE,
    SMALL,
    Drawing,
    GridAxis,
    draw_contours,
    draw_numbers,
    new_figure,
    number,
)

from ..setting import Plan, draw_task, first_step

N, K, D, M, TAU = 6, 12, 3, 3, 0.1
"""The sizes of the map's tasks."""

SIZES = {"quick": (25, 11, 10), "paper": (61, 28, 40)}
"""Sizes of logits, numbers of heads from N on, tasks."""

REACH = 1e-3
"""The part of the first gap that is to be reached."""

PLACES = ((6, 30), (6, 3), (6, 2), (8, 2))
"""N and d in panel (b)."""

SMALL_LOGITS = np.geomspace(0.03, 0.2, 6)
"""Where the power of zeta_0 is fitted."""


def draw(bench: Bench, sizes: tuple[int, int, int] | None = None) -> Drawing:
    """Theorem 1 with attention as it starts, where everything is known exactly."""
    count, rows, tasks = sizes or SIZES[bench.scale]
    scales = np.geomspace(1e-2, 1e2, count)
    heads = np.unique(np.rint(N * np.geomspace(1, 16, rows)).astype(int))
    promised, taken = steps_over(scales, heads, tasks, bench)
    powers = [fitted_power(n, d, tasks, bench.seed) for n, d in PLACES]
    with new_figure(2.9, 1, 2, width_ratios=(1.25, 1), dpi=MAP_DPI) as (picture, (left, right)):
        _draw_map(left, scales, heads, promised, taken)
        _draw_powers(right, scales, tasks, bench.seed, powers)
    numbers = _numbers(scales, heads, promised, taken) | {"powers of zeta_0": powers}
    return Drawing(picture, _caption(numbers), numbers)


def plan(n: int, d: int, heads: int, scale: float, seed: int) -> Plan:
    """Unit tokens and Gaussian Q of this scale."""
    return Plan(draw_task(n, K, d, M, TAU, seed=seed, unit=True), heads, scale, seed=seed + 1_000)


def steps_over(
    scales: Float[np.ndarray, "scales"], heads: np.ndarray, tasks: int, bench: Bench
) -> tuple[Float[np.ndarray, "heads scales"], Float[np.ndarray, "heads scales"]]:
    """Steps to a thousandth of the gap: as promised by (18), and as descent takes at those rates.

    Geometric means over tasks; NaN where float64 cannot tell zeta_0 from zero.
    """
    done = bench.track("numbers of heads", len(heads))
    promised, taken = np.full((2, len(heads), len(scales), tasks), np.nan)
    for i, H in enumerate(heads):
        for j, scale in enumerate(scales):
            for k in range(tasks):
                case = plan(N, D, int(H), float(scale), bench.seed + k)
                if case.frozen.resolved:
                    promised[i, j, k], taken[i, j, k] = steps_of(case)
        done(1)
    return np.exp(np.log(promised).mean(axis=2)), np.exp(np.log(taken).mean(axis=2))


def steps_of(case: Plan) -> tuple[float, float]:
    """The promise of (18) at the step sizes of (16), and what descent takes there."""
    promised = np.log(REACH) / np.log1p(-float(case.rates.guaranteed))
    taken = first_step(case.frozen, float(case.rates.w), REACH * case.constants.gap)
    return float(promised), np.nan if taken is None else taken


def degree(n: int, d: int) -> int:
    """The least degree whose polynomials tell n points of the unit sphere in d dimensions apart."""
    return next(
        k for k in range(n) if comb(d + k - 1, k) + (comb(d + k - 2, k - 1) if k else 0) >= n
    )


def zetas(
    n: int, d: int, scales: Float[np.ndarray, "scales"], tasks: int, seed: int
) -> Float[np.ndarray, "tasks scales"]:
    """zeta_0 with twice as many heads as examples; NaN where float64 cannot tell it from zero."""
    plans = [[plan(n, d, 2 * n, float(b), seed + k) for b in scales] for k in range(tasks)]
    return np.array(
        [[p.frozen.zeta if p.frozen.resolved else np.nan for p in row] for row in plans]
    )


def fitted_power(n: int, d: int, tasks: int, seed: int) -> dict[str, Any]:
    """The power of the logits' size that zeta_0 goes with, by least squares, task by task."""
    logs = np.log(zetas(n, d, SMALL_LOGITS, tasks, seed))
    slopes = np.array([np.polyfit(np.log(SMALL_LOGITS), row, 1)[0] for row in logs])
    return {
        "N": n,
        "d": d,
        "law": 2 * degree(n, d),
        "measured": float(slopes.mean()),
        "standard error": float(slopes.std(ddof=1) / np.sqrt(len(slopes))),
    }


def _draw_map(
    axes: Axes,
    scales: Float[np.ndarray, "scales"],
    heads: np.ndarray,
    promised: Float[np.ndarray, "heads scales"],
    taken: Float[np.ndarray, "heads scales"],
) -> None:
    x = GridAxis("size of the logits at the start, $\\beta\\|v\\|^2$", scales)
    y = GridAxis("heads per example, $H/N$", heads / N, logarithmic=True)
    words = "steps to a thousandth, promised"
    look = {"colours": "cividis_r", "limits": (1e4, 1e16), "logarithmic": True}
    draw_numbers(axes, x, y, promised, label=words, **look)
    draw_contours(axes, x, y, promised / taken, (30, 100, 1000), says=lambda v: f"{v:g}×")
    best = _best(promised)
    inside = best < len(scales) - 1
    dots = {"ms": 2.5, "color": PALETTE["red"], "markeredgewidth": 0}
    axes.plot(scales[best][inside], heads[inside] / N, "o", **dots)
    axes.set_ylim(0.5, y.edges[-1])
    axes.axhspan(0.5, y.edges[0], facecolor=PALETTE["light"], hatch="////", edgecolor="white")
    axes.text(1.0, 0.68, "$H<N$: no promise", ha="center", va="center", fontsize=SMALL)
    axes.set_yticks([0.5, 1, 2, 4, 8, 16], ["½", "1", "2", "4", "8", "16"])
    axes.set_yticks([], minor=True)


def _draw_powers(
    axes: Axes,
    scales: Float[np.ndarray, "scales"],
    tasks: int,
    seed: int,
    powers: list[dict[str, Any]],
) -> None:
    """zeta_0 over the size of the logits, with its power for small ones."""
    colours = [PALETTE[name] for name in ("blue", "green", "orange", "red")]
    for (n, d), colour, power in zip(PLACES, colours, powers, strict=True):
        curve = np.exp(np.log(zetas(n, d, scales, tasks, seed)).mean(axis=0))
        said = f"$N={n},\\ d={d}$: {power['measured']:.2f} (law {power['law']:.0f})"
        axes.plot(scales, curve, color=colour, label=said)
        known = np.isfinite(curve) & (scales < 1)
        at = np.flatnonzero(known)[0]
        line = curve[at] * (scales / scales[at]) ** power["law"]
        axes.plot(scales[known], line[known], ":", color=PALETTE["black"], linewidth=0.9)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(1e-23, 1)
    axes.set_xlabel("size of the logits at the start, $\\beta\\|v\\|^2$")
    axes.set_ylabel("$\\zeta_0$, with $H=2N$")
    axes.legend(loc="lower right", title="power of the logits", title_fontsize=SMALL)


def _best(promised: Float[np.ndarray, "heads scales"]) -> np.ndarray:
    """Where the promise is best, for each number of heads."""
    return np.nanargmin(np.where(np.isfinite(promised), promised, np.inf), axis=1)


def _numbers(
    scales: Float[np.ndarray, "scales"],
    heads: np.ndarray,
    promised: Float[np.ndarray, "heads scales"],
    taken: Float[np.ndarray, "heads scales"],
) -> dict[str, Any]:
    return {
        "sizes": {"N": N, "K": K, "d": D, "m": M, "tau": TAU},
        "size of the logits": scales,
        "heads": heads,
        "steps promised": promised,
        "steps taken": taken,
        "least and largest ratio": [
            float(np.nanmin(promised / taken)),
            float(np.nanmax(promised / taken)),
        ],
        "best size of the logits": scales[_best(promised)],
    }


def _caption(numbers: dict[str, Any]) -> str:
    low, high = numbers["least and largest ratio"]
    best = numbers["best size of the logits"]
    powers = "; ".join(
        f"N = {p['N']}, d = {p['d']}: {p['measured']:.2f} ± {p['standard error']:.2f}, law "
        f"{p['law']}"
        for p in numbers["powers of zeta_0"]
    )
    return (
        f"Theorem 1 on tasks with N = {N}, K = {K}, d = {D}, m = {M}, τ = {TAU:g}, unit tokens and "
        "Q with normal entries of deviation β; tokens of norm r and β = 1 start with the same "
        "attention as unit tokens and β = r². (a) Steps until the gap is a thousandth of the "
        "first, as (18) promises them at the step sizes of (16); white: beyond what float64 "
        "resolves. Contours: how many times fewer descent takes at the same step sizes "
        f"({number(low, 2)} to {number(high, 2)} times). Dots: where the promise is best, "
        f"{number(float(best[0]), 2)} with N heads; with many heads larger logits do as well. (b) "
        "ζ₀, to which the rate is proportional. For small logits it goes like their 2k-th power, k "
        "the least degree of polynomials that tell N points of the sphere apart "
        f"({powers}); for large ones attention is one-hot, and an example that no head looks at "
        "leaves an exponentially small ζ₀."
    )

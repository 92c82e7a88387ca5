"""Figures 3 and 8: heat maps of W and V before, through and after training."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lemmata.claims import Bench
from lemmata.drawing import COLUMN_WIDTH, PALETTE, SMALL, TEXT_WIDTH, new_figure, number
from lemmata.papers._paper import Drawing
from lemmata.settings import Evidence

from ..experiments.heat_maps import HEAT_MAPS, HeatMap
from ._curves import say_sizes


def draw_ends(bench: Bench) -> Drawing:
    """Figure 3, with x_query fresh for every sample; the numbers have the other two."""
    maps = bench.evidence(HEAT_MAPS)
    heat = maps.cases[-1]
    picture = draw_weights(heat, [0, len(heat.steps) - 1], COLUMN_WIDTH)
    numbers = {
        "root mean squares of blocks": table(maps),
        "at the end": [
            {"x_query": case.name, "alpha": float(case.alpha[-1]), "C": float(case.C[-1])}
            for case in maps
        ],
    }
    return Drawing(picture, _ends_caption(maps, numbers), numbers)


def _ends_caption(maps: Evidence[HeatMap], numbers: dict[str, Any]) -> str:
    def left(query: str, *blocks: str) -> str:
        rows = numbers["root mean squares of blocks"]
        values = [r["left"] for r in rows if r["x_query"] == query and r["block"] in blocks]
        return number(100 * max(values), 3)

    every = tuple(maps.cases[0].blocks)
    frozen = ("W token-token", "W position-token")
    final = numbers["at the end"][-1]
    return (
        f"Heat maps of W and V at the start and the end. {setting(maps.cases[-1])} W ends near "
        f"{number(final['C'], 3)} times the identity between positions and V near "
        f"{number(final['alpha'], 3)} times the identity on tokens; of every other block at most "
        f"{left('random', *every)} % of its first size is left (root mean square), which is "
        "gradient noise. This depends on x_query: with x_query = 0 the columns of W that meet it "
        f"have no gradient and stay as they were ({left('zero', *frozen)} % left), and with one "
        f"fixed x_query only one direction of them moves ({left('fixed', *frozen)} % left)."
    )


def draw_steps(bench: Bench) -> Drawing:
    """Figure 8: the run of Figure 3 with x_query fresh for every sample."""
    heat = bench.evidence(HEAT_MAPS).cases[-1]
    picture = draw_weights(heat, list(range(len(heat.steps))), TEXT_WIDTH)
    numbers = {
        "moments": [
            {
                "t": step,
                "alpha": float(heat.alpha[moment]),
                "C": float(heat.C[moment]),
                **{name: float(sizes[moment]) for name, sizes in heat.blocks.items()},
            }
            for moment, step in enumerate(heat.steps)
        ]
    }
    growth = ", ".join(f"{number(row['C'], 2)} at t = {row['t']}" for row in numbers["moments"])
    caption = (
        f"Heat maps of W and V while training goes on. {setting(heat)} The identity between "
        f"positions grows (C = {growth}), while the other blocks die out."
    )
    return Drawing(picture, caption, numbers)


def draw_weights(heat: HeatMap, moments: list[int], width: float) -> Figure:
    """W above and V below, at the given moments, each panel on a scale of its own.

    On one scale the first weights would be hardly seen beside the last.
    """
    grid = {"height_ratios": [2, 1], "width": width}
    with new_figure(3.1, 2, len(moments), **grid) as (picture, (above, below)):
        for name, panels, matrices in (("W", above, heat.W), ("V", below, heat.V)):
            for axes, moment in zip(panels, moments, strict=True):
                largest = float(np.abs(matrices[moment]).max())
                image = _draw_matrix(axes, matrices[moment], heat.d, largest)
                axes.set_title(f"${name}$, $t={heat.steps[moment]}$")
                bar = picture.colorbar(
                    image, ax=axes, location="bottom", pad=0.03, aspect=16, shrink=0.8
                )
                bar.set_ticks(
                    [-largest, 0, largest], labels=[number(-largest, 2), "0", number(largest, 2)]
                )
                bar.ax.tick_params(labelsize=SMALL, length=2)
                bar.outline.set_linewidth(0.4)  # pyright: ignore[reportCallIssue]
        say_sizes(picture, heat.how, 1)
        middles, words = (heat.d / 2, heat.d + heat.how.d_e / 2), ["tokens", "positions"]
        for axes in (*above, *below):
            axes.set_xticks(middles, words, fontsize=SMALL)
            axes.set_yticks([])
        upright: dict[str, Any] = {"rotation": 90, "va": "center", "fontsize": SMALL}
        above[0].set_yticks(middles, words, **upright)
        below[0].set_yticks(middles[:1], words[:1], **upright)
    return picture


def _draw_matrix(axes: Axes, matrix: np.ndarray, d: int, largest: float) -> Any:
    """One cell an entry, kept sharp at any size, and lines between the blocks."""
    image = axes.imshow(matrix, cmap="RdBu_r", vmin=-largest, vmax=largest, interpolation="none")
    axes.axvline(d - 0.5, color=PALETTE["black"], linewidth=0.5)
    if matrix.shape[0] > d:
        axes.axhline(d - 0.5, color=PALETTE["black"], linewidth=0.5)
    axes.tick_params(length=0, pad=2)
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.4)
    return image


def table(maps: Evidence[HeatMap]) -> list[dict[str, Any]]:
    """The root mean square of every block, first and last, for each x_query."""
    return [
        {
            "x_query": heat.name,
            "block": name,
            "at the start": float(sizes[0]),
            "at the end": float(sizes[-1]),
            "left": float(sizes[-1] / sizes[0]),
        }
        for heat in maps
        for name, sizes in heat.blocks.items()
    ]


def setting(heat: HeatMap) -> str:
    """What was run, with our choices."""
    how = heat.how
    return (
        f"T = {how.task.T}, d = d_e = {how.d_e}, Gaussian first weights of sd 1/√d_e, "
        f"{how.steps} steps of SGD with fresh encodings. The paper does not say q, the batch size, "
        f"the threshold of the rejection, the step sizes or x_query: here q = {how.task.q}, "
        f"{how.samples} samples, {number(how.threshold)}, {number(how.rate)} in the first half and "
        f"{number(how.later_rate)} in the second, and a fresh Gaussian x_query for every sample."
    )

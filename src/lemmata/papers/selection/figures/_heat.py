"""Heat maps of W and V, for Figures 3 and 8."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lemmata.drawing import PALETTE, SMALL, number
from lemmata.settings import Evidence

from ..experiments.heat_maps import HeatMap


def draw_weights(
    picture: Figure, above: list[Axes], below: list[Axes], heat: HeatMap, moments: list[int]
) -> None:
    """W above and V below, at the given moments, each row on a scale of its own."""
    for name, panels, matrices in (("W", above, heat.W), ("V", below, heat.V)):
        largest = float(np.abs(matrices[moments]).max())
        images = []
        for axes, moment in zip(panels, moments, strict=True):
            images.append(_draw_matrix(axes, matrices[moment], heat.d, largest))
            axes.set_title(f"${name}$, $t={heat.steps[moment]}$")
        bar = picture.colorbar(images[-1], ax=panels, shrink=0.9, pad=0.02, aspect=18)
        bar.outline.set_linewidth(0.4)  # pyright: ignore[reportCallIssue]
    middles, words = (heat.d / 2, heat.d + heat.how.d_e / 2), ["tokens", "positions"]
    for axes in (*above, *below):
        axes.set_xticks(middles, words, fontsize=SMALL)
        axes.set_yticks([])
    upright: dict[str, Any] = {"rotation": 90, "va": "center", "fontsize": SMALL}
    above[0].set_yticks(middles, words, **upright)
    below[0].set_yticks(middles[:1], words[:1], **upright)


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

"""Maps over two parameters: a colour for every point of a grid, and lines on top."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float, Int

from ._numbers import number
from ._style import PALETTE, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 30.0
"""Values that span more than this factor are drawn on a logarithmic scale."""

MAP_DPI = 300
"""Dots per inch of a map's cells, which are kept as an image in files of vectors."""

_TICKS = 8
"""About as many as an axis of words has room for."""


_FEW_DECADES = 999.0
"""A logarithmic axis that spans less has numbers between the powers of ten."""


@dataclass(frozen=True)
class GridAxis:
    """One side of a map.

    Attributes:
        label: what it says.
        values: those of the grid, in order; numbers that rise or fall, or words.
        logarithmic: whether distances are ratios; None decides by how far the values reach.
    """

    label: str
    values: np.ndarray
    logarithmic: bool | None = None

    @property
    def numeric(self) -> bool:
        """Whether values have places of their own; words and unsorted numbers stand in a row."""
        if self.values.dtype.kind not in "iuf" or not np.isfinite(self.values).all():
            return False
        steps = np.diff(self.values.astype(float))
        return bool((steps > 0).all() or (steps < 0).all())

    @property
    def log(self) -> bool:
        """Whether the scale is logarithmic."""
        if not self.numeric or self.values.min() <= 0:
            return False
        if self.logarithmic is not None:
            return self.logarithmic
        return spans(self.values) or _geometric(self.values.astype(float))

    @property
    def places(self) -> Float[np.ndarray, "values"]:
        """Where the values stand."""
        return self.values.astype(float) if self.numeric else np.arange(1.0 * len(self.values))

    @property
    def edges(self) -> Float[np.ndarray, "edges"]:
        """Where cells end: halfway between values, on the scale that is drawn."""
        at = np.log(self.places) if self.log else self.places
        if len(at) == 1:
            ends = at[0] + np.array([-0.5, 0.5])
        else:
            middle = (at[1:] + at[:-1]) / 2
            ends = np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])
        return np.exp(ends) if self.log else ends


def spans(values: np.ndarray) -> bool:
    """Whether positive numbers span so much that a logarithmic scale shows more."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    return bool(len(known) and known.min() > 0 and known.max() > WIDE * known.min())


def _geometric(values: Float[np.ndarray, "values"]) -> bool:
    """Whether at least three values have one ratio, and are not evenly spaced."""
    ratios, steps = values[1:] / values[:-1], np.diff(values)
    return len(values) > 2 and np.allclose(ratios, ratios[0]) and not np.allclose(steps, steps[0])


def draw_numbers(
    axes: "Axes",
    x: GridAxis,
    y: GridAxis,
    grid: Float[np.ndarray, "ys xs"],
    *,
    label: str = "",
    colours: str = "cividis",
    limits: tuple[float, float] | None = None,
    logarithmic: bool | None = None,
) -> Any:
    """A number for every point, with a bar that says which colour is which; NaN is left white."""
    from matplotlib.colors import LogNorm, Normalize

    log = spans(grid) if logarithmic is None else logarithmic
    low, high = (None, None) if limits is None else limits
    scale = (LogNorm if log else Normalize)(low, high)
    mesh = _mesh(axes, x, y, grid, cmap=colours, norm=scale)
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.02, aspect=25)
    bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
    bar.set_label(label)
    if log and mesh.norm.vmax < _FEW_DECADES * mesh.norm.vmin:
        _plain_logarithms(bar.ax.yaxis)
    return mesh


def draw_kinds(
    axes: "Axes",
    x: GridAxis,
    y: GridAxis,
    grid: Float[np.ndarray, "ys xs"] | Int[np.ndarray, "ys xs"],
    kinds: Mapping[str, str],
) -> None:
    """One of several kinds for every point, as its place in ``kinds`` (a colour each); NaN, none.

    The legend above has the kinds that occur.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    shades = ListedColormap(list(kinds.values()))
    _mesh(axes, x, y, grid, cmap=shades, vmin=-0.5, vmax=len(kinds) - 0.5)
    seen = {int(i) for i in np.unique(grid[np.isfinite(grid)])}
    patches = [Patch(color=c, label=k) for i, (k, c) in enumerate(kinds.items()) if i in seen]
    axes.legend(
        handles=patches,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=len(patches) or 1,
        handlelength=1.0,
        columnspacing=1.0,
    )


def draw_contours(
    axes: "Axes",
    x: GridAxis,
    y: GridAxis,
    grid: Float[np.ndarray, "ys xs"],
    levels: Sequence[float | int],
    *,
    says: Callable[[float], str] = lambda level: number(level, 2),
) -> None:
    """Lines of equal numbers with their numbers, where enough of the grid is known."""
    with np.errstate(invalid="ignore"):
        crossed = [v for v in sorted(levels) if np.nanmin(grid) < v < np.nanmax(grid)]
    if min(grid.shape) < 2 or not crossed:
        return
    lines = axes.contour(x.places, y.places, grid, crossed, colors=PALETTE["black"], linewidths=0.7)
    for text in axes.clabel(lines, fontsize=SMALL, fmt=lambda level: says(float(level))):
        text.set_rotation(0)


def draw_side(axes: "Axes", which: Literal["x", "y"], side: GridAxis) -> None:
    """The scale of a side, its label and its ticks: every value if there are few."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    if side.log:
        axes.set(**{f"{which}scale": "log"})
        axis.set_minor_formatter(_nothing)
    axis.set_label_text(side.label)
    if not side.numeric or len(side.values) <= _TICKS:
        every = max(-(-len(side.values) // _TICKS), 1)
        known = side.values[::every].tolist()
        names = [value if isinstance(value, str) else number(value, 3) for value in known]
        axis.set_ticks(side.places[::every], names)
        axis.set_ticks([], minor=True)
    elif side.log and side.values.max() < _FEW_DECADES * side.values.min():
        _plain_logarithms(axis)


def _plain_logarithms(axis: Any) -> None:
    """Plain numbers between the powers of ten."""
    from matplotlib.ticker import LogLocator

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(lambda value, _: number(value, 3))
    axis.set_minor_formatter(_nothing)


def _nothing(value: float, place: Any) -> str:
    """The label of a tick that has none."""
    return ""


def _mesh(axes: "Axes", x: GridAxis, y: GridAxis, grid: np.ndarray, **look: Any) -> Any:
    """The cells, as an image; and both sides."""
    draw_side(axes, "x", x)
    draw_side(axes, "y", y)
    shown = np.ma.masked_invalid(grid)
    mesh = axes.pcolormesh(x.edges, y.edges, shown, rasterized=True, **look)
    axes.set_xlim(x.edges[0], x.edges[-1])
    axes.set_ylim(y.edges[0], y.edges[-1])
    return mesh

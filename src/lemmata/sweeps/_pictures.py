"""Pictures of a sweep: lines with bands over seeds, or a map with statuses."""

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from lemmata.claims import Status
from lemmata.drawing import COLUMN_WIDTH, PALETTE, SMALL, TEXT_WIDTH, Drawing, number, style

from ._table import SweepTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    Status.HOLDS: "green",
    Status.VACUOUS: "orange",
    Status.FAILS: "red",
    Status.UNDECIDED: "purple",
    Status.INAPPLICABLE: "light",
}
"""Of a status, from the best to the worst; of several seeds the worst that occurs is drawn."""

WIDE = 30.0
"""Values that span more than this factor are drawn on a logarithmic scale."""


def draw_sweep(table: SweepTable) -> Drawing:
    """One parameter as lines, two as maps; the numbers are the table's."""
    parameters = table.parameters
    caption = (
        f"{table.target} over {' and '.join(parameters)}, {len(np.unique(table['seed']))} seeds a "
        "point."
    )
    draw = _maps if len(parameters) == 2 else _lines
    with style():
        picture = draw(table)
    fits = "; ".join(fit.says for fit in table.fits())
    return Drawing(picture, f"{caption} {fits}".strip(), table.document())


def _lines(table: SweepTable) -> Any:
    """Means over seeds on a band from the least to the largest."""
    from matplotlib.figure import Figure

    names = [name for name in table.measured if table[name].dtype.kind in "if"]
    lines = max(-(-len(names) // 2), 1)
    picture = Figure(figsize=(TEXT_WIDTH, 1.9 * lines))
    places = np.ravel(picture.subplots(lines, 2, squeeze=False))
    parameter = table.parameters[0] if table.parameters else "seed"
    for axes, name in zip(places, names, strict=False):
        values, grid = table.over(parameter, name)
        numeric = values.dtype.kind in "if"
        x = values if numeric else np.arange(len(values))
        known = ~np.isnan(grid).all(axis=1)
        with np.errstate(all="ignore"):
            mean, low, high = (f(grid[known], axis=1) for f in (np.nanmean, np.nanmin, np.nanmax))
        axes.fill_between(x[known], low, high, color=PALETTE["blue"], alpha=0.25, linewidth=0)
        axes.plot(x[known], mean, ".-", color=PALETTE["blue"])
        axes.set_title(name)
        axes.set_xlabel(parameter)
        _scales(axes, x if numeric else None, mean)
        if not numeric:
            axes.set_xticks(x, [str(value) for value in values])
    for axes in places[len(names) :]:
        axes.set_axis_off()
    return picture


def _scales(axes: "Axes", x: np.ndarray | None, y: np.ndarray) -> None:
    if x is not None and (x > 0).all() and x.max() > WIDE * x.min():
        axes.set_xscale("log")
    if len(y) and (y > 0).all() and y.max() > WIDE * y.min():
        axes.set_yscale("log")


def _maps(table: SweepTable) -> Any:
    """The status at every point with the tightness in it, or one map a measurement."""
    from matplotlib.figure import Figure

    if "status" in table.measured:
        picture = Figure(figsize=(COLUMN_WIDTH * 1.35, COLUMN_WIDTH))
        _statuses(picture.subplots(), table)
        return picture
    names = [name for name in table.measured if table[name].dtype.kind in "if"]
    lines = max(-(-len(names) // 2), 1)
    picture = Figure(figsize=(TEXT_WIDTH, 2.4 * lines))
    places = np.ravel(picture.subplots(lines, 2, squeeze=False))
    for axes, name in zip(places, names, strict=False):
        _map(picture, axes, table, name)
    for axes in places[len(names) :]:
        axes.set_axis_off()
    return picture


def _cells(table: SweepTable) -> tuple[list[np.ndarray], np.ndarray]:
    """The values of both parameters, and for each row of the table its place in the grid."""
    values = [np.array(list(dict.fromkeys(table[name].tolist()))) for name in table.parameters]
    places = [
        [int(np.flatnonzero(value == x)[0]) for x in table[name].tolist()]
        for name, value in zip(table.parameters, values, strict=True)
    ]
    return values, np.array(places).T


def _map(picture: Any, axes: "Axes", table: SweepTable, name: str) -> None:
    from matplotlib.colors import LogNorm

    values, places = _cells(table)
    grid = _mean(table[name].astype(float), places, (len(values[1]), len(values[0])))
    known = grid[np.isfinite(grid)]
    wide = len(known) and known.min() > 0 and known.max() > WIDE * known.min()
    image = axes.imshow(
        grid, origin="lower", aspect="auto", cmap="cividis", norm=LogNorm() if wide else None
    )
    picture.colorbar(image, ax=axes)
    axes.set_title(name)
    _ticks(axes, table, values)


def _mean(
    numbers: Float[np.ndarray, "rows"], places: np.ndarray, shape: tuple[int, int]
) -> Float[np.ndarray, "ys xs"]:
    """The mean over the seeds of each cell; NaN where nothing is known."""
    total, count = np.zeros(shape), np.zeros(shape)
    for (x, y), value in zip(places, numbers, strict=True):
        if np.isfinite(value):
            total[y, x] += value
            count[y, x] += 1
    with np.errstate(invalid="ignore"):
        return total / count


def _statuses(axes: "Axes", table: SweepTable) -> None:
    """Colours for statuses, a contour where the bound is ten, a hundred, ... times too weak."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    values, places = _cells(table)
    order = list(COLOURS)
    shape = (len(values[1]), len(values[0]))
    worst = np.full(shape, np.nan)
    for (x, y), status in zip(places, table["status"], strict=True):
        worst[y, x] = np.fmax(worst[y, x], float(order.index(Status(str(status)))))
    colours = ListedColormap([PALETTE[COLOURS[status]] for status in order])
    axes.imshow(
        worst,
        origin="lower",
        aspect="auto",
        cmap=colours,
        vmin=-0.5,
        vmax=len(order) - 0.5,
        alpha=0.75,
    )
    factor = _mean(table["tightness"].astype(float), places, shape)
    if np.isfinite(factor).sum() > 4 and min(shape) > 1:
        with np.errstate(invalid="ignore", divide="ignore"):
            lines = axes.contour(np.log10(factor), colors="black", linewidths=0.6)
        axes.clabel(lines, fontsize=SMALL, fmt=lambda power: f"{number(10**power, 2)}×")
    seen = [order[int(i)] for i in np.unique(worst[np.isfinite(worst)])]
    patches = [Patch(color=PALETTE[COLOURS[s]], alpha=0.75, label=s.value) for s in seen]
    axes.legend(handles=patches, loc="upper center", bbox_to_anchor=(0.5, 1.14), ncols=len(seen))
    _ticks(axes, table, values)


def _ticks(axes: "Axes", table: SweepTable, values: list[np.ndarray]) -> None:
    for axis, name, known in zip((axes.xaxis, axes.yaxis), table.parameters, values, strict=True):
        every = max(len(known) // 8, 1)
        axis.set_ticks(
            range(0, len(known), every),
            [str(x) if isinstance(x, str) else number(x, 3) for x in known[::every].tolist()],
        )
        axis.set_label_text(name)

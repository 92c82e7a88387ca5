"""Pictures of a sweep: lines with bands over seeds, or a map with statuses."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.claims import Status
from lemmata.drawing import (
    COLUMN_WIDTH,
    MAP_DPI,
    PALETTE,
    TEXT_WIDTH,
    Drawing,
    GridAxis,
    draw_contours,
    draw_kinds,
    draw_numbers,
    draw_side,
    number,
    spans,
    style,
)

from ._table import Fit, SweepTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    Status.HOLDS: "#7FCEB9",
    Status.VACUOUS: "#F2CF7F",
    Status.FAILS: "#EAAE7F",
    Status.UNDECIDED: "#E5BBD2",
    Status.INAPPLICABLE: PALETTE["light"],
}
"""Of a status, from the best to the worst; of several seeds the worst that occurs is drawn."""

LINES = ("blue", "red", "green", "orange", "purple", "sky")
"""Colours of lines, one for each value of a second parameter."""

LEVELS = tuple(m * 10.0**power for power in range(-2, 12) for m in (1, 1.5, 2, 3, 5, 7))
"""Contours of the tightness, of which at most a few are drawn."""

MOST_CONTOURS = 4


def draw_sweep(table: SweepTable) -> Drawing:
    """One parameter as lines, two as maps, or as lines if one of them has words for values.

    Values that are walked through together are lines over the first. The numbers are the table's.
    """
    if len(table.varied) not in (1, 2):
        raise InputError(f"a picture is of one or two parameters; got {len(table.varied)}")
    document, constant = table.document(), set(table.parameters) - set(table.varied)
    rows = [{name: row[name] for name in row if name not in constant} for row in table.rows]
    table = SweepTable(table.target, table.varied, rows)
    seeds = len(np.unique(table["seed"]))
    many = "one seed" if seeds == 1 else f"{seeds} seeds"
    over = " and ".join(table.parameters)
    with style():
        picture = _maps(table) if _is_grid(table) else _lines(table)
    fits = "; ".join(fit.says for fit in table.fits())
    caption = f"{table.target} over {over}, {many} a point. {_words(table, seeds)} {fits}".strip()
    return Drawing(picture, caption, document)


def _words(table: SweepTable, seeds: int) -> str:
    """What colours, bands and contours are."""
    if _is_grid(table):
        if "status" in table.measured:
            worst = "the worst of the seeds, " if seeds > 1 else ""
            return f"Colours: {worst}contours: how many times as strong a bound could be."
        return "Means over seeds." if seeds > 1 else ""
    return "Lines are means over seeds, bands reach from the least to the largest." * (seeds > 1)


def _is_grid(table: SweepTable) -> bool:
    """Whether the points fill a plane, with numbers on both sides."""
    if len(table.parameters) != 2:
        return False
    x, y = (table[name] for name in table.parameters)
    points = len(set(zip(x.tolist(), y.tolist(), strict=True)))
    filled = points == len(np.unique(x)) * len(np.unique(y))
    return filled and x.dtype.kind in "if" and y.dtype.kind in "if"


def _panels(count: int, height: float) -> tuple[Any, Sequence["Axes"]]:
    """A figure with so many axes, one or two in a row."""
    from matplotlib.figure import Figure

    if count <= 1:
        picture = Figure(figsize=(COLUMN_WIDTH, height), dpi=MAP_DPI)
        return picture, [picture.subplots()]
    lines = -(-count // 2)
    picture = Figure(figsize=(TEXT_WIDTH, height * lines), dpi=MAP_DPI)
    places = list(np.ravel(picture.subplots(lines, 2, squeeze=False)))
    for axes in places[count:]:
        axes.set_axis_off()
    return picture, list(places[:count])


def _numeric(table: SweepTable) -> list[str]:
    return [name for name in table.measured if table[name].dtype.kind in "if"]


def _lines(table: SweepTable) -> Any:
    """Means over seeds on a band from the least to the largest, and fitted powers."""
    names = _numeric(table)
    picture, places = _panels(len(names), 2.0)
    fits = {fit.measured: fit for fit in table.fits()}
    for axes, name in zip(places, names, strict=False):
        for (said, part), colour in zip(_parts(table), LINES * 100, strict=False):
            _line(axes, part, name, PALETTE[colour], said)
        axes.set_ylabel(name)
        if name in fits:
            _draw_fit(axes, table, fits[name])
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="best")
    return picture


def _parts(table: SweepTable) -> list[tuple[str | None, SweepTable]]:
    """The table by the value of its second parameter, if it has a grid of two."""
    if len(table.parameters) != 2 or _together(table):
        return [(None, table)]
    first, second = table.parameters
    values = dict.fromkeys(table[second].tolist())
    return [
        (
            f"{second} = {_shown(value)}",
            SweepTable(table.target, [first], [row for row in table.rows if row[second] == value]),
        )
        for value in values
    ]


def _together(table: SweepTable) -> bool:
    """Whether the first parameter alone says which point it is."""
    keys = {tuple(row[name] for name in table.parameters) for row in table.rows}
    return len(keys) == len({key[0] for key in keys})


def _line(axes: "Axes", table: SweepTable, name: str, colour: str, said: str | None) -> None:
    values, grid = table.over(table.parameters[0], name)
    if values.dtype.kind in "if":
        order = np.argsort(values, kind="stable")
        values, grid = values[order], grid[order]
    side = GridAxis(table.parameters[0], values)
    draw_side(axes, "x", side)
    values = side.places
    known = np.asarray(~np.isnan(grid).all(axis=1))
    if not known.any():
        return
    mean, low, high = (f(grid[known], axis=1) for f in (np.nanmean, np.nanmin, np.nanmax))
    axes.fill_between(values[known], low, high, color=colour, alpha=0.25, linewidth=0)
    axes.plot(values[known], mean, ".-", color=colour, label=said)
    _mark_statuses(axes, table, side, known, mean)
    if spans(low):
        axes.set_yscale("log")


def _mark_statuses(
    axes: "Axes", table: SweepTable, side: GridAxis, known: np.ndarray, mean: np.ndarray
) -> None:
    """Points of a claim in the colour of their worst status."""
    if "status" not in table.measured or len(table.parameters) != 1:
        return
    order, parameter = list(COLOURS), table[table.parameters[0]]
    worst = np.array(
        [
            max(order.index(Status(str(s))) for s in table["status"][parameter == value])
            for value in side.values[known].tolist()
        ]
    )
    for place, status in enumerate(order):
        here = worst == place
        if here.any():
            look = {"color": COLOURS[status], "markeredgecolor": PALETTE["black"], "ms": 5}
            at = side.places[known][here]
            axes.plot(at, mean[here], "o", mew=0.5, label=status.value, **look)


def _draw_fit(axes: "Axes", table: SweepTable, fit: Fit) -> None:
    """The fitted power as a dashed line."""
    values = np.sort(np.unique(table[fit.parameter].astype(float)))
    label = f"$\\propto$ {fit.parameter}^({fit.exponent:.3g} ± {fit.error:.1g})"
    line = {"color": PALETTE["black"], "linewidth": 0.9, "label": label}
    axes.plot(values, np.exp(fit.level) * values**fit.exponent, "--", **line)


def _maps(table: SweepTable) -> Any:
    """The status at every point with the tightness in it, or one map a measurement."""
    if "status" in table.measured:
        picture, (axes,) = _panels(1, 0.85 * COLUMN_WIDTH)
        _statuses(axes, table)
        return picture
    names = _numeric(table)
    picture, places = _panels(len(names), 2.4)
    for axes, name in zip(places, names, strict=False):
        x, y, rows = _cells(table)
        draw_numbers(axes, x, y, _mean(table[name].astype(float), rows, x, y), label=name)
    return picture


def _cells(table: SweepTable) -> tuple[GridAxis, GridAxis, np.ndarray]:
    """Both sides of the map, and for each row of the table its place in it."""
    values = [np.unique(table[name]) for name in table.parameters]
    places = [np.searchsorted(v, table[n]) for v, n in zip(values, table.parameters, strict=True)]
    x, y = (GridAxis(name, v) for name, v in zip(table.parameters, values, strict=True))
    return x, y, np.array(places).T


def _mean(
    numbers: Float[np.ndarray, "rows"], places: np.ndarray, x: GridAxis, y: GridAxis
) -> Float[np.ndarray, "ys xs"]:
    """The mean over the seeds of each cell; NaN where nothing is known."""
    total, count = np.zeros((2, len(y.values), len(x.values)))
    for (column, row), value in zip(places, numbers, strict=True):
        if np.isfinite(value):
            total[row, column] += value
            count[row, column] += 1
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def _statuses(axes: "Axes", table: SweepTable) -> None:
    """Colours for statuses, a contour where the bound is ten, a hundred, ... times too weak."""
    x, y, places = _cells(table)
    order = list(COLOURS)
    worst = np.full((len(y.values), len(x.values)), np.nan)
    for (column, row), status in zip(places, table["status"], strict=True):
        worst[row, column] = np.fmax(worst[row, column], order.index(Status(str(status))))
    draw_kinds(axes, x, y, worst, {status.value: COLOURS[status] for status in order})
    factor = _mean(table["tightness"].astype(float), places, x, y)
    known = factor[np.isfinite(factor)]
    if len(known):
        crossed = [level for level in LEVELS if known.min() < level < known.max()]
        every = -(-len(crossed) // MOST_CONTOURS) or 1
        draw_contours(axes, x, y, factor, crossed[::every], says=lambda v: f"{number(v, 2)}×")


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else number(value, 3)

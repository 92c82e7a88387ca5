"""Recorded columns against the steps: one as a figure of its own, or all of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Num

from lemmata._errors import InputError, unknown_name

from ._style import COLUMN_WIDTH, PALETTE, TEXT_WIDTH, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BANDS = ("quantiles", "ci95", "none")

PANEL_HEIGHT = 1.75
"""Of one column among several, in inches."""

FORECAST_COLOURS = ("red", "green", "purple")

WIDE = 100.0
"""Values that span more than this factor are drawn on a logarithmic scale."""


def plot_column(
    steps: Num[np.ndarray, "records"],
    rows: Float[np.ndarray, "instances records"],
    name: str,
    *,
    band: str = "quantiles",
    log: bool = True,
) -> Any:
    """The mean over instances on a band: quantiles from 5 % to 95 %, or the mean's interval."""
    if band not in BANDS:
        raise InputError(unknown_name("band", band, BANDS))

    known = rows[~np.isnan(rows).all(axis=1)]
    mean = known.mean(axis=0)
    with new_figure(0.7 * COLUMN_WIDTH, width=COLUMN_WIDTH) as (picture, axes):
        if band != "none" and len(known) > 1:
            low, high = np.quantile(known, [0.05, 0.95], axis=0)
            if band == "ci95":
                error = 1.96 * known.std(axis=0, ddof=1) / np.sqrt(len(known))
                low, high = mean - error, mean + error
            axes.fill_between(steps, low, high, color=PALETTE["blue"], alpha=0.25, linewidth=0)
        axes.plot(steps, mean, color=PALETTE["blue"])
        axes.set_ylabel(name)
        _scale(axes, steps, mean, log)
    return picture


@dataclass(frozen=True)
class Panel:
    """One column of a run, and curves with their names that are drawn beside it."""

    title: str
    values: Float[np.ndarray, "records"]
    beside: Sequence[tuple[Float[np.ndarray, "records"], str]] = ()


def plot_panels(steps: Num[np.ndarray, "records"], panels: Sequence[Panel]) -> Any:
    """All columns of a run, two a row."""
    from matplotlib.figure import Figure

    lines = -(-len(panels) // 2)
    with style():
        picture = Figure(figsize=(TEXT_WIDTH, PANEL_HEIGHT * lines))
        places = np.ravel(picture.subplots(lines, 2, squeeze=False))
        for axes, panel in zip(places, panels, strict=False):
            _draw(axes, steps, panel)
        for axes in places[len(panels) :]:
            axes.set_axis_off()
    return picture


def _draw(axes: "Axes", steps: Num[np.ndarray, "records"], panel: Panel) -> None:
    axes.set_title(panel.title)
    marker = "o" if np.isfinite(panel.values).sum() == 1 else None
    axes.plot(steps, panel.values, color=PALETTE["blue"], marker=marker)
    for (values, says), colour in zip(panel.beside, FORECAST_COLOURS, strict=False):
        axes.plot(steps, values, "--", color=PALETTE[colour], linewidth=1.0, label=says)
    shown = np.concatenate([panel.values, *(values for values, _ in panel.beside)])
    _scale(axes, steps, shown, True)
    if panel.beside:
        axes.legend()


def _scale(
    axes: "Axes",
    steps: Num[np.ndarray, "records"],
    values: Float[np.ndarray, "shown"],
    log: bool,
) -> None:
    """Logarithmic axes where that shows more of all values that are drawn."""
    axes.set_xlabel("t")
    if not log or not len(steps) or steps[-1] <= 0:
        return
    axes.set_xscale("symlog", linthresh=max(1, int(steps[steps > 0][0])))
    positive = values[values > 0]
    if len(positive) and not (values < 0).any() and positive.max() > WIDE * positive.min():
        axes.set_yscale("log", nonpositive="mask")

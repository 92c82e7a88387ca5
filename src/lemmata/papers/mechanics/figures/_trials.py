"""What the figures say about many trials of one experiment."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lemmata.drawing import PALETTE, draw_band, draw_sizes, number
from lemmata.settings import Evidence

from ..setting import Dataset, Recipe

Ends = Float[np.ndarray, "trials"]
Grid = Float[np.ndarray, "trials records"]
Steps = Int[np.ndarray, "records"]


def spread(values: Ends) -> dict[str, float]:
    """Where the values of all trials lie."""
    low, high = np.quantile(values, [0.05, 0.95])
    return {
        "mean": float(values.mean()),
        "sd": float(values.std()),
        "median": float(np.median(values)),
        "5 %": float(low),
        "95 %": float(high),
        "smallest": float(values.min()),
        "largest": float(values.max()),
    }


def say_sizes(picture: Figure, run: Evidence[Any], recipe: Recipe) -> None:
    """The sizes of the datasets and the number of trials, in a line below the panels."""
    sizes = f"$K={recipe.K}$, $d={recipe.d}$, $n={recipe.n}$, $T={recipe.T}$"
    rate = number(float(run.rate[0, 0]))
    draw_sizes(picture, f"{sizes}, {recipe.kind}, $\\eta={rate}$, {len(run)} trials")


def draw_trials(axes: Axes, steps: Steps, rows: Grid, worst: int) -> None:
    """The mean of all trials with its band, and one trial alone."""
    draw_band(axes, steps, rows, PALETTE["blue"], label=f"mean of {len(rows)}, 5–95 %")
    axes.plot(
        steps, rows[worst], color=PALETTE["black"], linewidth=0.7, label="worst trial at the end"
    )


def draw_direction(axes: Axes, run: Evidence[Dataset], mean: float, says: str) -> None:
    """The correlation with W^mm, and the paper's mean."""
    rows = 1 - run.one_minus_correlation
    draw_trials(axes, run.records, rows, int(rows[:, -1].argmin()))
    draw_level(axes, mean, f"paper: mean {says}", "red")
    axes.set_title("(a) direction")
    axes.set_ylabel(r"correlation of $W(t)$ and $W^{\mathrm{mm}}$")
    axes.legend(loc="lower right")


def draw_level(axes: Axes, height: float, label: str, colour: str, linestyle: str = "--") -> None:
    """A level to compare with."""
    axes.axhline(height, color=PALETTE[colour], linestyle=linestyle, linewidth=0.9, label=label)


def of(count: "int | np.integer[Any] | Bool[np.ndarray, 'trials']", trials: int) -> str:
    """A count in words: ``3 of 100``, or ``all 100``."""
    count = int(np.sum(count))
    if count == trials:
        return f"all {trials}"
    return f"{count or 'none'} of {trials}"


def median(values: np.ndarray) -> float | None:
    """The median, if there are any."""
    return float(np.median(values)) if len(values) else None

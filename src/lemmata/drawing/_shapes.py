"""Parts of figures that several figures share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Num

from ._style import PALETTE, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 180
"""Points per curve: more would make files larger and no curve smoother."""


def draw_band(
    axes: "Axes",
    steps: Num[np.ndarray, "records"],
    rows: Float[np.ndarray, "instances records"],
    colour: str,
    *,
    label: str | None = None,
    linestyle: str = "-",
) -> None:
    """The mean over instances as a line, on a band from the 5 % to the 95 % quantile.

    A record where some instance has no value is left out.
    """
    known = np.flatnonzero(~np.isnan(rows).any(axis=0))
    keep = known[np.unique(np.linspace(0, len(known) - 1, _POINTS).astype(int))]
    low, high = np.quantile(rows[:, keep], [0.05, 0.95], axis=0)
    axes.fill_between(steps[keep], low, high, color=colour, alpha=0.25, linewidth=0)
    axes.plot(steps[keep], rows[:, keep].mean(axis=0), linestyle, color=colour, label=label)


def draw_sizes(picture: "Figure", words: str) -> None:
    """A line below all panels: the sizes of the experiment and the number of its trials."""
    picture.supxlabel(words, fontsize=SMALL)


def draw_logarithmic(axes: "Axes") -> None:
    """A logarithmic scale with few and plain numbers, once everything is drawn."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 3) if high > 30 * low else (1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")


def draw_tokens(
    axes: "Axes",
    left: float | int,
    height: float | int,
    tokens: Sequence[str],
    *,
    fills: Sequence[float] | None = None,
    marked: Sequence[bool] | None = None,
    notes: Sequence[str] | None = None,
) -> None:
    """A sequence of tokens as a row of unit boxes.

    Args:
        axes: where one unit is the width of a token.
        left, height: the left end of the row and its middle.
        tokens: what the boxes say.
        fills: how strongly each box is filled, from 0 to 1.
        marked: which boxes get a coloured frame.
        notes: a small line under each token.
    """
    import matplotlib.patches as patches

    for i, token in enumerate(tokens):
        strength = fills[i] if fills is not None else 0.0
        frame: dict[str, Any] = {"edgecolor": PALETTE["grey"], "linewidth": 0.6, "zorder": 2}
        if marked is not None and marked[i]:
            frame = {"edgecolor": PALETTE["red"], "linewidth": 1.5, "zorder": 3}
        axes.add_patch(
            patches.Rectangle(
                (left + i + 0.06, height - 0.4),
                0.88,
                0.8,
                facecolor=_tint(PALETTE["sky"], strength),
                **frame,
            )
        )
        lift = 0.16 if notes is not None else 0.0
        words = {"ha": "center", "va": "center", "zorder": 4}
        axes.text(left + i + 0.5, height + lift, token, **words)
        if notes is not None:
            axes.text(left + i + 0.5, height - 0.2, notes[i], fontsize=SMALL, **words)


def draw_arrow(axes: "Axes", left: float, right: float, height: float | int) -> None:
    """A small arrow to the right, from an input to what follows it."""
    look = {"arrowstyle": "->", "linewidth": 0.7, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=(right, height), xytext=(left, height), arrowprops=look)


def _tint(colour: str, strength: float) -> tuple[float, float, float]:
    """The colour mixed into white."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(colour))
    return red, green, blue

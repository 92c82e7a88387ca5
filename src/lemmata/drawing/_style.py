"""How figures look: sizes of a paper's columns, legible type, colours that everyone can tell apart.

The palette is that of Okabe and Ito (2008). Files depend on what is drawn and on nothing else:
no dates, no random identifiers, no settings of the user's.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMN_WIDTH = 3.4
"""The width of one column, in inches."""

TEXT_WIDTH = 7.0
"""The width of a page's text, in inches."""

SMALL = 7.0
"""The smallest type used, in points."""

PALETTE = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "red": "#D55E00",
    "purple": "#CC79A7",
    "grey": "#8A8A8A",
    "light": "#E4E4E4",
}

_SETTINGS: dict[Any, Any] = {
    "figure.dpi": 150,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 7.5,
    "mathtext.fontset": "cm",
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.titlepad": 4,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.borderaxespad": 0.3,
    "legend.labelspacing": 0.3,
    "lines.linewidth": 1.2,
    "patch.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "lemmata",
    "pdf.fonttype": 42,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw and save in this style, whatever the user's own settings are."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


@contextmanager
def new_figure(
    height: float,
    rows: int = 1,
    columns: int = 1,
    *,
    width: float = TEXT_WIDTH,
    dpi: int | None = None,
    **grid: Any,
) -> Iterator["tuple[Figure, Any]"]:
    """A figure in this style, so many inches high, and its axes, as ``subplots`` arranges them."""
    from matplotlib.figure import Figure

    with style():
        picture = Figure(figsize=(width, height), dpi=dpi)
        yield picture, picture.subplots(rows, columns, **grid)

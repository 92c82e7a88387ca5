"""Figure 6: SGD from random weights."""

from lemmata.claims import Bench
from lemmata.papers._paper import Drawing

from ..experiments.runs import SGD_RANDOM
from ._generalization import draw_figure

START = (
    "Weights start Gaussian with variance 1/(d + d_e), which the paper calls a standard deviation. "
    "The lines leave out what the first d rows of W do, which die out; the first d columns have no "
    "gradient while x_query = 0, so that the cosine of W stays below 1."
)


def draw(bench: Bench) -> Drawing:
    """As Figure 4."""
    return draw_figure(bench, SGD_RANDOM, START)

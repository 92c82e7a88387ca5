"""Figure 7: Adam from random weights."""

from lemmata.claims import Bench
from lemmata.papers._paper import Drawing

from ..experiments.runs import ADAM_RANDOM
from ._generalization import draw_figure
from ._sgd_random import START


def draw(bench: Bench) -> Drawing:
    """As Figure 4."""
    return draw_figure(bench, ADAM_RANDOM, START)

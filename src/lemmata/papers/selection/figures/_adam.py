"""Figure 5: Adam from zero."""

from lemmata.claims import Bench
from lemmata.papers._paper import Drawing

from ..experiments.runs import ADAM
from ._generalization import draw_figure


def draw(bench: Bench) -> Drawing:
    """As Figure 4."""
    return draw_figure(bench, ADAM, "The paper calls Adam's settings the default ones.")

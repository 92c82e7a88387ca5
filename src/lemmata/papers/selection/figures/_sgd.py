"""Figure 4: SGD from zero."""

from lemmata.claims import Bench
from lemmata.drawing import number
from lemmata.papers._paper import Drawing

from ..claims.observations import REPORTED_SHARE
from ..experiments.ensembles import RIVALS
from ..experiments.runs import SGD
from ..experiments.switched_encodings import SWITCHED
from ._generalization import draw_figure


def draw(bench: Bench) -> Drawing:
    """With what the caption says about fixed encodings, and about the limit."""
    ends, largest = bench.evidence(SWITCHED), bench.evidence(RIVALS).cases[-1]
    floor = min(loss / case.zero_loss for case in ends for loss, _ in case.longer.values())
    says = (
        "The paper reports at least 0.15 for fixed encodings at every length, which is "
        f"{number(100 * REPORTED_SHARE, 2)} % of d/(2q) at its sizes; here the least of all runs "
        f"is {number(100 * floor, 3)} %. At the paper's sizes, T = 200 and d_e = 170, "
        f"{largest.found} of {largest.looked} subsets with q = {largest.q} have an encoding "
        "outside with <e_i, e_y> ≥ 1, which attention prefers to them: their loss does not go to 0."
    )
    return draw_figure(bench, SGD, says)

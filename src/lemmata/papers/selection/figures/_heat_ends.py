"""Figure 3: W and V before and after training."""

from typing import Any

from matplotlib.figure import Figure

from lemmata.claims import Bench
from lemmata.drawing import COLUMN_WIDTH, number, style
from lemmata.papers._paper import Drawing
from lemmata.settings import Evidence

from ..experiments.heat_maps import HEAT_MAPS, HeatMap
from ._heat import draw_weights, setting, table


def draw(bench: Bench) -> Drawing:
    """With x_query fresh for every sample; the numbers have the other two."""
    maps = bench.evidence(HEAT_MAPS)
    heat = maps.cases[-1]
    with style():
        picture = Figure(figsize=(COLUMN_WIDTH, 2.9))
        panels = picture.subplots(2, 2, gridspec_kw={"height_ratios": [2, 1]})
        draw_weights(picture, list(panels[0]), list(panels[1]), heat, [0, len(heat.steps) - 1])
    numbers = {
        "root mean squares of blocks": table(maps),
        "at the end": [
            {"x_query": case.name, "alpha": float(case.alpha[-1]), "C": float(case.C[-1])}
            for case in maps
        ],
    }
    return Drawing(picture, _caption(maps, numbers), numbers)


def _caption(maps: Evidence[HeatMap], numbers: dict[str, Any]) -> str:
    def left(query: str, *blocks: str) -> str:
        rows = numbers["root mean squares of blocks"]
        values = [r["left"] for r in rows if r["x_query"] == query and r["block"] in blocks]
        return number(100 * max(values), 3)

    every = tuple(maps.cases[0].blocks)
    frozen = ("W token-token", "W position-token")
    final = numbers["at the end"][-1]
    return (
        f"Heat maps of W and V at the start and the end. {setting(maps.cases[-1])} W ends near "
        f"{number(final['C'], 3)} times the identity between positions and V near "
        f"{number(final['alpha'], 3)} times the identity on tokens; of every other block at most "
        f"{left('random', *every)} % of its first size is left (root mean square), which is "
        "gradient noise. This depends on x_query: with x_query = 0 the columns of W that meet it "
        f"have no gradient and stay as they were ({left('zero', *frozen)} % left), and with one "
        f"fixed x_query only one direction of them moves ({left('fixed', *frozen)} % left)."
    )

"""Figure 8: W and V at four moments of training."""

from matplotlib.figure import Figure

from lemmata.claims import Bench
from lemmata.drawing import TEXT_WIDTH, number, style
from lemmata.papers._paper import Drawing

from ..experiments.heat_maps import HEAT_MAPS
from ._heat import draw_weights, setting


def draw(bench: Bench) -> Drawing:
    """The run of Figure 3 with x_query fresh for every sample."""
    heat = bench.evidence(HEAT_MAPS).cases[-1]
    moments = list(range(len(heat.steps)))
    with style():
        picture = Figure(figsize=(TEXT_WIDTH, 2.9))
        panels = picture.subplots(2, len(moments), gridspec_kw={"height_ratios": [2, 1]})
        draw_weights(picture, list(panels[0]), list(panels[1]), heat, moments)
    numbers = {
        "moments": [
            {
                "t": step,
                "alpha": float(heat.alpha[moment]),
                "C": float(heat.C[moment]),
                **{name: float(sizes[moment]) for name, sizes in heat.blocks.items()},
            }
            for moment, step in enumerate(heat.steps)
        ]
    }
    growth = ", ".join(f"{number(row['C'], 2)} at t = {row['t']}" for row in numbers["moments"])
    caption = (
        f"Heat maps of W and V while training goes on. {setting(heat)} The identity between "
        f"positions grows (C = {growth}), while the other blocks die out."
    )
    return Drawing(picture, caption, numbers)

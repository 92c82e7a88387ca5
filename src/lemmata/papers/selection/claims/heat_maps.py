"""Section 4 and Appendix F.5: what Figures 3 and 8 say about the entries of W and V."""

from collections.abc import Sequence

import numpy as np

from lemmata.old_claims import Cases, Judgement, Status, at_least
from lemmata.papers.selection.claims._terms import CONVERGES, claim
from lemmata.papers.selection.experiments.heat_maps import HEAT_MAPS, HeatMap

LEFT = 0.1
"""Of a block's first size, for one that goes to 0; what gradient noise leaves is less."""


def _heat_map(maps: Cases[HeatMap], query: str, left: float) -> Sequence[Judgement]:
    """Blocks shrink, and the two diagonal ones end as multiples of the identity."""
    wanted = [found for found in maps if found.name == query]
    if not wanted:
        reason = f"training with x_query {query} diverged"
        return [Judgement("other entries", Status.UNDECIDED, reason)]
    found = wanted[0]
    sizes = np.array([rows[[0, -1]] for rows in found.blocks.values()])
    last = np.array(found.steps[-1:])
    off = [found.blocks[name][-1] for name in list(found.blocks)[3:5]]
    return [
        at_least(
            f"{left:g} of the first size of a block",
            left * sizes[:, :1],
            sizes[:, 1:],
            steps=last,
            names=list(found.blocks),
        ),
        at_least(
            "ten times what is off the identity",
            np.array([[found.C[-1]], [found.alpha[-1]]]),
            10 * np.array(off)[:, None],
            steps=last,
            names=["W", "V"],
        ),
    ]


_HEAT = (
    "After training from random weights W is a multiple of the identity between positions and V on "
    "tokens, and all other entries have gone to 0 (root mean squares to a tenth of the start)"
)


@claim(
    "figure-3/zero-query",
    "Section 4, Figure 3",
    f"{_HEAT}, with x_query = 0.",
    assumes=(CONVERGES,),
    on=HEAT_MAPS,
    sharpened="to a thousandth",
)
def zero_query(maps: Cases[HeatMap], sharpened: bool) -> Sequence[Judgement]:
    """The first d columns of W have no gradient at all then."""
    return _heat_map(maps, "zero", 1e-3 if sharpened else LEFT)


@claim(
    "figure-3/fixed-query",
    "Section 4, Figure 3",
    f"{_HEAT}, with one Gaussian x_query for all samples.",
    assumes=(CONVERGES,),
    on=HEAT_MAPS,
    sharpened="to a thousandth",
)
def fixed_query(maps: Cases[HeatMap], sharpened: bool) -> Sequence[Judgement]:
    """Only one direction of the first d columns of W has a gradient."""
    return _heat_map(maps, "fixed", 1e-3 if sharpened else LEFT)


@claim(
    "figure-3/random-query",
    "Section 4, Figure 3",
    f"{_HEAT}, with a fresh Gaussian x_query for every sample.",
    assumes=(CONVERGES,),
    on=HEAT_MAPS,
    sharpened="to a thousandth",
)
def random_query(maps: Cases[HeatMap], sharpened: bool) -> Sequence[Judgement]:
    """What stays is gradient noise."""
    return _heat_map(maps, "random", 1e-3 if sharpened else LEFT)


@claim(
    "figure-8",
    "Appendix F.5, Figure 8",
    "With a fresh x_query for every sample this happens gradually: every other block shrinks from "
    "the start to step 500, and from there to the end.",
    assumes=(CONVERGES,),
    on=HEAT_MAPS,
    sharpened="it has happened after 500 steps",
)
def figure_8(maps: Cases[HeatMap], sharpened: bool) -> Sequence[Judgement]:
    """At the moments of the figure, but for step 100, where the loss is still on its plateau."""
    wanted = [found for found in maps if found.name == "random"]
    if not wanted:
        return [Judgement("other entries", Status.UNDECIDED, "training diverged")]
    found = wanted[0]
    sizes = np.array(list(found.blocks.values()))[:, [0, -2, -1]]
    before, after = sizes[:, :-1], sizes[:, 1:]
    if sharpened:
        before, after = LEFT * sizes[:, :1], sizes[:, 1:2]
    steps = np.array(found.steps)[[-2, -1]][: after.shape[1]]
    return [at_least("size before", before, after, steps=steps, names=list(found.blocks))]

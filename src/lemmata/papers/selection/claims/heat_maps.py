"""Section 4 and Appendix F.5: what Figures 3 and 8 say about the entries of W and V."""

import numpy as np

from lemmata.claims import Comparison, Silence, at_least, at_most, statements
from lemmata.settings import Evidence

from ..experiments.heat_maps import HEAT_MAPS, HeatMap
from ..setting import CONVERGES

claim = statements(
    "selection",
    hypotheses=(CONVERGES,),
    on=HEAT_MAPS,
    unbreakable="it is about the runs of a figure",
)

LEFT = 0.1
"""Of a block's first size, for one that goes to 0; what gradient noise leaves is less."""

_HEAT = (
    "After training from random weights W is a multiple of the identity between positions and V on "
    "tokens, and all other entries have gone to 0 (root mean squares to a tenth of the start)"
)


@claim(
    "figure-3/random-query",
    "Section 4, Figure 3",
    f"{_HEAT}, with a fresh Gaussian x_query for every sample.",
    query="random",
)
@claim(
    "figure-3/fixed-query",
    "Section 4, Figure 3",
    f"{_HEAT}, with one Gaussian x_query for all samples.",
    kind="hypothesis",
    query="fixed",
)
@claim(
    "figure-3/zero-query",
    "Section 4, Figure 3",
    f"{_HEAT}, with x_query = 0.",
    kind="hypothesis",
    query="zero",
)
def other_entries_vanish(maps: Evidence[HeatMap], query: str) -> list[Comparison]:
    """Blocks shrink, and the two diagonal ones end as multiples of the identity.

    With x_query = 0 the first d columns of W have no gradient at all; with one x_query for all
    samples only one direction of them has one; with fresh ones what stays is gradient noise.
    """
    wanted = maps.where(lambda case: case.name == query).cases
    if not wanted:
        return [Silence(f"training with x_query {query} diverged", part="other entries")]
    trained = wanted[0]
    sizes = np.array([rows[[0, -1]] for rows in trained.blocks.values()])
    off_identity = [trained.blocks[name][-1] for name in list(trained.blocks)[3:5]]
    return [
        at_most(
            sizes[:, 1:],
            LEFT * sizes[:, :1],
            part="size of a block at the end",
            cases=list(trained.blocks),
            places=trained.steps[-1:],
        ),
        at_least(
            np.array([[trained.C[-1]], [trained.alpha[-1]]]),
            10 * np.array(off_identity)[:, None],
            part="ten times what is off the identity",
            cases=["W", "V"],
            places=trained.steps[-1:],
        ),
    ]


@claim(
    "section-4/scale-of-v",
    "Section 4",
    "V converges to [I 0] itself, with factor 1: with a fresh x_query for every sample its mean "
    "diagonal on tokens ends within a fifth of 1.",
)
def scale_of_v(maps: Evidence[HeatMap]) -> list[Comparison]:
    wanted = maps.where(lambda case: case.name == "random").cases
    if not wanted:
        return [Silence("training diverged", part="alpha")]
    alpha = wanted[0].alpha[-1:]
    return [
        at_most(alpha, 1.2, part="alpha from above", cases=["V"]),
        at_least(alpha, 0.8, part="alpha from below", cases=["V"]),
    ]


@claim(
    "figure-8",
    "Appendix F.5, Figure 8",
    "With a fresh x_query for every sample this happens gradually: every other block shrinks from "
    "the start to step 500, and from there to the end.",
)
def figure_8(maps: Evidence[HeatMap]) -> Comparison:
    """At the moments of the figure, but for step 100, where the loss is still on its plateau."""
    wanted = maps.where(lambda case: case.name == "random").cases
    if not wanted:
        return Silence("training diverged", part="other entries")
    trained = wanted[0]
    sizes = np.array(list(trained.blocks.values()))[:, [0, -2, -1]]
    return at_most(
        sizes[:, 1:],
        sizes[:, :-1],
        part="size of a block, before and after",
        cases=list(trained.blocks),
        places=trained.steps[-2:],
    )

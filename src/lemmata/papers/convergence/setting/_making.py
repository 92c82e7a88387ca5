"""Datasets by their sizes, for sweeps."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lemmata.settings import Parameter
from lemmata.tokens import skewed

from ._dataset import Dataset
from ._generators import Realizable, generate

USUAL = Realizable()

PARAMETERS = (
    Parameter("K", "|V|, the number of tokens", USUAL.vocabulary),
    Parameter("L", "the longest sentence", USUAL.longest),
    Parameter("cycles", "of the collocation", USUAL.cycles),
    Parameter("reflect", "how often an earlier token is optimal", USUAL.reflect, float),
    Parameter("skew", "how much more often the first sample occurs than the last", 1.0, float),
)


def make(sizes: Mapping[str, Any], seed: int) -> Dataset:
    """Realizable data, as in Figure 2."""
    chosen = {parameter.name: parameter.usual for parameter in PARAMETERS} | dict(sizes)
    recipe = Realizable(
        chosen["K"], cycles=chosen["cycles"], reflect=chosen["reflect"], longest=chosen["L"]
    )
    (drawn,) = generate(recipe, 1, seed)
    frequency = skewed(chosen["skew"], len(drawn.data.samples))
    return drawn if frequency is None else replace(drawn, log_frequency=frequency)

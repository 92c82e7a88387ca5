"""Datasets by their sizes, for sweeps."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lemmata.settings import Parameter
from lemmata.tokens import skewed

from ._dataset import Dataset
from ._generators import ACYCLIC, KINDS, LABELS, Recipe

PARAMETERS = (
    Parameter("K", "the number of tokens", ACYCLIC.K),
    Parameter("d", "the dimension of their embeddings", ACYCLIC.d),
    Parameter("n", "the number of samples", ACYCLIC.n),
    Parameter("T", "the length of a sequence; usually K at most", ACYCLIC.T),
    Parameter("kind", "with ties, without, or any", "any", str, KINDS),
    Parameter("labels", "how labels are drawn", "uniform", str, LABELS),
    Parameter("rho", "the correlation of all embeddings; usually random ones", None, float),
    Parameter("skew", "how much more often the first sample occurs than the last", 1.0, float),
    Parameter("scale", "a factor of all embeddings", 1.0, float),
)


def make(sizes: Mapping[str, Any], seed: int) -> Dataset:
    """A dataset as the authors draw it, from W(0) = 0; tokens are repeated if T exceeds K."""
    chosen = {parameter.name: parameter.usual for parameter in PARAMETERS} | dict(sizes)
    if "T" not in sizes:
        chosen["T"] = min(chosen["T"], chosen["K"])
    recipe = Recipe(
        **{name: chosen[name] for name in ("K", "d", "n", "T", "kind", "labels", "rho")},
        repeated=chosen["T"] > chosen["K"],
    )
    drawn = recipe.draw(f"seed {seed}", np.random.default_rng(seed))
    assert drawn.embeddings is not None
    return replace(
        drawn,
        embeddings=chosen["scale"] * drawn.embeddings,
        initial_weights=None,
        log_frequency=skewed(chosen["skew"], len(drawn.data.samples)),
    )

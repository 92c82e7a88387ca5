"""Far beyond the last step: runs of stage 2 that keep the direction of their first step.

From zero the first step is η u. If the gradient at every s u is parallel to u, then W_kq(t) = t η u
for all t, and the bounds of the paper can be asked where they begin to speak.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from flint import arb, arb_mat
from jaxtyping import Array, Float

from lemmata.attention import Inputs, attention_gradient, cosine_gap, value_margins
from lemmata.tokens import Role
from lemmata.training import compiled_briefly

from ._batch import Batch
from ._dataset import Dataset
from ._hypotheses import REALIZABLE
from ._probes import OrderProbe

FAR = 10.0 ** np.arange(4, 11)
"""Steps that no training reaches."""

PER_DECADE = 8
GRID = 10.0 ** (np.arange(10 * PER_DECADE + 1) / PER_DECADE)
"""Where the gradient is looked at on the way; the last of ``FAR`` is the end."""

PARALLEL = 64 * np.finfo(float).eps
"""A gradient that turns by no more than rounding."""


def far_ahead(
    datasets: Sequence[Dataset],
    values: Float[np.ndarray, "datasets tokens vocabulary"],
    rates: Float[np.ndarray, "datasets"],
) -> dict[str, Float[np.ndarray, "datasets far"]]:
    """Stage 2 at the steps ``FAR``, with W_ov frozen; NaN where it has left its first direction."""
    batch = Batch([d.plain for d in datasets])
    columns = _rays(
        batch.inputs, batch.probe, batch.target_kq, jax.device_put(values), jax.device_put(rates)
    )
    plain = np.array([[d.embeddings is None] for d in datasets])
    return {name: np.where(plain, np.asarray(grid), np.nan) for name, grid in columns.items()}


def _ray(
    inputs: Inputs,
    probe: OrderProbe,
    target: Float[Array, "cells"],
    values: Float[Array, "tokens vocabulary"],
    rate: Float[Array, ""],
) -> dict[str, Float[Array, "far"]]:
    """One dataset."""
    margins = value_margins(inputs, values)
    ray = -attention_gradient(inputs, margins, jnp.zeros_like(target)).gradient.unit

    def at(reach: Float[Array, ""]) -> dict[str, Float[Array, ""]]:
        found = attention_gradient(inputs, margins, reach * ray)
        return {
            "turn": jnp.max(jnp.abs(found.gradient.unit + ray)),
            "ray_gap": cosine_gap(reach * ray, target),
            "ray_log_odds": probe(reach * ray, reach * ray)["smallest_log_odds"],
            "ray_log_loss": found.log_loss,
        }

    columns = jax.lax.map(at, rate * GRID)
    kept = jax.lax.cummax(columns.pop("turn")) <= PARALLEL
    far = PER_DECADE * np.log10(FAR).astype(int)
    return {name: jnp.where(kept, column, jnp.nan)[far] for name, column in columns.items()}


_rays = compiled_briefly(jax.vmap(_ray))


Pull = tuple[arb, int, int]
"""Of an input: π, and the numbers of its optimal and of its other positions."""


def enclosed(
    dataset: Dataset, margin: arb, rate: arb, steps: Float[np.ndarray, "steps"] = FAR
) -> list[arb_mat] | None:
    """W_kq at these steps in balls, where one query of two tokens leads for so long.

    Every margin of W_ov is ``margin``. An input with p on its optimal token pulls the gap of its
    query by 2 π margin p(1 − p) σ(−margin (2p − 1)), which falls as p ≥ 1/2 grows, and is at most
    π margin/2. So if a query leads at the end of the way even though the other one pulls as it
    can at most, ε times as much, it leads all the way: of every step its gap gets at least 1 − ε²,
    and the other one at most ε.
    """
    pulls = _pulls(dataset)
    if pulls is None:
        return None
    lead, rest = sorted(
        pulls, key=lambda q: -max((float(p[0].log()) for p in pulls[q]), default=-np.inf)
    )
    sign = 1 if dataset.orders.having(lead, Role.OPTIMAL)[0] == 0 else -1
    most = sum((pi * margin / 2 for pi, _, _ in pulls[rest]), arb(0))
    matrices = []
    for t in steps:
        reach = arb(t) * rate * arb(2).sqrt()
        ratio = most / sum((_pull(pull, reach, margin) for pull in pulls[lead]), arb(0))
        gaps = {
            lead: sign * reach * (1 - ratio**2 * arb(0.5, 0.5)),
            rest: reach * ratio * arb(0, 1),
        }
        W = arb_mat(2, 2)
        for query, gap in gaps.items():
            W[0, query], W[1, query] = gap / 2, -gap / 2
        matrices.append(W)
    return matrices


def _pulls(dataset: Dataset) -> dict[int, list[Pull]] | None:
    """The inputs of each query that have a choice; None if the argument does not apply."""
    choices = [s for s in dataset.data.samples if len(set(s.tokens)) > 1]
    fits = dataset.K == 2 and dataset.embeddings is None and choices
    if (
        not fits
        or dataset.initial_values is not None
        or REALIZABLE.broken(dataset.problems)
        or dataset.broken("assumption_3")
    ):
        return None
    pulls: dict[int, list[Pull]] = {0: [], 1: []}
    for sample, pi in zip(dataset.data.samples, frequencies(dataset), strict=True):
        chosen = dataset.orders.selected(sample)
        optimal = sum(token in chosen for token in sample.tokens)
        if len(set(sample.tokens)) > 1:
            pulls[sample.query].append((pi, optimal, len(sample.tokens) - optimal))
    return pulls


def frequencies(dataset: Dataset) -> list[arb]:
    """π in balls."""
    weights = [arb(sample.count) for sample in dataset.data.samples]
    if dataset.log_frequency is not None:
        weights = [arb(float(log)).exp() for log in dataset.log_frequency]
    return [weight / sum(weights, arb(0)) for weight in weights]


def _pull(pull: Pull, gap: arb, margin: arb) -> arb:
    """The derivative of the loss of an input in the gap of its query, without its sign."""
    pi, optimal, others = pull
    odds = optimal * gap.exp() / others
    right, wrong = odds / (1 + odds), 1 / (1 + odds)
    return 2 * pi * margin * right * wrong / (1 + (margin * (right - wrong)).exp())

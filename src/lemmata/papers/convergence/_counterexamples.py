"""Datasets within a statement's literal hypotheses that break it, and what to compute there."""

import jax.numpy as jnp
import numpy as np

from lemmata.attention import attention_gradient, pack, value_margins
from lemmata.papers.convergence import theory
from lemmata.papers.convergence.setting import Dataset
from lemmata.tokens import TokenData


def shared_next_token() -> Dataset:
    """Three tokens share a next token, and the loss vanishes all the same."""
    sentences = ["y q q", "z q q", "w x q q", "q x", "x q"]
    return Dataset.from_sentences("shared-next-token", [s.split() for s in sentences])


def label_out_of_reach() -> Dataset:
    """Assumption 1 as printed holds, but two inputs lack the preimage of their next token.

    Definition 1 assigns nothing to them, so it does not notice; the order under 1 then has two
    optimal tokens of different reach.
    """
    return Dataset.from_sentences(
        "label-out-of-reach", [s.split() for s in ["2 1 1", "4 3 0 1 0", "0 0", "1 2", "3 4"]]
    )


def outnumbered() -> Dataset:
    """Assumption 3 fails: one frequent input is dominated by its non-optimal tokens."""
    rows = [
        (["a"], "b", 1, "pair"),
        (["b"], "c", 1, "pair"),
        (["c"], "a", 1, "pair"),
        (["a", *"b" * 6, *"c" * 30], "b", 1000, "frequent"),
        (["a", "b", "b", "c"], "b", 1, "rare"),
    ]
    return Dataset("outnumbered", TokenData.from_samples(rows))


def vanishing_loss(dataset: Dataset) -> dict[str, float]:
    """The log-loss at (s W_ov*, s W_kq*) for growing s."""
    inputs = pack([dataset.data])
    one = type(inputs)(*(jnp.asarray(leaf[0]) for leaf in vars(inputs).values()))
    values, weights = dataset.value_margin.weights, dataset.attention_margin.weights
    assert values is not None
    assert weights is not None
    cells = jnp.asarray(weights[one.cell_token, one.cell_query])
    losses = {}
    for scale in (10.0, 100.0, 1000.0):
        margins = value_margins(one, jnp.asarray(scale * values.T))
        found = attention_gradient(one, margins, scale * cells)
        losses[f"{scale:g}"] = float(found.log_loss)
    return losses


def skewed_frequencies(log_frequency: float = -1e9) -> dict[str, float]:
    """Theorem 1 on {aba, bab} when the input [b a] has frequency e^-1e9.

    At every point of the ray W = s u, with u the first step's direction, the gradient is
    parallel to u (``turn`` is the largest difference), because its other part is smaller by a
    factor e^-1e9 or so. So the iterates are t eta u, and their cosine with W_kq* is that of u.
    """
    dataset = Dataset.from_sentences("aba-bab", ["aba", "bab"])
    inputs = pack([dataset.data])
    rare = [i for i, s in enumerate(dataset.data.samples) if dataset.data.show(s)[:5] == "[b a]"]
    inputs.log_frequency[0, rare] = log_frequency
    one = type(inputs)(*(jnp.asarray(leaf[0]) for leaf in vars(inputs).values()))
    target_ov, target_kq = dataset.value_margin.weights, dataset.attention_margin.weights
    assert target_ov is not None
    assert target_kq is not None
    margins = value_margins(one, 100 * jnp.asarray(target_ov.T))
    start = attention_gradient(one, margins, jnp.zeros(one.cell_token.shape))
    ray = -np.asarray(start.gradient.unit)
    eta, steps = 1 / np.e, 1e8
    turn = 0.0
    for size in np.geomspace(eta, steps * eta, 40):
        here = attention_gradient(one, margins, jnp.asarray(size * ray))
        turn = max(turn, float(np.abs(np.asarray(here.gradient.unit) + ray).max()))
    target = target_kq[np.asarray(one.cell_token), np.asarray(one.cell_query)]
    cosine = float(ray @ target / np.linalg.norm(target))
    bound = theory.attention_cosine_bound(steps, eta, dataset.norm_kq, dataset.N, dataset.L_max)
    return {
        "log_frequency": log_frequency,
        "eta": eta,
        "t": steps,
        "turn": turn,
        "cosine": cosine,
        "bound": float(bound),
    }

"""Datasets within a statement's literal hypotheses that break it, and what to compute there."""

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from lemmata.attention import Inputs, attention_gradient, pack, value_margins

from .setting import Dataset


def shared_next_token() -> Dataset:
    """Three tokens share a next token, and the loss vanishes all the same."""
    sentences = ["y q q", "z q q", "w x q q", "q x", "x q"]
    return Dataset.from_sentences("shared-next-token", [s.split() for s in sentences])


def shared_by_two() -> Dataset:
    """Two tokens share a next token, and the loss vanishes all the same."""
    return Dataset.from_sentences("aa, baa", ["aa", "baa"])


def confused() -> Dataset:
    """Under b, a beats b and b beats c: b is confused, against Assumption 1."""
    return Dataset.from_sentences("abb, bc, cbc", ["abb", "bc", "cbc"])


def label_out_of_reach() -> Dataset:
    """Assumption 1 as printed holds, but two inputs lack the preimage of their next token.

    Definition 1 assigns nothing to them, so it does not notice; the order under 1 then has two
    optimal tokens of different reach.
    """
    return Dataset.from_sentences(
        "label-out-of-reach", [s.split() for s in ["2 1 1", "4 3 0 1 0", "0 0", "1 2", "3 4"]]
    )


def stuck() -> Dataset:
    """W_kq(0) prefers two tokens under c that are not optimal: attention swings between them."""
    plain = Dataset.from_sentences("abca, bc, ca from another start", ["abca", "bc", "ca"])
    start = np.zeros((3, 3))
    a, b, c = (plain.data.vocabulary.index(word) for word in "abc")
    start[a, c], start[b, c] = 20.0, 20.3
    return replace(plain, embeddings=np.eye(3), initial_weights=start)


def skewed(log_pi: float) -> Dataset:
    """The sentences aba and bab, where the logarithm of the frequency of [b a] is given."""
    name = f"aba, bab with log π([b a]) = {log_pi:g}"
    plain = Dataset.from_sentences(name, ["aba", "bab"])
    rare = [[plain.data.name(x) for x in s.tokens] == ["b", "a"] for s in plain.data.samples]
    return replace(plain, log_frequency=np.where(rare, log_pi, np.log(plain.data.frequencies)))


def vanishing_loss(
    dataset: Dataset, scales: Float[np.ndarray, "scales"]
) -> Float[np.ndarray, "scales"]:
    """The log-loss at (s W_ov*, s W_kq*) for growing s."""
    inputs = _packed(dataset)
    values, weights = dataset.value_margin.weights, dataset.attention_margin.weights
    assert values is not None
    assert weights is not None
    cells = jnp.asarray(weights[inputs.cell_token, inputs.cell_query])

    @jax.jit
    def log_loss(scale: jax.Array) -> jax.Array:
        margins = value_margins(inputs, scale * jnp.asarray(values.T))
        return attention_gradient(inputs, margins, scale * cells).log_loss

    return np.array([float(log_loss(jnp.asarray(scale))) for scale in scales])


@dataclass(frozen=True)
class Ray:
    """Normalized descent that never leaves the direction of its first step.

    Attributes:
        t, eta: how far the ray was followed.
        turn: how far the gradient turns on the way, at most.
        cosine: of the direction with W_kq*.
    """

    t: float
    eta: float
    turn: float
    cosine: float


def follow_first_step(dataset: Dataset, t: float = 1e8, eta: float = 1 / np.e) -> Ray:
    """The iterates are t eta u as long as the gradient at s u is parallel to u.

    On ``skewed`` it is, because the other part of the gradient is smaller by a factor e^-1e9 or
    so.
    """
    inputs = _packed(dataset)
    target_ov, target_kq = dataset.value_margin.weights, dataset.attention_margin.weights
    assert target_ov is not None
    assert target_kq is not None
    margins = value_margins(inputs, 100 * jnp.asarray(target_ov.T))
    descent = jax.jit(lambda cells: -attention_gradient(inputs, margins, cells).gradient.unit)
    ray = np.asarray(descent(jnp.zeros(inputs.cell_token.shape)))
    sizes = np.geomspace(eta, t * eta, 40)
    turn = max(float(np.abs(np.asarray(descent(size * ray)) - ray).max()) for size in sizes)
    target = target_kq[np.asarray(inputs.cell_token), np.asarray(inputs.cell_query)]
    return Ray(t, eta, turn, float(ray @ target / np.linalg.norm(target)))


def _packed(dataset: Dataset) -> Inputs:
    batch = pack([dataset.data])
    if dataset.log_frequency is not None:
        batch.log_frequency[0] = dataset.log_frequency
    return type(batch)(*(jnp.asarray(leaf[0]) for leaf in vars(batch).values()))

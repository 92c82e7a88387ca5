"""Heads and losses: what turns attention into scores, and scores into a loss."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from lemmata._errors import InputError, unknown_name
from lemmata.attention import FLAT, LINEAR, LOG, SQUARED, Shape

from ._dataset import Dataset


def _exponential_excess(top: Array, log_gap: Array) -> Array:
    """log(e^-u - e^-top) = log(e^v - 1) - top, which is log v - top for a small gap v."""
    gap, small = jnp.exp(log_gap), log_gap < -40
    return jnp.where(small, log_gap, gap + jnp.log(-jnp.expm1(-gap))) - top


EXPONENTIAL = Shape(
    "exponential",
    lambda top, log_gap: (jnp.ones_like(top), jnp.exp(log_gap) - top),
    _exponential_excess,
)

SHAPES = {
    "log": LOG,
    "squared": SQUARED,
    "linear": LINEAR,
    "exponential": EXPONENTIAL,
    "flat": FLAT,
}
"""Losses of the label's score u: -log u, (1 - u)^2, -u, e^-u, and arctan(u - 1) - (u - 1)."""

UNIT_SCORE = 1e-12
"""A label's score this close to 1 is 1, as it is for unit embeddings and the head C = E."""

LOSSES = (*SHAPES, "softmax-squared", "cross-entropy")

OTHER_NAMES = {"mse": "squared", "corr": "linear"}
"""What the authors' program calls losses of the label's score."""

HEADS = ("identity", "embedding")

Loss = str | Shape
"""One of LOSSES, or a loss of the user's own."""

Head = str | Float[np.ndarray, "tokens dimension"]
"""One of HEADS, or the matrix C."""


def checked_loss(loss: Loss) -> Loss:
    """A name that is known, by its usual spelling, or a loss of the user's own."""
    if isinstance(loss, str) and loss not in (*LOSSES, *OTHER_NAMES):
        known = (*LOSSES, *OTHER_NAMES)
        raise InputError(f"{unknown_name('loss', loss, known)}; own_loss makes others")
    return OTHER_NAMES.get(loss, loss) if isinstance(loss, str) else loss


def check_head(head: Head) -> None:
    """A name that is known, or a matrix."""
    if isinstance(head, str) and head not in HEADS:
        raise InputError(f"{unknown_name('head', head, HEADS)}; or give the matrix C")


def is_identity(head: Head) -> bool:
    """Whether the head satisfies C E^T = I."""
    return isinstance(head, str) and head == "identity"


def shape_of(loss: Loss) -> Shape:
    """A loss of the label's score as a function."""
    return loss if isinstance(loss, Shape) else SHAPES[loss]


def check_scores(name: str, shape: Shape, scores: np.ndarray, top: np.ndarray) -> None:
    """The log loss needs positive scores, the squared loss scores of at most 1."""
    if shape is LOG and scores.min() < 0:
        raise InputError(f"{name}: the head gives negative scores, of which there is no log")
    if shape is SQUARED and top.max() > 1:
        raise InputError(
            f"{name}: the head scores a label {top.max():.4g}, beyond 1, where the squared "
            "loss grows again (Assumption 1); scale the head"
        )


def takes_softmax(loss: Loss) -> bool:
    """Whether the scores go through a softmax before the loss."""
    return isinstance(loss, str) and loss in ("softmax-squared", "cross-entropy")


def scores(dataset: Dataset, head: Head) -> Float[np.ndarray, "labels tokens"]:
    """C E^T."""
    if isinstance(head, str):
        return np.eye(dataset.K) if head == "identity" else dataset.E @ dataset.E.T
    if head.shape != dataset.E.shape:
        raise InputError(
            f"{dataset.name}: the head has shape {head.shape}; it needs one row a token and "
            f"the dimension of the embeddings, {dataset.E.shape}"
        )
    return head @ dataset.E.T

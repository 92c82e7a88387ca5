"""Heads and losses: what turns attention into scores, and scores into a loss."""

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError, unknown_name
from lemmata.attention import Shape

from ._dataset import Dataset

LOSSES = ("log", "squared", "softmax-squared", "cross-entropy")
HEADS = ("identity", "embedding")

Loss = str | Shape
"""One of LOSSES, or a loss of the user's own."""

Head = str | Float[np.ndarray, "tokens dimension"]
"""One of HEADS, or the matrix C."""


def check_loss(loss: Loss) -> None:
    """A name that is known, or a loss of the user's own."""
    if isinstance(loss, str) and loss not in LOSSES:
        raise InputError(f"{unknown_name('loss', loss, LOSSES)}; own_loss makes others")


def check_head(head: Head) -> None:
    """A name that is known, or a matrix."""
    if isinstance(head, str) and head not in HEADS:
        raise InputError(f"{unknown_name('head', head, HEADS)}; or give the matrix C")


def is_identity(head: Head) -> bool:
    """Whether the head satisfies C E^T = I."""
    return isinstance(head, str) and head == "identity"


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

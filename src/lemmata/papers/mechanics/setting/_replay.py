"""Descent again, in ball arithmetic: dense matrices, position by position, as the paper writes.

It shares no code with training. Every number is a ball that contains the true value, so that what
it says of the sign of a difference is proved.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat
from jaxtyping import Int

from lemmata.settings import BallAdam, Balls, as_balls, dot

from ._ball_losses import BallLoss, ball_loss
from ._dataset import Dataset
from ._enclosures import TiedBalls, direction_ball, length, tied_balls
from ._training import Training

REPLAYED = ("gd", "ngd", "adam")


@dataclass(frozen=True)
class Point:
    """An iterate, with the loss and its gradient there, the iterate after it, and the mean
    attention that is not on the label.
    """

    W: arb_mat
    loss: arb
    slope: arb_mat
    following: arb_mat
    missed: arb


def replay(
    dataset: Dataset, training: Training, rate: float, steps: Int[np.ndarray, "records"]
) -> Balls | None:
    """The columns at the recorded steps, for descent and Adam; None for other trainings.

    A column that cannot be enclosed is left out: those of W^cyc where embeddings are dependent,
    and those of W^mm where there is none.
    """
    losses = ball_loss(dataset, training)
    if training.algorithm not in REPLAYED or losses is None:
        return None
    target, ties = direction_ball(dataset), tied_balls(dataset)
    wanted = set(steps.tolist())
    records = [
        _measure(point, target, ties)
        for step, point in enumerate(_iterates(dataset, losses, training, rate, int(steps[-1])))
        if step in wanted
    ]
    columns = {
        name: np.array([record[name] for record in records], dtype=object) for name in records[0]
    }
    return {**columns, "rate": np.array([arb(rate)], dtype=object)}


def _iterates(
    dataset: Dataset, losses: Sequence[BallLoss], training: Training, rate: float, last: int
) -> Iterator[Point]:
    """W(0), W(1), ..., as far as the last step asked for."""
    E = None if dataset.embeddings is None else as_balls(dataset.embeddings)
    size = dataset.E.shape[1]
    start = dataset.initial_weights
    W = arb_mat(size, size) if start is None else as_balls(start)
    rule = BallAdam(size, size) if training.algorithm == "adam" else None
    for _ in range(last + 1):
        loss, slope, missed = _evaluate(W, E, losses, dataset.K)
        move = _unscaled(slope, training) if rule is None else rule.move(slope)
        following = W - move * arb(rate)
        yield Point(W, loss, slope, following, missed)
        W = following


def _unscaled(slope: arb_mat, training: Training) -> arb_mat:
    """The gradient, or with normalized descent its direction."""
    by = length(slope)
    if training.algorithm == "gd" or by.is_zero():
        return slope
    return slope * (1 / (by + training.epsilon))


def _evaluate(
    W: arb_mat, E: arb_mat | None, losses: Sequence[BallLoss], K: int
) -> tuple[arb, arb_mat, arb]:
    """The mean loss, its gradient in W (a number for each token and query, pulled back), and the
    mean attention that is not on the label.
    """
    logits = W if E is None else E * W * E.transpose()
    total, pulls = sum((each.weight for each in losses), arb(0)), arb_mat(K, K)
    value = missed = arb(0)
    for each in losses:
        powers = [logits[token, each.query].exp() for token in each.tokens]
        whole = sum(powers, arb(0))
        attention = [power / whole for power in powers]
        loss, slopes = each.evaluate(attention)
        value += loss * each.weight
        off = [a for a, t in zip(attention, each.tokens, strict=True) if t != each.label]
        missed += sum(off, arb(0)) * each.weight
        for token, slope in zip(each.tokens, slopes, strict=True):
            pulls[token, each.query] += slope * each.weight
    slope = pulls if E is None else E.transpose() * pulls * E
    return value / total, slope * (arb(1) / total), missed / total


def _measure(point: Point, target: arb_mat | None, ties: TiedBalls | None) -> dict[str, arb]:
    """What training records of an iterate."""
    norm, by = length(point.W), length(point.slope)
    record = {
        "log_loss": point.loss.log(),
        "norm": norm,
        "log_gradient_norm": by.log(),
        "log_missed": point.missed.log(),
        "descent_on_weights": -dot(point.slope, point.W) / (by * norm),
    }
    if target is not None:
        goal = length(target)
        cosine = dot(point.W, target) / (norm * goal)
        record |= {
            "correlation": cosine,
            "one_minus_correlation": 1 - cosine,
            "descent_on_target": -dot(point.slope, target) / (by * goal),
        }
    if ties is not None:
        inside, after = ties.project(point.W), ties.project(point.following)
        record |= {
            "cyclic_distance": length(inside - ties.limit),
            "midpoint_distance": length((inside + after) * (arb(1) / 2) - ties.limit),
            "free_norm": length(point.W - inside),
        }
    return record

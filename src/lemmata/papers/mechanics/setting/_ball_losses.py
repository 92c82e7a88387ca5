"""The losses of one sample in ball arithmetic, with their slopes in the logits."""

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flint import arb, arb_mat

from lemmata.attention import FLAT, LINEAR, LOG, SQUARED
from lemmata.settings import as_balls
from lemmata.tokens import Sample

from ._dataset import Dataset
from ._enclosures import ball_weights, realizable_weights
from ._heads import EXPONENTIAL, is_identity, shape_of, takes_softmax
from ._training import Training


@dataclass(frozen=True)
class BallLoss(abc.ABC):
    """The loss of a sample with its ``weight``, how often it occurs.

    ``scores`` has C E^T as columns: what each position adds to the score of every token.
    """

    tokens: tuple[int, ...]
    query: int
    label: int
    weight: arb
    scores: list[list[arb]]

    @abc.abstractmethod
    def evaluate(self, attention: Sequence[arb]) -> tuple[arb, list[arb]]:
        """The loss, counted from its infimum where that is attained at the label, and its
        derivative in the logit of each position.
        """


@dataclass(frozen=True)
class BallScore(BallLoss):
    """l(u) of the label's score u; ``shape`` gives l(u) - l(top) and -l'(u) from u and top - u."""

    shape: Callable[[arb, arb, arb], tuple[arb, arb]]

    def evaluate(self, attention: Sequence[arb]) -> tuple[arb, list[arb]]:
        own = [column[self.label] for column in self.scores]
        top = next(s for s, t in zip(own, self.tokens, strict=True) if t == self.label)
        short = [
            arb(0) if t == self.label else top - s for s, t in zip(own, self.tokens, strict=True)
        ]
        u, gap = _mean(attention, own), _mean(attention, short)
        excess, down = self.shape(u, gap, top)
        # u - s and (top - s) - (top - u) are the same: the one of the two that does not cancel
        above = [u if s.is_zero() else less - gap for s, less in zip(own, short, strict=True)]
        return excess, [down * a * b for a, b in zip(attention, above, strict=True)]


@dataclass(frozen=True)
class BallSoftmax(BallLoss):
    """Cross-entropy of the softmax of all scores, or (1 - the label's share)^2."""

    squared: bool

    def evaluate(self, attention: Sequence[arb]) -> tuple[arb, list[arb]]:
        ahead = [
            [s - column[self.label] for k, s in enumerate(column) if k != self.label]
            for column in self.scores
        ]
        odds = [_mean(attention, others).exp() for others in zip(*ahead, strict=True)]
        against = sum(odds, arb(0))
        share = 1 / (1 + against)
        missed = against * share
        factor = 2 * missed * share * share if self.squared else share
        pulls = [
            factor * sum((p * s for p, s in zip(odds, others, strict=True)), arb(0))
            for others in ahead
        ]
        mean = _mean(attention, pulls)
        loss = missed * missed if self.squared else against.log1p()
        return loss, [a * (pull - mean) for a, pull in zip(attention, pulls, strict=True)]


def ball_loss(dataset: Dataset, training: Training) -> list[BallLoss] | None:
    """A loss for each sample that is trained on; None for a loss of the user's own."""
    shape = None
    if not takes_softmax(training.loss):
        known = shape_of(training.loss)
        if known not in BALL_SHAPES:
            return None
        shape = BALL_SHAPES[known]
    identity = is_identity(training.head)
    table = _scores(dataset, training)
    samples = (dataset.realizable if identity else dataset.data).samples
    weights = (realizable_weights if identity else ball_weights)(dataset)

    def columns(sample: Sample) -> list[list[arb]]:
        return [[table[k, token] for k in range(dataset.K)] for token in sample.tokens]

    fields = [
        (s.tokens, s.query, s.label, weight, columns(s))
        for s, weight in zip(samples, weights, strict=True)
    ]
    if shape is None:
        return [BallSoftmax(*each, training.loss == "softmax-squared") for each in fields]
    if any(sample.label not in sample.tokens for sample in samples):
        return None
    return [BallScore(*each, shape) for each in fields]


def _scores(dataset: Dataset, training: Training) -> arb_mat:
    """C E^T."""
    if is_identity(training.head):
        return _unit(dataset.K)
    E = _unit(dataset.K) if dataset.embeddings is None else as_balls(dataset.embeddings)
    C = E if isinstance(training.head, str) else as_balls(training.head)
    return C * E.transpose()


def _unit(size: int) -> arb_mat:
    return arb_mat([[arb(int(i == j)) for j in range(size)] for i in range(size)])


def _mean(attention: Sequence[arb], values: Sequence[arb]) -> arb:
    return sum((a * value for a, value in zip(attention, values, strict=True)), arb(0))


def _log(u: arb, gap: arb, top: arb) -> tuple[arb, arb]:
    near = gap < u
    return (-(-gap / top).log1p() if near else (top / u).log()), 1 / u


def _squared(u: arb, gap: arb, top: arb) -> tuple[arb, arb]:
    short = 1 - top
    return gap * (gap + 2 * short), 2 * (gap + short)


def _linear(u: arb, gap: arb, top: arb) -> tuple[arb, arb]:
    return gap, arb(1)


def _flat(u: arb, gap: arb, top: arb) -> tuple[arb, arb]:
    """arctan(u - 1) - (u - 1)."""
    short = 1 - top
    rest = short + gap
    excess = (rest - rest.atan()) - (short - short.atan())
    return excess, rest * rest / (1 + rest * rest)


def _exponential(u: arb, gap: arb, top: arb) -> tuple[arb, arb]:
    return gap.expm1() * (-top).exp(), (-u).exp()


BALL_SHAPES = {
    LOG: _log,
    SQUARED: _squared,
    LINEAR: _linear,
    EXPONENTIAL: _exponential,
    FLAT: _flat,
}
"""Losses of the label's score."""

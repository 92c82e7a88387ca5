"""Losses of attention that predicts with a fixed head, each with its gradient in the log domain.

A head C gives token x the score gamma_x = c_y^T e_x for label y, and attention with masses M has
the score u = sum_x M_x gamma_x. With the identity head (C E^T = I) u is the mass on the label. The
losses l(u) are written in terms of the *gap* v = gamma_y - u = sum_x M_x (gamma_y - gamma_x), whose
logarithm is known exactly when u itself has rounded to gamma_y.
"""

import abc
from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import nn
from jax.scipy.special import logsumexp
from jaxtyping import Array, Bool, Float

from ._attend import log_mass, slot_logits
from ._gradients import (
    Evaluation,
    attention_gradient,
    collect,
    finite,
    pair_gradient,
    squared_gradient,
)
from ._inputs import Inputs
from ._scaled import LogScaled, log_softplus

Batch = Float[Array, "inputs"]


class AbstractLoss(eqx.Module):
    """A loss of the attention logits."""

    @abc.abstractmethod
    def __call__(self, inputs: Inputs, logits: Float[Array, "cells"]) -> Evaluation:
        """The logarithm of the mean loss, and its gradient."""


class LogLoss(AbstractLoss):
    """-log of the mass on the label: the identity head with l(u) = -log u."""

    label: Bool[Array, "*batch inputs slots"]

    def __call__(self, inputs: Inputs, logits: Float[Array, "cells"]) -> Evaluation:
        slots = slot_logits(inputs, logits)
        right = jnp.max(jnp.where(self.label, slots, -jnp.inf), axis=1)
        shares, wrong = self._shares(slots, ~self.label)
        odds = wrong - finite(right)
        log_loss = logsumexp(inputs.log_frequency + log_softplus(odds))
        log_scale = inputs.log_frequency - nn.softplus(-odds)
        return Evaluation(log_loss, collect(inputs, shares, jnp.asarray(log_scale)))

    def gradient(
        self,
        inputs: Inputs,
        logits: Float[Array, "cells"],
        counted: Bool[Array, "inputs slots"],
    ) -> LogScaled:
        """sum over the counted slots of M_x (e_x - e_y): a part of Eq. (19).

        The part that tells components apart is exponentially small against the rest, so it must
        be added up on its own.
        """
        slots = slot_logits(inputs, logits)
        shares, mass = self._shares(slots, counted)
        log_scale = inputs.log_frequency + mass - logsumexp(slots, axis=1)
        return collect(inputs, shares, jnp.asarray(log_scale))

    def _shares(
        self, slots: Float[Array, "inputs slots"], counted: Bool[Array, "inputs slots"]
    ) -> tuple[Float[Array, "inputs slots"], Batch]:
        """What the counted slots gain and the label loses, in units of their total log-mass."""
        chosen = jnp.where(counted, slots, -jnp.inf)
        top = finite(jnp.max(chosen, axis=1, keepdims=True))
        powers = jnp.exp(chosen - top)
        total = jnp.sum(powers, axis=1, keepdims=True)
        empty = total == 0
        given = self.label.astype(slots.dtype)
        shares = jnp.where(empty, 0.0, powers / jnp.where(empty, 1.0, total) - given)
        return shares, (top + jnp.log(total))[:, 0]


@dataclass(frozen=True)
class Shape:
    """A decreasing function l(u), near its value at the label's score.

    Attributes:
        name: how reports call it.
        slope: sign and logarithm of -l'(u), from the label's score and the log of the gap.
        log_excess: log(l(u) - l(gamma_y)).
    """

    name: str
    slope: Callable[[Batch, Batch], tuple[Batch, Batch]]
    log_excess: Callable[[Batch, Batch], Batch]


class ScoreLoss(AbstractLoss):
    """l(u) with any head that scores the label highest; the loss is counted from its infimum."""

    scores: Float[Array, "*batch inputs slots"]
    top: Float[Array, "*batch inputs"]
    shape: Shape = eqx.field(static=True)

    def __call__(self, inputs: Inputs, logits: Float[Array, "cells"]) -> Evaluation:
        masses = log_mass(inputs, logits)
        log_gap = logsumexp(masses + jnp.log(self.top[:, None] - self.scores), axis=1)
        sign, log_slope = self.shape.slope(self.top, log_gap)
        slots, log_pairs = pair_gradient(masses, -self.scores)
        log_scale = jnp.asarray(inputs.log_frequency + log_slope + log_pairs)
        log_loss = logsumexp(inputs.log_frequency + self.shape.log_excess(self.top, log_gap))
        return Evaluation(log_loss, collect(inputs, sign[:, None] * slots, log_scale))


class HeadLoss(AbstractLoss):
    """Cross-entropy of softmax(C X^T s), or (1 - softmax(C X^T s)_y)^2 if ``squared``."""

    margins: Float[Array, "*batch inputs slots vocabulary"]
    squared: bool = eqx.field(static=True)

    def __call__(self, inputs: Inputs, logits: Float[Array, "cells"]) -> Evaluation:
        evaluate = squared_gradient if self.squared else attention_gradient
        return evaluate(inputs, self.margins, logits)


def own_loss(name: str, function: Callable[[Float[Array, ""]], Float[Array, ""]]) -> Shape:
    """A user's l(u). Its slope is differentiated automatically; it must be right near gamma_y."""

    def slope(top: Batch, log_gap: Batch) -> tuple[Batch, Batch]:
        down = -jax.vmap(jax.grad(function))(top - jnp.exp(log_gap))
        return jnp.sign(down), jnp.log(jnp.abs(down))

    def log_excess(top: Batch, log_gap: Batch) -> Batch:
        values = jax.vmap(function)
        return jnp.log(values(top - jnp.exp(log_gap)) - values(top))

    return Shape(name, slope, log_excess)


def _log_slope(top: Batch, log_gap: Batch) -> tuple[Batch, Batch]:
    return jnp.ones_like(top), -jnp.log(top - jnp.exp(log_gap))


def _log_excess(top: Batch, log_gap: Batch) -> Batch:
    """log(-log(1 - v/gamma_y)), which is log v - log gamma_y for small v."""
    ratio = log_gap - jnp.log(top)
    small = ratio < -40
    return jnp.where(small, ratio, jnp.log(-jnp.log1p(-jnp.exp(jnp.where(small, -1.0, ratio)))))


def _log_rest(top: Batch, log_gap: Batch) -> tuple[Batch, Batch]:
    """Sign and logarithm of 1 - u = (1 - gamma_y) + v."""
    rest = 1 - top + jnp.exp(log_gap)
    exact = top == 1
    return jnp.where(exact, 1.0, jnp.sign(rest)), jnp.where(exact, log_gap, jnp.log(jnp.abs(rest)))


def _squared_slope(top: Batch, log_gap: Batch) -> tuple[Batch, Batch]:
    sign, log_rest = _log_rest(top, log_gap)
    return sign, jnp.log(2.0) + log_rest


def _squared_excess(top: Batch, log_gap: Batch) -> Batch:
    double = jnp.log(jnp.exp(log_gap) + 2 * (1 - top))
    return log_gap + jnp.where(top == 1, log_gap, double)


def _linear_slope(top: Batch, log_gap: Batch) -> tuple[Batch, Batch]:
    return jnp.ones_like(top), jnp.zeros_like(top)


def _flat_slope(top: Batch, log_gap: Batch) -> tuple[Batch, Batch]:
    _, log_rest = _log_rest(top, log_gap)
    return jnp.ones_like(top), 2 * log_rest - jnp.log1p(jnp.exp(2 * log_rest))


def _flat_excess(top: Batch, log_gap: Batch) -> Batch:
    """F(b + v) - F(b) with F(r) = r - arctan r, odd and increasing, and b = 1 - gamma_y.

    With a = b + v and w = v/(1 + ab), arctan a - arctan b = arctan w, so where a and b have the
    same sign the difference is v ab/(1 + ab) + F(w), two positive terms; where they have opposite
    signs it is F(a) + F(-b).
    """
    base = 1 - top
    above = base + jnp.exp(log_gap)
    product = jnp.maximum(base * above, 0.0)
    log_w = log_gap - jnp.log1p(product)
    together = jnp.logaddexp(log_gap + jnp.log(product) - jnp.log1p(product), _log_cubic(log_w))
    apart = jnp.logaddexp(_log_cubic(jnp.log(jnp.abs(above))), _log_cubic(jnp.log(jnp.abs(base))))
    return jnp.where(base * above < 0, apart, together)


def _log_cubic(log_w: Batch) -> Batch:
    """log(w - arctan w) for w >= 0, about w^3/3 if w is small."""
    w = jnp.exp(log_w)
    small = w < 0.1
    series = 1 / 3 - w**2 / 5 + w**4 / 7 - w**6 / 9 + w**8 / 11 - w**10 / 13
    direct = jnp.where(small, 1.0, w - jnp.arctan(w))
    return jnp.where(small, 3 * log_w + jnp.log(series), jnp.log(direct))


LOG = Shape("log", _log_slope, _log_excess)
SQUARED = Shape("squared", _squared_slope, _squared_excess)
LINEAR = Shape("linear", _linear_slope, lambda top, log_gap: log_gap)
FLAT = Shape("flat", _flat_slope, _flat_excess)
"""arctan(u - 1) - (u - 1): strictly decreasing with |l'| < 1, but l'(1) = 0."""

"""Cross-entropy and its gradients in the log domain.

``values[x, v]`` is the logit that token x alone gives to next token v, and ``weights`` holds the
attention logits, one per cell. With label y write s_v for the logit of v minus that of y. Then

    U = log sum_{v != y} e^{s_v},    loss = log(1 + e^U),    1 - T_y = e^U / (1 + e^U),

and nothing is ever subtracted from 1. The gradient with respect to the attention logit of token
d is (1 - T_y) M_d sum_e M_e (g_d - g_e), where M is the attention mass and g_d the mean over the
*wrong* tokens of what d adds to their logits. The sum over pairs keeps small masses exact; each
number is a sign and a logarithm until the largest is known.
"""

import equinox as eqx
import jax.numpy as jnp
from jax import lax, nn
from jax.scipy.special import logsumexp
from jaxtyping import Array, Bool, Float, Int

from ._attend import log_mass
from ._inputs import Inputs
from ._scaled import LogScaled, log_softplus, scale_out


class Evaluation(eqx.Module):
    """The loss and its gradient at one point."""

    log_loss: Float[Array, ""]
    gradient: LogScaled


def collocation_gradient(
    values: Float[Array, "tokens vocabulary"],
    following: Int[Array, "tokens"],
    exists: Bool[Array, "vocabulary"],
) -> Evaluation:
    """L_0 = sum_x -log softmax(values[x])[n(x)] and its gradient with respect to ``values``."""
    tokens = jnp.arange(len(following))
    wrong = exists[None, :] & (tokens[None, :] != following[:, None]) & exists[:, None]
    shifted = jnp.where(wrong, values - values[tokens, following][:, None], -jnp.inf)
    total = logsumexp(shifted, axis=1)
    log_wrong = _log_miss(total)
    log_entries = shifted - total[:, None] + log_wrong[:, None]
    log_entries = jnp.where(wrong, log_entries, -jnp.inf)
    log_entries = log_entries.at[tokens, following].set(log_wrong)
    sign = jnp.ones_like(values).at[tokens, following].set(-1.0)
    gradient = LogScaled.from_parts(*scale_out(sign, log_entries))
    return Evaluation(logsumexp(log_softplus(total)), gradient)


def value_margins(
    inputs: Inputs, values: Float[Array, "tokens vocabulary"]
) -> Float[Array, "inputs slots vocabulary"]:
    """What each token of an input adds to every logit, relative to the label's."""
    rows = values[inputs.tokens]
    return rows - jnp.take_along_axis(rows, inputs.label[:, None, None], axis=2)


def attention_gradient(
    inputs: Inputs,
    margins: Float[Array, "inputs slots vocabulary"],
    weights: Float[Array, "cells"],
) -> Evaluation:
    """The mean loss and its gradient with respect to the attention logits."""
    masses = lax.optimization_barrier(log_mass(inputs, weights))
    total, wrong_share = _wrong_tokens(inputs, margins, masses)
    slots, log_scale = _slot_gradient(inputs, margins, masses, total, wrong_share)
    return Evaluation(_log_loss(inputs, total), collect(inputs, slots, log_scale))


def heads_gradient(
    inputs: Inputs,
    margins: Float[Array, "heads inputs slots vocabulary"],
    weights: Float[Array, "heads cells"],
) -> Evaluation:
    """The same for several heads, whose outputs are added; the gradient has a row a head.

    To the wrong tokens the heads are one attention layer with all of their slots side by side.
    """
    masses = [lax.optimization_barrier(log_mass(inputs, head)) for head in weights]
    total, wrong_share = _wrong_tokens(
        inputs, jnp.concatenate(list(margins), axis=1), jnp.concatenate(masses, axis=1)
    )
    parts = [
        _slot_gradient(inputs, margins[head], mass, total, wrong_share)
        for head, mass in enumerate(masses)
    ]
    top = finite(jnp.max(jnp.stack([log_scale for _, log_scale in parts])))
    cells = [
        add_up(inputs, slots * jnp.exp(log_scale - top)[:, None]) for slots, log_scale in parts
    ]
    return Evaluation(_log_loss(inputs, total), LogScaled.from_parts(jnp.stack(cells), top))


def squared_gradient(
    inputs: Inputs,
    margins: Float[Array, "inputs slots vocabulary"],
    weights: Float[Array, "cells"],
) -> Evaluation:
    """The same for the mean of (1 - T_y)^2, whose derivative is 2 (1 - T_y) T_y as large."""
    masses = lax.optimization_barrier(log_mass(inputs, weights))
    total, wrong_share = _wrong_tokens(inputs, margins, masses)
    slots, log_scale = _slot_gradient(inputs, margins, masses, total, wrong_share)
    log_scale += jnp.log(2.0) - nn.softplus(-total) - nn.softplus(total)
    log_loss = logsumexp(inputs.log_frequency + 2 * _log_miss(total))
    return Evaluation(log_loss, collect(inputs, slots, log_scale))


def joint_gradient(
    inputs: Inputs,
    values: Float[Array, "tokens vocabulary"],
    weights: Float[Array, "cells"],
) -> tuple[Float[Array, ""], Float[Array, "tokens vocabulary"], Float[Array, "cells"], Array]:
    """Both gradients of the mean loss at once, for training both layers together.

    Returns the log-loss, the two gradients with a common factor taken out so that together they
    have norm 1, and the logarithm of that factor.
    """
    margins = value_margins(inputs, values)
    masses = lax.optimization_barrier(log_mass(inputs, weights))
    total, wrong_share = _wrong_tokens(inputs, margins, masses)
    slots, log_scale = _slot_gradient(inputs, margins, masses, total, wrong_share)
    log_miss = inputs.log_frequency + _log_miss(total)
    top = finite(jnp.maximum(jnp.max(log_scale), jnp.max(log_miss)))
    for_cells = add_up(inputs, slots * jnp.exp(log_scale - top)[:, None])
    is_label = jnp.arange(values.shape[1])[None, :] == inputs.label[:, None]
    error = jnp.where(is_label, -1.0, wrong_share) * jnp.exp(log_miss - top)[:, None]
    for_values = jnp.exp(masses)[:, :, None] * error[:, None, :]
    for_values = jnp.zeros_like(values).at[inputs.tokens].add(for_values)
    both = LogScaled.from_parts(jnp.concatenate([for_values.ravel(), for_cells]), top)
    split = values.size
    return (
        _log_loss(inputs, total),
        both.unit[:split].reshape(values.shape),
        both.unit[split:],
        both.log_norm,
    )


def _log_miss(total: Float[Array, "..."]) -> Float[Array, "..."]:
    """log(1 - T_y) = U - log(1 + e^U)."""
    return -nn.softplus(-total)


def _log_loss(inputs: Inputs, total: Float[Array, "inputs"]) -> Float[Array, ""]:
    return logsumexp(inputs.log_frequency + log_softplus(total))


def _wrong_tokens(
    inputs: Inputs,
    margins: Float[Array, "inputs slots vocabulary"],
    masses: Float[Array, "inputs slots"],
) -> tuple[Float[Array, "inputs"], Float[Array, "inputs vocabulary"]]:
    """U, and the softmax over the wrong tokens alone."""
    wrong = jnp.arange(margins.shape[2])[None, :] != inputs.label[:, None]
    wrong &= inputs.vocabulary[None, :]
    shifted = jnp.einsum("nd,ndv->nv", jnp.exp(masses), margins)
    shifted = jnp.where(wrong, shifted, -jnp.inf)
    top = finite(jnp.max(shifted, axis=1, keepdims=True))
    terms = jnp.exp(shifted - top)
    total = jnp.sum(terms, axis=1, keepdims=True)
    return (top + jnp.log(total))[:, 0], terms / jnp.where(total == 0, 1.0, total)


def _slot_gradient(
    inputs: Inputs,
    margins: Float[Array, "inputs slots vocabulary"],
    masses: Float[Array, "inputs slots"],
    total: Float[Array, "inputs"],
    wrong_share: Float[Array, "inputs vocabulary"],
) -> tuple[Float[Array, "inputs slots"], Float[Array, "inputs"]]:
    """The gradient of each input's loss in its attention logits, and its log-scale.

    The pull is a plain sum, not a matrix product: equal rows must give equal bits to tie.
    """
    pull = jnp.sum(lax.optimization_barrier(wrong_share)[:, None, :] * margins, axis=2)
    slots, log_pairs = pair_gradient(masses, pull)
    return slots, jnp.asarray(inputs.log_frequency + _log_miss(total) + log_pairs)


def pair_gradient(
    masses: Float[Array, "inputs slots"], pull: Float[Array, "inputs slots"]
) -> tuple[Float[Array, "inputs slots"], Float[Array, "inputs"]]:
    """M_d sum_e M_e (p_d - p_e) for each slot d, and a log-scale taken out of each input.

    With p the pull of each slot relative to the heaviest slot's, the sum over pairs is
    p_d sum_e M_e - sum_e M_e p_e. Slots that pull exactly as hard as the heaviest (itself, at
    least) have p = 0 and keep only the last sum, in which they do not count: it is taken
    relative to the heaviest of the other slots, however small their masses are. So every
    entry is exact relative to exp(log-scale), the product of the two heaviest masses.
    """
    first = jnp.max(masses, axis=1, keepdims=True)
    pull = pull - jnp.max(jnp.where(masses == first, pull, -jnp.inf), axis=1, keepdims=True)
    tied = pull == 0
    second = jnp.max(jnp.where(tied, -jnp.inf, masses), axis=1, keepdims=True)
    to_first = jnp.exp(masses - first)
    to_second = jnp.exp(jnp.where(tied, -jnp.inf, masses - finite(second)))
    mean = jnp.sum(to_first * pull, axis=1, keepdims=True)
    untied = to_second * (pull * jnp.sum(to_first, axis=1, keepdims=True) - mean)
    slots = jnp.where(tied, -to_first * jnp.sum(to_second * pull, axis=1, keepdims=True), untied)
    return slots, (first + second)[:, 0]


def finite(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """A reference to subtract: x, or 0 where there is none."""
    return jnp.where(jnp.isfinite(x), x, 0.0)


def collect(
    inputs: Inputs, slots: Float[Array, "inputs slots"], log_scale: Float[Array, "inputs"]
) -> LogScaled:
    """The gradient in the cells, given each input's in its slots with a log-scale."""
    top = finite(jnp.max(log_scale))
    return LogScaled.from_parts(add_up(inputs, slots * jnp.exp(log_scale - top)[:, None]), top)


def add_up(inputs: Inputs, array: Float[Array, "inputs slots"]) -> Float[Array, "cells"]:
    """Add up, for each cell, the entries of all inputs that use it."""
    if inputs.contributions is None:
        return jnp.zeros(inputs.cell_token.shape).at[inputs.cells].add(array)
    flat = jnp.append(array.ravel(), 0.0)
    return jnp.sum(flat[inputs.contributions], axis=1)

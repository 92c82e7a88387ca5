"""Gradient descent at two rates, watched at every step."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from lemmata.training import AbstractGuardable, Recording, Store, run

from ._model import Attention, System, Weights, evaluate, pad_systems, pad_weights
from ._task import Task

ROUNDING = 1e-18
"""Gaps below this part of the first one may be wrong by a millionth, and are not judged."""


class DescentState(eqx.Module):
    """Weights, the gap and the gradient there, and the worst that was met on the way.

    Attributes:
        excess: the largest log of gap over guarantee (18), over all t >= 1.
        descent: the largest (f_{t+1} - f_t + eta_Q/2 ||grad||^2) / sqrt(f_t f_0) (64); relative
            to that root the rounding error of f_t is the same all along.
        steepness: the least ||grad||^2 / f_t, which (49) bounds by sigma.
    """

    weights: Weights
    gap: Float[Array, "*batch"]
    gradient: Weights
    t: Int[Array, "*batch"]
    excess: Float[Array, "*batch"]
    descent: Float[Array, "*batch"]
    steepness: Float[Array, "*batch"]


class Descent(AbstractGuardable[DescentState]):
    """Gradient descent (10), watched at every step.

    Attributes:
        system: the task.
        start: the first weights.
        rates: eta_Q and eta_w.
        guaranteed: eta_w zeta_0 / (2K); 0 if nothing is guaranteed.
    """

    system: System
    start: Weights
    rates: Float[Array, "*batch 2"]
    guaranteed: Float[Array, "*batch"]

    def init(self) -> DescentState:
        gap, gradient = evaluate(self.system, self.start)
        never = jnp.full((), -jnp.inf, dtype=gap.dtype)
        first = jnp.zeros((), dtype=jnp.int64)
        return DescentState(
            self.start, gap, gradient, first, never, never, self._square(gradient) / gap
        )

    def step(self, state: DescentState) -> DescentState:
        Q = state.weights.Q - self.rates[0] * state.gradient.Q
        w = state.weights.w - self.rates[1] * state.gradient.w
        gap, gradient = evaluate(self.system, Weights(Q, w))
        t = state.t + 1
        square = self._square(state.gradient)
        change = gap - state.gap + self.rates[0] / 2 * square
        descent = change / jnp.sqrt(state.gap * self._first_gap)
        bound = jnp.log(self._first_gap) + t.astype(gap.dtype) * jnp.log1p(-self.guaranteed)
        judged = gap > ROUNDING * self._first_gap
        return DescentState(
            weights=Weights(Q, w),
            gap=gap,
            gradient=gradient,
            t=t,
            excess=jnp.where(judged, jnp.maximum(state.excess, jnp.log(gap) - bound), state.excess),
            descent=jnp.where(judged, jnp.maximum(state.descent, descent), state.descent),
            steepness=jnp.where(
                judged,
                jnp.minimum(state.steepness, self._square(gradient) / gap),
                state.steepness,
            ),
        )

    def size(self, state: DescentState) -> Float[Array, "*batch"]:
        return state.gap

    def measure(self, state: DescentState) -> dict[str, Float[Array, "..."]]:
        K = self.system.target.shape[1]
        attention = self.system.attention(state.weights.Q)
        away = attention.combine(state.weights.w) - self.system.target
        scores = self._scores(attention)
        moved = scores - self._scores(self.system.attention(self.start.Q))
        change = state.weights.Q - self.start.Q
        known = jnp.arange(K, dtype=self.system.count.dtype) < self.system.count
        squares = jnp.einsum("nhk,mhk->knm", scores, scores)
        padding = jnp.diag(jnp.where(self.system.hidden == 0, 0.0, 1.0))
        above = jnp.trace(squares, axis1=1, axis2=2)[:, None, None]
        least = jnp.linalg.eigvalsh(squares + above * padding[None])[:, 0]
        return {
            "gap": state.gap,
            "excess": state.excess,
            "descent": state.descent,
            "steepness": state.steepness,
            "moved_Q": jnp.sqrt(jnp.max(jnp.sum(change**2, axis=(0, 2)))),
            "moved_scores": jnp.sqrt(jnp.max(jnp.where(known, jnp.sum(moved**2, axis=(0, 1)), 0))),
            "least_eigenvalue": jnp.min(jnp.where(known, least, jnp.inf)),
            "largest_w": jnp.sqrt(jnp.max(jnp.sum(state.weights.w**2, axis=1))),
            "slope_Q": jnp.sqrt(jnp.max(jnp.sum(state.gradient.Q**2, axis=(0, 2)))),
            "slope_w": jnp.sqrt(jnp.max(jnp.sum(state.gradient.w**2, axis=1))),
            "largest_entry": jnp.max(jnp.abs(state.weights.w)),
            "distance": jnp.sqrt(jnp.maximum(jnp.linalg.eigvalsh(away @ away.T)[-1], 0.0)),
        }

    @property
    def _first_gap(self) -> Float[Array, ""]:
        return self.system.error(jnp.zeros_like(self.system.target))[0]

    def _square(self, gradient: Weights) -> Float[Array, ""]:
        """||grad||^2 in the parameters (Q, alpha) of Lemma 6."""
        ratio = self.rates[1] / self.rates[0]
        return jnp.sum(gradient.Q**2) + ratio * jnp.sum(gradient.w**2)

    def _scores(self, attention: Attention) -> Float[Array, "N H K"]:
        """B_k for all k, padded heads left out (13)."""
        N, H, K = attention.powers.shape
        kept = (attention.scores * self.system.heads[None, :, None]).reshape(N, H * K)
        return (self.system.root @ kept).reshape(N, H, K)


def descend(
    tasks: Sequence[Task],
    starts: Sequence[Weights],
    rates: Float[np.ndarray, "instances 2"],
    guaranteed: Float[np.ndarray, "instances"],
    steps: Int[np.ndarray, "records"],
    *,
    store: Store | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Recording[DescentState]:
    """Gradient descent on several tasks at once."""
    system = pad_systems(tasks, [start.Q.shape[1] for start in starts])
    dynamics = Descent(
        system, pad_weights(starts, system), jnp.asarray(rates), jnp.asarray(guaranteed)
    )
    return run(dynamics, steps, store=store, progress=progress)

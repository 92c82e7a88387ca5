"""Gradient descent at two rates, watched at every step."""

import math
from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from lemmata.training import AbstractDynamics, Recording, Store, run

from ._batches import WATCHED, shape_of
from ._model import Weights, pad_systems, pad_weights
from ._path import LEAST_GAP, Path, PathState
from ._task import Task


class DescentState(eqx.Module):
    """Where descent is, and the worst that was met on the way.

    Attributes:
        here: weights, and what is left to learn.
        excess: the largest log of gap over guarantee (18), over all t >= 1.
        descent: the largest (f_{t+1} - f_t + eta_Q/2 ||grad||^2) / f_t (64).
        steepness: the least ||grad||^2 / f_t, which (49) bounds by sigma, over all steps before.
    """

    here: PathState
    t: Int[Array, "*batch"]
    excess: Float[Array, "*batch"]
    descent: Float[Array, "*batch"]
    steepness: Float[Array, "*batch"]


class Descent(AbstractDynamics[DescentState]):
    """Gradient descent (10), watched at every step.

    Attributes:
        path: where it goes.
        guaranteed: eta_w zeta_0 / (2K); 0 if nothing is guaranteed.
    """

    path: Path
    guaranteed: Float[Array, "*batch"]

    def init(self) -> DescentState:
        here = self.path.first()
        never = jnp.full((), jnp.inf, dtype=here.gap.dtype)
        return DescentState(here, jnp.zeros((), dtype=jnp.int64), -never, -never, never)

    def step(self, state: DescentState) -> DescentState:
        before, here, t = state.here, self.path.after(state.here), state.t + 1
        first = self.path.first_gap
        square = self._square(self.path.gradient(before))
        change = here.gap - before.gap + self.path.rates[0] / 2 * square
        bound = jnp.log(first) + t.astype(first.dtype) * jnp.log1p(-self.guaranteed)
        judged = here.gap > LEAST_GAP * first
        excess = jnp.maximum(state.excess, jnp.log(here.gap) - bound)
        descent = jnp.maximum(state.descent, change / before.gap)
        return DescentState(
            here,
            t,
            jnp.where(judged, excess, state.excess),
            jnp.where(judged, descent, state.descent),
            self._least_steepness(state, square),
        )

    def _least_steepness(
        self, state: DescentState, square: Float[Array, ""]
    ) -> Float[Array, "*batch"]:
        """What it was before, and what it is here, where ||grad||^2 is given."""
        judged = state.here.gap > LEAST_GAP * self.path.first_gap
        least = jnp.minimum(state.steepness, square / state.here.gap)
        return jnp.where(judged, least, state.steepness)

    def measure(self, state: DescentState) -> dict[str, Float[Array, "..."]]:
        here, system, gradient = state.here, self.path.system, self.path.gradient(state.here)
        known = jnp.arange(system.target.shape[1], dtype=system.count.dtype) < system.count
        scores, moved = (self._scores(s) for s in (here.attention.scores, self.path.turned(here)))
        squares = jnp.einsum("nhk,mhk->knm", scores, scores)
        padding = jnp.diag(jnp.where(system.hidden == 0, 0.0, 1.0))
        above = jnp.trace(squares, axis1=1, axis2=2)[:, None, None]
        least = jnp.linalg.eigvalsh(squares + above * padding[None])[:, 0]
        return {
            "gap": here.gap,
            "excess": state.excess,
            "descent": state.descent,
            "steepness": self._least_steepness(state, self._square(gradient)),
            "moved_Q": jnp.sqrt(jnp.max(jnp.sum(here.moved**2, axis=(0, 2)))),
            "moved_scores": jnp.sqrt(jnp.max(jnp.where(known, jnp.sum(moved**2, axis=(0, 1)), 0))),
            "least_eigenvalue": jnp.min(jnp.where(known, least, jnp.inf)),
            "largest_w": jnp.sqrt(jnp.max(jnp.sum(here.weights.w**2, axis=1))),
            "slope_Q": jnp.sqrt(jnp.max(jnp.sum(gradient.Q**2, axis=(0, 2)))),
            "slope_w": jnp.sqrt(jnp.max(jnp.sum(gradient.w**2, axis=1))),
            "largest_entry": jnp.max(jnp.abs(here.weights.w)),
        }

    def _square(self, gradient: Weights) -> Float[Array, ""]:
        """||grad||^2 in the parameters (Q, alpha) of Lemma 6."""
        ratio = self.path.rates[1] / self.path.rates[0]
        return jnp.sum(gradient.Q**2) + ratio * jnp.sum(gradient.w**2)

    def _scores(self, attention: Float[Array, "N H K"]) -> Float[Array, "N H K"]:
        """B_k for all k, or a change of them, padded heads left out (13)."""
        kept = attention * self.path.system.heads[None, :, None]
        return (self.path.system.root @ kept.reshape(len(kept), -1)).reshape(kept.shape)


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
    """Gradient descent on several tasks at once; small ones share few compiled programs."""
    sizes = [
        (task.d, task.N, task.K, start.Q.shape[1])
        for task, start in zip(tasks, starts, strict=True)
    ]
    shape, count = shape_of(sizes, WATCHED), len(tasks)
    wanted = count if shape is None else 4 ** math.ceil(math.log(count, 4))
    filled = np.minimum(np.arange(wanted), count - 1)
    system = pad_systems([tasks[i] for i in filled], [sizes[i][3] for i in filled], shape)
    start = pad_weights([starts[i] for i in filled], system)
    path = Path(system, start, jax.device_put(rates[filled]))
    return run(
        Descent(path, jax.device_put(guaranteed[filled])),
        steps,
        store=store,
        progress=lambda done: progress(done * count // wanted),
        group=wanted,  # eigenvalues of two groups at a time wait for each other
    )

"""The guard against divergence."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from lemmata.training import AbstractGuardable, Guarded, run


class Doubling(AbstractGuardable[Float[Array, "*batch"]]):
    """A number that is multiplied by a factor every step."""

    factor: Float[Array, "*batch"]

    def init(self) -> Float[Array, "*batch"]:
        return jnp.ones_like(self.factor)

    def step(self, state: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        return self.factor * state

    def size(self, state: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        return jnp.abs(state)

    def measure(self, state: Float[Array, "*batch"]) -> dict[str, Float[Array, "..."]]:
        return {"value": state}


def test_what_blows_up_stays_where_it_was_and_the_step_is_known():
    inner = Doubling(jnp.array([2.0, 1.0, -3.0, jnp.nan]))
    limit = jnp.full(4, 10.0)
    recording = run(Guarded(inner, limit), np.array([0, 3, 4, 100]))
    # 2^3 = 8 and 2^4 = 16; 3^2 = 9 and 3^3 = 27; NaN is not below any limit.
    assert recording.series["value"].tolist() == [
        [1, 8, 8, 8],
        [1, 1, 1, 1],
        [1, 9, 9, 9],
        [1, 1, 1, 1],
    ]
    assert np.asarray(recording.final.diverged).tolist() == [4, -1, 3, 1]
    assert np.asarray(recording.final.t).tolist() == [100] * 4


def test_lag_counts_from_the_step_before():
    recording = run(Guarded(Doubling(jnp.array([2.0])), jnp.array([10.0]), lag=1), np.array([9]))
    assert np.asarray(recording.final.diverged).tolist() == [3]

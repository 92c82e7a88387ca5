"""Numbers that have left the range of floating point, kept as a factor and a logarithm."""

import equinox as eqx
import jax.numpy as jnp
from jax import nn
from jaxtyping import Array, Float


class LogScaled(eqx.Module):
    """The array ``unit * exp(log_norm)``, where ``unit`` has norm 1 (or is 0).

    A gradient in this form keeps its exact direction however small it is. A zero gradient has
    ``unit`` 0 and ``log_norm`` -inf.
    """

    unit: Float[Array, "..."]
    log_norm: Float[Array, ""]

    @classmethod
    def from_parts(cls, array: Float[Array, "..."], log_scale: Float[Array, ""]) -> "LogScaled":
        """Normalise ``array * exp(log_scale)``; the entries of ``array`` must be about 1."""
        norm = jnp.sqrt(jnp.sum(array * array))
        zero = norm == 0
        unit = jnp.where(zero, 0.0, array / jnp.where(zero, 1.0, norm))
        return cls(unit, jnp.where(zero, -jnp.inf, log_scale + jnp.log(norm)))


def scale_out(
    sign: Float[Array, "..."], log_magnitude: Float[Array, "..."]
) -> tuple[Float[Array, "..."], Float[Array, ""]]:
    """Write signed numbers, given by their logarithms, as (array, log_scale) with maximum 1."""
    top = jnp.max(log_magnitude)
    top = jnp.where(jnp.isfinite(top), top, 0.0)
    return sign * jnp.exp(log_magnitude - top), top


def log_softplus(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """log log(1 + e^x), which is x - e^x/2 + 5 e^2x/24 - ... far to the left."""
    small = x < -20
    safe = jnp.where(small, 0.0, x)
    tiny = jnp.exp(jnp.where(small, x, -jnp.inf))
    return jnp.where(small, x - tiny / 2 + 5 * tiny * tiny / 24, jnp.log(nn.softplus(safe)))


def cosine_gap(a: Float[Array, "..."], b: Float[Array, "..."]) -> Float[Array, ""]:
    """1 - cos(a, b) = |a/|a| - b/|b||^2 / 2, without cancellation; NaN if either is 0."""
    difference = a / jnp.sqrt(jnp.sum(a * a)) - b / jnp.sqrt(jnp.sum(b * b))
    return jnp.sum(difference * difference) / 2

"""Random numbers inside compiled loops: a hash of a counter, and what is drawn from it.

A stream is a pair of 32-bit words and needs no state: the same stream gives the same numbers
wherever and whenever they are drawn, so that a run can be resumed to the same bits. The hash costs
a twentieth of the default generator.
"""

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float32, Int, UInt32

from lemmata._errors import InputError

Stream = UInt32[Array, "2"]

_ODD = (0x7FEB352D, 0x846CA68B)
"""Multipliers of a 32-bit mixing function with small bias (found by C. Wellons' search)."""


def stream(seed: int) -> Stream:
    """The stream of a seed."""
    if not 0 <= seed < 1 << 32:
        raise InputError(f"a seed is a whole number from 0 to {(1 << 32) - 1}; got {seed}")
    return fold(jnp.array([0x243F6A88, 0x85A308D3], dtype=jnp.uint32), jnp.uint32(seed))


def fold(parent: Stream, number: UInt32[Array, ""]) -> Stream:
    """The stream with this number among the parent's children."""
    low = _mix(_mix(number ^ parent[0]) + parent[1])
    return lax.optimization_barrier(jnp.stack([low, _mix(_mix(number + parent[1]) ^ low)]))


def words(source: Stream, count: int) -> UInt32[Array, "count"]:
    """Independent uniform 32-bit words."""
    return _mix(_mix(lax.iota(jnp.uint32, count) ^ source[0]) + source[1])


def normals(source: Stream, shape: tuple[int, ...]) -> Float32[Array, "..."]:
    """Standard normal numbers, by inversion of uniform ones with 23 bits."""
    bits = words(source, int(np.prod(shape))).reshape(shape)
    uniform = ((bits >> 9).astype(jnp.float32) + 0.5) * jnp.float32(2.0**-22) - 1
    return jnp.float32(np.sqrt(2)) * lax.erf_inv(uniform)


def signs(source: Stream, shape: tuple[int, ...]) -> Float32[Array, "..."]:
    """Independent fair signs, one bit each."""
    size = int(np.prod(shape))
    bits = words(source, -(-size // 32))[:, None] >> lax.iota(jnp.uint32, 32)[None, :]
    return (1 - 2 * (bits & 1).astype(jnp.float32)).ravel()[:size].reshape(shape)


def subsets(source: Stream, count: int, q: int, T: int) -> Int[Array, "count q"]:
    """Uniform q-subsets of 0..T-1 by Floyd's algorithm, each chance right to T / 2^32."""
    return padded_subsets(source, count, q, jnp.asarray(q), jnp.asarray(T))


def padded_subsets(
    source: Stream, count: int, most: int, q: Int[Array, ""], T: Int[Array, ""]
) -> Int[Array, "count most"]:
    """The same with sizes that are known only when it runs; places from q on hold -1."""
    bits = words(source, count * most).reshape(most, count).astype(jnp.uint64)
    chosen: list[Array] = []
    for i in range(most):
        top = (T - q + i).astype(jnp.int32)
        pick = ((bits[i] * (top + 1).astype(jnp.uint64)) >> 32).astype(jnp.int32)
        for other in tuple(chosen):
            pick = jnp.where(pick == other, top, pick)
        chosen.append(jnp.where(i < q, pick, -1))
    return jnp.stack(chosen, axis=1)


def _mix(word: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """A permutation of the words that looks like none.

    The barrier keeps the compiler from writing out a word again for each of its eight uses here,
    and those again for each use there: a few hashes of hashes would take it minutes.
    """
    word = (word ^ (word >> 16)) * jnp.uint32(_ODD[0])
    word = (word ^ (word >> 15)) * jnp.uint32(_ODD[1])
    return lax.optimization_barrier(word ^ (word >> 16))

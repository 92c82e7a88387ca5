"""Positional encodings: one-hot, near-orthogonal by rejection, and the encoding of a subset."""

import math
from itertools import product

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Float32, Int, UInt32
from scipy.stats import binom

from lemmata._errors import InputError
from lemmata.training import Stream, compiled_briefly, fold, signs, stream

Encodings = Float[np.ndarray, "d_e T"]
"""One column a position."""

SPARE = 16
"""Candidates beyond T in a block: with usual thresholds one block is nearly always enough."""

MOST_BLOCKS = 10_000
"""Rejection gives up after this many blocks of candidates."""


def walsh(doublings: int) -> Int[np.ndarray, "d_e d_e"]:
    """2^doublings orthogonal sign vectors."""
    square = np.array([[1]])
    for _ in range(doublings):
        square = np.block([[square, square], [square, -square]])
    return square


def walsh_encodings(d_e: int, T: int) -> Encodings | None:
    """The first T of them, as often as d_e has room, at unit length; None if there are fewer."""
    if (d_e & -d_e) < T:
        return None
    both = np.arange(d_e)[:, None] & np.arange(T)
    return np.where(np.bitwise_count(both) % 2, -1, 1) / np.sqrt(d_e)


def one_hot(T: int) -> Encodings:
    """Definition 2.2: the identity."""
    return np.eye(T)


def orthogonal(E: Encodings) -> bool:
    """Whether all inner products of different encodings are 0, in whole numbers for signs."""
    units = E / np.abs(E).max()
    gram = units.T @ units
    return not (gram - np.diag(np.diag(gram))).any()


def subset_encodings(
    E: Encodings, y: Int[np.ndarray, "subsets q"]
) -> Float[np.ndarray, "subsets d_e"]:
    """e_y = E_y (E_y' E_y)^-1 1 (Definition 2.3); for one-hot encodings the sum of the columns."""
    columns = np.moveaxis(E[:, y], 0, 1)
    coefficients = _coefficients(E.T @ E, y)
    return np.einsum("ndq,nq->nd", columns, coefficients)


def inner_products(E: Encodings, y: Int[np.ndarray, "subsets q"]) -> Float[np.ndarray, "subsets T"]:
    """<e_i, e_y> for every position i: 1 on y, and small elsewhere."""
    gram = E.T @ E
    return np.einsum("nqt,nq->nt", gram[y], _coefficients(gram, y))


def gaps_outside(
    g: Float[np.ndarray, "pairs T"], y: Int[np.ndarray, "pairs q"]
) -> Float[np.ndarray, "pairs others"]:
    """1 - <e_i, e_y> of the positions outside each subset, from the inner products."""
    outside = np.ones(g.shape, dtype=bool)
    np.put_along_axis(outside, y, False, axis=1)
    return (1 - g)[outside].reshape(len(g), -1)


def _coefficients(
    gram: Float[np.ndarray, "T T"], y: Int[np.ndarray, "subsets q"]
) -> Float[np.ndarray, "subsets q"]:
    blocks = gram[y[:, :, None], y[:, None, :]]
    ones = np.ones((*y.shape, 1))
    try:
        found = np.linalg.solve(blocks, ones)
    except np.linalg.LinAlgError:
        found = np.full_like(ones, np.nan)
    # Rounding hides most singular blocks from the solver, but not from what it should solve.
    if not (np.abs(blocks @ found - ones) < 1e-6).all():
        raise InputError(
            "some subset of the encodings is linearly dependent, so e_y does not exist; use more "
            "dimensions or a smaller threshold"
        )
    return found[:, :, 0]


def near_orthogonal(d_e: int, T: int, threshold: float, seed: int = 0) -> Encodings:
    """Random sign encodings, scaled to unit length, whose inner products keep to the threshold.

    A vector is drawn again until it keeps to the threshold with all before it (Appendix F).
    """
    check_threshold(d_e, T, threshold)
    E, count = _draw_encodings(stream(seed), d_e, T, threshold)
    if int(count) < T:
        raise InputError(_gave_up(d_e, T, threshold, int(count)))
    return np.asarray(E, dtype=float) / math.sqrt(d_e)


def near_orthogonal_family(
    count: int, d_e: int, T: int, threshold: float, seed: int = 0
) -> Float[np.ndarray, "count d_e T"]:
    """Independent draws of ``near_orthogonal``."""
    check_threshold(d_e, T, threshold)
    E, found = _draw_family(stream(seed), count, d_e, T, threshold)
    if int(found.min()) < T:
        raise InputError(_gave_up(d_e, T, threshold, int(found.min())))
    return np.asarray(E, dtype=float) / math.sqrt(d_e)


def _gave_up(d_e: int, T: int, threshold: float, found: int) -> str:
    draws = MOST_BLOCKS * (T + SPARE)
    return (
        f"found only {found} of {T} sign vectors in {d_e} dimensions with inner products within "
        f"{threshold:g} after {draws} draws; use a larger threshold or more dimensions"
    )


def check_threshold(d_e: int, T: int, threshold: float) -> None:
    """Reject a threshold that rejection sampling cannot reach."""
    if d_e < 1:
        raise InputError(f"d_e must be a positive whole number; got {d_e!r}")
    if not 0 <= threshold <= 1:
        raise InputError(f"the threshold must be between 0 and 1; got {threshold!r}")
    if threshold < welch_bound(d_e, T) - 1e-12:
        raise InputError(
            f"no {T} unit vectors in {d_e} dimensions have all inner products within "
            f"{threshold:g}: the largest is at least {welch_bound(d_e, T):.4f} (Welch); use a "
            "larger threshold or more dimensions"
        )
    draws = expected_draws(d_e, T, threshold)
    if draws > MOST_BLOCKS * (T + SPARE):
        raise InputError(
            f"about {draws:.2g} draws would be needed for {T} sign vectors in {d_e} dimensions "
            f"with inner products within {threshold:g}; use a larger threshold or more dimensions"
        )


def welch_bound(d_e: int, T: int) -> float:
    """The least coherence of T unit vectors in d_e dimensions."""
    return math.sqrt((T - d_e) / (d_e * (T - 1))) if 1 <= d_e < T else 0.0


def exceed_probability(d_e: int, threshold: float) -> float:
    """The chance that two random sign vectors exceed the threshold, exactly."""
    most = math.floor(threshold * d_e + 1e-9)
    few = math.ceil((d_e - most) / 2) - 1
    return min(1.0, float(2 * binom.cdf(few, d_e, 0.5)))


def expected_draws(d_e: int, T: int, threshold: float) -> float:
    """Draws until T vectors are accepted, as if clashes were independent."""
    miss = exceed_probability(d_e, threshold)
    if miss >= 1:
        return math.inf if T > 1 else 1.0
    exponents = -math.log1p(-miss) * np.arange(T)
    return float(np.exp(np.minimum(exponents, 700)).sum())


def all_near_orthogonal(d_e: int, T: int, threshold: float) -> Float[np.ndarray, "count d_e T"]:
    """Every sign matrix within the threshold: the conditional law of Definition 2.5, enumerated."""
    if d_e * T > 20:
        raise InputError(f"2^{d_e * T} sign matrices are too many to go through")
    every = np.array(list(product((1.0, -1.0), repeat=d_e)))
    found = np.zeros((1, 0, d_e))
    for _ in range(T):
        inner = np.abs(np.einsum("mtd,vd->mvt", found, every))
        member, vector = np.nonzero((inner <= threshold * d_e + 1e-9).all(axis=2))
        found = np.concatenate([found[member], every[vector][:, None, :]], axis=1)
    return np.moveaxis(found, 1, 2) / math.sqrt(d_e)


def draw_signs(
    source: Stream, d_e: int, T: int, threshold: float
) -> tuple[Float32[Array, "d_e T"], Int[Array, ""]]:
    """Sign vectors by rejection as unscaled columns, and how many were found (T, or too few).

    Block by block: who is accepted among the candidates of a block is the one solution of
    "accepted, unless it clashes with an accepted one before it", which a few sweeps find. The
    outcome is that of the sequential rule on the same stream.
    """
    limit = jnp.float32(math.floor(threshold * d_e + 1e-9))

    def candidates(block: Int[Array, ""]) -> Float32[Array, "block d_e"]:
        return signs(fold(source, block.astype(jnp.uint32)), (T + SPARE, d_e))

    def place(
        state: tuple[Float32[Array, "T d_e"], Int[Array, ""], Int[Array, ""]],
        new: Float32[Array, "block d_e"],
        clear: Bool[Array, "block"],
    ) -> tuple[Float32[Array, "T d_e"], Int[Array, ""], Int[Array, ""]]:
        kept, count, block = state
        ok = _sweep(jnp.abs(new @ new.T) > limit, clear)
        at = jnp.where(ok, count + jnp.cumsum(ok) - 1, T)
        kept = kept.at[at].set(new, mode="drop")
        return kept, jnp.minimum(count + jnp.sum(ok), T), block + 1

    def more(
        state: tuple[Float32[Array, "T d_e"], Int[Array, ""], Int[Array, ""]],
    ) -> tuple[Float32[Array, "T d_e"], Int[Array, ""], Int[Array, ""]]:
        new = candidates(state[2])
        return place(state, new, (jnp.abs(new @ state[0].T) <= limit).all(axis=1))

    zero = jnp.zeros((), dtype=jnp.int64)
    if threshold >= 1:
        return candidates(zero)[:T].T, zero + T
    start = (jnp.zeros((T, d_e), dtype=jnp.float32), zero, zero)
    first = place(start, candidates(zero), jnp.ones(T + SPARE, dtype=bool))
    kept, count, _ = lax.while_loop(
        lambda state: (state[1] < T) & (state[2] < MOST_BLOCKS), more, first
    )
    return kept.T, count


_draw_encodings = compiled_briefly(draw_signs)


@compiled_briefly
def _draw_family(
    source: Stream, count: int, d_e: int, T: int, threshold: float
) -> tuple[Float32[Array, "count d_e T"], Int[Array, "count"]]:
    """``draw_signs`` from so many children of a stream."""

    def one(child: UInt32[Array, ""]) -> tuple[Float32[Array, "d_e T"], Int[Array, ""]]:
        return draw_signs(fold(source, child), d_e, T, threshold)

    return lax.map(one, jnp.arange(count, dtype=jnp.uint32))


def _sweep(clash: Bool[Array, "block block"], clear: Bool[Array, "block"]) -> Bool[Array, "block"]:
    earlier = clash & jnp.tril(jnp.ones_like(clash), -1)

    def again(
        state: tuple[Bool[Array, "block"], Bool[Array, "block"]],
    ) -> tuple[Bool[Array, "block"], Bool[Array, "block"]]:
        return state[1], clear & ~(earlier & state[1][None, :]).any(axis=1)

    first = clear & ~(earlier & clear[None, :]).any(axis=1)
    _, accepted = lax.while_loop(lambda state: (state[0] != state[1]).any(), again, (clear, first))
    return accepted

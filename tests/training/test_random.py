"""Random numbers from a counter: distribution, independence, extremes, and the same bits always."""

from functools import partial
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2, chisquare, kstest, norm

from lemmata._errors import InputError
from lemmata.training import _random, fold, padded_subsets, signs, stream

LIKELY = 1e-3
"""A p-value below this fails; the streams are fixed, so a test that passes passes for ever."""

MASK = 0xFFFFFFFF

normals = jax.jit(_random.normals, static_argnums=1)
subsets = jax.jit(_random.subsets, static_argnums=(1, 2, 3))


def mix(word: int) -> int:
    word = ((word ^ word >> 16) * 0x7FEB352D) & MASK
    word = ((word ^ word >> 15) * 0x846CA68B) & MASK
    return word ^ word >> 16


def child(parent: tuple[int, int], number: int) -> tuple[int, int]:
    low = mix((mix(number ^ parent[0]) + parent[1]) & MASK)
    return low, mix(mix((number + parent[1]) & MASK) ^ low)


def words(seed: int, count: int) -> np.ndarray:
    return np.asarray(_random.words(stream(seed), count))


@partial(jax.jit, static_argnums=1)
def offspring(source: jax.Array, count: int) -> jax.Array:
    return jax.vmap(lambda i: fold(source, i))(jnp.arange(count, dtype=jnp.uint32))


def children(seed: int, count: int) -> jax.Array:
    return offspring(stream(seed), count)


def test_words_and_children_are_the_hash_in_plain_integers():
    parent = child((0x243F6A88, 0x85A308D3), 7)
    assert tuple(np.asarray(stream(7)).tolist()) == parent
    assert tuple(np.asarray(fold(stream(7), jnp.uint32(MASK))).tolist()) == child(parent, MASK)
    expected = [mix((mix(i ^ parent[0]) + parent[1]) & MASK) for i in range(50)]
    assert words(7, 50).tolist() == expected


def test_words_are_uniform_and_their_bits_fair():
    found = words(0, 1 << 18)
    assert kstest(found / 2.0**32, "uniform").pvalue > LIKELY
    ones = ((found[:, None] >> np.arange(32, dtype=np.uint32)) & 1).mean(axis=0)
    z = (ones - 0.5) * 2 * np.sqrt(len(found))
    assert np.abs(z).max() < 4
    assert chi2.sf((z**2).sum(), 32) > LIKELY


@pytest.mark.parametrize("lag", [1, 2, 64, 200, 1000])
def test_neighbours_in_a_stream_are_independent(lag):
    assert_uncorrelated(*(np.asarray(normals(stream(3), (1 << 17,)))[s] for s in both(lag)))


def both(lag: int) -> tuple[slice, slice]:
    return slice(None, -lag), slice(lag, None)


def assert_uncorrelated(a: np.ndarray, b: np.ndarray) -> None:
    """Neither the numbers nor their squares go together."""
    for x, y in ((a, b), (a**2 - 1, b**2 - 1), (a, b**2 - 1)):
        z = (x * y).sum() / np.sqrt((x**2).sum() * (y**2).sum()) * np.sqrt(len(a))
        assert abs(z) < 4


def test_streams_are_independent_of_each_other():
    size = 1 << 15
    steps = [np.asarray(normals(source, (size,))) for source in children(0, 8)]
    seeds = [np.asarray(normals(stream(seed), (size,))) for seed in (0, 1, 2, 1 << 31)]
    grandchildren = [
        np.asarray(normals(fold(fold(stream(0), jnp.uint32(i)), jnp.uint32(j)), (size,)))
        for i, j in ((0, 1), (1, 0), (1, 1))
    ]
    for a, b in combinations([*steps, *seeds, *grandchildren], 2):
        assert_uncorrelated(a, b)


def test_one_number_of_many_streams_is_as_good_as_many_of_one():
    # a training step sees the same places of ever new streams
    found = np.asarray(jax.jit(jax.vmap(lambda s: normals(s, (4,))))(children(5, 1 << 17)))
    for column in found.T:
        assert kstest(column, "norm").pvalue > LIKELY
        assert_uncorrelated(column[:-1], column[1:])
    for a, b in combinations(found.T, 2):
        assert_uncorrelated(a, b)


def test_normals_are_normal():
    found = np.asarray(normals(stream(1), (1 << 15, 8)), dtype=float).ravel()
    count = len(found)
    assert kstest(found, "norm").pvalue > LIKELY
    for power, moment, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96), (6, 15, 10_170)):
        assert abs((found**power).mean() - moment) < 4 * np.sqrt(spread / count)
    assert (np.abs(found) > 3).mean() == pytest.approx(2 * norm.sf(3), rel=0.1)
    assert 4.2 < np.abs(found).max() < 5.4


@pytest.mark.parametrize("compiled", [False, True])
def test_the_lowest_and_highest_words_give_finite_normals(monkeypatch, compiled):
    # rounded the other way, one word in 2^23 is a uniform number of -1 and a normal one of -inf
    extremes = jnp.array([0, 511, 512, MASK - 511, MASK, 1 << 31, (1 << 31) - 1], dtype=jnp.uint32)
    monkeypatch.setattr(_random, "words", lambda source, count: source)

    def draw(source: jax.Array) -> jax.Array:
        return _random.normals.__wrapped__(source, (7,))

    found = np.asarray((jax.jit(draw) if compiled else draw)(extremes), dtype=float)
    bits = np.asarray(extremes, dtype=np.int64) >> 9
    np.testing.assert_allclose(found, norm.ppf((bits + 0.5) / 2**23), rtol=2e-3, atol=1e-9)
    assert found[0] == found[1] == -found[4] == -found[3] < found[2]
    assert -5.5 < found[0] < -5


def test_signs_are_fair_and_every_bit_is_used_once():
    found = np.asarray(signs(stream(2), (1000, 77)))
    bits = (words(2, -(-77_000 // 32))[:, None] >> np.arange(32, dtype=np.uint32)) & 1
    np.testing.assert_array_equal(found.ravel(), 1.0 - 2.0 * bits.ravel()[:77_000])
    rows, columns = found @ found.T, found.T @ found
    for inner, length in ((rows, 77), (columns, 1000)):
        z = inner[np.triu_indices(len(inner), 1)] / np.sqrt(length)
        assert abs(z.mean()) < 4 / np.sqrt(len(z))
        assert (z**2).mean() == pytest.approx(1, abs=4 * np.sqrt(2 / len(z)))
    assert abs(found.sum()) < 4 * np.sqrt(found.size)


@pytest.mark.parametrize(("T", "q"), [(6, 3), (7, 1), (5, 4), (4, 4), (9, 2)])
def test_subsets_are_distinct_and_uniform(T, q):
    y = np.asarray(subsets(stream(4), 40_000, q, T))
    assert y.shape == (40_000, q)
    ordered = np.sort(y, axis=1)
    assert (np.diff(ordered, axis=1) > 0).all()
    every, counts = np.unique(ordered, axis=0, return_counts=True)
    np.testing.assert_array_equal(every, list(combinations(range(T), q)))
    if len(every) > 1:
        assert chisquare(counts).pvalue > LIKELY


def test_subsets_are_those_of_floyds_algorithm():
    count, q, T = 50, 4, 9
    bits = words(11, count * q).astype(object).reshape(q, count)
    for column, found in zip(bits.T, np.asarray(subsets(stream(11), count, q, T)), strict=True):
        chosen: list[int] = []
        for word, top in zip(column, range(T - q, T), strict=True):
            pick = int(word) * (top + 1) >> 32
            chosen.append(top if pick in chosen else pick)
        assert found.tolist() == chosen


def test_padded_subsets_are_the_same_with_empty_places():
    draw = jax.jit(padded_subsets, static_argnums=(1, 2))
    for q, T in ((1, 7), (3, 7), (2, 30), (5, 5)):
        found = np.asarray(draw(stream(12), 300, 5, jnp.asarray(q), jnp.asarray(T)))
        np.testing.assert_array_equal(found[:, :q], subsets(stream(12), 300, q, T))
        np.testing.assert_array_equal(found[:, q:], -1)


def test_subsets_of_many_positions_reach_both_ends():
    y = np.asarray(subsets(stream(6), 50_000, 3, 400))
    assert y.min() == 0
    assert y.max() == 399
    assert chisquare(np.bincount(y.ravel(), minlength=400)).pvalue > LIKELY


def test_the_same_stream_gives_the_same_bits_compiled_or_not():
    def draw(source: jax.Array) -> tuple[jax.Array, ...]:
        source = fold(source, jnp.uint32(9))
        return (
            fold(source, jnp.uint32(1)),
            _random.normals(source, (50, 3)),
            signs(source, (5, 33)),
            _random.subsets(source, 100, 3, 40),
        )

    plain, again, compiled = draw(stream(8)), draw(stream(8)), jax.jit(draw)(stream(8))
    for a, b, c in zip(plain, again, compiled, strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
        assert np.asarray(a).tobytes() == np.asarray(c).tobytes()
    assert np.asarray(draw(stream(10))[1]).tobytes() != np.asarray(plain[1]).tobytes()


@pytest.mark.parametrize("seed", [-1, 1 << 32])
def test_seeds_that_do_not_fit(seed):
    with pytest.raises(InputError, match=f"0 to 4294967295; got {seed}"):
        stream(seed)

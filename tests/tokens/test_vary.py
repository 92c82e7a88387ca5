"""How token data varies: exactly what is left if something is left out, and what may be drawn."""

from dataclasses import dataclass

import numpy as np
import pytest

from lemmata.tokens import (
    GEOMETRIES,
    TokenData,
    data_size,
    digits_of,
    draw_data,
    draw_embeddings,
    simpler_data,
    vary_data,
    with_simpler_arrays,
)


def rows(data: TokenData) -> list[tuple[str, str, int]]:
    """Tokens, label and count of every sample."""
    names = data.vocabulary
    return [("".join(names[t] for t in s.tokens), names[s.label], s.count) for s in data.samples]


def data(*samples: tuple[str, str, int]) -> TokenData:
    return TokenData.from_samples([(x, y, n, "") for x, y, n in samples])


def test_what_is_left_if_something_is_left_out() -> None:
    """Every sample, every pair of tokens made one, every token but the last and the label, counts.

    Tokens are named by appearance, the ones before the last in order.
    """
    found = [rows(left) for left in simpler_data(data(("acb", "a", 40), ("bb", "b", 1)))]
    assert found == [
        [("aa", "a", 1)],  # without the first sample
        [("abc", "a", 40)],  # without the second
        [("aab", "a", 40), ("bb", "b", 1)],  # c is a
        [("aba", "a", 40), ("aa", "a", 1)],  # b is a
        [("abb", "a", 40), ("bb", "b", 1)],  # b is c
        [("ab", "a", 40), ("bb", "b", 1)],  # without c
        [("abc", "a", 1), ("cc", "c", 1)],  # every count is 1
        *(
            [("abc", "a", count), ("cc", "c", 1)]
            for count in {1, 40 // 10, 40 // 2}  # the order is that of a set
        ),
    ]


def test_a_label_that_does_not_occur_is_no_reason_to_keep_a_token() -> None:
    found = [rows(left) for left in simpler_data(data(("abc", "d", 1)))]
    assert [("ab", "c", 1)] in found
    assert len([left for left in found if len(left[0][0]) == 2]) == 2
    only = [rows(left) for left in simpler_data(data(("ab", "a", 1)))]
    assert only == [[("aa", "a", 1)]]


def test_equal_samples_are_counted_together() -> None:
    """ab and bb become equal if a is b; so do samples that differ in order alone."""
    found = [rows(left) for left in simpler_data(data(("acb", "b", 2), ("cab", "b", 3)))]
    assert [("abc", "c", 5)] not in found  # nothing was left out
    assert [("aab", "b", 5)] in found
    numbered = next(simpler_data(data(("ab", "b", 1), ("ba", "b", 1), ("bb", "b", 1))))
    assert [sample.source for sample in numbered.samples] == ["sample 1", "sample 2"]


def test_sizes() -> None:
    assert data_size(data(("acb", "a", 40), ("bb", "b", 1))) == (2, 3, 5, 39)


def test_what_is_drawn() -> None:
    generator = np.random.default_rng(0)
    drawn = [draw_data(generator) for _ in range(600)]
    assert {d.size for d in drawn} == set(range(1, 7))
    assert {len(d.samples) for d in drawn} == set(range(1, 9))
    samples = [sample for d in drawn for sample in d.samples]
    assert {len(sample.tokens) for sample in samples} == set(range(2, 7))
    foreign = np.mean([sample.label not in sample.tokens for sample in samples])
    assert 0.01 < foreign < 0.05
    assert {sample.count for sample in samples} <= set(range(1, 9))


def test_neighbours_differ_in_one_thing() -> None:
    """A sample more or less, another label, another count, another token; all of them occur."""
    generator = np.random.default_rng(0)
    old = data(("abcd", "a", 1), ("dcab", "b", 2), ("aab", "b", 10))
    kinds: dict[str, int] = {}
    for _ in range(400):
        new = vary_data(old, generator)
        before, after = set(rows(old)), set(rows(new))
        if len(after) > len(before):
            kind = "more"
            assert len(after - before) >= 1
        elif len(after) < len(before):
            kind = "less"
        else:
            changed = [
                (a, b) for a, b in zip(rows(old), rows(new), strict=True) if (a[1:]) != (b[1:])
            ]
            counts = any(a[2] != b[2] for a, b in changed)
            kind = "count" if counts else "label or token" if rows(old) != rows(new) else "nothing"
        kinds[kind] = kinds.get(kind, 0) + 1
        assert len(new.samples) <= 8
        assert {s.count for s in new.samples} <= {1, 2, 10, 1_000, 1_000_000, 3, 11, 12}
        for sample in new.samples:
            assert sample.label in sample.tokens or kind == "more"
    assert min(kinds[k] for k in ("more", "less", "count", "label or token")) > 30


def test_growing_ends_and_a_single_sample_stays() -> None:
    generator = np.random.default_rng(1)
    full = TokenData.from_samples([("ab" + "ab"[k % 2] * k, "a", 1, "") for k in range(8)])
    assert max(len(vary_data(full, generator).samples) for _ in range(200)) == 8
    one = data(("abc", "a", 1))
    assert {len(vary_data(one, generator).samples) for _ in range(200)} == {1, 2}
    two = data(("abc", "a", 1), ("cb", "b", 1))
    assert {len(vary_data(two, generator).samples) for _ in range(200)} == {1, 2, 3}
    tokens = {vary_data(one, generator).size for _ in range(300)}
    assert max(tokens) == 4


@pytest.mark.parametrize("size", [2, 5])
def test_geometries(size: int) -> None:
    """Rotated ones are orthonormal, close ones nearly equal, dependent ones have a lower rank."""

    def drawn(geometry: str) -> np.ndarray:
        found = draw_embeddings(geometry, size, np.random.default_rng(0))
        assert found is not None
        return found

    assert GEOMETRIES == ("orthonormal", "rotated", "general", "close", "dependent")
    assert draw_embeddings("orthonormal", size, np.random.default_rng(0)) is None
    np.testing.assert_allclose(drawn("rotated") @ drawn("rotated").T, np.eye(size), atol=1e-12)
    assert np.abs(drawn("rotated") - np.eye(size)).max() > 0.1
    np.testing.assert_array_equal(drawn("close"), 1 + 0.1 * np.eye(size))
    assert drawn("general").shape == (size, size + 1)
    assert np.linalg.matrix_rank(drawn("general")) == size
    assert drawn("dependent").shape == (size, size - 1)


@dataclass(frozen=True)
class Pair:
    first: np.ndarray
    second: np.ndarray | None


def test_simpler_arrays() -> None:
    """Unit vectors of a round length, fewer digits of the largest entry, an entry less."""
    tilted = np.array([[1234.0, -56.0], [0.0, 7.0]])
    found = [p.first.tolist() for p in with_simpler_arrays(Pair(tilted, None), ("first", "second"))]
    assert [[2.0, 0.0], [0.0, 2.0]] in found
    assert [[100.0, 0.0], [0.0, 100.0]] in found
    assert [[1e4, 0.0], [0.0, 1e4]] not in found  # more to type
    assert [[1000.0, 0.0], [0.0, 0.0]] in found  # one digit
    assert [[1200.0, -100.0], [0.0, 0.0]] in found
    assert [[1230.0, -60.0], [0.0, 10.0]] in found
    assert [[1234.0, 0.0], [0.0, 7.0]] in found  # an entry less
    assert [[1234.0, -56.0], [0.0, 0.0]] in found
    assert found.count(tilted.tolist()) == 0
    assert all(p.second is None for p in with_simpler_arrays(Pair(tilted, None), ("first",)))


@pytest.mark.parametrize(("shape", "count"), [((6, 6), 36), ((37,), 0)])
def test_entries_of_small_arrays_are_left_out_one_by_one(
    shape: tuple[int, ...], count: int
) -> None:
    full = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    found = [p.first for p in with_simpler_arrays(Pair(full, None), ("first",))]
    changed = [np.flatnonzero(array != full).tolist() for array in found]
    emptied = [places for array, places in zip(found, changed, strict=True) if 0 in array]
    assert [places for places in emptied if len(places) == 1] == [[at] for at in range(count)]


def test_digits() -> None:
    both = Pair(np.array([[1.0, 2.0]]), np.array([0.25, 3.0]))
    assert digits_of(both.first, both.second, None) == 1 + 1 + 4 + 1
    assert digits_of(np.array([0.0, -2.0])) == 2

"""Small datasets up to relabelling, against brute force."""

from itertools import combinations, permutations

import numpy as np
import pytest

from lemmata.tokens import (
    all_datasets,
    all_samples,
    data_size,
    draw_data,
    letters,
    simpler_data,
    vary_data,
)


def canonical(samples: list[tuple[tuple[int, ...], int]], K: int) -> tuple:
    """The least of all renamings, bags sorted."""
    renamed = (
        sorted(
            (new[tokens[-1]], tuple(sorted(new[t] for t in tokens)), new[label])
            for tokens, label in samples
        )
        for new in permutations(range(K))
    )
    return tuple(min(renamed))


@pytest.mark.parametrize(("K", "T", "n"), [(2, 2, 2), (2, 3, 3), (3, 2, 2), (3, 3, 2)])
def test_one_of_each_class(K: int, T: int, n: int) -> None:
    rows = [(sample.tokens, sample.label) for sample in all_samples(K, T)]
    classes = {canonical(list(chosen), K) for chosen in combinations(rows, n)}
    found = [
        canonical([(sample.tokens, sample.label) for sample in data.samples], K)
        for data in all_datasets(K, T, n)
    ]
    assert len(found) == len(set(found)) == len(classes)
    assert set(found) == classes


def is_ordered(rows: list[tuple[tuple[int, ...], int]]) -> bool:
    """Two distinct tokens in each; under no last token is a label beaten by another label."""
    above = {(tokens[-1], label) for tokens, label in rows}
    below = {(tokens[-1], t) for tokens, label in rows for t in tokens if t != label}
    return all(len(set(tokens)) > 1 for tokens, _ in rows) and not above & below


@pytest.mark.parametrize(("K", "T", "n"), [(2, 3, 2), (3, 3, 2)])
def test_one_of_each_ordered_class(K: int, T: int, n: int) -> None:
    rows = [(sample.tokens, sample.label) for sample in all_samples(K, T)]
    chosen = [list(some) for some in combinations(rows, n) if is_ordered(list(some))]
    found = [
        canonical([(sample.tokens, sample.label) for sample in data.samples], K)
        for data in all_datasets(K, T, n, ordered=True)
    ]
    assert len(found) == len(set(found))
    assert set(found) == {canonical(some, K) for some in chosen}


def test_samples_are_counted_once_and_numbered() -> None:
    for data in all_datasets(2, 2, 2):
        assert [(s.count, s.source) for s in data.samples] == [(1, "sample 1"), (1, "sample 2")]


@pytest.mark.parametrize(
    ("K", "n", "count"), [(3, 3, 3_749), (4, 3, 11_344)], ids=["3 tokens", "4 tokens"]
)
def test_how_many_there_are(K: int, n: int, count: int) -> None:
    assert sum(1 for few in range(1, n + 1) for _ in all_datasets(K, 3, few)) == count


def test_tokens_have_letters() -> None:
    assert letters(3) == ["a", "b", "c"]
    assert letters(28)[25:] == ["z", "t26", "t27"]
    for data in all_datasets(3, 3, 1):
        assert data.vocabulary == tuple(letters(data.size))


def test_varied_data_is_valid_and_depends_on_the_generator_alone() -> None:
    def walk(seed: int) -> list:
        generator = np.random.default_rng(seed)
        data = draw_data(generator)
        steps = [data]
        for _ in range(60):
            data = vary_data(data, generator)
            steps.append(data)
        return steps

    for data in walk(0):
        assert data.samples
        for sample in data.samples:
            assert max(*sample.tokens, sample.label) < data.size
            assert sample.count >= 1
    assert walk(1) == walk(1)
    assert walk(1) != walk(2)


def test_simpler_data_is_smaller() -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        data = draw_data(generator)
        for simpler in simpler_data(data):
            assert data_size(simpler) < data_size(data)
            assert simpler.samples

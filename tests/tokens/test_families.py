"""Orders to try conjectures on: the programs behind them are solved by hand."""

from fractions import Fraction

import pytest

import lemmata as lm
from lemmata.papers.convergence.setting import Dataset as Sentences
from lemmata.papers.mechanics.setting import Dataset
from lemmata.settings import AbstractSpace
from lemmata.tokens import FAMILY_SIZES, order_families


def families(key: str, size: int) -> list:
    space: AbstractSpace = lm.papers[key].setting.space
    return [x for x in space.extremes() if x.name.startswith("family") and f"of {size}" in x.name]


@pytest.mark.parametrize("size", FAMILY_SIZES)
def test_norms_by_hand(size: int) -> None:
    """The scores of least norm: places in a chain, or two levels, around their mean."""
    chain, star, crowd, order, cycle, halves, chains = families("mechanics", size)
    steps = Fraction(size * (size + 1) * (size + 2), 12)  # 0, 1, ..., size
    for dataset in (chain, order):
        assert dataset.margin.norm_squared_exact == steps
    assert star.margin.norm_squared_exact == Fraction(size, size + 1)  # 1 above all others
    winners = size - 1  # above two: the last token, and the one that asks
    assert crowd.margin.norm_squared_exact == Fraction(winners * 2, winners + 2)
    assert not cycle.acyclic
    (graph,) = cycle.graphs.values()
    assert sorted(len(component) for component in graph.components) == [1, size]
    above, below = size - size // 2, size // 2
    assert halves.margin.norm_squared_exact == size * Fraction(above * below, size)
    few = size // 2 + 1  # 0, 1, ..., few - 1 under each of them
    assert chains.margin.norm_squared_exact == few * Fraction(few * (few * few - 1), 12)


@pytest.mark.parametrize("size", FAMILY_SIZES)
def test_sentences_have_the_same_orders(size: int) -> None:
    for ours, theirs in zip(
        families("convergence", size), families("mechanics", size), strict=True
    ):
        assert ours.has_collocation
        assert isinstance(ours, Sentences)
        assert isinstance(theirs, Dataset)
        if theirs.acyclic:
            assert ours.attention_margin.norm_squared_exact == theirs.margin.norm_squared_exact
        assert ours.norm_ov**2 == pytest.approx(ours.K - 1)  # a permutation of K tokens


def test_contests_name_who_asks_last_and_never_as_the_best() -> None:
    for contests in order_families(5):
        for tokens, best in contests:
            assert best in tokens[:-1]
            assert len({*tokens}) == len(tokens)

"""W^cyc of large and of lopsided ties, certified by a gradient written out in plain loops."""

import math

import numpy as np
import pytest
from oracles.deadline import within
from scipy.sparse import csr_array

from lemmata.attention import _minimise
from lemmata.papers.mechanics.setting import Dataset
from lemmata.tokens import TokenData


def tied_corpus(tokens: int, samples: int, seed: int) -> TokenData:
    """Random sequences under one last token with random labels: nearly all tokens are tied."""
    draw = np.random.default_rng(seed)
    rows = []
    for i in range(samples):
        body = draw.permutation(tokens)[:4].tolist()
        rows.append(([*body, body[0], "q"], body[int(draw.integers(4))], 1, f"line {i}"))
    return TokenData.from_samples(rows)


def largest_slope(dataset: Dataset) -> float:
    """The gradient of the risk of the cyclic subdata, sample by sample."""
    entries = dataset.correction.entries
    slope: dict[tuple[int, int], float] = {}
    for sample in dataset.cyclic.samples:
        powers = {
            x: sample.tokens.count(x) * math.exp(entries[x, sample.query])
            for x in set(sample.tokens)
        }
        total = sum(powers.values())
        for token, power in powers.items():
            cell = (token, sample.query)
            share = power / total - (token == sample.label)
            slope[cell] = slope.get(cell, 0.0) + sample.count * share
    return max(map(abs, slope.values())) / dataset.cyclic.total


def test_a_component_too_large_for_dense_steps():
    data = tied_corpus(420, 2_500, 3)
    dataset = Dataset("tied", data)
    assert max(len(tied) for tied in dataset.graphs[data.vocabulary.index("q")].components) > 300
    assert largest_slope(dataset) < 1e-14
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_minimise, "FEW_CELLS", 10_000)
        dense = Dataset("tied", data).correction
    assert dataset.correction.norm == pytest.approx(dense.norm, rel=1e-10)
    for cell, value in dense.entries.items():
        assert dataset.correction.entries[cell] == pytest.approx(value, abs=1e-8)


def test_a_lopsided_tie():
    """Odds of 100,000 to 1 are reached exactly."""
    rows = [(["a", "b", "q"], "a", 100_000, "often"), (["a", "b", "q"], "b", 1, "once")]
    correction = Dataset("lopsided", TokenData.from_samples(rows)).correction
    assert correction.entries[0, 2] - correction.entries[1, 2] == pytest.approx(math.log(1e5))
    assert correction.gradient_norm < 1e-14


def test_a_step_that_overshoots_is_shortened():
    """From odds of 2981 to 1 a full step towards 999 to 1 goes so far that the risk rises."""
    sequence = ["a"] * 2_981 + ["b"]
    rows = [(sequence, "a", 999, "often"), (sequence, "b", 1, "once")]
    with within(5):
        correction = Dataset("overshoot", TokenData.from_samples(rows)).correction
    gap = correction.entries[0, 1] - correction.entries[1, 1]
    assert gap == pytest.approx(math.log(999 / 2_981), rel=1e-11)


def test_a_rare_tie_beside_a_frequent_one():
    """One tie has a hundred-thousandth of the curvature of the other, and counts as much."""
    rows = [(["a", "b"], "a", 60_000, ""), (["a", "b"], "b", 40_000, "")]
    rows += [(["c", "d"], "c", 2, ""), (["c", "d"], "d", 1, "")]
    data = TokenData.from_samples(rows)
    dataset = Dataset("rare", data, np.eye(4))
    W = dataset.dense(dataset.correction)
    assert W[0, 1] - W[1, 1] == pytest.approx(math.log(1.5), rel=1e-10)
    assert W[2, 3] - W[3, 3] == pytest.approx(math.log(2), rel=1e-10)


class Counted(csr_array):
    """A matrix that counts its products."""

    products = 0

    def __matmul__(self, other: np.ndarray) -> np.ndarray:
        self.products += 1
        return super().__matmul__(other)


def test_conjugate_gradients_solve_the_newton_equations():
    draw = np.random.default_rng(8)
    masses = draw.uniform(0.05, 1.0, (60, 12)) * (draw.random((60, 12)) < 0.4)
    masses[:, 0] += 0.1
    masses /= masses.sum(axis=1, keepdims=True)
    weight = draw.dirichlet(np.ones(60))
    diagonal = weight @ masses
    curvature = np.diag(diagonal) - masses.T @ (weight[:, None] * masses)
    slope = curvature @ draw.standard_normal(12)
    weighted = Counted(weight[:, None] * masses)
    found = _minimise._conjugate_gradients(csr_array(masses), weighted, diagonal, slope)
    assert found is not None
    error = np.linalg.norm(curvature @ found + slope)
    assert error < 1e-6 * np.linalg.norm(slope)
    assert weighted.products <= 13  # eleven without rounding: the rank


def test_a_chain_of_lopsided_ties():
    """Five tokens in a circle, each far ahead of the next but the last: a range beyond 20."""
    rows = []
    for a, b in ("ab", "bc", "cd", "de"):
        rows += [([a, b, "q"], a, 1_000, "often"), ([a, b, "q"], b, 1, "once")]
    dataset = Dataset("chain", TokenData.from_samples(rows))
    values = dataset.correction.entries
    name = dataset.data.vocabulary.index
    q = name("q")
    assert values[name("a"), q] - values[name("e"), q] == pytest.approx(4 * math.log(1_000))
    assert largest_slope(dataset) < 1e-14

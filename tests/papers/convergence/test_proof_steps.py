"""What the steps of the proofs rest on, against plain loops over positions and other code."""

import numpy as np
import pytest
from mpmath import mp
from scipy.special import softmax

from lemmata.papers.convergence.claims.vanishing import can_vanish, entropy_floor
from lemmata.papers.convergence.counterexamples import bag_decides, without_preimage
from lemmata.papers.convergence.experiments._points import equation_6
from lemmata.papers.convergence.experiments._proofs import (
    Layer,
    attend,
    gradient,
    quantities,
    walk,
)
from lemmata.papers.convergence.setting import Dataset, TwoStage, example_1

DELTA = 3.0
REPEATED = Dataset.from_sentences("abbb, ba", {"a b b b": 2, "b a": 1})


def equal_values(dataset: Dataset) -> np.ndarray:
    """(W_ov x)_v with margins DELTA."""
    rows = np.zeros((dataset.K, dataset.K))
    for x, after in dataset.collocation.following.items():
        rows[x, after] = DELTA
    return rows


@pytest.fixture
def weights() -> np.ndarray:
    return np.random.default_rng(3).standard_normal((4, 4))


def test_the_gradient_is_equation_6_at_equal_margins(weights: np.ndarray):
    dataset = example_1()
    layer = Layer.of(dataset, DELTA)
    expected = equation_6(dataset, equal_values(dataset), weights)
    found = gradient(layer, attend(layer, weights)) * dataset.frequencies[0]
    np.testing.assert_allclose(found, expected, atol=1e-15)


def parts(dataset: Dataset, W: np.ndarray, a: np.ndarray, sample) -> list[float]:
    """A, B₊ and B₋ position by position, as Appendix C.4 writes them."""
    tokens, q = list(sample.tokens), sample.query
    phi = softmax(W[tokens, q])
    T = softmax(phi @ equal_values(dataset)[tokens])
    chosen = [x in dataset.orders.selected(sample) for x in tokens]
    after = [dataset.collocation.following[x] for x in tokens]
    heights, places = a[tokens, q], range(len(tokens))
    inside = [k for k in places if chosen[k]]
    outside = [k for k in places if not chosen[k]]
    A = sum((T[after[k]] - 1) * phi[k] * (heights[k] - phi @ heights) for k in inside)
    plus, minus = sum(phi[k] for k in inside), sum(phi[k] for k in outside)
    above, below = (sum(phi[m] * heights[m] for m in some) for some in (inside, outside))
    B_plus = sum(T[after[k]] * phi[k] * (plus * heights[k] - above) for k in outside)
    B_minus = sum(T[after[k]] * phi[k] * (minus * heights[k] - below) for k in outside)
    return [A, B_plus, B_minus]


@pytest.mark.parametrize("dataset", [example_1(), REPEATED], ids=lambda dataset: dataset.name)
def test_parts_of_the_proof_of_lemma_7_are_sums_over_positions(dataset: Dataset, weights):
    W = weights[: dataset.K, : dataset.K]
    found = quantities(Layer.of(dataset, DELTA), W)
    target = dataset.attention_margin.weights
    scaled = target * np.linalg.norm(W) / dataset.norm_kq
    samples = [s for s in dataset.data.samples if len(set(s.tokens)) > 1]
    for name, logits in (("t", W), ("star", scaled)):
        table = np.array([parts(dataset, W, logits, sample) for sample in samples]).T
        for part, expected in zip(("A", "B_plus", "B_minus"), table, strict=True):
            np.testing.assert_allclose(found[f"{part}_{name}"], expected, atol=1e-14)


def test_the_walk_is_stage_2():
    dataset = example_1()
    training = TwoStage(stage1_steps=30, stage1_rate=0.1, steps=20, rate=0.3)
    layer = Layer.of(dataset, 30 * 0.1 / dataset.norm_ov)
    ends = list(walk(layer, 0.3, [0, 20]))
    np.testing.assert_allclose(ends[1], training.run([dataset]).key_query(0), rtol=1e-9, atol=1e-12)


def test_a_loss_that_vanishes_without_the_preimage():
    """{abc, ba, cc}: 2.27e-5 at scale 100 by 40 digits, and a linear program finds such a W_ov."""
    dataset, values = without_preimage()
    with mp.workdps(40):
        total = mp.mpf(0)
        for sample in dataset.data.samples:
            rows = [[mp.mpf(str(v)) * 100 for v in values[x]] for x in sample.tokens]
            logits = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
            terms = [mp.exp(z - logits[sample.label]) for z in logits]
            total += mp.log(sum(terms)) / len(dataset.data.samples)
    assert float(total) == pytest.approx(2.27e-5, rel=2e-3)
    assert [p.code for p in dataset.problems] == ["preimage_not_in_sentence"]
    uniform = np.zeros((3, 3))
    assert can_vanish(dataset, uniform)
    assert not can_vanish(Dataset.from_sentences("ab, ac", ["ab", "ac", "ba", "ca"]), uniform)


def test_counts_decide_where_tokens_beat_each_other():
    """[b a] → a and [b a a] → b with margins m_a < m_b < 2 m_a."""
    dataset = bag_decides()
    assert dataset.broken("order_not_well_defined")
    assert can_vanish(dataset, np.zeros((2, 2)))
    margins = {"a": 2.0, "b": 3.0}
    assert margins["b"] / 2 > margins["a"] / 2
    assert 2 * margins["a"] / 3 > margins["b"] / 3


def test_the_floor_is_an_entropy():
    dataset = Dataset.from_sentences("x", {"a b": 3, "a c": 1, "b a": 2, "c a": 2})
    quarter = 4 / 8 * -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert entropy_floor(dataset) == pytest.approx(quarter, rel=1e-12)

"""The forward pass: attention, predictions, log-odds; and packing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp, mpf
from oracles import textbook
from oracles.golden import GOLDEN, cases

from lemmata.attention import attention, log_mass, number_cells, pack, predict, split_mass
from lemmata.tokens import TokenData

DATA = TokenData.from_sentences(["abcab", "bcabb", "caabc"])


@pytest.mark.parametrize("scale", [1.0, 100.0, 1500.0])
def test_attention_and_prediction(scale):
    generator = np.random.default_rng(0)
    values, weights = scale * generator.standard_normal((2, 4, 4))
    tokens = [3, 0, 0, 2, 1]
    with mp.workdps(300):
        phi = textbook.softmax([mpf(float(weights[x, 1])) for x in tokens])
        guess = textbook.predict(tokens, textbook.as_table(values), textbook.as_table(weights), 4)
    np.testing.assert_allclose(attention(tokens, weights), np.array(phi, float), rtol=1e-12)
    np.testing.assert_allclose(
        predict(tokens, values, weights), np.array(guess, float), rtol=1e-11, atol=1e-300
    )


def test_golden_predictions():
    example = GOLDEN["example1"]
    names = example["vocabulary"]
    values = 900 * 0.1 / np.sqrt(3) * np.roll(np.eye(4), 1, axis=1)
    weights = np.array(example["W_kq_at_900"])
    for words, facts in example["predictions_at_t900"].items():
        tokens = [names.index(word) for word in words]
        guess = predict(tokens, values, weights)
        np.testing.assert_allclose(attention(tokens, weights), facts["attention"], rtol=1e-9)
        assert guess.max() == pytest.approx(facts["prob"], abs=1e-9)
        best = {names[v] for v in np.flatnonzero(guess > guess.max() - 1e-9)}
        assert best == set(facts["next"].removeprefix("tie ").split("/"))


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_log_mass_and_log_odds(scale):
    inputs = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), pack([DATA]))
    matrix = scale * np.random.default_rng(1).standard_normal((3, 3))
    logits = jnp.asarray(matrix)[inputs.cell_token, inputs.cell_query]
    optimal = inputs.tokens == inputs.label[:, None]
    masses = jax.jit(log_mass)(inputs, logits)
    inside, outside = jax.jit(split_mass)(inputs, logits, optimal)
    odds = inside - outside
    with mp.workdps(textbook.digits_for(10 * scale)):
        for n, sample in enumerate(DATA.samples):
            phi = textbook.softmax([mpf(float(matrix[x, sample.query])) for x in sample.tokens])
            mass = {
                x: mp.fsum(p for p, y in zip(phi, sample.tokens, strict=True) if x == y)
                for x in sorted(set(sample.tokens))
            }
            for s, value in enumerate(mass.values()):
                assert float(masses[n, s]) == pytest.approx(float(mp.log(value)), rel=1e-13)
            chosen = mass.get(sample.label, mpf(0))
            others = mp.fsum(value for x, value in mass.items() if x != sample.label)
            expected = mp.log(chosen / others) if others else mp.inf
            assert float(odds[n]) == pytest.approx(float(expected), rel=1e-13)


@pytest.mark.parametrize("gap", [0.0, 1.0, 30.0, 900.0])
def test_all_chosen_tokens_count_together_in_the_log_odds(gap):
    # a twice, b, c and d under query d: a and b are chosen, and lead by the gap
    data = TokenData.from_samples([("aabcd", "a", 1, "")])
    inputs = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), pack([data]))
    logits = jnp.array([gap, gap + 0.5, 0.25, 0.0])
    inside, outside = split_mass(inputs, logits, jnp.array([[True, True, False, False]]))
    with mp.workdps(textbook.digits_for(gap)):
        chosen = 2 * mp.exp(gap) + mp.exp(gap + 0.5)
        others = mp.exp(0.25) + 1
    assert float(inside[0]) == pytest.approx(float(mp.log(chosen)), rel=1e-14)
    assert float(outside[0]) == pytest.approx(float(mp.log(others)), rel=1e-14)


def test_packed_inputs_can_be_read_back():
    family = [DATA, cases()["random_K6"].data]
    batch = pack(family)
    for b, data in enumerate(family):
        assert batch.vocabulary[b].tolist() == [x < data.size for x in range(6)]
        count = len(data.samples)
        np.testing.assert_allclose(np.exp(batch.log_frequency[b, :count]), data.frequencies)
        assert np.all(batch.log_frequency[b, count:] == -np.inf)
        for n, sample in enumerate(data.samples):
            real = np.isfinite(batch.log_multiplicity[b, n])
            found = dict(
                zip(batch.tokens[b, n, real], batch.log_multiplicity[b, n, real], strict=True)
            )
            assert {int(x): round(np.exp(m)) for x, m in found.items()} == {
                x: sample.tokens.count(x) for x in sample.tokens
            }
            assert (batch.query[b, n], batch.label[b, n]) == (sample.query, sample.label)
            at = batch.cells[b, n, real]
            assert batch.cell_token[b, at].tolist() == batch.tokens[b, n, real].tolist()
            assert set(batch.cell_query[b, at].tolist()) == {sample.query}
        pairs = {(x, s.query) for s in data.samples for x in s.tokens}
        known = batch.cell_exists[b]
        cells = list(zip(batch.cell_token[b, known], batch.cell_query[b, known], strict=True))
        assert len(cells) == len(pairs)
        assert {(int(x), int(q)) for x, q in cells} == pairs


SCATTERED = TokenData.from_samples([([17, 8, 32, 1], 8, 1, ""), ([16, 3, 1], 3, 1, "")], range(33))
"""Token numbers that a set does not hold in their order."""


def test_cells_are_numbered_in_order_of_first_use():
    expected = [(1, 1), (8, 1), (17, 1), (32, 1), (3, 1), (16, 1)]
    assert number_cells(SCATTERED) == {cell: i for i, cell in enumerate(expected)}


@pytest.mark.parametrize("other", [cases()["lemma7_witness"].data, SCATTERED])
def test_contributions_list_every_use_of_a_cell_once(other):
    batch = pack([DATA, other])
    _, N, D = batch.tokens.shape
    for b in range(2):
        uses = sorted(p for p in batch.contributions[b].ravel().tolist() if p < N * D)
        real = np.isfinite(batch.log_multiplicity[b]) & np.isfinite(batch.log_frequency[b])[:, None]
        assert uses == np.flatnonzero(real.ravel()).tolist()
        for c, row in enumerate(batch.contributions[b].tolist()):
            for position in row:
                if position < N * D:
                    assert batch.cells[b].ravel()[position] == c

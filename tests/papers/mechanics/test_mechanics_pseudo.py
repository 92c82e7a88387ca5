"""What a trained model selects, and the local limits that it defines."""

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp
from oracles import descent, heads, textbook
from oracles.graph_svm import graph_svm, rows_of, solved
from oracles.recorded import recorded

from lemmata.margin import Status
from lemmata.papers.mechanics.setting import LOCAL, Dataset, Training, generate, pseudo_limits
from lemmata.papers.mechanics.setting._pseudo import _expand


@pytest.fixture(scope="module")
def local() -> list[Dataset]:
    return generate(LOCAL, 6, 9)


def trained(dataset: Dataset, seed: int) -> np.ndarray:
    """Any weights that select: large and random."""
    return 4 * np.random.default_rng(seed).standard_normal(2 * (dataset.E.shape[1],))


def masses(dataset: Dataset, W: np.ndarray, tokens: tuple[int, ...]) -> dict[int, float]:
    s = descent.softmax(dataset.E[list(tokens)] @ W @ dataset.E[tokens[-1]])
    return {x: float(s[[t == x for t in tokens]].sum()) for x in tokens}


def test_golden_pseudo_graph():
    case = recorded("losses")
    facts = case.facts["pseudo"]
    how = Training(loss="cross-entropy", head="embedding", rate=0.1, steps=50)
    W = 20 * np.array(case.facts["W"])
    (found,) = pseudo_limits([case.dataset], [W], how, "selected")
    assert [sorted(chosen) for chosen in found.selected] == facts["selected"]
    for query, graph in found.graphs.items():
        assert [list(edge) for edge in graph.edges] == facts["edges"][str(query)]
        assert sorted(graph.components) == facts["sccs"][str(query)]
    strict = {2: [(2, 1), (3, 1)], 1: [(1, 2), (1, 3)]}
    assert set(found.strict) == {(q, edge) for q, edges in strict.items() for edge in edges}
    E = case.dataset.E
    expected = graph_svm(rows_of(strict, E), rows_of({2: [(2, 3)]}, E))
    assert expected is not None
    W_mm, norm = solved(found.margin)
    np.testing.assert_allclose(W_mm.ravel(), expected, atol=1e-6 * norm)


def assert_stationary(dataset: Dataset, found, how: Training) -> None:
    """The gradient of the reduced risk vanishes along the ties, in fifty digits."""
    E = dataset.E
    logits = E @ found.finite @ E.T
    with mp.workdps(50):
        table = heads.as_scores(E @ E.T)
        _, gradient = heads.evaluate(
            found.reduced, table, textbook.as_table(logits), str(how.loss), excess=False
        )
        slope = textbook.to_array(gradient, dataset.K)
    matrix = E.T @ slope @ E
    for query, (a, b) in found.tied:
        along = np.outer(E[a] - E[b], E[query])
        assert abs(np.sum(along * matrix)) < 1e-12


@pytest.mark.parametrize("loss", ["cross-entropy", "softmax-squared", "squared"])
def test_the_finite_limit_is_stationary_and_inside_the_ties(local, loss):
    how = Training(loss=loss, head="embedding", rate=0.1, steps=50)
    weights = [trained(dataset, i) for i, dataset in enumerate(local)]
    reached = 0
    for dataset, W, found in zip(
        local, weights, pseudo_limits(local, weights, how, "selected"), strict=True
    ):
        for sample, chosen in zip(dataset.data.samples, found.selected, strict=True):
            table = masses(dataset, W, sample.tokens)
            assert chosen == {x for x, p in table.items() if p > 0.01}
        kept = [set(s.tokens) for s in found.reduced.samples]
        assert kept == [set(chosen) for chosen in found.selected if len(chosen) > 1]
        if not found.reduced.samples:
            np.testing.assert_array_equal(found.finite, 0)
            continue
        pairs = [np.outer(dataset.E[a] - dataset.E[b], dataset.E[q]) for q, (a, b) in found.tied]
        project = descent.tied_span(pairs)
        np.testing.assert_allclose(project @ found.finite.ravel(), found.finite.ravel(), atol=1e-9)
        if np.linalg.norm(found.finite) < 100:  # some of these risks have no minimum at all
            assert_stationary(dataset, found, how)
            reached += 1
    assert reached


def test_margins_and_ties_of_the_pseudo_graph(local):
    how = Training(loss="cross-entropy", head="embedding", rate=0.1, steps=50)
    weights = [trained(dataset, i) for i, dataset in enumerate(local)]
    for dataset, found in zip(local, pseudo_limits(local, weights, how, "selected"), strict=True):
        assert found.margin.status is Status.SOLVED
        E, W = dataset.E, found.margin.weights
        for q, (a, b) in found.strict:
            assert (E[a] - E[b]) @ W @ E[q] >= 1 - 1e-10
        for q, (a, b) in found.tied:
            assert (E[a] - E[b]) @ W @ E[q] == pytest.approx(0, abs=1e-10)
        assert found.limit.ties == found.tied


def test_the_authors_recipe_keeps_what_is_tied_with_the_true_label():
    dataset = replace(recorded("fig2_reconstruction").dataset, initial_weights=None)
    W = 1.5 * dataset.dense(dataset.correction) + 8 * dataset.target
    how = Training("gd", 0.5, 3_000, (3_000,))
    (found,) = pseudo_limits([dataset], [W], how, "authors")
    # with every label selected these are the dataset's own graphs and limits
    rows = {(s.tokens, s.query, s.label) for s in found.reduced.samples}
    assert rows == {(s.tokens, s.query, s.label) for s in dataset.cyclic.samples}
    assert set(found.strict) >= set(dataset.strict_pairs)
    np.testing.assert_allclose(found.finite, dataset.dense(dataset.correction), atol=1e-8)
    np.testing.assert_allclose(solved(found.margin)[0], dataset.target, atol=1e-9)


@pytest.mark.parametrize("loss", ["cross-entropy", "softmax-squared"])
def test_both_derivatives_of_a_sample_by_differences(loss):
    draw, label = np.random.default_rng(3), 2
    gains, logits, moves = draw.standard_normal((4, 3)), draw.standard_normal(3), 1e-4 * np.eye(3)

    def value(z: np.ndarray) -> float:
        q = descent.softmax(gains @ descent.softmax(z))[label]
        return -np.log(q) if loss == "cross-entropy" else (1 - q) ** 2

    def change(z: np.ndarray, e: np.ndarray) -> float:
        return (value(z + e) - value(z - e)) / 2e-4

    slope = [change(logits, e) for e in moves]
    bend = [[(change(logits + f, e) - change(logits - f, e)) / 2e-4 for e in moves] for f in moves]
    first, second = _expand(logits, gains, label, loss)
    np.testing.assert_allclose(first, slope, atol=1e-7)
    np.testing.assert_allclose(second, bend, atol=1e-6)

"""Datasets of the mechanics paper: stored structures, both limits, problems, generators."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import descent, selection
from oracles.graph_svm import graph_svm, rows_of
from oracles.recorded import FACTS, MECHANICS, recorded
from scipy.optimize import minimize

from lemmata._errors import InputError
from lemmata.margin import Status
from lemmata.papers.mechanics.setting import ACYCLIC, CYCLIC, Dataset, Recipe, generate
from lemmata.tokens import Instance, TokenData

REALIZABLE = [name for name in FACTS if name != "unrealizable"]
FEASIBLE = [name for name in REALIZABLE if FACTS[name]["feasible"]]


@pytest.mark.parametrize("name", REALIZABLE)
def test_golden_graphs(name):
    case = recorded(name)
    graphs = case.dataset.graphs
    assert {str(q) for q in graphs} == set(case.facts["graphs"])
    for query, facts in case.facts["graphs"].items():
        graph = graphs[int(query)]
        assert list(graph.nodes) == facts["nodes"]
        assert [list(edge) for edge in graph.edges] == facts["edges"]
        assert sorted(graph.components) == facts["sccs"]
        assert [list(edge) for edge in graph.strict_edges] == facts["strict"]
    assert case.dataset.acyclic is case.facts["acyclic"]
    assert case.dataset.feasible is case.facts["feasible"]


@pytest.mark.parametrize("name", REALIZABLE)
def test_golden_dimensions(name):
    case = recorded(name)
    dataset = case.dataset
    assert len(dataset.tied_basis) == case.facts["dim_S_cyc"]
    rows = rows_of({q: g.edges for q, g in dataset.graphs.items()}, dataset.E)
    assert np.linalg.matrix_rank(rows) == case.facts["dim_S_all"]
    assert len(dataset.bound_basis) + len(dataset.free_basis) == case.facts["dim_S_all"]
    both = np.concatenate([dataset.bound_basis, dataset.free_basis])
    np.testing.assert_allclose(both @ both.T, np.eye(len(both)), atol=1e-12)


def variants(name: str) -> list[Dataset]:
    """With the embeddings as stored, and (if they are unit vectors) without them."""
    case = recorded(name)
    return [case.dataset] + ([case.bare] if case.bare is not None else [])


@pytest.mark.parametrize("name", FEASIBLE)
def test_golden_limits(name):
    facts = FACTS[name]
    for dataset in variants(name):
        np.testing.assert_allclose(dataset.target, facts["W_mm"], atol=1e-11)
        assert dataset.norm == pytest.approx(facts["W_mm_norm"], rel=1e-12, abs=1e-14)
        finite = dataset.dense(dataset.correction)
        np.testing.assert_allclose(finite, facts["W_cyc"], atol=1e-11)
        assert dataset.correction.norm == pytest.approx(facts["W_cyc_norm"], rel=1e-11, abs=1e-14)
        assert dataset.correction.gradient_norm < 1e-12
        assert np.sum(dataset.target * finite) == pytest.approx(0, abs=1e-11)
        exact = facts.get("expected_exact", {}).get("W_cyc")
        if exact is not None:
            column = finite[:, facts["expected_exact"]["column"]]
            np.testing.assert_allclose(column, exact, atol=1e-14)


@pytest.mark.parametrize("name", FEASIBLE)
def test_golden_risk(name):
    facts = FACTS[name]
    for dataset in variants(name):
        risk, cells = dataset.risk, list(dataset.cells)
        zero = np.zeros(len(cells))
        assert risk.value(zero) == pytest.approx(facts["loss_at_zero"], rel=1e-14)
        masses = np.exp(risk.log_masses(zero))
        gradient = risk.gradient(masses, np.ones(len(masses), dtype=bool))
        E = dataset.E
        matrix = np.zeros((E.shape[1],) * 2)
        for (token, query), value in zip(cells, gradient, strict=True):
            matrix += value * np.outer(E[token], E[query])
        np.testing.assert_allclose(matrix, facts["grad_at_zero"], atol=1e-15)
        reduced = risk.tied_only()
        if facts["I"]:
            logits = [E[x] @ dataset.dense(dataset.correction) @ E[q] for x, q in cells]
            value = reduced.value(np.array(logits))
            assert value == pytest.approx(facts["L_bar_min"], rel=1e-13)
            share = len(facts["I"]) / len(facts["labels"])
            assert share * value == pytest.approx(facts["limit_loss"], rel=1e-13)
            design = dataset.design(dataset.tied_basis)
            curvature = np.linalg.eigvalsh(risk.hessian(masses, design))
            assert curvature.min() == pytest.approx(facts["hess_min_on_S_cyc"], abs=1e-14)
        assert dataset.lipschitz_tight == pytest.approx(facts["lipschitz_tight"], rel=1e-13)
        assert dataset.lipschitz == pytest.approx(facts["lipschitz_paper"], rel=1e-13)


def test_golden_infeasible_program():
    dataset, facts = recorded("infeasible_d1").dataset, FACTS["infeasible_d1"]
    assert dataset.margin.status is Status.INFEASIBLE
    assert np.isnan(dataset.norm)
    assert dataset.generalized.separable == ()
    np.testing.assert_allclose(dataset.target, [[0.0]])
    np.testing.assert_allclose(
        dataset.dense(dataset.finite_part), facts["finite_minimiser"], atol=1e-12
    )
    assert dataset.risk.value(np.zeros(3)) == pytest.approx(facts["loss_min"], rel=1e-15)
    assert {p.code for p in dataset.problems} >= {"infeasible", "embeddings_dependent"}


def test_a_sample_whose_label_is_missing_is_left_out():
    dataset, facts = recorded("unrealizable").dataset, FACTS["unrealizable"]["realizable_only"]
    assert len(dataset.realizable.samples) == 2
    np.testing.assert_allclose(dataset.target, facts["W_mm"], atol=1e-12)
    assert dataset.norm == pytest.approx(facts["norm"], rel=1e-13)
    bare = Dataset("bare", dataset.data)
    column = [bare.margin.entries[x, 3] for x in range(4)]
    assert column == [Fraction(value) for value in facts["column3"]]
    (problem,) = dataset.broken("label_not_in_sequence")
    assert problem.where == "sequence 2"
    assert dataset.acyclic


SAMPLES = st.lists(
    st.lists(st.integers(0, 4), min_size=1, max_size=4).flatmap(
        lambda tokens: st.tuples(st.just(tuple(tokens)), st.sampled_from([*tokens, 4]))
    ),
    min_size=1,
    max_size=7,
    unique=True,
)


@settings(max_examples=60)
@given(SAMPLES)
def test_every_dataset_has_the_structure_that_its_words_say(rows):
    dataset = Dataset.from_samples("drawn", [x for x, _ in rows], [y for _, y in rows], np.eye(5))
    real = selection.realizable(rows)
    assert [(s.tokens, s.label) for s in dataset.realizable.samples] == real
    for query, graph in dataset.graphs.items():
        assert set(graph.edges) == selection.edges(rows, query)
        assert set(graph.strict_edges) == selection.strict(rows, query)
    assert [(s.tokens, s.query) for s in dataset.cyclic.samples] == [
        (r.tokens, r.query) for r in selection.reduce(real)
    ]
    assert dataset.tied_tokens == [
        {x[t] for t in selection.tied_positions(real, (x, y))} for x, y in real
    ]
    bare = Dataset("bare", dataset.data)
    np.testing.assert_allclose(bare.target, dataset.target, atol=1e-10)
    np.testing.assert_allclose(
        bare.dense(bare.correction), dataset.dense(dataset.correction), atol=1e-9
    )
    # Lemma 2: orthogonal, and the spans do not meet
    inside = dataset.tied_basis @ dataset.target.ravel()
    np.testing.assert_allclose(inside, 0, atol=1e-11)
    assert len(dataset.broken("label_not_in_sequence")) == len(rows) - len(real)
    assert bool(dataset.broken("cyclic")) is not dataset.acyclic


@pytest.mark.parametrize("seed", range(5))
def test_the_finite_limit_by_a_generic_minimiser(seed):
    (dataset,) = generate(Recipe(6, 8, 8, 4, "cyclic"), 1, seed)
    basis, E = dataset.tied_basis, dataset.E
    rows = [(s.tokens, s.label, s.query) for s in dataset.cyclic.samples for _ in range(s.count)]

    def risk(z: np.ndarray) -> tuple[float, np.ndarray]:
        loss, gradient = descent.risk(rows, E, (z @ basis).reshape(8, 8))
        return loss, basis @ gradient.ravel()

    found = minimize(risk, np.zeros(len(basis)), jac=True, method="BFGS", options={"gtol": 1e-9})
    expected = (found.x @ basis).reshape(8, 8)
    np.testing.assert_allclose(dataset.dense(dataset.correction), expected, atol=2e-7)


@pytest.mark.parametrize("seed", range(3))
def test_the_generalized_finite_limit_by_a_generic_minimiser(seed):
    dataset = next(d for d in generate(Recipe(8, 4, 10, 6), 12, 40 + seed) if not d.feasible)
    bound = set(dataset.generalized.bound)
    rows = []
    for s in dataset.realizable.samples:
        kept = [x for x in s.tokens if x == s.label or (s.query, (s.label, x)) in bound]
        if len(set(kept)) > 1:
            rows += [(kept, s.label, s.query)] * s.count
    W = dataset.dense(dataset.finite_part)
    _, gradient = descent.risk(rows, dataset.E, W)
    assert np.linalg.norm(dataset.bound_basis @ gradient.ravel()) < 1e-10
    np.testing.assert_allclose(
        dataset.bound_basis.T @ (dataset.bound_basis @ W.ravel()), W.ravel(), atol=1e-9
    )
    moved = np.random.default_rng(seed).standard_normal(len(dataset.bound_basis))
    there = W + 0.1 * (moved @ dataset.bound_basis).reshape(W.shape)
    assert descent.risk(rows, dataset.E, there)[0] > descent.risk(rows, dataset.E, W)[0]


def test_the_max_margin_of_random_datasets_agrees_with_clarabel():
    for dataset in (*generate(ACYCLIC, 3, 1), *generate(CYCLIC, 3, 1)):
        strict = {q: g.strict_edges for q, g in dataset.graphs.items()}
        tied = {
            q: [(a, b) for c in g.components for a in c for b in c if a < b]
            for q, g in dataset.graphs.items()
        }
        expected = graph_svm(rows_of(strict, dataset.E), rows_of(tied, dataset.E))
        assert expected is not None
        np.testing.assert_allclose(dataset.target.ravel(), expected, atol=1e-6 * dataset.norm)


@pytest.mark.parametrize(
    ("kind", "labels"),
    [("acyclic", "uniform"), ("cyclic", "uniform"), ("any", "uniform"), ("any", "priority")],
)
def test_generated_datasets_are_what_the_recipe_says(kind, labels):
    recipe = Recipe(7, 5, 4, 3, kind, labels)
    found = generate(recipe, 6, 3)
    again = generate(recipe, 2, 3)
    for dataset in found:
        assert dataset.E.shape == (7, 5)
        np.testing.assert_allclose(np.linalg.norm(dataset.E, axis=1), 1, rtol=1e-14)
        start = dataset.initial_weights
        assert start is not None
        assert np.abs(start).max() <= 1 / np.sqrt(5)
        assert dataset.data.total == 4
        for sample in dataset.data.samples:
            assert len(set(sample.tokens)) == len(sample.tokens) == 3
            assert sample.label in sample.tokens
        if kind != "any":
            assert dataset.acyclic is (kind == "acyclic")
        if labels == "priority":
            assert dataset.acyclic
    assert [d.data for d in again] == [d.data for d in found[:2]]
    assert len({d.data for d in found}) > 1


@pytest.mark.parametrize(
    "sizes", [(0, 4, 2, 2), (4, 0, 2, 2), (4, 4, 0, 2), (4, 4, 2, 0), (3, 4, 2, 4)]
)
def test_impossible_recipes(sizes):
    with pytest.raises(InputError, match="cannot draw"):
        generate(Recipe(*sizes), 1, 0)


def test_a_kind_that_does_not_exist_ends(monkeypatch):
    monkeypatch.setattr("lemmata.papers.mechanics.setting._generators.MOST_DRAWS", 50)
    with pytest.raises(InputError, match="no cyclic dataset in 50 draws"):
        generate(Recipe(2, 2, 1, 2, "cyclic"), 1, 0)


def test_instances_with_wrong_shapes():
    data = TokenData.from_samples([([0, 1], 0, 1, "")], range(2))
    with pytest.raises(InputError, match="3 embedding rows for 2 tokens"):
        Dataset.from_instance("x", Instance(data, np.eye(3)))
    wide = Instance(data, None, np.zeros((3, 3)))
    with pytest.raises(InputError, match="initial weights have shape"):
        Dataset.from_instance("x", wide)


def test_orthonormal_embeddings_are_set_aside_unless_a_start_needs_them():
    data = TokenData.from_samples([([0, 1], 0, 1, "")], range(2))
    turned = np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]])
    assert Dataset.from_instance("x", Instance(data, turned)).embeddings is None
    kept = Dataset.from_instance("x", Instance(data, turned, np.ones((3, 3))))
    assert kept.embeddings is not None
    assert kept.orthonormal
    bent = Dataset.from_instance("x", Instance(data, turned + 0.01))
    assert not bent.orthonormal
    assert [p.code for p in bent.problems] == ["embeddings_not_orthonormal"]


def test_dependent_embeddings_and_zero_margins_are_problems():
    line = Dataset.from_samples("line", [[0, 1, 2]], [0], np.array([[1.0], [2.0], [3.0]]))
    assert {"embeddings_dependent", "embeddings_not_orthonormal"} == {p.code for p in line.problems}
    lonely = Dataset.from_samples("lonely", [[0, 0], [1]], [0, 1])
    assert [p.code for p in lonely.problems] == ["max_margin_zero"]
    assert lonely.norm == 0


def test_repeated_problems_are_counted():
    rows = [[i, i + 1] for i in range(1_500)]
    dataset = Dataset.from_samples("far", rows, [5_000] * 1_500)
    codes = [p.code for p in dataset.problems]
    assert codes.count("label_not_in_sequence") == 1_001
    assert "500 more" in dataset.problems[1_000].message


def test_counterexample_columns():
    for facts in MECHANICS["counterexamples"][:3]:
        (key,) = [key for key in facts if key.startswith("W_mm_column")]
        size, query = len(facts[key]), int(key[-1])
        data = TokenData.from_samples(
            [(x, y, 1, "") for x, y in zip(facts["sequences"], facts["labels"], strict=True)],
            range(size),
        )
        margin = Dataset("witness", data).margin
        column = [margin.entries.get((x, query), Fraction(0)) for x in range(size)]
        assert column == [Fraction(value) for value in facts[key]]
        true = next(np.array(v) for k, v in facts.items() if k.startswith("true_limit"))
        cosine = descent.correlation(np.array(column, dtype=float), true)
        assert cosine == pytest.approx(facts["cosine_with_W_mm"], abs=1e-12)

"""Graph-SVM: tied tokens share a logit. Against Clarabel, exact KKT, and stored solutions."""

from fractions import Fraction

import numpy as np
import pytest
from oracles import graphs as closure
from oracles.graph_svm import assert_exact_kkt, graph_svm, rows_of, solved
from oracles.recorded import FACTS, recorded

from lemmata.margin import Status, embedded_max_margin, max_margin, max_margin_of_pairs
from lemmata.tokens import PriorityGraph, random_orthonormal_embeddings

Facts = dict[int, list[tuple[int, int]]]


def random_digraph(generator: np.random.Generator, size: int, count: int) -> list[tuple[int, int]]:
    pairs = [(a, b) for a in range(size) for b in range(size) if a != b]
    return [pairs[i] for i in generator.choice(len(pairs), count, replace=False)]


def random_graphs(seed: int, size: int) -> dict[int, PriorityGraph]:
    generator = np.random.default_rng(seed)
    return {
        q: PriorityGraph(
            q,
            tuple(range(size)),
            dict.fromkeys(random_digraph(generator, size, int(generator.integers(3, 9))), 0),
        )
        for q in range(size)
    }


def split(graph: PriorityGraph) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """All strict edges and all tied pairs, by the transitive closure."""
    reach = closure.closure(graph.nodes, graph.edges)
    strict = [(a, b) for a, b in graph.edges if (b, a) not in reach]
    tied = [(a, b) for a, b in reach if a < b and (b, a) in reach]
    return strict, tied


def facts_of(graphs: dict[int, PriorityGraph]) -> tuple[Facts, Facts]:
    parts = {q: split(graph) for q, graph in graphs.items()}
    return {q: s for q, (s, _) in parts.items()}, {q: t for q, (_, t) in parts.items()}


@pytest.mark.parametrize("seed", range(12))
def test_orthonormal_embeddings_agree_with_clarabel(seed):
    graphs = random_graphs(seed, 6)
    strict, tied = facts_of(graphs)
    E = np.eye(6)
    expected = graph_svm(rows_of(strict, E), rows_of(tied, E))
    found = max_margin(graphs, 6, ties=True)
    assert expected is not None
    W, norm = solved(found)
    np.testing.assert_allclose(W.ravel(), expected, atol=1e-6 * norm)


def test_the_exact_solution_satisfies_kkt_on_the_components():
    tied_somewhere = 0
    for seed in range(40):
        graphs = random_graphs(100 + seed, 7)
        found = max_margin(graphs, 7, ties=True)
        for query, graph in graphs.items():
            strict, tied = split(graph)
            if not strict:
                assert all((x, query) not in found.entries for x in graph.nodes)
                continue
            column = {x: found.entries[x, query] for x in graph.nodes}
            assert all(column[a] == column[b] for a, b in tied)
            first = {x: min([x, *(a for a, b in tied if b == x)]) for x in graph.nodes}
            sizes = {x: sum(first[y] == x for y in graph.nodes) for x in set(first.values())}
            edges = sorted({(first[a], first[b]) for a, b in strict})
            values = {x: column[x] for x in sizes}
            assert_exact_kkt(values, found.multipliers[query], edges, sizes)
            tied_somewhere += bool(tied)
        squared = sum((value**2 for value in found.entries.values()), Fraction(0))
        assert found.norm_squared_exact == squared
    assert tied_somewhere > 40


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("ties", [True, False])
def test_general_embeddings_agree_with_clarabel(seed, ties):
    generator = np.random.default_rng([9, seed])
    E = generator.standard_normal((5, 5 + seed % 3))
    E /= np.linalg.norm(E, axis=1, keepdims=True)
    graphs = {q: graph for q, graph in random_graphs(200 + seed, 5).items() if ties or q < 2}
    if not ties:
        graphs = {
            q: PriorityGraph(q, graph.nodes, dict.fromkeys(split(graph)[0] or [(0, 1)], 0))
            for q, graph in graphs.items()
        }
    strict, tied = facts_of(graphs)
    margins, equalities = rows_of(strict, E), rows_of(tied, E)
    expected = graph_svm(margins, equalities)
    found = embedded_max_margin(graphs, E, ties=ties)
    assert expected is not None
    assert found.status is Status.SOLVED
    matrix, norm = solved(found)
    W = matrix.ravel()
    np.testing.assert_allclose(W, expected, rtol=0, atol=1e-6 * norm)
    assert found.error_bound < 1e-6 * norm
    assert (margins @ W).min() >= 1 - 1e-12 * norm
    if ties:
        assert len(equalities)
        np.testing.assert_allclose(equalities @ W, 0, atol=1e-12 * norm)


@pytest.mark.parametrize("dimension", [6, 9])
def test_orthonormal_rows_give_the_exact_solution(dimension):
    E = random_orthonormal_embeddings(6, dimension, np.random.default_rng(dimension))
    graphs = random_graphs(300, 6)
    exact = max_margin(graphs, 6, ties=True)
    found = embedded_max_margin(graphs, E, ties=True)
    np.testing.assert_allclose(solved(found)[0], E.T @ solved(exact)[0] @ E, atol=1e-12)
    assert found.norm == pytest.approx(exact.norm, rel=1e-13)


SOLVED = [name for name, facts in FACTS.items() if facts["feasible"] and name != "unrealizable"]


@pytest.mark.parametrize("name", SOLVED)
def test_golden_solutions(name):
    case = recorded(name)
    found = embedded_max_margin(case.dataset.graphs, case.dataset.E, ties=True)
    np.testing.assert_allclose(solved(found)[0], case.facts["W_mm"], atol=1e-11)
    assert found.norm == pytest.approx(case.facts["W_mm_norm"], rel=1e-12, abs=1e-15)
    if case.bare is not None:
        exact = max_margin(case.dataset.graphs, case.dataset.K, ties=True)
        np.testing.assert_allclose(solved(exact)[0], case.facts["W_mm"], atol=1e-13)


EXACT = [name for name in SOLVED if "W_mm" in FACTS[name].get("expected_exact", {})]


@pytest.mark.parametrize("name", EXACT)
def test_golden_fractions(name):
    case = recorded(name)
    facts = case.facts["expected_exact"]
    found = max_margin(case.dataset.graphs, case.dataset.K, ties=True)
    column = [found.entries[x, facts["column"]] for x in range(case.dataset.K)]
    assert column == [Fraction(value) for value in facts["W_mm"]]
    assert found.norm_squared_exact == Fraction(facts["norm_sq"])


def test_without_ties_a_cycle_is_infeasible_and_with_them_it_is_not():
    graph = PriorityGraph(2, (0, 1, 2), dict.fromkeys([(0, 1), (1, 0), (1, 2)], 0))
    assert max_margin({2: graph}, 3).status is Status.INFEASIBLE
    assert embedded_max_margin({2: graph}, np.eye(3)).status is Status.INFEASIBLE
    found = max_margin({2: graph}, 3, ties=True)
    third = Fraction(1, 3)
    assert found.entries == {(0, 2): third, (1, 2): third, (2, 2): -2 * third}
    assert found.norm_squared_exact == 2 * third


def test_everything_tied_means_zero():
    graph = PriorityGraph(1, (0, 1), dict.fromkeys([(0, 1), (1, 0)], 0))
    exact = max_margin({1: graph}, 2, ties=True)
    for found in (exact, embedded_max_margin({1: graph}, np.eye(2), ties=True)):
        assert found.status is Status.ZERO
        assert found.norm == 0
        np.testing.assert_array_equal(found.weights, np.zeros((2, 2)))


def test_a_margin_inside_the_span_of_the_ties_is_infeasible_and_not_noise():
    # e_2 - e_3 is a multiple of e_0 - e_1, so a tie of 0 and 1 ties 2 and 3 as well
    generator = np.random.default_rng(0)
    E = generator.standard_normal((5, 4))
    E[3] = E[2] - 0.3 * (E[0] - E[1])
    tied = [(4, (0, 1))]
    found = max_margin_of_pairs([(4, (2, 3)), (0, (1, 2))], tied, E)
    assert found.status is Status.INFEASIBLE
    weights = found.multipliers
    assert weights[4][2, 3] == pytest.approx(1)
    assert weights.get(0, {}).get((1, 2), 0) == pytest.approx(0)


@pytest.mark.parametrize("angle", [1e-2, 1e-5, 1e-7])
def test_nearly_dependent_ties_are_two_ties(angle):
    # e_0 = e_1 + f_1 and e_2 = e_3 + f_1 + angle f_2 are tied, so W^T e_4 is orthogonal to both
    f = np.eye(4)
    E = np.array([f[0], 0 * f[0], f[0] + angle * f[1], 0 * f[0], f[3]])
    E = np.vstack([E, f[0] + f[1] + f[2], 0 * f[0]])
    found = max_margin_of_pairs([(4, (5, 6))], [(4, (0, 1)), (4, (2, 3))], E)
    np.testing.assert_allclose(solved(found)[0], np.outer(f[2], f[3]), atol=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_infeasible_with_ties_comes_with_a_proof(seed):
    generator = np.random.default_rng([4, seed])
    E = generator.standard_normal((8, 2))
    E /= np.linalg.norm(E, axis=1, keepdims=True)
    graphs = random_graphs(400 + seed, 8)
    strict, tied = facts_of(graphs)
    found = embedded_max_margin(graphs, E, ties=True)
    margins, equalities = rows_of(strict, E), rows_of(tied, E)
    if found.status is Status.SOLVED:
        assert (margins @ solved(found)[0].ravel()).min() >= 1 - 1e-9
        return
    y = np.array([found.multipliers[q][edge] for q, edges in strict.items() for edge in edges])
    assert y.min() >= 0
    assert y.sum() == pytest.approx(1)
    combined = margins.T @ y
    inside = np.linalg.lstsq(equalities.T, combined, rcond=None)[0] if len(equalities) else []
    np.testing.assert_allclose(equalities.T @ np.array(inside), combined, atol=1e-9)


def test_golden_infeasible_program():
    case = recorded("infeasible_d1")
    found = embedded_max_margin(case.dataset.graphs, case.dataset.E, ties=True)
    assert found.status is Status.INFEASIBLE
    weights = [float(found.multipliers[q][a, b]) for a, b, q in case.facts["constraints"]]
    np.testing.assert_allclose(weights, case.facts["farkas"], atol=1e-12)

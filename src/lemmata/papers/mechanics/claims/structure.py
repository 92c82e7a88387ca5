"""Section 3: the model, the graphs, the programs, and the definitions."""

from collections.abc import Sequence

import numpy as np

from lemmata.claims import Bench, Comparison, Comparisons, at_least, at_most, equal, statements
from lemmata.margin import Pair, embedded_max_margin, pair_rows
from lemmata.settings import Evidence, as_rows
from lemmata.tokens import PriorityGraph, label_positions, tied_positions

from ..counterexamples import chain
from ..experiments import (
    EPS,
    INDEPENDENT_OR_NOT,
    SAMPLE,
    STRUCTURES,
    UNREALIZABLE,
    At,
    generator_for,
    project,
    pull_back,
    random_points,
    random_weights,
    softmax_of,
)
from ..setting import ACYCLIC_DATA, FEASIBLE, INDEPENDENT, REALIZABLE, Dataset
from ._shared import Numbers, at_points, optimum_error, reaches, sides, speaking, with_ties

claim = statements("mechanics", on=STRUCTURES)

SMALLEST_LOG = 1e6
"""Terms below its negative exponential are 0."""


@claim(
    "equation-1",
    "Section 3, Eq. (1)",
    "f_W(X) = Σ_t s_t x_t with s = softmax(X W x̄) is a convex combination of the tokens; their "
    "order matters through the last one only, and repeated tokens add up.",
    on=SAMPLE,
)
@at_points(equal, "rounding", part="masses")
def equation_1(dataset: Dataset) -> Numbers:
    """Position by position as written, against distinct tokens with multiplicities."""
    draw = generator_for(dataset, "order")
    for at in random_points(dataset):
        entries = iter(at.masses)
        for sample in dataset.realizable.samples:
            tokens = [*draw.permutation(sample.tokens[:-1]).tolist(), sample.query]
            attention = softmax_of(dataset, tokens, sample.query, at.weights)
            for token in sorted(set(sample.tokens)):
                mass = sum(s for s, t in zip(attention, tokens, strict=True) if t == token)
                yield mass, next(entries), at.rounding


@claim(
    "section-3.1",
    "Section 3.1",
    "Tokens are in the same component exactly if they reach each other, and i ⇒ j (an edge whose "
    "loser does not reach its winner) never holds together with i ≍ j.",
)
def section_3_1(evidence: Evidence[Dataset]) -> Comparisons:
    """Components and strict edges (1 for yes, 0 for no) against boolean closure."""

    def relations(dataset: Dataset) -> Numbers:
        for graph in dataset.graphs.values():
            reach, component, strict = reaches(graph), graph.component_of, set(graph.strict_edges)
            for i, a in enumerate(graph.nodes):
                for j, b in enumerate(graph.nodes):
                    beats = (a, b) in graph.evidence and not reach[j, i]
                    same = component[a] == component[b]
                    yield same, reach[i, j] and reach[j, i], (a, b) in strict, beats

    tied, mutual, strict, beats = sides(evidence, relations, 4)
    return [equal(tied, mutual, part="i ≍ j"), equal(strict, beats, part="i ⇒ j")]


def _single(dataset: Dataset) -> bool:
    return all(len(graph.components) <= 1 for graph in dataset.graphs.values())


@claim(
    "section-3.2/zero",
    "Section 3.2",
    "If no graph has more than one component, W^mm = 0.",
)
@claim(
    "own/zero-margin",
    "ours; docs/mechanics.md",
    "W^mm = 0 exactly if no graph has more than one component, because every label reaches the "
    "last token.",
    converse=True,
)
def zero_margin(evidence: Evidence[Dataset], converse: bool = False) -> Comparisons:
    """By the status of the solution (1 for zero); the paper has one direction."""
    zero = evidence.each(lambda d: d.margin.status == "zero")
    single = evidence.each(_single)
    return equal(zero, single if converse else np.where(single > 0, 1.0, np.nan), part="zero")


@claim(
    "section-3.2/graph-svm",
    "Section 3.2, (Graph-SVM)",
    "(Graph-SVM) has one solution: margins of at least 1 on i ⇒ j, of 0 on i ≍ j, and least norm.",
    hypotheses=(FEASIBLE,),
)
def graph_svm(evidence: Evidence[Dataset]) -> Comparisons:
    """Feasibility by the constraints themselves; optimality by the certificate's error bound."""
    margins, size = sides(evidence, lambda d: _margins(d, d.strict_pairs))
    ties, scale = sides(evidence, lambda d: _margins(d, d.tied_pairs))
    norms = evidence.each(lambda d: d.norm if d.norm > 0 else np.nan)
    bounds, error = evidence.each(lambda d: d.margin.error_bound), evidence.each(optimum_error)
    return speaking(
        [
            at_least(margins, 1.0, size=size, rounding=error, part="margins"),
            equal(ties, 0.0, size=scale, rounding=error, part="ties"),
            at_most(bounds, 1e-6 * norms, part="distance to the optimum"),
        ]
    )


def _margins(dataset: Dataset, pairs: Sequence[Pair]) -> Numbers:
    """Margins of W^mm on the pairs, with the size of what is added up."""
    W = dataset.target.ravel()
    for row in pair_rows(pairs, dataset.E):
        yield float(row @ W), float(np.abs(row) @ np.abs(W))


@claim(
    "section-3.2/acyc-svm",
    "Section 3.2, (Acyc-SVM)",
    "On acyclic data (Graph-SVM) is (Acyc-SVM): the same program without ties.",
    hypotheses=(ACYCLIC_DATA, FEASIBLE),
)
def acyc_svm(evidence: Evidence[Dataset]) -> Comparisons:
    """Solved separately, with and without the rows for ties; each is as good as its bound."""
    alone = [embedded_max_margin(dataset.graphs, dataset.E) for dataset in evidence]
    norms = evidence.each(lambda d: d.norm)
    bounds = evidence.each(optimum_error) + np.array(
        [[w.error_bound / max(w.norm or 0.0, 1.0)] for w in alone]
    )
    return equal(
        as_rows([solution.weights for solution in alone]),
        evidence.each(lambda d: d.target),
        size=np.maximum(norms, 1.0),
        rounding=bounds,
        part="weights",
    )


def _reduced_to_labels(bench: Bench) -> Comparisons:
    """Definition 1 only removes tokens, so that samples of acyclic data stay, as labels alone."""
    dataset = chain()
    strict = set(dataset.strict_pairs)
    left = sum(
        any((s.query, (s.label, x)) not in strict for x in s.tokens)
        for s in dataset.realizable.samples
    )
    total = len(dataset.realizable.samples)
    return equal(left, 0.0, size=total, part="samples that are left", cases=[dataset])


@claim(
    "definition-1",
    "Section 3.2, Definition 1",
    "The cyclic subdata, every sample without the tokens that its label strictly beats, is empty "
    "exactly for acyclic data (so the text after it).",
    hypotheses=(REALIZABLE,),
    kind="misprint",
    counterexample=_reduced_to_labels,
)
@claim(
    "equation-5",
    "Appendix A, Eq. (5)",
    "With the samples that hold another token of their label's component, the cyclic subdata is "
    "empty exactly for acyclic data.",
    hypotheses=(REALIZABLE,),
)
def empty_subdata(evidence: Evidence[Dataset]) -> Comparisons:
    """Read with Eq. (5), which is what everything later uses (1 for yes, 0 for no)."""
    empty = evidence.each(lambda d: not d.cyclic.samples)
    return equal(empty, evidence.each(lambda d: d.acyclic), part="empty, and acyclic")


@claim(
    "definition-2",
    "Section 3.2, Definition 2",
    "A dataset is acyclic exactly if every graph can be ordered so that edges go downwards.",
)
def definition_2(evidence: Evidence[Dataset]) -> Comparisons:
    """By peeling off tokens that nothing beats (1 for yes, 0 for no)."""
    ordered = evidence.each(lambda d: all(_can_be_ordered(g) for g in d.graphs.values()))
    return equal(ordered, evidence.each(lambda d: d.acyclic), part="order")


def _can_be_ordered(graph: PriorityGraph) -> bool:
    left, edges = set(graph.nodes), set(graph.edges)
    while left:
        tops = left - {b for _, b in edges}
        if not tops:
            return False
        left -= tops
        edges = {(a, b) for a, b in edges if a not in tops}
    return True


@claim(
    "definition-3",
    "Section 4.2, Definition 3",
    "W^cyc is the least minimiser of the risk of the cyclic subdata.",
    hypotheses=(REALIZABLE,),
)
@at_points(equal, "size", "rounding", part="gradient norm")
def definition_3(dataset: Dataset) -> Numbers:
    """The gradient vanishes there, and the risk is convex; its terms are what rounds."""
    reduced = dataset.cyclic_risk
    if not len(reduced.log_weight):
        return
    at = At(dataset, dataset.W_cyc)
    masses = np.exp(reduced.log_masses(at.logits))
    slope = pull_back(dataset, reduced.gradient(masses))
    wrong = np.where(reduced.label, 0.0, masses) * reduced.weight[reduced.sample]
    terms = pull_back(dataset, np.bincount(reduced.cell, wrong, reduced.cells))
    yield float(np.linalg.norm(slope)), 0.0, float(np.linalg.norm(terms)), at.rounding


@claim(
    "equation-27",
    "Appendix C.4, Eq. (27)",
    "For the log loss W^cyc minimises L̄, the mean of −log Σ_{O_i} s_it over the cyclic subdata.",
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
)
def equation_27(evidence: Evidence[Dataset]) -> Comparisons:
    """L̄ at W^cyc against other points of S_cyc, and why it is larger there.

    The gradient at W^cyc is 0, so that the difference is the mean divergence KL(s ‖ ṡ) of
    attention there and elsewhere, which is at least Σ (√s − √ṡ)².
    """
    return [_not_lower(evidence), _moves(evidence)]


@at_points(at_least, "size", part="log L̄ against that at W^cyc", only=with_ties)
def _not_lower(dataset: Dataset) -> Numbers:
    reduced = dataset.risk.tied_only()
    least = reduced.log_value(At(dataset, dataset.W_cyc).logits)
    for W in random_weights(dataset):
        other = dataset.W_cyc + 0.1 * project(dataset.tied_basis, W)
        yield reduced.log_value(At(dataset, other).logits), least, 1 + abs(least)


@at_points(at_least, strict=True, part="Σ (√s − √ṡ)², relative to its largest", only=with_ties)
def _moves(dataset: Dataset) -> Numbers:
    """In logarithms, so that no frequency is too small."""
    reduced, here = dataset.risk.tied_only(), At(dataset, dataset.W_cyc).logits
    log_s = reduced.log_masses(here)
    for W in random_weights(dataset):
        step = At(dataset, 0.1 * project(dataset.tied_basis, W)).logits
        change = reduced.log_masses(here + step) - log_s
        with np.errstate(divide="ignore"):
            terms = log_s + 2 * np.log(np.abs(np.expm1(change / 2)))
        terms = terms + reduced.log_weight[reduced.sample]
        largest = max(float(terms.max()), -SMALLEST_LOG)
        yield np.exp(terms - largest).sum(), 0.0


@claim(
    "equation-4",
    "Appendix A, Eq. (4)",
    "O_i holds the positions of the label, R_i those of its component; every other token is "
    "strictly beaten by the label.",
    hypotheses=(REALIZABLE,),
)
def equation_4(evidence: Evidence[Dataset]) -> Comparisons:
    """Against the labels and reachability in the closure (1 for yes, 0 for no)."""

    def positions(dataset: Dataset) -> Numbers:
        closure = {q: (graph, reaches(graph)) for q, graph in dataset.graphs.items()}
        for sample in dataset.realizable.samples:
            graph, reach = closure[sample.query]
            place = {token: i for i, token in enumerate(graph.nodes)}
            own, tied = label_positions(sample), tied_positions(sample, graph)
            for t, x in enumerate(sample.tokens):
                back = reach[place[x], place[sample.label]]
                yield t in own, x == sample.label, t in tied, back

    own, label, tied, back = sides(evidence, positions, 4)
    return [equal(own, label, part="O_i"), equal(tied, back, part="R_i")]


def _unrealizable(evidence: Evidence[Dataset]) -> Evidence[Dataset]:
    return evidence.where(lambda d: len(d.realizable.samples) < len(d.data.samples))


@claim(
    "section-3.3/unrealizable",
    "Section 3.3, after Assumption 2",
    "With C E^T = I a sample whose label is not in its sequence has no gradient.",
    hypotheses=(INDEPENDENT,),
    on=UNREALIZABLE,
)
@at_points(equal, "size", "rounding", part="score", only=_unrealizable)
def unrealizable_gradient(dataset: Dataset) -> Numbers:
    """Its score c_y^T f_W(X) is 0 at every W, computed with C = pinv(E)^T."""
    head = np.linalg.pinv(dataset.E).T
    rounding = 64 * EPS * float(np.linalg.cond(dataset.E))
    for s in dataset.data.samples:
        if s.label in s.tokens:
            continue
        for W in random_weights(dataset):
            output = dataset.E[list(s.tokens)].T @ softmax_of(dataset, s.tokens, s.query, W)
            size = float(np.linalg.norm(head[s.label]) * np.linalg.norm(output))
            yield float(head[s.label] @ output), 0.0, size, rounding


@claim(
    "assumption-4",
    "Section 4.2, Assumption 4",
    "A head with C E^T = I exists exactly for linearly independent embeddings; it scores the label "
    "1 and all else 0, so it satisfies Assumption 3 (with Eq. 17).",
    on=INDEPENDENT_OR_NOT,
)
def assumption_4(evidence: Evidence[Dataset]) -> Comparisons:
    """The best head, C = pinv(E)^T, against the rank of E (1 for yes, 0 for no).

    Its C E^T is a projection: I, or 1/K away from it somewhere on the diagonal.
    """

    def exists(dataset: Dataset) -> bool:
        table = np.linalg.pinv(dataset.E).T @ dataset.E.T
        return bool(np.abs(table - np.eye(dataset.K)).max() < 1 / (2 * dataset.K))

    independent = evidence.each(lambda d: np.linalg.matrix_rank(d.E) == d.K)
    parts: list[Comparison] = [equal(evidence.each(exists), independent, part="C E^T = I")]
    some = evidence.where(lambda d: not d.broken("embeddings_dependent"))
    return [*parts, identity_head(some)] if len(some) else parts


@claim(
    "equation-17",
    "Appendix C.1, Eq. (17)",
    "With C E^T = I the score of a token is 1 for the label and 0 otherwise.",
    hypotheses=(INDEPENDENT,),
    on=SAMPLE,
)
def identity_head(evidence: Evidence[Dataset]) -> Comparison:
    """C E^T with C = pinv(E)^T, whose error grows with the condition of E."""
    return equal(
        evidence.each(lambda d: np.linalg.pinv(d.E).T @ d.E.T),
        evidence.each(lambda d: np.eye(d.K)),
        size=1.0,
        rounding=evidence.each(lambda d: 64 * EPS * np.linalg.cond(d.E)),
        part="scores",
        cases=evidence.cases,
    )

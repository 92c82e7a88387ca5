"""Section 3: the model, the graphs, the programs, and the definitions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lemmata.old_claims import Bench, Judgement, Status, at_least, fact
from lemmata.papers.mechanics.claims._terms import (
    ACYCLIC,
    ASSUMPTION_2,
    ASSUMPTION_4,
    EPS,
    FEASIBLE,
    at_most_zero,
    claim,
    judge,
    over,
    with_ties,
)
from lemmata.papers.mechanics.evidence import Structures
from lemmata.papers.mechanics.experiments import SAMPLE, STRUCTURES, witness

if TYPE_CHECKING:
    from lemmata.papers.mechanics.setting import Dataset
    from lemmata.tokens import PriorityGraph


@claim(
    "equation-1",
    "Section 3, Eq. (1)",
    "f_W(X) = Σ_t s_t x_t with s = softmax(X W x̄) is a convex combination of the tokens; their "
    "order matters through the last one only, and repeated tokens add up.",
    assumes=(),
    on=SAMPLE,
    sharpened="not even the last token matters",
)
def equation_1(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Position by position as written, against distinct tokens with multiplicities."""
    from lemmata.papers.mechanics._points import At, generator_for, random_weights, softmax_of

    def errors(dataset: "Dataset") -> list[float]:
        draw = generator_for(dataset, "order")
        found = []
        for W in random_weights(dataset):
            masses = At(dataset, W).masses
            at = 0
            for sample in dataset.realizable.samples:
                body = draw.permutation(sample.tokens[:-1]).tolist()
                tokens = [*body, sample.query]
                if sharpened:
                    tokens = draw.permutation(tokens).tolist()
                weights = softmax_of(dataset, tokens, tokens[-1], W)
                for token in sorted(set(sample.tokens)):
                    mass = sum(w for w, t in zip(weights, tokens, strict=True) if t == token)
                    found.append(abs(mass - masses[at]))
                    at += 1
        return [max(found, default=0.0)]

    return [at_most_zero(evidence, "masses", over(evidence, errors), 1e-10)]


def _reaches(graph: "PriorityGraph") -> np.ndarray:
    """Reachability by repeated squaring of the adjacency matrix."""
    place = {token: i for i, token in enumerate(graph.nodes)}
    reach = np.eye(len(place), dtype=bool)
    for a, b in graph.edges:
        reach[place[a], place[b]] = True
    for _ in range(len(place).bit_length()):
        reach = reach @ reach
    return reach


@claim(
    "section-3.1",
    "Section 3.1",
    "Tokens are in the same component exactly if they reach each other, and i ⇒ j (an edge whose "
    "loser does not reach its winner) never holds together with i ≍ j.",
    assumes=(),
    on=STRUCTURES,
    sharpened="i ≍ j whenever i reaches j",
)
def section_3_1(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Components and strict edges against boolean closure."""
    graphs = 0
    for dataset in evidence.datasets:
        for graph in dataset.graphs.values():
            reach = _reaches(graph)
            tied = reach if sharpened else reach & reach.T
            component = graph.component_of
            for i, a in enumerate(graph.nodes):
                for j, b in enumerate(graph.nodes):
                    strict = (a, b) in graph.evidence and not reach[j, i]
                    same = component[a] == component[b]
                    if same != tied[i, j] or strict != ((a, b) in set(graph.strict_edges)):
                        text = f"{a} and {b} under {graph.query}"
                        return [fact("relations", False, text, witness(dataset))]
            graphs += 1
    return [fact("relations", True, f"all pairs of {graphs} graphs")]


@claim(
    "section-3.2/zero",
    "Section 3.2",
    "If no graph has more than one component, W^mm = 0.",
    assumes=(),
    on=STRUCTURES,
    sharpened="W^mm = 0 for every dataset",
)
def zero_margin(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """By the status of the solution; ``own/zero-margin`` has the converse."""
    counted = 0
    for dataset in evidence.datasets:
        single = all(len(graph.components) <= 1 for graph in dataset.graphs.values())
        counted += single
        if (single or sharpened) and dataset.margin.status != "zero":
            return [fact("zero", False, f"{dataset.name} has W^mm != 0", witness(dataset))]
    return [fact("zero", True, f"{counted} of {len(evidence)} datasets have single components")]


@claim(
    "section-3.2/graph-svm",
    "Section 3.2, (Graph-SVM)",
    "(Graph-SVM) has one solution: margins of at least 1 on i ⇒ j, of 0 on i ≍ j, and least norm.",
    assumes=(FEASIBLE,),
    on=STRUCTURES,
    sharpened="margins of at least 1.001",
)
def graph_svm(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Feasibility by the constraints themselves; optimality by the certificate's error bound."""
    from lemmata.margin import pair_rows

    def margins(dataset: "Dataset") -> list[float]:
        rows = pair_rows(dataset.strict_pairs, dataset.E)
        return [float((rows @ dataset.target.ravel()).min())] if len(rows) else [1.0]

    def ties(dataset: "Dataset") -> list[float]:
        rows = pair_rows(dataset.tied_pairs, dataset.E)
        return [float(np.abs(rows @ dataset.target.ravel()).max(initial=0.0))]

    def bounds(dataset: "Dataset") -> list[float]:
        return [dataset.margin.error_bound / max(1.0, dataset.norm)]

    wanted = 1.001 if sharpened else 1.0
    return [
        judge(at_least, evidence, "margins", over(evidence, margins), wanted, tolerance=1e-9),
        at_most_zero(evidence, "ties", over(evidence, ties), 1e-9),
        at_most_zero(evidence, "distance to the optimum", over(evidence, bounds), 1e-6),
    ]


@claim(
    "section-3.2/acyc-svm",
    "Section 3.2, (Acyc-SVM)",
    "On acyclic data (Graph-SVM) is (Acyc-SVM): the same program without ties.",
    assumes=(ACYCLIC, FEASIBLE),
    on=STRUCTURES,
    sharpened="the solutions have different norms",
)
def acyc_svm(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Solved separately, with and without the rows for ties."""
    from lemmata.margin import embedded_max_margin

    def error(dataset: "Dataset") -> list[float]:
        alone = embedded_max_margin(dataset.graphs, dataset.E).weights
        assert alone is not None
        return [float(np.linalg.norm(alone - dataset.target)) + sharpened]

    return [at_most_zero(evidence, "difference", over(evidence, error), 1e-8)]


def _definition_1_keeps(bench: Bench) -> Sequence[Judgement]:
    """Acyclic data whose subdata by Definition 1 is not empty."""
    from lemmata.papers.mechanics._counterexamples import chain

    dataset = chain()
    strict = set(dataset.strict_pairs)
    kept = [
        [x for x in s.tokens if (s.query, (s.label, x)) not in strict]
        for s in dataset.realizable.samples
    ]
    left = sum(map(bool, kept))
    reason = (
        f"Definition 1 only removes tokens, so {left} samples of an acyclic dataset stay, reduced "
        f"to their labels; Eq. (5) keeps {dataset.cyclic.total}"
    )
    return [fact("emptiness", left == 0, reason, witness(dataset, kept=kept))]


@claim(
    "definition-1",
    "Section 3.2, Definition 1",
    "The cyclic subdata, every sample without the tokens that its label strictly beats, is empty "
    "exactly for acyclic data (so the text after it).",
    assumes=(ASSUMPTION_2,),
    on=STRUCTURES,
    sharpened="it is never empty",
    counterexample=_definition_1_keeps,
)
def definition_1(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Read with Eq. (5), which is what everything later uses."""
    return equation_5_facts(evidence, sharpened)


@claim(
    "equation-5",
    "Appendix A, Eq. (5)",
    "With the samples that hold another token of their label's component, the cyclic subdata is "
    "empty exactly for acyclic data.",
    assumes=(ASSUMPTION_2,),
    on=STRUCTURES,
    sharpened="it is never empty",
)
def equation_5(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """On all datasets."""
    return equation_5_facts(evidence, sharpened)


def equation_5_facts(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Emptiness of the subdata against Definition 2."""
    empty = 0
    for dataset in evidence.datasets:
        nothing = not dataset.cyclic.samples
        empty += nothing
        if nothing != (dataset.acyclic and not sharpened):
            return [fact("emptiness", False, f"not on {dataset.name}", witness(dataset))]
    return [fact("emptiness", True, f"{empty} of {len(evidence)} datasets have no cyclic subdata")]


@claim(
    "definition-2",
    "Section 3.2, Definition 2",
    "A dataset is acyclic exactly if every graph can be ordered so that edges go downwards.",
    assumes=(),
    on=STRUCTURES,
    sharpened="every dataset is acyclic",
)
def definition_2(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """By peeling off tokens that nothing beats."""
    for dataset in evidence.datasets:
        ordered = all(_can_be_ordered(graph) for graph in dataset.graphs.values())
        if (dataset.acyclic or sharpened) != ordered:
            return [fact("order", False, f"not on {dataset.name}", witness(dataset))]
    return [fact("order", True, f"on all {len(evidence)} datasets")]


def _can_be_ordered(graph: "PriorityGraph") -> bool:
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
    assumes=(ASSUMPTION_2,),
    on=STRUCTURES,
    sharpened="so is 1.01 W^cyc",
)
def definition_3(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The gradient vanishes there, and the risk is convex."""
    from lemmata.papers.mechanics._points import At, pull_back

    def size(dataset: "Dataset") -> list[float]:
        reduced = dataset.cyclic_risk
        if not len(reduced.weight):
            return [0.0]
        W = dataset.dense(dataset.correction) * (1.01 if sharpened else 1.0)
        masses = np.exp(reduced.log_masses(At(dataset, W).logits))
        slope = reduced.gradient(masses)
        return [float(np.linalg.norm(pull_back(dataset, slope)))]

    return [at_most_zero(evidence, "gradient norm", over(evidence, size), 1e-12)]


@claim(
    "equation-27",
    "Appendix C.4, Eq. (27)",
    "For the log loss W^cyc minimises L̄, the mean of −log Σ_{O_i} s_it over the cyclic subdata.",
    assumes=(ASSUMPTION_2,),
    on=SAMPLE,
    sharpened="it is 0.1 below every other point",
)
def equation_27(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """L̄ at W^cyc against nearby and distant points of S_cyc."""
    from lemmata.papers.mechanics._points import At, project, random_weights

    def above(dataset: "Dataset") -> list[float]:
        reduced = dataset.risk.tied_only()
        finite = dataset.dense(dataset.correction)
        least = reduced.value(At(dataset, finite).logits)
        found = []
        for W in random_weights(dataset):
            step = project(dataset.tied_basis, W)
            found.append(reduced.value(At(dataset, finite + 0.1 * step).logits) - least)
        return found

    some = with_ties(evidence)
    if not len(some):
        return [Judgement("minimum", Status.UNDECIDED, "no dataset has ties")]
    bound = 0.1 if sharpened else 0.0
    return [judge(at_least, some, "L̄ − L̄(W^cyc)", over(some, above), bound, strict=True)]


@claim(
    "equation-4",
    "Appendix A, Eq. (4)",
    "O_i holds the positions of the label, R_i those of its component; every other token is "
    "strictly beaten by the label.",
    assumes=(ASSUMPTION_2,),
    on=STRUCTURES,
    sharpened="R_i = O_i",
)
def equation_4(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Against reachability in the closure."""
    from lemmata.tokens import label_positions, tied_positions

    for dataset in evidence.datasets:
        closure = {q: (graph, _reaches(graph)) for q, graph in dataset.graphs.items()}
        for sample in dataset.realizable.samples:
            graph, reach = closure[sample.query]
            place = {token: i for i, token in enumerate(graph.nodes)}
            y = place[sample.label]
            beaten = [t for t, x in enumerate(sample.tokens) if not reach[place[x], y]]
            own = label_positions(sample)
            tied = own if sharpened else tied_positions(sample, graph)
            if sorted({*tied, *beaten}) != list(range(len(sample.tokens))):
                return [fact("positions", False, dataset.data.show(sample), witness(dataset))]
    return [fact("positions", True, f"all samples of {len(evidence)} datasets")]


@claim(
    "section-3.3/unrealizable",
    "Section 3.3, after Assumption 2",
    "With C E^T = I a sample whose label is not in its sequence has no gradient.",
    assumes=(ASSUMPTION_4,),
    on=SAMPLE,
    sharpened="no sample has one",
)
def unrealizable_gradient(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Its score c_y^T f_W(X) is 0 at every W, computed with C = pinv(E)^T."""
    from lemmata.papers.mechanics._counterexamples import unrealizable
    from lemmata.papers.mechanics._points import random_weights, softmax_of

    def scores(dataset: "Dataset") -> list[float]:
        head = np.linalg.pinv(dataset.E).T
        values = [0.0]
        for W in random_weights(dataset):
            for s in dataset.data.samples:
                if sharpened or s.label not in s.tokens:
                    tokens = list(s.tokens)
                    output = dataset.E[tokens].T @ softmax_of(dataset, tokens, s.query, W)
                    values.append(abs(float(head[s.label] @ output)))
        return [max(values)]

    wider = Structures((*evidence.datasets, unrealizable()))
    return [at_most_zero(wider, "score", over(wider, scores), 1e-10)]


@claim(
    "assumption-4",
    "Section 4.2, Assumption 4",
    "A head with C E^T = I exists exactly for linearly independent embeddings; it scores the label "
    "1 and all else 0, so it satisfies Assumption 3 (with Eq. 17).",
    assumes=(ASSUMPTION_4,),
    on=STRUCTURES,
    sharpened="it scores the label 1.001",
)
def assumption_4(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """By the pseudo-inverse; its error grows with the condition of E."""

    def errors(dataset: "Dataset") -> list[float]:
        head = np.linalg.pinv(dataset.E).T * (1.001 if sharpened else 1.0)
        error = np.abs(head @ dataset.E.T - np.eye(dataset.K)).max()
        return [float(error / (1 + np.linalg.cond(dataset.E)))]

    return [at_most_zero(evidence, "C Eᵀ - I", over(evidence, errors), 1e4 * EPS)]

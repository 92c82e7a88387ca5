"""What the paper does not say: findings of ours, checked like the rest."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lemmata.old_claims import Bench, Judgement, Status, at_least, fact
from lemmata.papers.mechanics import theory
from lemmata.papers.mechanics.claims._terms import (
    ACYCLIC,
    ASSUMPTION_2,
    ASSUMPTION_4,
    GLOBAL,
    NONZERO,
    claim,
    judge,
    over,
    positive,
    with_ties,
)
from lemmata.papers.mechanics.evidence import Structures, Trained
from lemmata.papers.mechanics.experiments import (
    FACTORED,
    INFEASIBLE,
    SAMPLE,
    STRUCTURES,
    witness,
)

if TYPE_CHECKING:
    from lemmata.papers.mechanics.setting import Dataset


@claim(
    "own/zero-margin",
    "ours; docs/mechanics.md",
    "W^mm = 0 exactly if no graph has more than one component, because every label reaches the "
    "last token.",
    assumes=(),
    on=STRUCTURES,
    sharpened="W^mm is never 0",
)
def zero_margin(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Both directions; the paper has one."""
    for dataset in evidence.datasets:
        single = all(len(graph.components) <= 1 for graph in dataset.graphs.values())
        if (dataset.margin.status == "zero") != (single and not sharpened):
            return [fact("zero", False, f"not on {dataset.name}", witness(dataset))]
    return [fact("zero", True, f"on all {len(evidence)} datasets")]


@claim(
    "own/feasible",
    "ours; docs/mechanics.md",
    "Linearly independent embeddings make Graph-SVM feasible, so Theorems 2 and 3 need not suppose "
    "it.",
    assumes=(ASSUMPTION_4,),
    on=STRUCTURES,
    sharpened="dependent embeddings do so too",
)
def feasible(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Heights of the components as logits, which E W E^T = M can always attain."""
    datasets = list(evidence.datasets)
    if sharpened:
        from lemmata.papers.mechanics.setting import Recipe, generate

        datasets = generate(Recipe(8, 3, 16, 6, "any"), 10, 0)
    for dataset in datasets:
        if not dataset.feasible:
            return [fact("feasible", False, f"not on {dataset.name}", witness(dataset))]
    return [fact("feasible", True, f"on all {len(datasets)} datasets")]


def _tight_example(bench: Bench) -> Sequence[Judgement]:
    """One sample with two tokens: the Hessian at 0 attains the constant."""
    from lemmata.papers.mechanics._counterexamples import named
    from lemmata.papers.mechanics._points import At

    dataset = named("two-tokens", 2, [[0, 1]], [0])
    top = float(np.linalg.eigvalsh(At(dataset, np.zeros((2, 2))).hessian(dataset.free_basis))[-1])
    ratio = top / dataset.lipschitz_tight
    reason = f"on [0 1] → 0 the curvature at W = 0 is {ratio:.9f} times the constant"
    return [fact("attained", bool(abs(ratio - 1) < 1e-12), reason, witness(dataset, ratio=ratio))]


@claim(
    "own/tight-lipschitz",
    "ours; docs/mechanics.md",
    "∇L is Lipschitz with mean_i (1/4) max_{a,b ∈ X_i} ‖e_a − e_b‖² ‖x̄_i‖², which does not grow "
    "with T and is attained.",
    assumes=(ASSUMPTION_2,),
    on=SAMPLE,
    sharpened="with a tenth of that",
    counterexample=_tight_example,
)
def tight_lipschitz(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The largest eigenvalue of the Hessian at random W and at 0."""
    from lemmata.papers.mechanics.claims.gradient import curvature_below

    return [curvature_below(evidence, "lipschitz_tight", 0.1 if sharpened else 1.0)]


@claim(
    "own/lemma-6-sharp",
    "ours",
    "⟨∇L(W), W^mm⟩ ≤ −(1/n) Σ_i Σ_{t ∉ R_i} s_it.",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="≤ −(2/n) Σ_i Σ_{t ∉ R_i} s_it",
)
def lemma_6_sharp(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Relative to the mass off R_i, so that saturated points count as much."""
    from lemmata.papers.mechanics._points import At, random_weights

    def slack(dataset: "Dataset") -> list[float]:
        off = ~dataset.risk.tied
        found = []
        for W in random_weights(dataset):
            at = At(dataset, W)
            mass = float(np.sum((at.masses * dataset.risk.weight[dataset.risk.sample])[off]))
            down = -float(np.sum(at.gradient(off) * dataset.target))
            found.append(down / mass - (2 if sharpened else 1) if mass > 1e-250 else np.nan)
        return found

    return [judge(at_least, evidence, "ratio", over(evidence, slack), 0.0, tolerance=1e-9)]


@claim(
    "own/tie-range",
    "ours; docs/mechanics.md",
    "Tied logits differ by at most (|C| − 1)(|I| L̄(W) + log m), m the largest number of times a "
    "label occurs in its sequence: a bound for Lemma 7, whose proof gives none.",
    assumes=(ASSUMPTION_2,),
    on=SAMPLE,
    sharpened="by at most a tenth of that at W^cyc",
)
def tie_range(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """At W^cyc and at random W, for every component."""
    from lemmata.papers.mechanics._points import At, random_weights

    def slack(dataset: "Dataset") -> list[float]:
        reduced = dataset.risk.tied_only()
        factor = 0.1 if sharpened else 1.0
        most = max(s.tokens.count(s.label) for s in dataset.cyclic.samples)
        found = []
        for W in (dataset.dense(dataset.correction), *random_weights(dataset)[:6]):
            risk = reduced.value(At(dataset, W).logits)
            for query, graph in dataset.graphs.items():
                for tied in graph.components:
                    if len(tied) > 1:
                        logits = dataset.E[tied] @ W @ dataset.E[query]
                        samples = dataset.cyclic.total
                        bound = theory.tie_range_bound(len(tied), samples, risk, most)
                        found.append(factor * bound - float(np.ptp(logits)))
        return found

    some = with_ties(evidence)
    if not len(some):
        return [Judgement("range", Status.UNDECIDED, "no dataset has ties")]
    return [judge(at_least, some, "range", over(some, slack), 0.0, tolerance=1e-9)]


@claim(
    "own/strict-convexity",
    "ours",
    "The risk of the log loss is strictly convex on the span of all pairs, not only on S_cyc.",
    assumes=(ASSUMPTION_2,),
    on=SAMPLE,
    sharpened="it is 1-strongly convex there",
)
def strict_convexity(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The smallest eigenvalue of the Hessian at moderate W."""
    from lemmata.papers.mechanics._points import At, random_weights

    def least(dataset: "Dataset") -> list[float]:
        basis = np.concatenate([dataset.bound_basis, dataset.free_basis])
        if not len(basis):
            return [np.nan]
        draw = [0.3 * W for W in random_weights(dataset)[:2]]
        return [float(np.linalg.eigvalsh(At(dataset, W).hessian(basis))[0]) for W in draw]

    values = over(evidence, least)
    return [positive(evidence, "curvature", values - (1.0 if sharpened else 0.0))]


@claim(
    "own/infeasible-direction",
    "ours; docs/mechanics.md",
    "Where Graph-SVM is infeasible, training separates the separable pairs along their max-margin "
    "direction and leaves the rest at the finite minimiser of their risk.",
    assumes=(ASSUMPTION_2,),
    on=INFEASIBLE,
    sharpened="the finite part is 0",
)
def infeasible_direction(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The block scheme with the bound pairs in the place of ties; some datasets stay finite."""
    gap = evidence["one_minus_correlation"][:, -1]
    moving = np.array([d.generalized.margin.status == "solved" for d in evidence.datasets])
    slopes = [d.finite_part.gradient_norm for d in evidence.datasets]
    sizes = [d.finite_part.norm for d in evidence.datasets]
    largest = float(np.max(gap[moving], initial=0.0))
    reason = (
        f"{int(moving.sum())} of {len(moving)} datasets diverge, with 1 − corr at most "
        f"{largest:.2g} against the generalized direction"
    )
    ends = f"gradient norms at most {max(slopes):.1g}, norms up to {max(sizes):.3g}"
    return [
        fact("direction", largest < 1e-2, reason, {"datasets": evidence.names}),
        fact("finite part", max(slopes) < 1e-10 and not (sharpened and max(sizes) > 0), ends),
    ]


@claim(
    "own/factored",
    "ours; docs/mechanics.md",
    "Trained through W = K Q^T from small factors, the direction is not W^mm but one of lower "
    "rank, with a larger margin per nuclear norm.",
    assumes=(ASSUMPTION_2, ACYCLIC, NONZERO),
    on=FACTORED,
    sharpened="1 − corr with W^mm is below 10⁻³",
)
def factored(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Margins per nuclear norm and effective ranks ‖W‖_*² / ‖W‖² at the end."""
    from lemmata.margin import pair_rows

    gap = evidence["one_minus_correlation"][:, -1]
    if sharpened:
        return [fact("direction", bool(gap.max() < 1e-3), f"1 − corr up to {gap.max():.3g}")]
    gains, ranks = [], []
    for i, dataset in enumerate(evidence.datasets):
        rows = pair_rows(dataset.strict_pairs, dataset.E)
        sides = []
        for W in (evidence.run.weights(i), dataset.target):
            sizes = np.linalg.svd(W, compute_uv=False)
            margin = float((rows @ W.ravel()).min()) / sizes.sum()
            sides.append((margin, sizes.sum() ** 2 / np.sum(sizes**2)))
        gains.append(sides[0][0] / sides[1][0])
        ranks.append(sides[0][1] / sides[1][1])
    reason = (
        f"margin per nuclear norm {np.mean(gains):.3f} times that of W^mm ({min(gains):.3f} to "
        f"{max(gains):.3f}), effective rank {np.mean(ranks):.3f} times ({min(ranks):.3f} to "
        f"{max(ranks):.3f}), 1 − corr {gap.min():.3g} to {gap.max():.3g}"
    )
    better = sum(gain >= 1 for gain in gains)
    return [
        fact("effective rank", bool(np.mean(ranks) < 1), reason),
        fact("margin", bool(np.mean(gains) > 1), f"larger on {better} of {len(gains)} datasets"),
    ]


def _literal_graph(bench: Bench) -> Sequence[Judgement]:
    """The graph with edges from labels that are not there, against the one without."""
    from lemmata.margin import embedded_max_margin
    from lemmata.papers.mechanics._counterexamples import unrealizable
    from lemmata.papers.mechanics.setting import Training
    from lemmata.tokens import PriorityGraph

    dataset = unrealizable()
    literal = {
        3: PriorityGraph(
            3,
            (0, 1, 2, 3),
            {
                (sample.label, token): i
                for i, sample in enumerate(dataset.data.samples)
                for token in sample.tokens
                if token != sample.label
            },
        )
    }
    other = embedded_max_margin(literal, dataset.E, ties=True).weights
    assert other is not None
    run = Training(rate=0.1, steps=20_000, record=(20_000,)).run([dataset])
    W = run.weights(0)
    cosine = float(np.sum(W * other) / np.linalg.norm(W) / np.linalg.norm(other))
    gap = float(run["one_minus_correlation"][0, -1])
    reason = (
        f"1 − corr is {gap:.1e} with the graph of realizable samples; the literal graph of Section "
        f"3.1 has correlation {cosine:.4f} with training"
    )
    return [
        fact("graph", gap < 1e-4 < 1 - cosine, reason, witness(dataset, literal=cosine, gap=gap))
    ]


@claim(
    "own/realizable-graph",
    "ours: Section 3.1 with unrealizable samples left out",
    "Training follows the graphs built from realizable samples alone; samples whose label is not "
    "in their sequence must not add edges.",
    assumes=(ASSUMPTION_4,),
    on=STRUCTURES,
    sharpened="an edge can come from a label that is not in its sequence",
    counterexample=_literal_graph,
)
def realizable_graph(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Every edge has a sample that holds both of its tokens and the label wins."""
    for dataset in evidence.datasets:
        for graph in dataset.graphs.values():
            for (winner, loser), number in graph.evidence.items():
                sample = dataset.realizable.samples[number]
                there = {winner, loser} <= set(sample.tokens) and sample.label == winner
                if there == sharpened:
                    return [fact("edges", False, dataset.data.show(sample), witness(dataset))]
    return [fact("edges", True, f"all edges of {len(evidence)} datasets")]

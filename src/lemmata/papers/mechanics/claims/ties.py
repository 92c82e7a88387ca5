"""Section 4.2 and Appendices B.3 and B.4: ties, and the regularization path with them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lemmata.old_claims import Bench, Judgement, Status, at_least, equal, fact
from lemmata.papers.mechanics import theory
from lemmata.papers.mechanics.claims._terms import (
    ASSUMPTION_2,
    FEASIBLE,
    GLOBAL,
    at_most_zero,
    claim,
    judge,
    over,
    positive,
    vanishing,
    with_ties,
)
from lemmata.papers.mechanics.evidence import Curves, Structures
from lemmata.papers.mechanics.experiments import PATHS, SAMPLE, witness

if TYPE_CHECKING:
    from lemmata.papers.mechanics.setting import Dataset

LATE = 80.0
"""A radius at which the sample that decays last is known."""


@claim(
    "lemma-2",
    "Section 4.2, Lemma 2",
    "W^cyc lies in S_cyc, W^mm is orthogonal to S_cyc, and so ⟨W^cyc, W^mm⟩ = 0.",
    assumes=(ASSUMPTION_2, FEASIBLE),
    on=SAMPLE,
    sharpened="W^mm lies in S_cyc",
)
def lemma_2(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """By projection."""
    from lemmata.papers.mechanics._points import project

    def inside(dataset: "Dataset") -> list[float]:
        W = dataset.dense(dataset.correction)
        return [float(np.linalg.norm(W - project(dataset.tied_basis, W)))]

    def outside(dataset: "Dataset") -> list[float]:
        W = dataset.target
        part = project(dataset.tied_basis, W)
        return [float(np.linalg.norm(W - part if sharpened else part)) / max(1.0, dataset.norm)]

    def product(dataset: "Dataset") -> list[float]:
        return [abs(float(np.sum(dataset.dense(dataset.correction) * dataset.target)))]

    return [
        at_most_zero(evidence, "W^cyc outside S_cyc", over(evidence, inside), 1e-12),
        at_most_zero(evidence, "W^mm inside S_cyc", over(evidence, outside), 1e-12),
        at_most_zero(evidence, "⟨W^cyc, W^mm⟩", over(evidence, product), 1e-11),
    ]


@claim(
    "lemma-2/span",
    "Appendix B.3",
    "The differences (e_i − e_j) e_k^T of tied tokens span S_cyc, which Definition 3 defines by "
    "(e_j − ē) e_k^T.",
    assumes=(),
    on=SAMPLE,
    sharpened="they are linearly independent of it",
)
def lemma_2_span(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Each family projected onto the span of the other."""
    from lemmata.margin import span_basis

    def errors(dataset: "Dataset") -> list[float]:
        E = dataset.E
        rows = [
            np.outer(E[j] - E[tied].mean(axis=0), E[q]).ravel()
            for q, graph in dataset.graphs.items()
            for tied in graph.components
            if len(tied) > 1
            for j in tied
        ]
        if not rows:
            return [float(sharpened)]
        means, basis = span_basis(np.stack(rows)), dataset.tied_basis
        there = np.abs(means - (means @ basis.T) @ basis).max()
        back = np.abs(basis - (basis @ means.T) @ means).max()
        return [float(max(there, back)) + sharpened]

    return [at_most_zero(evidence, "spans", over(evidence, errors), 1e-10)]


@claim(
    "equation-10",
    "Appendix B.3, Eq. (10)",
    "A matrix orthogonal to S_cyc gives tied tokens the same logit.",
    assumes=(),
    on=SAMPLE,
    sharpened="so does every matrix",
)
def equation_10(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Random matrices without their part in S_cyc."""
    from lemmata.margin import pair_rows
    from lemmata.papers.mechanics._points import project, random_weights

    def spread(dataset: "Dataset") -> list[float]:
        rows = pair_rows(dataset.tied_pairs, dataset.E)
        found = []
        for W in random_weights(dataset):
            outside = W if sharpened else W - project(dataset.tied_basis, W)
            found.append(float(np.abs(rows @ outside.ravel()).max(initial=0.0)))
        return found

    return [at_most_zero(evidence, "spread", over(evidence, spread), 1e-11)]


@claim(
    "lemma-4",
    "Appendix B.4, Lemma 4",
    "With the part in S_cyc frozen at any W^∥, the path outside tends to W^mm in direction.",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="it tends to −W^mm",
)
def lemma_4(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The log loss, with W^∥ = 0 and with one of norm 3; 1 − corr falls like 1/R²."""
    from lemmata.papers.mechanics._points import generator_for
    from lemmata.papers.mechanics._regularized import restricted_path

    depths = [20.0, 100.0, 500.0, 2500.0]
    gaps, radii, names = [], [], []
    for dataset in evidence.datasets:
        draw = generator_for(dataset, "frozen")
        for size in (0.0, 3.0):
            inside = draw.standard_normal(len(dataset.bound_basis)) @ dataset.bound_basis
            inside *= size / max(float(np.linalg.norm(inside)), 1e-300)
            points = restricted_path(dataset, inside.reshape(dataset.target.shape), depths)
            unit = np.stack([p.free / np.linalg.norm(p.free) for p in points]) @ dataset.free_basis
            goal = dataset.target.ravel() / dataset.norm * (-1 if sharpened else 1)
            gaps.append(np.sum((unit - goal) ** 2, axis=1) / 2)
            radii.append([p.radius for p in points])
            names.append(f"{dataset.name}, ‖W^∥‖ = {size:g}")
    return [vanishing("1 − corr", np.mean(radii, axis=0), np.stack(gaps), names, 1e-4)]


@claim(
    "equation-11",
    "Appendix B.4, Eq. (11)",
    "The restricted problem min L(W^⊥ + W^∥) over ‖W^⊥‖ ≤ R is solved on the sphere, where −Π_⊥ ∇L "
    "points along W^⊥.",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="where it points away",
)
def equation_11(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The angle between −Π_⊥ ∇L and W^⊥ at three radii; convexity makes such a point optimal."""
    from lemmata.papers.mechanics._points import At, project
    from lemmata.papers.mechanics._regularized import restricted_path

    def turns(dataset: "Dataset") -> list[float]:
        zero = np.zeros_like(dataset.target)
        found = []
        for point in restricted_path(dataset, zero, [2.0, 10.0, 40.0]):
            W = (point.free @ dataset.free_basis).reshape(dataset.target.shape)
            down = -At(dataset, W).gradient(~dataset.risk.tied)
            down = down - project(dataset.bound_basis, down)
            gap = down / np.linalg.norm(down) - (-1 if sharpened else 1) * W / np.linalg.norm(W)
            found.append(float(np.linalg.norm(gap)))
        return found

    return [at_most_zero(evidence, "angle", over(evidence, turns), 1e-6)]


@claim(
    "equation-12",
    "Appendix B.4, Eq. (12)",
    "Attention inside R_i, normalized, does not depend on the part of W orthogonal to S_cyc.",
    assumes=(ASSUMPTION_2,),
    on=SAMPLE,
    sharpened="nor does attention itself",
)
def equation_12(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Two random W that differ outside S_cyc."""
    from lemmata.papers.mechanics._points import At, project, random_weights

    def errors(dataset: "Dataset") -> list[float]:
        found = []
        matrices = random_weights(dataset)
        for W, other in zip(matrices, matrices[::-1], strict=True):
            moved = W + other - project(dataset.tied_basis, other)
            shares = []
            for here in (W, moved):
                masses = dataset.risk.log_masses(At(dataset, here).logits)
                kept = np.where(dataset.risk.tied | sharpened, masses, -np.inf)
                total = np.logaddexp.reduceat(kept, dataset.risk.start)
                shares.append(np.exp(kept - total[dataset.risk.sample]))
            found.append(float(np.abs(shares[0] - shares[1]).max()))
        return found

    return [at_most_zero(evidence, "shares", over(evidence, errors), 1e-9)]


@claim(
    "equation-13",
    "Appendix B.4, Eq. (13)",
    "With W^∥ frozen, L(R W' + W^∥) > L(R W^mm + W^∥) once R > R_ε.",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="the other way round",
)
def equation_13(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """l(u) = −u under the identity head; the gap of sample i is c_i/d_i times the mass off R_i."""
    from lemmata.papers.mechanics import _regularized as terms
    from lemmata.papers.mechanics._points import At, generator_for

    def slack(dataset: "Dataset") -> list[float]:
        risk = dataset.risk
        n, T = dataset.data.total, dataset.data.longest_input
        draw = generator_for(dataset, "frozen")
        found = []
        for number in range(4):
            inside = draw.standard_normal(len(dataset.bound_basis)) @ dataset.bound_basis
            inside = inside.reshape(dataset.target.shape)
            frozen = risk.log_multiplicity + At(dataset, inside).logits[risk.cell]
            log_c = np.logaddexp.reduceat(np.where(risk.label, frozen, -np.inf), risk.start)
            log_d = np.logaddexp.reduceat(np.where(risk.tied, frozen, -np.inf), risk.start)
            largest = float(np.abs(frozen[risk.tied]).max())

            def excess(W: np.ndarray, share: np.ndarray = log_c - log_d) -> np.ndarray:
                masses = risk.log_masses(At(dataset, W).logits)
                off = np.where(risk.tied, -np.inf, masses)
                return share + np.logaddexp.reduceat(off, risk.start) + np.log(risk.weight)

            other = terms.other_direction(dataset, number, dataset.free_basis)
            margin, i = terms.worst_margin(dataset, other)
            probe = excess(LATE * dataset.target + inside)
            j = int(np.argmax(probe))
            start = theory.lemma_4_radius(
                1 - margin,
                n,
                T,
                (1.0, 1.0),
                (float(np.exp(log_c[i])), float(np.exp(log_d[i]))),
                (float(np.exp(log_c[j])), float(np.exp(log_d[j]))),
                largest,
            )
            R = 1.01 * max(start, 1.0)
            difference = np.logaddexp.reduce(excess(R * other + inside)) - np.logaddexp.reduce(
                excess(R * dataset.target + inside)
            )
            found.append(float(difference) * (-1 if sharpened else 1))
        return found

    return [positive(evidence, "log excess", over(evidence, slack))]


@claim(
    "equation-14",
    "Appendix B.4, Eq. (14)",
    "Along the path L(W̄_R) and the mean of l(Σ_{O_i} e^b / Σ_{R_i} e^b), b the logits of its part "
    "in S_cyc, have the same limit.",
    assumes=GLOBAL,
    on=PATHS,
    sharpened="they are equal from the start",
)
def equation_14(evidence: Curves, sharpened: bool) -> Sequence[Judgement]:
    """The printed limit has R on both sides; read as: the difference vanishes."""
    rows = []
    for dataset, curve in zip(evidence.datasets, evidence.curves, strict=True):
        rows.append([_limit_gap(dataset, W) for W in curve.weights])
    gaps = np.array(rows)
    if sharpened:
        return [judge(equal, evidence, "difference", gaps, 0.0, tolerance=1e-12)]
    return [vanishing("difference", evidence.places, gaps, evidence.names, 1e-10)]


def _limit_gap(dataset: "Dataset", weights: np.ndarray) -> float:
    """L(W) minus the risk that is left when only tied tokens remain."""
    from lemmata.papers.mechanics._points import At, project

    reduced = dataset.risk.tied_only()
    tied = project(dataset.bound_basis, weights)
    share = dataset.cyclic.total / max(dataset.realizable.total, 1)
    left = share * reduced.value(At(dataset, tied).logits) if len(reduced.weight) else 0.0
    return At(dataset, weights).risk - left


@claim(
    "equation-15",
    "Appendix B.4, Eq. (15)",
    "L̄(W^∥) = (1/|I|) Σ_{i ∈ I} l(Σ_{O_i} e^b / Σ_{R_i} e^b), b the logits under W^∥.",
    assumes=(ASSUMPTION_2, FEASIBLE),
    on=SAMPLE,
    sharpened="1.001 times that",
)
def equation_15(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Position by position over the cyclic subdata, with the original last token as query."""
    from lemmata.papers.mechanics._points import At, project, random_weights, softmax_of

    def errors(dataset: "Dataset") -> list[float]:
        reduced = dataset.risk.tied_only()
        found = []
        for W in random_weights(dataset)[:6]:
            inside = project(dataset.tied_basis, W)
            total = 0.0
            for s in dataset.cyclic.samples:
                shares = softmax_of(dataset, list(s.tokens), s.query, inside)
                mass = sum(w for w, x in zip(shares, s.tokens, strict=True) if x == s.label)
                total -= s.count * float(np.log(mass))
            plain = total / dataset.cyclic.total * (1.001 if sharpened else 1.0)
            found.append(abs(plain / reduced.value(At(dataset, inside).logits) - 1))
        return found

    some = with_ties(evidence)
    if not len(some):
        return [Judgement("risk", Status.UNDECIDED, "no dataset has ties")]
    return [at_most_zero(some, "relative difference", over(some, errors), 1e-9)]


@claim(
    "equation-16",
    "Appendix B.4, Eq. (16)",
    "lim L = |Ī|/n l(1) + |I|/n L̄(W^cyc): what W^cyc + R W^mm tends to as R grows.",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="lim L = L̄(W^cyc)",
)
def equation_16(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Within T e^-R of it at R = 5, 10, 25, for the log loss (l(1) = 0)."""
    from lemmata.papers.mechanics._points import At

    def slack(dataset: "Dataset") -> list[float]:
        reduced = dataset.risk.tied_only()
        finite = dataset.dense(dataset.correction)
        share = 1.0 if sharpened else dataset.cyclic.total / dataset.realizable.total
        limit = share * reduced.value(At(dataset, finite).logits) if len(reduced.weight) else 0.0
        spread = float(np.ptp(At(dataset, finite).logits, axis=0)) if len(reduced.weight) else 0.0
        return [
            dataset.data.longest_input * np.exp(spread - R)
            - abs(At(dataset, finite + R * dataset.target).risk - limit)
            for R in (5.0, 10.0, 25.0)
        ]

    return [
        judge(
            at_least, evidence, "distance to the limit", over(evidence, slack), 0.0, tolerance=1e-12
        )
    ]


def _theorem_2_witnesses(bench: Bench) -> Sequence[Judgement]:
    from lemmata.papers.mechanics import _counterexamples as examples

    starts = list(np.random.default_rng(0).standard_normal((4, 3)))
    first = examples.several_minimisers()
    column = examples.sphere_minimum(examples.several_minimisers_excess, 100.0, starts)
    goal = np.array([1.0, 1.0, -2.0]) / np.sqrt(6)
    one = float(column @ goal)
    second = examples.two_decay_rates()
    starts = [np.array(v) for v in ([1.0, 1, 0, 0.5, -2], [1.0, 1, 0, 0, -2], [1.0, 1, 0, 1, -3])]
    other = examples.sphere_minimum(examples.two_decay_rates_excess, 100.0, starts)
    goal = np.array([1.0, 1.0, 0.0, 1.0, -3.0]) / np.sqrt(12)
    two = float(other @ goal)
    return [
        fact(
            "l(u) = −u",
            one > 0.99,
            "L̄ is constant, so its minimiser is not unique; the path has cosine "
            f"{one:.4f} with W^mm",
            witness(first, direction=column, cosine=one),
        ),
        fact(
            "l(u) = (1 − u)²",
            two > 0.99,
            f"samples without ties decay twice as fast; the path has cosine {two:.4f} with W^mm",
            witness(second, direction=other, cosine=two),
        ),
    ]


def _theorem_2_holds(evidence: Curves, sharpened: bool) -> Sequence[Judgement]:
    turn = evidence.one_minus_correlation
    turn = 2 - turn if sharpened else turn
    return [
        vanishing("1 − corr(W̄_R, W^mm)", evidence.places, turn, evidence.names, 1e-5),
        vanishing(
            "‖Π W̄_R − W^cyc‖", evidence.places, evidence.cyclic_distance, evidence.names, 1e-11
        ),
    ]


@claim(
    "theorem-2",
    "Section 4.2, Theorem 2",
    "For any loss of Assumption 1 with C E^T = I and W^cyc finite: W̄_R / R → W^mm / ‖W^mm‖ and "
    "Π_{S_cyc}(W̄_R) → W^cyc.",
    assumes=GLOBAL,
    on=PATHS,
    sharpened="W̄_R / R → −W^mm / ‖W^mm‖",
    counterexample=_theorem_2_witnesses,
)
def theorem_2(evidence: Curves, sharpened: bool) -> Sequence[Judgement]:
    """Two losses within Assumption 1 break it; the log loss, which is not, obeys it."""
    return _theorem_2_holds(evidence, sharpened)


@claim(
    "theorem-2/repaired",
    "ours: Theorem 2 for losses with l' < 0 whose L̄ has one minimiser and bounded sublevel sets",
    "For the log loss both limits hold; 1 − corr falls like 1/R², the distance to W^cyc "
    "exponentially.",
    assumes=GLOBAL,
    on=PATHS,
    sharpened="W̄_R / R → −W^mm / ‖W^mm‖",
)
def theorem_2_repaired(evidence: Curves, sharpened: bool) -> Sequence[Judgement]:
    """By Newton's method in two scales, to radii of some ten thousands."""
    return _theorem_2_holds(evidence, sharpened)

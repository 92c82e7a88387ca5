"""Section 5 and Appendix C.3: where gradient descent on the log loss goes."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from flint import arb

from lemmata.claims import (
    Bench,
    Comparison,
    Comparisons,
    Fact,
    Version,
    at_least,
    at_most,
    equal,
    statements,
    tends_to,
)
from lemmata.margin import pair_rows
from lemmata.settings import Evidence, Grid, as_rows
from lemmata.tokens import PriorityGraph, Sample

from ..counterexamples import cycle_above_last, two_cycles
from ..experiments import (
    ANY_STEP,
    DESCENT,
    EPS,
    EVEN,
    LONG_DESCENT,
    SAMPLE,
    STRUCTURES,
    At,
    log_tied_risk,
    random_points,
)
from ..setting import REALIZABLE, Dataset, Training, replay, tied_curvature
from ._shared import (
    GLOBAL,
    SHORTEST,
    Numbers,
    aligns,
    arrived,
    at_points,
    optimum_error,
    settled,
    with_ties,
)

LOG_SMALLEST = float(np.log(np.finfo(float).tiny))
"""Below it the exponential is 0."""

claim = statements("mechanics", on=LONG_DESCENT, hypotheses=GLOBAL)


@claim(
    "lemma-5",
    "Appendix C.3, Lemma 5",
    "With η ≤ 1/L, L(W(τ+1)) − L(W(τ)) ≤ −(η/2) ‖∇L(W(τ))‖².",
    hypotheses=(REALIZABLE,),
    on=DESCENT,
)
def lemma_5(evidence: Evidence[Dataset]) -> Comparisons:
    """Every step of a run at η = 1/L."""
    loss = np.exp(evidence.log_loss)
    square = np.exp(2 * evidence.log_gradient_norm)[:, :-1]
    fall = loss[:, :-1] - loss[:, 1:]
    rounding = 8 * EPS
    return at_least(
        fall, evidence.rate / 2 * square, size=loss[:, :-1], rounding=rounding, part="fall"
    )


@claim(
    "lemma-5/sum",
    "Appendix C.3, Lemma 5, second half, and its proof",
    "With η ≤ 1/L, Σ_τ ‖∇L(W(τ))‖² ≤ (2/η)(L(W(0)) − inf L).",
    on=DESCENT,
)
def lemma_5_sum(evidence: Evidence[Dataset]) -> Comparisons:
    """The sums up to every step; inf L is what is left among ties, (|I|/n) L̄(W^cyc)."""
    sums = np.cumsum(np.exp(2 * evidence.log_gradient_norm), axis=1)
    start = np.exp(evidence.log_loss[:, :1])
    least = evidence.each(lambda d: np.exp(log_tied_risk(d, d.W_cyc)))
    return at_most(sums, 2 / evidence.rate * (start - least), part="Σ ‖∇L‖²")


@claim(
    "lemma-5/gradient",
    "Appendix C.3, Lemma 5, last part; Appendix C.4",
    "With η ≤ 1/L, ‖∇L(W(τ))‖ → 0.",
)
def lemma_5_gradient(evidence: Evidence[Dataset]) -> Comparisons:
    """Like 1/τ, as L − inf L."""
    slopes = arrived(evidence, evidence.free_norm, np.exp(evidence.log_gradient_norm))
    inverse = 1 / np.maximum(evidence.records, 1.0)
    return tends_to(slopes, 0.0, trend=inverse, part="‖∇L‖")


@claim(
    "lemma-6",
    "Appendix C.3, Lemma 6",
    "⟨∇L(W), W^mm⟩ < 0 at every finite W.",
    on=SAMPLE,
)
@at_points(at_most, strict=True, part="⟨∇L, W^mm⟩")
def lemma_6(dataset: Dataset) -> Numbers:
    """At random W, from the masses off R_i alone, and relative to the largest of them."""
    risk, goal = dataset.risk, At(dataset, dataset.target).logits
    off = ~risk.tied
    margins = (goal[risk.cell] - goal[risk.cell[risk.label]][risk.sample])[off]
    for at in random_points(dataset):
        log_masses = (risk.log_masses(at.logits) + risk.log_weight[risk.sample])[off]
        yield np.sum(np.exp(log_masses - log_masses.max()) * margins), 0.0


@claim(
    "own/lemma-6-sharp",
    "ours",
    "⟨∇L(W), W^mm⟩ ≤ −(1/n) Σ_i Σ_{t ∉ R_i} s_it.",
    on=SAMPLE,
)
@at_points(at_most, "size", "rounding", part="⟨∇L, W^mm⟩")
def lemma_6_sharp(dataset: Dataset) -> Numbers:
    """At random W."""
    off, weight = ~dataset.risk.tied, dataset.risk.weight[dataset.risk.sample]
    for at in random_points(dataset):
        product = np.sum(at.gradient(off) * dataset.target)
        mass, size = np.sum((at.masses * weight)[off]), at.gradient_size * dataset.norm
        yield product, -mass, max(mass, size), optimum_error(dataset)


@claim(
    "lemma-6/proof",
    "Appendix C.3, proof of Lemma 6",
    "x̄_i^T (W^mm)^T (x_it − e_yi) = −1 for t ∉ R_i.",
    on=SAMPLE,
    kind="misprint",
)
def lemma_6_proof(evidence: Evidence[Dataset]) -> Comparisons:
    """A token far below the label has a margin larger than 1: ≤ −1 is meant."""
    margins = evidence.each(lambda d: -pair_rows(d.strict_pairs, d.E) @ d.target.ravel())
    return equal(margins, -1.0, rounding=evidence.each(optimum_error), part="margins")


@claim(
    "theorem-4",
    "Appendix C.3, Theorem 4",
    "No finite W has ∇L(W) = 0, and gradient descent with η ≤ 1/L has ‖W(τ)‖ → ∞.",
)
def theorem_4(evidence: Evidence[Dataset]) -> Comparisons:
    """Along the runs; the norm gains ‖W^mm‖ per e-fold of time, so that e^−‖W‖/‖W^mm‖ ~ 1/τ.

    Where a float would be 0 because ‖∇L‖ is too small for it, nothing is said of its sign.
    """
    logs = evidence.log_gradient_norm
    slopes = np.where(logs > LOG_SMALLEST, np.exp(logs), np.nan)
    folds = np.exp(-evidence.free_norm / evidence.each(lambda d: d.norm))
    folds = arrived(evidence, evidence.free_norm, folds)
    return [
        at_least(slopes, 0.0, strict=True, part="‖∇L‖ > 0"),
        tends_to(folds, 0.0, part="‖W(τ)‖ → ∞, as exp(−‖W‖/‖W^mm‖) → 0"),
    ]


@claim(
    "lemma-7",
    "Appendix C.4, Lemma 7",
    "W^cyc is unique and finite.",
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
)
def lemma_7(evidence: Evidence[Dataset]) -> Comparisons:
    """The Hessian of L̄ on S_cyc is positive definite there."""
    norms = [dataset.correction.norm for dataset in evidence]
    reason = f"norms between {min(norms):.4g} and {max(norms):.4g}"
    finite = Fact(bool(np.isfinite(norms).all()), reason, part="finite")
    return [finite, _positive_definite(evidence)] if len(with_ties(evidence)) else finite


@at_points(
    at_least, "size", strict=True, part="root of the least curvature at W^cyc", only=with_ties
)
def _positive_definite(dataset: Dataset) -> Numbers:
    at = At(dataset, dataset.W_cyc)
    roots = at.curvature_roots(dataset.tied_basis, dataset.risk.tied_only(), EVEN)
    yield roots[-1], 0.0, roots[0]


def _below_a_tie(bench: Bench) -> Comparison:
    """Two tokens that are tied with each other are removed, because the label is above them."""
    return removed([two_cycles()], "singletons")


@claim(
    "lemma-7/removed",
    "Appendix C.4, proof of Lemma 7",
    "The cyclic subdata lose exactly the tokens of singleton components.",
    hypotheses=(REALIZABLE,),
    on=STRUCTURES,
    kind="misprint",
    counterexample=_below_a_tie,
    which="singletons",
    versions=[
        Version(
            "repaired",
            where="ours: as Definition 1 has it",
            statement="The samples with ties lose exactly the tokens of other components than that "
            "of their label.",
            parameters={"which": "others"},
        )
    ],
)
def removed(evidence: Iterable[Dataset], which: str) -> Comparison:
    """How many positions each sample with ties loses."""
    cases, left, right = tuple(evidence), [], []
    for dataset in cases:
        samples = [dataset.realizable.samples[i] for i in dataset.tied_samples]
        kept = [len(sample.tokens) for sample in dataset.cyclic.samples]
        left.append([len(s.tokens) - k for s, k in zip(samples, kept, strict=True)])
        right.append([_lost(dataset.graphs[s.query], s, which) for s in samples])
    return equal(as_rows(left), as_rows(right), part="tokens removed", cases=cases)


def _lost(graph: PriorityGraph, sample: Sample, which: str) -> int:
    component = graph.component_of
    sizes = {token: len(graph.components[component[token]]) for token in sample.tokens}
    if which == "singletons":
        return sum(sizes[token] == 1 for token in sample.tokens)
    return sum(component[token] != component[sample.label] for token in sample.tokens)


EVEN_STEPS = tuple(int(2 * half) for half in np.unique(np.geomspace(5, 10_000, 40).astype(int)))
"""A step that is too large alternates: every second iterate is on the same side."""


def large_step(bench: Bench) -> Comparison:
    """A constant step of 5, beyond 2/λ = 4.5, λ the curvature at the limit."""
    dataset, training = cycle_above_last(), Training("gd", 5.0, EVEN_STEPS[-1], EVEN_STEPS)
    run = training.run([dataset])
    distance, part = run["cyclic_distance"], "(3) with η = 5"
    return tends_to(distance, 0.0, places=run.steps, part=part, cases=[dataset])


FIRST_STEPS = 50

STANDS = 1e-10
"""A distance to W^cyc below this, relative to W, is one of rounding."""


def repelled(dataset: Dataset, options: Mapping[str, Any]) -> Comparison:
    """η λ ≤ 2, λ the largest curvature at W^cyc: beyond, descent runs away from W^cyc.

    Unless it stands there exactly, by symmetry, which the first steps in balls must exclude.
    """
    curvature, rate = tied_curvature(dataset), float(options.get("rate", 0.0))
    product = arb(0)
    if curvature is not None and rate > 0:
        run = replay(dataset, Training("gd", rate), rate, np.array([FIRST_STEPS]))
        if run is not None and run["cyclic_distance"][0] > 0:
            product = curvature * rate
    return at_most([product], [2], part="η λ")


@claim(
    "theorem-3",
    "Section 5, Theorem 3; Eqs. (2) and (3)",
    "From any W(0), with any constant step size, gradient descent on the log loss has "
    "W(τ)/‖W(τ)‖ → W^mm/‖W^mm‖ and Π_{S_cyc}(W(τ)) → W^cyc.",
    on=ANY_STEP,
    kind="hypothesis",
    counterexample=large_step,
    exact=repelled,
    versions=[
        Version(
            "repaired",
            where="ours: Theorem 3 with η ≤ 1/L",
            on=LONG_DESCENT,
            statement="With η ≤ 1/L both limits hold: 1 − corr ~ C/‖W(τ)‖² and ‖Π W(τ) − W^cyc‖ "
            "~ C/τ.",
        )
    ],
)
@claim(
    "equation-2",
    "Section 5, Eq. (2)",
    "With any constant step size W(τ)/‖W(τ)‖ → W^mm/‖W^mm‖.",
    on=ANY_STEP,
    equations=(2,),
)
@claim(
    "equation-3",
    "Section 5, Eq. (3)",
    "With any constant step size Π_{S_cyc}(W(τ)) → W^cyc.",
    on=ANY_STEP,
    kind="hypothesis",
    counterexample=large_step,
    exact=repelled,
    equations=(3,),
)
def theorem_3(evidence: Evidence[Dataset], equations: tuple[int, ...] = (2, 3)) -> Comparisons:
    """The proof needs η ≤ 1/L; no run of plain descent gets near correlation 1.

    W − W^mm ln τ stays bounded, so that 1 − corr falls like 1/‖W‖², whatever the step size is.
    """
    gaps, distance = (
        settled(evidence, evidence.rate, arrived(evidence, evidence.free_norm, column))
        for column in (evidence.one_minus_correlation, evidence.cyclic_distance)
    )
    distance = np.where(_driven_by_rounding(evidence), np.nan, distance)
    inverse = 1 / np.maximum(evidence.records, 1.0)
    limits = {
        2: aligns(gaps, trend=_inverse_square(evidence.norm), part="(2) 1 − corr"),
        3: tends_to(distance, 0.0, trend=inverse, part="(3) ‖Π W(τ) − W^cyc‖"),
    }
    return [limits[number] for number in equations]


def _driven_by_rounding(evidence: Evidence[Dataset]) -> np.ndarray:
    """Which runs stand at W^cyc at first, by symmetry, and do not later.

    With a large step W^cyc repels, and what leaves it is the rounding of the start.
    """
    distance, size = evidence.cyclic_distance, np.maximum(evidence.norm, SHORTEST)
    first = distance[:, evidence.records <= FIRST_STEPS // 5].max(axis=1, keepdims=True)
    return (first <= STANDS * size[:, -1:]) & (distance[:, -1:] > STANDS * size[:, -1:])


def _inverse_square(norm: Grid) -> Grid:
    """1/‖W‖², which says nothing at W = 0."""
    return np.where(norm > 0, norm, np.nan) ** -2.0


@claim(
    "equation-34",
    "Appendix C.4, Eq. (34)",
    "corr(W^⊥(τ), W^mm) → 1 along gradient descent.",
)
def equation_34(evidence: Evidence[Dataset]) -> Comparisons:
    """W^mm is orthogonal to S_cyc, so corr(W^⊥, W^mm) is corr(W, W^mm) ‖W‖/‖W^⊥‖."""
    free = np.where(evidence.free_norm > 0, evidence.free_norm, np.nan)
    gaps = 1 - (1 - evidence.one_minus_correlation) * evidence.norm / free
    gaps = settled(evidence, evidence.rate, arrived(evidence, free, gaps))
    return aligns(gaps, trend=_inverse_square(free), part="1 − corr(W^⊥, W^mm)")

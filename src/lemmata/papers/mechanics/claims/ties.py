"""Section 4.2 and Appendices B.3 and B.4: ties, and the regularization path with them."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from lemmata.claims import (
    Bench,
    Comparison,
    Comparisons,
    Version,
    at_least,
    at_most,
    equal,
    repaired,
    statements,
    tends_to,
)
from lemmata.margin import pair_rows, span_basis
from lemmata.settings import Evidence

from ..counterexamples import (
    frozen_below,
    several_minimisers_gaps,
    two_decay_rates,
)
from ..experiments import (
    ANY_FROZEN,
    ANY_LOSS,
    EPS,
    FROZEN,
    PATHS,
    SAMPLE,
    At,
    Followed,
    log_tied_risk,
    other_direction,
    project,
    random_weights,
    restricted_path,
    softmax_of,
    tied_weights,
    worst_margin,
)
from ..setting import FEASIBLE, REALIZABLE, Dataset, Objective
from ..theory import lemma_4_radius
from ._decay import RADII, along_path, outrun, turns_to
from ._shared import (
    GLOBAL,
    Numbers,
    aligns,
    at_points,
    optimum_error,
    sides,
    speaking,
    with_ties,
)
from .proof import SMALLEST

claim = statements("mechanics", on=SAMPLE, hypotheses=GLOBAL)

Over = Literal["ties", "all"]
"""Positions over which the largest logit of W^∥ is taken."""

SIZES = (1.0, 30.0)
"""Of the logits of W^∥ in Eq. (13)."""


@claim(
    "lemma-2",
    "Section 4.2, Lemma 2",
    "W^cyc lies in S_cyc, W^mm is orthogonal to S_cyc, and so ⟨W^cyc, W^mm⟩ = 0.",
    hypotheses=(REALIZABLE, FEASIBLE),
)
def lemma_2(evidence: Evidence[Dataset]) -> Comparisons:
    """By projection; a dataset without ties says nothing."""
    return speaking([_inside(evidence), _outside(evidence), _orthogonal(evidence)])


@at_points(equal, "size", part="W^cyc inside S_cyc", only=with_ties)
def _inside(dataset: Dataset) -> Numbers:
    projected = project(dataset.tied_basis, dataset.W_cyc)
    for pair in zip(dataset.W_cyc.flat, projected.flat, strict=True):
        yield *pair, dataset.correction.norm


@at_points(equal, "size", "rounding", part="W^mm along S_cyc", only=with_ties)
def _outside(dataset: Dataset) -> Numbers:
    for entry in dataset.tied_basis @ dataset.target.ravel():
        along = entry if dataset.norm > 0 else np.nan
        yield along, 0.0, dataset.norm, optimum_error(dataset)


@at_points(equal, "size", "rounding", part="⟨W^cyc, W^mm⟩", only=with_ties)
def _orthogonal(dataset: Dataset) -> Numbers:
    size = dataset.correction.norm * dataset.norm
    yield np.sum(dataset.W_cyc * dataset.target), 0.0, size, optimum_error(dataset)


@claim(
    "lemma-2/span",
    "Appendix B.3",
    "The differences (e_i − e_j) e_k^T of tied tokens span S_cyc, which Definition 3 defines by "
    "(e_j − ē) e_k^T.",
    hypotheses=(),
)
@at_points(equal, "rounding", size=1.0, part="spans")
def lemma_2_span(dataset: Dataset) -> Numbers:
    """Each family projected onto the span of the other; rounding grows with their condition."""
    E = dataset.E
    rows = [
        np.outer(E[j] - E[tied].mean(axis=0), E[q]).ravel()
        for q, graph in dataset.graphs.items()
        for tied in graph.components
        if len(tied) > 1
        for j in tied
    ]
    if not rows:
        return
    means, basis = span_basis(np.stack(rows)), dataset.tied_basis
    sizes = np.linalg.svd(pair_rows(dataset.tied_pairs, E), compute_uv=False)
    rounding = 64 * EPS * sizes[0] / sizes[len(basis) - 1]
    for family, other in ((means, basis), (basis, means)):
        projected = (family @ other.T) @ other
        for pair in zip(family.ravel(), projected.ravel(), strict=True):
            yield *pair, rounding


@claim(
    "equation-10",
    "Appendix B.3, Eq. (10)",
    "A matrix orthogonal to S_cyc gives tied tokens the same logit.",
    hypotheses=(),
)
@at_points(equal, "size", part="difference of tied logits")
def equation_10(dataset: Dataset) -> Numbers:
    """Random matrices without their part in S_cyc."""
    rows = pair_rows(dataset.tied_pairs, dataset.E)
    for W in random_weights(dataset):
        outside = (W - project(dataset.tied_basis, W)).ravel()
        for row in rows:
            yield float(row @ outside), 0.0, float(np.linalg.norm(row) * np.linalg.norm(W))


def _frozen_at_zero(bench: Bench) -> Comparison:
    """(1 − u)² with W^∥ = 0: a sample without ties decays twice as fast as one with."""
    dataset = two_decay_rates()
    return along_path(dataset, Objective("squared"), np.zeros_like(dataset.target))


@claim(
    "lemma-4",
    "Appendix B.4, Lemma 4",
    "For any loss of Assumption 1, with the part in S_cyc frozen at any W^∥, the path outside "
    "tends to W^mm in direction.",
    on=ANY_FROZEN,
    kind="hypothesis",
    counterexample=_frozen_at_zero,
    exact=outrun(ANY_FROZEN.training),
    versions=[
        Version(
            "repaired",
            where="ours: Lemma 4 for a loss with l' < 0",
            on=replace(ANY_FROZEN, free=()),
            statement="For the log loss, with the part in S_cyc frozen at any W^∥, the path "
            "outside tends to W^mm in direction; 1 − corr falls like 1/R².",
        )
    ],
)
def lemma_4(evidence: Evidence[Dataset]) -> Comparisons:
    """With W^∥ = 0 and with one whose logits are about 3; 1 − corr falls like 1/R²."""
    return [
        aligns(
            evidence.columns[f"gap_{size:g}"],
            trend=evidence.columns[f"radius_{size:g}"] ** -2.0,
            places=evidence.columns[f"radius_{size:g}"].mean(axis=0),
            part=f"1 − corr, logits of W^∥ of about {size:g}",
        )
        for size in FROZEN
    ]


@claim(
    "equation-11",
    "Appendix B.4, Eq. (11)",
    "The restricted problem min L(W^⊥ + W^∥) over ‖W^⊥‖ ≤ R is solved on the sphere, where −Π_⊥ ∇L "
    "points along W^⊥.",
)
@at_points(equal, "rounding", size=1.0, part="direction")
def equation_11(dataset: Dataset) -> Numbers:
    """Unit vectors along −Π_⊥ ∇L and W^⊥; convexity makes a point where they agree optimal."""
    zero = np.zeros_like(dataset.target)
    for point in restricted_path(dataset, zero, [2.0, 10.0, 40.0]):
        W = (point.free @ dataset.free_basis).reshape(zero.shape)
        at = At(dataset, W)
        down = -at.gradient(~dataset.risk.tied)
        down = down - project(dataset.bound_basis, down)
        if not np.linalg.norm(down) > SMALLEST:  # lost to underflow
            continue
        down /= np.linalg.norm(down)
        W = W / np.linalg.norm(W)
        for pair in zip(down.ravel(), W.ravel(), strict=True):
            yield *pair, at.rounding


@claim(
    "equation-12",
    "Appendix B.4, Eq. (12)",
    "Attention inside R_i, normalized, does not depend on the part of W orthogonal to S_cyc.",
    hypotheses=(REALIZABLE,),
)
@at_points(equal, "rounding", part="shares")
def equation_12(dataset: Dataset) -> Numbers:
    """Two random W that differ outside S_cyc."""
    matrices = random_weights(dataset)
    for W, other in zip(matrices, matrices[::-1], strict=True):
        outside = other - project(dataset.bound_basis, other)
        points = At(dataset, W), At(dataset, W + outside)
        rounding = points[0].rounding + points[1].rounding
        for here, there in zip(*map(_shares, points), strict=True):
            yield here, there, rounding


def _shares(at: At) -> np.ndarray:
    """Attention inside R_i, normalized."""
    risk = at.dataset.risk
    kept = np.where(risk.tied, risk.log_masses(at.logits), -np.inf)
    total = np.logaddexp.reduceat(kept, risk.start)
    return np.exp(kept - total[risk.sample])[risk.tied]


def _frozen_below(bench: Bench) -> Comparisons:
    """The part in S_cyc raises a token that is tied with nothing; W' favours its last token."""
    dataset, inside = frozen_below()
    other = dataset.target.copy()
    other[:, 6] *= 0.98
    spare = dataset.norm**2 - np.sum(other**2)
    other[:, 4] *= np.sqrt(1 + spare / np.sum(other[:, 4] ** 2))
    there, here, size = _beyond(dataset, inside, other, "ties")
    return at_least(there, here, strict=True, size=size, part="log excess", cases=[dataset])


@claim(
    "equation-13",
    "Appendix B.4, Eq. (13)",
    "With W^∥ frozen, L(R W' + W^∥) > L(R W^mm + W^∥) once R > R_ε, where b̄ in R_ε is the largest "
    "logit of W^∥ in some R_i.",
    kind="constant",
    counterexample=_frozen_below,
    over="ties",
    versions=[
        repaired(
            "The same with the largest logit of W^∥ at any position.",
            where="ours: Eq. (13) with b̄ over all positions",
            over="all",
        )
    ],
)
@at_points(at_least, "size", strict=True, part="log excess")
def equation_13(dataset: Dataset, over: Over = "all") -> Numbers:
    """Several W' and W^∥, small and large."""
    for number in range(4):
        other = other_direction(dataset, number, dataset.free_basis)
        for size in SIZES:
            yield _beyond(dataset, size * tied_weights(dataset, number), other, over)


def _beyond(
    dataset: Dataset, inside: np.ndarray, other: np.ndarray, over: Over
) -> tuple[float, float, float]:
    """log(L - L*) at R W' and at R W^mm for R just above R_ε, and the size of the logits.

    l(u) = −u under the identity head; the gap of sample i is c_i/d_i times the mass off R_i. The
    sample j of R_ε depends on R: the one that makes R_ε largest is on the safe side.
    """
    risk = dataset.risk
    b = At(dataset, inside).logits[risk.cell]
    frozen = risk.log_multiplicity + b
    log_c = np.logaddexp.reduceat(np.where(risk.label, frozen, -np.inf), risk.start)
    log_d = np.logaddexp.reduceat(np.where(risk.tied, frozen, -np.inf), risk.start)

    def excess(W: np.ndarray) -> float:
        masses = risk.log_masses(At(dataset, W).logits)
        off = np.logaddexp.reduceat(np.where(risk.tied, -np.inf, masses), risk.start)
        return float(np.logaddexp.reduce(log_c - log_d + off + risk.log_weight))

    margin, i = worst_margin(dataset, other)
    j = int(np.argmax(log_c - 2 * log_d))
    start = lemma_4_radius(
        min(1 - margin, 1.0),
        dataset.log_total,
        dataset.data.longest_input,
        (1.0, 1.0),
        (log_c[i], log_d[i]),
        (log_c[j], log_d[j]),
        float(np.abs(b[risk.tied] if over == "ties" else b).max()),
    )
    R = 1.01 * max(start, 1.0)
    return excess(R * other + inside), excess(R * dataset.target + inside), 1 + R


@claim(
    "equation-14",
    "Appendix B.4, Eq. (14)",
    "Along the path L(W̄_R) and the mean of l(Σ_{O_i} e^b / Σ_{R_i} e^b), b the logits of its part "
    "in S_cyc, have the same limit.",
    on=PATHS,
)
def equation_14(evidence: Evidence[Followed]) -> Comparisons:
    """The printed limit has R on both sides; read as: the difference vanishes."""

    def risks(case: Followed) -> Numbers:
        dataset = case.instance
        for W in case.weights:
            at = At(dataset, W)
            yield at.risk - np.exp(log_tied_risk(dataset, project(dataset.bound_basis, W))), at.risk

    gaps, size = sides(evidence, risks)
    return tends_to(gaps, 0.0, size=size, part="difference")


@claim(
    "equation-15",
    "Appendix B.4, Eq. (15)",
    "L̄(W^∥) = (1/|I|) Σ_{i ∈ I} l(Σ_{O_i} e^b / Σ_{R_i} e^b), b the logits under W^∥.",
    hypotheses=(REALIZABLE, FEASIBLE),
)
@at_points(equal, "size", "rounding", part="risk", only=with_ties)
def equation_15(dataset: Dataset) -> Numbers:
    """Position by position over the cyclic subdata, with the original last token as query."""
    reduced = dataset.risk.tied_only()
    for W in random_weights(dataset)[:6]:
        at = At(dataset, project(dataset.tied_basis, W))
        total = 0.0
        for s, weight in zip(dataset.cyclic.samples, reduced.weight, strict=True):
            attention = softmax_of(dataset, s.tokens, s.query, at.weights)
            mass = sum(w for w, x in zip(attention, s.tokens, strict=True) if x == s.label)
            total -= weight * float(np.log(mass))
        risk = reduced.value(at.logits)
        yield total, risk, 1 + risk, at.rounding


@claim(
    "equation-16",
    "Appendix B.4, Eq. (16)",
    "lim L = |Ī|/n l(1) + |I|/n L̄(W^cyc): what W^cyc + R W^mm tends to as R grows.",
)
@at_points(at_most, "size", part="distance to the limit")
def equation_16(dataset: Dataset) -> Numbers:
    """Within T e^-R at R = 5, 10, 25 beyond the logits of W^cyc; l(1) = 0 for the log loss."""
    limit = np.exp(log_tied_risk(dataset, dataset.W_cyc))
    spread = float(np.ptp(At(dataset, dataset.W_cyc).logits))
    for R in (5.0, 10.0, 25.0):
        risk = At(dataset, dataset.W_cyc + (R + spread) * dataset.target).risk
        yield abs(risk - limit), dataset.data.longest_input * np.exp(-R), risk


def _other_losses(bench: Bench) -> Comparisons:
    """−u, whose L̄ is constant, and (1 − u)², where samples without ties decay twice as fast."""
    dataset, gaps = several_minimisers_gaps(RADII)
    return [turns_to(dataset, gaps, "−u"), _frozen_at_zero(bench)]


@claim(
    "theorem-2",
    "Section 4.2, Theorem 2",
    "For any loss of Assumption 1 with C E^T = I and W^cyc finite: W̄_R / R → W^mm / ‖W^mm‖ and "
    "Π_{S_cyc}(W̄_R) → W^cyc.",
    on=ANY_LOSS,
    kind="hypothesis",
    counterexample=_other_losses,
    exact=outrun(ANY_LOSS.training, pairs=True),
    versions=[
        Version(
            "repaired",
            where="ours: Theorem 2 for losses with l' < 0 whose L̄ has one minimiser and bounded "
            "sublevel sets",
            on=PATHS,
            statement="For the log loss both limits hold; 1 − corr falls like 1/R², the distance "
            "to W^cyc exponentially.",
        )
    ],
)
def theorem_2(evidence: Evidence[Any]) -> Comparisons:
    """Two losses within Assumption 1 break it; the log loss, which is not, obeys it."""
    trend = evidence.norm**-2.0
    turns = aligns(evidence.one_minus_correlation, trend=trend, part="1 − corr(W̄_R, W^mm)")
    if "cyclic_distance" not in evidence.columns:  # W^cyc is known for the log loss
        return turns
    return [turns, tends_to(evidence.cyclic_distance, 0.0, part="‖Π W̄_R − W^cyc‖")]


@claim(
    "section-4.2/decomposition",
    "Section 4.2, after Theorem 2",
    "W̄_R ≈ C_R W^mm + W^cyc for an appropriate C_R, in that what is left vanishes.",
    on=PATHS,
    kind="constant",
    versions=[
        Version(
            "repaired",
            where="ours: relative to the norm",
            statement="What is left of W̄_R besides C_R W^mm + W^cyc vanishes relative to R, like "
            "1/R where no tight constraint is idle.",
            parameters={"relative": True},
        )
    ],
)
def decomposition(evidence: Evidence[Followed], relative: bool = False) -> Comparisons:
    """With the best C_R; the rest tends to a matrix that is not 0, since 1 − corr ~ C/R²."""

    def rest(case: Followed) -> list[float]:
        dataset, unit = case.instance, case.instance.target / case.instance.norm
        left = [W - dataset.W_cyc - np.sum((W - dataset.W_cyc) * unit) * unit for W in case.weights]
        sizes = [float(np.linalg.norm(W)) if relative else 1.0 for W in case.weights]
        return [float(np.linalg.norm(W)) / size for W, size in zip(left, sizes, strict=True)]

    trend = evidence.norm**-1.0
    if relative:
        return aligns(evidence.each(rest), part="‖W̄_R − C_R W^mm − W^cyc‖ / R")
    return tends_to(evidence.each(rest), 0.0, trend=trend, part="‖W̄_R − C_R W^mm − W^cyc‖")

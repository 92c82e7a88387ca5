"""Section 4.1 and Appendices B.1 and B.2: the regularization path without ties."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from lemmata.claims import Bench, Comparisons, Version, at_least, at_most, statements, tends_to
from lemmata.settings import Evidence

from ..counterexamples import only_the_label, two_scores
from ..experiments import (
    ANY_HEAD,
    DIRECTIONS,
    EPS,
    SAMPLE,
    SPHERES,
    At,
    log_odds_outside,
    random_points,
)
from ..setting import ACYCLIC_DATA, FEASIBLE, REALIZABLE, Dataset, Objective
from ._decay import along_path, outrun
from ._shared import SEPARABLE, Numbers, aligns, at_points

claim = statements("mechanics", on=DIRECTIONS, hypotheses=SEPARABLE)

LEAST_LOG = -700.0
"""The exponential of less would be 0."""

RADII = np.array([1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 400.0])


def _attained(bench: Bench) -> Comparisons:
    """A dataset of labels alone is within the hypotheses, and every W has the risk L*."""
    dataset = only_the_label()
    risk = At(dataset, np.array([[1.0]])).risk
    return at_least(risk, 0.0, strict=True, part="risk > L*", cases=[dataset])


def _some_choice(dataset: Dataset, options: Mapping[str, Any]) -> Comparisons:
    """Without a sample that holds another token than its label, the risk is L* at every W."""
    choices = sum(len(set(s.tokens)) > 1 for s in dataset.realizable.samples)
    return at_least([choices], [1], part="samples with a choice", cases=[dataset])


def _without_underflow(at: At) -> float:
    """The risk, which is 0 only where it is 0, however rare a sample is."""
    log_risk = at.dataset.risk.log_value(at.logits)
    return float(np.exp(np.maximum(log_risk, LEAST_LOG))) if log_risk > -np.inf else 0.0


@claim(
    "lemma-1",
    "Section 4.1, Lemma 1",
    "On acyclic data every finite W has risk > L*, and risk(R W^mm) → L*.",
    hypotheses=(REALIZABLE, ACYCLIC_DATA, FEASIBLE),
    on=SAMPLE,
    kind="hypothesis",
    counterexample=_attained,
    exact=_some_choice,
    versions=[
        Version(
            "repaired",
            where="ours: Lemma 1 for data in which some label beats a token",
            statement="For the log loss, if W^mm ≠ 0 as well, every finite W has risk > L*, and "
            "risk(R W^mm) ≤ L* + T e^-R.",
            hypotheses=SEPARABLE,
            parameters={"rate": True},
        )
    ],
)
def lemma_1(evidence: Evidence[Dataset], rate: bool = False) -> Comparisons:
    """Log loss, L* = 0; the repaired version has a bound in the place of a limit."""
    anywhere = evidence.each(lambda d: [_without_underflow(at) for at in random_points(d)])
    above = at_least(anywhere, 0.0, strict=True, part="risk > L*", cases=evidence.cases)
    some = evidence.where(lambda dataset: dataset.margin.status == "solved")
    if not len(some):
        return above
    along = some.each(lambda d: [At(d, R * d.target).risk for R in RADII])
    if not rate:
        part = "risk(R W^mm) → L*"
        return [above, tends_to(along, 0.0, places=RADII, part=part, cases=some.cases)]
    bound = some.each(lambda d: d.data.longest_input) * np.exp(-RADII)
    return [
        above,
        at_most(
            along,
            bound,
            rounding=64 * EPS * (1 + RADII),
            places=RADII,
            part="risk(R W^mm) ≤ L* + T e^-R",
            cases=some.cases,
        ),
    ]


@claim(
    "lemma-1/sign",
    "Appendix B.2, Lemma 1 as recalled there",
    "Every finite W has risk < L*.",
    on=SAMPLE,
    kind="misprint",
)
@at_points(at_most, strict=True, part="risk")
def lemma_1_sign(dataset: Dataset) -> Numbers:
    """The sign of Lemma 1 is reversed; lemma-1/repaired has it right. L* = 0 for the log loss."""
    for at in random_points(dataset):
        yield _without_underflow(at), 0.0


@claim(
    "lemma-1/proof",
    "Appendix B.1, last display",
    "At R W^mm every position of the label has attention at least 1/(|O_i| + e^-R).",
    on=SAMPLE,
    kind="constant",
)
@claim(
    "lemma-1/proof-repaired",
    "ours: the display with |Ō_i| e^-R",
    "At R W^mm every position of the label has attention at least 1/(|O_i| + |Ō_i| e^-R).",
    on=SAMPLE,
    counted="each",
)
@at_points(at_least, part="attention on the label")
def lemma_1_proof(dataset: Dataset, counted: Literal["once", "each"] = "once") -> Numbers:
    """Each of the |Ō_i| other positions may contribute e^-R, not all together."""
    samples = dataset.realizable.samples
    for R in (1.0, 3.0):
        odds = np.exp(log_odds_outside(dataset, R * dataset.target))
        for sample, outside in zip(samples, odds, strict=True):
            own = sample.tokens.count(sample.label)
            others = len(sample.tokens) - own if counted == "each" else 1
            yield 1 / (own * (1 + outside)), 1 / (own + others * np.exp(-R))


def _two_scores(bench: Bench) -> Comparisons:
    """With l(u) = arctan(u − 1) − (u − 1) and C = diag(1, 1/2, 1), √3/2 is the cosine."""
    return along_path(two_scores(), Objective("flat", np.diag([1.0, 0.5, 1.0])))


@claim(
    "theorem-1",
    "Section 4.1, Theorem 1",
    "On acyclic data, for any strictly decreasing loss with bounded derivative and any head with "
    "Assumption 3, W̄_R / R → W^mm / ‖W^mm‖.",
    on=ANY_HEAD,
    kind="hypothesis",
    counterexample=_two_scores,
    exact=outrun(ANY_HEAD.training),
    versions=[
        Version(
            "repaired",
            where="ours: Theorem 1 with l' < 0 on the range of the scores",
            on=SPHERES,
            statement="If also l' < 0 (continuous) on the range of the scores, W̄_R / R → W^mm / "
            "‖W^mm‖, at the rate 1/R².",
        )
    ],
)
def theorem_1(evidence: Evidence[Dataset]) -> Comparisons:
    """Minimisers on spheres; −u and e^−u for the repaired statement, C = E where that may be."""
    trend = evidence.records**-2.0
    return [
        aligns(grid, trend=trend, part=f"1 − corr, {objective}")
        for objective, grid in evidence.columns.items()
        if np.isfinite(grid).any()
    ]


@claim(
    "equation-6",
    "Appendix B.2, Eq. (6)",
    "Some sample has Σ_{O_i} s^R ≤ 1 / (1 + e^{−(1−ε)R} / T) at R W', where ε is how far W' misses "
    "its worst margin.",
)
def equation_6(evidence: Evidence[Dataset]) -> Comparisons:
    """As odds: those of the rest are at least e^{−(1−ε)R} / T."""
    bound = -evidence.margin * evidence.radius - np.log(evidence.T)
    return at_least(evidence.odds_other, bound, size=1 + evidence.radius, part="log odds")


@claim(
    "equation-7",
    "Appendix B.2, Eq. (7)",
    "At R W^mm every sample has Σ_{O_i} s* ≥ 1 / (1 + T e^−R).",
)
def equation_7(evidence: Evidence[Dataset]) -> Comparisons:
    """As odds: those of the rest are at most T e^−R."""
    bound = np.log(evidence.T) - evidence.radius
    return at_most(evidence.odds_best, bound, size=1 + evidence.radius, part="log odds")


@claim(
    "equation-8",
    "Appendix B.2, Eq. (8)",
    "L(R W') − L* ≥ (c_dn c_min / n) / (1 + T e^{(1−ε)R}).",
)
def equation_8(evidence: Evidence[Dataset]) -> Comparisons:
    """For l(u) = −u, whose slopes are c_dn = c_up = 1."""
    odds = np.logaddexp(0, np.log(evidence.T) + evidence.margin * evidence.radius)
    bound = np.log(evidence.c_min) - evidence.log_n - odds
    return at_least(evidence.excess_other, bound, size=1 + evidence.radius, part="log excess")


@claim(
    "equation-9",
    "Appendix B.2, Eq. (9)",
    "L(R W^mm) − L* ≤ c_up c_max T e^−R.",
)
def equation_9(evidence: Evidence[Dataset]) -> Comparisons:
    """For l(u) = −u."""
    bound = np.log(evidence.c_max * evidence.T) - evidence.radius
    return at_most(evidence.excess_best, bound, size=1 + evidence.radius, part="log excess")


@claim(
    "theorem-1/radius",
    "Appendix B.2, after Eq. (9)",
    "L(R W') > L(R W^mm) once R > (1/ε) log(2 n T² c_up c_max / (c_dn c_min)), 0 < ε ≤ 1.",
)
def theorem_1_radius(evidence: Evidence[Dataset]) -> Comparisons:
    """For l(u) = −u, at and beyond the threshold."""
    late = np.where(evidence.radius > evidence.threshold, evidence.excess_other, np.nan)
    size = 1 + evidence.radius
    return at_least(late, evidence.excess_best, strict=True, size=size, part="log excess")

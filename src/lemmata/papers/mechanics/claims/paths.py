"""Section 4.1 and Appendices B.1 and B.2: the regularization path without ties."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lemmata.old_claims import Bench, Judgement, at_least, fact
from lemmata.papers.mechanics import theory
from lemmata.papers.mechanics.claims._terms import (
    ACYCLIC,
    ASSUMPTION_2,
    FEASIBLE,
    NONZERO,
    claim,
    judge,
    over,
    positive,
    vanishing,
)
from lemmata.papers.mechanics.evidence import Balls, Structures
from lemmata.papers.mechanics.experiments import BALLS, SAMPLE, witness

if TYPE_CHECKING:
    from lemmata.papers.mechanics.setting import Dataset

SEPARABLE = (ASSUMPTION_2, ACYCLIC, FEASIBLE, NONZERO)
RADII = (1.0, 5.0, 20.0, 80.0)


def _risk_exceeds(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """log(risk - L*) is finite at finite W and falls like -R along R W^mm (log loss, L* = 0)."""
    from lemmata.papers.mechanics._points import At, random_weights

    above = over(evidence, lambda d: [np.exp(At(d, W).log_risk) for W in random_weights(d)])
    bound = 1.0 if sharpened else 0.0

    def along(dataset: "Dataset") -> list[float]:
        T = dataset.data.longest_input
        return [np.log(T) - R - At(dataset, R * dataset.target).log_risk for R in (1, 20, 80, 400)]

    return [
        judge(at_least, evidence, "risk > L*", above, bound, strict=True),
        judge(at_least, evidence, "risk(R W^mm) → L*", over(evidence, along), 0.0, tolerance=1e-9),
    ]


def _only_the_label(bench: Bench) -> Sequence[Judgement]:
    from lemmata.papers.mechanics._counterexamples import only_the_label
    from lemmata.papers.mechanics._points import At

    dataset = only_the_label()
    risk = At(dataset, np.array([[1.0]])).risk
    reason = f"on the single sample [0 0] → 0 the risk at W = 1 is {risk:g}, which is L* itself"
    return [fact("risk > L*", risk > 0, reason, witness(dataset, W=1.0, risk=risk))]


@claim(
    "lemma-1",
    "Section 4.1, Lemma 1",
    "On acyclic data every finite W has risk > L*, and risk(R W^mm) → L*.",
    assumes=(ASSUMPTION_2, ACYCLIC, FEASIBLE),
    on=SAMPLE,
    sharpened="risk > L* + 1",
    counterexample=_only_the_label,
)
def lemma_1(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Log loss; a dataset of labels alone is within the hypotheses and attains L*."""
    kept = Structures(tuple(d for d in evidence.datasets if d.margin.status == "solved"))
    return _risk_exceeds(kept, sharpened)


@claim(
    "lemma-1/repaired",
    "ours: Lemma 1 for data in which some label beats a token",
    "If W^mm ≠ 0 as well, every finite W has risk > L*, and risk(R W^mm) ≤ L* + T e^-R.",
    assumes=SEPARABLE,
    on=SAMPLE,
    sharpened="risk > L* + 1",
)
def lemma_1_repaired(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Log loss."""
    return _risk_exceeds(evidence, sharpened)


@claim(
    "lemma-1/proof",
    "Appendix B.1, last display",
    "At R W^mm every position of the label has attention at least 1/(|O_i| + e^-R).",
    assumes=SEPARABLE,
    on=SAMPLE,
    sharpened="at least 1/|O_i|",
)
def lemma_1_proof(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Each of the |Ō_i| other positions may contribute e^-R, not all together."""
    from lemmata.papers.mechanics._regularized import log_odds_outside

    def slack(dataset: "Dataset") -> list[float]:
        own = np.array([s.tokens.count(s.label) for s in dataset.realizable.samples])
        rows = []
        for R in (1.0, 3.0):
            odds = np.exp(log_odds_outside(dataset, R * dataset.target))
            allowed = 0.0 if sharpened else np.exp(-R) / own
            rows.append(float((allowed - odds).min()))
        return rows

    return [
        judge(at_least, evidence, "odds of the rest", over(evidence, slack), 0.0, tolerance=1e-12)
    ]


@claim(
    "lemma-1/proof-repaired",
    "ours: the display with |Ō_i| e^-R",
    "At R W^mm every position of the label has attention at least 1/(|O_i| + |Ō_i| e^-R).",
    assumes=SEPARABLE,
    on=SAMPLE,
    sharpened="at least 1/|O_i|",
)
def lemma_1_proof_repaired(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The corrected count."""
    from lemmata.papers.mechanics._regularized import log_odds_outside

    def slack(dataset: "Dataset") -> list[float]:
        samples = dataset.realizable.samples
        own = np.array([s.tokens.count(s.label) for s in samples])
        rest = np.array([len(s.tokens) for s in samples]) - own
        rows = []
        for R in (1.0, 3.0):
            odds = np.exp(log_odds_outside(dataset, R * dataset.target))
            allowed = 0.0 if sharpened else rest * np.exp(-R) / own
            rows.append(float((allowed - odds).min()))
        return rows

    return [
        judge(at_least, evidence, "odds of the rest", over(evidence, slack), 0.0, tolerance=1e-12)
    ]


def _theorem_1_witness(bench: Bench) -> Sequence[Judgement]:
    from lemmata.attention import FLAT
    from lemmata.papers.mechanics._counterexamples import flat_loss_and_two_scores
    from lemmata.papers.mechanics.setting import Training, ball_paths

    dataset = flat_loss_and_two_scores()
    how = Training(loss=FLAT, head=np.diag([1.0, 0.5, 1.0]))
    path = ball_paths([dataset], how, [20.0, 100.0, 1000.0])[0]
    cosine = 1 - path.cosine_gap(dataset.target)
    column = path.weights[-1][:, 2] / path.radii[-1]
    reason = (
        f"with l(u) = arctan(u − 1) − (u − 1) and C = diag(1, 1/2, 1) the path tends to cosine "
        f"{cosine[-1]:.4f} with W^mm (0.8660 = √3/2 is that of (0, 1, −1)/√2)"
    )
    numbers = {"R": path.radii, "cosine": cosine, "direction": column}
    return [fact("direction", bool(cosine[-1] > 0.99), reason, witness(dataset, **numbers))]


def _theorem_1_holds(evidence: Balls, sharpened: bool) -> Sequence[Judgement]:
    """(1 − corr) falls along the path of each loss."""
    found = []
    for loss, paths in evidence.paths.items():
        gaps = np.stack(
            [
                path.cosine_gap(-dataset.target if sharpened else dataset.target)
                for dataset, path in zip(evidence.datasets, paths, strict=True)
            ]
        )
        part = f"1 − corr ({loss} loss, C = E)"
        found.append(vanishing(part, paths[0].radii, gaps, evidence.names, 2e-3))
    return found


@claim(
    "theorem-1",
    "Section 4.1, Theorem 1",
    "On acyclic data, for any strictly decreasing loss with bounded derivative and any head with "
    "Assumption 3, W̄_R / R → W^mm / ‖W^mm‖.",
    assumes=SEPARABLE,
    on=BALLS,
    sharpened="it tends to −W^mm / ‖W^mm‖",
    counterexample=_theorem_1_witness,
)
def theorem_1(evidence: Balls, sharpened: bool) -> Sequence[Judgement]:
    """The witness has l'(1) = 0; with l' < 0 it holds."""
    return _theorem_1_holds(evidence, sharpened)


@claim(
    "theorem-1/repaired",
    "ours: Theorem 1 with l' < 0 on the range of the scores",
    "If also l' < 0 (continuous) on the range of the scores, W̄_R / R → W^mm / ‖W^mm‖, at the "
    "rate 1/R².",
    assumes=SEPARABLE,
    on=BALLS,
    sharpened="it tends to −W^mm / ‖W^mm‖",
)
def theorem_1_repaired(evidence: Balls, sharpened: bool) -> Sequence[Judgement]:
    """−u, and (1 − u)² where all labels have the same score, so that all decay alike."""
    return _theorem_1_holds(evidence, sharpened)


def _proof_terms(dataset: "Dataset") -> list[dict[str, Any]]:
    """For several W' of norm ‖W^mm‖ and radii R, what Eqs. (6) to (9) speak of (l(u) = −u)."""
    from lemmata.papers.mechanics import _regularized as terms

    head = terms.linear_head(dataset)
    gaps = theory.score_gaps(dataset, head)
    n, T = dataset.data.total, dataset.data.longest_input
    rows = []
    for number in range(4):
        other = terms.other_direction(dataset, number, dataset.free_basis)
        margin, sample = terms.worst_margin(dataset, other)
        epsilon = 1 - margin
        start = theory.theorem_1_radius(epsilon, n, T, (1.0, 1.0), gaps)
        for R in (*RADII, 1.01 * start):
            rows.append(
                {
                    "R": R,
                    "epsilon": epsilon,
                    "late": bool(start < R),
                    "odds_other": terms.log_odds_outside(dataset, R * other)[sample],
                    "odds_best": terms.log_odds_outside(dataset, R * dataset.target).max(),
                    "excess_other": terms.log_linear_excess(dataset, head, R * other),
                    "excess_best": terms.log_linear_excess(dataset, head, R * dataset.target),
                    "gaps": gaps,
                    "n": n,
                    "T": T,
                }
            )
    return rows


@claim(
    "equation-6",
    "Appendix B.2, Eq. (6)",
    "Some sample has Σ_{O_i} s^R ≤ 1 / (1 + e^{−(1−ε)R} / T) at R W', where ε is how far W' misses "
    "its worst margin.",
    assumes=SEPARABLE,
    on=SAMPLE,
    sharpened="without the factor 1/T and with ε/2",
)
def equation_6(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """As odds: those of the rest are at least e^{−(1−ε)R} / T."""

    def slack(dataset: "Dataset") -> list[float]:
        return [
            r["odds_other"]
            + (1 - r["epsilon"] / (1 + sharpened)) * r["R"] * (-1 if sharpened else 1)
            + (0 if sharpened else np.log(r["T"]))
            for r in _proof_terms(dataset)
        ]

    return [judge(at_least, evidence, "log odds", over(evidence, slack), 0.0, tolerance=1e-9)]


@claim(
    "equation-7",
    "Appendix B.2, Eq. (7)",
    "At R W^mm every sample has Σ_{O_i} s* ≥ 1 / (1 + T e^−R).",
    assumes=SEPARABLE,
    on=SAMPLE,
    sharpened="≥ 1 / (1 + e^{−1.1 R} / T)",
)
def equation_7(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """As odds: those of the rest are at most T e^−R."""

    def slack(dataset: "Dataset") -> list[float]:
        return [
            (-np.log(r["T"]) - 1.1 * r["R"] if sharpened else np.log(r["T"]) - r["R"])
            - r["odds_best"]
            for r in _proof_terms(dataset)
        ]

    return [judge(at_least, evidence, "log odds", over(evidence, slack), 0.0, tolerance=1e-9)]


@claim(
    "equation-8",
    "Appendix B.2, Eq. (8)",
    "L(R W') − L* ≥ (c_dn c_min / n) / (1 + T e^{(1−ε)R}).",
    assumes=SEPARABLE,
    on=SAMPLE,
    sharpened="without the factor c_min/n and with ε/4 in the exponent",
)
def equation_8(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """For l(u) = −u, whose slopes are c_dn = c_up = 1."""

    def slack(dataset: "Dataset") -> list[float]:
        found = []
        for r in _proof_terms(dataset):
            share = 0.0 if sharpened else np.log(r["gaps"][0] / r["n"])
            exponent = (1 - r["epsilon"]) * r["R"] * (0.25 if sharpened else 1)
            found.append(r["excess_other"] - share + np.logaddexp(0, np.log(r["T"]) + exponent))
        return found

    return [judge(at_least, evidence, "log excess", over(evidence, slack), 0.0, tolerance=1e-9)]


@claim(
    "equation-9",
    "Appendix B.2, Eq. (9)",
    "L(R W^mm) − L* ≤ c_up c_max T e^−R.",
    assumes=SEPARABLE,
    on=SAMPLE,
    sharpened="≤ e^{−1.1 R}",
)
def equation_9(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """For l(u) = −u."""

    def slack(dataset: "Dataset") -> list[float]:
        return [
            (-1.1 * r["R"] if sharpened else np.log(r["gaps"][1] * r["T"]) - r["R"])
            - r["excess_best"]
            for r in _proof_terms(dataset)
        ]

    return [judge(at_least, evidence, "log excess", over(evidence, slack), 0.0, tolerance=1e-9)]


@claim(
    "theorem-1/radius",
    "Appendix B.2, after Eq. (9)",
    "L(R W') > L(R W^mm) once R > (1/ε) log(2 n T² c_up c_max / (c_dn c_min)).",
    assumes=SEPARABLE,
    on=SAMPLE,
    sharpened="the other way round",
)
def theorem_1_radius(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """For l(u) = −u, at and beyond the threshold."""

    def slack(dataset: "Dataset") -> list[float]:
        return [
            (r["excess_other"] - r["excess_best"]) * (-1 if sharpened else 1)
            if r["late"]
            else np.nan
            for r in _proof_terms(dataset)
        ]

    return [positive(evidence, "log excess", over(evidence, slack))]

"""The induction of Appendix B along descent at the theory's own rates, and (70) of Appendix C."""

import numpy as np

from lemmata.claims import Comparisons, at_least, at_most, equal, statements
from lemmata.settings import Evidence

from ..experiments.descents import DESCENTS, Run
from ..setting import CONVERGENCE

claim = statements("context")

PROOF = "Appendix B, proof of Theorem 1"

LAST_DIGITS = 1e-6
"""The relative error of a gap at the edge of what is judged: 1e-18 of the first, where A-hat - A
has lost nine digits, and more in a square."""


@claim(
    "equation-43a",
    f"{PROOF}, (43a)",
    "||alpha_h|| stays below alpha of (44).",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
)
def equation_43a(evidence: Evidence[Run]) -> Comparisons:
    return at_most(
        evidence.each(lambda run: run["largest_w"] / float(run.used.gamma)),
        evidence.each(lambda run: run.radius),
        part="||alpha_h||",
    )


@claim(
    "equation-43b",
    f"{PROOF}, (43b)",
    "The least eigenvalue of all B_k B_k' stays above zeta_0 / 2.",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
)
def equation_43b(evidence: Evidence[Run]) -> Comparisons:
    """As recorded; where that is rounding error, what the distance from B_k^(0) certifies."""

    def least_eigenvalue(run: Run) -> np.ndarray:
        zeta, largest = run.plan.constants.zeta, float(run.plan.frozen.sizes.max()) ** 2
        if 1e-14 * largest < 1e-3 * zeta:
            return run["least_eigenvalue"]
        return np.maximum(np.sqrt(zeta) - run["moved_scores"], 0.0) ** 2

    return at_least(
        evidence.each(least_eigenvalue),
        evidence.each(lambda run: run.plan.constants.zeta / 2),
        baseline=0.0,
        part="least eigenvalue",
    )


@claim(
    "equation-43c",
    f"{PROOF}, (43c), (64)",
    "In every step the gap falls at least by the factor 1 - eta_Q sigma / 2.",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
)
def equation_43c(evidence: Evidence[Run]) -> Comparisons:
    """Over all stretches between two records; each step of a stretch is bounded by (64)."""

    def change(run: Run) -> np.ndarray:
        return np.diff(np.where(run.judged, np.log(run["gap"]), np.nan))

    return at_most(
        evidence.each(change),
        evidence.each(lambda run: np.diff(run.steps) * run.log_guaranteed),
        part="change of the log of the gap",
    )


@claim(
    "equation-47",
    f"{PROOF}, (47)",
    "||Q_h - Q_h^(0)||_F <= 8 sqrt(2) gamma alpha f_max sqrt(Delta_0) / sigma.",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
)
def equation_47(evidence: Evidence[Run]) -> Comparisons:
    """Q moves by less than float64 resolves at many of these rates; what is seen is below."""

    def bound(run: Run) -> float:
        size = 8 * 2**0.5 * float(run.used.gamma) * run.radius * run.task.largest_column
        return size * run.plan.constants.gap**0.5 / run.sigma

    return at_most(
        evidence.each(lambda run: run["moved_Q"]), evidence.each(bound), part="how far Q_h moves"
    )


@claim(
    "equation-48",
    f"{PROOF}, (48)",
    "||B_k - B_k^(0)||_F <= (1 - 1/sqrt(2)) sqrt(zeta_0).",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
)
def equation_48(evidence: Evidence[Run]) -> Comparisons:
    return at_most(
        evidence.each(lambda run: run["moved_scores"]),
        evidence.each(lambda run: (1 - 0.5**0.5) * run.plan.constants.zeta**0.5),
        part="how far B_k moves",
    )


@claim(
    "lemma-7/training",
    "Appendix B, Lemma 7, (42), (62)",
    "Along training at the theory's rates the gradients in Q_h and alpha_h keep to (42) and (62), "
    "alpha being the largest |alpha_{h,k}| there.",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
)
def lemma_7_training(evidence: Evidence[Run]) -> Comparisons:
    def known(run: Run, values: np.ndarray) -> np.ndarray:
        return np.where(run.judged, values, np.nan)

    def in_Q(run: Run) -> np.ndarray:
        scale = 2 * 2**0.5 * run.task.largest_column
        return scale * run["largest_entry"] * np.sqrt(run["gap"])

    def in_w(run: Run) -> np.ndarray:
        return run.task.spectral * np.sqrt(2 * run["gap"] / run.task.K)

    return [
        at_most(
            evidence.each(lambda run, name=name: known(run, run[name])),
            evidence.each(bound),
            part=name.replace("_", " in "),
        )
        for name, bound in (("slope_Q", in_Q), ("slope_w", in_w))
    ]


@claim(
    "equation-49",
    f"{PROOF}, (49)",
    "The Polyak-Lojasiewicz condition: ||grad l||^2 >= sigma (l - L*) at every step.",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
)
def equation_49(evidence: Evidence[Run]) -> Comparisons:
    return at_least(
        evidence.each(lambda run: run["steepness"][-1]),
        evidence.each(lambda run: run.sigma),
        baseline=0.0,
        part="||grad||^2 over the gap, least over all steps",
    )


@claim(
    "equation-64",
    f"{PROOF}, (63), (64)",
    "Every step lowers the gap by at least eta_Q/2 ||grad l||^2.",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
)
def equation_64(evidence: Evidence[Run]) -> Comparisons:
    """(63) with a step of 1/L or less is this; the worst step of all is kept by the loop."""
    return at_most(
        evidence.each(lambda run: run["descent"][-1]),
        0.0,
        size=1.0,
        part="change of the gap and eta_Q/2 ||grad||^2, over the gap",
    )


@claim(
    "equation-70",
    "Appendix C, (70)",
    "||A-hat - A||_2 <= sqrt(2K (L - L*) / (m tau)).",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
)
def equation_70(evidence: Evidence[Run]) -> Comparisons:
    return at_most(
        evidence.each(lambda run: run["distance"]),
        evidence.each(lambda run: np.sqrt(2 * run.task.K * run["gap"] / run.task.ridge)),
        part="distance from A",
    )


@claim(
    "equation-70/loss",
    "Appendix C, the display before (70)",
    "L = ||Z-bar (A-hat - A)||_2^2 / (2K) + L* with the spectral norm.",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
    kind="misprint",
)
def equation_70_loss(evidence: Evidence[Run]) -> Comparisons:
    """It is the Frobenius norm; judged where the gap is well above rounding error."""

    def spectral(run: Run) -> float:
        norm = np.linalg.norm(run.task.root @ (run.combined - run.task.target), 2)
        return float(norm**2 / (2 * run.task.K))

    known = evidence.where(lambda run: bool(run.judged[-1]))
    return equal(
        known.each(spectral),
        known.each(lambda run: run["gap"][-1]),
        rounding=LAST_DIGITS,
        part="gap by the spectral norm",
        cases=known.cases,
    )

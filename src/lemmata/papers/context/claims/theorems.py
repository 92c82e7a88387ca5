"""Theorem 1 at the theory's own rates, and the induction of Appendix B along the way."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lemmata.old_claims import Cases, Judgement, at_most, each, fact, same
from lemmata.papers.context import theory
from lemmata.papers.context.claims._terms import FULL_RANK, HYPOTHESES, NOISE, UNIT, claim
from lemmata.papers.context.experiments.descents import (
    DESCENTS,
    REPAIRED_DESCENTS,
    SIMPLIFIED_DESCENTS,
    Run,
)
from lemmata.papers.context.experiments.scales import SCALES, Scaled

PROOF = "Appendix B, proof of Theorem 1"


def _linear(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    """log of bound over gap: at every record, and the least over all steps, kept by the loop."""
    times = 1e6 if sharpened else 1.0

    def spare(run: Run) -> np.ndarray:
        log_bound = times * run.steps * np.log1p(-float(run.used.guaranteed))
        logs = np.log(run.plan.constants.gap) + log_bound - np.log(run["gap"])
        return np.where(run.judged, logs, np.nan)

    recorded = each(evidence, "log of the bound over the gap", spare, lambda _: 0.0, tolerance=1e-9)
    if sharpened:
        return [recorded]
    everywhere = each(
        evidence,
        "log of the bound over the gap, least over all steps",
        lambda run: -run["excess"][-1],
        lambda _: 0.0,
        tolerance=1e-9,
    )
    return [everywhere, recorded, _looseness(evidence)]


def _looseness(evidence: Cases[Run]) -> Judgement:
    """By what factor the guarantee is loose: how much faster the gap fell over the whole run."""
    factors = []
    for run in evidence:
        last = int(np.flatnonzero(run.judged)[-1])
        fallen = np.log(run.plan.constants.gap) - np.log(run["gap"][last])
        factors.append(fallen / (-run.steps[last] * np.log1p(-float(run.used.guaranteed))))
    low, high = min(factors), max(factors)
    return fact(
        "looseness",
        bool(low >= 1),
        f"over the whole run the gap fell {low:.3g} to {high:.4g} times as fast as guaranteed",
        margin=low - 1,
    )


def _theorem_1(name: str, version: str, experiment: Any) -> Any:
    return claim(
        name,
        "Section 3.1, Theorem 1, (18)",
        "The gap falls by the factor 1 - eta_w zeta_0 / (2K) in every step, at the rates of (16) "
        f"with L from {version}.",
        assumes=HYPOTHESES,
        on=experiment,
        sharpened="a million times that rate",
    )(_linear)


THEOREM_1 = _theorem_1("theorem-1", "(17)", SIMPLIFIED_DESCENTS)
THEOREM_1_APPENDIX = _theorem_1("theorem-1/appendix", "(61)", DESCENTS)
THEOREM_1_REPAIRED = _theorem_1("theorem-1/repaired", "the repaired (61)", REPAIRED_DESCENTS)


@claim(
    "equation-15",
    "Section 3.1, (15)",
    "gamma as large as (15) makes the last step of (48) true.",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="gamma half as large does",
)
def equation_15(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    def chain(run: Run) -> float:
        c = run.plan.constants
        gamma = run.used.gamma * (0.5 if sharpened else 1.0)
        alpha, sigma = theory.radius(c, gamma), c.zeta * gamma**2 / c.K
        moved = 16 * 2**0.5 * gamma * alpha * c.largest_column / sigma
        return float(c.spectral * c.H**0.5 * moved * c.gap**0.5)

    return [
        at_most(
            evidence,
            "last step of (48)",
            chain,
            lambda run: (1 - 0.5**0.5) * run.plan.constants.zeta**0.5,
            tolerance=1e-12,
        )
    ]


@claim(
    "equation-17",
    "Section 3.1, (17) and footnote 1",
    "L of (17) is a simpler upper bound of L of (61).",
    assumes=HYPOTHESES,
    on=SCALES,
    sharpened="ten times the other is still below it",
)
def equation_17(evidence: Cases[Scaled], sharpened: bool) -> Sequence[Judgement]:
    return [_simpler(evidence, theory.smoothness_simplified, 10.0 if sharpened else 1.0)]


@claim(
    "equation-17/repaired",
    "Section 3.1, (17)",
    "With the first power of ||Z-bar|| in the bracket and both branches of max{1, 4 K alpha^2} it "
    "is an upper bound of (61) as printed.",
    assumes=HYPOTHESES,
    on=SCALES,
    sharpened="ten times the other is still below it",
)
def equation_17_repaired(evidence: Cases[Scaled], sharpened: bool) -> Sequence[Judgement]:
    return [_simpler(evidence, theory.smoothness_simplified_repaired, 10.0 if sharpened else 1.0)]


def _simpler(evidence: Cases[Scaled], bound: Callable[..., Any], sharper: float) -> Judgement:
    return at_most(
        evidence,
        "L of (61)",
        lambda case: float(theory.smoothness(case.constants, case.gamma)),
        lambda case: float(bound(case.constants, case.gamma)),
        sharper=sharper,
        tolerance=1e-12,
    )


@claim(
    "equation-43a",
    f"{PROOF}, (43a)",
    "||alpha_h|| stays below alpha of (44).",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="below a 10,000th of it",
)
def equation_43a(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    return [
        at_most(
            evidence,
            "||alpha_h||",
            lambda run: run["largest_w"] / float(run.used.gamma),
            lambda run: np.full(len(run.steps), run.radius),
            sharper=1e4 if sharpened else 1.0,
        )
    ]


@claim(
    "equation-43b",
    f"{PROOF}, (43b)",
    "The least eigenvalue of all B_k B_k' stays above zeta_0 / 2.",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="above 1.01 zeta_0",
)
def equation_43b(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    return [
        each(
            evidence,
            "least eigenvalue over zeta_0",
            lambda run: _least_eigenvalue(run) / run.plan.constants.zeta,
            lambda _: 1.01 if sharpened else 0.5,
            baseline=0.0,
        )
    ]


def _least_eigenvalue(run: Run) -> np.ndarray:
    """As recorded; where that is rounding error, what the distance from B_k^(0) certifies."""
    zeta, largest = run.plan.constants.zeta, float(run.plan.frozen.sizes.max()) ** 2
    if 1e-14 * largest < 1e-3 * zeta:
        return run["least_eigenvalue"]
    return np.maximum(np.sqrt(zeta) - run["moved_scores"], 0.0) ** 2


@claim(
    "equation-43c",
    f"{PROOF}, (43c), (64)",
    "In every step the gap falls at least by the factor 1 - eta_Q sigma / 2.",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="a million times as fast",
)
def equation_43c(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    """Over all stretches between two records; each step of a stretch is bounded by (64)."""

    def shrinking(run: Run) -> np.ndarray:
        logs = np.where(run.judged, np.log(run["gap"]), np.nan)
        return np.diff(logs) / np.diff(run.steps) / np.log1p(-float(run.used.guaranteed))

    return [
        each(
            evidence,
            "decay per step over the guaranteed one",
            shrinking,
            lambda _: 1e6 if sharpened else 1.0,
            baseline=0.0,
            tolerance=1e-9,
        )
    ]


@claim(
    "equation-47",
    f"{PROOF}, (47)",
    "||Q_h - Q_h^(0)||_F <= 8 sqrt(2) gamma alpha f_max sqrt(Delta_0) / sigma.",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="1e-15 of it",
)
def equation_47(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    """Q moves by less than float64 resolves at many of these rates; what is seen is below."""
    return [
        at_most(
            evidence,
            "how far Q_h moves",
            lambda run: run["moved_Q"],
            lambda run: np.full(
                len(run.steps),
                8
                * 2**0.5
                * float(run.used.gamma)
                * run.radius
                * run.task.largest_column
                * run.plan.constants.gap**0.5
                / run.sigma,
            ),
            sharper=1e15 if sharpened else 1.0,
        )
    ]


@claim(
    "lemma-7/training",
    "Appendix B, Lemma 7, (42), (62)",
    "Along training at the theory's rates the gradients in Q_h and alpha_h keep to (42) and (62), "
    "alpha being the largest |alpha_{h,k}| there.",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="to 1e-15 of these bounds",
)
def lemma_7_training(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    def known(run: Run, values: np.ndarray) -> np.ndarray:
        return np.where(run.judged, values, 0.0)

    def in_Q(run: Run) -> np.ndarray:
        scale = 2 * 2**0.5 * run.task.largest_column
        return known(run, scale * run["largest_entry"] * np.sqrt(run["gap"]))

    sharper = 1e15 if sharpened else 1.0
    return [
        at_most(evidence, "slope in Q", lambda r: known(r, r["slope_Q"]), in_Q, sharper=sharper),
        at_most(
            evidence,
            "slope in w",
            lambda run: known(run, run["slope_w"]),
            lambda run: known(run, run.task.spectral * np.sqrt(2 * run["gap"] / run.task.K)),
            sharper=sharper,
            tolerance=1e-9,
        ),
    ]


@claim(
    "equation-48",
    f"{PROOF}, (48)",
    "||B_k - B_k^(0)||_F <= (1 - 1/sqrt(2)) sqrt(zeta_0).",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="1e-15 of it",
)
def equation_48(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    return [
        at_most(
            evidence,
            "how far B_k moves",
            lambda run: run["moved_scores"],
            lambda run: np.full(len(run.steps), (1 - 0.5**0.5) * run.plan.constants.zeta**0.5),
            sharper=1e15 if sharpened else 1.0,
        )
    ]


@claim(
    "equation-49",
    f"{PROOF}, (49)",
    "The Polyak-Lojasiewicz condition: ||grad l||^2 >= sigma (l - L*) at every step.",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="with 1e4 sigma",
)
def equation_49(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    return [
        each(
            evidence,
            "||grad||^2 over sigma times the gap, least over all steps",
            lambda run: run["steepness"][-1] / run.sigma,
            lambda _: 1e4 if sharpened else 1.0,
            baseline=0.0,
        )
    ]


@claim(
    "equation-64",
    f"{PROOF}, (63), (64)",
    "Every step lowers the gap by at least eta_Q/2 ||grad l||^2.",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="by eta_Q times ||grad l||^2",
)
def equation_64(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    """(63) with a step of 1/L or less is this; the worst step of all is kept by the loop."""

    def spare(run: Run) -> float:
        more = 0.5 * float(run.used.Q) * run["steepness"][-1] if sharpened else 0.0
        return float(-run["descent"][-1] - more)

    return [each(evidence, "what is to spare, over the gap", spare, lambda _: 0.0, tolerance=1e-12)]


@claim(
    "equation-70",
    "Appendix C, (70)",
    "||A-hat - A||_2 <= sqrt(2K (L - L*) / (m tau)).",
    assumes=(NOISE, FULL_RANK, UNIT),
    on=DESCENTS,
    sharpened="half of it",
)
def equation_70(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    return [
        at_most(
            evidence,
            "distance from A",
            lambda run: run["distance"],
            lambda run: np.sqrt(2 * run.task.K * run["gap"] / run.task.ridge),
            sharper=2.0 if sharpened else 1.0,
            tolerance=1e-9,
        )
    ]


@claim(
    "equation-70/loss",
    "Appendix C, the display before (70)",
    "L = ||Z-bar (A-hat - A)||_2^2 / (2K) + L* with the spectral norm.",
    assumes=(NOISE, FULL_RANK, UNIT),
    on=DESCENTS,
    sharpened="with twice the spectral norm",
)
def equation_70_loss(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    """It is the Frobenius norm; judged where the gap is well above rounding error."""

    def spectral(run: Run) -> float:
        norm = np.linalg.norm(run.task.root @ (run.combined - run.task.target), 2)
        return float((2 if sharpened else 1) * norm**2 / (2 * run.task.K)) / run["gap"][-1]

    known = evidence.select([i for i, run in enumerate(evidence) if run.judged[-1]])
    return [same(known, "the spectral norm's share of the gap", spectral, lambda _: 1.0, 1e-6)]

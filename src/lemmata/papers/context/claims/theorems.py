"""Theorem 1 at the theory's own rates, and its proof in Appendix B."""

from collections.abc import Callable
from functools import partial

import numpy as np
from flint import arb

from lemmata.claims import (
    Comparisons,
    Version,
    at_least,
    at_most,
    case_by_case,
    equal,
    repaired,
    share_at_most,
    statements,
)

from .. import theory
from ..experiments.descents import (
    AT_PAPER_SIZE,
    DESCENTS,
    PLANS_AT_START,
    REPAIRED_DESCENTS,
    SIMPLIFIED_DESCENTS,
    Run,
)
from ..experiments.inference import PROMPTS, Promise
from ..experiments.plans import SCALES
from ..setting import CONVERGENCE, Plan

Smoothness = Callable[[theory.Constants, theory.Real], theory.Real]

claim = statements("context", hypotheses=CONVERGENCE)
along_descent = partial(claim, on=DESCENTS)

PROOF = "Appendix B, proof of Theorem 1"

FALLS = "The gap falls by the factor 1 - eta_w zeta_0 / (2K) in every step, at the rates of (16) "


@claim(
    "theorem-1",
    "Section 3.1, Theorem 1, (18)",
    f"{FALLS}with L from (17).",
    on=SIMPLIFIED_DESCENTS,
    versions=[
        Version("appendix", statement=f"{FALLS}with L from (61).", on=DESCENTS),
        repaired(f"{FALLS}with L from the repaired (61).", on=REPAIRED_DESCENTS),
    ],
)
@case_by_case
def theorem_1(run: Run) -> Comparisons:
    """The log of the gap, at every record, and the worst of all steps, kept by the loop."""
    gaps = np.log(run.gap / run.plan.constants.gap)
    size = 1 + np.abs(gaps)
    worst = "log of the gap over the bound, largest of all steps"
    return [
        at_most(
            gaps,
            run.steps * run.log_guaranteed,
            size=size,
            part="log of the gap over the first",
        ),
        at_most(run["excess"][-1], 0.0, size=np.nanmax(size), part=worst),
    ]


@claim(
    "own/all-steps",
    "Theorem 1",
    "At the paper's size with unit tokens (18) holds for every t: L of (17) is larger than what "
    "its proof needs, the repaired (61) in the ball where descent stays.",
    on=AT_PAPER_SIZE,
    unbreakable="it speaks of the paper's own size",
)
@case_by_case
def own_all_steps(plan: Plan) -> Comparisons:
    """No run could be long enough. That of (61) would have to be up to a fifth larger, at the least
    gamma."""
    c, factors = plan.constants, np.array([1.0, 1e2, 1e6])
    gammas = [factor * theory.least_gamma(c) for factor in factors]
    pairs = [(theory.smoothness_needed(c, g), theory.smoothness_simplified(c, g)) for g in gammas]
    ratios = [float(needed / used) for needed, used in pairs]
    return at_most(ratios, 1.0, part="the L that is needed, over that of (17)", places=factors)


@claim(
    "own/all-steps/inference",
    "Theorem 2",
    "At the paper's size with unit tokens (22) holds after the T steps of (21): by (18), which "
    "holds for every t, (69) and (70), and for prompts with the worst lambda where attention is "
    "frozen.",
    on=AT_PAPER_SIZE,
    unbreakable="it speaks of the paper's own size",
)
@case_by_case
def own_inference(plan: Plan) -> Comparisons:
    """T is 10^7 to 10^10, so that no run gets there; at these rates attention stays put."""
    c, epsilon = plan.constants, plan.epsilon
    promise = Promise(plan, theory.theory_rates(c, bound=theory.smoothness_simplified), seed=0)
    T = promise.needed()
    log_gap = np.log(c.gap) + T * np.log1p(-float(promise.rates.guaranteed))
    bound = plan.label_bound**2 * np.exp(log_gap) / plan.task.ridge
    outside = float(np.sum(promise.errors(promise.away(T)) > epsilon))
    return [
        at_most(bound, epsilon, part="error that (18), (69) and (70) allow after T steps"),
        share_at_most(outside, PROMPTS, plan.delta, part="share of prompts outside"),
    ]


@claim(
    "equation-15",
    "Section 3.1, (15)",
    "(15) asks for as large a gamma as the last step of (48) needs, and no larger: with the least "
    "one the bound that (47) and (46) give for ||B_k - B_k^(0)||_F is that of (48).",
    on=SCALES,
)
@case_by_case
def equation_15(plan: Plan) -> Comparisons:
    """The one bound over the other, with sigma and alpha as in (44), for gamma from the least one
    to a thousand times that."""
    c, factors = plan.constants, 10.0 ** np.arange(4)
    gamma = factors * theory.least_gamma(c)
    sigma, alpha = c.zeta * gamma**2 / c.K, theory.radius(c, gamma)
    moved_Q = 8 * 2**0.5 * gamma * alpha * c.largest_column / sigma * c.gap**0.5
    moved_B = 2 * c.spectral * c.H**0.5 * moved_Q
    ratios, part = moved_B / ((1 - 0.5**0.5) * c.zeta**0.5), "bound from (47) over that of (48)"
    return [
        at_most(ratios, 1.0, part=part, places=factors),
        equal(ratios[0], 1.0, part=f"{part}, least gamma"),
    ]


@claim(
    "equation-17",
    "Section 3.1, (17) and footnote 1",
    "L of (17) is a simpler upper bound of L of (61).",
    on=SCALES,
    kind="constant",
    longer=theory.smoothness,
    simpler=theory.smoothness_simplified,
    versions=[
        repaired(
            "L^2 = b^2 ||Z-bar||^4 (8 gamma^2 / K) (1 + 8 N M) + 2 H^2 ||Z-bar||^4 (gamma^4 / K^2) "
            "(1 + 8 K alpha^2 M) with M = max{1, 4 K alpha^2} and the bracket b of (17), ||Z-bar|| "
            "in it to the first power, bounds L of the repaired (61).",
            where="Section 3.1, (17)",
            longer=theory.smoothness_repaired,
            simpler=theory.smoothness_simplified_repaired,
        )
    ],
)
@case_by_case
def equation_17(plan: Plan, longer: Smoothness, simpler: Smoothness) -> Comparisons:
    """For gamma from the least that (15) allows to a million times that."""
    c, factors = plan.constants, np.array([1.0, 1e2, 1e6])
    gammas = [factor * theory.least_gamma(c) for factor in factors]
    ratios = [float(longer(c, gamma) / simpler(c, gamma)) for gamma in gammas]
    return at_most(ratios, 1.0, part="L of (61) over L of (17)", places=factors)


@along_descent("equation-43a", f"{PROOF}, (43a)", "||alpha_h|| stays below alpha of (44).")
@case_by_case
def equation_43a(run: Run) -> Comparisons:
    return at_most(run["largest_w"] / float(run.rates.gamma), run.radius, part="||alpha_h||")


def _least_eigenvalue(run: Run) -> np.ndarray:
    """Of all B_k B_k', as recorded; where that is rounding error, what the distance from B_k^(0)
    certifies."""
    zeta = run.plan.constants.zeta
    if 1e-14 * float(run.plan.frozen.sizes.max()) ** 2 < 1e-3 * zeta:
        return run["least_eigenvalue"]
    return np.maximum(np.sqrt(zeta) - run["moved_scores"], 0.0) ** 2


@along_descent(
    "equation-43b",
    f"{PROOF}, (43b)",
    "The least eigenvalue of all B_k B_k' stays above zeta_0 / 2.",
)
@case_by_case
def equation_43b(run: Run) -> Comparisons:
    zeta, least = run.plan.constants.zeta, _least_eigenvalue(run)
    return at_least(least, zeta / 2, baseline=0.0, part="least eigenvalue")


@along_descent(
    "equation-48/vectors",
    f"{PROOF}, the display after (48)",
    "||x'B_k^(t)|| >= sqrt(zeta_0 / 2) for all x.",
    kind="misprint",
    exact=lambda plan, options: at_least(arb(1) / 2, arb(0.5).sqrt()),
    length=0.5,
    versions=[repaired("The same for all x in R^N of norm 1.", length=1.0)],
)
@case_by_case
def equation_48_vectors(run: Run, length: float) -> Comparisons:
    """For the least singular vector x, of norm 1/2 where none is stated; at the start the sides are
    sqrt(zeta_0) times 1/2 and sqrt(1/2)."""
    left, zeta = length * np.sqrt(_least_eigenvalue(run)), run.plan.constants.zeta
    return at_least(left, np.sqrt(zeta / 2), baseline=0.0, part="||x'B_k||")


@along_descent(
    "equation-43c",
    f"{PROOF}, (43c), (64)",
    "In every step the gap falls at least by the factor 1 - eta_Q sigma / 2.",
)
@case_by_case
def equation_43c(run: Run) -> Comparisons:
    """Over all stretches between two records; each step of a stretch is bounded by (64)."""
    change = np.diff(np.log(run.gap))
    promised = np.diff(run.steps) * run.log_guaranteed
    return at_most(change, promised, part="change of the log of the gap")


@along_descent(
    "equation-47",
    f"{PROOF}, (47)",
    "||Q_h - Q_h^(0)||_F <= 8 sqrt(2) gamma alpha f_max sqrt(Delta_0) / sigma.",
)
@case_by_case
def equation_47(run: Run) -> Comparisons:
    """Q moves by less than float64 resolves at many of these rates; what is seen is below."""
    size = 8 * 2**0.5 * float(run.rates.gamma) * run.radius * run.task.largest_column
    bound = size * run.plan.constants.gap**0.5 / run.sigma
    return at_most(run["moved_Q"], bound, part="how far Q_h moves")


@claim(
    "equation-47/sum",
    f"{PROOF}, (47), last step",
    "Powers of sqrt(1 - eta sigma / 2) sum to at most 4 / (eta sigma), at every rate that (16) "
    "allows.",
    on=PLANS_AT_START,
)
@case_by_case
def equation_47_sum(plan: Plan) -> Comparisons:
    """1 / (1 - sqrt(1 - x)) <= 2 / x, for x = eta sigma / 2 from the largest one down and for
    x = 1, where it gives away a factor of two; without the difference from 1."""
    x = np.append(float(plan.rates.guaranteed) / 10.0 ** np.arange(4), 1.0)
    powers = (1 + np.sqrt(1 - x)) / x
    return at_most(powers, 2 / x, part="sum of powers", places=np.arange(len(x)))


@along_descent(
    "equation-48", f"{PROOF}, (48)", "||B_k - B_k^(0)||_F <= (1 - 1/sqrt(2)) sqrt(zeta_0)."
)
@case_by_case
def equation_48(run: Run) -> Comparisons:
    bound = (1 - 0.5**0.5) * run.plan.constants.zeta**0.5
    return at_most(run["moved_scores"], bound, part="how far B_k moves")


@along_descent(
    "lemma-7/training",
    "Appendix B, Lemma 7, (42), (62)",
    "Along training at the theory's rates the gradients in Q_h and alpha_h keep to (42) and (62), "
    "alpha being the largest |alpha_{h,k}| there.",
)
@case_by_case
def lemma_7_training(run: Run) -> Comparisons:
    in_Q = 2 * 2**0.5 * run.task.largest_column * run["largest_entry"] * np.sqrt(run.gap)
    in_w = run.task.spectral * np.sqrt(2 * run.gap / run.task.K)
    return [
        at_most(run[name], bound, part=name.replace("_", " in "))
        for name, bound in (("slope_Q", in_Q), ("slope_w", in_w))
    ]


@along_descent(
    "equation-49",
    f"{PROOF}, (49)",
    "The Polyak-Lojasiewicz condition: ||grad l||^2 >= sigma (l - L*) at every step.",
)
@case_by_case
def equation_49(run: Run) -> Comparisons:
    part = "||grad||^2 over the gap, least over all steps"
    return at_least(run["steepness"][-1], run.sigma, baseline=0.0, part=part)


@along_descent(
    "equation-64",
    f"{PROOF}, (63), (64)",
    "Every step lowers the gap by at least eta_Q/2 ||grad l||^2.",
)
@case_by_case
def equation_64(run: Run) -> Comparisons:
    """(63) with a step of 1/L or less is this; the worst step of all is kept by the loop."""
    part = "change of the gap and eta_Q/2 ||grad||^2, over the gap"
    return at_most(run["descent"][-1], 0.0, size=1.0, part=part)

"""Sections 5.2 and 5.3: Theorems 1 and 2, the footnote, and the sketch of the proof."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lemmata.claims import Bench, Comparison, Version, at_least, at_most, statements
from lemmata.settings import Evidence, Grid

from .. import theory
from ..counterexamples import skewed
from ..experiments import (
    AND_RAYS,
    ANY_STEPS,
    LARGE_STEPS,
    LONG_ENOUGH,
    STRUCTURES,
    TRAINING,
    followed,
)
from ..setting import FAR, STAGE_2, Dataset, TwoStage
from ._facts import on_its_own
from ._training import largest_inverse_frequency, norm_bounds, optimal_mass

claim = statements("convergence", on=TRAINING, hypotheses=STAGE_2)


@dataclass(frozen=True)
class Stretch:
    """Steps, and what is known at them: those of a run, or those far beyond it on a ray."""

    says: str
    places: np.ndarray | None
    t: np.ndarray
    gap: np.ndarray
    log_odds: np.ndarray
    log_loss: np.ndarray


def _stretches(evidence: Evidence[Dataset]) -> list[Stretch]:
    """The run; and steps far beyond, if some run keeps the direction of its first step."""
    e = evidence
    run = Stretch("", None, e.records, e.one_minus_correlation, e.smallest_log_odds, e.log_loss)
    far = FAR + 0 * e.rate  # so that these are balls where the rate is one
    ray = Stretch(" on a ray", FAR, far, e.ray_gap, e.ray_log_odds, e.ray_log_loss)
    return [run] if np.isnan(e.ray_gap).all() else [run, ray]


def _by_the_letter(
    check: Callable[[Evidence[Dataset]], list[Comparison]], training: TwoStage
) -> list[Comparison]:
    """On data with one input that is rare enough, W_kq keeps the direction of its first step."""
    alone = followed(skewed(-1e11), training)
    note = "by the letter; in practice it is vacuous: this takes 10^(4·10^10) sentences"
    return [
        replace(comparison, part=f"{comparison.part} ({note})")
        for comparison in on_its_own(alone, check(alone))
    ]


def _rare_input(bench: Bench) -> list[Comparison]:
    return _by_the_letter(theorem_1, AND_RAYS.training)


def _long_wait(bench: Bench) -> list[Comparison]:
    return _by_the_letter(theorem_2, LONG_ENOUGH.training)


@claim(
    "theorem-1",
    "Section 5.2",
    "For η < O(1), t ≥ 2: tη/(2‖W_kq*‖) ≤ ‖W_kq(t)‖ ≤ tη and cos(W_kq(t), W_kq*) ≥ 1 − 54 N L⁴ "
    "‖W_kq*‖⁴ log²t/(tη).",
    on=AND_RAYS,
    kind="constant",
    counterexample=_rare_input,
    versions=[
        Version(
            "appendix",
            where="Appendix C.5, with Lemma 6",
            statement="As Theorem 1, with the weaker norm bound tη/(2L‖W_kq*‖) that the appendix "
            "proves.",
            kind="constant",
            counterexample=_rare_input,
            parameters={"weaker_norm": True},
        ),
        Version(
            "repaired",
            where="Section 5.2, repaired",
            statement="Theorem 1 with 1/min π in the place of N, as the proof of Lemma 7 needs it; "
            "vacuous wherever it can be run.",
            parameters={"rarest": True},
        ),
    ],
)
def theorem_1(
    evidence: Evidence[Dataset], weaker_norm: bool = False, rarest: bool = False
) -> list[Comparison]:
    """As printed it knows nothing of the frequencies π, and must; 1/min π is at least N.

    By the letter that makes it false. In practice it says nothing: on Example 1 the bound on the
    cosine is negative up to t = 1.3e10, and data that breaks it cannot exist.
    """
    divisor = 2 * evidence.norm_kq * (evidence.L if weaker_norm else 1)
    N = evidence.each(largest_inverse_frequency) if rarest else evidence.N
    return [
        *norm_bounds(evidence, evidence.rate, divisor),
        *(_direction(evidence, stretch, N) for stretch in _stretches(evidence)),
    ]


def _direction(evidence: Evidence[Dataset], stretch: Stretch, N: Grid) -> Comparison:
    """The rate, with N or what replaces it."""
    constants = np.hstack([evidence.rate, evidence.norm_kq, N, evidence.L])
    t = np.maximum(stretch.t, 1)
    return at_least(
        1 - stretch.gap,
        theory.attention_cosine_bound(t, evidence.rate, evidence.norm_kq, N, evidence.L),
        part=f"direction{stretch.says}",
        baseline=0.0,
        informative_from=[theory.attention_bound_starts(*row) for row in constants],
        from_step=2,
        places=stretch.places,
    )


@claim(
    "theorem-2",
    "Section 5.2",
    "From t ≥ 1696 N L⁴‖W_kq*‖⁶ log²t/η and T ≥ 384‖W_ov*‖⁵ log(2|V|) log T/η₀ on: min_n φ₊ ≥ 1/(1 "
    "+ L exp(−C₁t)) and L(θ(t)) ≤ |V| exp(−TC₀(1 − 2L/(L + exp(C₁t)))), with C₀ = η₀/(4‖W_ov*‖²), "
    "C₁ = η/(4L‖W_kq*‖²).",
    on=LONG_ENOUGH,
    kind="constant",
    counterexample=_long_wait,
    versions=[
        Version(
            "repaired",
            where="Section 5.2, repaired",
            statement="Theorem 2 with 1/min π in the place of N; vacuous but for data whose run is "
            "a ray.",
            parameters={"rarest": True},
        )
    ],
)
@claim(
    "equation-4",
    "Section 5.2, Eq. (4)",
    "From the t and T of Theorem 2 on: L(θ(t)) ≤ |V| exp(−TC₀(1 − 2L/(L + exp(C₁t)))).",
    on=LONG_ENOUGH,
    parts=("loss",),
)
def theorem_2(
    evidence: Evidence[Dataset],
    parts: tuple[str, ...] = ("weight", "loss"),
    rarest: bool = False,
) -> list[Comparison]:
    """With the constants of the appendix. Before its t and T it says nothing.

    T is long enough here; t is on rays only, from some 10⁸ steps on. Without the thresholds it is
    false. With them the weight is, by the letter, as in Theorem 1 and whatever the constants are:
    an input that is rare enough waits for longer than any t that does not depend on π.
    """
    bounds = {"weight": _weight_bound, "loss": _log_loss_bound}
    N = evidence.each(largest_inverse_frequency) if rarest else evidence.N
    spoken_from = _spoken_from(evidence, N)
    return [
        bounds[part](evidence, stretch, spoken_from)
        for stretch in _stretches(evidence)
        for part in parts
    ]


def _spoken_from(evidence: Evidence[Dataset], N: Grid) -> Grid:
    """The first t that Theorem 2 speaks of; never, if T is too small."""
    first = np.hstack([evidence.stage1_rate, evidence.norm_ov, evidence.K])
    second = np.hstack([evidence.rate, evidence.norm_kq, N, evidence.L])
    starts = np.array([theory.theorem_2_steps(*row) for row in second])
    needed = np.array([theory.corollary_1_steps(*row) for row in first])
    return np.where(needed <= evidence.stage1_steps[:, 0], starts, np.inf)[:, None]


def _weight_bound(evidence: Evidence[Dataset], stretch: Stretch, spoken_from: Grid) -> Comparison:
    bound = theory.attention_weight_bound(stretch.t, evidence.rate, evidence.norm_kq, evidence.L)
    return at_least(
        optimal_mass(stretch.log_odds),
        np.where(stretch.t >= spoken_from, bound, 0.0),
        part=f"optimal weight{stretch.says}",
        baseline=1 / (evidence.L - 1),
        informative_from=spoken_from[:, 0].tolist(),
        places=stretch.places,
    )


def _log_loss_bound(evidence: Evidence[Dataset], stretch: Stretch, spoken_from: Grid) -> Comparison:
    T, C0 = evidence.stage1_steps, theory.C0(evidence.stage1_rate, evidence.norm_ov)
    bound = theory.log_loss_bound(
        stretch.t, T, C0, evidence.rate, evidence.norm_kq, evidence.K, evidence.L
    )
    return at_most(
        stretch.log_loss,
        np.where(stretch.t >= spoken_from, bound, np.inf),
        part=f"log-loss{stretch.says}",
        baseline=np.log(np.log(evidence.K)),
        informative_from=spoken_from[:, 0].tolist(),
        places=stretch.places,
    )


@claim(
    "theorem-2/threshold",
    "Appendix C.6",
    "t ≥ 1696 N L⁴‖W_kq*‖⁶ log²t/η makes the right-hand side of Eq. (13) at most −C₁t.",
    on=STRUCTURES,
    kind="misprint",
    unbreakable="it is arithmetic of constants; no dataset enters",
)
def theorem_2_threshold(evidence: Evidence[Dataset]) -> Comparison:
    """The step needs √2·√(54/c) ≤ 1/4, that is c ≥ 2·54·16 = 1728, in whole numbers.

    A slip: with ‖x − x'‖ = √2 in the place of 2, c = 864 is enough.
    """
    return at_least(1696, 2 * 54 * 16, part="constant", cases=["every dataset"])


@claim(
    "theorem-2/epsilon",
    "Appendix C.6",
    "t ≥ 4L‖W_kq*‖/η · log(L/ε) gives 1/(1 + L exp(−C₁t)) ≥ 1/(1 + ε).",
    on=STRUCTURES,
    kind="misprint",
)
def theorem_2_epsilon(evidence: Evidence[Dataset]) -> Comparison:
    """At ε = 1/100, and in units of 1/η, which is on both sides.

    A square is missing: it takes ‖W_kq*‖², which is larger when ‖W_kq*‖ > 1.
    """
    n, L = evidence.each(lambda d: d.norm_kq), evidence.each(lambda d: d.L_max)
    log = np.log(L / 0.01)
    return at_least(4 * L * n * log, log / theory.C1(1, n, L), part="tη stated for ε = 1/100")


@claim(
    "footnote-3",
    "Section 5.2, footnote 3",
    "For fixed W_ov(T) the minimum of the loss is |V| exp(−TC₀).",
    on=ANY_STEPS,
    kind="constant",
)
def footnote_3(evidence: Evidence[Dataset]) -> Comparison:
    """Is the loss ever below its minimum? As logarithms."""
    fall = evidence.stage1_steps * theory.C0(evidence.stage1_rate, evidence.norm_ov)
    return at_least(evidence.log_loss, np.log(evidence.K) - fall, part="minimum")


@claim(
    "sketch-step-1",
    "Section 5.3, step 1",
    "The total weight of the optimal tokens of every input is at least 1/L_max.",
    on=ANY_STEPS,
)
def sketch_step_1(evidence: Evidence[Dataset]) -> Comparison:
    """Lemma 5 as the sketch uses it."""
    mass = optimal_mass(evidence.smallest_log_odds)
    return at_least(mass, 1 / evidence.L, part="optimal weight", baseline=0.0)


@claim(
    "sketch-step-2",
    "Section 5.3, step 2",
    "The cosine between −∇L and W_kq* is larger than the smallest optimal weight min_n φ₊.",
    on=ANY_STEPS,
    kind="constant",
)
def sketch_step_2(evidence: Evidence[Dataset]) -> Comparison:
    """Lemma 6 proves it only with another factor 1/(2‖W_kq*‖)."""
    mass = optimal_mass(evidence.smallest_log_odds)
    return at_least(evidence.descent_on_target, mass, part="cosine", baseline=0.0, strict=True)


@claim(
    "sketch-step-3",
    "Section 5.3, step 3",
    "For some constant C: ⟨∇L, W(t)⟩ ≥ (1 + C log‖W(t)‖/‖W(t)‖) ⟨∇L, W_kq*⟩ ‖W(t)‖/‖W_kq*‖.",
    on=LARGE_STEPS,
    unbreakable="it says that a constant exists, for each dataset",
)
def sketch_step_3(evidence: Evidence[Dataset]) -> Comparison:
    """With the smallest C that covers the first half, once ‖W‖ > e; Lemma 7 gives the constant."""
    norm = np.where(evidence.norm > np.e, evidence.norm, np.nan)
    weights, target = evidence.descent_on_weights, evidence.descent_on_target
    needed = (weights / target - 1) * norm / np.log(norm)
    first_half = needed[:, : needed.shape[1] // 2]
    constant = np.maximum(np.nanmax(first_half, axis=1, keepdims=True), 0.0)
    bound = weights / (1 + constant * np.log(norm) / norm)
    return at_least(target, bound, part="alignment", baseline=0.0)

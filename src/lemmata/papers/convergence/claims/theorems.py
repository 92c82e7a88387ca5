"""Sections 5.2 and 5.3: Theorems 1 and 2, the footnote, and the sketch of the proof."""

import numpy as np

from lemmata.claims import Bench, Comparison, Version, at_least, at_most, equal, statements
from lemmata.settings import Evidence, Grid

from .. import theory
from ..counterexamples import follow_first_step, skewed
from ..experiments import ANY_STEPS, LARGE_STEPS, LONG_ENOUGH, STRUCTURES, TRAINING
from ..setting import STAGE_2, Dataset
from ._training import largest_inverse_frequency, norm_bounds, smallest_optimal_mass

claim = statements("convergence", on=TRAINING, hypotheses=STAGE_2)


def _frequency_gap(bench: Bench) -> list[Comparison]:
    """With one input that is rare enough, W_kq keeps the direction of its first step."""
    dataset = skewed(-1e9)
    ray = follow_first_step(dataset)
    bound = theory.attention_cosine_bound(ray.t, ray.eta, dataset.norm_kq, dataset.N, dataset.L_max)
    return [
        equal(ray.turn, 0.0, part="one direction on the way", size=1.0, cases=[dataset]),
        at_least(
            ray.cosine,
            bound,
            part="by the letter (in practice it is vacuous: this takes 10^(4·10^8) sentences), "
            "the direction",
            cases=[dataset],
            places=[ray.t],
        ),
    ]


@claim(
    "theorem-1",
    "Section 5.2",
    "For η < O(1), t ≥ 2: tη/(2‖W_kq*‖) ≤ ‖W_kq(t)‖ ≤ tη and cos(W_kq(t), W_kq*) ≥ 1 − 54 N L⁴ "
    "‖W_kq*‖⁴ log²t/(tη).",
    kind="constant",
    counterexample=_frequency_gap,
    versions=[
        Version(
            "appendix",
            where="Appendix C.5, with Lemma 6",
            statement="As Theorem 1, with the weaker norm bound tη/(2L‖W_kq*‖) that the appendix "
            "proves.",
            kind="constant",
            counterexample=_frequency_gap,
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
    return [*norm_bounds(evidence, divisor), _direction(evidence, N)]


def _direction(evidence: Evidence[Dataset], N: Grid) -> Comparison:
    """The rate, with N or what replaces it."""
    constants = np.hstack([evidence.rate, evidence.norm_kq, N, evidence.L])
    starts = [theory.attention_bound_starts(*row) for row in constants]
    t = np.maximum(evidence.records, 1)
    return at_least(
        1 - evidence.one_minus_correlation,
        theory.attention_cosine_bound(t, evidence.rate, evidence.norm_kq, N, evidence.L),
        part="direction",
        baseline=0.0,
        informative_from=starts,
        from_step=2,
    )


@claim(
    "theorem-2",
    "Section 5.2",
    "From t ≥ 1696 N L⁴‖W_kq*‖⁶ log²t/η and T ≥ 384‖W_ov*‖⁵ log(2|V|) log T/η₀ on: min_n φ₊ ≥ 1/(1 "
    "+ L exp(−C₁t)) and L(θ(t)) ≤ |V| exp(−TC₀(1 − 2L/(L + exp(C₁t)))), with C₀ = η₀/(4‖W_ov*‖²), "
    "C₁ = η/(4L‖W_kq*‖²).",
    on=LONG_ENOUGH,
)
@claim(
    "equation-4",
    "Section 5.2, Eq. (4)",
    "From the t and T of Theorem 2 on: L(θ(t)) ≤ |V| exp(−TC₀(1 − 2L/(L + exp(C₁t)))).",
    on=LONG_ENOUGH,
    parts=("loss",),
)
def theorem_2(
    evidence: Evidence[Dataset], parts: tuple[str, ...] = ("weight", "loss")
) -> list[Comparison]:
    """With the constants of the appendix. Before its t and T it says nothing.

    T is long enough here; t would be from some 10⁸ steps on. Without the thresholds it is false.
    """
    bounds = {"weight": _weight_bound, "loss": _log_loss_bound}
    return [bounds[part](evidence, _spoken_from(evidence)) for part in parts]


def _spoken_from(evidence: Evidence[Dataset]) -> Grid:
    """The first t that Theorem 2 speaks of; never, if T is too small."""
    first = np.hstack([evidence.stage1_rate, evidence.norm_ov, evidence.K])
    second = np.hstack([evidence.rate, evidence.norm_kq, evidence.N, evidence.L])
    starts = [theory.theorem_2_steps(*row) for row in second]
    enough = [theory.corollary_1_steps(*row) for row in first] <= evidence.stage1_steps[:, 0]
    return np.where(enough, starts, np.inf)[:, None]


def _weight_bound(evidence: Evidence[Dataset], spoken_from: Grid) -> Comparison:
    bound = theory.attention_weight_bound(
        evidence.records, evidence.rate, evidence.norm_kq, evidence.L
    )
    return at_least(
        smallest_optimal_mass(evidence),
        np.where(evidence.records >= spoken_from, bound, 0.0),
        part="optimal weight",
        baseline=1 / (evidence.L - 1),
        informative_from=spoken_from[:, 0].tolist(),
    )


def _log_loss_bound(evidence: Evidence[Dataset], spoken_from: Grid) -> Comparison:
    T, C0 = evidence.stage1_steps, theory.C0(evidence.stage1_rate, evidence.norm_ov)
    bound = theory.log_loss_bound(
        evidence.records, T, C0, evidence.rate, evidence.norm_kq, evidence.K, evidence.L
    )
    return at_most(
        evidence.log_loss,
        np.where(evidence.records >= spoken_from, bound, np.inf),
        part="log-loss",
        baseline=np.log(np.log(evidence.K)),
        informative_from=spoken_from[:, 0].tolist(),
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
    kind="misprint",
)
def theorem_2_epsilon(evidence: Evidence[Dataset]) -> Comparison:
    """At ε = 1/100. A square is missing: it takes ‖W_kq*‖², which is larger when ‖W_kq*‖ > 1."""
    n, L, log = evidence.norm_kq, evidence.L, np.log(evidence.L / 0.01)
    takes = log / theory.C1(evidence.rate, n, L)
    return at_least(4 * L * n / evidence.rate * log, takes, part="steps stated for ε = 1/100")


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
    mass = smallest_optimal_mass(evidence)
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
    mass = smallest_optimal_mass(evidence)
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

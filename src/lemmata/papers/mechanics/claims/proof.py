"""Appendix C.4: the steps of the proof of Theorem 3."""

import numpy as np

from lemmata.claims import Comparisons, at_least, at_most, equal, statements
from lemmata.settings import Evidence

from ..experiments import LATE_STEPS, PATHS, SAMPLE, STEPS, At, Followed, project, random_weights
from ..setting import Dataset
from ._shared import GLOBAL, Numbers, aligns, arrived, at_points, sides

claim = statements("mechanics", on=SAMPLE, hypotheses=GLOBAL)

RELATIVE = "(29), relative to ‖Π_⊥ ∇L‖"

LARGE = 20.0
"""Weights count as large from so many times ‖W^mm‖ on."""

SMALLEST = 1e-290
"""Gradients below this have lost digits to underflow."""


@claim(
    "equation-28",
    "Appendix C.4, Eq. (28)",
    "L(W) ≤ L(R W^mm + W^∥) + ⟨Π_⊥ ∇L(W), W^⊥ − R W^mm⟩ with R = ‖W^⊥‖.",
)
@at_points(at_most, "size", part="L(W)")
def equation_28(dataset: Dataset) -> Numbers:
    """Convexity; R W^mm/‖W^mm‖ is meant, but it holds for any point."""
    for W in random_weights(dataset):
        inside = project(dataset.tied_basis, W)
        goal = float(np.linalg.norm(W - inside)) * dataset.target
        yield _tangent(dataset, W, goal + inside)


@claim(
    "equation-35",
    "Appendix C.4, Eq. (35)",
    "L(W) ≤ L(R W^mm + W^cyc + W') + ⟨∇L(W), W^∥ − W^cyc⟩, where W = R W^mm + W^∥ + W'.",
)
@at_points(at_most, "size", part="L(W)")
def equation_35(dataset: Dataset) -> Numbers:
    """Convexity again."""
    for W in random_weights(dataset):
        yield _tangent(dataset, W, W - project(dataset.tied_basis, W) + dataset.W_cyc)


def _tangent(dataset: Dataset, W: np.ndarray, other: np.ndarray) -> tuple[float, ...]:
    """L(W), L(Ẇ) + ⟨∇L(W), W − Ẇ⟩, and the size of what is added up."""
    at, there = At(dataset, W), At(dataset, other)
    gradient = at.gradient()
    right = there.risk + float(np.sum(gradient * (W - other)))
    size = float(np.linalg.norm(gradient) * (np.linalg.norm(W) + np.linalg.norm(other)))
    return at.risk, right, there.risk + size


@claim(
    "equation-29",
    "Appendix C.4, Eq. (29)",
    "Late in descent ⟨ΔW^⊥, W^mm⟩/‖W^mm‖ ≥ ⟨ΔW^⊥, W^⊥⟩/‖W^⊥‖ at every step.",
    on=LATE_STEPS,
)
def equation_29_along_descent(evidence: Evidence[Dataset]) -> Comparisons:
    """The last three quarters of the run; both sides relative to the length of the step."""
    length = np.sqrt(-evidence.minus_apart)
    size = evidence.each(lambda dataset: dataset.K) * length
    return at_least(
        arrived(evidence, evidence.size, evidence.towards),
        evidence.along,
        size=size,
        from_step=evidence.records[-1] // 4,
        part="(29)",
    )


@claim(
    "equation-29/everywhere",
    "Appendix C.4, Eq. (29), as it follows from (28)",
    "Once ‖W^⊥‖ is large, −⟨Π_⊥ ∇L(W), W^mm⟩/‖W^mm‖ ≥ −⟨Π_⊥ ∇L(W), W^⊥⟩/‖W^⊥‖, whatever W is.",
    on=PATHS,
    kind="constant",
)
def equation_29(evidence: Evidence[Followed]) -> Comparisons:
    """On the path −Π_⊥ ∇L is parallel to W^⊥, so the right side is the larger one at every R."""
    towards, along = sides(evidence, _directions)
    large = evidence.norm >= LARGE * evidence.each(lambda case: case.instance.norm)
    return at_least(np.where(large, towards, np.nan), along, part=RELATIVE)


@claim(
    "equation-29/repaired",
    "ours: with the factor 1 + ε that the standard proof has",
    "For every ε > 0, once ‖W^⊥‖ is large, −(1 + ε)⟨Π_⊥ ∇L, W^mm⟩/‖W^mm‖ ≥ −⟨Π_⊥ ∇L, W^⊥⟩/‖W^⊥‖.",
    on=PATHS,
)
def equation_29_with_a_factor(evidence: Evidence[Followed]) -> Comparisons:
    """What the left side lacks of the right one without the factor tends to 0, like 1/R²."""
    towards, along = sides(evidence, _directions)
    return aligns(along - towards, trend=evidence.norm**-2.0, part=RELATIVE)


def _directions(case: Followed) -> Numbers:
    """Both sides of (29) along the path, relative to ‖Π_⊥ ∇L‖."""
    dataset = case.instance
    for W in case.weights:
        off = At(dataset, W).gradient(~dataset.risk.tied)
        if np.linalg.norm(off) < SMALLEST:
            yield np.nan, np.nan
            continue
        down = project(dataset.bound_basis, off) - off
        down /= np.linalg.norm(down)
        free = W - project(dataset.bound_basis, W)
        towards = np.sum(down * dataset.target) / dataset.norm
        yield towards, np.sum(down * free) / np.linalg.norm(free)


@claim(
    "equation-30",
    "Appendix C.4, Eq. (30)",
    "⟨ΔW^⊥, W^⊥⟩/‖W^⊥‖ ≥ Δ(‖W^⊥‖²)/(2‖W^⊥‖) − ‖ΔW^⊥‖² along descent, once ‖W^⊥‖ > 1/2.",
    on=STEPS,
    left="along",
    right="squares_less_apart",
)
@claim(
    "equation-31",
    "Appendix C.4, Eq. (31)",
    "Δ(‖W^⊥‖²)/(2‖W^⊥‖) ≥ Δ‖W^⊥‖.",
    on=STEPS,
    left="squares",
    right="growth",
)
@claim(
    "equation-32",
    "Appendix C.4, Eq. (32)",
    "‖ΔW^⊥‖ ≤ ‖ΔW‖.",
    on=STEPS,
    left="minus_apart",
    right="minus_step",
)
@claim(
    "equation-33",
    "Appendix C.4, Eq. (33)",
    "−‖ΔW‖² ≥ 2η ΔL along gradient descent with η ≤ 1/L.",
    on=STEPS,
    left="minus_step",
    right="fall",
)
def link(evidence: Evidence[Dataset], left: str, right: str) -> Comparisons:
    """A link of the chain after (29), step by step; differences round like ‖W^⊥‖ itself."""
    return at_least(evidence.columns[left], evidence.columns[right], size=evidence.size)


@claim(
    "theorem-3/lower-bound",
    "Appendix C.4, proof of Theorem 3",
    "L(W(τ)) ≥ (|Ī|/n) l(1) + (|I|/n) L̄(W^∥(τ)) along descent.",
    on=STEPS,
)
def lower_bound(evidence: Evidence[Dataset]) -> Comparisons:
    """As logarithms; l(1) = 0 for the log loss, and without ties there is nothing to compare."""
    tied = np.where(np.isfinite(evidence.log_tied_risk), evidence.log_tied_risk, np.nan)
    size = 1 + np.abs(evidence.log_risk)
    return at_least(evidence.log_risk, tied, size=size, part="log risk")


@claim(
    "theorem-3/late-iterates",
    "Appendix C.4, proof of Theorem 3, before Eq. (29)",
    "Late in descent L(W(τ)) > L(‖W^⊥‖ W^mm/‖W^mm‖ + W^∥).",
    on=LATE_STEPS,
    kind="hypothesis",
)
def late_iterates(evidence: Evidence[Dataset]) -> Comparisons:
    """The last three quarters of the run; Lemma 4 gives it only at a distance δ from W^mm."""
    return at_least(
        arrived(evidence, evidence.size, evidence.log_risk),
        evidence.log_risk_on_target,
        size=1 + np.abs(evidence.log_risk),
        from_step=evidence.records[-1] // 4,
        part="log risk",
    )


@claim(
    "theorem-3/late-iterates/everywhere",
    "Appendix C.4, proof of Theorem 3, as it follows from Lemma 4",
    "Once ‖W^⊥‖ is large, L(W) > L(‖W^⊥‖ W^mm/‖W^mm‖ + W^∥), whatever W is.",
    on=PATHS,
    kind="hypothesis",
)
def late_points(evidence: Evidence[Followed]) -> Comparisons:
    """On the path W is the best of its norm, and not along W^mm; a distance δ is missing."""

    def risks(case: Followed) -> Numbers:
        dataset = case.instance
        for W in case.weights:
            inside = project(dataset.bound_basis, W)
            size = float(np.linalg.norm(W - inside))
            goal = size / dataset.norm * dataset.target + inside
            pair = (dataset.risk.log_value(At(dataset, M).logits) for M in (W, goal))
            yield *pair, size >= LARGE * dataset.norm

    here, there, large = sides(evidence, risks, 3)
    here = np.where(large > 0, here, np.nan)
    return at_least(here, there, size=1 + np.abs(there), part="log risk")


@claim(
    "theorem-3/sum",
    "Appendix C.4, proof of Theorem 3, the chain summed up",
    "From τ₀ on ⟨W^⊥(τ) − W^⊥(τ₀), W^mm⟩/‖W^mm‖ ≥ ‖W^⊥(τ)‖ − ‖W^⊥(τ₀)‖ + 2η (L(W(τ)) − L(W(τ₀))).",
    on=LATE_STEPS,
)
@claim(
    "theorem-3/bound",
    "Appendix C.4, proof of Theorem 3, the same divided by ‖W^⊥‖",
    "From τ₀ on corr(W^⊥(τ), W^mm) ≥ 1 − [‖W^⊥(τ₀)‖ − ⟨W^⊥(τ₀), W^mm⟩/‖W^mm‖ − 2η (L(W(τ)) − "
    "L(W(τ₀)))]/‖W^⊥(τ)‖.",
    on=LATE_STEPS,
    divided=True,
)
def summed(evidence: Evidence[Dataset], divided: bool = False) -> Comparisons:
    """With τ₀ a quarter of the run, where (29) holds at every step."""
    first = int(evidence.records[-1] // 4)
    start = slice(first, first + 1)
    late, size = slice(first, None), evidence.size
    fall = np.cumsum(evidence.fall[:, late], axis=1) - evidence.fall[:, late]
    height = arrived(evidence, size, evidence.height)
    left = height[:, late] - height[:, start]
    right = size[:, late] - size[:, start] + fall
    by = size[:, late] if divided else 1.0
    moved = height[:, start] if divided else 0.0
    return at_least(
        (left + moved) / by,
        (right + moved) / by,
        size=size[:, late] / by,
        places=evidence.records[late],
        part="correlation" if divided else "way along W^mm",
    )


@claim(
    "theorem-3/last-display",
    "Appendix C.4, last display",
    "lim_{R→∞} L(R W^mm + W^∥ + W') = L̄(W^∥).",
    kind="constant",
)
@claim(
    "theorem-3/last-display-repaired",
    "ours: with the factor |I|/n",
    "lim_{R→∞} L(R W^mm + W^∥ + W') = (|I|/n) L̄(W^∥).",
    share=True,
)
@at_points(equal, "rounding", part="risk, relative to the limit")
def last_display(dataset: Dataset, share: bool = False) -> Numbers:
    """At R = 60 plus the sizes of the rest and of log of the limit; the display before it has
    the factor |I|/n.
    """
    reduced = dataset.risk.tied_only()
    if not len(reduced.log_weight):
        return
    log_part = dataset.log_tied_share if share else 0.0
    for W in random_weights(dataset)[:4]:
        inside = project(dataset.tied_basis, W)
        spread = float(np.ptp(At(dataset, W).logits))
        log_limit = log_part + reduced.log_value(At(dataset, inside).logits)
        far = At(dataset, (60 + spread + max(-log_limit, 0.0)) * dataset.target + W)
        yield np.exp(dataset.risk.log_value(far.logits) - log_limit), 1.0, far.rounding

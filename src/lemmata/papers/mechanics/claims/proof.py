"""Appendix C.4: the steps of the proof of Theorem 3."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lemmata.old_claims import Judgement, at_least, equal
from lemmata.papers.mechanics.claims._terms import (
    GLOBAL,
    claim,
    judge,
    over,
)
from lemmata.papers.mechanics.evidence import Curves, Steps, Structures
from lemmata.papers.mechanics.experiments import (
    PATHS,
    SAMPLE,
    STEPS,
)

if TYPE_CHECKING:
    from lemmata.papers.mechanics.setting import Dataset

LARGE = 20.0
"""‖W‖ / ‖W^mm‖ from which on weights count as large."""


@claim(
    "equation-28",
    "Appendix C.4, Eq. (28)",
    "L(W) ≤ L(R W^mm + W^∥) + ⟨Π_⊥ ∇L(W), W^⊥ − R W^mm⟩ with R = ‖W^⊥‖.",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="with 1.1 times the inner product and no L(W) on the left",
)
def equation_28(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Convexity; R W^mm/‖W^mm‖ is meant, but it holds for any point."""
    from lemmata.papers.mechanics._points import At, project, random_weights

    def slack(dataset: "Dataset") -> list[float]:
        found = []
        for W in random_weights(dataset):
            inside = project(dataset.tied_basis, W)
            free = W - inside
            goal = float(np.linalg.norm(free)) * dataset.target
            gradient = At(dataset, W).gradient()
            product = float(
                np.sum((gradient - project(dataset.tied_basis, gradient)) * (free - goal))
            )
            left = 0.0 if sharpened else At(dataset, W).risk
            right = At(dataset, goal + inside).risk
            found.append(right + (-1.1 if sharpened else 1.0) * product - left)
        return found

    return [judge(at_least, evidence, "convexity", over(evidence, slack), 0.0, tolerance=1e-10)]


@claim(
    "equation-29",
    "Appendix C.4, Eq. (29)",
    "Once ‖W^⊥‖ is large, −⟨Π_⊥ ∇L(W), W^mm⟩/‖W^mm‖ ≥ −⟨Π_⊥ ∇L(W), W^⊥⟩/‖W^⊥‖.",
    assumes=GLOBAL,
    on=PATHS,
    sharpened="with 1 more on the left",
)
def equation_29(evidence: Curves, sharpened: bool) -> Sequence[Judgement]:
    """On the path −Π_⊥ ∇L is parallel to W^⊥, so the right side is the larger one at every R."""
    rows = []
    for dataset, curve in zip(evidence.datasets, evidence.curves, strict=True):
        large = [np.linalg.norm(W) >= LARGE * dataset.norm for W in curve.weights]
        sides = [_sides_of_29(dataset, W) for W in curve.weights]
        rows.append(
            [
                left - right - sharpened if far else np.nan
                for far, (left, right) in zip(large, sides, strict=True)
            ]
        )
    return [
        judge(at_least, evidence, "(29), relative to ‖Π_⊥ ∇L‖", np.array(rows), 0.0, tolerance=1e-9)
    ]


def _sides_of_29(dataset: "Dataset", weights: np.ndarray) -> tuple[float, float]:
    """The cosines of −Π_⊥ ∇L with W^mm and with W^⊥; NaN where the gradient underflows."""
    from lemmata.papers.mechanics._points import At, project

    off = At(dataset, weights).gradient(~dataset.risk.tied)
    size = float(np.linalg.norm(off))
    if size < 1e-290:
        return np.nan, np.nan
    down = -(off - project(dataset.bound_basis, off)) / size
    down /= np.linalg.norm(down)
    free = weights - project(dataset.bound_basis, weights)
    left = float(np.sum(down * dataset.target)) / dataset.norm
    return left, float(np.sum(down * free)) / float(np.linalg.norm(free))


@claim(
    "equation-29/repaired",
    "ours: with the factor 1 + ε that the standard proof has",
    "For every ε > 0, once ‖W^⊥‖ is large, −(1 + ε)⟨Π_⊥ ∇L, W^mm⟩/‖W^mm‖ ≥ −⟨Π_⊥ ∇L, W^⊥⟩/‖W^⊥‖.",
    assumes=GLOBAL,
    on=PATHS,
    sharpened="with ε = −0.1",
)
def equation_29_repaired(evidence: Curves, sharpened: bool) -> Sequence[Judgement]:
    """ε = 0.01 where ‖W‖ is 60 to 600 times ‖W^mm‖."""
    factor = 0.9 if sharpened else 1.01
    rows = []
    for dataset, curve in zip(evidence.datasets, evidence.curves, strict=True):
        late = [W for W in curve.weights if 60 < np.linalg.norm(W) / dataset.norm < 600][:4]
        row = [factor * left - right for left, right in (_sides_of_29(dataset, W) for W in late)]
        rows.append([*row, *[np.nan] * (4 - len(row))])
    grid = np.array(rows)
    steps = np.arange(grid.shape[1])
    return [
        at_least("(29) with 1 + ε", grid, np.zeros_like(grid), steps=steps, names=evidence.names)
    ]


def _link(evidence: Steps, left: str, right: str, sharpened: bool) -> Sequence[Judgement]:
    """One inequality of the chain, step by step; sharpened, its right side is raised by 0.01."""
    sides = evidence.chain()
    steps = np.arange(sides[left].shape[1])
    raised = sides[right] + 0.01 * sharpened
    return [
        at_least("slack", sides[left], raised, steps=steps, names=evidence.names, tolerance=1e-12)
    ]


@claim(
    "equation-30",
    "Appendix C.4, Eq. (30)",
    "⟨ΔW^⊥, W^⊥⟩/‖W^⊥‖ ≥ Δ(‖W^⊥‖²)/(2‖W^⊥‖) − ‖ΔW^⊥‖² along descent, once ‖W^⊥‖ > 1/2.",
    assumes=GLOBAL,
    on=STEPS,
    sharpened="with 0.01 more on the right",
)
def equation_30(evidence: Steps, sharpened: bool) -> Sequence[Judgement]:
    """The link after the one that fails, (29)."""
    return _link(evidence, "along", "squares", sharpened)


@claim(
    "equation-31",
    "Appendix C.4, Eq. (31)",
    "Δ(‖W^⊥‖²)/(2‖W^⊥‖) ≥ Δ‖W^⊥‖.",
    assumes=GLOBAL,
    on=STEPS,
    sharpened="with 0.01 more on the right",
)
def equation_31(evidence: Steps, sharpened: bool) -> Sequence[Judgement]:
    """(a² − b²)/2b ≥ a − b."""
    return _link(evidence, "squares", "norms", sharpened)


@claim(
    "equation-32",
    "Appendix C.4, Eq. (32)",
    "‖ΔW^⊥‖ ≤ ‖ΔW‖.",
    assumes=GLOBAL,
    on=STEPS,
    sharpened="with 0.01 more on the right of the chain",
)
def equation_32(evidence: Steps, sharpened: bool) -> Sequence[Judgement]:
    """A projection."""
    return _link(evidence, "norms", "whole", sharpened)


@claim(
    "equation-33",
    "Appendix C.4, Eq. (33)",
    "−‖ΔW‖² ≥ 2η ΔL along gradient descent with η ≤ 1/L.",
    assumes=GLOBAL,
    on=STEPS,
    sharpened="with 0.01 more on the right of the chain",
)
def equation_33(evidence: Steps, sharpened: bool) -> Sequence[Judgement]:
    """Lemma 5."""
    return _link(evidence, "whole", "risk", sharpened)


@claim(
    "equation-35",
    "Appendix C.4, Eq. (35)",
    "L(W) ≤ L(R W^mm + W^cyc + W') + ⟨∇L(W), W^∥ − W^cyc⟩, where W = R W^mm + W^∥ + W'.",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="with −⟨∇L(W), W^∥ − W^cyc⟩",
)
def equation_35(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Convexity again."""
    from lemmata.papers.mechanics._points import At, project, random_weights

    def slack(dataset: "Dataset") -> list[float]:
        finite = dataset.dense(dataset.correction)
        found = []
        for W in random_weights(dataset):
            move = project(dataset.tied_basis, W) - finite
            product = float(np.sum(At(dataset, W).gradient() * move)) * (-1 if sharpened else 1)
            found.append(At(dataset, W - move).risk + product - At(dataset, W).risk)
        return found

    return [judge(at_least, evidence, "convexity", over(evidence, slack), 0.0, tolerance=1e-10)]


@claim(
    "theorem-3/last-display",
    "Appendix C.4, last display",
    "lim_{R→∞} L(R W^mm + W^∥ + W') = L̄(W^∥).",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="= 2 L̄(W^∥)",
)
def last_display(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The display before it has the factor |I|/n, which is lost here."""
    return [_display(evidence, 2.0 if sharpened else 1.0, False)]


@claim(
    "theorem-3/last-display-repaired",
    "ours: with the factor |I|/n",
    "lim_{R→∞} L(R W^mm + W^∥ + W') = (|I|/n) L̄(W^∥).",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="= 2 (|I|/n) L̄(W^∥)",
)
def last_display_repaired(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """At R = 60 plus the size of the rest."""
    return [_display(evidence, 2.0 if sharpened else 1.0, True)]


def _display(evidence: Structures, factor: float, share: bool) -> Judgement:
    from lemmata.papers.mechanics._points import At, project, random_weights

    def errors(dataset: "Dataset") -> list[float]:
        reduced = dataset.risk.tied_only()
        if not len(reduced.weight):
            return [np.nan]
        part = dataset.cyclic.total / dataset.realizable.total if share else 1.0
        found = []
        for W in random_weights(dataset)[:4]:
            inside = project(dataset.tied_basis, W)
            spread = float(np.ptp(At(dataset, W).logits))
            whole = At(dataset, (60 + spread) * dataset.target + W).risk
            limit = factor * part * reduced.value(At(dataset, inside).logits)
            found.append(abs(whole - limit))
        return found

    values = over(evidence, errors)
    return judge(equal, evidence, "difference", values, 0.0, tolerance=1e-9)

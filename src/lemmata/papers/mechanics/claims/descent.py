"""Section 5 and Appendix C.3: where gradient descent on the log loss goes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lemmata.old_claims import Bench, Judgement, Status, at_least, fact
from lemmata.papers.mechanics.claims._terms import (
    ASSUMPTION_2,
    EPS,
    EXACT,
    GLOBAL,
    at_most_zero,
    claim,
    judge,
    over,
    positive,
    vanishing,
    with_ties,
)
from lemmata.papers.mechanics.evidence import Structures, Trained
from lemmata.papers.mechanics.experiments import (
    DESCENT,
    LONG_DESCENT,
    SAMPLE,
    witness,
)

if TYPE_CHECKING:
    from lemmata.papers.mechanics.setting import Dataset

LOG_LOSS = (ASSUMPTION_2,)


@claim(
    "lemma-5",
    "Appendix C.3, Lemma 5",
    "With η ≤ 1/L, L(W(τ+1)) − L(W(τ)) ≤ −(η/2) ‖∇L(W(τ))‖².",
    assumes=LOG_LOSS,
    on=DESCENT,
    sharpened="≤ −(1.1 η) ‖∇L(W(τ))‖²",
)
def lemma_5(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Every step of a run at η = 1/L."""
    loss = np.exp(evidence["log_loss"])
    square = np.exp(2 * evidence["log_gradient_norm"])
    factor = 1.1 if sharpened else 0.5
    slack = loss[:, :-1] - loss[:, 1:] - factor * evidence.eta * square[:, :-1]
    return [
        at_least(
            "descent",
            slack,
            np.zeros_like(slack),
            steps=evidence.steps[:-1],
            names=evidence.names,
            tolerance=8 * EPS * (1 + loss[:, :-1]),
        )
    ]


@claim(
    "lemma-6",
    "Appendix C.3, Lemma 6",
    "⟨∇L(W), W^mm⟩ < 0 at every finite W.",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="⟨∇L(W), W^mm⟩ < −1",
)
def lemma_6(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """At random W, from the masses off R_i alone, which the rest would drown."""
    from lemmata.papers.mechanics._points import At, random_weights

    def down(dataset: "Dataset") -> list[float]:
        off = ~dataset.risk.tied
        return [
            -float(np.sum(At(dataset, W).gradient(off) * dataset.target))
            for W in random_weights(dataset)
        ]

    least = 1.0 if sharpened else 0.0
    return [judge(at_least, evidence, "−⟨∇L, W^mm⟩", over(evidence, down), least, strict=True)]


@claim(
    "lemma-6/proof",
    "Appendix C.3, proof of Lemma 6",
    "x̄_i^T (W^mm)^T (x_it − e_yi) = −1 for t ∉ R_i.",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="= −2",
)
def lemma_6_proof(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """A token far below the label has a margin larger than 1: ≤ −1 is meant."""
    from lemmata.margin import pair_rows

    def errors(dataset: "Dataset") -> list[float]:
        margins = pair_rows(dataset.strict_pairs, dataset.E) @ dataset.target.ravel()
        return [float(np.abs(margins - 1 - sharpened).max())]

    return [at_most_zero(evidence, "margins", over(evidence, errors), 1e-9)]


@claim(
    "theorem-4",
    "Appendix C.3, Theorem 4",
    "No finite W has ∇L(W) = 0, and gradient descent with η ≤ 1/L has ‖W(τ)‖ → ∞.",
    assumes=GLOBAL,
    on=LONG_DESCENT,
    sharpened="‖W(τ)‖ stays below 5",
)
def theorem_4(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The gradient never vanishes, and the norm gains about ‖W^mm‖ per e-fold of time."""
    norms = evidence["free_norm"]
    if sharpened:
        return [judge(at_least, evidence, "‖W‖", -norms, -5.0)]
    late = int(np.searchsorted(evidence.steps, evidence.steps[-1] / 10, side="right")) - 1
    folds = float(np.log(evidence.steps[-1] / max(evidence.steps[late], 1)))
    if folds < 1:
        return [Judgement("growth", Status.UNDECIDED, "the run is too short to see growth")]
    growth = (norms[:, -1] - norms[:, late]) / folds
    expected = evidence.each(lambda d: d.norm)[:, 0]
    ratio = growth / expected
    smallest = float(evidence["log_gradient_norm"].min())
    return [
        fact("∇L ≠ 0", smallest > -np.inf, f"log ‖∇L‖ is at least {smallest:.4g} along the runs"),
        fact(
            "growth per e-fold over ‖W^mm‖",
            bool((ratio > 0.5).all()),
            f"between {ratio.min():.4f} and {ratio.max():.4f} over the last decade",
            {"smallest": float(ratio.min()), "largest": float(ratio.max())},
        ),
    ]


@claim(
    "lemma-7",
    "Appendix C.4, Lemma 7",
    "W^cyc is unique and finite.",
    assumes=LOG_LOSS,
    on=SAMPLE,
    sharpened="its norm is below 10⁻³",
)
def lemma_7(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The gradient of L̄ vanishes there and its Hessian on S_cyc is positive definite."""
    from lemmata.papers.mechanics._points import At

    def curvature(dataset: "Dataset") -> list[float]:
        reduced = dataset.risk.tied_only()
        masses = reduced.log_masses(At(dataset, dataset.dense(dataset.correction)).logits)
        hessian = reduced.hessian(np.exp(masses), dataset.design(dataset.tied_basis))
        return [float(np.linalg.eigvalsh(hessian)[0])]

    norms = [dataset.correction.norm for dataset in evidence.datasets]
    bound = 1e-3 if sharpened else np.inf
    reason = f"norms between {min(norms):.4g} and {max(norms):.4g}"
    parts = [fact("finite", max(norms) < bound, reason)]
    some = with_ties(evidence)
    if len(some):
        parts.append(positive(some, "curvature at W^cyc", over(some, curvature)))
    return parts


def _large_steps(bench: Bench) -> Sequence[Judgement]:
    """Constant steps on both sides of 2/λ, with λ the curvature at the limit."""
    from lemmata.papers.mechanics._counterexamples import cycle_above_last
    from lemmata.papers.mechanics._points import At
    from lemmata.papers.mechanics.setting import Training

    dataset = cycle_above_last()
    limit = dataset.dense(dataset.correction) + 50 * dataset.target
    top = float(np.linalg.eigvalsh(At(dataset, limit).hessian(dataset.tied_basis))[-1])
    ends = {}
    for eta in (4.0, 5.0, 50.0):
        how = Training(algorithm="gd", rate=eta, steps=20_000, record=(19_999, 20_000))
        run = how.run([dataset])
        ends[f"eta = {eta:g}"] = {
            "distance": [float(v) for v in run["cyclic_distance"][0]],
            "correlation": float(1 - run["one_minus_correlation"][0, -1]),
        }
    stuck, settled = min(ends["eta = 5"]["distance"]), ends["eta = 4"]["distance"][-1]
    reason = (
        f"on cycle-above-last λ = {top:.4f}; with η = 5 > 2/λ = {2 / top:.2f} the distance to "
        f"W^cyc alternates and stays above {stuck:.2f}, with η = 4 it is {settled:.1e}"
    )
    turned = ends["eta = 50"]["correlation"]
    again = f"with η = 50 the correlation with W^mm ends at {turned:.4f}"
    return [
        fact("(3) for every constant step", stuck < 1e-3, reason, witness(dataset, **ends)),
        fact("(2) for every constant step", turned > 0.99, again, witness(dataset, **ends)),
    ]


def _limits_of_descent(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """1 − corr falls like C/ln² t, so that its product with ln² t settles; the distance falls."""
    t, gap = evidence.steps, evidence["one_minus_correlation"]
    gap = 2 - gap if sharpened else gap
    late = int(np.searchsorted(t, t[-1] / 100, side="right")) - 1
    scale = (np.log(t[-1]) / np.log(max(t[late], 2))) ** 2
    settled = gap[:, -1] < EXACT
    faster = np.where(settled, np.inf, gap[:, late] / np.where(settled, 1.0, gap[:, -1]))
    expected = float(scale)
    worst = int(np.argmin(faster))
    reason = (
        f"1 − corr fell by a factor of at least {faster[worst]:.3f} over the last two decades "
        f"({expected:.3f} for 1/ln² t); it ends at {gap[:, -1].min():.4f} to {gap[:, -1].max():.4f}"
    )
    table = {"dataset": evidence.names[worst], "factor": float(faster[worst]), "1/ln² t": expected}
    return [
        fact("(2)", bool((faster > 1 + 0.5 * (expected - 1)).all()), reason, table),
        vanishing("(3) ‖Π W(τ) − W^cyc‖", t, evidence["cyclic_distance"], evidence.names, 1e-2),
    ]


@claim(
    "theorem-3",
    "Section 5, Theorem 3; Eqs. (2) and (3)",
    "From any W(0), with any constant step size, gradient descent on the log loss has "
    "W(τ)/‖W(τ)‖ → W^mm/‖W^mm‖ and Π_{S_cyc}(W(τ)) → W^cyc.",
    assumes=GLOBAL,
    on=LONG_DESCENT,
    sharpened="W(τ)/‖W(τ)‖ → −W^mm/‖W^mm‖",
    counterexample=_large_steps,
)
def theorem_3(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The proof needs η ≤ 1/L, and a large constant step breaks (3), then (2)."""
    return _limits_of_descent(evidence, sharpened)


@claim(
    "equation-2",
    "Section 5, Eq. (2)",
    "With any constant step size W(τ)/‖W(τ)‖ → W^mm/‖W^mm‖.",
    assumes=GLOBAL,
    on=LONG_DESCENT,
    sharpened="→ −W^mm/‖W^mm‖",
    counterexample=lambda bench: _large_steps(bench)[1:],
)
def equation_2(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Much larger steps than those that break (3) break (2) as well."""
    return _limits_of_descent(evidence, sharpened)[:1]


@claim(
    "equation-3",
    "Section 5, Eq. (3)",
    "With any constant step size Π_{S_cyc}(W(τ)) → W^cyc.",
    assumes=GLOBAL,
    on=LONG_DESCENT,
    sharpened="→ 0.9 W^cyc",
    counterexample=lambda bench: _large_steps(bench)[:1],
)
def equation_3(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """It holds for steps below 2/λ."""
    distance = evidence["cyclic_distance"]
    if sharpened:
        distance = distance + 0.1 * evidence.each(lambda d: d.correction.norm)
    return [vanishing("‖Π W(τ) − W^cyc‖", evidence.steps, distance, evidence.names, 1e-2)]


@claim(
    "theorem-3/repaired",
    "ours: Theorem 3 with η ≤ 1/L",
    "With η ≤ 1/L both limits hold: 1 − corr ~ C/ln² τ and ‖Π W(τ) − W^cyc‖ ~ C/τ.",
    assumes=GLOBAL,
    on=LONG_DESCENT,
    sharpened="W(τ)/‖W(τ)‖ → −W^mm/‖W^mm‖",
)
def theorem_3_repaired(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """No run of plain descent gets near correlation 1; ``own/block`` does."""
    return _limits_of_descent(evidence, sharpened)


@claim(
    "equation-34",
    "Appendix C.4, Eq. (34)",
    "corr(W^⊥(τ), W^mm) → 1 along gradient descent.",
    assumes=GLOBAL,
    on=LONG_DESCENT,
    sharpened="→ −1",
)
def equation_34(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """W^⊥ has all of W but its part in S_cyc, which stays bounded: see Theorem 3."""
    return _limits_of_descent(evidence, sharpened)[:1]

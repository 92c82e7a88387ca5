"""Further findings: heads, stability, and what no linear predictor can do."""

import numpy as np

from lemmata.claims import (
    Comparison,
    Comparisons,
    Fact,
    Silence,
    at_least,
    at_most,
    case_by_case,
    equal,
    mean_of,
    statements,
)
from lemmata.settings import Evidence

from ..experiments.heads import FEW_HEADS, ONE_HEAD, SEARCHED, FewHeads, OneHead
from ..experiments.posterior import POSTERIORS, Posteriors
from ..experiments.stability import STABILITY, Edge
from ..setting import MOST_WORK, NOISE, least_gap
from ._rounding import OPERATIONS

claim = statements("context")

ENOUGH = 100.0
"""Effective samples that a posterior mean needs."""

REACHED = 1e-9
"""A search that comes to this part of the first gap has come to L*."""


@claim(
    "section-3.3/one-head",
    "Section 3.3",
    "One head is not enough in general: no weights reach a column of A with entries of both signs "
    "with H = 1.",
    hypotheses=(NOISE,),
    on=ONE_HEAD,
)
@case_by_case
def section_33_one_head(case: OneHead) -> Comparisons:
    """A certified distance: columns of A-hat have entries of one sign, whatever attention is."""
    if not case.mixed.any():
        return Silence("no column of A has entries of both signs", applies=False, part="signs")
    part = "least distance from a column of A, relative to it"
    return at_least(case.least_distances, 0.0, strict=True, size=1.0, part=part)


@claim(
    "section-3.3/heads",
    "Section 4, Figure 4; Section 3.3",
    "H >= N may not be necessary: on some task fewer heads reach L*.",
    on=SEARCHED,
    unbreakable="it says that such a task exists",
)
def section_33_heads(evidence: Evidence[FewHeads]) -> Comparisons:
    """The first search that comes there is enough; one that does not proves nothing."""
    closest = np.inf
    for case, name in enumerate(evidence.names):
        left = evidence.cases[case].gap / evidence.cases[case].task.initial_gap
        if left < REACHED:
            reason = f"on {name} a search comes to {left:.2g} of the first gap"
            return Fact(True, reason, part="search", case=case)
        closest = min(closest, left)
    return Silence(f"searches come to {closest:.2g} of the first gap, not to zero", part="search")


@claim(
    "own/frozen-floor",
    "Section 3.3, Figure 4",
    "With attention frozen and H < N the least gap is a least-squares residual, known exactly and "
    "not zero.",
    hypotheses=(NOISE,),
    on=FEW_HEADS,
)
@case_by_case
def own_frozen_floor(case: FewHeads) -> Comparisons:
    """By singular values against normal equations in balls; rounding is relative to the first gap,
    times the conditions of the B_k and of Z-bar.

    That it is not zero can be too little for float64.
    """
    if case.task.N * case.plan.heads * case.task.K > MOST_WORK:
        return Silence("it is too large for balls", applies=False)
    least, floor = least_gap(case.plan), case.plan.frozen.floor
    if not least.is_finite():
        return Silence("two heads attend alike, as far as digits tell", applies=False)
    known, sizes = np.nan if floor is None else floor, case.plan.frozen.sizes
    with np.errstate(divide="ignore"):
        condition = float((sizes[:, 0] / sizes[:, case.plan.heads - 1]).max())
    of_target, first = case.task.spectral / case.task.ridge**0.5, case.task.initial_gap
    rounding = OPERATIONS * max(of_target, condition if np.isfinite(condition) else 1.0)
    return [
        equal(known, float(least.mid()), rounding=rounding, size=first, part="floor"),
        equal(float(least > 0), 1.0, part="whether it is certainly not zero"),
    ]


@claim(
    "own/stable-edge",
    "Theorem 1",
    "With attention frozen, descent on w converges from every start exactly for "
    "eta_w < 2K / max lambda_max(B_k B_k'), which is at least 2 sqrt(2) times the theory's step "
    "size.",
    on=STABILITY,
)
def own_stable_edge(evidence: Evidence[Edge]) -> Comparisons:
    """Two per cent below the edge two runs come together; two per cent above, they part."""
    below = evidence.each(lambda case: case.below)
    above = evidence.each(lambda case: case.above)
    comparisons = [
        at_most(below, 1.0, strict=True, part="two per cent below"),
        at_least(above, 1.0, strict=True, part="two per cent above"),
    ]
    known = evidence.where(lambda case: bool(np.isfinite(case.factor)))
    if len(known):
        factors = known.each(lambda case: case.factor)
        part = "the edge over the theory's eta_w"
        comparisons.append(at_least(factors, 8**0.5, part=part, cases=known.cases))
    return comparisons


@claim(
    "own/bayes",
    "Section 3.2, (23)",
    "y* is not the best prediction from a prompt: the posterior mean, which is not linear in the "
    "labels, has a smaller risk.",
    hypotheses=(NOISE,),
    on=POSTERIORS,
    unbreakable="it is judged on averages over drawn prompts, where a search would find chance",
)
def own_bayes(evidence: Evidence[Posteriors]) -> Comparisons:
    """Paired differences over prompts; the size of the noise tells of that of lambda."""
    sampled = evidence.where(lambda case: case.effective >= ENOUGH)
    comparisons: list[Comparison] = [
        Silence(f"{case.name}: {case.effective:.0f} effective samples are too few", part=case.name)
        for case in evidence
        if case not in sampled.cases
    ]
    if len(sampled):
        risks = at_most(
            sampled.each(lambda case: case.bayes_errors.mean()),
            sampled.each(lambda case: case.ridge_errors.mean()),
            strict=True,
            error=sampled.each(lambda case: mean_of(case.ridge_errors - case.bayes_errors)[1]),
            part="risk of the posterior mean",
            cases=sampled.cases,
        )
        comparisons.append(risks)
    return comparisons

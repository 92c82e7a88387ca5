"""Further findings: heads, stability, and what no linear predictor can do."""

from collections.abc import Sequence

import numpy as np

from lemmata.old_claims import Cases, Judgement, Status, each, fact, same
from lemmata.papers.context.claims._terms import NOISE, claim
from lemmata.papers.context.experiments.heads import (
    FEW_HEADS,
    ONE_HEAD,
    FewHeads,
    OneHead,
)
from lemmata.papers.context.experiments.posterior import POSTERIORS, Posteriors
from lemmata.papers.context.experiments.stability import STABILITY, Edge

ENOUGH = 100.0
"""Effective samples that a posterior mean needs."""


@claim(
    "section-3.3/one-head",
    "Section 3.3",
    "One head is not enough in general: no weights reach L* with H = 1.",
    assumes=(NOISE,),
    on=ONE_HEAD,
    sharpened="none come within a gap of 10",
)
def section_33_one_head(evidence: Cases[OneHead], sharpened: bool) -> Sequence[Judgement]:
    """A certified floor: columns of A-hat have entries of one sign, whatever attention is."""
    mixed = [case for case in evidence if case.mixed]
    if not mixed:
        return [Judgement("signs", Status.INAPPLICABLE, "no column of A has entries of both signs")]
    return [
        each(
            mixed,
            "least gap of one head",
            lambda case: case.floor,
            lambda _: 10.0 if sharpened else 1e-6,
            baseline=0.0,
        )
    ]


@claim(
    "section-3.3/heads",
    "Sections 3.1 and 3.3",
    "H >= N heads are needed: with fewer no weights reach L*.",
    assumes=(),
    on=FEW_HEADS,
    sharpened="with fewer no weights come within half of the first gap",
)
def section_33_heads(evidence: Cases[FewHeads], sharpened: bool) -> Sequence[Judgement]:
    """The paper says that it may not be necessary. A search that fails proves nothing."""
    share = 0.5 if sharpened else 1e-9
    least: list[tuple[float, str]] = []
    for case in evidence:
        least.append((case.gap / case.task.initial_gap, case.name))
        if least[-1][0] < share:
            break
    found, name = min(least)
    reason = f"{name} heads come to {found:.2g} of the first gap"
    status = Status.FAILS if found < share else Status.UNDECIDED
    return [Judgement("search", status, reason, witness={"dataset": name, "left": found})]


@claim(
    "own/frozen-floor",
    "Section 3.3, Figure 4",
    "With attention frozen and H < N the least gap is a least-squares residual, known exactly and "
    "not zero.",
    assumes=(NOISE,),
    on=FEW_HEADS,
    sharpened="it is half of that",
)
def own_frozen_floor(evidence: Cases[FewHeads], sharpened: bool) -> Sequence[Judgement]:
    """Against least squares, token by token."""

    def residual(case: FewHeads) -> float:
        wanted = case.task.root @ case.task.target
        total = 0.0
        for k in range(case.task.K):
            B = case.task.root @ case.frozen.attention[:, :, k]
            w = np.linalg.lstsq(B, wanted[:, k])[0]
            total += float(np.sum((B @ w - wanted[:, k]) ** 2))
        return (0.5 if sharpened else 1.0) * total / (2 * case.task.K)

    return [
        same(
            evidence,
            "floor over the first gap",
            lambda case: case.frozen.floor() / case.task.initial_gap,
            lambda case: residual(case) / case.task.initial_gap,
            1e-11,
        ),
        each(
            evidence,
            "not zero",
            lambda case: case.frozen.floor() / case.task.initial_gap,
            lambda _: 1e-9,
            baseline=0.0,
        ),
    ]


@claim(
    "own/stable-edge",
    "Theorem 1",
    "With attention frozen, descent on w converges exactly for "
    "eta_w < 2K / max lambda_max(B_k B_k'), many times the theory's step size.",
    assumes=(),
    on=STABILITY,
    sharpened="for twice that",
)
def own_stable_edge(evidence: Cases[Edge], sharpened: bool) -> Sequence[Judgement]:
    """Two per cent below the edge the part along the largest direction shrinks; above, it grows."""
    below = [case.below if not sharpened else case.above for case in evidence]
    shrinks = all(late < early for early, late in below)
    grows = all(late > early for early, late in (case.above for case in evidence))
    factors = [case.factor for case in evidence]
    return [
        fact(
            "two per cent below and above",
            shrinks and grows,
            f"the edge is {min(factors):.3g} to {max(factors):.3g} times the theory's eta_w",
        )
    ]


@claim(
    "own/bayes",
    "Section 3.2, (23)",
    "y* is not the best prediction from a prompt: the posterior mean, which is not linear in the "
    "labels, has a smaller risk.",
    assumes=(NOISE,),
    on=POSTERIORS,
    sharpened="half the risk",
)
def own_bayes(evidence: Cases[Posteriors], sharpened: bool) -> Sequence[Judgement]:
    """Paired differences over prompts; the size of the noise tells of that of lambda."""
    judged = []
    for case in evidence:
        share = 0.5 if sharpened else 1.0
        gain = share * case.ridge_errors - case.bayes_errors
        mean, error = gain.mean(), gain.std(ddof=1) / np.sqrt(len(gain))
        status = Status.UNDECIDED
        if case.effective >= ENOUGH and error > 0 and abs(mean) > 3 * error:
            status = Status.HOLDS if mean > 0 else Status.FAILS
        reason = (
            f"{case.name}: risk {case.bayes_errors.mean():.4g} against "
            f"{case.ridge_errors.mean():.4g} for ridge regression, with a standard error of "
            f"{error:.2g} of the difference"
        )
        judged.append(Judgement(case.name, status, reason, float(mean)))
    return judged

"""Appendices C.6 and D.2, and what follows: Theorems 2 and 3, step by step."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lemmata.claims import (
    Bench,
    Comparison,
    at_least,
    at_most,
    repaired,
    statements,
    tends_to,
)
from lemmata.settings import Evidence
from lemmata.tokens import Role

from .. import theory
from ..experiments import (
    AND_RAYS,
    ANYWHERE,
    LARGE_STEPS,
    LONG_RUN,
    PAPER_STRUCTURES,
    SAMPLE_LEVEL,
    STRUCTURES,
    TRAINED_MODELS,
    TRAINING,
    followed,
)
from ..setting import (
    ASSUMPTION_2,
    CHOICE,
    FAR,
    ORDERS,
    SINGLE_VALUED,
    STAGE_2,
    STANDING,
    VALUES_FROM_ZERO,
    ZERO_START,
    Dataset,
)
from ._facts import Fault, no_fault, on_its_own
from .proofs import constants, equation_13_last

claim = statements("convergence", on=LARGE_STEPS, hypotheses=STAGE_2)

C6, D2 = "Appendix C.6, proof of Theorem 2", "Appendix D.2, proof of Theorem 3"

HIDDEN = "it hides a constant"
LIMIT = "it speaks of a limit, which no finite run can refute"


@claim(
    "theorem-2/one-loss",
    C6,
    "−log T_y ≤ |V| exp(−Δ(2φ₊ − 1)) for every input, at any W_kq and equal margins Δ.",
    on=ANYWHERE,
    hypotheses=(*STANDING, ASSUMPTION_2, CHOICE, VALUES_FROM_ZERO),
)
def theorem_2_one_loss(evidence: Evidence[Dataset]) -> Comparison:
    """As logarithms; printed with = where ≤ is meant."""
    with np.errstate(divide="ignore"):
        left = np.log(evidence.input_loss)
    bound = np.log(evidence.K) - evidence.delta * (2 * evidence.phi_plus - 1)
    return at_most(left, bound, part="log of the loss", size=1 + evidence.delta)


@claim(
    "footnote-3/linear",
    "Section 5.2, footnote 3",
    "The loss converges linearly: L(θ(t)) − inf L is at most inf L · TC₀ · O(exp(−C₁t)).",
    on=TRAINING,
    unbreakable=HIDDEN,
)
def footnote_3_linear(evidence: Evidence[Dataset]) -> Comparison:
    """With the true infimum of the loss for W_ov(T), and the least constant for the first half.

    With the minimum that the footnote states the left side is negative, and nothing is said.
    """
    floor = np.array(
        [
            [theory.loss_floor(*row)]
            for row in zip(
                evidence.stage1_steps[:, 0],
                evidence.stage1_rate[:, 0],
                evidence.K[:, 0],
                strict=True,
            )
        ]
    )
    rise = evidence.log_loss - floor
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        excess = np.where(rise > 1e-9, np.log(np.expm1(rise)), np.nan)
    fall = theory.C1(evidence.rate, evidence.norm_kq, evidence.L) * evidence.records
    half = evidence.records <= evidence.records[-1] / 2
    constant = np.nanmax((excess + fall)[:, half], axis=1, keepdims=True)
    return at_most(excess, constant - fall, part="log of the excess", size=1 + np.abs(floor))


@claim(
    "section-6/multiple",
    "Section 6",
    "W_kq(t) converges to ‖W_kq(t)‖W_kq*/‖W_kq*‖: their distance tends to 0.",
    on=LONG_RUN,
    kind="misprint",
    unbreakable=LIMIT,
    versions=[
        repaired(
            "Only the direction converges: ‖W_kq(t) − ‖W_kq(t)‖W_kq*/‖W_kq*‖‖ tends to √(2c_∞).",
            own=True,
        )
    ],
)
def section_6_multiple(evidence: Evidence[Dataset], own: bool = False) -> Comparison:
    """The distance is ‖W‖√(2(1 − cos))."""
    steps = np.maximum(evidence.records, 1)
    late = np.where(steps >= steps[-1] / 4, 1.0, np.nan)
    distance = late * evidence.norm * np.sqrt(2 * evidence.one_minus_correlation)
    constant = evidence.each(lambda d: theory.limit_constant(d.orders, d.frequencies))
    target = np.sqrt(2 * constant) if own else 0.0
    size = np.maximum(np.sqrt(2 * constant), 1.0)
    return tends_to(distance, target, part="distance", trend=1 / steps**2, size=size)


@claim(
    "section-7/verifies",
    "Section 7",
    "The experiment verifies Theorems 1 and 2: within 900 steps their bounds exclude something.",
    on=PAPER_STRUCTURES,
    hypotheses=(),
    kind="substance",
)
def section_7_verifies(evidence: Evidence[Dataset]) -> list[Comparison]:
    """The bound on the cosine is below −1 at every step, so that no outcome could contradict it."""
    t = np.arange(2, 901)
    n, N, L = constants(evidence)
    rate = 0.05 / np.sqrt(evidence.each(lambda d: d.K))
    bound = theory.attention_cosine_bound(t, rate, n, N, L)
    first = np.array([[theory.theorem_2_steps(*row)] for row in np.hstack([rate, n, N, L])])
    return [
        at_least(bound.max(axis=1, keepdims=True), -1.0, part="Theorem 1, best bound on a cosine"),
        at_most(first, 900.0, part="Theorem 2, first t"),
    ]


@claim(
    "proposition-2/all-tight",
    "Appendix D.1, proof of Proposition 2",
    "The gradient of the dual vanishes, so that every optimal token leads every non-optimal one by "
    "exactly 1.",
    on=SAMPLE_LEVEL,
    hypotheses=(SINGLE_VALUED, ORDERS, ASSUMPTION_2),
    kind="hypothesis",
    versions=[
        repaired(
            "In the setting of Section 4.1 every optimal token leads every non-optimal one by "
            "exactly 1.",
            hypotheses=(*STANDING, ASSUMPTION_2),
            on=STRUCTURES,
        )
    ],
)
@no_fault("tight pairs")
def all_tight(dataset: Dataset) -> Iterator[Fault]:
    """Multipliers must not be negative, and are 0 where the closed form fails."""
    entries, name = dataset.attention_margin.entries, dataset.data.name
    for query in dataset.orders.graphs:
        for a in dataset.orders.having(query, Role.OPTIMAL):
            for b in dataset.orders.having(query, Role.NON_OPTIMAL):
                lead = entries[a, query] - entries[b, query]
                if lead != 1:
                    yield (
                        f"under {name(query)}, {name(a)} leads {name(b)} by {lead}",
                        {"query": name(query), "pair": [name(a), name(b)], "lead": str(lead)},
                    )


def _other_way(bench: Bench) -> list[Comparison]:
    """On {aba, ba} the run is a ray, and its logits are known far ahead."""
    alone = followed(Dataset.from_sentences("aba, ba", ["aba", "ba"]), AND_RAYS.training)
    return on_its_own(alone, theorem_3_logits(alone))


@claim(
    "theorem-3/logits",
    D2,
    "(x−x')ᵀW_kq(t)x_q ≥ tη(x−x')ᵀW_kq*x_q/(2L‖W_kq*‖²) − √(108tηNL²‖W_kq*‖² log²t) for any x, x'.",
    on=AND_RAYS,
    kind="substance",
    counterexample=_other_way,
    versions=[
        repaired(
            "For x and x' that W_kq* orders so, with tη for ‖W‖ and 1/min π for N as in Eq. (13).",
            sharp=True,
        )
    ],
)
def theorem_3_logits(evidence: Evidence[Dataset], sharp: bool = False) -> list[Comparison]:
    """For x non-optimal and x' optimal the first term is too weak: logits differ by tη/‖W_kq*‖.

    On rays the lead is at least the log-odds, less log L.
    """
    if sharp:
        return equation_13_last(evidence, sharp=True)
    n, L, N, rate = evidence.norm_kq, evidence.L, evidence.N, evidence.rate
    steps = np.maximum(evidence.records, 1).astype(float)
    stretches: list[Any] = [("", None, steps + 0 * rate, evidence.smallest_margin)]
    if not np.isnan(evidence.ray_gap).all():
        lead = evidence.ray_log_odds - np.log(L)
        stretches.append((" on a ray", FAR, FAR + 0 * rate, lead))
    return [
        at_least(
            -lead,
            -t * rate / (2 * L * n**2) - np.sqrt(108 * t * rate * N * L**2 * n**2) * np.log(t),
            part=f"optimal below non-optimal{says}",
            places=places,
            from_step=2,
            size=t * rate,
        )
        for says, places, t, lead in stretches
    ]


@claim(
    "theorem-3/attention",
    D2,
    "Attention on x₀ among non-optimal tokens exceeds 1 − ε from t of order log(1/ε) on.",
    on=TRAINED_MODELS,
    hypotheses=(*STANDING, ASSUMPTION_2, CHOICE, ZERO_START),
    unbreakable=HIDDEN,
)
def theorem_3_attention(evidence: Evidence[Dataset]) -> Comparison:
    """The log-odds of one x₀ against 2|V| copies of the best non-optimal token, over tη/‖W_kq*‖.

    They grow linearly, by the least size of a negative entry of W_kq*: at most 1, at least 1/|V|.
    """
    steps = np.maximum(evidence.records, 1)
    odds = -evidence.largest_non_optimal - np.log(2 * evidence.K)
    least = evidence.each(
        lambda d: min(-float(x) for x in d.attention_margin.entries.values() if x < 0)
    )
    relative = odds * evidence.norm_kq / (steps * evidence.rate)
    return tends_to(relative, least, part="log-odds over tη/‖W_kq*‖", trend=1 / steps)


@claim(
    "theorem-3/probability",
    D2,
    "If attention on x₀ is 1 − ε, n(x₀) follows with probability at least 1/(1 + |V| "
    "exp(−Δ(1−2ε))).",
    on=TRAINED_MODELS,
    hypotheses=(*STANDING, ASSUMPTION_2, CHOICE, ZERO_START),
)
def theorem_3_probability(evidence: Evidence[Dataset]) -> Comparison:
    """On inputs never seen; as odds, which do not saturate. T = Ω(log 1/ε₀) is meant for O."""
    asked = [i for i, row in enumerate(evidence.unseen_chance) if not np.isnan(row).all()]
    spoken = evidence.select(asked)
    delta = spoken.stage1_steps * spoken.stage1_rate / spoken.norm_ov
    bound = delta * (2 * spoken.unseen_attention - 1) - np.log(spoken.K)
    return at_least(
        spoken.unseen_log_odds,
        bound,
        part="log-odds of n(x₀)",
        cases=spoken.cases,
        places=np.arange(bound.shape[1]),
        size=1 + delta,
    )

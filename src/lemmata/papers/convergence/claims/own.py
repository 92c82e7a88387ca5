"""What the paper does not say: findings of ours, checked like the rest."""

from dataclasses import replace

import numpy as np

from lemmata.claims import Bench, Comparison, at_most, equal, statements, tends_to
from lemmata.settings import Evidence
from lemmata.tokens import Role

from .. import theory
from ..experiments import ALL_SENTENCES, ANY_STEPS, FIRST_STAGE, LONG_RUN, SAMPLE_LEVEL
from ..setting import (
    ASSUMPTION_2,
    ORDERS,
    SINGLE_VALUED,
    STAGE_1,
    STAGE_2,
    STANDING,
    Dataset,
    TwoStage,
)
from ._training import EPS, norm_bounds
from .generalization import wrong_columns

claim = statements("convergence", hypotheses=STAGE_2)

_LIMIT = "it speaks of a limit, which no finite run can refute"


@claim(
    "own/one-optimal-token",
    "ours; proof in docs/convergence.md",
    "Under Assumption 1, prefix closure and preimages in the sentence, every query has at most one "
    "optimal token, and the next token is a function of the last token (two tokens or more).",
    hypotheses=STANDING,
    on=ALL_SENTENCES,
)
def one_optimal_token(evidence: Evidence[Dataset]) -> list[Comparison]:
    """Under each query of all small datasets, and of sentences grown at random."""
    optimal = evidence.each(
        lambda d: [len(d.orders.having(query, Role.OPTIMAL)) for query in range(d.K)]
    )
    return [
        at_most(optimal, 1, part="optimal tokens", places=np.arange(optimal.shape[1])),
        at_most(evidence.each(_most_labels), 1, part="next tokens after a token"),
    ]


def _most_labels(dataset: Dataset) -> int:
    """How many next tokens a last token has, in inputs of two distinct tokens or more."""
    following: dict[int, set[int]] = {}
    for sample in dataset.data.samples:
        if len(set(sample.tokens)) > 1:
            following.setdefault(sample.query, set()).add(sample.label)
    return max(map(len, following.values()), default=0)


@claim(
    "own/stage-1-closed-form",
    "ours; proof in docs/convergence.md",
    "From zero, W_ov(t) = tη₀ W_ov*/‖W_ov*‖ exactly: cosine 1, all margins tη₀/√(|V|−1), L₀ = |V| "
    "log(1 + (|V|−1) exp(−tη₀/√(|V|−1))).",
    hypotheses=STAGE_1,
    on=replace(FIRST_STAGE, free=("stage1_rate", "stage1_steps")),
)
def stage_1_closed_form(evidence: Evidence[Dataset]) -> list[Comparison]:
    """Every recorded step of normalized gradient descent against the formula.

    A direction with a relative error e has 1 − cos = e²/2; a gradient knows its own up to the
    rounding of the logits, which are as large as the margin.
    """
    steps, K = evidence.records, evidence.K
    reach = steps * evidence.value_rate
    margin = reach / evidence.norm_ov
    exponent = np.log(K - 1) - margin
    log_loss = np.log(K) + np.where(exponent > -30, np.log(np.log1p(np.exp(exponent))), exponent)
    turned = evidence.one_minus_correlation
    return [
        equal(evidence.norm, reach, part="norm"),
        equal(turned, 0.0, part="1 − cos", size=1.0, rounding=((64 + steps + margin) * EPS) ** 2),
        equal(evidence.smallest_margin, margin, part="smallest margin"),
        equal(evidence.largest_margin, margin, part="largest margin"),
        equal(evidence.log_loss, log_loss, part="log L₀", size=1 + margin),
    ]


@claim(
    "own/proposition-2-criterion",
    "ours",
    "For orders without confused tokens, Proposition 2's form is right under q exactly when "
    "|N(S)||O| ≥ |S||N| for every set S of optimal tokens (normalized matching).",
    hypotheses=(SINGLE_VALUED, ORDERS, ASSUMPTION_2),
    on=SAMPLE_LEVEL,
)
def proposition_2_criterion(evidence: Evidence[Dataset]) -> Comparison:
    """Query by query, 1 for yes: a flow decides the criterion, the exact solution the form."""

    def criterion(dataset: Dataset) -> list[float]:
        return [
            float(theory.normalized_matching(dataset.orders, query)) if graph.evidence else np.nan
            for query, graph in dataset.orders.graphs.items()
        ]

    def form(dataset: Dataset) -> list[float]:
        wrong = {query for query, _ in wrong_columns(dataset)}
        return [float(query not in wrong) for query in dataset.orders.graphs]

    return equal(evidence.each(criterion), evidence.each(form), part="criterion and form", size=1.0)


@claim(
    "own/sign-pattern",
    "ours",
    "For orders without confused tokens W_kq* is positive on optimal, negative on non-optimal and "
    "0 on non-comparable tokens, whatever Proposition 2 says.",
    hypotheses=(SINGLE_VALUED, ORDERS, ASSUMPTION_2),
    on=SAMPLE_LEVEL,
)
def sign_pattern(evidence: Evidence[Dataset]) -> Comparison:
    """So the ordering of Theorem 3 survives where Proposition 2 fails."""
    signs = {Role.OPTIMAL: 1, Role.NON_OPTIMAL: -1, Role.NON_COMPARABLE: 0}
    entries = evidence.each(
        lambda d: [np.sign(float(value)) for value in d.attention_margin.entries.values()]
    )
    roles = evidence.each(
        lambda d: [signs[d.orders.role(q, token)] for token, q in d.attention_margin.entries]
    )
    return equal(entries, roles, part="signs", size=1.0)


def _attained(bench: Bench) -> Comparison:
    """Two steps of size 1 on {abab, ba}: first one column, then the other."""
    dataset = Dataset.from_sentences("abab", ["abab", "ba"])
    norm = TwoStage(steps=2, rate=1.0).run([dataset]).stage2.series["norm"][:, -1:]
    least = 2 / (np.sqrt(2) * dataset.norm_kq)
    return equal(norm, least, part="attained with η = 1", cases=[dataset], places=[2])


@claim(
    "own/sharp-norm-bound",
    "ours; proof in docs/convergence.md",
    "Under Assumptions 1 to 3, ‖W_kq(t)‖ ≥ tη/(√2‖W_kq*‖), and no larger constant will do.",
    on=ANY_STEPS,
    counterexample=_attained,
)
def sharp_norm_bound(evidence: Evidence[Dataset]) -> list[Comparison]:
    """Along every run; ``_attained`` shows that the constant is the best one."""
    return norm_bounds(evidence, evidence.rate, np.sqrt(2) * evidence.norm_kq)


@claim(
    "own/rate",
    "ours; derivation in docs/convergence.md",
    "With one optimal token per query and small steps, (tη)²(1 − cos(W_kq(t), W_kq*)) → c_∞, a "
    "constant known from the frequencies: the rate is 1/t², not log²t/t.",
    on=LONG_RUN,
    unbreakable=_LIMIT,
)
def true_rate(evidence: Evidence[Dataset]) -> list[Comparison]:
    """In two parts, ‖W_kq(t)‖²(1 − cos) → c_∞ and ‖W_kq(t)‖/(tη) → 1.

    Their trends follow from W_kq(t) = r(t) W_kq* + B + O(1/t). The first one is read off the last
    three quarters of the run, when what is left of its beginning is gone.
    """
    steps = np.maximum(evidence.records, 1)
    late = np.where(steps >= steps[-1] / 4, 1.0, np.nan)
    limit = evidence.each(lambda d: theory.limit_constant(d.orders, d.frequencies))
    apart = late * evidence.norm**2 * evidence.one_minus_correlation
    growth = evidence.norm / (steps * evidence.rate)
    size = np.maximum(limit, 1.0)  # B is made of logarithms, and 0 where the run is a ray
    return [
        tends_to(apart, limit, part="‖W_kq‖²(1 − cos)", trend=1 / steps**2, size=size),
        tends_to(growth, 1.0, part="‖W_kq‖/(tη)", trend=1 / steps),
    ]


@claim(
    "own/attention-rate",
    "ours",
    "The largest non-optimal weight falls like exp(−tη/‖W_kq*‖): L_max‖W_kq*‖·4 times faster than "
    "Theorem 2 says.",
    on=LONG_RUN,
    unbreakable=_LIMIT,
)
def attention_rate(evidence: Evidence[Dataset]) -> Comparison:
    """The smallest log-odds of the optimal tokens, over tη/‖W_kq*‖; they differ by a constant."""
    steps = np.maximum(evidence.records, 1)
    relative = evidence.smallest_log_odds * evidence.norm_kq / (steps * evidence.rate)
    return tends_to(relative, 1.0, part="log-odds over tη/‖W_kq*‖", trend=1 / steps)

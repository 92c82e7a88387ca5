"""What the paper does not say: findings of ours, checked like the rest."""

from collections.abc import Sequence

import numpy as np

from lemmata.old_claims import Bench, Judgement, Status, at_least, equal, fact
from lemmata.papers.convergence import theory
from lemmata.papers.convergence.claims._terms import (
    ASSUMPTION_2,
    ORDERS,
    REALIZABLE,
    SINGLE_VALUED,
    STAGE_1,
    STAGE_2,
    claim,
    rounding,
)
from lemmata.papers.convergence.claims.generalization import proposition_2_faults
from lemmata.papers.convergence.claims.stage2 import norm_bounds
from lemmata.papers.convergence.experiments import (
    LONG_RUN,
    SAMPLE_LEVEL,
    STRUCTURES,
    TRAINING,
    Structures,
    Trained,
    witness,
)
from lemmata.tokens._orders import Role


@claim(
    "own/one-optimal-token",
    "ours; proof in docs/convergence.md",
    "Under Assumption 1, prefix closure and preimages in the sentence, every query has at most one "
    "optimal token, and the next token is a function of the last token (two tokens or more).",
    assumes=REALIZABLE,
    on=STRUCTURES,
    sharpened="no query has an optimal token, or the next token is the same for all queries",
)
def one_optimal_token(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """On every dataset; tests enumerate all small ones."""
    for dataset in evidence.datasets:
        following: dict[int, set[int]] = {}
        for sample in dataset.data.samples:
            if len(set(sample.tokens)) > 1:
                following.setdefault(0 if sharpened else sample.query, set()).add(sample.label)
        for query in dataset.orders.graphs:
            best = dataset.orders.having(query, Role.OPTIMAL)
            if len(best) > (0 if sharpened else 1):
                names = [dataset.data.name(x) for x in best]
                found = f"{' and '.join(names)} under {dataset.data.name(query)}"
                return [fact("one optimal token", False, found, witness(dataset, optimal=names))]
        for query, labels in following.items():
            if len(labels) > 1:
                found = f"several next tokens after {dataset.data.name(query)}"
                return [fact("one next token", False, found, witness(dataset))]
    return [fact("one optimal token", True, f"on all {len(evidence)} datasets")]


@claim(
    "own/stage-1-closed-form",
    "ours; proof in docs/convergence.md",
    "From zero, W_ov(t) = tη₀ W_ov*/‖W_ov*‖ exactly: cosine 1, all margins tη₀/√(|V|−1), L₀ = |V| "
    "log(1 + (|V|−1) exp(−tη₀/√(|V|−1))).",
    assumes=STAGE_1,
    on=TRAINING,
    sharpened="the norm is 1.001 tη₀",
)
def stage_1_closed_form(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Every recorded step of normalized gradient descent against the formula."""
    e = evidence
    reach = e.steps1 * e.eta0
    margin = reach / e.norm_ov
    exponent = np.log(e.K - 1) - margin
    log_loss = np.log(e.K) + np.where(exponent > -30, np.log(np.log1p(np.exp(exponent))), exponent)
    how = {"steps": e.steps1, "names": e.names}
    slack = rounding(e.steps1, reach)
    turned = np.nan_to_num(e.stage1("one_minus_correlation"))
    return [
        equal("norm", e.stage1("norm"), reach * (1 + 1e-3 * sharpened), tolerance=slack, **how),
        equal("1 − cos", turned, np.zeros_like(turned), tolerance=1e-24 * (1 + e.steps1), **how),
        equal("smallest margin", e.stage1("smallest_margin"), margin, tolerance=slack, **how),
        equal("largest margin", e.stage1("largest_margin"), margin, tolerance=slack, **how),
        equal(
            "log L₀", e.stage1("log_loss"), log_loss, tolerance=slack + 1e-12 * (1 + margin), **how
        ),
    ]


@claim(
    "own/proposition-2-criterion",
    "ours",
    "For orders without confused tokens, Proposition 2's form is right under q exactly when "
    "|N(S)||O| ≥ |S||N| for every set S of optimal tokens (normalized matching).",
    assumes=(SINGLE_VALUED, ORDERS, ASSUMPTION_2),
    on=SAMPLE_LEVEL,
    sharpened="the form is always wrong",
)
def proposition_2_criterion(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """A flow decides the criterion; the exact solution decides the form."""
    agree = wrong = 0
    for dataset in evidence.datasets:
        faulty = {query for query, _ in proposition_2_faults(dataset)}
        for query, graph in dataset.orders.graphs.items():
            if graph.evidence:
                predicted = theory.normalized_matching(dataset.orders, query) and not sharpened
                if predicted != (query not in faulty):
                    name = dataset.data.name(query)
                    return [fact("criterion", False, f"query {name}", witness(dataset))]
                agree += 1
                wrong += query in faulty
    return [
        fact(
            "criterion",
            True,
            f"it decides all {agree} queries; the form is wrong for {wrong} of them",
            {"queries": agree, "form_wrong": wrong},
        )
    ]


@claim(
    "own/sign-pattern",
    "ours",
    "For orders without confused tokens W_kq* is positive on optimal, negative on non-optimal and "
    "0 on non-comparable tokens, whatever Proposition 2 says.",
    assumes=(SINGLE_VALUED, ORDERS, ASSUMPTION_2),
    on=SAMPLE_LEVEL,
    sharpened="it is 1 on optimal tokens",
)
def sign_pattern(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """So the ordering of Theorem 3 survives where Proposition 2 fails."""
    signs = {Role.OPTIMAL: 1, Role.NON_OPTIMAL: -1, Role.NON_COMPARABLE: 0}
    for dataset in evidence.datasets:
        for (token, query), value in dataset.attention_margin.entries.items():
            sign = (value > 0) - (value < 0)
            role = dataset.orders.role(query, token)
            if sign != signs[role] or (sharpened and role is Role.OPTIMAL and value != 1):
                name = dataset.data.name
                found = f"{name(token)} is {role} under {name(query)} and has value {value}"
                return [fact("signs", False, found, witness(dataset))]
    return [fact("signs", True, f"on all {len(evidence)} datasets")]


def _attained(bench: Bench) -> Sequence[Judgement]:
    """Two steps of size 1 on {abab, ba}: first one column, then the other."""
    from lemmata.papers.convergence.setting import Dataset, TwoStage

    dataset = Dataset.from_sentences("abab", ["abab", "ba"])
    run = TwoStage(steps=2, rate=1.0).run([dataset])
    ratio = float(run.stage2.series["norm"][0, -1] * np.sqrt(2) * dataset.norm_kq / 2)
    reason = f"on {{abab, ba}} with η = 1, ‖W(2)‖ is {ratio:.9f} times the bound"
    return [fact("attained", abs(ratio - 1) < 1e-9, reason, witness(dataset, ratio=ratio))]


@claim(
    "own/sharp-norm-bound",
    "ours; proof in docs/convergence.md",
    "Under Assumptions 1 to 3, ‖W_kq(t)‖ ≥ tη/(√2‖W_kq*‖), and no larger constant will do.",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="‖W_kq(t)‖ ≥ 1.01 tη",
    counterexample=_attained,
)
def sharp_norm_bound(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Along every run; ``_attained`` shows that the constant is the best one."""
    return norm_bounds(evidence, np.sqrt(2) * evidence.norm_kq, sharpened)


@claim(
    "own/rate",
    "ours; derivation in docs/convergence.md",
    "With one optimal token per query, (tη)²(1 − cos(W_kq(t), W_kq*)) → c_∞, a constant known from "
    "the frequencies: the rate is 1/t², not log²t/t.",
    assumes=STAGE_2,
    on=LONG_RUN,
    sharpened="c_∞ is half of that",
)
def true_rate(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """A limit: the relative distance to it is at most 2 % at the end, and falls on the way."""
    limits = [theory.limit_constant(d.orders, d.data.frequencies) for d in evidence.datasets]
    limit = np.array(limits) * (0.5 if sharpened else 1.0)
    reach = evidence.steps2 * evidence.eta
    scaled = reach**2 * evidence.stage2("one_minus_correlation")
    exact = limit < 1e-20
    distance = np.abs(scaled / np.where(exact, 1.0, limit)[:, None] - 1)
    quarter = int(np.searchsorted(evidence.steps2, evidence.steps2[-1] / 4))
    settled = np.where(exact, scaled[:, -1] < 1e-9, distance[:, -1] < 0.02)
    falling = distance[:, -1] < distance[:, quarter] / 2
    worst = float(np.max(np.where(exact, 0.0, distance[:, -1])))
    reason = f"at tη = {reach.max():.4g} the largest relative distance to c_∞ is {worst:.2g}"
    table = {
        name: {"predicted": float(c), "measured": float(m)}
        for name, c, m in zip(evidence.names, limit, scaled[:, -1], strict=True)
    }
    if (settled | falling).all() and not settled.all():
        return [Judgement("limit", Status.UNDECIDED, f"{reason}, and falling", witness=table)]
    return [fact("limit", bool(settled.all()), reason, table)]


@claim(
    "own/attention-rate",
    "ours",
    "The largest non-optimal weight falls like exp(−tη/‖W_kq*‖): L_max‖W_kq*‖·4 times faster than "
    "Theorem 2 says.",
    assumes=STAGE_2,
    on=LONG_RUN,
    sharpened="it falls twice as fast",
)
def attention_rate(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The slope of the smallest log-odds over the last half of the run, against η/‖W_kq*‖."""
    odds = evidence.stage2("smallest_log_odds")
    half = int(np.searchsorted(evidence.steps2, evidence.steps2[-1] / 2))
    span = float(evidence.steps2[-1] - evidence.steps2[half])
    if span == 0:
        return [Judgement("slope", Status.UNDECIDED, "the run is too short to see a slope")]
    slope = (odds[:, -1] - odds[:, half]) / span
    expected = evidence.eta[:, 0] / evidence.norm_kq[:, 0] * (1 + sharpened)
    return [
        at_least(
            "relative slope",
            -np.abs(slope / expected - 1)[:, None],
            np.full((len(evidence), 1), -0.01),
            steps=evidence.steps2[-1:],
            names=evidence.names,
        )
    ]

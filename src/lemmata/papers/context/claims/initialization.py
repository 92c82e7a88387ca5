"""Assumption 2 and Proposition 1: when zeta_0 is positive at the start."""

from functools import partial

import mpmath
import numpy as np

from lemmata.claims import (
    Comparisons,
    Fact,
    Silence,
    at_least,
    at_most,
    case_by_case,
    equal,
    statements,
)
from lemmata.settings import Evidence

from ..experiments.initialization import SPECIAL_STARTS, STARTS, Start
from ..setting import DISTINCT_ROW, ENOUGH_HEADS, FULL_RANK, NOISE, RESOLVED, Plan
from ._rounding import OPERATIONS

claim = partial(statements("context"), on=STARTS)

TINY = 1e-300

MOST_TERMS = 8
"""More exponentials than these are linearly dependent in float64."""


def _full_rank(plan: Plan) -> bool:
    """Whether every B_k has rank N, by NumPy's count of singular values."""
    return bool((np.linalg.matrix_rank(plan.frozen.scores) == plan.task.N).all())


@claim(
    "assumption-2",
    "Section 3.1, Assumption 2, (14)",
    "Assumption 2 means zeta_0 > 0, and needs H >= N.",
    hypotheses=(NOISE, RESOLVED),
)
def assumption_2(evidence: Evidence[Start]) -> Comparisons:
    """Ranks of all B_k, with the plan's heads and with one fewer than examples."""
    clear = [s.plan for s in evidence if s.plan.frozen.resolved or s.plan.frozen.zeta == 0]
    agree = [_full_rank(plan) == (plan.frozen.zeta > 0) for plan in clear]
    full = [_full_rank(start.few_heads) for start in evidence if start.plan.task.N > 1]
    parts = []
    if agree:
        reason = f"full rank and zeta_0 > 0 come together on {sum(agree)} of {len(agree)} tasks"
        parts.append(Fact(all(agree), reason, part="full rank and zeta_0 > 0"))
    if full:
        reason = f"with H = N - 1 all B_k have full row rank on {sum(full)} of {len(full)} tasks"
        parts.append(Fact(not any(full), reason, part="one head fewer than examples"))
    return parts or Silence("neither rank is known")


@claim(
    "equation-11",
    "Section 3.1, (11); end of Appendix B",
    "L* is the infimum of the loss: under Assumption 2 some w reaches it with attention as it is.",
    hypotheses=(NOISE, FULL_RANK),
)
@case_by_case
def equation_11(start: Start) -> Comparisons:
    """What the best w leaves, token by token; the size of B_k w decides the rounding error."""
    frozen, wanted = start.plan.frozen, start.task.root @ start.task.target
    if not frozen.resolved:
        reason = "float64 cannot tell zeta_0 from zero"
        return Silence(reason, applies=False, part="root of the gap")
    size, left_over, found = np.linalg.norm(wanted, axis=0), [], []
    for k, B in enumerate(frozen.scores):
        w = np.linalg.lstsq(B, wanted[:, k], rcond=1e-15)[0]
        left_over.append(np.linalg.norm(B @ w - wanted[:, k]))
        found.append(frozen.sizes[k, 0] * np.linalg.norm(w))
    rounding = OPERATIONS * (1 + np.array(found) / np.maximum(size, TINY))
    return equal(left_over, 0.0, size=size, rounding=rounding, part="root of the gap")


@claim(
    "proposition-1",
    "Section 3.1, Proposition 1",
    "With Gaussian Q and H >= N, zeta_0 > 0 with probability 1.",
    hypotheses=(DISTINCT_ROW, ENOUGH_HEADS, NOISE, RESOLVED),
    unbreakable="it holds with probability 1, which no single draw can contradict",
)
def proposition_1(evidence: Evidence[Start]) -> Comparisons:
    """For every token, in high precision where float64 cannot tell: true, but it may be far below
    1e-16."""

    def log_ratio(start: Start) -> float:
        ratios = [least / largest for least, largest in start.eigenvalues]
        return float(mpmath.log10(min(ratios))) if min(ratios) > 0 else -np.inf

    logs = [log_ratio(start) for start in evidence]
    case = int(np.argmin(logs))
    name = evidence.names[case]
    return Fact(
        logs[case] > -np.inf,
        f"zeta_0 over the largest eigenvalue is 10^{logs[case]:.1f} on {name}, the least of "
        f"{len(logs)} tasks",
        checked=len(logs),
        witness={"dataset": name, "log10": logs[case]},
        part="least eigenvalue",
        case=case,
    )


@claim(
    "equation-71",
    "Appendix D.1, (71)",
    "V'Q_h v_k is normal with covariance beta^2 ||v_k||^2 V'V.",
)
@case_by_case
def equation_71(start: Start) -> Comparisons:
    """A sum over the entries of Q_h, which are independent, one by one."""
    task, token = start.task, start.task.tokens[:, -1]
    by_entry = np.einsum("an,b->abn", task.prompt, token).reshape(-1, task.N)
    covariance = (start.plan.scale * task.norms[-1]) ** 2 * task.prompt.T @ task.prompt
    size = (start.plan.scale * task.norms.max() * task.norms[-1]) ** 2
    summed = start.plan.scale**2 * by_entry.T @ by_entry
    return equal(summed, covariance, size=size, part="covariance")


@claim(
    "equation-72",
    "Appendix D.1, after (72)",
    "sum_i y_i exp(q v_i) has finitely many zeros in q: no more than y has changes of sign.",
    hypotheses=(DISTINCT_ROW,),
)
@case_by_case
def equation_72(start: Start) -> Comparisons:
    """Sign changes on a fine grid of q, for coefficients with zeros at N - 1 chosen places."""
    if start.task.N > MOST_TERMS:
        return Silence("too many terms for float64", applies=False, part="zeros")
    row = np.sort(next(r for r in start.task.prompt if len(np.unique(r)) == len(r)))
    scale = max(np.abs(row).max(), 1e-300)
    zeros = np.linspace(-1, 1, len(row) + 1)[1:-1] / scale
    y = np.linalg.svd(np.exp(np.outer(zeros, row)))[2][-1] if len(row) > 1 else np.ones(1)
    values = np.exp(np.outer(np.linspace(-3, 3, 20_001) / scale, row)) @ y
    return at_most(_changes(values), _changes(y), part="zeros")


def _changes(values: np.ndarray) -> int:
    signs = np.sign(values[values != 0])
    return int(np.sum(signs[1:] != signs[:-1]))


@claim(
    "own/distinct-tokens",
    "Assumption 3",
    "Distinct prompt tokens are enough for zeta_0 > 0: one-hot tokens break Assumption 3 and have "
    "it; two equal prompt tokens do not.",
    on=SPECIAL_STARTS,
)
def own_distinct_tokens(evidence: Evidence[Start]) -> Comparisons:
    """zeta_0 against the largest eigenvalue; what is above its rounding error is not zero."""

    def repeats(start: Start) -> bool:
        return bool(start.task.equal_prompt_tokens.any())

    def largest(start: Start) -> float:
        return start.plan.frozen.sizes[:, 0].max() ** 2

    one_hot, equal_tokens = (evidence.where(lambda s, k=k: repeats(s) is k) for k in (False, True))
    rules = [start.task.has_distinct_row for start in one_hot]
    return [
        Fact(
            not any(rules),
            f"Assumption 3 is broken on {len(rules) - sum(rules)} of {len(rules)} plans",
            checked=len(rules),
            part="one-hot tokens and Assumption 3",
        ),
        at_least(
            one_hot.each(lambda s: s.plan.frozen.zeta),
            OPERATIONS * one_hot.each(largest),
            baseline=0.0,
            part="zeta_0 of one-hot tokens",
            cases=one_hot.cases,
        ),
        equal(
            equal_tokens.each(lambda s: s.plan.frozen.zeta),
            0.0,
            size=equal_tokens.each(largest),
            part="zeta_0 of two equal tokens",
            cases=equal_tokens.cases,
        ),
    ]

"""Assumption 2 and Proposition 1: when zeta_0 is positive at the start."""

import mpmath
import numpy as np

from lemmata.claims import (
    Comparisons,
    Fact,
    Silence,
    at_most,
    case_by_case,
    equal,
    statements,
)
from lemmata.settings import Evidence

from ..experiments.initialization import SPECIAL_STARTS, STARTS, Start
from ..setting import (
    DISTINCT_ROW,
    ENOUGH_HEADS,
    FULL_RANK,
    MOST_WORK,
    NOISE,
    RESOLVED,
    UNIT,
    Plan,
    determinants,
)
from ._rounding import OPERATIONS

claim = statements("context", on=STARTS)

TINY = 1e-300

MOST_TERMS = 8
"""More exponentials than these are linearly dependent in float64."""


@claim(
    "assumption-2",
    "Section 3.1, Assumption 2, (14)",
    "Assumption 2 means zeta_0 > 0, and needs H >= N.",
    hypotheses=(NOISE, RESOLVED),
)
def assumption_2(evidence: Evidence[Start]) -> Comparisons:
    """Whether all determinants are not zero, in balls, against eigenvalues; and with one head fewer
    than examples."""
    small = evidence.where(_is_small)
    if not len(small):
        return TOO_LARGE
    full = small.each(lambda s: float(_full(s.plan) == s.task.K))
    positive = small.each(lambda s: float(min(least for least, _ in s.eigenvalues) > 0))
    parts = [equal(full, positive, size=1.0, part="full rank", cases=small.cases)]
    several = small.where(lambda s: s.task.N > 1)
    if len(several):
        fewer, sizes = several.each(lambda s: _full(s.few_heads)), several.each(lambda s: s.task.K)
        part = "tokens with full rank for H = N - 1"
        parts.append(equal(fewer, 0, size=sizes, part=part, cases=several.cases))
    return parts


def _full(plan: Plan) -> int:
    """How many B_k certainly have full row rank."""
    return sum(value != 0 for value in determinants(plan))


TOO_LARGE = Silence("it is too large for ball arithmetic", applies=False)


def _is_small(start: Start) -> bool:
    return start.task.N * start.plan.heads * start.task.K <= MOST_WORK


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
        f"zeta_0 over the largest eigenvalue is 10^{logs[case]:.1f} on {name}"
        + (f", the least of {len(logs)} tasks" if len(logs) > 1 else ""),
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
    "Distinct prompt tokens are enough for zeta_0 > 0, with H >= N heads: one-hot tokens break "
    "Assumption 3 and have it; two equal prompt tokens do not.",
    hypotheses=(UNIT, NOISE, ENOUGH_HEADS),
    on=SPECIAL_STARTS,
)
def own_distinct_tokens(evidence: Evidence[Start]) -> Comparisons:
    """How many B_k have full row rank, in as many digits as it takes."""
    small = evidence.where(_is_small)
    if not len(small):
        return TOO_LARGE
    distinct = small.where(lambda s: not s.task.equal_prompt_tokens.any())
    others = small.where(lambda s: bool(s.task.equal_prompt_tokens.any()))
    parts = []
    if len(distinct):
        full, sizes = (distinct.each(f) for f in (lambda s: _full(s.plan), lambda s: s.task.K))
        part = "distinct tokens, of full rank"
        parts.append(equal(full, sizes, part=part, cases=distinct.cases))
    if len(others):
        zeta = others.each(lambda s: s.plan.frozen.zeta)
        largest = others.each(lambda s: s.plan.frozen.sizes.max() ** 2)
        part = "zeta_0 of two equal tokens"
        parts.append(equal(zeta, 0.0, size=largest, part=part, cases=others.cases))
    return parts

"""Frozen attention in ball arithmetic: which B_k have full row rank, and what the best w leaves.

Singular values in float64 tell neither where attention is saturated.
"""

from collections.abc import Iterator

from flint import arb, arb_mat, ctx

from lemmata.settings import dot

from ._fractions import Fixed, fixed
from ._plan import Plan
from ._replay import attention_in_balls, columns_of

BITS = (320, 1_280, 5_120)
"""More where fewer leave something open."""

MOST_WORK = 20_000
"""N H K: more takes too long in so many digits."""


def determinants(plan: Plan) -> list[arb]:
    """det(C_k C_k') for every token k, which is not zero if and only if C_k has full row rank.

    So has B_k = Z-bar C_k then, if tau > 0. That it is zero no ball can tell, but fewer heads than
    examples and equal prompt tokens do.
    """
    if plan.heads < plan.task.N or plan.task.equal_prompt_tokens.any():
        return [arb(0)] * plan.task.K
    found: list[arb] = []
    for _, attention in _precisely(plan):
        scores = [columns_of(attention, k) for k in range(plan.task.K)]
        found = [(C * C.transpose()).det() for C in scores]
        if all(value != 0 for value in found):
            break
    return found


def least_gap(plan: Plan) -> arb:
    """The least L - L* that any w reaches with attention as at the start; no number if unknown."""
    left = arb("nan")
    for task, attention in _precisely(plan):
        try:
            left = sum((_left_over(task, attention, k) for k in range(task.K)), arb(0))
        except ZeroDivisionError:  # two heads that attend alike, as far as these bits tell
            continue
        if left > 0:
            break
    return left / (2 * plan.task.K)


def _left_over(task: Fixed, attention: list[arb_mat], k: int) -> arb:
    """The least ||Z-bar (C_k w - A_k)||^2, by the normal equations."""
    C = columns_of(attention, k)
    wanted = arb_mat([[task.target[n, k]] for n in range(task.N)])
    pulled = C.transpose() * (task.gram * wanted)
    w = (C.transpose() * task.gram * C).solve(pulled)
    return dot(wanted, task.gram * wanted) - dot(pulled, w)


def _precisely(plan: Plan) -> Iterator[tuple[Fixed, list[arb_mat]]]:
    """The task and s^h_k at the start, one N x K matrix a head, with more and more bits."""
    for bits in BITS:
        with ctx.workprec(bits):
            task = fixed(plan.task)
            yield task, attention_in_balls(task, plan.start)

"""Independent checks of what the solvers claim; they share no code with the solvers."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lcm

import numpy as np
from jaxtyping import Float, Int

Edge = tuple[int, int]

LARGEST = 2**62
"""What fits into 64 bits with a sign."""


def check_optimality(
    values: Mapping[int, Fraction],
    multipliers: Mapping[Edge, Fraction],
    edges: Iterable[Edge],
    sizes: Mapping[int, int] | None = None,
) -> None:
    """The Karush-Kuhn-Tucker conditions of min (1/2) sum m u^2, u_a - u_b >= 1, exactly.

    They are sufficient because the program is strictly convex; an edge without a multiplier has
    0. Everything is multiplied by the common denominator, so the arithmetic is in integers.
    Raises ``ArithmeticError`` with the condition that does not hold.
    """
    unit = lcm(*(value.denominator for value in (*values.values(), *multipliers.values())))
    height = {node: _in_units(value, unit) for node, value in values.items()}
    flow = {edge: _in_units(multiplier, unit) for edge, multiplier in multipliers.items()}
    for a, b in edges:
        slack = height[a] - height[b] - unit
        if slack < 0:
            raise ArithmeticError(f"edge {a} > {b} has margin {Fraction(slack, unit) + 1} < 1")
        if slack and flow.get((a, b)):
            raise ArithmeticError(f"edge {a} > {b} is slack with multiplier {multipliers[a, b]}")
    balance = dict.fromkeys(values, 0)
    for (a, b), amount in flow.items():
        if amount < 0:
            raise ArithmeticError(f"edge {a} > {b} has multiplier {multipliers[a, b]} < 0")
        balance[a] += amount
        balance[b] -= amount
    for node, value in height.items():
        if balance[node] != (sizes or {}).get(node, 1) * value:
            raise ArithmeticError(f"node {node} is not stationary")


def _in_units(value: Fraction, unit: int) -> int:
    return value.numerator * (unit // value.denominator)


def check_optimality_of_many(
    winner: Int[np.ndarray, "edges"],
    loser: Int[np.ndarray, "edges"],
    weight: Int[np.ndarray, "nodes"],
    top: Int[np.ndarray, "nodes"],
    bottom: Int[np.ndarray, "nodes"],
    flow: Int[np.ndarray, "edges"],
) -> None:
    """The same conditions for graphs as arrays: values top / bottom, multipliers flow / bottom.

    A multiplier is over the denominator of its winner, which its loser must have, too. The
    arithmetic is in integers: of 64 bits where no product can be larger, else of any size.
    """
    largest = [int(np.abs(row).max(initial=1)) for row in (top, bottom, weight)]
    if max(largest[0], largest[1]) ** 2 * 4 > LARGEST or largest[0] * largest[2] > LARGEST:
        top, bottom, weight, flow = (x.astype(object) for x in (top, bottom, weight, flow))
    a, b = winner, loser
    slack = top[a] * bottom[b] - top[b] * bottom[a] - bottom[a] * bottom[b]
    if np.any(bottom <= 0) or np.any(slack < 0):
        raise ArithmeticError(f"{np.sum(slack < 0)} edges have a margin below 1")
    if np.any(flow < 0) or np.any((flow != 0) & (slack != 0)):
        raise ArithmeticError("a multiplier is negative, or stands on an edge that is slack")
    sent = flow != 0
    if np.any(bottom[a[sent]] != bottom[b[sent]]):
        raise ArithmeticError("a multiplier joins values with different denominators")
    balance = np.zeros_like(top)
    np.add.at(balance, a, flow)
    np.subtract.at(balance, b, flow)
    if np.any(balance != weight * top):
        raise ArithmeticError(f"{np.sum(balance != weight * top)} nodes are not stationary")


def check_infeasibility(farkas: Mapping[Edge, Fraction]) -> None:
    """Weights >= 0 with sum 1 under which the left-hand sides u_a - u_b cancel: 0 >= 1."""
    balance: dict[int, Fraction] = {}
    for (a, b), weight in farkas.items():
        if weight < 0:
            raise ArithmeticError(f"edge {a} > {b} has weight {weight} < 0")
        balance[a] = balance.get(a, Fraction(0)) + weight
        balance[b] = balance.get(b, Fraction(0)) - weight
    if any(balance.values()) or sum(farkas.values()) != 1:
        raise ArithmeticError("the constraints do not cancel")


def distance_bound(
    solution: Float[np.ndarray, "variables"],
    multipliers: Float[np.ndarray, "constraints"],
    constraints: Float[np.ndarray, "constraints variables"],
) -> float:
    """How far a feasible w is from the optimum of min (1/2)|w|^2, A w >= 1.

    The duality gap g of a feasible pair bounds |w - w*|^2 <= 2 g. It is written as
    (1/2)|w - A^T y|^2 + y.(A w - 1), a sum of non-negative terms, so nothing cancels. The
    last term of the bound covers the rounding of the residual itself.
    """
    slack = constraints @ solution - 1
    if slack.min() < 0 or multipliers.min() < 0:
        return float("inf")
    residual = solution - constraints.T @ multipliers
    rounding = 4 * np.finfo(float).eps * np.linalg.norm(solution) * len(multipliers)
    return float(np.sqrt(residual @ residual + 2 * multipliers @ slack) + rounding)

"""Independent checks of what the solvers claim; they share no code with the solvers."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lcm

import numpy as np
from jaxtyping import Float

Edge = tuple[int, int]


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

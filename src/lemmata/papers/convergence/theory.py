"""What the paper predicts: its constants, and its bounds as functions of t.

Arrays broadcast: constants are columns (one row a dataset), t is a row. ``L`` is L_max, ``n`` the
norm of the max-margin solution that the bound speaks of.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from lemmata.tokens import PartialOrders, Role

Values = Any
"""A number, or an array of them."""


def value_cosine_bound(t: Values, eta0: Values, n: Values, K: Values, constant: int) -> Values:
    """Proposition 1 (constant 5) and Proposition 3 (constant 12), for t >= 2."""
    return 1 - constant * n**3 * np.log(2 * K) * np.log(t) / (t * eta0)


def attention_cosine_bound(t: Values, eta: Values, n: Values, N: Values, L: Values) -> Values:
    """Theorem 1, for t >= 2."""
    return 1 - 54 * N * L**4 * n**4 * np.log(t) ** 2 / (t * eta)


def attention_weight_bound(t: Values, eta: Values, n: Values, L: Values) -> Values:
    """Theorem 2: the total weight of the optimal tokens of every input."""
    return 1 / (1 + L * np.exp(-C1(eta, n, L) * t))


def log_loss_bound(
    t: Values, T: Values, C0: Values, eta: Values, n: Values, K: Values, L: Values
) -> Values:
    """Theorem 2, Eq. (4): the logarithm of the bound on the loss."""
    growth = np.exp(np.minimum(C1(eta, n, L) * t, 700.0))
    return np.log(K) - T * C0 * (1 - 2 * L / (L + growth))


def C0(eta0: Values, n: Values) -> Values:
    """eta_0 / (4 ||W_ov*||^2)."""
    return eta0 / (4 * n**2)


def C1(eta: Values, n: Values, L: Values) -> Values:
    """eta / (4 L_max ||W_kq*||^2)."""
    return eta / (4 * L * n**2)


def lemma_7_beta(norm: Values, n: Values, L: Values) -> Values:
    """beta_0 of the proof of Lemma 7, with ``norm`` = ||W_kq(t)||."""
    return 2 * L**2 * n**2 / norm * (1 + np.log(2 * L * norm))


def lemma_7_alpha(norm: Values, n: Values, N: Values, L: Values) -> Values:
    """alpha_t of Lemma 7: 2 N beta_0."""
    return 2 * N * lemma_7_beta(norm, n, L)


def lemma_7_start(eta: Values, n: Values, L: Values) -> Values:
    """t_0 of Lemma 7."""
    return np.ceil(8 * L * n**2 / eta)


def corollary_1_steps(eta0: Values, n: Values, K: Values) -> float:
    """The smallest T with T >= 384 ||W_ov*||^5 log(2|V|) log T / eta_0, for all larger T too."""
    constant = 384 * n**5 * np.log(2 * K) / eta0
    return first_step(lambda t: t - constant * np.log(t), 0.0, np.e)


def theorem_2_steps(eta: Values, n: Values, N: Values, L: Values) -> float:
    """The smallest t with t >= 1696 N L^4 ||W_kq*||^6 log^2 t / eta, for all larger t too."""
    constant = 1696 * N * L**4 * n**6 / eta
    return first_step(lambda t: t - constant * np.log(t) ** 2, 0.0, np.e**2)


def loss_floor(T: Values, eta0: Values, K: Values) -> float:
    """The logarithm of inf_W L(W_ov^(T), W): every input attends to its optimal token alone."""
    margin = T * eta0 / np.sqrt(K - 1)
    exponent = np.log(K - 1) - margin
    return float(np.log(np.log1p(np.exp(exponent))) if exponent > -30 else exponent)


def first_step(bound: Callable[[float], float], level: float, start: float) -> float:
    """The first integer t >= start from which ``bound`` stays above ``level``; inf if none.

    The bounds of this paper rise with t once t exceeds ``start``.
    """
    low, high = start, max(start, 1.0)
    if bound(low) > level:
        return float(np.ceil(low))
    while bound(high) <= level:
        high *= 2
        if high > 1e300:
            return float("inf")
    while high - low > 0.25 and high > np.nextafter(low, np.inf):
        middle = (low + high) / 2
        low, high = (low, middle) if bound(middle) > level else (middle, high)
    return float(np.ceil(high))


def value_bound_starts(eta0: Values, n: Values, K: Values, constant: int) -> float:
    """When Proposition 1's bound on the cosine becomes positive."""
    return first_step(lambda t: value_cosine_bound(t, eta0, n, K, constant), 0.0, np.e)


def attention_bound_starts(eta: Values, n: Values, N: Values, L: Values) -> float:
    """When Theorem 1's bound on the cosine becomes positive."""
    return first_step(lambda t: attention_cosine_bound(t, eta, n, N, L), 0.0, np.e**2)


def proposition_2_column(optimal: int, non_optimal: int) -> tuple[Fraction, Fraction]:
    """The values that Proposition 2 gives to optimal and non-optimal tokens."""
    total = optimal + non_optimal
    return Fraction(non_optimal, total), Fraction(-optimal, total)


def normalized_matching(orders: PartialOrders, query: int) -> bool:
    """Whether |N(S)| |O| >= |S| |N| for every set S of optimal tokens (our exact criterion).

    By max-flow min-cut this is the same as routing a supply |N| at each optimal token along the
    order to a demand |O| at each non-optimal one.
    """
    optimal = orders.having(query, Role.OPTIMAL)
    others = orders.having(query, Role.NON_OPTIMAL)
    k, m = len(optimal), len(others)
    place = {token: i for i, token in enumerate([*optimal, *others], start=1)}
    capacity = np.zeros((k + m + 2, k + m + 2), dtype=np.int32)
    capacity[0, 1 : k + 1] = m
    capacity[k + 1 : k + m + 1, -1] = k
    for winner, loser in orders.graphs[query].evidence:
        capacity[place[winner], place[loser]] = k * m
    flow = maximum_flow(csr_array(capacity), 0, k + m + 1).flow_value
    return bool(flow == k * m)


def limit_constant(orders: PartialOrders, frequencies: Float[np.ndarray, "samples"]) -> float:
    """c_inf with (t eta)^2 (1 - cos) -> c_inf, when each query has one optimal token (ours).

    Late in training the pull on a non-optimal token u under q is a_u e^{-(w_o - w_u)} with
    a_u = sum over inputs of pi m_u / m_o. The direction W* needs equal pulls, so the gap
    w_o - w_u is a common function of time plus log(a_u (m_q + 1)). These offsets, made orthogonal
    to W*, are what remains of the error: c_inf is half their squared norm.
    """
    offsets: dict[tuple[int, int], float] = {}
    limit: dict[tuple[int, int], float] = {}
    for query, graph in orders.graphs.items():
        pull: dict[int, float] = {}
        best = orders.having(query, Role.OPTIMAL)
        for sample, share in zip(orders.data.samples, frequencies, strict=True):
            if sample.query == query and best and best[0] in sample.tokens:
                weight = share / sample.tokens.count(best[0])
                for u in set(sample.tokens) - set(best):
                    pull[u] = pull.get(u, 0.0) + weight * sample.tokens.count(u)
        m = len(pull)
        gaps = {u: np.log(a * (m + 1)) for u, a in pull.items()}
        for column, size in ((offsets, gaps), (limit, dict.fromkeys(gaps, 1.0))):
            if graph.evidence:
                top = sum(size.values()) / (m + 1)
                column[best[0], query] = top
                column.update({(u, query): top - gap for u, gap in size.items()})
    a = np.array(list(offsets.values()))
    b = np.array([limit[cell] for cell in offsets])
    rest = a - b * (a @ b) / (b @ b)
    return float(rest @ rest / 2)

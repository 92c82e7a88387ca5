"""Lemmas 3 to 5, the target A in its forms, and the derivation in Appendix D.3."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from lemmata.old_claims import Bench, Cases, Judgement, at_most, each, fact, same
from lemmata.papers.context.claims._terms import NOISE, ROUNDING, claim, conditioned
from lemmata.papers.context.claims.gradients import no_square
from lemmata.papers.context.claims.setup import cubature_loss
from lemmata.papers.context.experiments.points import POINTS, Point

D_3 = "Appendix D.3"


@claim(
    "lemma-3",
    "Appendix A.2, Lemma 3, (31)",
    "||x_1 + ... + x_l||^2 <= l (||x_1||^2 + ... + ||x_l||^2).",
    assumes=(),
    on=POINTS,
    sharpened="with l - 1 in the place of l",
)
def lemma_3(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """For the columns of B_k, and for l equal vectors, where both sides are the same."""

    def sides(point: Point, equal: bool) -> tuple[float, float]:
        x = point.here.B[:, :, 0]
        if equal:
            x = np.repeat(x[:, :1], point.H + 1, axis=1)
        count = x.shape[1]
        factor = count - 1 if sharpened else count
        return float(np.sum(x.sum(axis=1) ** 2)), float(factor * np.sum(x**2))

    return [
        at_most(
            evidence,
            name,
            lambda p, equal=equal: sides(p, equal)[0],
            lambda p, equal=equal: sides(p, equal)[1],
            tolerance=ROUNDING,
        )
        for name, equal in (("columns of B", False), ("equal vectors", True))
    ]


@claim(
    "lemma-4",
    "Appendix A.2, Lemma 4, (24), (25), (32)",
    "Averaged over fresh noise, the squared error of lambda on a prompt is that without noise plus "
    "tau ||lambda||^2 / 2.",
    assumes=(),
    on=POINTS,
    sharpened="plus tau ||lambda||^2",
)
def lemma_4(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """The noise at the 2m points +-sqrt(m tau) e_i, whose second moments are those of (1)."""

    def averaged(point: Point) -> float:
        task, (labels, coefficients) = point.task, _labels(point)
        total = 0.0
        for sign in (-1.0, 1.0):
            for i in range(task.m):
                noise = sign * np.sqrt(task.m * task.tau) * np.eye(task.m)[i]
                away = labels - coefficients @ (task.Z + noise[:, None])
                total += np.sum(away**2) / (2 * task.N)
        return total / (2 * task.m)

    def closed(point: Point) -> float:
        task, (labels, coefficients) = point.task, _labels(point)
        fitted = np.sum((labels - coefficients @ task.Z) ** 2) / (2 * task.N)
        return fitted + (1.0 if sharpened else 0.5) * task.tau * np.sum(coefficients**2)

    return [same(evidence, "error", lambda p: averaged(p) / closed(p), lambda _: 1.0, ROUNDING)]


def _labels(point: Point) -> tuple[np.ndarray, np.ndarray]:
    """Some labels and some coefficients."""
    task = point.task
    return np.cos(np.arange(1, task.N + 1)), np.sin(np.arange(1, task.m + 1))


def _printed_minimum(point: Point, *, repaired: bool, part: str = "all") -> float:
    """The constant below (36), term by term; repaired, the queries have their m tau."""
    task = point.task
    inverse = np.linalg.inv(task.gram)
    total = 0.0
    for k in range(task.K):
        seen = k < task.N
        if part == ("queries" if seen else "prompt"):
            continue
        pulled = task.Z.T @ task.representations[:, k]
        if seen:
            pulled = pulled + task.ridge * np.eye(task.N)[k]
        own = task.ridge if seen or repaired else 0.0
        total += np.sum(task.representations[:, k] ** 2) + own - pulled @ inverse @ pulled
    return float(total / (2 * task.K))


def _reformulated(evidence: Cases[Point], constant: Callable[[Point], float]) -> Judgement:
    """Loss and closed form, relative to the loss; tolerance for the inverse of Z'Z + m tau I."""

    def closed(point: Point) -> float:
        return (np.sum(point.here.weighted**2) / (2 * point.task.K) + constant(point)) / (
            cubature_loss(point)
        )

    return same(evidence, "loss", closed, lambda _: 1.0, conditioned)


def _one_example(bench: Bench) -> Sequence[Judgement]:
    """One example and one query with z = 1, tau = 1 and A-hat = 0, in fractions.

    Both labels have variance 2, so that L = 1; Z'Z + m tau = 2 and A = (1, 1/2).
    """
    K, loss = 2, Fraction(1, 4) * (2 + 2)
    gap = Fraction(1, 2 * K) * 2 * (1 + Fraction(1, 4))
    printed = Fraction(1, 2 * K) * ((1 + 1 - Fraction(4, 2)) + (1 - Fraction(1, 2)))
    return [
        fact(
            "one example and one query",
            loss == gap + printed,
            f"z = (1, 1), tau = 1, A-hat = 0: L = {loss}, but the gap {gap} and L* = {printed} "
            f"make {gap + printed}",
            {"dataset": "z = (1, 1), tau = 1", "left": float(loss), "right": float(gap + printed)},
        )
    ]


@claim(
    "lemma-5",
    "Appendix B, Lemma 5, (36)",
    "L = sum_k ||Z-bar delta_k||^2 / (2K) + L* with the constant L* printed below (36).",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="with half of it",
    counterexample=_one_example,
)
def lemma_5(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    share = 0.5 if sharpened else 1.0
    return [_reformulated(evidence, lambda p: share * _printed_minimum(p, repaired=False))]


@claim(
    "lemma-5/repaired",
    "Appendix B, Lemma 5, (36)",
    "The same with m tau for every query, whose labels have noise of their own.",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="with twice that m tau",
)
def lemma_5_repaired(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def constant(point: Point) -> float:
        extra = (point.task.K - point.task.N) * point.task.ridge / (2 * point.task.K)
        return _printed_minimum(point, repaired=True) + (extra if sharpened else 0.0)

    return [_reformulated(evidence, constant)]


@claim(
    "own/missing-noise",
    "Lemma 5",
    "The printed L* is too small by exactly (K - N) m tau / (2K), and its first sum is zero.",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="by K m tau / (2K)",
)
def own_missing_noise(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def missing(point: Point) -> float:
        task = point.task
        queries = task.K if sharpened else task.K - task.N
        return queries * task.ridge / (2 * task.K) / _size(point)

    return [
        same(
            evidence,
            "difference",
            lambda p: (p.task.minimum - _printed_minimum(p, repaired=False)) / _size(p),
            missing,
            conditioned,
        ),
        same(
            evidence,
            "first sum",
            lambda p: _printed_minimum(p, repaired=False, part="prompt") / _size(p),
            lambda _: 0.0,
            conditioned,
        ),
    ]


def _size(point: Point) -> float:
    """Of the terms that cancel in L*."""
    squares = float(np.sum(point.task.representations**2))
    return squares / (2 * point.task.K) + point.task.ridge


def _optimum(evidence: Cases[Point], column: Callable[[Point, int], np.ndarray]) -> Judgement:
    """Each column against the unconstrained minimizer of the loss."""

    def stated(point: Point) -> np.ndarray:
        return np.stack([column(point, k) for k in range(point.task.K)], axis=1).ravel()

    def least(point: Point) -> np.ndarray:
        return _least_squares(point).ravel()

    return same(evidence, "column", stated, least, conditioned)


def _least_squares(point: Point) -> np.ndarray:
    """The minimizer of the loss, by least squares on (Z; sqrt(m tau) I)."""
    task = point.task
    left = np.vstack([task.Z, np.sqrt(task.ridge) * np.eye(task.N)])
    right = np.vstack([task.representations, np.sqrt(task.ridge) * np.eye(task.N, task.K)])
    return np.linalg.lstsq(left, right)[0]


@claim(
    "equation-33",
    "Appendix B, (33)",
    "delta_k measures the distance from (Z'Z + m tau I)^-1 (z_k + m tau e_k), or without e_k for a "
    "query, the best column.",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="twice that is the best column",
)
def equation_33(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """z_k has m entries and the matrix N rows: it has a meaning only where m = N."""
    square = evidence.select([i for i, p in enumerate(evidence) if p.task.m == p.task.N > 1])
    if not len(square):
        return [no_square("(33)")]

    def column(point: Point, k: int) -> np.ndarray:
        task = point.task
        right = task.representations[:, k] + task.ridge * np.eye(task.N, task.K)[:, k]
        return (2.0 if sharpened else 1.0) * np.linalg.solve(task.gram, right)

    return [_optimum(square, column)]


@claim(
    "equation-33/repaired",
    "Appendix B, (33), (34)",
    "The best column is (Z'Z + m tau I)^-1 (Z'z_k + m tau e_k), or without e_k for a query.",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="twice that is the best column",
)
def equation_33_repaired(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def column(point: Point, k: int) -> np.ndarray:
        task = point.task
        right = task.Z.T @ task.representations[:, k]
        right = right + task.ridge * np.eye(task.N, task.K)[:, k]
        return (2.0 if sharpened else 1.0) * np.linalg.solve(task.gram, right)

    return [_optimum(evidence, column)]


@claim(
    "equation-66",
    "Appendix C, (34), (66)",
    "A = (Z'Z + m tau I)^-1 (Z' Z-hat + (m tau I, 0)) is (I, Z'(m tau I + Z Z')^-1 Z^Q).",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="it is (I, Z'(Z Z')^+ Z^Q)",
)
def equation_66(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def first(point: Point) -> np.ndarray:
        task = point.task
        right = task.Z.T @ task.representations + task.ridge * np.eye(task.N, task.K)
        return np.linalg.solve(task.gram, right).ravel()

    def second(point: Point) -> np.ndarray:
        task = point.task
        square = task.Z @ task.Z.T
        if sharpened:
            inner = np.linalg.pinv(square) @ task.Z_query
        else:
            inner = np.linalg.solve(task.ridge * np.eye(task.m) + square, task.Z_query)
        return np.hstack([np.eye(task.N), task.Z.T @ inner]).ravel()

    return [same(evidence, "A", first, second, conditioned)]


@claim(
    "equation-65",
    "Appendix C, (65)",
    "(m tau I + Z'Z)^-1 = I / (m tau) - Z'(m tau I + Z Z')^-1 Z / (m tau).",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="with a plus",
)
def equation_65(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def right(point: Point) -> np.ndarray:
        task, sign = point.task, 1.0 if sharpened else -1.0
        inner = np.linalg.solve(task.ridge * np.eye(task.m) + task.Z @ task.Z.T, task.Z)
        return (np.eye(task.N) + sign * task.Z.T @ inner).ravel()

    return [
        same(
            evidence,
            "inverse times m tau",
            lambda p: p.task.ridge * np.linalg.inv(p.task.gram).ravel(),
            right,
            conditioned,
        )
    ]


@claim(
    "equation-37",
    "Appendix B, (37), (38)",
    "The gap goes to zero if and only if A-hat goes to A: it lies between m tau / (2K) and "
    "||Z-bar||^2 / (2K) times ||A-hat - A||_F^2.",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="and above 0.99 of the upper bound",
)
def equation_37(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def share(point: Point) -> float:
        return 2 * point.task.K * point.here.gap / float(np.sum(point.here.delta**2))

    def below(point: Point) -> float:
        return 0.99 * point.task.spectral**2 if sharpened else point.task.ridge

    return [
        each(evidence, "below", share, below, baseline=0.0, tolerance=ROUNDING),
        at_most(evidence, "above", share, lambda p: p.task.spectral**2, tolerance=ROUNDING),
    ]


@claim(
    "equation-76",
    f"{D_3}, (73) to (76)",
    "L_k averages ||Z a - z_k||^2 + ||noise||^2 over the noise: the mixed term has mean zero.",
    assumes=(),
    on=POINTS,
    sharpened="the mixed term has the size of the first",
)
def equation_76(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """The noise of each label is symmetric; averaged over it and its negative."""

    def with_sign(point: Point, sign: float) -> float:
        task, a = point.task, point.here.combined[:, -1]
        noise = sign * np.sin(np.arange(task.m * task.K)).reshape(task.m, task.K)
        away = (task.Z + noise[:, : task.N]) @ a - task.representations[:, -1] - noise[:, -1]
        return float(np.sum(away**2))

    def split(point: Point) -> float:
        task, a = point.task, point.here.combined[:, -1]
        noise = np.sin(np.arange(task.m * task.K)).reshape(task.m, task.K)
        signal = np.sum((task.Z @ a - task.representations[:, -1]) ** 2)
        mixed = signal if sharpened else 0.0
        return float(signal + mixed + np.sum((noise[:, : task.N] @ a - noise[:, -1]) ** 2))

    queries = evidence.select([i for i, p in enumerate(evidence) if p.task.N < p.task.K])
    return [
        same(
            queries,
            "L_k",
            lambda p: (with_sign(p, 1.0) + with_sign(p, -1.0)) / 2 / split(p),
            lambda _: 1.0,
            conditioned,
        )
    ]


def _noise_term(point: Point) -> np.ndarray:
    """E ||eps^P a_k - eps_k||^2 for every k: eps_j enters with the coefficient a_jk - 1{j = k}."""
    task = point.task
    enters = -np.eye(task.K)
    enters[: task.N] += point.here.combined
    return task.m * task.tau * np.sum(enters**2, axis=0)


def _stated_noise(point: Point, variance: float) -> np.ndarray:
    task, a = point.task, point.here.combined
    own = np.zeros(task.K)
    own[: task.N] = np.diag(a[:, : task.N])
    return task.m * variance * (np.sum(a**2, axis=0) + 1 - 2 * own)


@claim(
    "equation-77",
    f"{D_3}, (77)",
    "E ||eps^P a_k - eps_k||^2 = m tau (||a_k||^2 + 1) - 2 m tau a_kk for k <= N, with noise of "
    "variance tau as in (1).",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="without the last term",
)
def equation_77(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def stated(point: Point) -> np.ndarray:
        found = _stated_noise(point, point.task.tau)
        if sharpened:
            own = np.zeros(point.task.K)
            own[: point.task.N] = np.diag(point.here.combined[:, : point.task.N])
            found = found + 2 * point.task.ridge * own
        return found / _noise_term(point)

    return [same(evidence, "noise", stated, lambda p: np.ones(p.task.K), conditioned)]


@claim(
    "equation-77/variance",
    f"{D_3}, the sentence after (77)",
    "The same with noise of variance tau^2, as the sentence says.",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="of variance tau^3",
)
def equation_77_variance(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """m tau stands in the formula; noise of variance tau^2 would put m tau^2 there."""
    power = 3 if sharpened else 2
    noisy = evidence.select([i for i, p in enumerate(evidence) if p.task.tau != 1])

    def averaged(point: Point) -> np.ndarray:
        return _noise_term(point) * point.task.tau ** (power - 1)

    return [
        same(
            noisy,
            "noise",
            lambda p: averaged(p) / _stated_noise(p, p.task.tau),
            lambda p: np.ones(p.task.K),
            conditioned,
        )
    ]


def _per_token(point: Point, constant: Callable[[Point, int], float]) -> np.ndarray:
    """The closed form of L_k with a constant, over L_k itself."""
    task, a = point.task, point.here.combined
    signal = np.sum((task.Z @ a - task.representations) ** 2, axis=0)
    exact = (signal + _noise_term(point)) / 2
    closed = np.sum(point.here.weighted**2, axis=0) / 2
    return (closed + np.array([constant(point, k) for k in range(task.K)]) / 2) / exact


def _constant(point: Point, k: int, own: float) -> float:
    task = point.task
    pulled = task.Z.T @ task.representations[:, k] + task.ridge * np.eye(task.N, task.K)[:, k]
    square = np.sum(task.representations[:, k] ** 2)
    return float(square + own - pulled @ np.linalg.solve(task.gram, pulled))


@claim(
    "equation-78",
    f"{D_3}, (78)",
    "For an example k, L_k = ||Z-bar (a_k - A_k)||^2 / 2 + c_k / 2, and c_k is zero.",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="c_k is m tau",
)
def equation_78(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def constant(point: Point, k: int) -> float:
        return point.task.ridge if sharpened else _constant(point, k, point.task.ridge)

    return [
        same(
            evidence,
            "L_k",
            lambda p: _per_token(p, constant)[: p.task.N],
            lambda p: np.ones(p.task.N),
            conditioned,
        ),
        same(
            evidence,
            "c_k",
            lambda p: [constant(p, k) / (2 * p.task.K * _size(p)) for k in range(p.task.N)],
            lambda p: np.zeros(p.task.N),
            conditioned,
        ),
    ]


def _queries(
    evidence: Cases[Point], own: Callable[[Point], float], sharpened: bool
) -> Sequence[Judgement]:
    def constant(point: Point, k: int) -> float:
        return (2.0 if sharpened else 1.0) * _constant(point, k, own(point))

    asked = evidence.select([i for i, p in enumerate(evidence) if p.task.N < p.task.K])
    return [
        same(
            asked,
            "L_k",
            lambda p: _per_token(p, constant)[p.task.N :],
            lambda p: np.ones(p.task.K - p.task.N),
            conditioned,
        )
    ]


@claim(
    "equation-79",
    f"{D_3}, (79)",
    "For a query k the constant is c'_k = ||z_k||^2 - z_k' Z (Z'Z + m tau I)^-1 Z' z_k.",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="it is twice that",
)
def equation_79(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    return _queries(evidence, lambda _: 0.0, sharpened)


@claim(
    "equation-79/repaired",
    f"{D_3}, (79)",
    "The same plus m tau, the noise in the query's own label.",
    assumes=(NOISE,),
    on=POINTS,
    sharpened="it is twice that",
)
def equation_79_repaired(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    return _queries(evidence, lambda p: p.task.ridge, sharpened)

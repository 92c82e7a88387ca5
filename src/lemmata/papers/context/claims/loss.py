"""Lemmas 3 to 5, and the derivation of the loss in Appendix D.3."""

import numpy as np

from lemmata.claims import Bench, Comparisons, Version, at_least, at_most, equal, statements
from lemmata.settings import Evidence

from ..counterexamples import at_zero, one_example_one_query
from ..experiments.points import POINTS, Point, pair_points
from ..setting import NOISE
from ._rounding import of_inverse
from .setup import cubature_loss

claim = statements("context")

D_3 = "Appendix D.3"


@claim(
    "lemma-3",
    "Appendix A.2, Lemma 3, (31)",
    "||x_1 + ... + x_l||^2 <= l (||x_1||^2 + ... + ||x_l||^2).",
    on=POINTS,
)
def lemma_3(evidence: Evidence[Point]) -> Comparisons:
    """For the columns of B_k, and for l equal vectors, where both sides are the same."""

    def columns(point: Point) -> np.ndarray:
        return point.here.B[:, :, 0]

    def equal_vectors(point: Point) -> np.ndarray:
        return np.repeat(columns(point)[:, :1], point.H + 1, axis=1)

    return [
        at_most(
            evidence.each(lambda p, x=x: np.sum(x(p).sum(axis=1) ** 2)),
            evidence.each(lambda p, x=x: x(p).shape[1] * np.sum(x(p) ** 2)),
            part=name,
        )
        for name, x in (("columns of B", columns), ("equal vectors", equal_vectors))
    ]


@claim(
    "lemma-4",
    "Appendix A.2, Lemma 4, (24), (25), (32)",
    "Averaged over fresh noise, the squared error of lambda on a prompt is that without noise plus "
    "tau ||lambda||^2 / 2.",
    on=POINTS,
)
def lemma_4(evidence: Evidence[Point]) -> Comparisons:
    """The noise at the 2m points +-sqrt(m tau) e_i, whose second moments are those of (1)."""

    def given(point: Point) -> tuple[np.ndarray, np.ndarray]:
        """Some labels and some coefficients."""
        task = point.task
        return np.cos(np.arange(1, task.N + 1)), np.sin(np.arange(1, task.m + 1))

    def averaged(point: Point) -> float:
        task, (labels, coefficients) = point.task, given(point)
        noise = np.sqrt(task.m * task.tau) * np.vstack([np.eye(task.m), -np.eye(task.m)])
        away = labels - coefficients @ (task.Z + noise[:, :, None])
        return float(np.mean(np.sum(away**2, axis=1)) / (2 * task.N))

    def closed(point: Point) -> float:
        task, (labels, coefficients) = point.task, given(point)
        fitted = np.sum((labels - coefficients @ task.Z) ** 2) / (2 * task.N)
        return fitted + 0.5 * task.tau * np.sum(coefficients**2)

    return equal(evidence.each(averaged), evidence.each(closed), part="error")


def _constants(point: Point, *, repaired: bool) -> np.ndarray:
    """c_k of (78) and c'_k of (79), token by token; repaired, the queries have their m tau."""
    task = point.task
    pulled = task.Z.T @ task.representations + task.ridge * np.eye(task.N, task.K)
    own = np.where((np.arange(task.K) < task.N) | repaired, task.ridge, 0.0)
    squares = np.sum(task.representations**2, axis=0)
    return squares + own - np.sum(pulled * np.linalg.solve(task.gram, pulled), axis=0)


def _printed_minimum(point: Point, *, repaired: bool = False) -> float:
    """The constant below (36), or as it has to be."""
    return float(_constants(point, repaired=repaired).sum() / (2 * point.task.K))


def _minimum_size(point: Point) -> float:
    """Of the terms that cancel in L*."""
    squares = float(np.sum(point.task.representations**2))
    return squares / (2 * point.task.K) + point.task.ridge


def _noise_of_a_query(bench: Bench) -> Comparisons:
    plan = one_example_one_query()
    weights = at_zero(plan, 0.0)
    return lemma_5(pair_points([plan], [(weights, weights)], [1.0]), repaired=False)


@claim(
    "lemma-5",
    "Appendix B, Lemma 5, (36)",
    "L = sum_k ||Z-bar delta_k||^2 / (2K) + L* with the constant L* printed below (36).",
    hypotheses=(NOISE,),
    on=POINTS,
    kind="constant",
    counterexample=_noise_of_a_query,
    repaired=False,
    versions=[
        Version(
            "repaired",
            statement="The same with m tau for every query, whose labels have noise of their own.",
            parameters={"repaired": True},
        )
    ],
)
def lemma_5(evidence: Evidence[Point], repaired: bool) -> Comparisons:
    """The closed form against an exact sum over coefficients."""

    def closed(point: Point) -> float:
        gap = np.sum(point.here.weighted**2) / (2 * point.task.K)
        return gap + _printed_minimum(point, repaired=repaired)

    return equal(
        evidence.each(cubature_loss),
        evidence.each(closed),
        rounding=of_inverse(evidence),
        part="loss",
        cases=evidence.cases,
    )


@claim(
    "own/missing-noise",
    "Lemma 5",
    "The printed L* is too small by exactly (K - N) m tau / (2K), and its first sum is zero.",
    hypotheses=(NOISE,),
    on=POINTS,
)
def own_missing_noise(evidence: Evidence[Point]) -> Comparisons:
    allowed = {"rounding": of_inverse(evidence), "size": evidence.each(_minimum_size)}

    def first_sum(point: Point) -> float:
        return _constants(point, repaired=False)[: point.task.N].sum() / (2 * point.task.K)

    return [
        equal(
            evidence.each(lambda p: p.task.minimum - _printed_minimum(p)),
            evidence.each(lambda p: (p.task.K - p.task.N) * p.task.ridge / (2 * p.task.K)),
            part="difference",
            **allowed,
        ),
        equal(evidence.each(first_sum), 0.0, part="first sum", **allowed),
    ]


@claim(
    "equation-37",
    "Appendix B, (37), (38)",
    "The gap goes to zero if and only if A-hat goes to A: it lies between m tau / (2K) and "
    "||Z-bar||^2 / (2K) times ||A-hat - A||_F^2.",
    hypotheses=(NOISE,),
    on=POINTS,
)
def equation_37(evidence: Evidence[Point]) -> Comparisons:
    gap = evidence.each(lambda p: p.here.gap)
    away = evidence.each(lambda p: np.sum(p.here.delta**2) / (2 * p.task.K))
    return [
        at_least(gap, evidence.each(lambda p: p.task.ridge) * away, baseline=0.0, part="below"),
        at_most(gap, evidence.each(lambda p: p.task.spectral**2) * away, part="above"),
    ]


@claim(
    "equation-76",
    f"{D_3}, (73) to (76)",
    "L_k averages ||Z a - z_k||^2 + ||noise||^2 over the noise: the mixed term has mean zero.",
    on=POINTS,
)
def equation_76(evidence: Evidence[Point]) -> Comparisons:
    """The noise of each label is symmetric; averaged over it and its negative."""

    def parts(point: Point) -> tuple[np.ndarray, np.ndarray]:
        task, a = point.task, point.here.combined[:, -1]
        noise = np.sin(np.arange(task.m * task.K)).reshape(task.m, task.K)
        return task.Z @ a - task.representations[:, -1], noise[:, : task.N] @ a - noise[:, -1]

    def averaged(point: Point) -> float:
        signal, noise = parts(point)
        return float(np.sum((signal + noise) ** 2) + np.sum((signal - noise) ** 2)) / 2

    def split(point: Point) -> float:
        return float(sum(np.sum(part**2) for part in parts(point)))

    queries = evidence.where(_has_queries)
    return equal(queries.each(averaged), queries.each(split), part="L_k", cases=queries.cases)


def _has_queries(point: Point) -> bool:
    return point.task.N < point.task.K


def _noise_term(point: Point) -> np.ndarray:
    """E ||eps^P a_k - eps_k||^2 for every k: eps_j enters with the coefficient a_jk - 1{j = k}."""
    task = point.task
    enters = -np.eye(task.K)
    enters[: task.N] += point.here.combined
    return task.m * task.tau * np.sum(enters**2, axis=0)


@claim(
    "equation-77",
    f"{D_3}, (77)",
    "E ||eps^P a_k - eps_k||^2 = m tau (||a_k||^2 + 1) - 2 m tau a_kk for k <= N, with noise of "
    "variance tau as in (1).",
    hypotheses=(NOISE,),
    on=POINTS,
    power=1,
    versions=[
        Version(
            "variance",
            where=f"{D_3}, the sentence after (77)",
            statement="The same with noise of variance tau^2, as the sentence says.",
            kind="misprint",
            parameters={"power": 2},
        )
    ],
)
def equation_77(evidence: Evidence[Point], power: int) -> Comparisons:
    """m tau stands in the formula; noise of variance tau^2 would put m tau^2 there."""
    points = evidence.where(lambda p: power == 1 or p.task.tau != 1)

    def terms(point: Point) -> tuple[np.ndarray, np.ndarray]:
        task, a = point.task, point.here.combined
        own = np.zeros(task.K)
        own[: task.N] = np.diag(a[:, : task.N])
        return task.ridge * (np.sum(a**2, axis=0) + 1), 2 * task.ridge * own

    return equal(
        points.each(lambda p: _noise_term(p) * p.task.tau ** (power - 1)),
        points.each(lambda p: np.subtract(*terms(p))),
        size=points.each(lambda p: np.abs(terms(p)).sum(axis=0)),
        part="noise",
        cases=points.cases,
    )


def _token_losses(point: Point) -> np.ndarray:
    """L_k, from its signal and its noise."""
    away = point.task.Z @ point.here.combined - point.task.representations
    return (np.sum(away**2, axis=0) + _noise_term(point)) / 2


def _closed_losses(point: Point, *, repaired: bool) -> np.ndarray:
    """L_k by (78) and (79)."""
    gaps = np.sum(point.here.weighted**2, axis=0)
    return (gaps + _constants(point, repaired=repaired)) / 2


@claim(
    "equation-78",
    f"{D_3}, (78)",
    "For an example k, L_k = ||Z-bar (a_k - A_k)||^2 / 2 + c_k / 2, and c_k is zero.",
    hypotheses=(NOISE,),
    on=POINTS,
)
def equation_78(evidence: Evidence[Point]) -> Comparisons:
    return [
        equal(
            evidence.each(lambda p: _token_losses(p)[: p.task.N]),
            evidence.each(lambda p: _closed_losses(p, repaired=False)[: p.task.N]),
            rounding=of_inverse(evidence),
            part="L_k",
        ),
        equal(
            evidence.each(lambda p: _constants(p, repaired=False)[: p.task.N]),
            0.0,
            rounding=of_inverse(evidence),
            size=evidence.each(lambda p: 2 * p.task.K * _minimum_size(p)),
            part="c_k",
        ),
    ]


@claim(
    "equation-79",
    f"{D_3}, (79)",
    "For a query k the constant is c'_k = ||z_k||^2 - z_k' Z (Z'Z + m tau I)^-1 Z' z_k.",
    hypotheses=(NOISE,),
    on=POINTS,
    kind="constant",
    repaired=False,
    versions=[
        Version(
            "repaired",
            statement="The same plus m tau, the noise in the query's own label.",
            parameters={"repaired": True},
        )
    ],
)
def equation_79(evidence: Evidence[Point], repaired: bool) -> Comparisons:
    queries = evidence.where(_has_queries)
    return equal(
        queries.each(lambda p: _token_losses(p)[p.task.N :]),
        queries.each(lambda p: _closed_losses(p, repaired=repaired)[p.task.N :]),
        rounding=of_inverse(queries),
        part="L_k",
        cases=queries.cases,
    )

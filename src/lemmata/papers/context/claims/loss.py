"""Lemmas 3 to 5, and the derivation of the loss in Appendix D.3."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lemmata.claims import (
    Bench,
    Comparisons,
    Silence,
    Version,
    at_least,
    at_most,
    case_by_case,
    equal,
    repaired,
    statements,
)

from ..counterexamples import at_zero, one_example_one_query
from ..experiments.points import POINTS, Point, pair_points
from ..setting import NOISE, Task
from ._rounding import of_inverse
from .setup import label_size, token_losses

claim = statements("context", on=POINTS)
noisy = partial(claim, hypotheses=(NOISE,))

D_3 = "Appendix D.3"


@claim(
    "lemma-3",
    "Appendix A.2, Lemma 3, (31)",
    "||x_1 + ... + x_l||^2 <= l (||x_1||^2 + ... + ||x_l||^2).",
)
@case_by_case
def lemma_3(point: Point) -> Comparisons:
    """For the columns of B_k, and for l equal vectors, where both sides are the same."""
    columns = point.here.B[:, :, 0]
    equal_vectors = np.repeat(columns[:, :1], point.H + 1, axis=1)
    return [
        at_most(np.sum(x.sum(axis=1) ** 2), x.shape[1] * np.sum(x**2), part=part)
        for part, x in (("columns of B", columns), ("equal vectors", equal_vectors))
    ]


@claim(
    "lemma-4",
    "Appendix A.2, Lemma 4, (24), (25), (32)",
    "Averaged over fresh noise, the squared error of lambda on a prompt is that without noise plus "
    "tau ||lambda||^2 / 2.",
)
@case_by_case
def lemma_4(point: Point) -> Comparisons:
    """The noise at the 2m points +-sqrt(m tau) e_i, whose second moments are those of (1)."""
    task = point.task
    labels, coefficients = np.cos(np.arange(1, task.N + 1)), np.sin(np.arange(1, task.m + 1))
    noise = np.sqrt(task.m * task.tau) * np.vstack([np.eye(task.m), -np.eye(task.m)])
    away = labels - coefficients @ (task.Z + noise[:, :, None])
    averaged = np.mean(np.sum(away**2, axis=1)) / (2 * task.N)
    fitted = np.sum((labels - coefficients @ task.Z) ** 2) / (2 * task.N)
    return equal(averaged, fitted + 0.5 * task.tau * np.sum(coefficients**2), part="error")


def _constants(task: Task, *, complete: bool) -> np.ndarray:
    """c_k of (78) and c'_k of (79), token by token; complete, the queries have their m tau."""
    pulled = task.Z.T @ task.representations + task.ridge * np.eye(task.N, task.K)
    own = np.where((np.arange(task.K) < task.N) | complete, task.ridge, 0.0)
    squares = np.sum(task.representations**2, axis=0)
    return squares + own - np.sum(pulled * np.linalg.solve(task.gram, pulled), axis=0)


def _minimum_size(task: Task) -> float:
    """Of the terms that cancel in L*."""
    return float(np.sum(task.representations**2)) / (2 * task.K) + task.ridge


def _noise_of_a_query(bench: Bench) -> Comparisons:
    plan = one_example_one_query()
    weights = at_zero(plan, 0.0)
    return lemma_5(pair_points([plan], [(weights, weights)], [1.0]), complete=False)


@noisy(
    "lemma-5",
    "Appendix B, Lemma 5, (36)",
    "L = sum_k ||Z-bar delta_k||^2 / (2K) + L* with the constant L* printed below (36).",
    kind="constant",
    counterexample=_noise_of_a_query,
    complete=False,
    versions=[
        repaired(
            "The same with m tau for every query, whose labels have noise of their own.",
            complete=True,
        )
    ],
)
@case_by_case
def lemma_5(point: Point, complete: bool) -> Comparisons:
    """The closed form against an explicit sum over labels."""
    task = point.task
    closed = _closed_losses(point, complete=complete).mean()
    summed = token_losses(task, point.here.combined).mean()
    return equal(summed, closed, size=_loss_size(point).mean(), part="loss")


def _loss_size(point: Point) -> np.ndarray:
    """Of what is added and subtracted in L_k.

    An error in A_k, which the condition of Z-bar multiplies, counts times Z-bar delta_k.
    """
    task = point.task
    fixed = (task.spectral * (1 + np.sum(np.abs(task.target), axis=0))) ** 2
    longest = float(np.linalg.norm(task.representations, axis=0).max())
    crossed = task.spectral / task.ridge**0.5 * np.linalg.norm(point.here.weighted, axis=0)
    return label_size(point) + fixed + crossed * longest


@noisy(
    "own/missing-noise",
    "Lemma 5",
    "The printed L* is too small by exactly (K - N) m tau / (2K), and its first sum is zero.",
)
@case_by_case
def own_missing_noise(point: Point) -> Comparisons:
    task, constants = point.task, _constants(point.task, complete=False)
    difference = task.minimum - constants.sum() / (2 * task.K)
    missing = (task.K - task.N) * task.ridge / (2 * task.K)
    first_sum = constants[: task.N].sum() / (2 * task.K)
    allowed: dict[str, Any] = {"rounding": of_inverse(task), "size": _minimum_size(task)}
    return [
        equal(difference, missing, part="difference", **allowed),
        equal(first_sum, 0.0, part="first sum", **allowed),
    ]


@noisy(
    "lemma-7/loss",
    "Appendix D.5, first display",
    "l = sum_k ||Z-bar delta_k||^2 / (2K).",
    kind="misprint",
    least=0.0,
    versions=[repaired("The same with L* added, as in (36): slopes do not change.", least=1.0)],
)
@case_by_case
def lemma_7_loss(point: Point, least: float) -> Comparisons:
    """Against an explicit sum over labels."""
    summed = token_losses(point.task, point.here.combined).mean()
    closed = point.here.gap + least * point.task.minimum
    return equal(summed, closed, size=label_size(point).mean(), part="loss")


@noisy(
    "equation-37",
    "Appendix B, (37), (38)",
    "The gap goes to zero if and only if A-hat goes to A: it lies between m tau / (2K) and "
    "||Z-bar||^2 / (2K) times ||A-hat - A||_F^2.",
)
@case_by_case
def equation_37(point: Point) -> Comparisons:
    task, gap = point.task, point.here.gap
    away = np.sum(point.here.delta**2) / (2 * task.K)
    return [
        at_least(gap, task.ridge * away, baseline=0.0, part="below"),
        at_most(gap, task.spectral**2 * away, part="above"),
    ]


@claim(
    "equation-76",
    f"{D_3}, (73) to (76)",
    "2 L_k is ||Z a_k - z_k||^2 plus what the noise adds on its own: the mixed term has mean zero.",
)
@case_by_case
def equation_76(point: Point) -> Comparisons:
    """Explicit sums over labels, and over labels that are noise alone."""
    task, a = point.task, point.here.combined
    signal = np.sum((task.Z @ a - task.representations) ** 2, axis=0)
    noise = 2 * token_losses(task, a, signal=0.0)
    return equal(2 * token_losses(task, a), signal + noise, size=label_size(point), part="L_k")


@noisy(
    "equation-77",
    f"{D_3}, (77)",
    "E ||eps^P a_k - eps_k||^2 = m tau (||a_k||^2 + 1) - 2 m tau a_kk for k <= N, with noise of "
    "variance tau as in (1).",
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
@case_by_case
def equation_77(point: Point, power: int) -> Comparisons:
    """m tau stands in the formula; noise of variance tau^2 would put m tau^2 there."""
    task, a = point.task, point.here.combined
    if power == 2 and task.tau == 1:
        return Silence("tau and tau^2 are the same", applies=False, part="noise")
    own = np.zeros(task.K)
    own[: task.N] = np.diag(a[:, : task.N])
    drawn = replace(task, tau=task.tau**power)
    return equal(
        2 * token_losses(drawn, a, signal=0.0),
        task.ridge * (np.sum(a**2, axis=0) + 1) - 2 * task.ridge * own,
        size=task.K * task.ridge * (1 + np.sum(np.abs(a), axis=0)) ** 2,
        part="noise",
    )


def _closed_losses(point: Point, *, complete: bool) -> np.ndarray:
    """L_k by (78) and (79)."""
    gaps = np.sum(point.here.weighted**2, axis=0)
    return (gaps + _constants(point.task, complete=complete)) / 2


@noisy(
    "equation-78",
    f"{D_3}, (78)",
    "For an example k, L_k = ||Z-bar (a_k - A_k)||^2 / 2 + c_k / 2, and c_k is zero.",
)
@case_by_case
def equation_78(point: Point) -> Comparisons:
    task, rounding, examples = point.task, of_inverse(point.task), slice(point.task.N)
    closed = _closed_losses(point, complete=False)
    constants = _constants(task, complete=False)
    size = 2 * task.K * _minimum_size(task)
    return [
        equal(
            token_losses(task, point.here.combined)[examples],
            closed[examples],
            rounding=rounding,
            size=label_size(point)[examples],
            part="L_k",
        ),
        equal(constants[examples], 0.0, rounding=rounding, size=size, part="c_k"),
    ]


@noisy(
    "equation-79",
    f"{D_3}, (79)",
    "For a query k the constant is c'_k = ||z_k||^2 - z_k' Z (Z'Z + m tau I)^-1 Z' z_k.",
    kind="constant",
    complete=False,
    versions=[repaired("The same plus m tau, the noise in the query's own label.", complete=True)],
)
@case_by_case
def equation_79(point: Point, complete: bool) -> Comparisons:
    task, queries = point.task, slice(point.task.N, None)
    if task.N == task.K:
        return Silence("every token has its label in the prompt", applies=False, part="L_k")
    closed = _closed_losses(point, complete=complete)[queries]
    summed = token_losses(task, point.here.combined)[queries]
    return equal(summed, closed, size=_loss_size(point)[queries], part="L_k")

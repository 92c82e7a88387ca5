"""Section 2: labels, the transformer in its two forms, the loss, and the assumptions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata.claims import Bench, Comparisons, Identity, Silence, equal, statements
from lemmata.settings import Evidence

from ..counterexamples import repeated_query
from ..experiments.points import POINTS, Point
from ..experiments.prompts import PROMPTS, Prompts
from ..setting import (
    DISTINCT_ROW,
    NOISE,
    Law,
    Task,
    as_written,
    correlated_law,
    embed,
    from_heads,
    loss_under,
    shifted_law,
    standard_law,
)
from ._averages import mean_is

claim = statements("context")

MOST_NUMBERS = 50_000_000
"""H K^2, the size of the output matrix W^O."""


@claim(
    "equation-1",
    "Section 2, (1)",
    "Given lambda, labels have the moments of independent normal ones with mean lambda' z_k and "
    "variance tau ||lambda||^2.",
    hypotheses=(NOISE,),
    on=PROMPTS,
)
def equation_1(evidence: Evidence[Prompts]) -> Comparisons:
    """Moments up to the fourth, and covariances of neighbours, with noise drawn entry by entry."""

    def away(case: Prompts) -> np.ndarray:
        return case.literal_labels - case.coefficients @ case.task.representations

    def variance(case: Prompts) -> Float[np.ndarray, "K"]:
        return np.full(case.task.K, case.task.tau * float(np.sum(case.coefficients**2)))

    return [
        mean_is(
            "means",
            evidence,
            away,
            lambda case: np.zeros(case.task.K),
            size=lambda case: np.sqrt(variance(case)),
        ),
        mean_is("variances", evidence, lambda case: away(case) ** 2, variance),
        mean_is(
            "fourth moments",
            evidence,
            lambda case: away(case) ** 4,
            lambda case: 3 * variance(case) ** 2,
        ),
        mean_is(
            "covariances",
            evidence,
            lambda case: away(case)[:, :-1] * away(case)[:, 1:],
            lambda case: np.zeros(case.task.K - 1),
            size=lambda case: variance(case)[1:],
        ),
    ]


@claim(
    "equation-8",
    "Section 2, (2) to (8)",
    "The diagonal of W^O (head_1; ...; head_H) is y' sum_h w_{h,k} softmax(V' Q_h v_k).",
    on=POINTS,
)
def equation_8(evidence: Evidence[Point]) -> Comparisons:
    """Explicit key, query, value and output matrices against A-hat."""

    def labels(point: Point) -> np.ndarray:
        return np.cos(np.arange(1, point.task.N + 1))

    def written(point: Point) -> np.ndarray:
        embedding = embed(point.task, labels(point))
        transformer = as_written(from_heads(point.here.Q, point.here.w))
        return np.diag(transformer(embedding[:, : point.task.N], embedding))

    small = evidence.where(lambda point: point.H * point.task.K**2 <= MOST_NUMBERS)
    return equal(
        small.each(written),
        small.each(lambda p: labels(p) @ p.here.combined),
        size=small.each(lambda p: p.H * max(1.0, float(np.abs(p.here.w).max()))),
        part="predictions",
        cases=small.cases,
    )


def cubature_loss(point: Point) -> float:
    """(9) by a sum over the 2m vectors +-sqrt(m) e_i, whose second moments are the identity.

    The loss given lambda is quadratic in lambda, so that the sum is exact; the noise given lambda
    has independent entries of variance tau ||lambda||^2.
    """
    task, combined = point.task, point.here.combined
    copied = combined.copy()
    copied[:, : task.N] -= np.eye(task.N)
    noise = np.sum(copied**2, axis=0) + (np.arange(task.K) >= task.N)
    away = task.Z @ combined - task.representations
    total = 0.0
    for i in range(task.m):
        signal = np.sqrt(task.m) * away[i]
        total += np.sum(signal**2 + task.tau * task.m * noise) / (2 * task.K)
    return float(total / task.m)


@claim(
    "equation-9",
    "Section 2, (9)",
    "The loss has a closed form: ||Z-bar (A-hat - A)||^2 / (2K) and a constant.",
    on=POINTS,
)
def equation_9(evidence: Evidence[Point]) -> Comparisons:
    """Against an exact sum over coefficients."""
    return equal(
        evidence.each(cubature_loss),
        evidence.each(lambda p: p.here.gap + p.task.minimum),
        part="loss",
    )


def _loss_is(
    part: str,
    evidence: Evidence[Prompts],
    law: Callable[[int], Law],
    stated: Callable[[Prompts], float],
) -> Identity:
    """The average loss over prompts is what is stated."""
    return mean_is(part, evidence, lambda case: case.losses(law(case.task.m)), stated)


def _closed_loss(case: Prompts) -> float:
    return float(case.task.loss(case.combined))


@claim(
    "assumption-1",
    "Section 3.1, Assumption 1",
    "Of the law of lambda only E lambda lambda' = I matters: normal entries and fair signs have "
    "the same loss.",
    on=PROMPTS,
)
def assumption_1(evidence: Evidence[Prompts]) -> Comparisons:
    """Both against the closed form."""
    return [
        _loss_is("normal entries", evidence, standard_law, _closed_loss),
        _loss_is("fair signs", evidence, lambda m: standard_law(m, "rademacher"), _closed_loss),
    ]


def _correlated(m: int) -> Law:
    return correlated_law(m, 0.6)


@claim(
    "assumption-1/correlated",
    "Section 3.1, Assumption 1",
    "Lemma 5 would also hold for coefficients with correlation 0.6.",
    on=PROMPTS,
    kind="hypothesis",
)
def assumption_1_correlated(evidence: Evidence[Prompts]) -> Comparisons:
    """It does not: Assumption 1 is needed."""
    several = evidence.where(lambda case: case.task.m > 1)
    if not len(several):
        return Silence("one basic task has nothing to correlate with", applies=False, part="loss")
    return _loss_is("loss", several, _correlated, _closed_loss)


@claim(
    "own/any-law",
    "Assumption 1",
    "For any law the loss is given by M = E lambda lambda': Z-bar^2 becomes Z'MZ + tau tr(M) I.",
    on=PROMPTS,
)
def own_any_law(evidence: Evidence[Prompts]) -> Comparisons:
    """Under the law out of domain, and under a correlated one."""
    return [
        _loss_is(
            part,
            evidence,
            law,
            lambda case, law=law: loss_under(case.task, law(case.task.m), case.combined),
        )
        for part, law in (("N(1, 4 I)", shifted_law), ("correlated", _correlated))
    ]


def _with_a_repeated_query(bench: Bench) -> Comparisons:
    plan = repeated_query()
    return _distinct([plan.task], [plan])


@claim(
    "assumption-3",
    "Section 3.1, remark after Assumption 3",
    "Assumption 3 implies that all tokens of the dictionary are distinct.",
    hypotheses=(DISTINCT_ROW,),
    on=POINTS,
    kind="misprint",
    counterexample=_with_a_repeated_query,
)
def assumption_3(evidence: Evidence[Point]) -> Comparisons:
    """It looks at the first N tokens only."""
    return _distinct([point.task for point in evidence], evidence.cases)


def _distinct(tasks: Sequence[Task], cases: Sequence[Any]) -> Identity:
    return equal(
        [len(np.unique(task.tokens, axis=1).T) for task in tasks],
        [task.K for task in tasks],
        part="number of distinct tokens",
        cases=cases,
    )


@claim(
    "equation-12",
    "Section 3.1, (12)",
    "Z-bar^2 = Z'Z + m tau I, and f_max^2 is the largest ||z_i||^2 + m tau.",
    on=POINTS,
)
def equation_12(evidence: Evidence[Point]) -> Comparisons:
    """Both as columns of Z-bar have them."""
    return [
        equal(
            evidence.each(lambda p: p.task.root @ p.task.root),
            evidence.each(lambda p: p.task.gram),
            size=evidence.each(lambda p: p.task.spectral**2),
            part="square of Z-bar",
        ),
        equal(
            evidence.each(lambda p: np.linalg.norm(p.task.root, axis=0).max()),
            evidence.each(lambda p: p.task.largest_column),
            part="f_max",
        ),
    ]

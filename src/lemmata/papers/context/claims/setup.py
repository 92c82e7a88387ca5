"""Section 2: labels, the transformer in its two forms, the loss, and the assumptions."""

from functools import partial

import numpy as np

from lemmata.claims import Bench, Comparisons, Identity, Silence, case_by_case, equal, statements
from lemmata.settings import Evidence

from ..counterexamples import repeated_query
from ..experiments.points import POINTS, Point
from ..experiments.prompts import PROMPTS, Prompts
from ..setting import (
    DISTINCT_ROW,
    NOISE,
    Law,
    Plan,
    as_written,
    correlated_law,
    embed,
    from_heads,
    loss_under,
    shifted_law,
    standard_law,
)
from ._averages import mean_is

claim = partial(statements("context"), on=POINTS)

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
@case_by_case
def equation_1(case: Prompts) -> Comparisons:
    """Moments up to the fourth, and covariances of neighbours, with noise drawn entry by entry."""
    away = case.literal_labels - case.coefficients @ case.task.representations
    variance = np.full(case.task.K, case.task.tau * float(np.sum(case.coefficients**2)))
    none = np.zeros(case.task.K)
    return [
        mean_is("means", away, none, size=np.sqrt(variance)),
        mean_is("variances", away**2, variance),
        mean_is("fourth moments", away**4, 3 * variance**2),
        mean_is("covariances", away[:, :-1] * away[:, 1:], none[1:], size=variance[1:]),
    ]


@claim(
    "equation-8",
    "Section 2, (2) to (8)",
    "The diagonal of W^O (head_1; ...; head_H) is y' sum_h w_{h,k} softmax(V' Q_h v_k).",
)
@case_by_case
def equation_8(point: Point) -> Comparisons:
    """Explicit key, query, value and output matrices against A-hat."""
    task, at = point.task, point.here
    if point.H * task.K**2 > MOST_NUMBERS:
        return Silence("the output matrix is too large", applies=False, part="predictions")
    labels = np.cos(np.arange(1, task.N + 1))
    embedding = embed(task, labels)
    transformer = as_written(from_heads(at.Q, at.w))
    return equal(
        np.diag(transformer(embedding[:, : task.N], embedding)),
        labels @ at.combined,
        size=point.H * max(1.0, float(np.abs(at.w).max())),
        part="predictions",
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
)
@case_by_case
def equation_9(point: Point) -> Comparisons:
    """Against an exact sum over coefficients."""
    return equal(cubature_loss(point), point.here.gap + point.task.minimum, part="loss")


def _loss_is(part: str, case: Prompts, law: Law, stated: float | None = None) -> Identity:
    """The average loss over prompts is what is stated, or the closed form for Assumption 1."""
    closed = float(case.task.loss(case.combined)) if stated is None else stated
    return mean_is(part, case.losses(law), closed)


@claim(
    "assumption-1",
    "Section 3.1, Assumption 1",
    "Of the law of lambda only E lambda lambda' = I matters: normal entries and fair signs have "
    "the same loss.",
    on=PROMPTS,
)
@case_by_case
def assumption_1(case: Prompts) -> Comparisons:
    """Both against the closed form."""
    return [
        _loss_is("normal entries", case, standard_law(case.task.m)),
        _loss_is("fair signs", case, standard_law(case.task.m, "rademacher")),
    ]


_correlated = partial(correlated_law, correlation=0.6)


@claim(
    "assumption-1/correlated",
    "Section 3.1, Assumption 1",
    "Lemma 5 would also hold for coefficients with correlation 0.6.",
    on=PROMPTS,
    kind="hypothesis",
)
@case_by_case
def assumption_1_correlated(case: Prompts) -> Comparisons:
    """It does not: Assumption 1 is needed."""
    if case.task.m == 1:
        return Silence("one basic task has nothing to correlate with", applies=False, part="loss")
    return _loss_is("loss", case, _correlated(case.task.m))


@claim(
    "own/any-law",
    "Assumption 1",
    "For any law the loss is given by M = E lambda lambda': Z-bar^2 becomes Z'MZ + tau tr(M) I.",
    on=PROMPTS,
)
@case_by_case
def own_any_law(case: Prompts) -> Comparisons:
    """Under the law out of domain, and under a correlated one."""
    laws = {"N(1, 4 I)": shifted_law(case.task.m), "correlated": _correlated(case.task.m)}
    return [
        _loss_is(part, case, law, loss_under(case.task, law, case.combined))
        for part, law in laws.items()
    ]


def _with_a_repeated_query(bench: Bench) -> Comparisons:
    return assumption_3(Evidence((repeated_query(),)))


@claim(
    "assumption-3",
    "Section 3.1, remark after Assumption 3",
    "Assumption 3 implies that all tokens of the dictionary are distinct.",
    hypotheses=(DISTINCT_ROW,),
    kind="misprint",
    counterexample=_with_a_repeated_query,
)
@case_by_case
def assumption_3(case: Point | Plan) -> Comparisons:
    """It looks at the first N tokens only."""
    distinct = np.unique(case.task.tokens, axis=1).shape[1]
    return equal(distinct, case.task.K, part="number of distinct tokens")


@claim(
    "equation-12",
    "Section 3.1, (12)",
    "Z-bar^2 = Z'Z + m tau I, and f_max^2 is the largest ||z_i||^2 + m tau.",
)
@case_by_case
def equation_12(point: Point) -> Comparisons:
    """Both as columns of Z-bar have them."""
    task = point.task
    largest = np.linalg.norm(task.root, axis=0).max()
    return [
        equal(task.root @ task.root, task.gram, size=task.spectral**2, part="square of Z-bar"),
        equal(largest, task.largest_column, part="f_max"),
    ]

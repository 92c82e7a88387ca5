"""Section 2: labels, the transformer in its two forms, the loss, and the assumptions."""

from collections.abc import Mapping

import numpy as np

from lemmata.claims import Comparisons, Silence, at_least, case_by_case, equal, statements

from ..experiments.plans import AS_THEY_ARE
from ..experiments.points import POINTS, Point
from ..setting import (
    DISTINCT_ROW,
    NOISE,
    UNIT,
    Law,
    Plan,
    Task,
    as_written,
    correlated_law,
    embed,
    from_heads,
    loss_under,
    shifted_law,
    standard_law,
)
from ._averages import NORMAL, SIGN, prompts_under, too_many, values_of

claim = statements("context", on=POINTS)

MOST_NUMBERS = 50_000_000
"""H K^2, the size of the output matrix W^O."""


@claim(
    "equation-1",
    "Section 2, (1)",
    "Given lambda, labels have the moments of independent normal ones with mean lambda' z_k and "
    "variance tau ||lambda||^2.",
    hypotheses=(NOISE,),
    on=AS_THEY_ARE,
)
@case_by_case
def equation_1(plan: Plan) -> Comparisons:
    """Moments up to the fourth, and the covariance of two labels, over all values of the noise.

    What y_k = lambda'(z_k + eps_k) has besides lambda' z_k is the same for every token.
    """
    m, tau = plan.task.m, plan.task.tau
    if (silence := too_many(plan.task)) is not None:
        return silence
    coefficients = np.sin(np.arange(1, m + 1))
    variance = tau * np.sum(coefficients**2)
    noise, chances = values_of(NORMAL, m)
    powers = np.arange(1, 5)
    moments = chances @ (np.sqrt(tau) * noise @ coefficients)[:, None] ** powers
    two, both = values_of(SIGN, 2 * m)
    covariance = tau * both @ ((two[:, :m] @ coefficients) * (two[:, m:] @ coefficients))
    stated, sizes = [0, variance, 0, 3 * variance**2], variance ** (powers / 2)
    return [
        equal(moments, stated, size=sizes, part="moments", places=powers),
        equal(covariance, 0.0, size=variance, part="covariance"),
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


def token_losses(task: Task, combined: np.ndarray, signal: float = 1.0) -> np.ndarray:
    """L_k inside (9) by an explicit sum over labels, without any closed form.

    The loss is quadratic in lambda and in the noise given lambda. So the average over lambda is one
    over the vectors sqrt(m) e_i, and that over the noise in the K labels one over +-sqrt(K) times
    its deviation at one label: all have the right second moments. With ``signal`` 0 labels are
    noise alone.
    """
    steps = np.sqrt(task.K * task.tau * task.m) * np.vstack([np.eye(task.K), -np.eye(task.K)])
    total = np.zeros(task.K)
    for row in np.sqrt(task.m) * signal * task.representations:
        labels = row + steps
        total += np.mean((labels[:, : task.N] @ combined - labels) ** 2, axis=0)
    return total / (2 * task.m)


def label_size(point: Point) -> np.ndarray:
    """Of the squares that are summed in L_k, for every k."""
    task = point.task
    largest = np.sum(task.representations**2, axis=0).max() + task.K * task.ridge
    return largest * (1 + np.sum(np.abs(point.here.combined), axis=0)) ** 2


@claim(
    "equation-9",
    "Section 2, (9)",
    "The loss has a closed form: ||Z-bar (A-hat - A)||^2 / (2K) and a constant.",
)
@case_by_case
def equation_9(point: Point) -> Comparisons:
    """Against an explicit sum over labels."""
    summed = token_losses(point.task, point.here.combined).mean()
    closed = point.here.gap + point.task.minimum
    return equal(summed, closed, size=label_size(point).mean(), part="loss")


def _average_loss(point: Point, law: Law) -> float:
    """The loss inside (9), averaged over prompts."""
    labels, chances = prompts_under(point.task, law)
    away = labels[:, : point.task.N] @ point.here.combined - labels
    return float(chances @ np.sum(away**2, axis=1) / (2 * point.task.K))


def _losses_are(point: Point, laws: Mapping[str, Law]) -> Comparisons:
    """The average loss under a law, against the closed form for its second moment."""
    if (silence := too_many(point.task)) is not None:
        return silence
    return [
        equal(
            _average_loss(point, law),
            loss_under(point.task, law, point.here.combined),
            size=np.trace(law.second_moment) * label_size(point).mean(),
            part=part,
        )
        for part, law in laws.items()
    ]


@claim(
    "assumption-1",
    "Section 3.1, Assumption 1",
    "Of the law of lambda only E lambda lambda' = I matters: normal entries and fair signs have "
    "the same loss.",
)
@case_by_case
def assumption_1(point: Point) -> Comparisons:
    """Both against the closed form."""
    m = point.task.m
    laws = {"normal entries": standard_law(m), "fair signs": standard_law(m, "rademacher")}
    return _losses_are(point, laws)


@claim(
    "own/any-law",
    "Assumption 1",
    "For any law the loss is given by M = E lambda lambda': Z-bar^2 becomes Z'MZ + tau tr(M) I.",
)
@case_by_case
def own_any_law(point: Point) -> Comparisons:
    """Under the law out of domain, and under a correlated one."""
    m = point.task.m
    return _losses_are(point, {"N(1, 4 I)": shifted_law(m), "correlated": correlated_law(m, 0.6)})


@claim(
    "assumption-3",
    "Section 3.1, remark after Assumption 3",
    "Assumption 3 implies that the prompt tokens v_1, ..., v_N are distinct, as Section 2 has all "
    "tokens of the dictionary.",
    hypotheses=(DISTINCT_ROW,),
)
@case_by_case
def assumption_3(point: Point) -> Comparisons:
    """It looks at the first N tokens only."""
    distinct = np.unique(point.task.prompt, axis=1).shape[1]
    return equal(distinct, point.task.N, part="number of distinct prompt tokens")


@claim(
    "section-3.1/orthogonal",
    "Section 3.1, remark after Assumption 3",
    "Pairwise orthogonal tokens need K <= d: of K > d unit tokens two have an inner product of at "
    "least sqrt((K - d) / (d (K - 1))).",
    hypotheses=(UNIT,),
    on=AS_THEY_ARE,
)
@case_by_case
def section_31_orthogonal(plan: Plan) -> Comparisons:
    """The bound of Welch, without which K > d would only exclude that all products are zero."""
    K, d = plan.task.K, plan.task.d
    if d >= K:
        return Silence("no dictionary has more tokens than dimensions", applies=False)
    products = np.abs(plan.task.tokens.T @ plan.task.tokens)[np.triu_indices(K, 1)]
    bound = np.sqrt((K - d) / (d * (K - 1)))
    return at_least(products.max(), bound, baseline=0.0, part="largest inner product")


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

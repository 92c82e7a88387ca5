"""Section 2: labels, the transformer in its two forms, the loss, and the assumptions."""

from collections.abc import Sequence

import numpy as np

from lemmata.old_claims import Bench, Cases, Judgement, Status, fact, same
from lemmata.papers.context.claims._chance import mean_is
from lemmata.papers.context.claims._terms import NOISE, ROUNDING, claim
from lemmata.papers.context.experiments.points import POINTS, Point
from lemmata.papers.context.experiments.prompts import PROMPTS, Prompts


@claim(
    "equation-1",
    "Section 2, (1)",
    "Given lambda, labels have the moments of independent normal ones with mean lambda' z_k and "
    "variance tau ||lambda||^2.",
    assumes=(NOISE,),
    on=PROMPTS,
    sharpened="the variance is 1.1 tau ||lambda||^2",
)
def equation_1(evidence: Cases[Prompts], sharpened: bool) -> Sequence[Judgement]:
    """Moments up to the fourth, and covariances of neighbours, with noise drawn entry by entry."""

    def rows(which: str):
        for case in evidence:
            task, labels = case.task, case.literal_labels
            away = labels - case.coefficients @ task.representations
            variance = (1.1 if sharpened else 1.0) * task.tau * float(np.sum(case.coefficients**2))
            if which == "means":
                yield case.name, away, np.zeros(task.K)
            elif which == "variances":
                yield case.name, away**2, np.full(task.K, variance)
            elif which == "fourth moments":
                yield case.name, away**4, np.full(task.K, 3 * variance**2)
            elif task.K > 1:
                yield case.name, away[:, :-1] * away[:, 1:], np.zeros(task.K - 1)

    kinds = ("means", "variances", "fourth moments", "covariances")
    return [mean_is(which, rows(which)) for which in kinds]


@claim(
    "equation-8",
    "Section 2, (2) to (8)",
    "The diagonal of W^O (head_1; ...; head_H) is y' sum_h w_{h,k} softmax(V' Q_h v_k).",
    assumes=(),
    on=POINTS,
    sharpened="Q_h is transposed",
)
def equation_8(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """Explicit key, query, value and output matrices against A-hat."""
    from lemmata.papers.context.setting import as_written, embed, from_heads

    def labels(point: Point) -> np.ndarray:
        return np.cos(np.arange(1, point.task.N + 1))

    def written(point: Point) -> np.ndarray:
        Q = point.here.Q.transpose(0, 2, 1) if sharpened else point.here.Q
        embedding = embed(point.task, labels(point))
        transformer = as_written(from_heads(Q, point.here.w))
        return np.diag(transformer(embedding[:, : point.task.N], embedding)) / _size(point)

    small = [point for point in evidence if point.H * point.task.K**2 <= MOST_NUMBERS]
    return [
        same(
            small,
            "predictions",
            written,
            lambda p: labels(p) @ p.here.combined / _size(p),
            ROUNDING,
        )
    ]


MOST_NUMBERS = 50_000_000
"""H K^2, the size of the output matrix W^O."""


def _size(point: Point) -> float:
    return point.H * max(1.0, float(np.abs(point.here.w).max()))


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
    assumes=(),
    on=POINTS,
    sharpened="the constant is left out",
)
def equation_9(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """Against an exact sum over coefficients."""

    def closed(point: Point) -> float:
        return point.here.gap + (0.0 if sharpened else point.task.minimum)

    return [
        same(
            evidence,
            "loss",
            lambda p: cubature_loss(p) / closed(p),
            lambda _: 1.0,
            ROUNDING,
        )
    ]


@claim(
    "assumption-1",
    "Section 3.1, Assumption 1",
    "Of the law of lambda only E lambda lambda' = I matters: normal entries and fair signs have "
    "the same loss.",
    assumes=(),
    on=PROMPTS,
    sharpened="so have entries of variance 1.1",
)
def assumption_1(evidence: Cases[Prompts], sharpened: bool) -> Sequence[Judgement]:
    from lemmata.papers.context.setting import Law, standard_law

    def rows(entries: str):
        for case in evidence:
            m = case.task.m
            law = standard_law(m, "gaussian" if entries == "normal entries" else "rademacher")
            if sharpened:
                law = Law(law.mean, np.sqrt(1.1) * law.mixing, law.entries)
            yield case.name, case.losses(law), float(case.task.loss(case.combined))

    return [mean_is(entries, rows(entries)) for entries in ("normal entries", "fair signs")]


@claim(
    "assumption-1/correlated",
    "Section 3.1, Assumption 1",
    "Lemma 5 would also hold for coefficients with correlation 0.6.",
    assumes=(),
    on=PROMPTS,
    sharpened="for correlation 0.9",
)
def assumption_1_correlated(evidence: Cases[Prompts], sharpened: bool) -> Sequence[Judgement]:
    """It does not: Assumption 1 is needed."""
    from lemmata.papers.context.setting import correlated_law

    correlation = 0.9 if sharpened else 0.6
    several = [case for case in evidence if case.task.m > 1]
    if not several:
        return [_one_task()]
    rows = (
        (c.name, c.losses(correlated_law(c.task.m, correlation)), float(c.task.loss(c.combined)))
        for c in several
    )
    return [mean_is("loss", rows)]


def _one_task() -> Judgement:
    return Judgement("loss", Status.INAPPLICABLE, "one basic task has nothing to correlate with")


@claim(
    "own/any-law",
    "Assumption 1",
    "For any law the loss is given by M = E lambda lambda': Z-bar^2 becomes Z'MZ + tau tr(M) I.",
    assumes=(),
    on=PROMPTS,
    sharpened="tr(M) is m for the shifted law too",
)
def own_any_law(evidence: Cases[Prompts], sharpened: bool) -> Sequence[Judgement]:
    from lemmata.papers.context.setting import correlated_law, loss_under, shifted_law

    def rows(kind: str):
        for case in evidence:
            m = case.task.m
            law = shifted_law(m) if kind == "N(1, 4 I)" else correlated_law(m, 0.6)
            stated = loss_under(case.task, law, case.combined)
            if sharpened:
                copied = np.sum((case.combined - np.eye(*case.combined.shape)) ** 2)
                copied += case.task.K - case.task.N
                excess = np.trace(law.second_moment) - m + 1
                stated -= case.task.tau * excess * copied / (2 * case.task.K)
            yield case.name, case.losses(law), stated

    return [mean_is(kind, rows(kind)) for kind in ("N(1, 4 I)", "correlated")]


def _repeated_query(bench: Bench) -> Sequence[Judgement]:
    """Prompt tokens e_1 and -e_1, and the query e_2 twice."""
    from lemmata.papers.context.setting import Task

    tokens = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    task = Task(tokens, np.ones((1, 4)), 2, 0.1, "prompt e_1, -e_1 and queries e_2, e_2")
    distinct = len(np.unique(tokens, axis=1).T) == task.K
    return [
        fact(
            "all tokens distinct",
            distinct or not task.has_distinct_row,
            f"{task.name}: Assumption 3 looks at the first N = 2 tokens only, and holds",
            {"dataset": task.name, "tokens": tokens.tolist()},
        )
    ]


@claim(
    "assumption-3",
    "Section 3.1, remark after Assumption 3",
    "Assumption 3 implies that all tokens of the dictionary are distinct.",
    assumes=(),
    on=POINTS,
    sharpened="and that their first coordinates have different signs",
    counterexample=_repeated_query,
)
def assumption_3(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def broken(point: Point) -> bool:
        tokens = np.sign(point.task.tokens[:1]) if sharpened else point.task.tokens
        return point.task.has_distinct_row and len(np.unique(tokens, axis=1).T) < point.task.K

    bad = [point.name for point in evidence if broken(point)]
    return [
        fact(
            "tokens",
            not bad,
            f"Assumption 3 holds, and tokens are repeated, on {bad[0]}"
            if bad
            else f"on {len(evidence)} points no token is repeated, or Assumption 3 fails",
        )
    ]


@claim(
    "equation-12",
    "Section 3.1, (12)",
    "Z-bar^2 = Z'Z + m tau I, and f_max^2 is the largest ||z_i||^2 + m tau.",
    assumes=(),
    on=POINTS,
    sharpened="f_max is the norm of Z-bar",
)
def equation_12(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def square(point: Point) -> np.ndarray:
        return (point.task.root @ point.task.root).ravel() / point.task.spectral**2

    def column(point: Point) -> float:
        norms = np.linalg.norm(point.task.root, axis=0)
        return float(np.linalg.norm(point.task.root, 2) if sharpened else norms.max())

    return [
        same(
            evidence,
            "square of Z-bar",
            square,
            lambda p: p.task.gram.ravel() / p.task.spectral**2,
            ROUNDING,
        ),
        same(
            evidence, "f_max", lambda p: column(p) / p.task.largest_column, lambda _: 1.0, ROUNDING
        ),
    ]

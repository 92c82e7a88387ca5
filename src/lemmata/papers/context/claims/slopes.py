"""Lemmas 2, 7, 8 and 9: how large gradients, scores and errors are, and how fast they change."""

import numpy as np

from lemmata.claims import Bench, Comparisons, Inequality, Version, at_most, statements
from lemmata.settings import Evidence

from ..counterexamples import at_zero, opposite_long_tokens, opposite_unit_tokens
from ..experiments.points import GAUSSIAN_POINTS, POINTS, Parameters, Point, pair_points
from ..setting import UNIT, from_heads

claim = statements("context")

ANY_NORM = "The same for tokens of any norm, as the experiments draw them."


def _attained_by_two_tokens(bench: Bench) -> Comparisons:
    """Two tokens with logits +-x against equal ones, whose attentions differ by tanh(x)."""
    plan = opposite_unit_tokens()
    w = np.ones((1, 2))
    logits = (2.0**-4, 2.0**-12, 2.0**-24)
    pairs = [(from_heads(np.full((1, 1, 1), x), w), at_zero(plan, 1.0)) for x in logits]
    return lemma_2(pair_points([plan] * len(pairs), pairs, [1.0] * len(pairs)), constant=2.0)


@claim(
    "lemma-2",
    "Appendix A.2, Lemma 2, (30)",
    "||softmax(x) - softmax(y)||_1 <= 2 ||x - y||_inf.",
    on=POINTS,
    counterexample=_attained_by_two_tokens,
    constant=2.0,
)
@claim(
    "own/softmax-constant",
    "Lemma 2",
    "The constant in (30) is 1: ||softmax(x) - softmax(y)||_1 <= ||x - y||_inf.",
    on=POINTS,
    constant=1.0,
)
def lemma_2(evidence: Evidence[Point], constant: float) -> Comparisons:
    """For logits of every head and token; two attentions are never more than 2 apart."""

    def moved(point: Point) -> np.ndarray:
        V, S = point.task.prompt, point.task.tokens
        logits = np.einsum("an,hab,bk->nhk", V, point.here.Q - point.there.Q, S, optimize=True)
        return constant * np.abs(logits).max(axis=0)

    return at_most(
        evidence.each(lambda p: np.abs(p.here.attention - p.there.attention).sum(axis=0)),
        evidence.each(moved),
        baseline=2.0,
        size=evidence.each(lambda p: p.here.logit_size),
        part="distance of attentions",
        cases=evidence.cases,
    )


def _two_long_tokens(bench: Bench) -> Comparisons:
    plan = opposite_long_tokens()
    weights = at_zero(plan, 1.0)
    return lemma_7(pair_points([plan], [(weights, weights)], [1.0]))


@claim(
    "lemma-7",
    "Appendix B, Lemma 7, (42)",
    "||d l / d Q_h||_F <= 2 sqrt(2) gamma alpha f_max sqrt(l - L*) while |alpha_{h,k}| <= alpha.",
    hypotheses=(UNIT,),
    on=POINTS,
    versions=[
        Version(
            "gaussian",
            statement=ANY_NORM,
            hypotheses=(),
            on=GAUSSIAN_POINTS,
            kind="hypothesis",
            counterexample=_two_long_tokens,
        )
    ],
)
def lemma_7(evidence: Evidence[Point]) -> Comparisons:
    """For every head, at both weights of a point."""

    def bound(point: Point, at: Parameters) -> float:
        alpha = np.abs(at.w).max() / point.gamma
        scale = 2 * np.sqrt(2) * point.gamma * alpha * point.task.largest_column
        return scale * np.sqrt(at.gap)

    return [
        at_most(
            evidence.each(lambda p, at=at: np.linalg.norm(at(p).query_slope, axis=(1, 2))),
            evidence.each(lambda p, at=at: bound(p, at(p))),
            part=f"slope in Q at the {name} weights",
            cases=evidence.cases,
        )
        for name, at in (("first", lambda p: p.here), ("second", lambda p: p.there))
    ]


@claim(
    "equation-46",
    "Appendix B, (46)",
    "||b^h_k - b'^h_k|| <= 2 ||Z-bar|| ||Q_h - Q'_h||_F.",
    hypotheses=(UNIT,),
    on=POINTS,
    versions=[
        Version(
            "gaussian", statement=ANY_NORM, hypotheses=(), on=GAUSSIAN_POINTS, kind="hypothesis"
        )
    ],
)
def equation_46(evidence: Evidence[Point]) -> Comparisons:
    """For every head and token."""
    return _scores(evidence)


def _scores(evidence: Evidence[Point]) -> Inequality:
    return at_most(
        evidence.each(lambda p: np.linalg.norm(p.here.B - p.there.B, axis=0)),
        evidence.each(lambda p: np.repeat(2 * p.task.spectral * p.moved_Q, p.task.K)),
        baseline=evidence.each(lambda p: np.sqrt(2) * p.task.spectral),
        part="distance of scores",
    )


@claim(
    "lemma-8",
    "Appendix B, Lemma 8, (50), (51)",
    "b^h_k and delta_k are Lipschitz in Q and alpha while |alpha_{h,k}| <= alpha.",
    hypotheses=(UNIT,),
    on=POINTS,
)
def lemma_8(evidence: Evidence[Point]) -> Comparisons:
    def bound(point: Point) -> np.ndarray:
        size = point.gamma * np.sqrt(point.H)
        by_alpha = np.linalg.norm(point.moved_alpha, axis=0)
        return 2 * size * point.alpha * np.linalg.norm(point.moved_Q) + size * by_alpha

    return [
        _scores(evidence),
        at_most(
            evidence.each(lambda p: np.linalg.norm(p.here.delta - p.there.delta, axis=0)),
            evidence.each(bound),
            part="distance of delta",
        ),
    ]


@claim(
    "lemma-9",
    "Appendix B, Lemma 9, (52), (53)",
    "||b^h_k|| <= ||Z-bar|| and ||delta_k|| <= gamma H alpha + ||A|| while |alpha_{h,k}| <= alpha.",
    on=POINTS,
)
def lemma_9(evidence: Evidence[Point]) -> Comparisons:
    return [
        at_most(
            evidence.each(lambda p: np.linalg.norm(p.here.B, axis=0)),
            evidence.each(lambda p: p.task.spectral),
            part="scores",
        ),
        at_most(
            evidence.each(lambda p: np.linalg.norm(p.here.delta, axis=0)),
            evidence.each(lambda p: p.gamma * p.H * p.alpha + p.target_norm),
            part="delta",
        ),
    ]


@claim(
    "equation-62",
    "Appendix B, Step 3, (62)",
    "||d l / d alpha_h|| <= ||Z-bar|| gamma sqrt(2 (l - L*) / K).",
    on=POINTS,
)
def equation_62(evidence: Evidence[Point]) -> Comparisons:
    return at_most(
        evidence.each(lambda p: p.gamma * np.linalg.norm(p.here.value_slope, axis=1)),
        evidence.each(lambda p: p.task.spectral * p.gamma * np.sqrt(2 * p.here.gap / p.task.K)),
        part="slope in alpha",
    )


@claim(
    "equation-83",
    "Appendix D.5, (83)",
    "||G^{h,jk}||_F <= 2 alpha s^h_{jk}.",
    hypotheses=(UNIT,),
    on=POINTS,
)
def equation_83(evidence: Evidence[Point]) -> Comparisons:
    """Both sides over s^h_{jk}, which may underflow."""

    def sizes(point: Point) -> np.ndarray:
        task, at = point.task, point.here
        sizes = np.empty(at.attention.shape)
        for h in range(point.H):
            away = task.prompt[:, :, None] - (task.prompt @ at.attention[:, h])[:, None, :]
            sizes[:, h] = np.linalg.norm(away, axis=0) * np.abs(at.w[h]) / point.gamma * task.norms
        return sizes

    return at_most(
        evidence.each(sizes), evidence.each(lambda p: 2 * p.alpha), part="size of G over s"
    )


@claim(
    "equation-84",
    "Appendix D.5, (84)",
    "||d l / d Q_h|| <= (2 gamma f_max alpha / K) sum_k ||Z-bar delta_k||, and that is at most "
    "(2 gamma f_max alpha / sqrt(K)) sqrt(sum_k ||Z-bar delta_k||^2).",
    hypotheses=(UNIT,),
    on=POINTS,
)
def equation_84(evidence: Evidence[Point]) -> Comparisons:
    def summed(point: Point) -> float:
        return float(np.linalg.norm(point.here.weighted, axis=0).sum())

    def scale(point: Point) -> float:
        return 2 * point.gamma * point.task.largest_column * point.alpha

    return [
        at_most(
            evidence.each(lambda p: np.linalg.norm(p.here.query_slope, axis=(1, 2))),
            evidence.each(lambda p: scale(p) / p.task.K * summed(p)),
            part="sum over tokens",
        ),
        at_most(
            evidence.each(lambda p: summed(p) / np.sqrt(p.task.K)),
            evidence.each(lambda p: np.linalg.norm(p.here.weighted)),
            part="Cauchy-Schwarz",
        ),
    ]

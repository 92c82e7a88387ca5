"""Lemmas 2, 7, 8 and 9: how large gradients, scores and errors are, and how fast they change."""

from functools import partial

import numpy as np

from lemmata.claims import (
    Bench,
    Comparisons,
    Inequality,
    Version,
    at_most,
    case_by_case,
    statements,
)

from ..counterexamples import at_zero, opposite_long_tokens
from ..experiments.points import GAUSSIAN_POINTS, POINTS, Point, pair_points
from ..setting import UNIT
from ._in_balls import change_of_scores, slope_in_Q

claim = statements("context", on=POINTS)

any_norm = partial(
    Version,
    "gaussian",
    statement="The same for tokens of any norm, as the experiments draw them.",
    hypotheses=(),
    on=GAUSSIAN_POINTS,
    kind="hypothesis",
)


@claim(
    "lemma-2",
    "Appendix A.2, Lemma 2, (30)",
    "||softmax(x) - softmax(y)||_1 <= 2 ||x - y||_inf.",
    constant=2.0,
)
@claim(
    "own/softmax-constant",
    "Lemma 2",
    "The constant in (30) is 1: ||softmax(x) - softmax(y)||_1 <= ||x - y||_inf.",
    constant=1.0,
)
@case_by_case
def lemma_2(point: Point, constant: float) -> Comparisons:
    """For logits of every head and token; two attentions are never more than 2 apart."""
    V, S = point.task.prompt, point.task.tokens
    logits = np.einsum("an,hab,bk->nhk", V, point.here.Q - point.there.Q, S, optimize=True)
    return at_most(
        np.abs(point.here.attention - point.there.attention).sum(axis=0),
        constant * np.abs(logits).max(axis=0),
        baseline=2.0,
        size=point.here.logit_size,
        part="distance of attentions",
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
    versions=[any_norm(counterexample=_two_long_tokens, exact=slope_in_Q)],
)
@case_by_case
def lemma_7(point: Point) -> Comparisons:
    """For every head, at both weights of a point."""
    comparisons = []
    for name, at in (("first", point.here), ("second", point.there)):
        alpha = np.abs(at.w).max() / point.gamma
        scale = 2 * np.sqrt(2) * point.gamma * alpha * point.task.largest_column
        slopes = np.linalg.norm(at.query_slope, axis=(1, 2))
        part = f"slope in Q at the {name} weights"
        comparisons.append(at_most(slopes, scale * np.sqrt(at.gap), part=part))
    return comparisons


@claim(
    "equation-46",
    "Appendix B, (46)",
    "||b^h_k - b'^h_k|| <= 2 ||Z-bar|| ||Q_h - Q'_h||_F.",
    hypotheses=(UNIT,),
    versions=[any_norm(exact=change_of_scores)],
)
@case_by_case
def equation_46(point: Point) -> Comparisons:
    """For every head and token."""
    return _scores(point)


def _scores(point: Point) -> Inequality:
    return at_most(
        np.linalg.norm(point.here.B - point.there.B, axis=0),
        np.repeat(2 * point.task.spectral * point.moved_Q, point.task.K),
        baseline=np.sqrt(2) * point.task.spectral,
        part="distance of scores",
    )


@claim(
    "lemma-8",
    "Appendix B, Lemma 8, (50), (51)",
    "b^h_k and delta_k are Lipschitz in Q and alpha while |alpha_{h,k}| <= alpha.",
    hypotheses=(UNIT,),
)
@case_by_case
def lemma_8(point: Point) -> Comparisons:
    size = point.gamma * np.sqrt(point.H)
    by_alpha = np.linalg.norm(point.moved_alpha, axis=0)
    bound = 2 * size * point.alpha * np.linalg.norm(point.moved_Q) + size * by_alpha
    moved = np.linalg.norm(point.here.delta - point.there.delta, axis=0)
    return [_scores(point), at_most(moved, bound, part="distance of delta")]


@claim(
    "lemma-9",
    "Appendix B, Lemma 9, (52), (53)",
    "||b^h_k|| <= ||Z-bar|| and ||delta_k|| <= gamma H alpha + ||A|| while |alpha_{h,k}| <= alpha.",
)
@case_by_case
def lemma_9(point: Point) -> Comparisons:
    scores, delta = (np.linalg.norm(x, axis=0) for x in (point.here.B, point.here.delta))
    bound = point.gamma * point.H * point.alpha + point.target_norm
    return [
        at_most(scores, point.task.spectral, part="scores"),
        at_most(delta, bound, part="delta"),
    ]


@claim(
    "equation-62",
    "Appendix B, Step 3, (62)",
    "||d l / d alpha_h|| <= ||Z-bar|| gamma sqrt(2 (l - L*) / K).",
)
@case_by_case
def equation_62(point: Point) -> Comparisons:
    slopes = point.gamma * np.linalg.norm(point.here.value_slope, axis=1)
    bound = point.task.spectral * point.gamma * np.sqrt(2 * point.here.gap / point.task.K)
    return at_most(slopes, bound, part="slope in alpha")


@claim(
    "equation-83",
    "Appendix D.5, (83)",
    "||G^{h,jk}||_F <= 2 alpha s^h_{jk}.",
    hypotheses=(UNIT,),
)
@case_by_case
def equation_83(point: Point) -> Comparisons:
    """Both sides over s^h_{jk}, which may underflow."""
    task, at = point.task, point.here
    sizes = np.empty(at.attention.shape)
    for h in range(point.H):
        away = task.prompt[:, :, None] - (task.prompt @ at.attention[:, h])[:, None, :]
        sizes[:, h] = np.linalg.norm(away, axis=0) * np.abs(at.w[h]) / point.gamma * task.norms
    return at_most(sizes, 2 * point.alpha, part="size of G over s")


@claim(
    "equation-84",
    "Appendix D.5, (84)",
    "||d l / d Q_h|| <= (2 gamma f_max alpha / K) sum_k ||Z-bar delta_k||, and that is at most "
    "(2 gamma f_max alpha / sqrt(K)) sqrt(sum_k ||Z-bar delta_k||^2).",
    hypotheses=(UNIT,),
)
@case_by_case
def equation_84(point: Point) -> Comparisons:
    task, weighted = point.task, point.here.weighted
    summed = np.linalg.norm(weighted, axis=0).sum()
    scale = 2 * point.gamma * task.largest_column * point.alpha / task.K
    slopes = np.linalg.norm(point.here.query_slope, axis=(1, 2))
    return [
        at_most(slopes, scale * summed, part="sum over tokens"),
        at_most(summed / np.sqrt(task.K), np.linalg.norm(weighted), part="Cauchy-Schwarz"),
    ]

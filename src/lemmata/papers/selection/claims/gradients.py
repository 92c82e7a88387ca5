"""Lemma D.1, Appendix E.2 and Lemma 3.4: gradients, and the directions they keep."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import softmax

from lemmata.claims import Comparison, Silence, equal, repaired, statements
from lemmata.settings import Evidence

from ..experiments.matrices import (
    ENUMERATION,
    MATRICES,
    STOCHASTIC_MATRICES,
    Enumeration,
    FullDescent,
    Matrices,
)
from ..setting import FITS, Average, Family, Population, Weights, population
from .definitions import AVERAGED, aligned, attention, mean_attention
from .isometry import few_tuples, mean_over_tuples
from .one_hot import WHOLE, stays_on_directions

claim = statements("selection", on=ENUMERATION, hypotheses=(FITS,))

POINTS = ((0.0, 0.5), (0.7, 1.0), (2.0, 1.3), (6.0, 1.1))
"""C and alpha at which identities are checked."""


def literal_gradient(case: Matrices, average_first: bool = False) -> np.ndarray:
    """Lemma E.2's formulas, tokens and subsets one by one; of one encoding those of Lemma D.1.

    ``average_first`` takes E[S] before the product with Z, as printed.
    """
    V, W = (np.asarray(matrix) for matrix in case.weights)
    q, T = case.task.q, case.task.T
    E, e_y = np.asarray(case.family.E), np.asarray(case.family.e_y)
    in_V, in_W = np.zeros_like(V), np.zeros_like(W)
    Z = np.stack(
        [np.concatenate([case.X, np.broadcast_to(e, (len(case.X), *e.shape))], 1) for e in E]
    )
    for s, y in enumerate(case.y):
        query = np.concatenate([np.broadcast_to(case.x_query, (len(E), case.task.d)), e_y[:, s]], 1)
        S = softmax(np.einsum("mnwt,wv,mv->mnt", Z, W, query), axis=-1)
        target = case.X[:, :, y].sum(axis=2) / q
        ZS = np.einsum("mnwt,mnt->mnw", Z, S).mean(axis=0)
        mean_Z = np.broadcast_to(ZS, (len(E), *ZS.shape))
        if average_first:
            mean_Z = np.einsum("mnwt,nt->mnw", Z, S.mean(axis=0))
        residual = target[None] - mean_Z @ V.T
        J = S[..., None] * (np.eye(T) - S[..., None, :])
        inner = np.einsum("mnwt,mntu,mnvu,dv,mnd->mnw", Z, J, Z, V, residual, optimize=True)
        in_W -= np.einsum("n,mnw,mv->wv", case.chances, inner, query) / len(E)
        in_V -= np.einsum("n,mnd,mnw->dw", case.chances, residual, mean_Z) / len(E)
    return flat((in_V, in_W)) / len(case.y)


def one_by_one(case: Matrices) -> np.ndarray:
    """The gradients of the loss (3), averaged over encodings."""
    E, e_y, Y = case.family
    families = [Family(E[i : i + 1], e_y[i : i + 1], Y) for i in range(len(E))]
    return np.mean([literal_gradient(replace(case, family=one)) for one in families], axis=0)


def flat(matrices: Iterable[Any]) -> np.ndarray:
    """All entries of several matrices."""
    return np.concatenate([np.ravel(matrix) for matrix in matrices])


def by_largest(left: np.ndarray, right: np.ndarray, **options) -> Comparison:
    """Equal, entry by entry, with rounding relative to the largest entry of a case."""
    return equal(left, right, size=np.nanmax(np.abs(right), axis=1, keepdims=True), **options)


@claim(
    "lemma-d.5/recalled-gradients",
    "Appendix D.2, proof",
    "The same formulas as the proof of Lemma D.5 recalls them: without the minus signs.",
    on=MATRICES,
    kind="misprint",
    sign=-1.0,
)
@claim(
    "lemma-d.1",
    "Appendix D.1",
    "The gradients of the loss (3) are -E[Z (diag S - S S') Z' V' r z_query'] in W and "
    "-E[r (Z S)'] in V, with r = XY/q - V Z S.",
    on=MATRICES,
    sign=1.0,
)
def gradients(evidence: Evidence[Matrices], sign: float) -> Comparison:
    return same_slopes(evidence, lambda case: sign * one_by_one(case), "outside")


def same_slopes(
    evidence: Evidence[Matrices], gradient: Callable[[Matrices], np.ndarray], average: Average
) -> Comparison:
    """The slopes by a formula and by complex steps, along random directions."""
    return equal(
        evidence.each(lambda case: case.ways @ gradient(case)),
        evidence.each(lambda case: case.slopes[average]),
        rounding=WHOLE,
        size=evidence.each(lambda case: np.abs(case.ways) @ np.abs(gradient(case))),
        part="slope of the loss",
    )


@claim(
    "lemma-e.2",
    "Appendix E.2",
    "The gradients of the loss (4) are those of Lemma D.1 with Z E[S_y] for Z S_y in the residual "
    "and in the gradient of V.",
    on=MATRICES,
    kind="misprint",
    versions=[
        repaired(
            "The same with E[Z S_y], the average of the product, for Z E[S_y].", average_first=False
        )
    ],
)
def lemma_e2(evidence: Evidence[Matrices], average_first: bool = True) -> Comparison:
    return same_slopes(evidence, lambda case: literal_gradient(case, average_first), "inside")


Formula = Callable[[Enumeration, float, float], float | np.ndarray]
"""Of a case, C and alpha."""


def at_points(evidence: Evidence[Enumeration], value: Formula) -> np.ndarray:
    """A value at the four points (C, alpha)."""
    return evidence.each(
        lambda case: np.concatenate([np.ravel(value(case, C, alpha)) for C, alpha in POINTS])
    )


def exact_population(case: Enumeration, C: float, alpha: float) -> Population:
    """Loss and gradient with the expectation inside, x_query not zero."""
    x_query = np.linspace(-1, 1, case.task.d)
    return population(case.family, aligned(case, alpha, C), x_query, "inside")


@claim(
    "lemma-e.3",
    "Appendix E.2",
    "If V = alpha [I 0] and W = C I in the position block, the loss (4) is "
    "(d/2) E_y ||Y/q - alpha E[S_y]||^2.",
)
def lemma_e3(evidence: Evidence[Enumeration]) -> Comparison:
    def formula(case: Enumeration, C: float, alpha: float) -> float:
        error = np.asarray(case.family.Y) / case.task.q - alpha * mean_attention(case, C)
        return 0.5 * case.task.d * float((error**2).sum(axis=1).mean())

    exact = at_points(evidence, lambda *at: exact_population(*at).loss)
    return equal(exact, at_points(evidence, formula), rounding=AVERAGED, part="loss")


@claim(
    "lemma-e.4",
    "Appendix E.2",
    "There the gradient in V is (-E_y[sum over y of E[S_y(i)]/q] + alpha E_y ||E[S_y]||^2) [I 0].",
)
def lemma_e4(evidence: Evidence[Enumeration]) -> Comparison:
    def formula(case: Enumeration, C: float, alpha: float) -> np.ndarray:
        S, Y = mean_attention(case, C), np.asarray(case.family.Y)
        chosen = float((S * Y).sum(axis=1).mean()) / case.task.q
        square = alpha * float((S**2).sum(axis=1).mean())
        d, d_e = case.task.d, case.E.shape[1]
        return (square - chosen) * np.eye(d, d + d_e)

    exact = at_points(evidence, lambda *at: np.asarray(exact_population(*at).gradient.V))
    return by_largest(exact, at_points(evidence, formula), rounding=AVERAGED, part="gradient in V")


@claim(
    "lemma-e.5",
    "Appendix E.2",
    "There the position block of the gradient in W is "
    "-d alpha E[E (diag S - S S') (Y/q - alpha E[S]) e_y'], and the other blocks are zero.",
)
def lemma_e5(evidence: Evidence[Enumeration]) -> Comparison:
    def formula(case: Enumeration, C: float, alpha: float) -> np.ndarray:
        S, Y = attention(case, C), np.asarray(case.family.Y)
        error = Y / case.task.q - alpha * S.mean(axis=0)
        pull = S * (error - (S * error).sum(axis=2, keepdims=True))
        outer = np.einsum("met,mst,msv->ev", case.E, pull, np.asarray(case.family.e_y))
        d, d_e = case.task.d, case.E.shape[1]
        gradient = np.zeros((d + d_e, d + d_e))
        gradient[d:, d:] = -d * alpha * outer / (len(S) * len(Y))
        return gradient

    exact = at_points(evidence, lambda *at: np.asarray(exact_population(*at).gradient.W))
    return by_largest(exact, at_points(evidence, formula), rounding=AVERAGED, part="gradient in W")


@claim(
    "own/fresh-encodings",
    "beside Definition 2.5",
    "The same holds for the average of the losses, which one fresh encoding a step descends: the "
    "directions are those of Lemma 3.4, the recursion is another.",
    on=STOCHASTIC_MATRICES,
    average="outside",
)
@claim(
    "lemma-3.4",
    "Section 3.2",
    "From zero, gradient descent on the loss (4) keeps W = C(t) I in the position block and "
    "V = alpha(t) [I 0].",
    on=STOCHASTIC_MATRICES,
    average="inside",
)
def keeps_directions(evidence: Evidence[FullDescent], average: str) -> list[Comparison]:
    return stays_on_directions(evidence.where(lambda case: case.average == average))


@claim(
    "lemma-d.1/softmax",
    "Appendix D.1, proof",
    "d softmax(v) = (diag(v) - v v') dv.",
    on=MATRICES,
    kind="misprint",
    at=lambda v: v,
    versions=[repaired("The same with softmax(v) for v in the matrix.", at=softmax)],
)
def softmax_derivative(
    evidence: Evidence[Matrices], at: Callable[[np.ndarray], np.ndarray]
) -> Comparison:
    """At the first token matrix, by a complex step, which has no error of its own."""

    def by_step(case: Matrices) -> np.ndarray:
        v, T = case.X[0][0], case.task.T
        moved = np.exp(v[:, None] + 1e-30j * np.eye(T))
        return np.ravel((moved / moved.sum(axis=0)).imag / 1e-30)

    def by_formula(case: Matrices) -> np.ndarray:
        S = at(case.X[0][0])
        return np.ravel(np.diag(S) - np.outer(S, S))

    size = evidence.each(lambda case: 1 + np.abs(case.X[0]).max() ** 2)
    return equal(evidence.each(by_step), evidence.each(by_formula), size=size, part="derivative")


@claim(
    "lemma-d.2/any-attention",
    "Appendix D.1",
    "If V = alpha [I 0], the loss is (d/2) E ||Y/q - alpha S_y||^2, whatever W is.",
    on=MATRICES,
    kind="hypothesis",
    blind=False,
    versions=[
        repaired("The same if attention does not depend on the tokens, W_(<=d,:) = 0.", blind=True)
    ],
)
def any_attention(evidence: Evidence[Matrices], blind: bool) -> Comparison:
    """Over the discrete law of tokens, with random W and alpha = 1.3."""

    def both(case: Matrices) -> tuple[float, float]:
        W, d, q = np.array(case.weights[1]), case.task.d, case.task.q
        W[:d] = 0 if blind else W[:d]
        E, Y = np.asarray(case.family.E[0]), np.asarray(case.family.Y)
        Z = np.concatenate([case.X, np.broadcast_to(E, (len(case.X), *E.shape))], axis=1)
        queries = [np.concatenate([case.x_query, e_y]) for e_y in np.asarray(case.family.e_y[0])]
        S = softmax(np.einsum("nwt,wv,sv->snt", Z, W, np.array(queries)), axis=2)
        off = Y[:, None] / q - 1.3 * S
        answers = np.einsum("ndt,snt->snd", case.X, off)
        loss, formula = (
            0.5 * factor * float(np.einsum("n,snk->", case.chances, values**2)) / len(Y)
            for factor, values in ((1, answers), (d, off))
        )
        return loss, formula

    loss, formula = evidence.each(both).T[:, :, None]
    return equal(loss, formula, rounding=AVERAGED, part="loss", cases=evidence.cases)


def pulls(case: Enumeration, C: float, alpha: float, chosen: bool) -> float:
    """The share of the chosen positions, or of the others, in -tr(dL/dW)/d_e."""
    S, Y = attention(case, C), np.asarray(case.family.Y)
    error = Y / case.task.q - alpha * S.mean(axis=0)
    pull = S * (error - (S * error).sum(axis=2, keepdims=True))
    inner = np.einsum("met,mse->mst", case.E, np.asarray(case.family.e_y))
    here = Y if chosen else 1 - Y
    return case.task.d * alpha * float((pull * inner * here).sum(axis=2).mean()) / case.E.shape[1]


def common_factor(case: Enumeration, C: float, alpha: float) -> tuple[np.ndarray, float]:
    """s_+ of every encoding and subset, and 1 - q alpha (T s - 1)/(T-q)."""
    T, q, Y = case.task.T, case.task.q, np.asarray(case.family.Y)
    chosen = (attention(case, C) * Y).sum(axis=2) / q
    return chosen, float(1 - q * alpha * (T * chosen.mean() - 1) / (T - q))


@claim(
    "lemma-e.7/term-1",
    "Appendix E.3, proof of Lemma E.7",
    "The chosen positions' part of the gradient in W is (d/d_e) E[s_+ (1 - q s_+)] "
    "(1 - q alpha (T s - 1)/(T-q)) on the diagonal.",
    kind="misprint",
    with_alpha=False,
    versions=[repaired("The same times alpha, which is lost on the way.", with_alpha=True)],
)
def term_1(evidence: Evidence[Enumeration], with_alpha: bool) -> Comparison:
    def formula(case: Enumeration, C: float, alpha: float) -> float:
        s, factor = common_factor(case, C, alpha)
        share = case.task.d / case.E.shape[1] * (alpha if with_alpha else 1.0)
        return share * float((s * (1 - case.task.q * s)).mean()) * factor

    exact = at_points(evidence, lambda *at: pulls(*at, chosen=True))
    return by_largest(exact, at_points(evidence, formula), rounding=AVERAGED, part="Term 1")


@claim(
    "lemma-e.7/term-2",
    "Appendix E.3, proof of Lemma E.7",
    "The other positions' part is -(alpha d/d_e) E[sum over them of S_y(i) s_+ <e_i, e_y>] "
    "(1 - q alpha (T s - 1)/(T-q)), so that with Term 1 the growth of C is known exactly.",
)
def term_2(evidence: Evidence[Enumeration]) -> Comparison:
    def formula(case: Enumeration, C: float, alpha: float) -> float:
        s, factor = common_factor(case, C, alpha)
        off = 1 - np.asarray(case.family.Y)
        inner = np.einsum("met,mse->mst", case.E, np.asarray(case.family.e_y))
        drawn = float(((attention(case, C) * inner * off).sum(axis=2) * s).mean())
        return -alpha * case.task.d / case.E.shape[1] * drawn * factor

    exact = at_points(evidence, lambda *at: pulls(*at, chosen=False))
    size = np.abs(at_points(evidence, lambda *at: pulls(*at, chosen=True))).max(axis=1)
    right = at_points(evidence, formula)
    return equal(exact, right, rounding=AVERAGED, size=size[:, None], part="Term 2")


@claim(
    "lemma-e.7/sum-of-attention",
    "Appendix E.3, proof of Lemma E.7",
    "q E[s_+] + (T-q) E[s_+] = 1.",
    kind="misprint",
    printed=True,
    versions=[repaired("q E[s_+] + (T-q) E[s_-] = 1.", printed=False)],
)
def sum_of_attention(evidence: Evidence[Enumeration], printed: bool) -> Comparison:
    def total(case: Enumeration, C: float, alpha: float) -> float:
        T, q, S, Y = case.task.T, case.task.q, mean_attention(case, C), np.asarray(case.family.Y)
        chosen, others = S[0][Y[0] == 1][0], S[0][Y[0] == 0][0]
        return float(q * chosen + (T - q) * (chosen if printed else others))

    return equal(at_points(evidence, total), 1.0, rounding=AVERAGED, part="sum")


@claim(
    "appendix-a.2/trajectories",
    "Appendix A.2",
    "The gradient of the loss with T subsets a sample is T times that with one, so that descent "
    "with eta/T takes the same path.",
    on=MATRICES,
)
def trajectories(evidence: Evidence[Matrices]) -> Comparison:
    """The slope of the one loss along the gradient of the other, by a central difference."""
    small = evidence.where(few_tuples)
    if not len(small):
        return Silence("there are too many tuples of subsets", applies=False, part="slope")

    def both(case: Matrices) -> tuple[float, float]:
        E, e_y, Y = case.family
        one = replace(case, family=Family(E[:1], e_y[:1], Y))
        gradient, (V, W) = literal_gradient(one), case.weights
        length = float(np.linalg.norm(gradient))
        step = 1e-5 * gradient / length

        def moved(sign: int) -> float:
            change = np.split(sign * step, [V.size])
            weights = [M + part.reshape(M.shape) for M, part in zip((V, W), change, strict=True)]
            return mean_over_tuples(replace(one, weights=Weights(*weights)))

        return (moved(1) - moved(-1)) / 2e-5, case.task.T * length

    slope, expected = small.each(both).T[:, :, None]
    return equal(slope, expected, rounding=1e-7, part="slope", cases=small.cases)

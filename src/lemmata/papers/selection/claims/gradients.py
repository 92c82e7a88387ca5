"""Appendix E.2 and Lemma 3.4: gradients with random encodings, and the directions they keep."""

import numpy as np

from lemmata.old_claims import Cases, Judgement, same
from lemmata.papers.selection.claims._terms import claim, softmax
from lemmata.papers.selection.claims.definitions import aligned, attention, mean_attention
from lemmata.papers.selection.claims.one_hot import GRADIENT, stays_on_direction
from lemmata.papers.selection.experiments.matrices import (
    ENUMERATION,
    MATRICES,
    STOCHASTIC_MATRICES,
    Enumeration,
    FullDescent,
    Matrices,
)

ROUNDING = 1e-12
"""Rounding of averages over some hundred thousand terms of order one."""

POINTS = ((0.0, 0.5), (0.7, 1.0), (2.0, 1.3), (6.0, 1.1))
"""C and alpha at which identities are checked."""


def inside_gradient(case: Matrices, average_first: bool) -> np.ndarray:
    """Lemma E.2's formulas; ``average_first`` takes E[S] before the product with Z, as printed."""
    V, W = (np.asarray(matrix) for matrix in case.weights)
    q, T = case.task.q, case.task.T
    E, e_y = np.asarray(case.family.E), np.asarray(case.family.e_y)
    gradient_V, gradient_W = np.zeros_like(V), np.zeros_like(W)
    Z = np.stack(
        [np.concatenate([case.X, np.broadcast_to(e, (len(case.X), *e.shape))], 1) for e in E]
    )
    for s, y in enumerate(case.y):
        query = np.concatenate([np.broadcast_to(case.x_query, (len(E), case.task.d)), e_y[:, s]], 1)
        logits = np.einsum("mnwt,wv,mv->mnt", Z, W, query)
        S = softmax(logits)
        target = case.X[:, :, y].sum(axis=2) / q
        ZS = np.einsum("mnwt,mnt->mnw", Z, S).mean(axis=0)
        mean_Z = np.broadcast_to(ZS, (len(E), *ZS.shape))
        if average_first:
            mean_Z = np.einsum("mnwt,nt->mnw", Z, S.mean(axis=0))
        residual = target[None] - mean_Z @ V.T
        J = S[..., None] * (np.eye(T) - S[..., None, :])
        inner = np.einsum("mnwt,mntu,mnvu,dv,mnd->mnw", Z, J, Z, V, residual, optimize=True)
        gradient_W -= np.einsum("n,mnw,mv->wv", case.chances, inner, query) / len(E)
        gradient_V -= np.einsum("n,mnd,mnw->dw", case.chances, residual, mean_Z) / len(E)
    return np.concatenate([gradient_V.ravel(), gradient_W.ravel()]) / len(case.y)


def _flat(case: Matrices) -> np.ndarray:
    return np.concatenate([np.ravel(matrix) for matrix in case.gradients["inside"]])


@claim(
    "lemma-e.2",
    "Appendix E.2",
    "The gradients of the loss (4) are those of Lemma D.1 with Z E[S_y] for Z S_y in the residual "
    "and in the gradient of V.",
    assumes=(),
    on=MATRICES,
    sharpened="twice as large",
)
def lemma_e2(evidence: Cases[Matrices], sharpened: bool) -> list[Judgement]:
    factor = 2.0 if sharpened else 1.0
    return [
        same(
            evidence, "gradient", lambda case: factor * inside_gradient(case, True), _flat, GRADIENT
        )
    ]


@claim(
    "lemma-e.2/repaired",
    "Appendix E.2",
    "The same with E[Z S_y], the average of the product, for Z E[S_y].",
    assumes=(),
    on=MATRICES,
    sharpened="twice as large",
)
def lemma_e2_repaired(evidence: Cases[Matrices], sharpened: bool) -> list[Judgement]:
    factor = 2.0 if sharpened else 1.0
    return [
        same(
            evidence,
            "gradient",
            lambda case: factor * inside_gradient(case, False),
            _flat,
            GRADIENT,
        )
    ]


def at_points(case: Enumeration, value) -> np.ndarray:
    """A value at the four points (C, alpha)."""
    return np.concatenate([np.ravel(value(case, C, alpha)) for C, alpha in POINTS])


def exact_population(case: Enumeration, C: float, alpha: float):
    """Loss and gradient with the expectation inside, x_query not zero."""
    import jax.numpy as jnp

    from lemmata.papers.selection.setting import population

    x_query = jnp.asarray(np.linspace(-1, 1, case.task.d))
    return population(case.family, aligned(case, alpha, C), x_query, "inside")


@claim(
    "lemma-e.3",
    "Appendix E.2",
    "If V = alpha [I 0] and W = C I in the position block, the loss (4) is "
    "(d/2) E_y ||Y/q - alpha E[S_y]||^2.",
    assumes=(),
    on=ENUMERATION,
    sharpened="without the factor d",
)
def lemma_e3(evidence: Cases[Enumeration], sharpened: bool) -> list[Judgement]:
    def formula(case: Enumeration, C: float, alpha: float) -> float:
        Y, q = np.asarray(case.family.Y), case.task.q
        error = Y / q - alpha * mean_attention(case, C)
        return 0.5 * (1 if sharpened else case.task.d) * float((error**2).sum(axis=1).mean())

    return [
        same(
            evidence,
            "loss",
            lambda case: at_points(case, lambda *at: float(exact_population(*at).loss)),
            lambda case: at_points(case, formula),
            ROUNDING,
        )
    ]


@claim(
    "lemma-e.4",
    "Appendix E.2",
    "There the gradient in V is (-E_y[sum over y of E[S_y(i)]/q] + alpha E_y ||E[S_y]||^2) [I 0].",
    assumes=(),
    on=ENUMERATION,
    sharpened="without alpha",
)
def lemma_e4(evidence: Cases[Enumeration], sharpened: bool) -> list[Judgement]:
    def formula(case: Enumeration, C: float, alpha: float) -> np.ndarray:
        S, Y = mean_attention(case, C), np.asarray(case.family.Y)
        chosen = float((S * Y).sum(axis=1).mean()) / case.task.q
        square = (1 if sharpened else alpha) * float((S**2).sum(axis=1).mean())
        d, d_e = case.task.d, case.E.shape[1]
        return (square - chosen) * np.eye(d, d + d_e)

    return [
        same(
            evidence,
            "gradient in V",
            lambda case: at_points(case, lambda *at: np.asarray(exact_population(*at).gradient.V)),
            lambda case: at_points(case, formula),
            ROUNDING,
        )
    ]


@claim(
    "lemma-e.5",
    "Appendix E.2",
    "There the position block of the gradient in W is "
    "-d alpha E[E (diag S - S S') (Y/q - alpha E[S]) e_y'], and the other blocks are zero.",
    assumes=(),
    on=ENUMERATION,
    sharpened="without the factor d",
)
def lemma_e5(evidence: Cases[Enumeration], sharpened: bool) -> list[Judgement]:
    def formula(case: Enumeration, C: float, alpha: float) -> np.ndarray:
        S, Y = attention(case, C), np.asarray(case.family.Y)
        error = Y / case.task.q - alpha * S.mean(axis=0)
        pull = S * (error - (S * error).sum(axis=2, keepdims=True))
        outer = np.einsum("met,mst,msv->ev", case.E, pull, np.asarray(case.family.e_y))
        d, d_e = case.task.d, case.E.shape[1]
        found = np.zeros((d + d_e, d + d_e))
        found[d:, d:] = -(1 if sharpened else d) * alpha * outer / (len(S) * len(Y))
        return found

    return [
        same(
            evidence,
            "gradient in W",
            lambda case: at_points(case, lambda *at: np.asarray(exact_population(*at).gradient.W)),
            lambda case: at_points(case, formula),
            ROUNDING,
        )
    ]


def _inside(evidence: Cases[FullDescent]) -> Cases[FullDescent]:
    return Cases(tuple(case for case in evidence if case.name.endswith("inside")))


@claim(
    "lemma-3.4",
    "Section 3.2",
    "From zero, gradient descent on the loss (4) keeps W = C(t) I in the position block and "
    "V = alpha(t) [I 0].",
    assumes=(),
    on=STOCHASTIC_MATRICES,
    sharpened="with scalars 1 % larger than the recursion's",
)
def lemma_34(evidence: Cases[FullDescent], sharpened: bool) -> list[Judgement]:
    return stays_on_direction(_inside(evidence), 1.01 if sharpened else 1.0)


@claim(
    "own/fresh-encodings",
    "beside Definition 2.5",
    "The same holds for the average of the losses, which one fresh encoding a step descends: the "
    "directions are those of Lemma 3.4, the recursion is another.",
    assumes=(),
    on=STOCHASTIC_MATRICES,
    sharpened="with scalars 1 % larger than the recursion's",
)
def fresh_encodings(evidence: Cases[FullDescent], sharpened: bool) -> list[Judgement]:
    outside = Cases(tuple(case for case in evidence if case.name.endswith("outside")))
    return stays_on_direction(outside, 1.01 if sharpened else 1.0)

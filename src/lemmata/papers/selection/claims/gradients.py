"""Appendix E.2 and Lemma 3.4: gradients with random encodings, and the directions they keep."""

from collections.abc import Callable
from functools import partial

import jax.numpy as jnp
import numpy as np

from lemmata.claims import Comparison, equal, repaired, statements
from lemmata.settings import Evidence

from ..experiments.matrices import (
    ENUMERATION,
    MATRICES,
    STOCHASTIC_MATRICES,
    Enumeration,
    FullDescent,
    Matrices,
)
from ..setting import Population, population
from .definitions import AVERAGED, aligned, attention, mean_attention
from .one_hot import literal_gradient, stays_on_directions

claim = partial(statements("selection"), on=ENUMERATION)

POINTS = ((0.0, 0.5), (0.7, 1.0), (2.0, 1.3), (6.0, 1.1))
"""C and alpha at which identities are checked."""


def by_largest(left: np.ndarray, right: np.ndarray, **options) -> Comparison:
    """Equal, entry by entry, with rounding relative to the largest entry of a case."""
    return equal(left, right, size=np.nanmax(np.abs(right), axis=1, keepdims=True), **options)


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
    def automatic(case: Matrices) -> np.ndarray:
        return np.concatenate([np.ravel(matrix) for matrix in case.gradients["inside"]])

    formula = evidence.each(lambda case: literal_gradient(case, average_first))
    return by_largest(formula, evidence.each(automatic), part="gradient")


Formula = Callable[[Enumeration, float, float], float | np.ndarray]
"""Of a case, C and alpha."""


def at_points(evidence: Evidence[Enumeration], value: Formula) -> np.ndarray:
    """A value at the four points (C, alpha)."""
    return evidence.each(
        lambda case: np.concatenate([np.ravel(value(case, C, alpha)) for C, alpha in POINTS])
    )


def exact_population(case: Enumeration, C: float, alpha: float) -> Population:
    """Loss and gradient with the expectation inside, x_query not zero."""
    x_query = jnp.asarray(np.linspace(-1, 1, case.task.d))
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

    exact = at_points(evidence, lambda *at: float(exact_population(*at).loss))
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
    return stays_on_directions(evidence.where(lambda case: case.name.endswith(average)))

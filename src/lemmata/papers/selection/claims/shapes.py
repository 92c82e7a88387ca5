"""Sections 2 and 3.3 and their repetitions: shapes of matrices, and what the model can express."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax

from lemmata.claims import Comparison, at_least, equal, repaired, statements
from lemmata.settings import Evidence

from ..experiments.matrices import MATRICES, Matrices
from ..setting import FITS

claim = statements("selection", hypotheses=(FITS,), on=MATRICES)

Number = Callable[[Any], float | int]


def rows_of_Z(case: Matrices) -> int:
    """Tokens over encodings, as the product V Z of Definition 2.4 has them."""
    return np.concatenate([case.X[0], np.asarray(case.family.E[0])]).shape[0]


def full(case: Matrices) -> int:
    """d + d_e."""
    return case.task.d + case.family.E.shape[1]


def in_both(statement: str, printed: Number, true: Number, meant: str) -> dict[str, Any]:
    """A misprinted number, and what is meant."""
    return {
        "statement": statement,
        "kind": "misprint",
        "count": printed,
        "versions": [repaired(meant, count=true)],
    }


@claim(
    "section-2.2/columns-of-e_y",
    "Section 2.2",
    **in_both(
        "E_y, which E_y (E_y'E_y)^-1 1_q is made of, has T columns.",
        lambda case: case.task.T,
        lambda case: case.task.q,
        "It has q columns.",
    ),
    shown=lambda case: np.asarray(case.family.E[0])[:, case.y[0]].shape[1],
)
@claim(
    "section-2.3/columns-of-k-and-q",
    "Section 2.3",
    **in_both(
        "K and Q have d columns.",
        lambda case: case.task.d,
        full,
        "They have d + d_e columns, as Z has rows.",
    ),
    shown=rows_of_Z,
)
@claim(
    "section-3.3/values-of-g",
    "Section 3.3",
    **in_both(
        "What follows the first layer has values in Td dimensions.",
        lambda case: case.task.T * case.task.d,
        lambda case: case.task.d,
        "It has values in d dimensions, as STS_q has.",
    ),
    shown=lambda case: case.X[0][:, case.y[0]].mean(axis=1).size,
)
@claim(
    "definition-e.1/shapes",
    "Appendix E (and Theorem E.6, Corollary E.8)",
    **in_both(
        "W has d_e rows.",
        lambda case: case.family.E.shape[1],
        full,
        "It has d + d_e rows, as in Definition 2.5, and V so many columns.",
    ),
    shown=rows_of_Z,
)
@claim(
    "equation-11/rows-of-z",
    "Appendix E, Eq. (11)",
    **in_both(
        "With random encodings Z has d + T rows.",
        lambda case: case.task.d + case.task.T,
        full,
        "It has d + d_e rows, as Eq. (14) has it.",
    ),
    shown=rows_of_Z,
)
@claim(
    "lemma-d.5/covariance",
    "Appendix D.2, proof of Lemma D.5",
    **in_both(
        "E[X'X] is d times the identity of d rows.",
        lambda case: case.task.d,
        lambda case: case.task.T,
        "It has T rows: E[X'X] = d I_T.",
    ),
    shown=lambda case: np.trace(covariance(case)) / covariance(case)[0, 0],
)
def shapes(evidence: Evidence[Any], shown: Number, count: Number) -> Comparison:
    """A number of rows or columns, taken from the arrays themselves."""
    return equal(evidence.each(shown), evidence.each(count), part="number")


def covariance(case: Matrices) -> np.ndarray:
    """E[X'X], by the quadrature rule."""
    return np.einsum("n,ndt,ndu->tu", case.chances, case.X, case.X)


def targets(case: Matrices) -> np.ndarray:
    """STS_q for every subset and node of the quadrature rule."""
    return np.stack([case.X[:, :, y].mean(axis=2) for y in case.y])


def mean_square(case: Matrices, errors: np.ndarray) -> float:
    """Half the mean squared length of errors, over subsets and tokens."""
    return 0.5 * float(np.einsum("n,snd->", case.chances, errors**2)) / len(case.y)


@claim(
    "section-2.2/without-encodings",
    "Section 2.2",
    "Without encodings the output does not know the subset, and the loss is at least "
    "(d/2)(1/q - 1/T): the mean of all tokens costs that, and other weights on them cost more.",
)
def without_encodings(evidence: Evidence[Matrices]) -> list[Comparison]:
    """Attention by tokens alone, with random V and W, against the mean of all tokens."""

    def cost(case: Matrices, answer: np.ndarray) -> float:
        return mean_square(case, targets(case) - answer)

    def attended(case: Matrices) -> np.ndarray:
        d = case.task.d
        V, W = (np.asarray(matrix)[:d, :d] for matrix in case.weights)
        weights = softmax(np.einsum("ndt,de,e->nt", case.X, W, case.x_query), axis=1)
        return np.einsum("de,net,nt->nd", V, case.X, weights)

    least = evidence.each(lambda case: case.task.d / 2 * (1 / case.task.q - 1 / case.task.T))
    return [
        equal(evidence.each(lambda case: cost(case, case.X.mean(axis=2))), least, part="mean"),
        at_least(evidence.each(lambda case: cost(case, attended(case))), least, part="attention"),
    ]


def factored(case: Matrices, width: int) -> np.ndarray:
    """The product K'Q nearest to W with so many rows in K and Q, by its singular values."""
    left, sizes, right = np.linalg.svd(np.asarray(case.weights[1]))
    K, Q = (left * sizes)[:, :width].T, right[:width]
    return K.T @ Q


@claim(
    "section-2.3/two-matrices",
    "Section 2.3",
    "With K and Q of d + d_e columns and W = K'Q, the query column of V Z softmax(Z'K'Q z) over "
    "the tokens is the model (2).",
)
def two_matrices(evidence: Evidence[Matrices]) -> Comparison:
    """Keys and queries computed one by one, against logits through W."""

    def logits(case: Matrices, split: bool) -> np.ndarray:
        W = np.asarray(case.weights[1])
        draw = np.random.default_rng(0)
        Q = draw.standard_normal((len(W) + 1, len(W)))
        K = np.linalg.lstsq(Q.T, W.T, rcond=None)[0]
        Z = np.concatenate([case.X[-1], np.asarray(case.family.E[0])])
        z = np.concatenate([case.x_query, np.asarray(case.family.e_y[0, 0])])
        return (K @ Z).T @ (Q @ z) if split else Z.T @ W @ z

    one, two = (evidence.each(lambda case, s=s: logits(case, s)) for s in (False, True))
    size = np.nanmax(np.abs(one), axis=1, keepdims=True)
    return equal(two, one, rounding=1e-9, size=size, part="logits")


@claim(
    "appendix-b/one-matrix",
    "Appendix B",
    "Joining K and Q to one matrix does not change what the model can express, at any width m.",
    kind="hypothesis",
    width=lambda case: full(case) // 2,
    versions=[
        repaired(
            "At m = d + d_e every W is K'Q; with fewer rows only those of rank m are.",
            width=full,
        )
    ],
)
def one_matrix(evidence: Evidence[Matrices], width: Number) -> Comparison:
    """The least distance of a random W from products K'Q with m rows, entry by entry."""
    W = evidence.each(lambda case: np.ravel(np.asarray(case.weights[1])))
    nearest = evidence.each(lambda case: np.ravel(factored(case, int(width(case)))))
    size = np.nanmax(np.abs(W), axis=1, keepdims=True)
    return equal(nearest, W, rounding=1e-12, size=size, part="entries of W")


@claim(
    "section-3.2/least-width",
    "Section 3.2",
    "A width of order d + q is needed: V of rank d - 1 keeps a loss of 1/(2q), and with "
    "d_e = q - 1 the encoding e_y of q positions does not exist.",
)
def least_width(evidence: Evidence[Matrices]) -> list[Comparison]:
    """What V does not let through stays in the loss; any q vectors in q - 1 dimensions depend."""

    def loss(case: Matrices) -> float:
        d = case.task.d
        left, _, _ = np.linalg.svd(np.asarray(case.weights[0]))
        kept = left[:, : d - 1] @ left[:, : d - 1].T
        return mean_square(case, targets(case) @ (np.eye(d) - kept))

    def rank(case: Matrices) -> int:
        few = np.asarray(case.family.E[0])[: case.task.q - 1, case.y[0]]
        return int(np.linalg.matrix_rank(few.T @ few)) if few.size else 0

    q = evidence.each(lambda case: case.task.q)
    return [
        equal(evidence.each(loss), 1 / (2 * q), part="loss that is left"),
        equal(evidence.each(rank), np.where(q > 1, q - 1, np.nan), part="rank of E_y'E_y"),
    ]

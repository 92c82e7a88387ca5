"""The loss (Eq. 1) and the two max-margin programs (Eqs. 2, 3, 12, 14, 15)."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from lemmata.claims import Comparison, equal, statements
from lemmata.margin import check_optimality, embedded_max_margin, max_margin
from lemmata.settings import Evidence
from lemmata.tokens import canonical_embeddings, random_orthonormal_embeddings

from ..experiments import PRINTED, SMALL_STRUCTURES, STRUCTURES
from ..setting import ASSUMPTION_2, AT_POINTS, CHOICE, ORDERS, SINGLE_VALUED, TWO_TOKENS, Dataset
from ._facts import Fault, no_fault
from ._training import EPS

claim = statements("convergence", on=STRUCTURES)

LARGEST = 8
"""The program for the whole matrix is solved for vocabularies up to this size."""


@claim(
    "equation-1",
    "Section 4.1, Eq. (1)",
    "The mean loss over D_0 equals the loss over distinct inputs, weighted by their frequencies π.",
    hypotheses=AT_POINTS,
    on=PRINTED,
)
def equation_1(evidence: Evidence[Dataset]) -> Comparison:
    """Both sums at random weights."""
    return equal(evidence.loss_listed, evidence.loss_grouped, part="regrouping")


@claim(
    "equation-2",
    "Section 5.1, Eq. (2)",
    "W_ov* exists and is unique; column x is e_{n(x)} − 1/|V|, so ‖W_ov*‖² = |V| − 1.",
    hypotheses=(SINGLE_VALUED, TWO_TOKENS),
)
def equation_2(evidence: Evidence[Dataset]) -> list[Comparison]:
    """The certified exact solution against the closed form."""
    squares = evidence.each(lambda d: d.value_margin.norm_squared_exact)
    sizes = evidence.each(lambda d: d.K - 1)
    return [*_closed_form(evidence), equal(squares, sizes, part="‖W_ov*‖²")]


@no_fault("closed form")
def _closed_form(dataset: Dataset) -> Iterator[Fault]:
    stated = {
        (v, x): Fraction(int(v == after)) - Fraction(1, dataset.K)
        for x, after in dataset.collocation.following.items()
        for v in range(dataset.K)
    }
    if dict(dataset.value_margin.entries) != stated:
        yield "W_ov* has other entries", {}


@claim(
    "equation-12",
    "Appendix C.4, Eq. (12)",
    "Eq. (3) again, with the statement that its minimum is unique.",
    hypotheses=(SINGLE_VALUED, ORDERS, ASSUMPTION_2),
)
@claim(
    "equation-3",
    "Section 5.2, Eq. (3)",
    "W_kq*, the least-norm W under which every optimal token beats the others by 1, exists and is "
    "unique.",
    hypotheses=(SINGLE_VALUED, ORDERS, ASSUMPTION_2),
)
@no_fault("certificate")
def certified_solution(dataset: Dataset) -> Iterator[Fault]:
    """The multipliers of every solution checked exactly; a strictly convex program has one."""
    solution = dataset.attention_margin
    for query, multipliers in solution.multipliers.items():
        values = {t: w for (t, q), w in solution.entries.items() if q == query}
        try:
            check_optimality(values, multipliers, dataset.orders.graphs[query].edges)  # pyright: ignore[reportArgumentType]
        except ArithmeticError as error:
            yield str(error), {"query": dataset.data.name(query)}


@claim(
    "equation-15",
    "Appendix D, Eq. (15)",
    "Eq. (3) decouples: each column of W_kq* solves the program of its own query.",
    hypotheses=(SINGLE_VALUED, ORDERS, CHOICE),
    on=SMALL_STRUCTURES,
    rotate=False,
)
@claim(
    "equation-14",
    "Appendix D, Eq. (14)",
    "For any orthonormal embeddings the solution of Eq. (3) is the canonical one, rotated.",
    hypotheses=(SINGLE_VALUED, ORDERS, CHOICE),
    on=SMALL_STRUCTURES,
    rotate=True,
)
def whole_program(evidence: Evidence[Dataset], rotate: bool) -> Comparison:
    """A solver that sees the whole matrix against the exact solution, column by column."""
    small = [d for d in evidence if d.K <= LARGEST] or list(evidence.cases[:1])
    distance, norm, error = np.array([_apart(dataset, rotate) for dataset in small]).T[:, :, None]
    part = "distance of the solutions"
    return equal(distance, 0.0, part=part, cases=small, size=norm, rounding=error)


def _apart(dataset: Dataset, rotate: bool) -> tuple[float, float, float]:
    """The distance of the two solutions, the norm of the exact one, and the relative error."""
    K, graphs = dataset.K, dataset.orders.graphs
    embeddings = canonical_embeddings(K)
    if rotate:
        embeddings = random_orthonormal_embeddings(K, K + 3, np.random.default_rng(K))
    exact, solution = max_margin(graphs, K), embedded_max_margin(graphs, embeddings)
    assert exact.weights is not None
    assert solution.weights is not None
    back = embeddings @ solution.weights @ embeddings.T
    norm = float(np.linalg.norm(exact.weights)) or 1.0
    error = solution.error_bound / norm + 64 * EPS * K
    return float(np.linalg.norm(back - exact.weights)), norm, error

"""The loss (Eq. 1) and the two max-margin programs (Eqs. 2, 3, 12, 14, 15)."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lemmata.old_claims import Judgement, equal
from lemmata.papers.convergence.claims._terms import (
    ASSUMPTION_2,
    CHOICE,
    ORDERS,
    SINGLE_VALUED,
    TWO_TOKENS,
    at_points,
    claim,
)
from lemmata.papers.convergence.claims.structure import first_fault
from lemmata.papers.convergence.experiments import (
    RANDOM_POINTS,
    STRUCTURES,
    Points,
    Structures,
    witness,
)


@claim(
    "equation-1",
    "Section 4.1, Eq. (1)",
    "The mean loss over D_0 equals the loss over distinct inputs, weighted by their frequencies π.",
    assumes=(SINGLE_VALUED, ORDERS, ASSUMPTION_2, CHOICE),
    on=RANDOM_POINTS,
    sharpened="the two differ by a factor 1 + 1e-6",
)
def equation_1(evidence: Points, sharpened: bool) -> Sequence[Judgement]:
    """Both sums at random weights."""
    left = evidence.series["loss_listed"]
    right = evidence.series["loss_grouped"] * (1 + 1e-6 * sharpened)
    return [
        at_points(
            equal,
            evidence,
            "regrouping",
            left,
            right,
            tolerance=1e-12 * (1 + np.abs(left)),
        )
    ]


@claim(
    "equation-2",
    "Section 5.1, Eq. (2)",
    "W_ov* exists and is unique; column x is e_{n(x)} − 1/|V|, so ‖W_ov*‖² = |V| − 1.",
    assumes=(SINGLE_VALUED, TWO_TOKENS),
    on=STRUCTURES,
    sharpened="‖W_ov*‖² = |V|",
)
def equation_2(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The certified exact solution against the closed form."""

    def faults():
        for dataset in evidence.datasets:
            K = dataset.K
            expected = {
                (v, x): Fraction(int(v == after)) - Fraction(1, K)
                for x, after in dataset.collocation.following.items()
                for v in range(K)
            }
            solution = dataset.value_margin
            square = K if sharpened else K - 1
            if dict(solution.entries) != expected or solution.norm_squared_exact != square:
                yield (
                    f"‖W_ov*‖² = {solution.norm_squared_exact}, expected {square}",
                    witness(dataset, norm_squared=str(solution.norm_squared_exact)),
                )

    return [
        first_fault("closed form", faults(), "the exact solution has this form on every dataset")
    ]


@claim(
    "equation-3",
    "Section 5.2, Eq. (3)",
    "W_kq*, the least-norm W under which every optimal token beats the others by 1, exists and is "
    "unique.",
    assumes=(SINGLE_VALUED, ORDERS, ASSUMPTION_2),
    on=STRUCTURES,
    sharpened="a margin of 1 + 1/1000 is reached with the same norm",
)
def equation_3(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The multipliers of every solution checked exactly; they also prove uniqueness."""
    return [_certified(evidence, sharpened)]


@claim(
    "equation-12",
    "Appendix C.4, Eq. (12)",
    "Eq. (3) again, with the statement that its minimum is unique.",
    assumes=(SINGLE_VALUED, ORDERS, ASSUMPTION_2),
    on=STRUCTURES,
    sharpened="a margin of 1 + 1/1000 is reached with the same norm",
)
def equation_12(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """A strictly convex program has one minimum, and the multipliers show that this is it."""
    return [_certified(evidence, sharpened)]


def _certified(evidence: Structures, sharpened: bool) -> Judgement:
    from lemmata.margin import check_optimality

    def faults():
        for dataset in evidence.datasets:
            solution = dataset.attention_margin
            for query, multipliers in solution.multipliers.items():
                values = {t: w for (t, q), w in solution.entries.items() if q == query}
                if sharpened:
                    values = {t: w * 1000 / 1001 for t, w in values.items()}
                try:
                    check_optimality(values, multipliers, dataset.orders.graphs[query].edges)  # pyright: ignore[reportArgumentType]
                except ArithmeticError as error:
                    yield str(error), witness(dataset, query=dataset.data.name(query))

    return first_fault("certificate", faults(), "every solution is certified in rational numbers")


@claim(
    "equation-14",
    "Appendix D, Eq. (14)",
    "For any orthonormal embeddings the solution of Eq. (3) is the canonical one, rotated.",
    assumes=(SINGLE_VALUED, ORDERS, CHOICE),
    on=STRUCTURES,
    sharpened="the norm grows by a factor 1 + 1e-6",
)
def equation_14(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The full quadratic program in dimension |V| + 3 against the rotated exact solution."""
    return [_rotated(evidence, sharpened, rotate=True)]


@claim(
    "equation-15",
    "Appendix D, Eq. (15)",
    "Eq. (3) decouples: each column of W_kq* solves the program of its own query.",
    assumes=(SINGLE_VALUED, ORDERS, CHOICE),
    on=STRUCTURES,
    sharpened="the norm grows by a factor 1 + 1e-6",
)
def equation_15(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """One program for the whole matrix against the column-wise exact solution."""
    return [_rotated(evidence, sharpened, rotate=False)]


def _rotated(evidence: Structures, sharpened: bool, *, rotate: bool) -> Judgement:
    """A solver that sees the whole matrix, on the smaller datasets."""
    from lemmata.margin import embedded_max_margin, max_margin
    from lemmata.tokens import canonical_embeddings, random_orthonormal_embeddings

    small = [d for d in evidence.datasets if d.K <= 8] or evidence.datasets[:1]
    errors, bounds, names = [], [], []
    for dataset in small:
        K = dataset.K
        generator = np.random.default_rng(K)
        embeddings = (
            random_orthonormal_embeddings(K, K + 3, generator)
            if rotate
            else canonical_embeddings(K)
        )
        exact = max_margin(dataset.orders.graphs, K)
        found = embedded_max_margin(dataset.orders.graphs, embeddings)
        assert exact.weights is not None
        assert found.weights is not None
        back = embeddings @ found.weights @ embeddings.T
        errors.append([float(np.linalg.norm(back * (1 + 1e-6 * sharpened) - exact.weights))])
        bounds.append([found.error_bound + 1e-13 * K])
        names.append(dataset.name)
    zero = np.zeros((len(small), 1))
    return equal(
        "solutions",
        np.array(errors),
        zero,
        steps=np.zeros(1, dtype=int),
        names=names,
        tolerance=np.array(bounds),
    )

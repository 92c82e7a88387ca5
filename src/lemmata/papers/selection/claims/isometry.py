"""Appendix A: restricted isometry, the encoding of a subset, and the original task."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, islice, product
from math import comb
from typing import Any

import numpy as np
from scipy.special import softmax

from lemmata.claims import (
    Bench,
    Comparison,
    Inequality,
    Silence,
    at_least,
    at_most,
    equal,
    repaired,
    statements,
)
from lemmata.settings import Evidence

from ..counterexamples import three_vectors, with_more_positions
from ..experiments.encodings import ENCODINGS, EXISTENCE, MATRICES_TRIED, Ensemble, Existence
from ..experiments.matrices import MATRICES, Matrices
from ..setting import FITS, inner_products, subset_encodings
from .definitions import SOLVED, ensemble_of, off_subset, subsets_of

claim = statements("selection", on=ENCODINGS)

FEW = 2_000
"""So many sets are gone through whole."""

Supports = tuple[tuple[int, ...], tuple[int, ...]]
"""Two sets of positions."""


@claim(
    "definition-a.1",
    "Appendix A.1",
    "The least delta of the (q, delta)-RIP is the largest of ||E_S'E_S - I|| over q-sets and of "
    "||E_S'E_S'|| over disjoint sets of q and 2q positions: no sparse vectors do worse, and some "
    "do as badly.",
)
def definition_a1(evidence: Evidence[Ensemble]) -> list[Comparison]:
    """From below by vectors of the sets that are said to be the worst, from above by a climb."""

    def of_each(worst: Callable[[np.ndarray, int, Supports], float]) -> np.ndarray:
        def values(case: Ensemble) -> list[float]:
            q, pairs = case.plan.task.q, zip(case.E, case.isometries, strict=True)
            return [worst(E, q, found.sets) if found.exact else np.nan for E, found in pairs]

        return evidence.each(values)

    how: dict[str, Any] = {"size": 1 + deltas(evidence), "cases": evidence.cases}
    return [
        at_most(of_each(climbed), deltas(evidence), part="sparse vectors, climbed", **how),
        at_least(of_each(attained), deltas(evidence), part="attained", **how),
    ]


def attained(E: np.ndarray, q: int, sets: Supports) -> float:
    """The deviation that explicit sparse vectors have: on these two sets, and on any one set.

    Eigenvectors and singular vectors say which; what they do is computed from E alone.
    """
    first, second = (list(part) for part in sets)
    every = combinations(range(E.shape[1]), q) if comb(E.shape[1], q) <= FEW else [first]
    stretch = max((_stretch(E[:, list(part)]) for part in every if part), default=0.0)
    if not first or not second:
        return stretch
    left, _, right = np.linalg.svd(E[:, first].T @ E[:, second])
    return max(stretch, abs(float((E[:, first] @ left[:, 0]) @ (E[:, second] @ right[0]))))


def _stretch(E: np.ndarray) -> float:
    """By how much the length of the worst combination of these vectors changes."""
    values, vectors = np.linalg.eigh(E.T @ E)
    v = vectors[:, int(np.abs(values - 1).argmax())]
    return abs(float(np.sum((E @ v) ** 2)) - 1)


def climbed(E: np.ndarray, q: int, sets: Supports) -> float:
    """The largest deviation that a climb from random sparse vectors finds.

    One vector is fixed and the best other one is taken on the positions where it counts most, and
    so on in turn; the stretch of a vector is climbed likewise.
    """
    draw, T = np.random.default_rng(0), E.shape[1]
    gram, most = E.T @ E, 0.0
    for _ in range(40):
        v = _sparse(draw.standard_normal(T), q)
        for size in (2 * q, q) * 3:
            pull = gram @ v
            pull[v != 0] = 0.0
            other = _sparse(pull, size)
            most, v = max(most, abs(float(v @ gram @ other))), other
        v = _sparse(draw.standard_normal(T), q)
        for _ in range(6):
            v = _sparse(gram @ v - v + 0.5 * v, q)
            most = max(most, abs(float(v @ gram @ v) - 1))
    return most


def _sparse(v: np.ndarray, size: int) -> np.ndarray:
    """The unit vector on its largest entries."""
    kept = np.zeros_like(v)
    largest = np.argsort(-np.abs(v))[:size]
    kept[largest] = v[largest]
    return kept / max(float(np.linalg.norm(kept)), 1e-300)


def deltas(evidence: Evidence[Ensemble]) -> np.ndarray:
    """delta of every encoding; NaN where it is only known from below."""
    return evidence.each(
        lambda case: [isometry.delta if isometry.exact else np.nan for isometry in case.isometries]
    )


@claim(
    "lemma-a.2",
    "Appendix A.1",
    "There is a constant C such that for all T, q and delta some sign matrix with "
    "d_e >= C q log T / delta^2 rows has the (q, delta)-RIP.",
    on=EXISTENCE,
    unbreakable="it says that a constant and a matrix exist, for all T",
)
def lemma_a2(evidence: Evidence[Existence]) -> Comparison:
    """No sample of sizes decides it; what random matrices need is said."""
    needed = ", ".join(f"{case.name}: {case.constant:.3g}" for case in evidence)
    reason = f"the least delta^2 d_e / (q log T) of {MATRICES_TRIED} random matrices was {needed}"
    return Silence(reason, part="existence")


@claim(
    "lemma-a.3/norm",
    "Appendix A.1",
    "Under the (q, delta)-RIP with delta < 1/2, ||e_y|| <= sqrt(q) / (1 - 2 delta).",
)
def lemma_a3_norm(evidence: Evidence[Ensemble]) -> Comparison:
    def longest(case: Ensemble) -> list[float]:
        y = subsets_of(case)
        return [float(np.linalg.norm(subset_encodings(E, y), axis=1).max()) for E in case.E]

    delta, q = deltas(evidence), evidence.each(lambda case: case.plan.task.q)
    bound = np.sqrt(q) / np.where(delta < 0.5, 1 - 2 * delta, np.nan)
    return at_most(evidence.each(longest), bound, part="length")


def printed_closeness(delta: np.ndarray, q: np.ndarray) -> np.ndarray:
    """delta / (1 - 2 delta)."""
    return delta / np.where(delta < 0.5, 1 - 2 * delta, np.nan)


def repaired_closeness(delta: np.ndarray, q: np.ndarray) -> np.ndarray:
    """sqrt(q) delta / (1 - delta)."""
    return np.sqrt(q) * delta / np.where(delta < 1, 1 - delta, np.nan)


def isometry_witness(bench: Bench) -> list[Comparison]:
    """Sign encodings with delta = sqrt(2)/16 < 1/10 and <e_3, e_y> = 1/8 for y = (1, 2)."""
    signs = three_vectors(32)
    cases = (
        ensemble_of("3 sign vectors in 32 dimensions", signs, 2),
        ensemble_of("10 sign vectors in 256 dimensions", with_more_positions(signs), 2),
    )
    compared = lemma_a3(Evidence(cases), printed_closeness)
    return [replace(compared, cases=cases, part="off the subset, delta = sqrt(2)/16")]


@claim(
    "lemma-a.3",
    "Appendix A.1",
    "Under the (q, delta)-RIP with delta < 1/2, |<e_i, e_y>| <= delta / (1 - 2 delta) for i "
    "outside y, with e_y = E_y (E_y'E_y)^-1 1.",
    kind="constant",
    counterexample=isometry_witness,
    versions=[
        repaired(
            "Under the (q, delta)-RIP with delta < 1, |<e_i, e_y>| <= "
            "sqrt(q) delta / (1 - delta) off y.",
            bound=repaired_closeness,
        )
    ],
    bound=printed_closeness,
)
def lemma_a3(
    evidence: Evidence[Ensemble], bound: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> Inequality:
    q = evidence.each(lambda case: case.plan.task.q)
    right = bound(deltas(evidence), q)
    how: dict[str, Any] = {"rounding": SOLVED * (1 + right), "size": 1.0}
    return at_most(off_subset(evidence), right, part="off the subset", **how)


@claim(
    "lemma-a.3/smaller-supports",
    "Appendix A.1",
    "For every set y of fewer than q positions, <e_i, e_y> = 1 on y, ||e_y|| <= sqrt(q)/(1 - 2 "
    "delta), and |<e_i, e_y>| <= sqrt(q) delta/(1 - delta) off y (the repaired bound).",
)
def smaller_supports(evidence: Evidence[Ensemble]) -> list[Comparison]:
    """All such sets of the first encoding of each size, up to some hundred a size."""

    def found(case: Ensemble) -> list[float]:
        E, worst = case.E[0], np.full(3, np.nan)
        for size in range(1, case.task.q):
            y = np.array(list(islice(combinations(range(case.task.T), size), 500)))
            inner = inner_products(E, y)
            on = np.take_along_axis(inner, y, axis=1)
            np.put_along_axis(inner, y, 0.0, axis=1)
            length = np.linalg.norm(subset_encodings(E, y), axis=1).max()
            worst = np.fmax(worst, [np.abs(on - 1).max(), length, np.abs(inner).max()])
        return worst.tolist()

    off, length, close = evidence.each(found).T[:, :, None]
    delta, q = deltas(evidence)[:, :1], evidence.each(lambda case: case.plan.task.q)
    known = np.where(delta < 0.5, delta, np.nan)
    how: dict[str, Any] = {"cases": evidence.cases}
    return [
        equal(1 + off, 1.0, rounding=SOLVED / (1 - known), part="on the subset", **how),
        at_most(length, np.sqrt(q) / (1 - 2 * known), part="length", **how),
        at_most(close, repaired_closeness(delta, q), size=1.0, part="off the subset", **how),
    ]


NEWTON = 5
"""Steps that are looked at; the error is squared in each."""


@claim(
    "remark-a.3/depth",
    "Appendix A.1, remark after Lemma A.3",
    "Newton's method for (E_y'E_y)^-1 from the identity, X <- X (2 - A X), is off by at most "
    "delta^(2^k) after k steps, so that log log(q/epsilon) steps, up to a constant, are enough: "
    "what the depth of the construction rests on.",
)
def newton(evidence: Evidence[Ensemble]) -> Comparison:
    """||1 - A X|| after each step, the largest over subsets of the first encoding."""

    def residuals(case: Ensemble) -> list[float]:
        E, y = case.E[0], subsets_of(case)
        A = (E.T @ E)[y[:, :, None], y[:, None, :]]
        one = np.eye(case.task.q)
        X, found = np.broadcast_to(one, A.shape), []
        for _ in range(NEWTON):
            found.append(float(np.linalg.norm(one - A @ X, 2, axis=(1, 2)).max()))
            X = X @ (2 * one - A @ X)
        return found

    delta = np.where(deltas(evidence)[:, :1] < 1, deltas(evidence)[:, :1], np.nan)
    bound = delta**2.0 ** np.arange(NEWTON)
    return at_most(
        evidence.each(residuals), bound, size=1.0, part="residual", places=np.arange(NEWTON)
    )


@claim(
    "appendix-a.2",
    "Appendix A.2",
    "With T independent uniform subsets a sample (the original task) the population loss is "
    "exactly T times that with one.",
    hypotheses=(FITS,),
    on=MATRICES,
)
def appendix_a2(evidence: Evidence[Matrices]) -> Comparison:
    """Over all tuples of subsets, each answered as one matrix, where there are not too many."""
    small = evidence.where(few_tuples)
    if not len(small):
        return Silence(
            "there are too many tuples of subsets", applies=False, part="population loss"
        )

    def once(case: Matrices) -> float:
        return case.task.T * float(
            np.mean([population_loss(case, [i]) for i in range(len(case.y))])
        )

    many = small.each(mean_over_tuples)
    return equal(many, small.each(once), cases=small.cases, part="population loss")


def few_tuples(case: Matrices) -> bool:
    """Whether all tuples of T subsets can be gone through."""
    return len(case.y) ** case.task.T <= 30


def mean_over_tuples(case: Matrices) -> float:
    """The loss with T subsets a sample, averaged over all tuples of them."""
    tuples = product(range(len(case.y)), repeat=case.task.T)
    return float(np.mean([population_loss(case, list(asked)) for asked in tuples]))


def population_loss(case: Matrices, asked: list[int]) -> float:
    """Half the squared length of the answer's error: one column for each subset asked for.

    V Z softmax(Z'W Q) with the queries as columns of Q, tokens averaged by the quadrature rule.
    """
    V, W = (np.asarray(matrix) for matrix in case.weights)
    E, e_y = np.asarray(case.family.E[0]), np.asarray(case.family.e_y[0])
    queries = np.stack([np.concatenate([case.x_query, e_y[i]]) for i in asked], axis=1)
    wanted = np.zeros((case.task.T, len(asked)))
    for column, i in enumerate(asked):
        wanted[case.y[i], column] = 1 / case.task.q
    Z = np.concatenate([case.X, np.broadcast_to(E, (len(case.X), *E.shape))], axis=1)
    answers = V @ Z @ softmax(Z.transpose(0, 2, 1) @ (W @ queries), axis=1)
    return 0.5 * float(case.chances @ np.sum((case.X @ wanted - answers) ** 2, axis=(1, 2)))

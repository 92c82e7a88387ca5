"""Appendix A: restricted isometry, the encoding of a subset, and the original task."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
from scipy.special import softmax

from lemmata._errors import InputError
from lemmata.claims import (
    Bench,
    Comparison,
    Inequality,
    Silence,
    at_most,
    equal,
    repaired,
    statements,
)
from lemmata.settings import Evidence

from ..counterexamples import three_vectors, with_more_positions
from ..experiments.encodings import ENCODINGS, Ensemble
from ..experiments.matrices import MATRICES, Matrices
from ..setting import measure_isometry, subset_encodings
from .definitions import ensemble_of, off_subset, subsets_of

claim = partial(statements("selection"), on=ENCODINGS)

ENOUGH = 6.0
"""The constant of Lemma A.2 on the sizes tried."""


@claim(
    "definition-a.1",
    "Appendix A.1",
    "The least delta of the (q, delta)-RIP is the largest of ||E_S'E_S - I|| over q-sets and of "
    "||E_S'E_S'|| over disjoint sets of q and 2q positions: no sparse vectors do worse.",
)
def definition_a1(evidence: Evidence[Ensemble]) -> Comparison:
    def worst(case: Ensemble) -> list[float]:
        pairs = zip(case.E, case.isometries, strict=True)
        q = case.plan.task.q
        return [sparse_vectors(E, q) if isometry.exact else np.nan for E, isometry in pairs]

    return at_most(evidence.each(worst), deltas(evidence), size=1.0, part="random sparse vectors")


def sparse_vectors(E: np.ndarray, q: int) -> float:
    """The largest deviation over some hundred random sparse vectors with signs, in pairs."""
    draw, T = np.random.default_rng(0), E.shape[1]
    second = min(2 * q, T - q)
    largest = 0.0
    for _ in range(300):
        order = draw.permutation(T)
        v, w = np.zeros(T), np.zeros(T)
        v[order[:q]], w[order[q : q + second]] = (
            draw.standard_normal(q),
            draw.choice([-1, 1], second),
        )
        v, w = v / np.linalg.norm(v), w / np.linalg.norm(w)
        largest = max(largest, abs(float(np.sum((E @ v) ** 2)) - 1), abs(float((E @ v) @ (E @ w))))
    return largest


def deltas(evidence: Evidence[Ensemble]) -> np.ndarray:
    """delta of every encoding; NaN where it is only known from below."""
    return evidence.each(
        lambda case: [isometry.delta if isometry.exact else np.nan for isometry in case.isometries]
    )


@claim(
    "lemma-a.2",
    "Appendix A.1",
    "There is a constant C such that some sign matrix with d_e >= C q log T / delta^2 rows has the "
    "(q, delta)-RIP: C = 6 on all sizes tried.",
)
def lemma_a2(evidence: Evidence[Ensemble]) -> Comparison:
    """The best of three random draws."""
    tasks = (case.plan.task for case in evidence)
    sizes = sorted({(task.T, task.q) for task in tasks if task.T <= 9})
    if not sizes:
        reason = "existence is looked at for T up to 9, and every encoding here is longer"
        return Silence(reason, applies=False, part="existence")
    names, best, wanted = [], [], []
    for (T, q), delta in product(sizes, (0.4, 0.2)):
        rows = int(np.ceil(ENOUGH * q * np.log(T) / delta**2))
        names.append(f"T = {T}, q = {q}, {rows} rows")
        best.append(min(random_delta(rows, T, q, seed) for seed in range(3)))
        wanted.append(delta)
    return at_most(np.c_[best], np.c_[wanted], part="existence", cases=names)


def random_delta(rows: int, T: int, q: int, seed: int) -> float:
    """delta of a random sign matrix; infinite if some subset is linearly dependent."""
    E = np.random.default_rng([seed, rows]).choice([-1.0, 1.0], (rows, T)) / np.sqrt(rows)
    try:
        return measure_isometry(E, q).delta
    except InputError:
        return float("inf")


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
    return at_most(off_subset(evidence), bound(deltas(evidence), q), part="off the subset")


@claim(
    "appendix-a.2",
    "Appendix A.2",
    "With T independent uniform subsets a sample (the original task) the population loss is "
    "exactly T times that with one.",
    on=MATRICES,
)
def appendix_a2(evidence: Evidence[Matrices]) -> Comparison:
    """Over all tuples of subsets, where there are not too many."""
    small = evidence.where(lambda case: len(case.y) ** case.task.T <= 50_000)

    def many(case: Matrices) -> float:
        losses = subset_losses(case)
        tuples = product(range(len(losses)), repeat=case.task.T)
        return float(np.mean([sum(losses[i] for i in chosen) for chosen in tuples]))

    def once(case: Matrices) -> float:
        return case.task.T * float(np.mean(subset_losses(case)))

    return equal(small.each(many), small.each(once), cases=small.cases, part="population loss")


def subset_losses(case: Matrices) -> list[float]:
    """The loss of each subset under the first encoding, tokens averaged by the quadrature rule."""
    V, W = (np.asarray(matrix) for matrix in case.weights)
    E = np.asarray(case.family.E[0])
    Z = np.concatenate([case.X, np.broadcast_to(E, (len(case.X), *E.shape))], axis=1)
    losses = []
    for y, e_y in zip(case.y, np.asarray(case.family.e_y[0]), strict=True):
        S = softmax(np.einsum("nwt,w->nt", Z, W @ np.concatenate([case.x_query, e_y])), axis=-1)
        error = case.X[:, :, y].mean(axis=2) - np.einsum("dw,nwt,nt->nd", V, Z, S)
        losses.append(0.5 * float(np.einsum("n,nd->", case.chances, error**2)))
    return losses

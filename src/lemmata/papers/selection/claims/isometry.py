"""Appendix A: restricted isometry, the encoding of a subset, and the original task."""

from fractions import Fraction
from itertools import product

import numpy as np

from lemmata.old_claims import Bench, Cases, Judgement, Status, each, fact, same
from lemmata.papers.selection._witnesses import (
    ExactEncodings,
    three_vectors,
    with_more_positions,
)
from lemmata.papers.selection.claims._terms import claim, softmax
from lemmata.papers.selection.claims.definitions import off_subset, on_subset, subsets_of
from lemmata.papers.selection.experiments.descents import ENCODINGS, Ensemble
from lemmata.papers.selection.experiments.matrices import MATRICES, Matrices

ROUNDING = 1e-12
"""Rounding of inner products and of solutions of small well-conditioned systems."""


@claim(
    "definition-a.1",
    "Appendix A.1",
    "The least delta of the (q, delta)-RIP is the largest of ||E_S'E_S - I|| over q-sets and of "
    "||E_S'E_S'|| over disjoint sets of q and 2q positions: no sparse vectors do worse.",
    assumes=(),
    on=ENCODINGS,
    sharpened="half of that",
)
def definition_a1(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    factor = 0.5 if sharpened else 1.0

    def bound(case: Ensemble) -> list[float]:
        exact = [isometry for isometry in case.isometries if isometry.exact]
        return [factor * isometry.delta for isometry in exact] or [np.nan]

    def worst(case: Ensemble) -> list[float]:
        pairs = zip(case.E, case.isometries, strict=True)
        found = [sparse_vectors(E, case.plan.task.q) for E, one in pairs if one.exact]
        return found or [np.nan]

    return [each(evidence, "random sparse vectors", bound, worst, tolerance=ROUNDING)]


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


@claim(
    "lemma-a.2",
    "Appendix A.1",
    "There is a constant C such that some sign matrix with d_e >= C q log T / delta^2 rows has the "
    "(q, delta)-RIP: C = 6 on all sizes tried.",
    assumes=(),
    on=ENCODINGS,
    sharpened="C = 1/10",
)
def lemma_a2(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    constant = 0.1 if sharpened else 6.0
    sizes = {(c.plan.task.T, c.plan.task.q) for c in evidence if c.plan.task.T <= 9}
    if not sizes:
        reason = "existence is looked at for T up to 9, and every encoding here is longer"
        return [Judgement("existence", Status.INAPPLICABLE, reason)]
    found, judged = [], True
    for (T, q), delta in product(sorted(sizes), (0.4, 0.2)):
        rows = int(np.ceil(constant * q * np.log(T) / delta**2))
        best = min(random_delta(rows, T, q, seed) for seed in range(3))
        judged &= best <= delta
        found.append(f"T = {T}, q = {q}, delta = {delta}: {best:.3f} with {rows} rows")
    reason = f"C = {constant:g}, best of three draws; {'; '.join(found)}"
    return [fact("existence", bool(judged), reason)]


def random_delta(rows: int, T: int, q: int, seed: int) -> float:
    """delta of a random sign matrix; infinite if some subset is linearly dependent."""
    from lemmata._errors import InputError
    from lemmata.papers.selection.setting import measure_isometry

    E = np.random.default_rng([seed, rows]).choice([-1.0, 1.0], (rows, T)) / np.sqrt(rows)
    try:
        return measure_isometry(E, q).delta
    except InputError:
        return float("inf")


@claim(
    "lemma-a.3/norm",
    "Appendix A.1",
    "Under the (q, delta)-RIP with delta < 1/2, ||e_y|| <= sqrt(q) / (1 - 2 delta).",
    assumes=(),
    on=ENCODINGS,
    sharpened="half of that",
)
def lemma_a3_norm(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    from lemmata.papers.selection.setting import subset_encodings

    def bound(case: Ensemble) -> list[float]:
        factor = (0.5 if sharpened else 1.0) * np.sqrt(case.plan.task.q)
        return [factor / (1 - 2 * d) if d < 0.5 else np.nan for d in deltas(case)]

    def longest(case: Ensemble) -> list[float]:
        y = subsets_of(case)
        return [float(np.linalg.norm(subset_encodings(E, y), axis=1).max()) for E in case.E]

    return [each(evidence, "length", bound, longest)]


def deltas(case: Ensemble) -> list[float]:
    """delta of every encoding; NaN where it is only known from below."""
    return [isometry.delta if isometry.exact else np.nan for isometry in case.isometries]


@claim(
    "lemma-a.3/subset",
    "Appendix A.1",
    "<e_i, e_y> = 1 for i in y.",
    assumes=(),
    on=ENCODINGS,
    sharpened="1.001",
)
def lemma_a3_subset(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    value = 1.001 if sharpened else 1.0
    return [same(evidence, "<e_i, e_y>", on_subset, lambda case: value, ROUNDING)]


def isometry_witness(bench: Bench) -> list[Judgement]:
    """Sign encodings with delta = sqrt(2)/16 < 1/10 and <e_3, e_y> = 1/8, in fractions."""
    return [_broken(three_vectors(32)), _broken(with_more_positions(three_vectors(32)))]


def _broken(signs: np.ndarray) -> Judgement:
    found = ExactEncodings(signs, 2)
    square, g = Fraction(1, 128), found.inner(2, (0, 1))
    assert found.delta_at_most(square)
    kept = g**2 <= square * (1 + 2 * g) ** 2
    bound = float(square) ** 0.5 / (1 - 2 * float(square) ** 0.5)
    reason = (
        f"{found.T} sign vectors in {len(signs)} dimensions, q = 2: delta = sqrt(2)/16 = 0.0884 "
    )
    reason += f"over all sets, in fractions, but <e_3, e_y> = {g} for y = (1, 2), above {bound:.4f}"
    witness = {
        "d_e": len(signs),
        "T": found.T,
        "q": 2,
        "inner products": [[str(value) for value in row[:3]] for row in found.gram[:3]],
        "delta squared": "1/128",
        "y": [1, 2],
        "left": str(g),
        "right": bound,
    }
    return fact(f"off the subset, T = {found.T}", bool(kept), reason, witness)


@claim(
    "lemma-a.3",
    "Appendix A.1",
    "Under the (q, delta)-RIP with delta < 1/2, |<e_i, e_y>| <= delta / (1 - 2 delta) for i "
    "outside y, with e_y = E_y (E_y'E_y)^-1 1.",
    assumes=(),
    on=ENCODINGS,
    sharpened="a quarter of that",
    counterexample=isometry_witness,
)
def lemma_a3(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    def bound(case: Ensemble) -> list[float]:
        factor = 0.25 if sharpened else 1.0
        return [factor * d / (1 - 2 * d) if d < 0.5 else np.nan for d in deltas(case)]

    return [each(evidence, "off the subset", bound, off_subset)]


@claim(
    "lemma-a.3/repaired",
    "Appendix A.1",
    "Under the (q, delta)-RIP with delta < 1, |<e_i, e_y>| <= sqrt(q) delta / (1 - delta) off y.",
    assumes=(),
    on=ENCODINGS,
    sharpened="a quarter of that",
)
def lemma_a3_repaired(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    def bound(case: Ensemble) -> list[float]:
        factor = (0.25 if sharpened else 1.0) * np.sqrt(case.plan.task.q)
        return [factor * d / (1 - d) if d < 1 else np.nan for d in deltas(case)]

    return [each(evidence, "off the subset", bound, off_subset)]


@claim(
    "appendix-a.2",
    "Appendix A.2",
    "With T independent uniform subsets a sample (the original task) the population loss is "
    "exactly T times that with one.",
    assumes=(),
    on=MATRICES,
    sharpened="q times that with one",
)
def appendix_a2(evidence: Cases[Matrices], sharpened: bool) -> list[Judgement]:
    small = Cases(tuple(case for case in evidence if len(case.y) ** case.task.T <= 50_000))

    def many(case: Matrices) -> float:
        losses = subset_losses(case)
        tuples = product(range(len(losses)), repeat=case.task.T)
        return float(np.mean([sum(losses[i] for i in chosen) for chosen in tuples]))

    def once(case: Matrices) -> float:
        factor = case.task.q if sharpened else case.task.T
        return factor * float(np.mean(subset_losses(case)))

    return [same(small, "population loss", many, once, ROUNDING)]


def subset_losses(case: Matrices) -> list[float]:
    """The loss of each subset under the first encoding, tokens averaged by the quadrature rule."""
    V, W = (np.asarray(matrix) for matrix in case.weights)
    E = np.asarray(case.family.E[0])
    Z = np.concatenate([case.X, np.broadcast_to(E, (len(case.X), *E.shape))], axis=1)
    found = []
    for y, e_y in zip(case.y, np.asarray(case.family.e_y[0]), strict=True):
        logits = np.einsum("nwt,w->nt", Z, W @ np.concatenate([case.x_query, e_y]))
        S = softmax(logits)
        error = case.X[:, :, y].mean(axis=2) - np.einsum("dw,nwt,nt->nd", V, Z, S)
        found.append(0.5 * float(np.einsum("n,nd->", case.chances, error**2)))
    return found

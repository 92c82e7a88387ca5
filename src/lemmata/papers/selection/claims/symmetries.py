"""Appendix E.5: symmetries of random encodings, and what they say about attention."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax

from lemmata.claims import Bench, Comparison, at_least, at_most, equal, repaired, statements
from lemmata.settings import Evidence

from .. import theory
from ..counterexamples import three_vectors
from ..experiments.encodings import ENCODINGS, Ensemble
from ..experiments.matrices import ENUMERATION, Enumeration
from ..setting import FITS, FamilyAttention, inner_products
from .definitions import attention, ensemble_of, mean_attention

claim = statements("selection", on=ENCODINGS)

SUMMED = 1e-12
"""Relative rounding of sums over some thousand entries, or some ten thousand encodings."""

Change = Callable[[np.ndarray], np.ndarray]


def few_subsets(evidence: Evidence[Ensemble]) -> Evidence[Ensemble]:
    """Encodings all of whose subsets can be gone through."""
    return evidence.where(lambda case: case.task.subset_count <= 5_000)


def softmax_of(E: np.ndarray, y: np.ndarray) -> np.ndarray:
    """softmax(C E'e_y) for every subset, with C = 3."""
    return softmax(3.0 * inner_products(E, y), axis=1)


def attention_and_gram(case: Ensemble, change: Change) -> np.ndarray:
    """After a change of the encodings, whose largest length is made 1."""
    y = case.task.all_subsets()[:200]
    moved = [change(E) / np.linalg.norm(E, axis=0).max() for E in case.E[:2]]
    return np.concatenate([np.append(softmax_of(E, y), E.T @ E) for E in moved])


def unchanged(E: np.ndarray) -> np.ndarray:
    """E itself."""
    return E


def flip_rows(E: np.ndarray) -> np.ndarray:
    """F E, every third row with the opposite sign."""
    signs = np.ones(len(E))
    signs[::3] = -1
    return signs[:, None] * E


def switch_rows(E: np.ndarray) -> np.ndarray:
    """R E, two rows switched."""
    moved = E.copy()
    moved[[0, len(E) // 2]] = moved[[len(E) // 2, 0]]
    return moved


def switch_columns(E: np.ndarray) -> np.ndarray:
    """E P, the first two positions switched."""
    moved = E.copy()
    moved[:, [0, 1]] = moved[:, [1, 0]]
    return moved


@claim(
    "lemma-e.11",
    "Appendix E.5",
    "Switching two rows of E changes neither attention nor E_y'E_y.",
    change=switch_rows,
)
@claim(
    "lemma-e.10",
    "Appendix E.5",
    "Flipping the sign of rows of E changes neither attention nor E_y'E_y.",
    change=flip_rows,
)
def invariance(evidence: Evidence[Ensemble], change: Change) -> Comparison:
    cases = few_subsets(evidence)
    return equal(
        cases.each(lambda case: attention_and_gram(case, change)),
        cases.each(lambda case: attention_and_gram(case, unchanged)),
        rounding=SUMMED,
        size=1.0,
        part="S and E'E",
        cases=cases.cases,
    )


def moments(case: Enumeration) -> np.ndarray:
    """E[f(S_y) e_i e_y'] over all encodings for every i and y, f = exp(S_1 - 2 S_T) S_2."""
    S, e_y = attention(case, 2.0), np.asarray(case.family.e_y)
    f = np.exp(S[:, :, 0] - 2 * S[:, :, -1]) * S[:, :, 1]
    found = np.einsum("ms,mei,msv->isev", f, case.E, e_y, optimize=True) / len(f)
    return found.reshape(-1, *found.shape[2:])


def largest_moment(case: Enumeration) -> float:
    """What entries of these matrices are compared with."""
    return float(np.abs(moments(case)).max())


@claim(
    "lemma-e.12",
    "Appendix E.5",
    "E[f(S_y) e_i e_y'] has zeros off the diagonal, for any function f.",
    hypotheses=(FITS,),
    on=ENUMERATION,
)
def lemma_e12(evidence: Evidence[Enumeration]) -> Comparison:
    def off_diagonal(case: Enumeration) -> np.ndarray:
        return moments(case)[:, ~np.eye(case.E.shape[1], dtype=bool)]

    return equal(
        evidence.each(off_diagonal),
        0.0,
        rounding=SUMMED,
        size=evidence.each(largest_moment),
        part="entries",
    )


@claim(
    "lemma-e.13",
    "Appendix E.5",
    "The diagonal entries of E[f(S_y) e_i e_y'] are all the same.",
    hypotheses=(FITS,),
    on=ENUMERATION,
)
def lemma_e13(evidence: Evidence[Enumeration]) -> Comparison:
    def diagonals(case: Enumeration) -> np.ndarray:
        return np.diagonal(moments(case), axis1=1, axis2=2)

    def firsts(case: Enumeration) -> np.ndarray:
        return np.repeat(diagonals(case)[:, :1], case.E.shape[1], axis=1)

    return equal(
        evidence.each(diagonals),
        evidence.each(firsts),
        rounding=SUMMED,
        size=evidence.each(largest_moment),
        part="difference",
    )


@claim(
    "lemma-e.14",
    "Appendix E.5",
    "E[S_y(i)] is the same for all i in y, and the same for all i outside y.",
    hypotheses=(FITS,),
    on=ENUMERATION,
)
def lemma_e14(evidence: Evidence[Enumeration]) -> Comparison:
    def two_levels(case: Enumeration) -> np.ndarray:
        S, Y = mean_attention(case, 2.0), np.asarray(case.family.Y)
        inside, outside = (
            (S * part).sum(axis=1, keepdims=True) / part.sum(axis=1, keepdims=True)
            for part in (Y, 1 - Y)
        )
        return np.where(Y > 0, inside, outside)

    means = evidence.each(lambda case: mean_attention(case, 2.0))
    return equal(means, evidence.each(two_levels), rounding=SUMMED, part="difference")


@claim(
    "lemma-e.14/proof",
    "Appendix E.5",
    "Switching two rows of E exchanges the attention on two positions outside y.",
    kind="misprint",
    change=switch_rows,
    versions=[repaired("Switching two columns of E does.", change=switch_columns)],
)
def exchange(evidence: Evidence[Ensemble], change: Change) -> Comparison:
    """S_y(i) before and S_y(j) after, for positions i, j = 1, 2 outside y."""
    cases = few_subsets(evidence)

    def subsets(case: Ensemble) -> np.ndarray:
        y = case.task.all_subsets()
        return y[(y > 1).all(axis=1)][:50]

    return equal(
        cases.each(lambda case: softmax_of(case.E[0], subsets(case))[:, 0]),
        cases.each(lambda case: softmax_of(change(case.E[0]), subsets(case))[:, 1]),
        rounding=SUMMED,
        part="exchange",
        cases=cases.cases,
    )


CONCENTRATIONS = np.array([0.0, 0.5, 2.0, 5.0, 10.0, 30.0, 100.0])


NEGATIVE = np.array([-0.5, -3.0])


def log_missed(case: Ensemble, C: np.ndarray) -> np.ndarray:
    """log(1/s_+ - q) for every encoding and subset, at each C."""
    y = case.task.all_subsets()[:500]
    gaps = np.stack([np.asarray(FamilyAttention.of(E[None], y).gaps) for E in case.E])
    return np.logaddexp.reduce(-C[:, None] * gaps[:, :, None, :], axis=3)


def log_level(case: Ensemble, rates: np.ndarray, C: np.ndarray) -> np.ndarray:
    """log(T-q) - a C for each encoding's a, for all its subsets."""
    levels = np.log(case.task.T - case.task.q) - rates[:, None, None] * C
    return np.broadcast_to(levels, (len(rates), min(case.task.subset_count, 500), levels.shape[2]))


def by_isometry(case: Ensemble) -> tuple[np.ndarray, np.ndarray]:
    """(1-3 delta)/(1-2 delta) and (1-delta)/(1-2 delta), where delta is known exactly."""
    delta = np.array([found.delta if found.exact else np.nan for found in case.isometries])
    low, high = theory.gap_bounds(np.where(delta < 0.5, delta, np.nan))
    return np.asarray(low), np.asarray(high)


def by_inner_products(case: Ensemble) -> tuple[np.ndarray, np.ndarray]:
    """1 - g and 1 + g, g the largest |<e_i, e_y>| off y."""
    largest = np.array([found.off_subset for found in case.isometries])
    return 1 - largest, 1 + largest


def exchanged(case: Ensemble) -> tuple[np.ndarray, np.ndarray]:
    """1 + g and 1 - g."""
    low, high = by_inner_products(case)
    return high, low


def one_sign(case: Ensemble) -> tuple[np.ndarray, np.ndarray]:
    """1 + g twice: the sign that the lower bound has in the proof."""
    _, high = by_inner_products(case)
    return high, high


def three_sign_vectors(bench: Bench) -> list[Comparison]:
    """In 32 dimensions, with delta = sqrt(2)/16: the lower bound fails for every C > 0."""
    case = ensemble_of("three sign vectors in 32 dimensions", three_vectors(32), 2)
    return lemma_e15(Evidence((case,)), by_isometry)


@claim(
    "lemma-e.15/proof",
    "Appendix E.5, proof",
    "s_+ is at least e^C/(q e^C + (T-q) e^(-gC)), g the bound on |<e_i, e_y>|; the upper bound "
    "beside it, with q for q e^C, is no more than what follows.",
    kind="misprint",
    rates=one_sign,
    versions=[repaired("The same with e^(+gC).", rates=by_inner_products)],
)
@claim(
    "lemma-e.15/any-c",
    "Appendix E.5, proof",
    "The bounds on s_+ hold for any C, also negative (with g for delta/(1 - 2 delta), so that "
    "nothing else is wrong).",
    kind="hypothesis",
    rates=by_inner_products,
    C=NEGATIVE,
    versions=[repaired("For C < 0 the two bounds change places.", rates=exchanged)],
)
@claim(
    "lemma-e.15",
    "Appendix E.5",
    "With W = C I, s_+ is between 1/(q + (T-q) e^(-aC)) for a = (1-3 delta)/(1-2 delta) and for "
    "a = (1-delta)/(1-2 delta).",
    kind="constant",
    counterexample=three_sign_vectors,
    rates=by_isometry,
    versions=[
        repaired(
            "The same with a = 1 - g and a = 1 + g, g the largest |<e_i, e_y>| off y, for C >= 0.",
            rates=by_inner_products,
        )
    ],
)
def lemma_e15(
    evidence: Evidence[Ensemble],
    rates: Callable[[Ensemble], tuple[np.ndarray, np.ndarray]],
    C: np.ndarray = CONCENTRATIONS,
) -> list[Comparison]:
    """log(1/s_+ - q) between log(T-q) - a C for the two a."""
    cases = few_subsets(evidence)
    measured = cases.each(lambda case: log_missed(case, C))
    low, high = (
        cases.each(lambda case, end=end: log_level(case, rates(case)[end], C)) for end in (1, 0)
    )
    how: dict[str, Any] = {"size": 1 + np.abs(low), "cases": cases.cases}
    return [
        at_least(measured, low, part="s_+, from above", **how),
        at_most(measured, high, part="s_+, from below", **how),
    ]

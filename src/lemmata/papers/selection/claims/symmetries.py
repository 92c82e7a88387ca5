"""Appendix E.5: symmetries of random encodings, and what they say about attention."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from lemmata.old_claims import Bench, Cases, Judgement, each, fact, same
from lemmata.papers.selection.counterexamples import ExactEncodings, three_vectors
from lemmata.papers.selection.claims._terms import claim, softmax
from lemmata.papers.selection.claims.definitions import attention, mean_attention
from lemmata.papers.selection.experiments.descents import ENCODINGS, Ensemble
from lemmata.papers.selection.experiments.matrices import ENUMERATION, Enumeration

ROUNDING = 1e-12
"""Rounding of attention and inner products."""

Change = Callable[[np.ndarray], np.ndarray]


def softmax_of(E: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    """softmax(C E'e_y) for every subset."""
    from lemmata.papers.selection.setting import inner_products

    return softmax(C * inner_products(E, y))


def under(change: Change, case: Ensemble) -> np.ndarray:
    """Attention and Gram matrix after a change of the encodings, for C = 3."""
    y = case.plan.task.all_subsets()[:200]
    found = []
    for E in case.E[:2]:
        moved = change(E)
        found += [softmax_of(moved, y, 3.0).ravel(), (moved.T @ moved).ravel()]
    return np.concatenate(found)


def _small(evidence: Cases[Ensemble]) -> Cases[Ensemble]:
    return Cases(tuple(case for case in evidence if case.plan.task.subset_count <= 5_000))


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
    "lemma-e.10",
    "Appendix E.5",
    "Flipping the sign of rows of E changes neither attention nor E_y'E_y.",
    assumes=(),
    on=ENCODINGS,
    sharpened="neither does switching two positions",
)
def lemma_e10(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    change = switch_columns if sharpened else flip_rows
    kept = lambda case: under(lambda E: E, case)  # noqa: E731
    return [same(_small(evidence), "S and E'E", lambda case: under(change, case), kept, ROUNDING)]


@claim(
    "lemma-e.11",
    "Appendix E.5",
    "Switching two rows of E changes neither attention nor E_y'E_y.",
    assumes=(),
    on=ENCODINGS,
    sharpened="neither does switching two positions",
)
def lemma_e11(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    change = switch_columns if sharpened else switch_rows
    kept = lambda case: under(lambda E: E, case)  # noqa: E731
    return [same(_small(evidence), "S and E'E", lambda case: under(change, case), kept, ROUNDING)]


def moment_matrix(case: Enumeration, i: int, s: int) -> np.ndarray:
    """E[f(S_y) e_i e_y'] over all encodings, with f = exp(S_1 - 2 S_3) S_2."""
    S = attention(case, 2.0)[:, s]
    f = np.exp(S[:, 0] - 2 * S[:, 2]) * S[:, 1]
    e_y = np.asarray(case.family.e_y)[:, s]
    return np.einsum("m,me,mv->ev", f, case.E[:, :, i], e_y) / len(f)


def _matrices_of(case: Enumeration) -> list[np.ndarray]:
    pairs = [(i, s) for i in range(case.task.T) for s in range(len(case.y))]
    return [moment_matrix(case, i, s) for i, s in pairs]


@claim(
    "lemma-e.12",
    "Appendix E.5",
    "E[f(S_y) e_i e_y'] has zeros off the diagonal, for any function f.",
    assumes=(),
    on=ENUMERATION,
    sharpened="on the diagonal too",
)
def lemma_e12(evidence: Cases[Enumeration], sharpened: bool) -> list[Judgement]:
    def entries(case: Enumeration) -> np.ndarray:
        found = _matrices_of(case)
        if sharpened:
            return np.concatenate([np.diag(matrix) for matrix in found])
        return np.concatenate([(matrix - np.diag(np.diag(matrix))).ravel() for matrix in found])

    return [same(evidence, "entries", entries, lambda case: 0.0, 1e-14)]


@claim(
    "lemma-e.13",
    "Appendix E.5",
    "The diagonal entries of E[f(S_y) e_i e_y'] are all the same.",
    assumes=(),
    on=ENUMERATION,
    sharpened="and the same for all positions i",
)
def lemma_e13(evidence: Cases[Enumeration], sharpened: bool) -> list[Judgement]:
    def spread(case: Enumeration) -> np.ndarray:
        diagonals = np.stack([np.diag(matrix) for matrix in _matrices_of(case)])
        centre = diagonals.mean() if sharpened else diagonals.mean(axis=1, keepdims=True)
        return diagonals - centre

    return [same(evidence, "difference", spread, lambda case: 0.0, 1e-14)]


@claim(
    "lemma-e.14",
    "Appendix E.5",
    "E[S_y(i)] is the same for all i in y, and the same for all i outside y.",
    assumes=(),
    on=ENUMERATION,
    sharpened="the same for all i",
)
def lemma_e14(evidence: Cases[Enumeration], sharpened: bool) -> list[Judgement]:
    def spread(case: Enumeration) -> np.ndarray:
        S, Y = mean_attention(case, 2.0), np.asarray(case.family.Y)
        if sharpened:
            return S - S.mean(axis=1, keepdims=True)
        inside = (S * Y).sum(axis=1, keepdims=True) / Y.sum(axis=1, keepdims=True)
        outside = (S * (1 - Y)).sum(axis=1, keepdims=True) / (1 - Y).sum(axis=1, keepdims=True)
        return S - np.where(Y > 0, inside, outside)

    return [same(evidence, "difference", spread, lambda case: 0.0, 1e-14)]


def exchanged(change: Change, case: Ensemble) -> np.ndarray:
    """S_y(i) before and S_y(j) after a change, for positions i, j = 1, 2 outside y."""
    y = case.plan.task.all_subsets()
    y = y[(y > 1).all(axis=1)][:50]
    E = case.E[0]
    return softmax_of(E, y, 3.0)[:, 0] - softmax_of(change(E), y, 3.0)[:, 1]


@claim(
    "lemma-e.14/proof",
    "Appendix E.5",
    "Switching two rows of E exchanges the attention on two positions outside y.",
    assumes=(),
    on=ENCODINGS,
    sharpened="and doubles it",
)
def lemma_e14_proof(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    scale = 2.0 if sharpened else 1.0
    return [
        same(
            _small(evidence),
            "exchange",
            lambda case: scale * exchanged(switch_rows, case),
            lambda case: 0.0,
            ROUNDING,
        )
    ]


@claim(
    "lemma-e.14/proof/repaired",
    "Appendix E.5",
    "Switching two columns of E does.",
    assumes=(),
    on=ENCODINGS,
    sharpened="switching two rows does",
)
def lemma_e14_proof_repaired(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    change = switch_rows if sharpened else switch_columns
    return [
        same(
            _small(evidence),
            "exchange",
            lambda case: exchanged(change, case),
            lambda case: 0.0,
            ROUNDING,
        )
    ]


CONCENTRATIONS = (0.0, 0.5, 2.0, 5.0, 10.0, 30.0, 100.0)


def missed_by(case: Ensemble) -> np.ndarray:
    """log((1 - q s_+)/s_+) for every encoding and subset (rows), at each C (columns)."""
    from lemmata.papers.selection.setting import FamilyAttention

    y = case.plan.task.all_subsets()[:500]
    found = []
    for E in case.E:
        gaps = np.asarray(FamilyAttention.of(E[None], y).gaps)
        logs = [np.logaddexp.reduce(-C * gaps, axis=1) for C in CONCENTRATIONS]
        found.append(np.stack(logs, axis=1))
    return np.stack(found)


def attention_bounds(evidence: Cases[Ensemble], gap: Sequence[Any], name: str) -> list[Judgement]:
    """log(1/s_+ - q) between log(T-q) - (1 +- g) C."""
    low, high = gap

    def level(value: Any, case: Ensemble) -> np.ndarray:
        C = np.array(CONCENTRATIONS)
        rows = [np.log(case.plan.task.T - case.plan.task.q) - v * C for v in value(case)]
        found = np.stack(rows)[:, None, :]
        return np.broadcast_to(found, missed_by(case).shape)

    small = _small(evidence)
    return [
        each(
            small, f"{name}, from below", lambda case: level(low, case), missed_by, tolerance=1e-10
        ),
        each(
            small, f"{name}, from above", missed_by, lambda case: level(high, case), tolerance=1e-10
        ),
    ]


def _known(case: Ensemble) -> np.ndarray:
    found = np.array([one.delta if one.exact else np.nan for one in case.isometries])
    return np.where(found < 0.5, found, np.nan)


def attention_witness(bench: Bench) -> list[Judgement]:
    """Three sign vectors in 32 dimensions: the bound of Lemma E.15 fails for every C > 0."""
    found = ExactEncodings(three_vectors(32), 2)
    g, square = found.inner(2, (0, 1)), Fraction(1, 128)
    assert found.delta_at_most(square)
    # 1 - g < (1 - 3 delta)/(1 - 2 delta) = 1 - delta/(1 - 2 delta), compared in squares.
    kept = g**2 <= square * (1 + 2 * g) ** 2
    rate = 1 - float(square) ** 0.5 / (1 - 2 * float(square) ** 0.5)
    s, bound = (1 / (2 + np.exp(-5 * float(value))) for value in (1 - g, rate))
    reason = (
        f"3 sign vectors in 32 dimensions, q = 2, delta = sqrt(2)/16: s_+ = 1/(2 + e^(-{1 - g} C)) "
    )
    reason += f"is below the bound 1/(2 + e^(-{rate:.4f} C)) for every C > 0 ({s:.6f} against "
    reason += f"{bound:.6f} at C = 5)"
    witness = {
        "d_e": 32,
        "T": 3,
        "q": 2,
        "y": [1, 2],
        "C": 5,
        "left": float(s),
        "right": float(bound),
    }
    return [fact("attention", bool(kept), reason, witness)]


@claim(
    "lemma-e.15",
    "Appendix E.5",
    "With W = C I, s_+ is between 1/(q + (T-q) e^(-aC)) for a = (1-3 delta)/(1-2 delta) and for "
    "a = (1-delta)/(1-2 delta).",
    assumes=(),
    on=ENCODINGS,
    sharpened="between those for a = 0.99 and a = 1.01",
    counterexample=attention_witness,
)
def lemma_e15(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    if sharpened:
        low, high = (lambda case: 0.99 + 0 * _known(case)), (lambda case: 1.01 + 0 * _known(case))
    else:
        low = lambda case: (1 - 3 * _known(case)) / (1 - 2 * _known(case))  # noqa: E731
        high = lambda case: (1 - _known(case)) / (1 - 2 * _known(case))  # noqa: E731
    return attention_bounds(evidence, (low, high), "s_+")


@claim(
    "lemma-e.15/repaired",
    "Appendix E.5",
    "The same with a = 1 - g and a = 1 + g, g the largest |<e_i, e_y>| off y, for C >= 0.",
    assumes=(),
    on=ENCODINGS,
    sharpened="between those for a = 0.99 and a = 1.01",
)
def lemma_e15_repaired(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    def largest(case: Ensemble) -> np.ndarray:
        return np.array([one.off_subset for one in case.isometries])

    if sharpened:
        low, high = (lambda case: 0.99 + 0 * largest(case)), (lambda case: 1.01 + 0 * largest(case))
    else:
        low, high = (lambda case: 1 - largest(case)), (lambda case: 1 + largest(case))
    return attention_bounds(evidence, (low, high), "s_+")

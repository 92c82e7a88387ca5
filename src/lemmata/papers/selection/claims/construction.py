"""Theorem C.3: one layer of attention selects the tokens of a subset."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from lemmata.old_claims import Assumption, Bench, Cases, Judgement, each, fact, same
from lemmata.papers.selection.claims._network_terms import FITS, PROPER, ROUNDING, exactly
from lemmata.papers.selection.claims._terms import claim
from lemmata.papers.selection.experiments.construction import ENCODED, Asked, Encoded, encode
from lemmata.papers.selection.theory import _networks as theory

SEPARATED = Assumption(
    "|<e_i, e_y>| <= 1/2 off y",
    "the encodings that the theorem's proof picks",
    frozenset({"encodings_too_close"}),
)
GUIDING = Assumption(
    "|<e_i, e_y>| < 1 off y",
    "no position looks more chosen than the chosen ones",
    frozenset({"encodings_mislead"}),
)


def asked(evidence: Iterable[Encoded]) -> list[Asked]:
    """One row for encodings and an epsilon."""
    return [row for case in evidence for row in case.asked]


@claim(
    "theorem-c.3",
    "Appendix C.3, Theorem C.3",
    "With logits α⟨e_i, e_y⟩, α = ⌈2 log(2T)/ε⌉, one layer of attention is within ε of STS_q for "
    "all subsets and all tokens of norm at most 1.",
    assumes=(FITS, SEPARATED),
    on=ENCODED,
    sharpened="so it is with half the α that one-hot encodings need",
)
def theorem_c_3(evidence: Cases[Encoded], sharpened: bool) -> Sequence[Judgement]:
    """The largest error over the unit ball is ‖Y/q − S‖₁; predicting zero has error 1."""
    return [
        each(
            asked(evidence),
            "worst error",
            lambda row: -row.attention(sharpened).worst_error.max(),
            lambda row: -row.epsilon,
            baseline=-1.0,
        )
    ]


def _no_remainder(
    evidence: Iterable[Encoded], part: str, numbers: Callable[[Asked, float], dict[str, Any]]
) -> Judgement:
    """Judge that nothing is left for the positions off the subset; they always get something."""
    rows = []
    for row in asked(evidence):
        log_missed = row.encoded.log_missed(float(row.scale))
        seen = {"T": row.T, "q": row.q, "alpha": row.scale} | numbers(row, log_missed / np.log(10))
        rows.append((row.name, log_missed == -np.inf, seen))
    return exactly(part, rows)


@claim(
    "theorem-c.3/unbounded",
    "Appendix C.3, Theorem C.3",
    "The same for tokens of any length, which the theorem does not restrict.",
    assumes=(FITS, SEPARATED, PROPER),
    on=ENCODED,
    sharpened="even within ε/1000",
)
def theorem_c_3_unbounded(evidence: Cases[Encoded], sharpened: bool) -> Sequence[Judgement]:
    """Softmax gives every position some weight, and the error 2u grows with the tokens."""
    factor = 1e-3 if sharpened else 1.0

    def too_long(row: Asked, log_missed: float) -> dict[str, Any]:
        return {"log10 of a length that is too much": np.log10(factor * row.epsilon) - log_missed}

    return [_no_remainder(evidence, "any length", too_long)]


@claim(
    "theorem-c.3/gaussian",
    "Appendix C.3, Theorem C.3, and Section 2.1",
    "For Gaussian tokens, which are not bounded, the root mean square error is at most "
    "(ε/2)√(d(1+1/q)).",
    assumes=(FITS, SEPARATED),
    on=ENCODED,
    sharpened="so it is with half the α that one-hot encodings need",
)
def theorem_c_3_gaussian(evidence: Cases[Encoded], sharpened: bool) -> Sequence[Judgement]:
    """Exactly over tokens, for the worst subset; predicting zero has √(d/q)."""
    rows = asked(evidence)
    zero = np.array([[-math.sqrt(row.encoded.task.d / row.q)] for row in rows])
    return [
        each(
            rows,
            "root mean square error",
            lambda row: -np.sqrt(row.attention(sharpened).mean_square(row.encoded.task.d).max()),
            lambda row: -row.epsilon / 2 * math.sqrt(row.encoded.task.d * (1 + 1 / row.q)),
            baseline=zero,
        )
    ]


@claim(
    "theorem-c.3/interval",
    "Appendix C.3, proof of Theorem C.3",
    "With that α the chosen positions have weights in [1/q, 1/q + ε/(2q)].",
    assumes=(FITS, SEPARATED, PROPER),
    on=ENCODED,
    sharpened="of exactly 1/q",
)
def theorem_c_3_interval(evidence: Cases[Encoded], sharpened: bool) -> Sequence[Judgement]:
    """Weights add up to 1 and the others have some, so the chosen ones have less than 1/q each."""

    def lacking(row: Asked, log_missed: float) -> dict[str, Any]:
        return {"log10 of 1/q minus the weight": log_missed - np.log10(row.q)}

    return [_no_remainder(evidence, "the printed interval", lacking)]


@claim(
    "theorem-c.3/interval-repaired",
    "Appendix C.3, proof of Theorem C.3",
    "With that α the chosen positions have weights in [1/q − ε/(2q), 1/q].",
    assumes=(FITS, SEPARATED),
    on=ENCODED,
    sharpened="so they have with half the α that one-hot encodings need",
)
def theorem_c_3_interval_repaired(evidence: Cases[Encoded], sharpened: bool) -> Sequence[Judgement]:
    """The interval turned round; attention that looks nowhere has weights 1/T."""
    rows = asked(evidence)
    return [
        each(
            rows,
            "from below",
            lambda row: row.attention(sharpened).chosen.min(),
            lambda row: theory.weight_bounds(row.T, row.q, row.epsilon)[0],
            baseline=np.array([[1 / row.T] for row in rows]),
            tolerance=ROUNDING,
        ),
        each(
            rows,
            "from above",
            lambda row: -row.attention(sharpened).chosen.max(),
            lambda row: -1 / row.q,
            tolerance=ROUNDING,
        ),
    ]


def _log_deficit(row: Asked, scale: float) -> float:
    """log(1/q − e^α / (q e^α + (T−q) e^{α/2}))."""
    others = math.log(row.T - row.q) - scale / 2
    return float(others - math.log(row.q) - np.logaddexp(math.log(row.q), others))


@claim(
    "theorem-c.3/lower-bound",
    "Appendix C.3, proof of Theorem C.3",
    "e^α/(q e^α + (T−q) e^{α/2}) ≥ 1/q − (T/q²) e^{−α}.",
    assumes=(FITS, SEPARATED, PROPER),
    on=ENCODED,
    sharpened="with e^{−2α}",
)
def theorem_c_3_lower_bound(evidence: Cases[Encoded], sharpened: bool) -> Sequence[Judgement]:
    """By the logarithms of what both sides lack to 1/q; N is read as T − q, the best case."""
    power = 2 if sharpened else 1
    return [
        each(
            asked(evidence),
            "the printed step, in logarithms",
            lambda row: math.log(row.T / row.q**2) - power * row.scale,
            lambda row: _log_deficit(row, float(row.scale)),
        )
    ]


@claim(
    "theorem-c.3/lower-bound-repaired",
    "Appendix C.3, proof of Theorem C.3",
    "e^α/(q e^α + (T−q) e^{α/2}) ≥ 1/q − ((T−q)/q²) e^{−α/2} ≥ 1/q − ε/(2q) for ε ≤ 1.",
    assumes=(FITS, SEPARATED, PROPER),
    on=ENCODED,
    sharpened="so it is with half the α that one-hot encodings need",
)
def theorem_c_3_lower_bound_repaired(
    evidence: Cases[Encoded], sharpened: bool
) -> Sequence[Judgement]:
    """By the logarithms of what each side lacks to 1/q."""
    rows = asked(evidence)

    def middle(row: Asked) -> float:
        return math.log((row.T - row.q) / row.q**2) - row.used(sharpened) / 2

    def wanted(row: Asked) -> float:
        return math.log(row.epsilon / (2 * row.q)) if row.epsilon <= 1 else math.nan

    return [
        each(
            rows,
            "first step, in logarithms",
            middle,
            lambda row: _log_deficit(row, row.used(sharpened)),
            tolerance=np.array([[1e-15 * row.scale + 1e-14] for row in rows]),
        ),
        each(rows, "second step, in logarithms", wanted, middle),
    ]


@claim(
    "theorem-c.3/off-subset",
    "Appendix C.3, proof of Theorem C.3",
    "With that α every other position has a weight of at most e^{−α/2}/q ≤ ε/(2T), for ε ≤ 1.",
    assumes=(FITS, SEPARATED, PROPER),
    on=ENCODED,
    sharpened="so it has with half the α that one-hot encodings need",
)
def theorem_c_3_off_subset(evidence: Cases[Encoded], sharpened: bool) -> Sequence[Judgement]:
    """Both steps; attention that looks nowhere has weights 1/T."""
    rows = asked(evidence)

    def middle(row: Asked) -> float:
        return math.exp(-row.used(sharpened) / 2) / row.q

    def wanted(row: Asked) -> float:
        bound = theory.weight_bounds(row.T, row.q, row.epsilon)[1]
        return bound if row.epsilon <= 1 else math.nan

    return [
        each(
            rows,
            "largest weight",
            lambda row: -row.attention(sharpened).others.max(),
            lambda row: -middle(row),
            baseline=np.array([[-1 / row.T] for row in rows]),
            tolerance=1e-15,
        ),
        each(rows, "ε/(2T)", wanted, middle),
    ]


def _misled(bench: Bench) -> Sequence[Judgement]:
    """Six sign vectors with δ = 1/4, one of which looks more chosen than the five chosen ones."""
    from lemmata.papers.selection.setting import Task
    from lemmata.papers.selection.setting._construction import misled_encodings

    case = encode("six vectors, q=5", Task(6, 5, 1), misled_encodings(), (0.5,))
    row = case.asked[0]
    most = float(row.attention().worst_error.max())
    seen = {
        "coherence": case.coherence,
        "<e_6, e_y>": case.closest,
        "alpha": row.scale,
        "error": most,
    }
    text = (
        f"six sign vectors in 96 dimensions have inner products up to {case.coherence:.4g} and "
        f"⟨e_6, e_y⟩ = {case.closest:.4g} for y = 1..5; with α = {row.scale} the error is "
        f"{most:.4g}"
    )
    return [fact("six vectors", case.closest <= 0.5 and most <= row.epsilon, text, seen)]


@claim(
    "theorem-c.3/pairwise",
    "Appendix C.3, proof of Theorem C.3",
    "If |⟨e_i, e_j⟩| ≤ δ < 1/2 for all pairs, then |⟨e_i, e_y⟩| ≤ δ/(1−2δ) off the subset.",
    assumes=(FITS,),
    on=ENCODED,
    sharpened="even ≤ δ/2",
    counterexample=_misled,
)
def theorem_c_3_pairwise(evidence: Cases[Encoded], sharpened: bool) -> Sequence[Judgement]:
    """q small inner products add up; the proof picks encodings by this and by no more."""

    def bound(case: Encoded) -> float:
        delta = case.coherence
        if sharpened:
            return delta / 2
        return delta / (1 - 2 * delta) if delta < 0.5 else math.nan

    return [each(evidence, "δ/(1−2δ)", bound, lambda case: case.closest, tolerance=ROUNDING)]


@claim(
    "theorem-c.3/pairwise-repaired",
    "Appendix C.3, proof of Theorem C.3",
    "If |⟨e_i, e_j⟩| ≤ δ < 1/(q−1) for all pairs, then |⟨e_i, e_y⟩| ≤ qδ/(1−(q−1)δ) off the "
    "subset; three vectors with q = 2 attain it.",
    assumes=(FITS,),
    on=ENCODED,
    sharpened="even ≤ δ/2",
)
def theorem_c_3_pairwise_repaired(evidence: Cases[Encoded], sharpened: bool) -> Sequence[Judgement]:
    """(E_yᵀE_y)⁻¹1 has entries that add up to at most q/(1−(q−1)δ) in absolute value."""

    def bound(case: Encoded) -> float:
        q, delta = case.task.q, case.coherence
        if sharpened:
            return delta / 2
        return q * delta / (1 - (q - 1) * delta) if (q - 1) * delta < 1 else math.nan

    return [each(evidence, "qδ/(1−(q−1)δ)", bound, lambda case: case.closest, tolerance=ROUNDING)]


@claim(
    "own/least-scale",
    "ours, next to Theorem C.3",
    "If ⟨e_i, e_y⟩ ≤ g < 1 off the subset, α = log((2−ε)(T−q)/(qε))/(1−g) gives a worst error of "
    "at most ε, and exactly ε if g is attained everywhere; the printed α is of order log(T)/ε.",
    assumes=(FITS, GUIDING, PROPER),
    on=ENCODED,
    sharpened="half of it does",
)
def least_scale(evidence: Cases[Encoded], sharpened: bool) -> Sequence[Judgement]:
    """On all encodings; attained by one-hot ones, whose inner products off the subset are 0."""
    share, rows = 0.5 if sharpened else 1.0, asked(evidence)

    def error(row: Asked) -> float:
        scale = theory.least_scale(row.T, row.q, row.epsilon, row.encoded.closest)
        return -row.encoded.attention(share * scale).worst_error.max()

    def wanted(row: Asked) -> float:
        return -row.epsilon

    found = [each(rows, "worst error", error, wanted, baseline=-1.0, tolerance=ROUNDING)]
    equal_gaps = [row for row in rows if row.encoded.coherence == 0 and row.epsilon < 1]
    if equal_gaps:
        found.append(same(equal_gaps, "attained", error, wanted, ROUNDING))
    return found

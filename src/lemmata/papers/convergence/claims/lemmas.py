"""Appendices C.2 to C.4: the proofs of Lemmas 5, 6 and 7, step by step, input by input."""

from collections.abc import Iterator

import numpy as np

from lemmata.claims import Comparison, at_least, at_most, equal, repaired, statements
from lemmata.settings import Evidence, Grid
from lemmata.tokens import Role

from .. import theory
from ..experiments import ALONG_RUNS, ANYWHERE, AT_START, ONE_WAITS, STRUCTURES
from ..setting import ASSUMPTION_2, CHOICE, STAGE_2, STANDING, VALUES_FROM_ZERO, Dataset
from ._facts import Fault, no_fault

claim = statements("convergence", on=ALONG_RUNS, hypotheses=STAGE_2)
anywhere = statements(
    "convergence", on=ANYWHERE, hypotheses=(*STANDING, ASSUMPTION_2, CHOICE, VALUES_FROM_ZERO)
)
"""For steps that are true of every W_kq."""

C2, C3, C4 = (f"Appendix C.{i}, proof of Lemma {i + 3}" for i in (2, 3, 4))


def _late(evidence: Evidence[Dataset]) -> Grid:
    """1 from t₀ of Lemma 7 on, NaN before."""
    start = theory.lemma_7_start(evidence.rate, evidence.norm_kq, evidence.L)
    return np.where(evidence.t >= start, 1.0, np.nan)


def _type_1(evidence: Evidence[Dataset]) -> Grid:
    """1 at the inputs of type 1 from t₀ on, NaN elsewhere."""
    level = -(1 + evidence.beta / 2) * evidence.point_norm / evidence.norm_kq
    with np.errstate(divide="ignore"):
        return np.where(np.log(evidence.phi_minus) >= level, _late(evidence), np.nan)


def _type_2(evidence: Evidence[Dataset]) -> Grid:
    """1 at the other inputs from t₀ on, NaN elsewhere."""
    return np.where(np.isnan(_type_1(evidence)), _late(evidence), np.nan)


def _step(evidence: Evidence[Dataset]) -> Grid:
    """‖W(t)‖/‖W_kq*‖."""
    return evidence.point_norm / evidence.norm_kq


def _gap(left: Grid, right: Grid, part: str, size: Grid) -> Comparison:
    """left ≥ right, with rounding relative to the terms that enter."""
    return at_least(left, right, part=part, size=size + np.abs(left) + np.abs(right))


@claim(
    "lemma-5/start",
    C2,
    "Without training every position has weight 1/L, and the optimal ones together at least as "
    "much as all copies of any other token.",
)
def lemma_5_start(evidence: Evidence[Dataset]) -> list[Comparison]:
    """At t = 0; q_n, which the paper does not define, is the number of copies."""
    first = np.where(evidence.t == 0, 1.0, np.nan)
    return [
        equal(first * evidence.lead, 0.0, part="equal logits", size=1.0),
        at_least(evidence.each(_optimal_positions), evidence.each(_copies), part="sums of weights"),
    ]


def _optimal_positions(dataset: Dataset) -> list[int]:
    samples = dataset.data.samples
    return [sum(x in dataset.orders.selected(s) for x in s.tokens) for s in samples]


def _copies(dataset: Dataset) -> list[int]:
    """The most copies of a token that is not optimal, in each input."""
    rest = (
        [x for x in s.tokens if x not in dataset.orders.selected(s)] for s in dataset.data.samples
    )
    return [max(map(others.count, others), default=0) for others in rest]


@claim(
    "lemma-5/ratio",
    C2,
    "φ_l*/φ_l is at least 1 for every pair of an input, and no step lets it fall.",
)
def lemma_5_ratio(evidence: Evidence[Dataset]) -> list[Comparison]:
    """The least lead of an optimal token, and what the next step adds to it, over η."""
    return [
        at_least(evidence.lead, 0.0, part="at least 1", size=1 + evidence.point_norm),
        at_least(evidence.gain, 0.0, part="never falls", size=1.0),
    ]


@claim(
    "lemma-5/optimal-sign",
    C2,
    "The gradient is not positive at (x_l*, x_q), for the optimal tokens of every input.",
    on=AT_START,
    kind="hypothesis",
    single=True,
    versions=[
        repaired(
            "The gradient is not positive at (x_l*, x_q), for the optimal tokens of every input of "
            "two tokens or more.",
            on=ALONG_RUNS,
            single=False,
        )
    ],
)
def lemma_5_optimal_sign(evidence: Evidence[Dataset], single: bool) -> list[Comparison]:
    """In the input [q] the token q is optimal, and elsewhere it need not be: false at t = 0."""
    slopes = {"two tokens or more": evidence.slope_optimal}
    if single:
        slopes["one token"] = evidence.slope_single
    return [at_most(slope, 0.0, part=part, size=1.0) for part, slope in slopes.items()]


@claim(
    "lemma-5/other-sign",
    C2,
    "The gradient is not negative at (x_l, x_q), for the non-optimal tokens of every input.",
)
def lemma_5_other_sign(evidence: Evidence[Dataset]) -> Comparison:
    """Where optimal tokens lead, which is where a run is; Assumption 3 compares masses there."""
    return at_least(evidence.slope_other, 0.0, part="slope over ‖∇L‖", size=1.0)


@claim(
    "lemma-5/nowhere-non-optimal",
    C2,
    "The optimal token of an input is non-optimal in no other input with the same query.",
    on=STRUCTURES,
    hypotheses=STANDING,
    kind="hypothesis",
    shortest=1,
    versions=[
        repaired(
            "The optimal token of an input of two tokens or more is non-optimal in no other input "
            "with the same query.",
            shortest=2,
        )
    ],
)
def nowhere_non_optimal(evidence: Evidence[Dataset], shortest: int) -> list[Comparison]:
    """Assumption 1 says so of inputs with a choice; [q] selects q, whatever its role is."""

    @no_fault("roles")
    def roles(dataset: Dataset) -> Iterator[Fault]:
        name = dataset.data.name
        for sample in dataset.data.samples:
            for token in dataset.orders.selected(sample):
                role = dataset.orders.role(sample.query, token)
                if role == Role.NON_OPTIMAL and len(set(sample.tokens)) >= shortest:
                    yield (
                        f"{name(token)} is optimal in {dataset.data.show(sample)} and non-optimal "
                        f"elsewhere under {name(sample.query)}",
                        {"token": name(token), "sample": dataset.data.show(sample)},
                    )

    return roles(evidence)


@anywhere(
    "lemma-6/projection",
    C3,
    "⟨∇L, W_kq*⟩ ≤ −ΔΣπ[(1−T_y)φ₊φ₋ + φ₊Σ_{l∉l(n)} T_{n(x_l)}φ_l] at every W_kq.",
)
def lemma_6_projection(evidence: Evidence[Dataset]) -> Comparison:
    """It uses margins of 1, and that tokens outside l(n) have equal logits under W_kq*."""
    bound = evidence.missed + evidence.missed_plus
    size = evidence.missed + evidence.missed_all
    return at_least(-evidence.projection, bound, part="projection", baseline=0.0, size=size)


@anywhere(
    "lemma-6/gradient-norm",
    C3,
    "‖∇L‖ ≤ 2ΔΣπ[(1−T_y)φ₊φ₋ + Σ_{l∉l(n)} T_{n(x_l)}φ_l] at every W_kq.",
)
def lemma_6_gradient_norm(evidence: Evidence[Dataset]) -> Comparison:
    """On its own."""
    bound = 2 * (evidence.missed + evidence.missed_all)
    return at_most(evidence.gradient_norm, bound, part="norm of the gradient")


@anywhere(
    "lemma-7/constraint",
    C4,
    "Some optimal token leads by at most ‖W‖/‖W_kq*‖, whatever W is.",
)
def lemma_7_constraint(evidence: Evidence[Dataset]) -> Comparison:
    """The least lead over all inputs; otherwise W would beat W_kq*, scaled to its norm."""
    least = np.full_like(evidence.lead, np.nan)
    for i, here in _points(evidence):
        least[i, here] = evidence.lead[i, here].min()
    return at_most(least, _step(evidence), part="least lead", size=evidence.point_norm)


@anywhere(
    "lemma-7/a-star",
    C4,
    "A* ≤ (T_y − 1)φ₊φ₋‖W‖/‖W_kq*‖ for every input.",
)
def lemma_7_a_star(evidence: Evidence[Dataset]) -> Comparison:
    """Every constraint holds under W_kq* with a margin of 1."""
    bound = evidence.miss * evidence.phi_plus * evidence.phi_minus * _step(evidence)
    return _gap(-evidence.A_star, bound, "A*", bound)


@anywhere(
    "lemma-7/a",
    C4,
    "A ≥ (T_y − 1)φ₊φ₋(1 + log(2L‖W‖/φ₋)) for every input, whatever W is.",
)
def lemma_7_a(evidence: Evidence[Dataset]) -> Comparison:
    """Printed with a maximum over the threshold T, where any T will do."""
    factor = evidence.miss * evidence.phi_plus * evidence.phi_minus
    with np.errstate(divide="ignore", invalid="ignore"):
        log = 1 + np.log(2 * evidence.L * evidence.point_norm / evidence.phi_minus)
        bound = np.where(factor > 0, factor * log, np.nan)
    return _gap(evidence.A_t, -bound, "A", bound)


@claim(
    "lemma-7/a-against-a-star",
    C4,
    "A ≥ (1 + β₀)A* for every input of type 1, from t₀ on.",
)
def lemma_7_a_against_a_star(evidence: Evidence[Dataset]) -> Comparison:
    """Both are negative."""
    bound = (1 + evidence.beta) * evidence.A_star
    return _gap(_type_1(evidence) * evidence.A_t, bound, "A", np.abs(bound))


@claim(
    "lemma-7/beta",
    C4,
    "From t₀ on ‖W‖ ≥ 2(e−1)‖W_kq*‖, and β₀ is at least each of the five terms that the proof asks "
    "of it.",
)
def lemma_7_beta(evidence: Evidence[Dataset]) -> list[Comparison]:
    """It takes L²‖W_kq*‖ ≥ 1 and ‖W_kq*‖ ≥ 1/2, which all data with a choice has."""
    norm, n, L = _late(evidence) * evidence.point_norm, evidence.norm_kq, evidence.L
    beta = evidence.beta
    terms = {
        "A": 2 * n * (1 + np.log(2 * L * norm)) / norm,
        "B₊": 2 * n * np.log(2 * L * norm) / norm,
        "B₋": L**2 * n * (1 + np.log(2 * norm)) / norm,
        "type 2": 2 * n * (1 + 2 * n) / norm * np.log(1 + norm / (2 * n)),
        "type 2, again": 2 * n / norm * np.log((1 + beta + 2 * n) / beta),
    }
    return [
        at_least(norm, 2 * (np.e - 1) * n, part="‖W‖", baseline=0.0),
        *(at_least(beta, term, part=f"β₀, {part}") for part, term in terms.items()),
    ]


@anywhere(
    "lemma-7/b-minus-star",
    C4,
    "B₋ under W_kq* is 0, since tokens outside l(n) have equal logits.",
)
def lemma_7_b_minus_star(evidence: Evidence[Dataset]) -> Comparison:
    """By Proposition 2, which is true where the loss can vanish."""
    size = evidence.spread * evidence.point_norm
    return equal(evidence.B_minus_star, 0.0, part="B₋*", size=size)


@anywhere(
    "lemma-7/b-star",
    C4,
    "B* ≤ −φ₊Σ_{l∉l(n)} T_{n(x_l)}φ_l ‖W‖/‖W_kq*‖ for every input, and so it is negative.",
)
def lemma_7_b_star(evidence: Evidence[Dataset]) -> Comparison:
    """B* is B₊*."""
    bound = evidence.phi_plus * evidence.spread * _step(evidence)
    return _gap(-(evidence.B_plus_star + evidence.B_minus_star), bound, "B*", bound)


@claim(
    "lemma-7/b-plus",
    C4,
    "B₊ ≥ (1 + β₀)B₊* + β₀A* for every input of type 1, from t₀ on.",
)
def lemma_7_b_plus(evidence: Evidence[Dataset]) -> Comparison:
    """The printed chain has a sign reversed on the way; its ends are right."""
    bound = (1 + evidence.beta) * evidence.B_plus_star + evidence.beta * evidence.A_star
    return _gap(_type_1(evidence) * evidence.B_plus_t, bound, "B₊", np.abs(bound))


@claim(
    "lemma-7/b-minus",
    C4,
    "B₋ ≥ β₀A* for every input of type 1, from t₀ on.",
)
def lemma_7_b_minus(evidence: Evidence[Dataset]) -> Comparison:
    """With Lemma 5's 1/L for φ₊."""
    bound = evidence.beta * evidence.A_star
    return _gap(_type_1(evidence) * evidence.B_minus_t, bound, "B₋", np.abs(bound))


@claim(
    "lemma-7/type-1",
    C4,
    "A + B ≥ (1 + 3β₀)(A* + B*) for every input of type 1, from t₀ on.",
)
def lemma_7_type_1(evidence: Evidence[Dataset]) -> Comparison:
    """The three bounds added up."""
    total = evidence.A_t + evidence.B_plus_t + evidence.B_minus_t
    bound = (1 + 3 * evidence.beta) * _star(evidence)
    return _gap(_type_1(evidence) * total, bound, "A + B", np.abs(bound))


def _star(evidence: Evidence[Dataset]) -> Grid:
    return evidence.A_star + evidence.B_plus_star + evidence.B_minus_star


def _points(evidence: Evidence[Dataset]) -> Iterator[tuple[int, np.ndarray]]:
    """For every dataset and W_kq: the number of its row, and where its inputs stand in it."""
    for i, numbers in enumerate(evidence.point):
        for number in np.unique(numbers[~np.isnan(numbers)]):
            yield i, numbers == number


def _slowest(evidence: Evidence[Dataset], values: Grid) -> Grid:
    """The value at the input with the largest φ₋ of the same point: n₀ of the proof."""
    slowest = np.full_like(values, np.nan)
    for i, here in _points(evidence):
        slowest[i, here] = values[i, here][np.argmax(evidence.phi_minus[i, here])]
    return slowest


@claim(
    "lemma-7/type-2",
    C4,
    "For every input of type 2 from t₀ on: A ≥ −(1+β₀)(1−T_y)e^{−c}‖W‖/‖W_kq*‖, B ≥ "
    "−2(1−T_y)e^{−c}‖W‖ with c = (1+β₀/2)‖W‖/‖W_kq*‖, and A + B ≥ β₀A* of the input n₀ with the "
    "largest φ₋.",
    on=ONE_WAITS,
)
def lemma_7_type_2(evidence: Evidence[Dataset]) -> list[Comparison]:
    """Such inputs exist only beside one that is rarer by many orders of magnitude.

    The logarithm of the first display lacks a factor 2, which changes nothing.
    """
    late, step = _type_2(evidence), _step(evidence)
    small = evidence.miss * np.exp(-(1 + evidence.beta / 2) * step)
    B = evidence.B_plus_t + evidence.B_minus_t
    first = -(1 + evidence.beta) * small * step
    second = -2 * small * evidence.point_norm
    third = evidence.beta * _slowest(evidence, evidence.A_star)
    return [
        _gap(late * evidence.A_t, first, "A", np.abs(first)),
        _gap(late * B, second, "B", np.abs(second)),
        _gap(late * (evidence.A_t + B), third, "A + B", np.abs(third)),
    ]


@anywhere(
    "lemma-7/ordered",
    C4,
    "Of two inputs the one with the larger φ₊ gives its label the larger probability.",
    kind="hypothesis",
    ordered=False,
    versions=[
        repaired(
            "An input of type 2 gives its label a larger probability than the input with the "
            "largest φ₋, from t₀ on.",
            hypotheses=STAGE_2,
            on=ONE_WAITS,
            ordered=True,
        )
    ],
)
def lemma_7_ordered(evidence: Evidence[Dataset], ordered: bool) -> Comparison:
    """How the rest of the weight is spread matters as well."""
    if ordered:
        slowest = _slowest(evidence, evidence.miss)
        return at_most(_type_2(evidence) * evidence.miss, slowest, part="1 − T_y")
    rise = np.full_like(evidence.miss, np.nan)
    for i, here in _points(evidence):
        places = np.flatnonzero(here)[np.argsort(evidence.phi_plus[i, here])]
        rise[i, places[1:]] = np.diff(evidence.miss[i, places])
    return at_most(rise, 0.0, part="1 − T_y rises with φ₊", size=1.0)


@claim(
    "lemma-7/charge",
    C4,
    "If there are inputs of type 2 at t ≥ t₀: max A* over those of type 1 is at least NΣπ(A* + B*) "
    "over them.",
    on=ONE_WAITS,
    kind="constant",
    versions=[
        repaired(
            "If there are inputs of type 2 at t ≥ t₀: max A* over those of type 1 is at least "
            "Σπ(A* + B*)/min π over them.",
            rarest=True,
        )
    ],
)
def lemma_7_charge(evidence: Evidence[Dataset], rarest: bool = False) -> Comparison:
    """As logarithms of the negatives: it uses Nπ ≥ 1, and π may be too small to be written."""
    log = evidence.each(lambda d: -d.log_pi.min() if rarest else np.log(d.N))
    one, two = ~np.isnan(_type_1(evidence)), ~np.isnan(_type_2(evidence))
    left, right = (np.full_like(evidence.t, np.nan) for _ in range(2))
    for i, here in _points(evidence):
        first = here & one[i]
        if first.any() and (here & two[i]).any():
            with np.errstate(divide="ignore"):
                star = evidence.log_pi[i, first] + np.log(-_star(evidence)[i, first])
                left[i, first] = np.log(-evidence.A_star[i, first].max())
            right[i, first] = log[i] + np.logaddexp.reduce(star)
    return at_most(left, right, part="log of the charge", size=1 + np.abs(left) + np.abs(log))


@claim(
    "lemma-7/alpha",
    C4,
    "α_t ≥ (N + 3)β₀, that is N ≥ 3.",
    on=STRUCTURES,
)
def lemma_7_alpha(evidence: Evidence[Dataset]) -> Comparison:
    """Two tokens start sentences, and one input has a choice."""
    return at_least(evidence.each(lambda d: 2 * d.N), evidence.each(lambda d: d.N + 3), part="N")

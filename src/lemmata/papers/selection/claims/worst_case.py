"""Theorem C.2: inputs on which a narrow net must be wrong."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from lemmata.claims import Comparison, Inequality, at_least, equal, statements
from lemmata.settings import Evidence

from .. import theory
from ..experiments.fractions import BLIND, Blind
from ..experiments.networks import FIRST_LAYERS, Layer
from ..setting import FITS, POSITIONS, PROPER

claim = statements("selection", hypotheses=(POSITIONS, FITS), on=BLIND)

EPS = float(np.finfo(float).eps)
"""The rounding of a fraction that is turned into a number."""


def forced(
    evidence: Evidence[Blind],
    part: str,
    longest: Callable[[int], Fraction],
    bound: Callable[[int], Fraction],
) -> Inequality:
    """The squared error that pairs force, with the longest token of a given squared length.

    Computed in fractions; a pair that the first layer can tell apart forces nothing.
    """

    def error(case: Blind) -> float:
        return float(case.pair.forced(longest(case.q))) if case.pair.alike else 0.0

    return at_least(
        evidence.each(error),
        evidence.each(lambda case: float(bound(case.q))),
        baseline=0.0,
        rounding=EPS,
        part=part,
    )


@claim(
    "theorem-c.2",
    "Appendix C.2, Theorem C.2",
    "A net with at most (T−q+1)d−1 first neurons has a squared error of at least 1/(2q) on some "
    "input; with the proof's pair, tokens of length √(q/2) do, and longer ones force any error.",
)
def theorem_c_2(evidence: Evidence[Blind]) -> list[Comparison]:
    """The witness of the proof, stretched: inputs are not bounded, so neither is the error."""
    stretched = (("1/(2q)", 1), ("a million times 1/(2q)", 10**6))
    return [
        forced(
            evidence,
            part,
            lambda q, times=times: Fraction(times * q, 2),
            lambda q, times=times: times * theory.printed_worst_case(q),
        )
        for part, times in stretched
    ]


@claim(
    "theorem-c.2/proof",
    "Appendix C.2, proof of Theorem C.2",
    "The pair in the proof, whose longest token has length 1/2, forces a squared error of 1/(2q).",
    kind="constant",
)
def theorem_c_2_proof(evidence: Evidence[Blind]) -> Comparison:
    """It forces a norm of 1/(2q), and the square of that is 1/(4q²)."""
    return forced(evidence, "the printed pair", lambda q: Fraction(1, 4), theory.printed_worst_case)


@claim(
    "theorem-c.2/repaired",
    "Appendix C.2, proof of Theorem C.2",
    "The pair in the proof forces an error (a norm) of 1/(2q); with tokens that fill the unit "
    "ball, of 1/q.",
)
def theorem_c_2_repaired(evidence: Evidence[Blind]) -> list[Comparison]:
    """By the squares of both sides."""
    return [
        forced(evidence, "length 1/2", lambda q: Fraction(1, 4), theory.proof_pair_error),
        forced(
            evidence, "length 1", lambda q: Fraction(1), lambda q: theory.unit_ball_error(q) ** 2
        ),
    ]


@claim(
    "own/worst-case-width",
    "ours, next to Theorem C.2",
    "Over tokens in the unit ball, every net with fewer than Td first neurons has an error of at "
    "least 1/(2q−1) somewhere if q < T, and some with Td−1 have no more.",
    hypotheses=(POSITIONS, PROPER, FITS),
    on=FIRST_LAYERS,
)
def worst_case_width(evidence: Evidence[Layer]) -> list[Comparison]:
    """Some subset sees that share of any tokens the first layer misses.

    It is attained: a net that misses (1, −1/(2q−1), ...) alone and knows y can answer with the
    midpoint of all targets that fit, which lie within 1/(2q−1) of it.
    """
    visible = evidence.visible
    least = evidence.each(lambda layer: theory.narrow_error(layer.task.q))
    # A vector of the kernel of a matrix with up to T d columns.
    rounding = (64 + evidence.T * evidence.d) * EPS
    attained = [i for i, layer in enumerate(evidence) if layer.kind == "lopsided"]
    return [
        at_least(visible, least, baseline=0.0, rounding=rounding, part="visible share"),
        equal(
            visible[attained],
            least[attained],
            rounding=rounding[attained],
            part="attained",
            cases=[evidence.cases[i] for i in attained],
        ),
    ]

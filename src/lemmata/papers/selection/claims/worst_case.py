"""Theorem C.2: inputs on which a narrow net must be wrong."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from lemmata.old_claims import Cases, Judgement, each, same
from lemmata.papers.selection.claims._network_terms import (
    FITS,
    POSITIONS,
    PROPER,
    ROUNDING,
    exactly,
)
from lemmata.papers.selection.claims._terms import claim
from lemmata.papers.selection.experiments.fractions import BLIND, Blind
from lemmata.papers.selection.experiments.networks import FIRST_LAYERS, Layer
from lemmata.papers.selection.theory import _networks as theory


def _forced(
    evidence: Iterable[Blind],
    part: str,
    longest: Callable[[int], Fraction],
    bound: Callable[[int], Fraction],
) -> Judgement:
    """The squared error that pairs force, with the longest token of a given squared length."""
    return exactly(
        part,
        (
            (
                case.name,
                case.pair.alike and case.pair.forced(longest(case.q)) >= bound(case.q),
                {
                    "longest token, squared": longest(case.q),
                    "squared error": case.pair.forced(longest(case.q)),
                    "bound": bound(case.q),
                },
            )
            for case in evidence
        ),
    )


@claim(
    "theorem-c.2",
    "Appendix C.2, Theorem C.2",
    "A net with at most (T−q+1)d−1 first neurons has a squared error of at least 1/(2q) on some "
    "input; with the proof's pair, tokens of length √(q/2) do, and longer ones force any error.",
    assumes=(POSITIONS, FITS),
    on=BLIND,
    sharpened="with this pair tokens half as long do",
)
def theorem_c_2(evidence: Cases[Blind], sharpened: bool) -> Sequence[Judgement]:
    """The witness of the proof, stretched: inputs are not bounded, so neither is the error."""
    shrink = 4 if sharpened else 1
    printed = theory.printed_worst_case
    return [
        _forced(evidence, "1/(2q)", lambda q: Fraction(q, 2 * shrink), printed),
        _forced(
            evidence,
            "a million times 1/(2q)",
            lambda q: Fraction(10**6 * q, 2 * shrink),
            lambda q: 10**6 * printed(q),
        ),
    ]


@claim(
    "theorem-c.2/proof",
    "Appendix C.2, proof of Theorem C.2",
    "The pair in the proof, whose longest token has length 1/2, forces a squared error of 1/(2q).",
    assumes=(POSITIONS, FITS),
    on=BLIND,
    sharpened="even of 1/q",
)
def theorem_c_2_proof(evidence: Cases[Blind], sharpened: bool) -> Sequence[Judgement]:
    """It forces a norm of 1/(2q), and the square of that is 1/(4q²)."""
    factor = 2 if sharpened else 1
    return [
        _forced(
            evidence,
            "the printed pair",
            lambda q: Fraction(1, 4),
            lambda q: factor * theory.printed_worst_case(q),
        )
    ]


@claim(
    "theorem-c.2/repaired",
    "Appendix C.2, proof of Theorem C.2",
    "The pair in the proof forces an error (a norm) of 1/(2q); with tokens that fill the unit "
    "ball, of 1/q.",
    assumes=(POSITIONS, FITS),
    on=BLIND,
    sharpened="of 1.001/q",
)
def theorem_c_2_repaired(evidence: Cases[Blind], sharpened: bool) -> Sequence[Judgement]:
    """In fractions, by the squares of both sides."""
    factor = Fraction(1001, 1000) if sharpened else Fraction(1)
    return [
        _forced(evidence, "length 1/2", lambda q: Fraction(1, 4), theory.proof_pair_error),
        _forced(
            evidence,
            "length 1",
            lambda q: Fraction(1),
            lambda q: (factor * theory.unit_ball_error(q)) ** 2,
        ),
    ]


@claim(
    "own/worst-case-width",
    "ours, next to Theorem C.2",
    "Over tokens in the unit ball, every net with fewer than Td first neurons has an error of at "
    "least 1/(2q−1) somewhere if q < T, and some with Td−1 have no more.",
    assumes=(POSITIONS, PROPER, FITS),
    on=FIRST_LAYERS,
    sharpened="at least 1.001/(2q−1)",
)
def worst_case_width(evidence: Cases[Layer], sharpened: bool) -> Sequence[Judgement]:
    """Some subset sees that share of any tokens the first layer misses.

    It is attained: a net that misses (1, −1/(2q−1), ...) alone and knows y can answer with the
    midpoint of all targets that fit, which lie within 1/(2q−1) of it.
    """

    def least(layer: Layer) -> float:
        return (1.001 if sharpened else 1.0) * float(theory.narrow_error(layer.task.q))

    lopsided = [layer for layer in evidence if layer.kind == "lopsided"]
    return [
        each(
            evidence,
            "visible share",
            lambda layer: layer.visible,
            least,
            baseline=0.0,
            tolerance=ROUNDING,
        ),
        same(lopsided, "attained", lambda layer: layer.visible, least, ROUNDING),
    ]

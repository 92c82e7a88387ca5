"""Eq. (8) and the comparison of Section 3.3: a transformer next to nets of its width."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from lemmata.claims import Comparison, at_least, equal, repaired, statements
from lemmata.settings import Evidence

from .. import theory
from ..experiments.construction import LITERAL, Literal8
from ..experiments.separation import (
    SEPARATIONS,
    TRAINED_TRANSFORMER,
    Separation,
    TrainedTransformer,
)
from ..setting import FITS, GUIDING, NARROWER, PROPER, printed_self_attention

claim = statements("selection", on=LITERAL, hypotheses=(FITS,))

EPS = float(np.finfo(float).eps)


def softmax_error(evidence: Evidence[Literal8]) -> np.ndarray:
    """Relative, of attention: the logits are alpha times inner products in d_e dimensions."""
    return (64 + evidence.scale * evidence.d_e) * EPS


@claim(
    "equation-8",
    "Appendix C.3, Eq. (8)",
    "One layer of self-attention on the (d+2d_e)-row input of Eq. (8), with Q = α[0, I, 0], "
    "K = [0, 0, I] and V = [I, 0, 0], gives position i the weight softmax(α⟨e_i, e_y⟩) at the last "
    "column, and the mean of the tokens with these weights.",
)
def equation_8(evidence: Evidence[Literal8]) -> list[Comparison]:
    """The matrices written out, against the formula."""

    def tokens(case: Literal8) -> np.ndarray:
        return case.inputs[:, : case.task.d]

    rounding, rows = softmax_error(evidence), evidence.each(lambda case: case.inputs.shape[1])
    return [
        equal(evidence.weights, evidence.softmax, rounding=rounding, part="weights"),
        equal(
            evidence.outputs,
            evidence.each(lambda case: np.einsum("ndt,nt->nd", tokens(case), case.softmax)),
            rounding=rounding,
            size=evidence.each(lambda case: np.abs(tokens(case)).max()),
            part="outputs",
        ),
        equal(rows, evidence.d + 2 * evidence.d_e, part="rows"),
    ]


@claim(
    "theorem-c.3/width",
    "Appendix C.3, proof of Theorem C.3",
    "The operators of the construction have width d + q d_e.",
    kind="misprint",
    blocks=lambda case: case.task.q,
    versions=[repaired("They have width d + 2 d_e, as Eq. (8) has rows.", blocks=lambda case: 2)],
)
def width_of_the_construction(
    evidence: Evidence[Literal8], blocks: Callable[[Literal8], int]
) -> Comparison:
    rows = evidence.each(lambda case: case.inputs.shape[1])
    return equal(rows, evidence.d + evidence.each(blocks) * evidence.d_e, part="rows")


@claim(
    "equation-8/printed",
    "Appendix C.3, after Eq. (8)",
    "The same with the printed blocks, Q = [0_{d×d}, I, 0_{d_e×d_e}] and K = [0_{d×d}, 0, I].",
    kind="misprint",
)
def equation_8_printed(evidence: Evidence[Literal8]) -> list[Comparison]:
    """The blocks stand side by side only if d = d_e, and then the scale α is missing."""
    square = evidence.where(lambda case: case.task.d == case.d_e)

    def printed(case: Literal8) -> np.ndarray:
        model = printed_self_attention(case.task.d, case.d_e)
        return np.array([model.weights(columns) for columns in case.inputs])

    return [
        equal(evidence.d, evidence.d_e, part="rows of the blocks, d and d_e"),
        equal(
            square.each(printed),
            square.each(lambda case: case.softmax),
            rounding=softmax_error(square),
            part="weights",
            cases=square.cases,
        ),
    ]


@claim(
    "section-3.3",
    "Section 3.3",
    "At its own width d+d_e a transformer whose encodings have |⟨e_i, e_y⟩| < 1 off y has a "
    "smaller mean squared error than any fully connected net of that width, and nets need a width "
    "of order Td: with m first neurons they keep a share of at least (1−m/(Td))(T−q)/(T−1) of the "
    "loss d/q of predicting zero.",
    hypotheses=(FITS, NARROWER, PROPER, GUIDING),
    on=SEPARATIONS,
)
def section_3_3(evidence: Evidence[Separation]) -> list[Comparison]:
    """At equal width, which is the honest comparison; the loss is a mean over subsets."""

    def least(case: Separation, width: int) -> Fraction:
        T, q, d = case.task.T, case.task.q, case.task.d
        return Fraction(T * d - width, T * d) * Fraction(T - q, T - 1) * theory.trivial_loss(q, d)

    return [
        at_least(
            evidence.each(lambda case: case.floor(case.width)),
            evidence.loss,
            error=evidence.error,
            strict=True,
            part="nets of the same width against the transformer",
        ),
        at_least(
            evidence.each(lambda case: [case.floor(width) for width in widths(case)]),
            evidence.each(lambda case: [float(least(case, width)) for width in widths(case)]),
            rounding=EPS,
            part="loss that is kept, at six widths",
        ),
    ]


def widths(case: Separation) -> list[int]:
    """From no neuron to one less than there are inputs."""
    size = case.task.T * case.task.d
    return sorted({0, 1, case.task.d, case.width, size // 2, size - 1})


@claim(
    "own/full-width-floor",
    "ours, next to Section 3.3",
    "After the 100,000 steps of Section 4 the transformer is still above the bound of Theorem 3.5, "
    "which speaks of width Td−1; nets of any smaller width are above the transformer.",
    on=TRAINED_TRANSFORMER,
    hypotheses=(),
)
def full_width_floor(evidence: Evidence[TrainedTransformer]) -> list[Comparison]:
    """In mean field; its error from 800 pairs of encodings and subsets is about a hundredth."""

    def floor(missing: int) -> np.ndarray:
        return evidence.each(lambda case: case.floor(case.task.T * case.task.d - missing))

    return [
        at_least(evidence.loss, floor(1), strict=True, part="the transformer against Td−1"),
        at_least(floor(2), evidence.loss, strict=True, part="Td−2 against the transformer"),
    ]

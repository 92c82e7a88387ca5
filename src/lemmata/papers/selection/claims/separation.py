"""Eq. (8) and the comparison of Section 3.3: a transformer next to nets of its width."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from lemmata._errors import InputError
from lemmata.old_claims import Assumption, Cases, Judgement, each, same
from lemmata.papers.selection.claims._network_terms import FITS, PROPER, ROUNDING, exactly
from lemmata.papers.selection.claims._terms import claim
from lemmata.papers.selection.experiments.construction import LITERAL, Literal8
from lemmata.papers.selection.experiments.separation import (
    SEPARATIONS,
    TRAINED_TRANSFORMER,
    Separation,
    TrainedTransformer,
)
from lemmata.papers.selection.theory import _networks as theory

NARROWER = Assumption(
    "d + d_e < T d", "the transformer is narrower than the tokens", frozenset({"no_narrower"})
)


@claim(
    "equation-8",
    "Appendix C.3, Eq. (8)",
    "One layer of self-attention on the (d+2d_e)-row input of Eq. (8), with Q = α[0, I, 0], "
    "K = [0, 0, I] and V = [I, 0, 0], gives position i the weight softmax(α⟨e_i, e_y⟩) at the last "
    "column, and the mean of the tokens with these weights.",
    assumes=(FITS,),
    on=LITERAL,
    sharpened="softmax(2α⟨e_i, e_y⟩)",
)
def equation_8(evidence: Cases[Literal8], sharpened: bool) -> Sequence[Judgement]:
    """The matrices written out, against the formula."""

    def expected(case: Literal8) -> np.ndarray:
        weights = case.softmax ** (2 if sharpened else 1)
        return weights / weights.sum(axis=1, keepdims=True)

    def output(case: Literal8) -> np.ndarray:
        return np.einsum("ndt,nt->nd", case.inputs[:, : case.task.d], expected(case))

    rows = [
        (case.name, case.inputs.shape[1] == case.task.d + 2 * case.d_e, {}) for case in evidence
    ]
    return [
        same(evidence, "weights", lambda case: case.weights, expected, 1e-10),
        same(evidence, "outputs", lambda case: case.outputs, output, 1e-9),
        exactly("d + 2 d_e rows", rows),
    ]


@claim(
    "equation-8/printed",
    "Appendix C.3, after Eq. (8)",
    "The same with the printed blocks, Q = [0_{d×d}, I, 0_{d_e×d_e}] and K = [0_{d×d}, 0, I].",
    assumes=(FITS,),
    on=LITERAL,
    sharpened="with twice the α",
)
def equation_8_printed(evidence: Cases[Literal8], sharpened: bool) -> Sequence[Judgement]:
    """The blocks stand side by side only if d = d_e, and then the scale α is missing."""
    from lemmata.papers.selection.setting._construction import printed_self_attention

    shapes, weights = [], []
    for case in evidence:
        numbers: dict[str, Any] = {"d": case.task.d, "d_e": case.d_e}
        try:
            model = printed_self_attention(case.task.d, case.d_e)
        except InputError as error:
            shapes.append((case.name, False, numbers | {"Q": error}))
            continue
        wanted = case.softmax ** (2 if sharpened else 1)
        wanted /= wanted.sum(axis=1, keepdims=True)
        error = float(np.abs([model.weights(one) for one in case.inputs] - wanted).max())
        weights.append((case.name, error < ROUNDING, {"alpha": case.scale, "error": error}))
    found = [exactly("shapes", shapes)] if shapes else []
    return [*found, exactly("weights", weights)] if weights else found


@claim(
    "section-3.3",
    "Section 3.3",
    "At its own width d+d_e a transformer has a smaller mean squared error than any fully "
    "connected net of that width, and nets need a width of order Td: with m first neurons they "
    "keep a share of at least (1−m/(Td))(T−q)/(T−1) of the loss d/q of predicting zero.",
    assumes=(FITS, NARROWER, PROPER),
    on=SEPARATIONS,
    sharpened="a smaller one than nets of any width",
)
def section_3_3(evidence: Cases[Separation], sharpened: bool) -> Sequence[Judgement]:
    """At equal width, which is the honest comparison; three standard errors over subsets count."""

    def floor(case: Separation) -> float:
        return case.floor(case.task.T * case.task.d if sharpened else case.width)

    return [
        each(
            evidence,
            "nets of the same width against the transformer",
            floor,
            lambda case: case.loss + 3 * case.error,
            strict=True,
        ),
        exactly("share of the trivial loss", (row for case in evidence for row in _shares(case))),
    ]


def _shares(case: Separation) -> Iterable[tuple[str, bool, dict[str, Any]]]:
    T, q, d = case.task.T, case.task.q, case.task.d
    for width in {0, 1, d, case.width, T * d // 2, T * d - 1}:
        share = Fraction(T * d - width, T * d) * Fraction(T - q, T - 1)
        law = theory.width_law(T, q, d, width)
        least = share * theory.trivial_loss(q, d)
        yield f"{case.name}, width {width}", law >= least, {"law": law, "least": least}


@claim(
    "own/full-width-floor",
    "ours, next to Section 3.3",
    "After the 100,000 steps of Section 4 the transformer is still above the bound of Theorem 3.5, "
    "which speaks of width Td−1; nets of any smaller width are above the transformer.",
    assumes=(),
    on=TRAINED_TRANSFORMER,
    sharpened="nets as wide as the transformer can do better than it",
)
def full_width_floor(evidence: Cases[TrainedTransformer], sharpened: bool) -> Sequence[Judgement]:
    """In mean field; its error from 800 pairs of encodings and subsets is about a hundredth."""

    def above(case: TrainedTransformer) -> float:
        return case.floor(case.width if sharpened else case.task.T * case.task.d - 1)

    return [
        each(evidence, "the transformer against Td−1", lambda case: case.loss, above, strict=True),
        each(
            evidence,
            "Td−2 against the transformer",
            lambda case: case.floor(case.task.T * case.task.d - 2),
            lambda case: case.loss,
            strict=True,
        ),
    ]

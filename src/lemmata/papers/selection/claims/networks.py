"""Theorems 3.5 and C.1: the loss of a narrow net, whatever follows its first layer.

Losses are mean squared errors without the 1/2 of Eq. (3), as in Theorem 3.5.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from lemmata.claims import Bench, Comparison, Inequality, at_least, at_most, equal, statements
from lemmata.settings import Evidence

from .. import theory
from ..experiments.fractions import KERNEL_VECTORS, KernelVector
from ..experiments.networks import EXPLICIT, FIRST_LAYERS, Explicit, Layer
from ..experiments.separation import TRAINED, Trained
from ..setting import FITS, POSITIONS

claim = statements("selection", hypotheses=(POSITIONS, FITS), on=FIRST_LAYERS)

EPS = float(np.finfo(float).eps)
"""Also the rounding of a fraction that is turned into a number."""

REACHED = 0.03
"""A trained net has reached the law if it is above it by less than this share of d/q."""


def trace_error(evidence: Evidence[Any]) -> dict[str, Any]:
    """The rounding of a trace of a projection in T d dimensions, and d/q, the whole trace."""
    return {
        "rounding": (64 + evidence.T * evidence.d) * EPS,
        "size": evidence.d / evidence.q,
    }


def told(evidence: Evidence[Any], bound: np.ndarray, part: str) -> Inequality:
    """The best g of every first layer against a bound, exactly; being told y only helps it."""
    how = trace_error(evidence) | {"baseline": 0.0, "part": part, "cases": evidence.cases}
    return at_least(evidence.least, bound, **how)


def trained_above(bench: Bench) -> Comparison:
    """Theorem 3.5 for the first layers that training finds."""
    nets = bench.evidence(TRAINED).where(lambda net: net.width < net.task.T * net.task.d)
    bound = nets.each(lambda net: theory.zero_sum_eigenvalue(net.task.T, net.task.q))
    return told(nets, bound, "first layers of trained nets")


@claim(
    "theorem-3.5",
    "Section 3.3, Theorem 3.5",
    "A fully connected net, with any activation and whatever follows a first layer of at most "
    "Td−1 neurons, has a mean squared error of at least (T−q)/(Tq(T−1)).",
    counterexample=trained_above,
)
def theorem_3_5(evidence: Evidence[Layer]) -> list[Comparison]:
    """Every function of the neurons is covered: the best one is known for each first layer."""
    compared: list[Comparison] = [told(evidence, evidence.bound, "the best g, told y")]
    sampled = [(layer, layer.measured) for layer in evidence if layer.measured is not None]
    if sampled:
        compared.append(
            at_least(
                np.array([[measured.loss] for _, measured in sampled]),
                np.array([[float(layer.bound)] for layer, _ in sampled]),
                error=np.array([[measured.error] for _, measured in sampled]),
                part="the best g, not told y",
                cases=[layer for layer, _ in sampled],
            )
        )
    return compared


@claim(
    "theorem-c.1",
    "Appendix C.1, Theorem C.1",
    "The same bound by way of one direction: with v a unit vector that the first layer does not "
    "see, the loss is at least E_y‖STS_q(v, y)‖², and that is at least (T−q)/(Tq(T−1)).",
)
def theorem_c_1(evidence: Evidence[Layer]) -> Sequence[Comparison]:
    """Both steps, for a random direction of every kernel."""
    return [
        told(evidence, evidence.direction, "loss against one direction"),
        at_least(
            evidence.direction,
            evidence.bound,
            baseline=0.0,
            part="one direction against the bound",
            **trace_error(evidence),
        ),
    ]


@claim(
    "theorem-c.1/equality",
    "Appendix C.1, proof of Theorem C.1, last display",
    "E_y‖Σ_y v⁽ⁱ⁾‖²/q² equals (T−q)/(Tq(T−1))‖v‖² + (q−1)/(Tq(T−1))‖Σv⁽ⁱ⁾‖² (printed as ≥), so "
    "the last ≥ is an equality for tokens that add up to zero, and the bound cannot be improved.",
    on=KERNEL_VECTORS,
)
def theorem_c_1_equality(evidence: Evidence[KernelVector]) -> list[Comparison]:
    """Whole-number tokens and all subsets, in fractions."""

    def bound(case: KernelVector) -> Fraction:
        return theory.zero_sum_eigenvalue(case.task.T, case.task.q) * case.size

    def expanded(case: KernelVector) -> Fraction:
        T, q = case.task.T, case.task.q
        return bound(case) + Fraction(q - 1, T * q * (T - 1)) * case.sum_size

    balanced = evidence.where(lambda case: not case.sum_size)
    return [
        equal(evidence.cost, evidence.each(expanded), rounding=EPS, part="the expansion"),
        equal(
            balanced.cost,
            balanced.each(bound),
            rounding=EPS,
            part="the bound",
            cases=balanced.cases,
        ),
    ]


@claim(
    "own/width-law",
    "ours, sharper than Theorem 3.5",
    "A first layer of m neurons costs at least the sum of the Td−m smallest eigenvalues of "
    "(E[YYᵀ]/q²) ⊗ I_d: (Td−m)(T−q)/(qT(T−1)) for m ≥ d.",
)
def width_law(evidence: Evidence[Layer]) -> Comparison:
    """On every first layer, at its own width."""
    return told(evidence, evidence.law, "the best g, told y")


@claim(
    "own/width-tight",
    "ours, sharper than Theorem 3.5",
    "The law is attained at every width m ≥ 1, up to 10⁻³⁰: m neurons hold the best directions, "
    "and the subset rides on them as a code that costs no neuron.",
    on=EXPLICIT,
)
def width_tight(evidence: Evidence[Explicit]) -> list[Comparison]:
    """Exactly, what decoding can add, and on samples."""
    law, rounding = evidence.law, trace_error(evidence)
    return [
        equal(evidence.least, law, part="loss if y is decoded", **rounding),
        at_most(evidence.excess, 1e-30, part="wrong codes"),
        equal(evidence.loss, law, error=evidence.error, part="samples", **rounding),
    ]


@claim(
    "own/trained-net",
    "ours, next to Theorem 3.5",
    "Nets trained by Adam end at the law of their width, within 3 % of the loss d/q of predicting "
    "zero, and their first layers let through all that so many neurons can.",
    hypotheses=(),
    on=TRAINED,
    unbreakable="it is about nets that one training finds",
)
def trained_net(evidence: Evidence[Trained]) -> Sequence[Comparison]:
    """The first layer exactly, the loss on fresh samples."""
    least, law = evidence.least, evidence.law
    goal = law + REACHED * (evidence.d / evidence.q)
    return [
        at_least(least, law, part="first layer, above the law", **trace_error(evidence)),
        at_most(least, goal, part="first layer, near the law"),
        at_most(evidence.loss, goal, error=evidence.error, part="loss"),
    ]

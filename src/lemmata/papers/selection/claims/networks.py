"""Theorems 3.5 and C.1: the loss of a narrow net, whatever follows its first layer.

Losses are mean squared errors without the 1/2 of Eq. (3), as in Theorem 3.5.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from lemmata.old_claims import Bench, Cases, Judgement, each, fact, same
from lemmata.papers.selection.claims._network_terms import (
    FITS,
    POSITIONS,
    ROUNDING,
    beyond_noise,
    exactly,
)
from lemmata.papers.selection.claims._terms import claim
from lemmata.papers.selection.experiments.fractions import KERNEL_VECTORS, KernelVector
from lemmata.papers.selection.experiments.networks import (
    EXPLICIT,
    FIRST_LAYERS,
    TRAINED,
    Explicit,
    Layer,
    Trained,
)
from lemmata.papers.selection.theory import _networks as theory


def _told(
    evidence: Iterable[Layer], bound: Callable[[Layer], Fraction], factor: float
) -> Judgement:
    """The best g of every first layer against a bound, exactly; being told y only helps it."""
    return each(
        evidence,
        "the best g, told y",
        lambda layer: layer.least,
        lambda layer: factor * float(bound(layer)),
        baseline=0.0,
        tolerance=ROUNDING,
    )


def _trained_above(bench: Bench) -> list[Judgement]:
    """Theorem 3.5 for the first layers that training finds."""
    narrow = [case for case in bench.evidence(TRAINED) if case.width < case.task.T * case.task.d]
    return [
        each(
            narrow,
            "first layers of trained nets",
            lambda net: net.least,
            lambda net: float(theory.zero_sum_eigenvalue(net.task.T, net.task.q)),
            baseline=0.0,
            tolerance=ROUNDING,
        )
    ]


@claim(
    "theorem-3.5",
    "Section 3.3, Theorem 3.5",
    "A fully connected net, with any activation and whatever follows a first layer of at most "
    "Td−1 neurons, has a mean squared error of at least (T−q)/(Tq(T−1)).",
    assumes=(POSITIONS, FITS),
    on=FIRST_LAYERS,
    sharpened="at least 1.001 times that",
    counterexample=_trained_above,
)
def theorem_3_5(evidence: Cases[Layer], sharpened: bool) -> Sequence[Judgement]:
    """Every function of the neurons is covered: the best one is known for each first layer."""
    factor = 1.001 if sharpened else 1.0
    measured = [
        (layer.name, layer.measured, factor * float(layer.bound))
        for layer in evidence
        if layer.measured is not None
    ]
    on_samples = [beyond_noise("the best g, not told y", measured)] if measured else []
    return [_told(evidence, lambda layer: layer.bound, factor), *on_samples]


@claim(
    "theorem-c.1",
    "Appendix C.1, Theorem C.1",
    "The same bound by way of one direction: with v a unit vector that the first layer does not "
    "see, the loss is at least E_y‖STS_q(v, y)‖², and that is at least (T−q)/(Tq(T−1)).",
    assumes=(POSITIONS, FITS),
    on=FIRST_LAYERS,
    sharpened="the loss is at least twice the cost of one direction",
)
def theorem_c_1(evidence: Cases[Layer], sharpened: bool) -> Sequence[Judgement]:
    """Both steps, for a random direction of every kernel."""
    factor = 2.0 if sharpened else 1.0
    return [
        each(
            evidence,
            "loss against one direction",
            lambda layer: layer.least,
            lambda layer: factor * layer.direction,
            baseline=0.0,
            tolerance=ROUNDING,
        ),
        each(
            evidence,
            "one direction against the bound",
            lambda layer: layer.direction,
            lambda layer: float(layer.bound),
            baseline=0.0,
            tolerance=ROUNDING,
        ),
    ]


def _last_line(case: KernelVector, sharpened: bool) -> Fraction:
    """The last line of Theorem C.1's proof but one."""
    T, q = case.task.T, case.task.q
    sums = Fraction(q if sharpened else q - 1, T * q * (T - 1))
    return theory.zero_sum_eigenvalue(T, q) * case.size + sums * case.sum_size


@claim(
    "theorem-c.1/equality",
    "Appendix C.1, proof of Theorem C.1, last display",
    "E_y‖Σ_y v⁽ⁱ⁾‖²/q² equals (T−q)/(Tq(T−1))‖v‖² + (q−1)/(Tq(T−1))‖Σv⁽ⁱ⁾‖² (printed as ≥), so "
    "the last ≥ is an equality for tokens that add up to zero, and the bound cannot be improved.",
    assumes=(POSITIONS, FITS),
    on=KERNEL_VECTORS,
    sharpened="with q in place of q−1",
)
def theorem_c_1_equality(evidence: Cases[KernelVector], sharpened: bool) -> Sequence[Judgement]:
    """Whole-number tokens and all subsets, in fractions."""

    def expanded(case: KernelVector) -> tuple[str, bool, dict[str, Any]]:
        right = _last_line(case, sharpened)
        return case.name, case.cost == right, {"left": case.cost, "right": right}

    def attained(case: KernelVector) -> tuple[str, bool, dict[str, Any]]:
        right = theory.zero_sum_eigenvalue(case.task.T, case.task.q) * case.size
        return case.name, case.cost == right, {"left": case.cost, "right": right}

    return [
        exactly("the expansion", map(expanded, evidence)),
        exactly("the bound", [attained(case) for case in evidence if not case.sum_size]),
    ]


@claim(
    "own/width-law",
    "ours, sharper than Theorem 3.5",
    "A first layer of m neurons costs at least the sum of the Td−m smallest eigenvalues of "
    "(E[YYᵀ]/q²) ⊗ I_d: (Td−m)(T−q)/(qT(T−1)) for m ≥ d.",
    assumes=(POSITIONS, FITS),
    on=FIRST_LAYERS,
    sharpened="at least 1.001 times that",
)
def width_law(evidence: Cases[Layer], sharpened: bool) -> Sequence[Judgement]:
    """On every first layer, at its own width."""
    return [_told(evidence, lambda layer: layer.law, 1.001 if sharpened else 1.0)]


@claim(
    "own/width-tight",
    "ours, sharper than Theorem 3.5",
    "The law is attained at every width m ≥ 1, up to 10⁻³⁰: m neurons hold the best directions, "
    "and the subset rides on them as a code that costs no neuron.",
    assumes=(POSITIONS, FITS),
    on=EXPLICIT,
    sharpened="1 % less is attained",
)
def width_tight(evidence: Cases[Explicit], sharpened: bool) -> Sequence[Judgement]:
    """Exactly, what decoding can add, and on samples."""
    factor = 0.99 if sharpened else 1.0
    worst = max(evidence, key=lambda net: _deviation(net))
    far = _deviation(worst)
    reason = (
        f"{len(evidence)} nets on samples: at most {far:.2f} standard errors from the law, on "
        f"{worst.name} ({worst.measured.loss:.5g} ± {worst.measured.error:.2g} against "
        f"{worst.law:.5g})"
    )
    return [
        same(
            evidence,
            "loss if y is decoded",
            lambda net: net.least,
            lambda net: factor * net.law,
            ROUNDING,
        ),
        each(evidence, "wrong codes", lambda net: -net.excess, lambda net: -1e-30),
        fact("samples", far < 4.5, reason),
    ]


def _deviation(net: Explicit) -> float:
    """How far the measured loss is from the law, in standard errors, beyond rounding."""
    return max(abs(net.measured.loss - net.law) - ROUNDING, 0.0) / max(net.measured.error, ROUNDING)


REACHED = 0.03
"""A trained net has reached the law if it is above it by less than this share of d/q."""


@claim(
    "own/trained-net",
    "ours, next to Theorem 3.5",
    "Nets trained by Adam end at the law of their width, within 3 % of the loss d/q of predicting "
    "zero, and their first layers let through all that so many neurons can.",
    assumes=(),
    on=TRAINED,
    sharpened="they end where nets with one more neuron could",
)
def trained_net(evidence: Cases[Trained], sharpened: bool) -> Sequence[Judgement]:
    """The first layer exactly, the loss on fresh samples."""

    def goal(net: Trained) -> float:
        task = net.task
        law = theory.width_law(task.T, task.q, task.d, net.width + sharpened)
        return float(law) + REACHED * task.d / task.q

    return [
        each(
            evidence,
            "first layer, above the law",
            lambda net: net.least,
            lambda net: net.law,
            tolerance=ROUNDING,
        ),
        each(evidence, "first layer, near the law", goal, lambda net: net.least),
        beyond_noise(
            "loss", [(net.name, net.measured, goal(net)) for net in evidence], above=False
        ),
    ]

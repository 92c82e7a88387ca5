"""What an analysis of a plan consists of, as values.

Numbers may be of any precision: gamma can be 1e178, and L is its square.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

import mpmath

from ..theory import Real


@dataclass(frozen=True)
class Losses:
    """The loss at its best and at the start; what is printed below (36) leaves out label noise."""

    minimum: float
    minimum_as_printed: float
    initial_gap: float
    at_start: float


@dataclass(frozen=True)
class RidgeRegression:
    """What is learned, and its error on a query; beside it what the paper calls best.

    All but the regularizer m tau is None if there is no query.
    """

    regularizer: float
    risk: float | None = None
    best: float | None = None
    best_risk: float | None = None


@dataclass(frozen=True)
class Zeta:
    """zeta_0 of (14), how well it is known, and over how many tokens."""

    kind: Literal["exact", "at most", "zero", "unknown"]
    value: Real | None
    tokens: int


@dataclass(frozen=True)
class Guarantee:
    """Theorems 1 and 2 with one version of the smoothness L.

    Attributes:
        L: the smoothness.
        eta_Q, eta_w: the step sizes.
        guaranteed: by which part the gap shrinks in every step.
        steps: T of (21).
    """

    L: Real
    eta_Q: Real  # noqa: N815
    eta_w: Real
    guaranteed: Real
    steps: Real


@dataclass(frozen=True)
class Guarantees:
    """What the theory promises with the least gamma that (15) allows.

    Attributes:
        gamma: that gamma.
        best_rate: the supremum of the guaranteed rate over all gamma.
        label_bound: the bound (69) on ||y||.
        versions: by the version of the smoothness L.
    """

    gamma: Real
    best_rate: Real
    label_bound: float
    versions: Mapping[str, Guarantee]


@dataclass(frozen=True)
class Duration:
    """Steps until the gap is what Theorem 2 needs, by the exact curve for attention held fixed.

    Attributes:
        gap_needed: that gap; 0 without noise.
        floor: the gap that such attention leaves, as float64 can tell.
        at_theory_rate: the steps at the theory's eta_w; None if there are none.
        largest_stable_rate: from this eta_w on descent on w diverges.
        tuned_rate, at_tuned_rate: the best of some smaller eta_w, and the steps it takes.
    """

    gap_needed: float
    floor: float
    at_theory_rate: float | None = None
    largest_stable_rate: float | None = None
    tuned_rate: float | None = None
    at_tuned_rate: float | None = None


@dataclass(frozen=True)
class Standing:
    """Whether a hypothesis holds, None where float64 cannot tell, and the problems with it."""

    holds: bool | None
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Applicability:
    """Whether a theorem applies, None where float64 cannot tell, and which hypotheses decide."""

    applies: bool | None
    broken: tuple[str, ...]
    open: tuple[str, ...]


def as_document(value: Any) -> Any:
    """A finding as JSON has it; a number that no float holds is given as text."""
    if is_dataclass(value):
        return {f.name: as_document(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {key: as_document(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [as_document(item) for item in value]
    if not isinstance(value, mpmath.mpf):
        return value
    number = float(value)
    fits = (number != 0 and math.isfinite(number)) or value == 0
    return number if fits else mpmath.nstr(value, 6)

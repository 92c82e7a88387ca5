"""What an analysis of a plan consists of, as values and in words.

The words are for a person who has not read the paper. Numbers may be of any precision: gamma can be
1e178, and L is its square.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

import mpmath
from rich.table import Table
from rich.text import Text

from ..theory import Real
from ._plan import Plan

VERSION_NAMES = {
    "printed_61": "as printed in (61)",
    "repaired_61": "(61) repaired",
    "simplified_17": "as printed in (17)",
    "repaired_17": "(17) repaired",
}


@dataclass(frozen=True)
class Losses:
    """The loss at its best and at the start; what is printed below (36) leaves out label noise."""

    minimum: float
    minimum_as_printed: float
    initial_gap: float
    at_start: float

    def describe(self) -> Iterator[Text]:
        """The loss at its best, as printed, and at the start."""
        printed = ""
        if self.minimum_as_printed != self.minimum:
            printed = (
                f" (the paper's formula says {self.minimum_as_printed:.6g}: it leaves out the "
                "noise in the labels to predict)"
            )
        yield Text(
            f"The loss starts at {self.at_start:.6g}; the least that is possible is L* = "
            f"{self.minimum:.6g}{printed}. The gap to close is {self.initial_gap:.6g}."
        )


@dataclass(frozen=True)
class RidgeRegression:
    """What is learned, and its error on a query; beside it what the paper calls best.

    All but the regularizer m tau is None if there is no query.
    """

    regularizer: float
    risk: float | None = None
    best: float | None = None
    best_risk: float | None = None

    def describe(self) -> Iterator[Text]:
        """What is learned."""
        if self.risk is None:
            yield Text("All tokens have their labels in the prompt: there is nothing to predict.")
            return
        yield Text(
            f"What is learned is ridge regression with the regularizer m tau = "
            f"{self.regularizer:g}. Its squared error on a new token, label noise aside, is "
            f"{self.risk:.6g}; with N tau = {self.best:g}, which the paper calls best, "
            f"{self.best_risk:.6g}."
        )


@dataclass(frozen=True)
class Zeta:
    """zeta_0 of (14), how well it is known, and over how many tokens."""

    kind: Literal["exact", "at most", "zero", "unknown"]
    value: Real | None
    tokens: int

    def describe(self) -> Iterator[Text]:
        """zeta_0, and how well it is known."""
        if self.kind == "exact":
            yield Text(
                f"The theory's rates depend on zeta_0 = {_number(self.value)} of (14), which is "
                "small if the heads look at the prompt in similar ways."
            )
        elif self.kind == "at most":
            many = "one token" if self.tokens == 1 else f"{self.tokens} tokens"
            yield Text(
                f"The theory's rates depend on zeta_0, which is at most {_number(self.value)} (in "
                f"high precision, over {many}): no run will ever be that long.",
                style="yellow",
            )
        elif self.kind == "unknown":
            yield Text(
                "The theory's rates depend on zeta_0, which is positive but so small that float64 "
                "cannot tell it from zero, and more digits would take too long.",
                style="yellow",
            )
        else:
            yield Text(
                "zeta_0 = 0: the theory has no step size and no rate for this plan.", style="yellow"
            )


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

    def describe(self, zeta: Zeta, plan: Plan) -> Iterator[Text | Table]:
        """Step sizes, rates and T, version by version."""
        least, most = ("at least ", "at most ") if zeta.kind == "at most" else ("", "")
        yield Text(
            f"The least gamma that (15) allows, the root of eta_w / eta_Q, is "
            f"{least}{_number(self.gamma)}. The step sizes and what they guarantee, by the version "
            "of the smoothness L, a bound on how fast slopes change:"
        )
        table = Table("version of L", "L", "eta_Q", "eta_w", "rate a step", "T of (21)", box=None)
        for name, row in self.versions.items():
            values = (row.L, row.eta_Q, row.eta_w, row.guaranteed, row.steps)
            table.add_row(VERSION_NAMES[name], *map(_number, values))
        yield table
        yield Text(
            f"The best rate that Theorem 1 can promise, with any gamma, is "
            f"{most}{_number(self.best_rate)}. T is for epsilon = {plan.epsilon:g}, delta = "
            f"{plan.delta:g} and ||lambda|| <= {plan.largest_coefficient:.4g}, that is for ||y|| "
            f"<= {self.label_bound:.4g}."
        )


@dataclass(frozen=True)
class Duration:
    """Steps until the gap is what Theorem 2 needs, by the exact curve for attention held fixed.

    Attributes:
        gap_needed: that gap; 0 without noise.
        floor: the least gap that any w reaches with such attention; None if float64 cannot tell.
        left: the gap after a billion steps close to the largest stable one.
        at_theory_rate: the steps at the theory's eta_w; None if there are none.
        largest_stable_rate: from this eta_w on descent on w diverges.
        tuned_rate, at_tuned_rate: the best of some smaller eta_w, and the steps it takes.
    """

    gap_needed: float
    floor: float | None
    left: float
    at_theory_rate: float | None = None
    largest_stable_rate: float | None = None
    tuned_rate: float | None = None
    at_tuned_rate: float | None = None

    def describe(self, guarantees: Guarantees | None) -> Iterator[Text]:
        """How long training really takes."""
        if self.largest_stable_rate is not None:
            yield Text(
                f"With attention held where it starts, descent on w is stable for eta_w below "
                f"{_number(self.largest_stable_rate)}."
            )
        if self.gap_needed == 0:
            yield Text(
                "Without noise Theorem 2 asks for a gap of 0, which no number of steps reaches."
            )
            return
        needed = f"the gap {_number(self.gap_needed)} that Theorem 2 needs"
        left = self.left if self.floor is None else self.floor
        if left > self.gap_needed:
            who = (
                "A billion steps just below that leave"
                if self.floor is None
                else "So held, it leaves"
            )
            yield Text(
                f"{who} a gap of {_number(left)}, above {needed}: attention itself has to learn.",
                style="yellow",
            )
            return
        takes = f"{_steps(self.at_tuned_rate)} at eta_w = {_number(self.tuned_rate)}"
        if guarantees is not None:
            rate = _number(guarantees.versions["printed_61"].eta_w)
            takes = f"{_steps(self.at_theory_rate)} at the theory's eta_w = {rate}, {takes}"
        yield Text(f"So held, {needed} takes so many steps: {takes}.")


@dataclass(frozen=True)
class Standing:
    """Whether a hypothesis holds, None where float64 cannot tell, and the problems with it."""

    holds: bool | None
    problems: tuple[str, ...]


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


def _steps(value: float | None) -> str:
    return "more than 1e300" if value is None else _number(value)


def _number(value: Real | None) -> str:
    """Four digits; whole numbers up to a billion in full."""
    plain = as_document(value)
    if isinstance(plain, str):
        return plain
    return f"{plain:,.0f}" if plain == round(plain) and 1 <= plain < 1e9 else f"{plain:.4g}"

"""What the inductions of Theorems D.4 and E.6 compute at a state and one step after it.

The proofs go the same way. With b = 1/d in the first and d_e/(Td) in the second,
alpha = (1 + gamma r) alpha* has to stay below gamma = 1 - b/8, and the band above 1 - b/4 is looked
at by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from lemmata.claims import repaired, statements
from lemmata.settings import Evidence

from .. import theory
from ..experiments.states import STATES
from ..experiments.steps import NARROW, STEPS
from ..setting import SPARSE
from .stochastic import HYPOTHESES

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Proof:
    """What tells the two proofs apart.

    Attributes:
        band: b, from the numbers of a plan.
        stretch: s_+ grows by at most so many times s_+ (1 - q s_+) Delta C in a step.
        excess: Delta C is at most so many times what it were with orthogonal encodings.
        first, second: the shares of the two terms of (#) and (##).
    """

    band: Callable[[Evidence[Any]], Any]
    stretch: float
    excess: float
    first: float
    second: float


ONE_HOT = Proof(lambda evidence: 1 / evidence.d, 5 / 4, 1.0, 5 / 14, 15 / 64)
RANDOM = Proof(
    lambda evidence: evidence.inertia / (evidence.T * evidence.d),
    45 / 32,
    9 / 8,
    405 / 1024,
    1215 / 4096,
)


class Step:
    """The quantities of a proof at states with s >= 1/sqrt(Tq), and after one step.

    Attributes:
        T, q, d, rate, inertia, u, alpha, turn: of the states.
        s: the (mean) attention on a chosen position.
        above: T s - 1.
        unit: eta (1 - q s)/(q (T s - 1)), in which decrements are counted.
    """

    def __init__(self, evidence: Evidence[Any], proof: Proof) -> None:
        self.evidence, self.proof = evidence, proof
        columns = ("T", "q", "d", "rate", "inertia", "u", "alpha", "turn")
        self.T, self.q, self.d, self.rate, self.inertia, self.u, self.alpha, self.turn = (
            evidence.columns[name] for name in columns
        )
        if proof is ONE_HOT:  # whatever encodings a plan has
            self.inertia = self.T - 1
        late = self.u <= (1 - np.sqrt(self.q / self.T)) * (1 + EPS)
        self.u = np.where(late, self.u, np.nan)
        self.s = theory.chosen(self.u, self.q)
        self.above = self.T * self.s - 1
        self.unit = self.rate * self.u / (self.q * self.above)
        self.band = proof.band(evidence)
        self.best, self.next_best = (theory.best_alpha(u, self.T, self.q) for u in self.both)
        self.r, self.next_r = (theory.overshoot(u, self.T, self.q) for u in self.both)
        self.gamma = theory.gamma(self.alpha, self.u, self.T, self.q)

    @property
    def both(self) -> tuple[Any, Any]:
        """u before and after the step."""
        return self.u, np.where(np.isnan(self.u), np.nan, self.evidence.next_u)

    @property
    def D(self) -> Any:
        """T q s^2 - 2 q s + 1."""
        return theory.denominator(self.u, self.T, self.q)

    @property
    def moved(self) -> Any:
        """s(t+1) - s(t); exactly, from C, if encodings are orthogonal."""
        if "moved" in self.evidence.columns:
            return self.evidence.moved
        less = -np.expm1(-self.turn)
        return self.s * self.u * less / (1 - self.u * less)

    @property
    def spread(self) -> Any:
        """E[s_+ (1 - q s_+)]."""
        return self.evidence.columns.get("spread", self.s * self.u)

    @property
    def shift(self) -> Any:
        """A bound on s(t+1) - s(t), by the growth of C."""
        return self.proof.stretch * self.s * self.u * self.turn

    @cached_property
    def put_in(self) -> Any:
        """What stands for s(t+1) - s(t) in the displays: the bound in one proof, itself in the
        other."""
        return self.shift if self.proof is ONE_HOT else self.moved

    @property
    def top(self) -> Any:
        """(1 + (1 - b/8) r) alpha* before the step."""
        return (1 + (1 - self.band / 8) * self.r) * self.best

    @property
    def next_top(self) -> Any:
        """The same after it."""
        return (1 + (1 - self.band / 8) * self.next_r) * self.next_best

    def star_loss(self, moved: Any) -> Any:
        """By which share alpha* falls if s grows so much."""
        return self.T * self.q * self.s * moved / self.D

    def ratio_loss(self, moved: Any) -> Any:
        """By how much r falls then."""
        return moved * (2 * self.T * self.s - 1) / (self.q * self.s**2 * self.above**2)

    @property
    def growth(self) -> Any:
        """eta d (T-q) s^2 (1 - q s)^2/(inertia D^2), of which Delta C is a share."""
        each = self.rate * self.d * (self.T - self.q) * self.s**2 * self.u**2
        return each / (self.inertia * self.D**2)

    @property
    def rounding(self) -> Any:
        """Of gamma and of the growth of C, in both of which terms of size alpha cancel."""
        left = (1 - self.alpha + self.alpha * self.u * self.T / (self.T - self.q)).clip(EPS**2)
        near = self.r * np.abs(1 - self.gamma).clip(EPS**2)
        return 64 * EPS * (1 + 1 / near + (1 + self.alpha) / left)

    def where(self, here: Any, values: Any) -> Any:
        """The values there, NaN elsewhere."""
        return np.where(here, values, np.nan)

    @property
    def low(self) -> Any:
        """gamma <= 1 - b/4: the first part of the range of alpha."""
        return self.gamma <= 1 - self.band / 4

    @property
    def high(self) -> Any:
        """gamma >= 1 - b/4: the last band."""
        return self.gamma >= 1 - self.band / 4


Check = Callable[[Step], Any]

PLACES = {
    "theorem-d.4": ("Appendix D.2, proof of Theorem D.4", ONE_HOT, STATES, (SPARSE,)),
    "theorem-e.6": ("Appendix E.3, proof of Theorem E.6", RANDOM, STEPS, HYPOTHESES),
}
NARROW_TOO = (*HYPOTHESES, NARROW)


def in_proof(theorem: str, name: str, statement: str, **more: Any) -> Callable[..., Any]:
    """A display of a proof as a claim about its states."""
    where, proof, on, hypotheses = PLACES[theorem]
    declared = statements("selection", on=on, hypotheses=hypotheses)
    return declared(f"{theorem}/{name}", where, statement, proof=proof, **more)


d4, e6 = partial(in_proof, "theorem-d.4"), partial(in_proof, "theorem-e.6")


def nonnegative(statement: str = "The same for gamma >= 0 and d_e <= T d.") -> Any:
    """The version of a display that needs gamma >= 0, and d_e <= T d where encodings are random."""
    return repaired(statement, hypotheses=NARROW_TOO, lowest=0.0)

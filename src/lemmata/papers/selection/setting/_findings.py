"""What an analysis finds out about a plan, as values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What is allowed: the theorems' largest epsilon and eta, and where descent is stable."""

    eps: float
    eta: float
    stable_eta: int


@dataclass(frozen=True)
class Time:
    """How long gradient descent on the population loss takes.

    Attributes:
        steps, standard_error: the first step with L <= epsilon by the recursion; None if it did
            not come.
        half_attention: the first step with half of the attention on the subset.
        searched: how many steps were tried.
        bound: the paper's T^2 d / (eta epsilon), without logarithms.
        law, plateau_law: our laws for the whole and for the plateau.
    """

    steps: float | None
    standard_error: float | None
    half_attention: float | None
    searched: int
    bound: float
    law: float
    plateau_law: float

    @property
    def steps_over_bound(self) -> float | None:
        """How far the bound is from the truth."""
        return None if self.steps is None else self.steps / self.bound

    @property
    def steps_over_law(self) -> float | None:
        """How far our law is."""
        return None if self.steps is None else self.steps / self.law


@dataclass(frozen=True)
class Length:
    """The loss at twice the length, when training stops at epsilon.

    Attributes:
        T: that length.
        loss, ratio: the loss there, and over the loss at T; None if epsilon is not reached.
        law: our law for the ratio in the limit.
        paper: that of Corollary 3.6, without its constant.
    """

    T: int
    loss: float | None
    ratio: float | None
    law: float
    paper: float = 4.0


@dataclass(frozen=True)
class Width:
    """Theorem 3.5: widths, and what a net as wide as W cannot beat, with the 1/2 of Eq. (3)."""

    transformer: int
    fully_connected: int
    narrower: bool
    floor: float

"""What an analysis finds out about a plan: values, and words for one who has not read the paper."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from lemmata.tokens import Problem

from ..theory import NEEDED_DELTA
from ._measure import Measured
from ._plan import Plan

KINDS = {
    "one-hot": "one-hot encodings",
    "random": "random sign encodings in {d_e} dimensions, inner products within {threshold:g}",
    "given": "your encodings in {d_e} dimensions",
}

ROUNDING = 1e-9

DRAWN = {
    "one-hot": "",
    "random": ", encodings drawn afresh (error from the draws we made)",
    "given": ", the coordinates of your encodings flipped and switched afresh",
}


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


def describe_plan(plan: Plan) -> Iterator[Text]:
    """The task and its encodings."""
    task, kind = plan.task, KINDS[plan.kind].format(d_e=plan.d_e, threshold=plan.threshold)
    yield Text(plan.name, style="bold")
    yield Text(
        f"Average q = {task.q} of T = {task.T:,} tokens in d = {task.d} dimensions; {kind}. Step "
        f"size eta = {plan.rate:g}, loss to reach eps = {plan.epsilon:.4g}; predicting zero costs "
        f"{task.zero_loss:.4g}."
    )


def describe_encodings(plan: Plan, measured: Measured) -> Iterator[Text | Table]:
    """How near to orthonormal they are, and what that means."""
    table = Table("encodings", "value", "", box=None)
    for name, title in (
        ("coherence", "largest |<e_i, e_j>|"),
        ("isometry", "isometry"),
        ("orthogonality", "orthogonality"),
        ("off_subset", "largest |<e_i, e_y>|, i not in y"),
    ):
        exact = getattr(measured, f"{name}_exact", True)
        table.add_row(title, f"{getattr(measured, name):.4f}", "exact" if exact else "at least")
    yield table
    outcome = {True: "yes", False: "no", None: "open: there are too many sets to go through"}
    yield Text(f"delta < 1/10, as Theorem 3.3 asks: {outcome[measured.below_tenth]}")
    if measured.floor is not None:
        possible = measured.floor < NEEDED_DELTA
        yield Text(
            f"Orthogonality of any {plan.task.T} unit vectors in {plan.d_e} dimensions is at least "
            f"{measured.floor:.4f}: "
            + (
                "this does not rule out delta < 1/10"
                if possible
                else f"delta < 1/10 is impossible below d_e = {measured.least_d_e}"
            )
        )
    if measured.rival > 1 - ROUNDING:
        yield Text(
            f"Some position outside a subset has <e_i, e_y> = {measured.rival:.4g}, not below 1: "
            "attention cannot single out that subset.",
            style="bold red",
        )
    if measured.draws is not None:
        yield Text(f"Rejection needs about {measured.draws:.4g} draws for {plan.task.T} encodings.")


def describe_time(plan: Plan, time: Time, stable: int) -> Iterator[Text]:
    """How long descent takes, next to the paper's bound and our law."""
    if time.steps is None:
        yield Text(f"Loss eps is not reached within {time.searched:,} steps.", style="yellow")
    else:
        spread = f" ± {time.standard_error:,.0f}" if time.standard_error else ""
        yield Text(
            f"Loss eps is reached after {time.steps:,.0f}{spread} steps of gradient descent on "
            f"the population loss{DRAWN[plan.kind]}."
        )
    if time.half_attention is not None:
        yield Text(f"Half of the attention is on the subset after {time.half_attention:,.0f}.")
    inertia = "T-1" if plan.kind == "one-hot" else "d_e"
    compared = ""
    if time.steps is not None:
        compared = f" ({time.steps_over_law:.3g} and {time.steps_over_bound:.2g} times that)"
    yield Text(
        f"Our law for small eps, ({inertia})/(4 eta eps): {time.law:,.0f}; the paper's bound "
        f"without logarithms, T²d/(eta eps): {time.bound:.3g}{compared}."
    )
    if plan.rate >= stable:
        yield Text(
            f"eta = {plan.rate:g} is not below 2q = {stable}, where descent stops being stable.",
            style="bold red",
        )
    else:
        yield Text(f"Descent is stable: eta < 2q = {stable}.")


def describe_elsewhere(length: Length, width: Width) -> Iterator[Text]:
    """Other lengths, and fully connected nets."""
    now = "" if length.ratio is None else f"{length.ratio:.4g} times when eps is reached, "
    yield Text(
        f"At T = {length.T:,} the loss is larger: {now}{length.law:.4g} times in the limit (our "
        f"law for orthogonal encodings); Corollary 3.6 says O({length.paper:g})."
    )
    yield Text(
        f"Width d + d_e = {width.transformer:,}, against Td = {width.fully_connected:,} for a "
        f"fully connected net, whose loss is at least {width.floor:.4g} at the same width."
    )


def describe_problems(problems: Sequence[Problem]) -> Iterator[Text]:
    """What is not met."""
    for problem in problems:
        yield Text(f"{problem.code}: {problem.message}", style="yellow")

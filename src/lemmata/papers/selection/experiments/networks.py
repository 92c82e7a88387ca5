"""The experiments behind Section 3.3 and Appendix C: first layers, trained nets, constructions.

Losses are mean squared errors without the 1/2 of Eq. (3). What is too large to look at is set
aside, with the reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from jaxtyping import Float

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from .. import theory
from ..setting import (
    Estimate,
    ExplicitNet,
    FirstLayer,
    Plan,
    Task,
    TokenPart,
    best_directions,
    directions_cost,
    estimate_loss,
    kernel,
    least_loss,
    lopsided_layer,
    subset_moment,
    visible_share,
)
from .plans import AbstractOfPlan, Drawn, Plans, Size, Trial, Unseen, tabulate

SECTION_4 = Size(200, 3, 5, 170, threshold=0.3)
"""The paper's own sizes."""

TASKS = Plans(
    tuple(
        Size(*size) for size in ((4, 1, 2), (5, 2, 1), (6, 2, 2), (8, 3, 1), (10, 3, 2), (20, 3, 5))
    ),
    at_paper_scale=(SECTION_4,),
)

MOST_INPUTS = 1_000
"""First layers with more columns than this are not looked at."""

MOST_MIXTURE = 4_000
"""Subsets times neurons up to which the best g is computed for samples."""

LARGE_INPUTS = 300
"""From here on fewer first layers are looked at, on fewer samples."""

SAMPLES = 4_000


def task_problems(plan: Plan) -> tuple[Problem, ...]:
    """What keeps a plan's task from being looked at, or makes statements about it empty."""
    name, task = plan.name, plan.task
    problems = []
    if task.T == 1:
        problems.append(Problem("one_position", name, "with T = 1 the bound reads 0/0"))
    if task.q == task.T:
        problems.append(Problem("all_chosen", name, "every position is chosen"))
    if task.T * task.d > MOST_INPUTS:
        message = f"T d = {task.T * task.d} is more than {MOST_INPUTS}: too large to look at"
        problems.append(Problem("too_large", name, message))
    return tuple(problems)


def widths_of(task: Task) -> list[int]:
    """One neuron, d, half of Td, Td - 1; not the first two if Td is large."""
    size = task.T * task.d
    few = {1, task.d} if size <= LARGE_INPUTS else set()
    return sorted((few | {size // 2, size - 1}) - {0, size})


def speakable(plans: Sequence[Plan]) -> tuple[list[Plan], tuple[Unseen, ...]]:
    """The plans that statements can speak of, and the others."""
    seen, unseen = [], []
    for plan in plans:
        problems = task_problems(plan)
        if {"too_large", "one_position"} & {problem.code for problem in problems}:
            unseen.append(Unseen(plan, problems))
        else:
            seen.append(plan)
    return seen, tuple(unseen)


@dataclass(frozen=True)
class Layer(AbstractOfPlan):
    """A first layer, and what it lets through.

    Attributes:
        kind: how it was made.
        width: the number of neurons.
        least: the loss of the best g if it is told y; none that is not told does better.
        direction: what a random unit vector of the kernel costs, E_y ||STS_q(v, y)||^2.
        visible: the share of it that some subset sees, with max ||v_i|| = 1.
        measured: the loss of the best g that is not told y, on samples, where it was measured.
    """

    kind: str
    width: int
    least: float
    direction: float
    visible: float
    measured: Estimate | None

    @property
    def law(self) -> Fraction:
        """The least loss of this width."""
        return law_of(self.task, self.width)

    @property
    def bound(self) -> Fraction:
        """That of Theorem 3.5."""
        return theory.zero_sum_eigenvalue(self.task.T, self.task.q)


def law_of(task: Task, width: int) -> Fraction:
    """The least loss of a first layer of this width."""
    return theory.width_law(task.T, task.q, task.d, width)


def kinds_of_layers(task: Task, width: int, draw: np.random.Generator) -> dict[str, TokenPart]:
    """Random, structured and adversarial token parts of a width."""
    size = task.T * task.d
    random = draw.standard_normal((width, size))
    kinds = {
        "Gaussian": random,
        "single coordinates": np.eye(size)[draw.permutation(size)[:width]],
        "best": best_directions(task, width),
    }
    if size <= LARGE_INPUTS:
        kinds |= {
            "signs": draw.choice([-1.0, 1.0], (width, size)),
            "running sums": np.tri(width, size),
            "twice the same neurons": np.concatenate([random[: -(-width // 2)]] * 2)[:width],
            "climbed": _climb(task, random, subset_moment(task)),
        }
    if width == size - 1:
        kinds["lopsided"] = lopsided_layer(task)
    return kinds


def _climb(task: Task, start: TokenPart, moment: Float[np.ndarray, "T T"]) -> TokenPart:
    """From a random first layer towards the best: a few steps of orthogonal iteration."""
    rows = start
    for _ in range(4):
        pushed = np.einsum("ts,msd->mtd", moment, rows.reshape(-1, task.T, task.d))
        rows = np.linalg.qr(pushed.reshape(len(rows), -1).T)[0].T
    return rows


def _layer(plan: Plan, kind: str, A: TokenPart, draw: np.random.Generator) -> Layer:
    task, missed = plan.task, kernel(A)
    v = draw.standard_normal(len(missed)) @ missed
    v /= np.linalg.norm(v)
    measured = None
    if kind == "Gaussian" and task.subset_count * len(A) <= MOST_MIXTURE:
        layer = FirstLayer(task, A, draw.standard_normal((len(A), task.q)) / task.T)
        measured = estimate_loss(layer, SAMPLES, int(draw.integers(2**31)))
    return Layer(
        name=f"{plan.name}, {kind}, width {len(A)}",
        plan=plan,
        kind=kind,
        width=len(A),
        least=directions_cost(task, missed),
        direction=directions_cost(task, v[None]),
        visible=visible_share(v, task.T, task.q),
        measured=measured,
        problems=task_problems(plan),
    )


def _first_layers(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Layer]:
    """First layers that are random, structured, or as good as can be, with the best function."""
    draw = np.random.default_rng([experiment.seed, 35])
    seen, unseen = speakable(plans)
    layers = [
        _layer(plan, kind, A, draw)
        for plan in seen
        for width in widths_of(plan.task)
        for kind, A in kinds_of_layers(plan.task, width, draw).items()
    ]
    return tabulate(layers, "least", "direction", "visible", "bound", "law", skipped=unseen)


FIRST_LAYERS = Experiment(TASKS, _first_layers)


@dataclass(frozen=True)
class Explicit(AbstractOfPlan):
    """The explicit net of a width, and its loss on samples."""

    width: int
    measured: Estimate

    @cached_property
    def least(self) -> float:
        """The exact loss if y were always decoded."""
        return least_loss(self.task, best_directions(self.task, self.width))

    @property
    def excess(self) -> float:
        """What wrong decoding can add at most."""
        return ExplicitNet(self.task, self.width).excess()

    @property
    def law(self) -> float:
        """The least loss of this width."""
        return float(law_of(self.task, self.width))


def explicit_nets(plan: Plan, widths: Sequence[int], samples: int, seed: int) -> list[Explicit]:
    """The explicit nets of some widths."""
    return [
        Explicit(
            name=f"{plan.name}, width {width}",
            plan=plan,
            width=width,
            measured=estimate_loss(ExplicitNet(plan.task, width), samples, seed + width),
            problems=task_problems(plan),
        )
        for width in widths
    ]


def _explicit(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Explicit]:
    """The explicit net of several widths up to Td, on samples."""
    seen, unseen = speakable(plans)
    nets = []
    for plan in seen:
        size = plan.task.T * plan.task.d
        samples = 4 * SAMPLES if size <= LARGE_INPUTS else SAMPLES // 2
        nets += explicit_nets(plan, [*widths_of(plan.task), size], samples, experiment.seed)
    measured = ("least", "law", "excess", "measured.loss", "measured.error")
    return tabulate(nets, *measured, skipped=unseen)


EXPLICIT = Experiment(TASKS, _explicit)

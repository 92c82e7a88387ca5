"""The experiments behind Section 3.3 and Appendix C: first layers, trained nets, constructions.

Losses are mean squared errors without the 1/2 of Eq. (3). A user's plans replace the default
tasks; what is too large to look at is reported as such.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.selection.theory import _networks as theory
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.selection.setting import Task
    from lemmata.papers.selection.setting._networks import Estimate, TokenPart

TASKS = ((4, 1, 2), (5, 2, 1), (6, 2, 2), (8, 3, 1), (10, 3, 2), (20, 3, 5))
"""T, q and d of the default tasks."""

PAPER_TASK = (200, 3, 5)
"""Those of Section 4, with d_e = 170."""

MOST_INPUTS = 1_000
"""First layers with more columns than this are not looked at."""

MOST_MIXTURE = 4_000
"""Subsets times neurons up to which the best g is computed for samples."""

LARGE_INPUTS = 300
"""From here on fewer first layers are looked at, on fewer samples."""

SAMPLES = 4_000


def tasks_of(bench: Bench) -> "list[tuple[str, Task]]":
    """The user's tasks by name, or the default ones."""
    from lemmata.papers.selection.setting import Task

    if bench.instances is not None:
        return [(plan.name, plan.task) for plan in bench.instances]
    sizes = (*TASKS, PAPER_TASK) if bench.paper_scale else TASKS
    return [(f"T={T} q={q} d={d}", Task(T, q, d)) for T, q, d in sizes]


def task_problems(name: str, task: "Task") -> tuple[Problem, ...]:
    """What keeps a task from being looked at, or makes statements about it empty."""
    found = []
    if task.T == 1:
        found.append(Problem("one_position", name, "with T = 1 the bound reads 0/0"))
    if task.q == task.T:
        found.append(Problem("all_chosen", name, "every position is chosen"))
    if task.T * task.d > MOST_INPUTS:
        message = f"T d = {task.T * task.d} is more than {MOST_INPUTS}: too large to look at"
        found.append(Problem("too_large", name, message))
    return tuple(found)


def widths_of(task: "Task") -> list[int]:
    """One neuron, d, half of Td, Td - 1; not the first two if Td is large."""
    size = task.T * task.d
    few = {1, task.d} if size <= LARGE_INPUTS else set()
    return sorted((few | {size // 2, size - 1}) - {0, size})


@dataclass(frozen=True)
class Unseen:
    """A task that is not looked at, and why."""

    name: str
    problems: tuple[Problem, ...]


def looked_at(bench: Bench) -> "tuple[list[tuple[str, Task]], list[Unseen]]":
    """The tasks that statements can speak of, and the others."""
    seen, unseen = [], []
    for name, task in tasks_of(bench):
        problems = task_problems(name, task)
        if {"too_large", "one_position"} & {problem.code for problem in problems}:
            unseen.append(Unseen(name, problems))
        else:
            seen.append((name, task))
    return seen, unseen


@dataclass(frozen=True)
class Layer:
    """A first layer, and what it lets through.

    Attributes:
        name: the task, the kind of layer, and its width.
        task: T, q, d.
        kind: how it was made.
        width: the number of neurons.
        least: the loss of the best g if it is told y; none that is not told does better.
        direction: what a random unit vector of the kernel costs, E_y ||STS_q(v, y)||^2.
        visible: the share of it that some subset sees, with max ||v_i|| = 1.
        measured: the loss of the best g that is not told y, on samples, where it was measured.
        problems: those of the task.
    """

    name: str
    task: "Task"
    kind: str
    width: int
    least: float
    direction: float
    visible: float
    measured: "Estimate | None"
    problems: tuple[Problem, ...]

    @property
    def law(self) -> Fraction:
        """The least loss of this width."""
        return theory.width_law(self.task.T, self.task.q, self.task.d, self.width)

    @property
    def bound(self) -> Fraction:
        """That of Theorem 3.5."""
        return theory.zero_sum_eigenvalue(self.task.T, self.task.q)


def kinds_of_layers(task: "Task", width: int, draw: np.random.Generator) -> "dict[str, TokenPart]":
    """Random, structured and adversarial token parts of a width."""
    from lemmata.papers.selection.setting._networks import best_directions, subset_moment
    from lemmata.papers.selection.setting._worst_case import lopsided_layer

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


def _climb(task: "Task", start: "TokenPart", moment: Float[np.ndarray, "T T"]) -> "TokenPart":
    """From a random first layer towards the best: a few steps of orthogonal iteration."""
    rows = start
    for _ in range(4):
        pushed = np.einsum("ts,msd->mtd", moment, rows.reshape(-1, task.T, task.d))
        rows = np.linalg.qr(pushed.reshape(len(rows), -1).T)[0].T
    return rows


def _layer(name: str, task: "Task", kind: str, A: "TokenPart", draw: np.random.Generator) -> Layer:
    from lemmata.papers.selection.setting._networks import (
        FirstLayer,
        directions_cost,
        estimate_loss,
        kernel,
    )
    from lemmata.papers.selection.setting._worst_case import visible_share

    missed = kernel(A)
    v = draw.standard_normal(len(missed)) @ missed
    v /= np.linalg.norm(v)
    measured = None
    if kind == "Gaussian" and task.subset_count * len(A) <= MOST_MIXTURE:
        layer = FirstLayer(task, A, draw.standard_normal((len(A), task.q)) / task.T)
        measured = estimate_loss(layer, SAMPLES, int(draw.integers(2**31)))
    return Layer(
        name=f"{name}, {kind}, width {len(A)}",
        task=task,
        kind=kind,
        width=len(A),
        least=directions_cost(task, missed),
        direction=directions_cost(task, v[None]),
        visible=visible_share(v, task.T, task.q),
        measured=measured,
        problems=task_problems(name, task),
    )


def _first_layers(bench: Bench) -> Cases[Layer | Unseen]:
    draw = np.random.default_rng([bench.seed, 35])
    seen, unseen = looked_at(bench)
    found = [
        _layer(name, task, kind, A, draw)
        for name, task in seen
        for width in widths_of(task)
        for kind, A in kinds_of_layers(task, width, draw).items()
    ]
    return Cases((*found, *unseen))


FIRST_LAYERS: Experiment[Cases[Layer | Unseen]] = Experiment(
    "first-layers",
    "six tasks up to T=20, q=3, d=5; four widths up to Td-1; first layers that are random, "
    "structured, or as good as can be, each with the best function of its neurons",
    _first_layers,
)


@dataclass(frozen=True)
class Explicit:
    """The explicit net of a width, and its loss on samples."""

    name: str
    task: "Task"
    width: int
    measured: "Estimate"
    problems: tuple[Problem, ...]

    @cached_property
    def least(self) -> float:
        """The exact loss if y were always decoded."""
        from lemmata.papers.selection.setting._networks import best_directions, least_loss

        return least_loss(self.task, best_directions(self.task, self.width))

    @property
    def excess(self) -> float:
        """What wrong decoding can add at most."""
        from lemmata.papers.selection.setting._networks import ExplicitNet

        return ExplicitNet(self.task, self.width).excess()

    @property
    def law(self) -> float:
        """The least loss of this width."""
        return float(theory.width_law(self.task.T, self.task.q, self.task.d, self.width))


def explicit_nets(
    name: str, task: "Task", widths: Sequence[int], samples: int, seed: int
) -> list[Explicit]:
    """The explicit nets of some widths."""
    from lemmata.papers.selection.setting._networks import ExplicitNet, estimate_loss

    return [
        Explicit(
            name=f"{name}, width {width}",
            task=task,
            width=width,
            measured=estimate_loss(ExplicitNet(task, width), samples, seed + width),
            problems=task_problems(name, task),
        )
        for width in widths
    ]


def _explicit(bench: Bench) -> Cases[Explicit | Unseen]:
    seen, unseen = looked_at(bench)
    found = []
    for name, task in seen:
        samples = 4 * SAMPLES if task.T * task.d <= LARGE_INPUTS else SAMPLES // 2
        widths = [*widths_of(task), task.T * task.d]
        found += explicit_nets(name, task, widths, samples, bench.seed)
    return Cases((*found, *unseen))


EXPLICIT: Experiment[Cases[Explicit | Unseen]] = Experiment(
    "explicit-nets",
    "six tasks up to T=20, q=3, d=5; five widths up to Td; the explicit net on 16,000 samples",
    _explicit,
)


@dataclass(frozen=True)
class Trained:
    """A trained net.

    Attributes:
        least: the least loss with its first layer's token part.
        measured: its own loss on fresh samples.
    """

    name: str
    task: "Task"
    width: int
    least: float
    measured: "Estimate"
    problems: tuple[Problem, ...] = ()

    @property
    def law(self) -> float:
        """The least loss of this width."""
        return float(theory.width_law(self.task.T, self.task.q, self.task.d, self.width))


TRAINED_TASK = (5, 2, 1)
TRAINED_WIDTHS = (1, 2, 3, 4, 5, 6)
TRAINING_STEPS = 2_000


def _trained(bench: Bench) -> Cases[Trained]:
    """Default tasks only: how long training takes is not a matter of the user's plan."""
    from lemmata.papers.selection.setting import Task
    from lemmata.papers.selection.setting._networks import least_loss
    from lemmata.papers.selection.setting._trained_networks import train_nets

    if bench.instances is not None:
        return Cases(())
    task, seeds = Task(*TRAINED_TASK), 3 if bench.paper_scale else 1
    found = []
    for seed in range(bench.seed, bench.seed + seeds):
        progress = bench.track("fully connected nets", len(TRAINED_WIDTHS) * TRAINING_STEPS)
        nets = train_nets(
            task,
            TRAINED_WIDTHS,
            steps=TRAINING_STEPS,
            seed=seed,
            store=bench.store,
            progress=progress,
        )
        for net in nets:
            name = f"T={task.T} q={task.q} d={task.d}, width {net.width}, seed {seed}"
            least = least_loss(task, net.tokens)
            found.append(Trained(name, task, net.width, least, net.estimate))
    return Cases(tuple(found))


TRAINED: Experiment[Cases[Trained]] = Experiment(
    "trained-nets",
    "T=5, q=2, d=1; nets with a linear first layer of 1 to 6 neurons and two ReLU layers of 64, "
    "2,000 steps of Adam on 256 fresh samples each, measured on 40,000",
    _trained,
)

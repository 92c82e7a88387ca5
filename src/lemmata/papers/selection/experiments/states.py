"""States of the two-scalar dynamics on a grid, each with one step, for the proof of Theorem D.4."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.selection.theory import ceiling
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.selection.setting import Task


@dataclass(frozen=True)
class StateGrid:
    """States (alpha, u) of a task in the range of Phase II with s_+ >= 1/sqrt(Tq), and one step.

    Rows are values of u from 1 - sqrt(q/T) down, columns values of alpha from 0.9 to the upper end
    of (IH1). The step size is the largest that Theorem D.4 allows.
    """

    task: "Task"
    u: Float[np.ndarray, "rows"]
    alpha: Float[np.ndarray, "rows columns"]
    problems: tuple[Problem, ...] = ()

    @property
    def name(self) -> str:
        """The task."""
        return f"T={self.task.T} q={self.task.q} d={self.task.d}"

    @property
    def rate(self) -> float:
        """eta = 1 / (20 d^2)."""
        return 1 / (20 * self.task.d**2)

    @cached_property
    def after(self) -> tuple[Float[np.ndarray, "rows columns"], ...]:
        """The increment of C, and alpha and u one step later."""
        T, q, d = self.task.T, self.task.q, self.task.d
        u, alpha = self.u[:, None], self.alpha
        short = 1 - alpha + alpha * u
        turn = self.rate * d * alpha * u * (1 - u) / (T - 1) * (short / q + alpha * u / (T - q))
        grow = self.rate * ((1 - u) * short / q - alpha * u**2 / (T - q))
        others = q * u / (1 - u) * np.exp(-turn)
        return turn, alpha + grow, others / (q + others)


def _states(bench: Bench) -> Cases[StateGrid]:
    from lemmata.papers.selection.setting import Task

    sizes = [
        (T, q, d)
        for q in (2, 3, 5, 10)
        for T in (4 * q + 1, 10 * q, 50 * q, 200 * q)
        for d in (1, 2, 5, 20)
    ]
    if bench.instances is not None:
        sizes = [(p.task.T, p.task.q, p.task.d) for p in bench.instances if p.task.q < p.task.T]
    return Cases(tuple(_state_grid(Task(*size)) for size in dict.fromkeys(sizes)))


def _state_grid(task: "Task") -> StateGrid:
    T, q, d = task.T, task.q, task.d
    u = np.geomspace(1 - np.sqrt(q / T), 1e-6, 80)
    top = np.asarray(ceiling(u, T, q, 1 - 1 / (8 * d)))
    low = np.minimum(0.9, top)
    alpha = low[:, None] + (top - low)[:, None] * np.linspace(0, 1, 81)[None, :]
    sparse = 2 <= q < T / 4
    message = f"q = {q} is not in [2, T/4) with T = {T}"
    name = f"T={T} q={q} d={d}"
    problems = () if sparse else (Problem("q_out_of_range", name, message),)
    return StateGrid(task, u, alpha, problems)


STATES: Experiment[Cases[StateGrid]] = Experiment(
    "states",
    "80 x 81 states (u, alpha) in the range of Phase II, for 64 tasks with q = 2, 3, 5, 10, T from "
    "4q + 1 to 200 q, d = 1, 2, 5, 20",
    _states,
)

"""A grid of states of the two-scalar dynamics with one-hot encodings, and one step from each."""

from dataclasses import dataclass, replace

import numpy as np

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from ..setting import Plan, Task, largest_rate
from ..theory import ceiling
from .plans import AbstractPlanned, Drawn, Plans, Size, Trial, numbers_of

ROWS, COLUMNS = 80, 81


@dataclass(frozen=True)
class StateGrid(AbstractPlanned):
    """States (alpha, u) of a task in the range of Phase II with s_+ >= 1/sqrt(Tq), and one step.

    The evidence has them one after the other, as columns ``u``, ``alpha``, and after one step of
    the largest size of Theorem D.4 ``turn`` (the increment of C), ``next_alpha`` and ``next_u``.
    """

    plan: Plan

    @property
    def rate(self) -> float:
        """eta = 1 / (20 d^2)."""
        return largest_rate(self.task, None)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Those of the plan."""
        return self.plan.problems


def states_of(task: Task) -> dict[str, np.ndarray]:
    """u from 1 - sqrt(q/T) down, alpha from 0.9 to the upper end of (IH1), and one step."""
    T, q, d = task.T, task.q, task.d
    rate = largest_rate(task, None)
    u = np.geomspace(1 - np.sqrt(q / T), 1e-6, ROWS)[:, None]
    top = np.asarray(ceiling(u, T, q, 1 - 1 / (8 * d)))
    low = np.minimum(0.9, top)
    alpha = low + (top - low) * np.linspace(0, 1, COLUMNS)
    short = 1 - alpha + alpha * u
    turn = rate * d * alpha * u * (1 - u) / (T - 1) * (short / q + alpha * u / (T - q))
    grow = rate * ((1 - u) * short / q - alpha * u**2 / (T - q))
    others = q * u / (1 - u) * np.exp(-turn)
    return {
        "u": np.broadcast_to(u, alpha.shape),
        "alpha": alpha,
        "turn": turn,
        "next_alpha": alpha + grow,
        "next_u": others / (q + others),
    }


def _states(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[StateGrid]:
    """States (u, alpha) in the range of Phase II, and one step from each."""
    cases = tuple(StateGrid(plan) for plan in plans if experiment.fits(plan))
    tables = [states_of(case.task) for case in cases]
    columns = numbers_of([replace(case.plan, rate=case.rate) for case in cases])
    for name in tables[0] if tables else ():
        columns[name] = np.stack([np.ravel(table[name]) for table in tables])
    return Evidence(cases, columns=columns)


STATES = Experiment(
    Plans(
        tuple(
            Size(T, q, d)
            for q in (2, 3, 5, 10)
            for T in (4 * q + 1, 10 * q, 50 * q, 200 * q)
            for d in (1, 2, 5, 20)
        )
    ),
    _states,
    fits=lambda plan: plan.task.q < plan.task.T,
)

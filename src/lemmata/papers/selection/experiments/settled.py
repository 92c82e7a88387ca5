"""Corollary E.9: the states that Corollary E.8 leaves, at other lengths and subset sizes."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from ..setting import Plan
from ..theory import kappa, missed, two_level_loss
from .plans import AbstractPlanned, Drawn, Plans, Size, Trial, numbers_of

GROWTHS = [(longer, more) for longer in (1, 1.25, 2, 4, 100) for more in (1, 2, 4)]
"""T2 / T1 and q2 / q1."""


@dataclass(frozen=True)
class Settled(AbstractPlanned):
    """A plan whose training has come as far as Corollary E.8 says.

    The evidence has as columns, one place for each T2 and q2, ``square`` = (T2/T1)^2, ``loss``,
    the largest L(T2, q2) / epsilon, and ``first`` and ``rest``, the first of the four terms in the
    proof and the sum of the others, over epsilon, with epsilon in each. NaN where q2 >= T2/4.
    """

    plan: Plan

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Those of the plan."""
        return self.plan.problems


def states(T1: int, q1: int, k: float) -> tuple[Float[np.ndarray, "a 1"], Float[np.ndarray, "1 b"]]:
    """alpha across the interval of Corollary E.8, and C from its threshold on.

    Positions off the subset count as if delta were 0. With others C is larger by the factor by
    which the gaps 1 - <e_i, e_y> may be smaller, and no more attention is missed.
    """
    alpha = np.linspace(1 - 0.1 * k, 1 + 1.6 * k, 41)
    C = np.log((T1 - q1) / (q1 * k)) + np.array([0.0, 0.1, 1.0, 3.0, 10.0, 40.0])
    return alpha[:, None], C[None, :]


def elsewhere(plan: Plan, longer: float | int, more: int) -> tuple[float, float, float, float]:
    """(T2/T1)^2, loss, first and rest."""
    T1, q1, d, epsilon = plan.task.T, plan.task.q, plan.task.d, plan.epsilon
    T2, q2 = int(longer * T1), more * q1
    if q2 >= T2 / 4:
        return np.nan, np.nan, np.nan, np.nan
    alpha, C = states(T1, q1, float(kappa(T1, q1, d, epsilon)))
    u = np.asarray(missed(C, T2, q2))
    loss = float(np.max(two_level_loss(alpha, u, T2, q2, d))) / epsilon
    first = T2 * (T2 - q2) * q1**3 / (2 * q2**3 * T1 * (T1 - q1))
    rest = (T2 - q2) * q1**2 / (10 * q2**2 * T1) + 32 * q1 * (T1 - q1) / (25 * q2 * T1)
    rest += 3 * (T2 - q2) * q1**3 / (2 * q2**2 * T1 * (T1 - q1))
    return (T2 / T1) ** 2, loss, first, rest


def _settled(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Settled]:
    """The largest loss at other lengths and subset sizes, over a grid of those states."""
    cases = tuple(Settled(plan) for plan in plans if plan.task.q < plan.task.T)
    columns = numbers_of([case.plan for case in cases])
    found = np.array([[elsewhere(case.plan, *at) for at in GROWTHS] for case in cases])
    for number, name in enumerate(("square", "loss", "first", "rest")):
        columns[name] = found.reshape(len(cases), len(GROWTHS), 4)[:, :, number]
    return Evidence(cases, columns=columns)


SETTLED = Experiment(
    Plans(
        tuple(
            Size(T, q, d)
            for q, d in ((2, 1), (3, 5), (5, 100), (50, 1))
            for T in (4 * q + 1, 10 * q, 100 * q, 10_000 * q)
        ),
        shares=(0.99, 1e-3, 1e-6),
    ),
    _settled,
)

"""States of the two-scalar dynamics with random encodings, and one step from each.

The states that the induction in the proof of Theorem E.6 goes through; those of Theorem D.4, whose
encodings are one-hot, are in ``states``.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lemmata.claims import Bench, Experiment, Several
from lemmata.settings import Evidence, hypothesis
from lemmata.tokens import Problem

from ..setting import Isometry, Plan
from ..theory import best_alpha, ceiling
from .descents import kappa_of
from .encodings import NEARLY_ORTHONORMAL, Orthogonal, ensemble, family_gaps, random_plans
from .plans import AbstractPlanned, Drawn, Trial, numbers_of

NARROW = hypothesis(
    "narrow", "d_e <= T d", "encodings have no more dimensions than all tokens", "wide_encodings"
)
"""What the last line of the induction in the proof of Theorem E.6 supposes."""

EARLY, LATE, COLUMNS = 8, 25, 21
"""Values of C with s < 1/sqrt(Tq), with s above, and of alpha."""

FEW = 2
"""Encodings in a family; on every state all their subsets are gone through."""

Gaps = Float[np.ndarray, "pairs others"]


@dataclass(frozen=True)
class StepGrid(AbstractPlanned):
    """States (C, alpha) of a plan within (IH2), and one step of its size.

    The evidence has as columns ``u`` = 1 - q s, s the mean attention on a chosen position,
    ``alpha``, ``turn`` (the increment of C), ``next_alpha``, ``next_u``, and ``moved``, the
    increment of s; ``spread`` = E[s_+ (1 - q s_+)], and ``sum``, the largest sum over positions off
    a subset of e^(-C gap) gap turn. While s < 1/sqrt(Tq), alpha goes up to alpha*.
    """

    plan: Plan
    isometry: Isometry
    problems: tuple[Problem, ...]

    @property
    def delta(self) -> float:
        """Of the worst encoding."""
        return self.isometry.delta


def steps_of(plan: Plan, gaps: Gaps) -> dict[str, np.ndarray]:
    """The columns of one plan, for a family of encodings with these 1 - <e_i, e_y> off y."""
    T, q, d = plan.task.T, plan.task.q, plan.task.d
    turning = 1 - np.sqrt(q / T)
    wanted = np.concatenate(
        [np.linspace(1 - q / T, turning, EARLY, endpoint=False), np.geomspace(turning, 1e-6, LATE)]
    )
    rows = []
    for C in np.log((T - q) * (1 - wanted) / (q * wanted)):
        weights = np.exp(-C * gaps)
        others = weights.sum(axis=1)
        total = q + others
        u, spread = (others / total).mean(), (others / total**2).mean()
        slope = ((weights * gaps).sum(axis=1) / total**2).mean()
        alpha = alphas(plan, u)
        short = 1 - alpha + alpha * u
        turn = plan.rate * d * alpha / plan.inertia * slope * (short + alpha * q * u / (T - q))
        lost = -(weights * np.expm1(-np.multiply.outer(turn, gaps))).sum(axis=2)
        moved = (lost / (total * (total - lost))).mean(axis=1)
        columns = {
            "u": np.full(COLUMNS, u),
            "alpha": alpha,
            "turn": turn,
            "next_alpha": alpha + plan.rate * ((1 - u) * short / q - alpha * u**2 / (T - q)),
            "next_u": ((others - lost) / (total - lost)).mean(axis=1),
            "moved": moved,
            "spread": np.full(COLUMNS, spread),
            "sum": turn * (weights * gaps).sum(axis=1).max(),
        }
        rows.append(columns)
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def alphas(plan: Plan, u: float) -> Float[np.ndarray, "columns"]:
    """Between the ends of (IH2); NaN if that is empty."""
    T, q = plan.task.T, plan.task.q
    early = u > 1 - np.sqrt(q / T)
    share = 1 - plan.inertia / (8 * T * plan.task.d)
    top = float(best_alpha(u, T, q) if early else ceiling(u, T, q, share))
    low = 1 - kappa_of(plan) / 10
    return np.linspace(low, top if top >= low else np.nan, COLUMNS)


def _steps(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[StepGrid]:
    """States within (IH2) and one step from each, over random or given encodings."""
    families = [ensemble(plan, FEW, experiment.seed) for plan in random_plans(plans)]
    cases = tuple(
        StepGrid(family.plan, family.worst, (*family.problems, *width_problem(family.plan)))
        for family in families
    )
    tables = [steps_of(f.plan, family_gaps(f, experiment.seed)) for f in families]
    columns = numbers_of([case.plan for case in cases])
    columns["delta"] = np.array([[case.delta] for case in cases]).reshape(-1, 1)
    for name in tables[0] if tables else ():
        columns[name] = np.stack([table[name] for table in tables])
    return Evidence(cases, columns=columns)


def width_problem(plan: Plan) -> tuple[Problem, ...]:
    """Whether d_e is above T d."""
    most = plan.task.T * plan.task.d
    text = f"d_e = {plan.inertia} is above T d = {most}"
    return (Problem("wide_encodings", plan.name, text),) if plan.inertia > most else ()


ORTHOGONAL = Orthogonal(
    (
        (9, 2, 1, 16),
        (9, 2, 5, 32),
        (13, 3, 2, 16),
        (50, 2, 20, 64),
        (9, 2, 1, 96),
        (64, 2, 1, 512),
        (256, 2, 1, 256),
        (1_000, 2, 1, 1_024),
    )
)
"""T, q, d and d_e; in the first and in some others d_e is above T d."""

STEPS = Experiment(Several((NEARLY_ORTHONORMAL, ORTHOGONAL)), _steps)

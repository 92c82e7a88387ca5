"""A plan: a task, a transformer for it, and what Theorem 2 is asked to promise."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lemmata._errors import InputError
from lemmata.papers._plans import LONGEST_NAME
from lemmata.settings import Shown
from lemmata.tokens import Problem

from ..theory import Constants, Rates, label_bound, theory_rates
from ._frozen import FrozenAttention, constants_of, frozen
from ._model import Weights, draw_weights
from ._task import Task


@dataclass(frozen=True, repr=False, eq=False)
class Plan(Shown):
    """A task and the transformer that is to learn it.

    Attributes:
        task: the task.
        heads: H.
        scale: beta, the standard deviation of the entries of Q at the start (Proposition 1).
        seed: of Q at the start; not that of the task, whose numbers Q would repeat.
        epsilon, delta: the error and the probability of Theorem 2.
        bound: B, the largest norm of lambda at inference (Assumption 4); sqrt(m) unless given.
    """

    task: Task
    heads: int
    scale: float = 1.0
    seed: int = 1
    epsilon: float = 0.01
    delta: float = 0.1
    bound: float | None = None

    def __post_init__(self) -> None:
        if self.heads < 1:
            raise InputError(
                f"{self.name}: a transformer needs at least one head; got H = {self.heads}"
            )
        for label, value in (
            ("beta", self.scale),
            ("epsilon", self.epsilon),
            ("B", self.largest_coefficient),
        ):
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"{self.name}: {label} must be a positive number; got {value!r}")
        if not 0 < self.delta < 1:
            raise InputError(f"{self.name}: delta is a probability; got {self.delta!r}")

    @property
    def summary(self) -> str:
        """Its sizes, in a line."""
        task = self.task
        said = {name: getattr(task, name) for name in ("N", "K", "d", "m", "tau")}
        return ", ".join(f"{name} = {x:g}" for name, x in {**said, "H": self.heads}.items())

    @property
    def name(self) -> str:
        """The task's name."""
        return self.task.name

    @property
    def largest_coefficient(self) -> float:
        """B."""
        return math.sqrt(self.task.m) if self.bound is None else self.bound

    @cached_property
    def start(self) -> Weights:
        """The first weights."""
        return draw_weights(self.task, self.heads, seed=self.seed, scale=self.scale)

    @cached_property
    def frozen(self) -> FrozenAttention:
        """Attention as it is at the start."""
        return frozen(self.task, self.start)

    @cached_property
    def constants(self) -> Constants:
        """What Theorem 1 needs to know."""
        return constants_of(self.task, self.start, self.frozen.zeta)

    @cached_property
    def rates(self) -> Rates:
        """The step sizes of (16) with L from (61); see ``theory_rates`` for the other versions."""
        return theory_rates(self.constants)

    @property
    def label_bound(self) -> float:
        """The bound (69) on ||y||."""
        return float(
            label_bound(
                self.constants,
                signal=float(self.task.sizes[0]),
                tau=self.task.tau,
                delta=self.delta,
                bound=self.largest_coefficient,
            )
        )

    def document(self) -> dict[str, Any]:
        """The plan as a plan file has it, with its tokens and representations row by row."""
        said = {
            "name": self.name[:LONGEST_NAME],
            "N": self.task.N,
            "tau": self.task.tau,
            "H": self.heads,
            "tokens": self.task.tokens.T.tolist(),
            "representations": self.task.representations.T.tolist(),
            "beta": self.scale,
            "seed": self.seed,
            "epsilon": self.epsilon,
            "delta": self.delta,
        }
        return said if self.bound is None else said | {"B": self.bound}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The hypotheses of the theorems that it does not meet."""
        return self._problems

    @cached_property
    def _problems(self) -> tuple[Problem, ...]:
        found = list(self.task.problems)
        if self.heads < self.task.N:
            message = f"H = {self.heads} heads are fewer than N = {self.task.N} examples"
            found.append(Problem("few_heads", self.name, message))
        if self.heads < self.task.N or {"repeated_token", "singular"} & {p.code for p in found}:
            message = "zeta_0 = 0: some B_k does not have full row rank"
            found.append(Problem("no_full_rank", self.name, message))
        elif not self.frozen.resolved:
            message = "zeta_0 is so small that float64 cannot tell it from zero"
            found.append(Problem("zeta_unresolved", self.name, message))
        return tuple(found)

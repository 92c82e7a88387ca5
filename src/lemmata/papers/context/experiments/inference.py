"""Prompts at inference, for transformers trained as long as Theorem 2 asks, or longer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence

from ..setting import Plan
from ..theory import steps_for_inference
from .descents import DESCENTS, Run
from .plans import OfPlan

PROMPTS = 2_000


@dataclass(frozen=True, eq=False)
class Promise(OfPlan):
    """What Theorem 2 promises for a plan, and what became of it.

    Attributes:
        plan: what is promised about.
        run: descent at the theory's rates.
        seed: of the prompts.
    """

    plan: Plan
    run: Run
    seed: int

    @cached_property
    def labels(self) -> Float[np.ndarray, "prompts N"]:
        """Labels of prompts whose lambda has the norm B exactly."""
        rng = np.random.default_rng([self.seed, 11])
        task = self.task
        directions = rng.standard_normal((PROMPTS, task.m))
        norms = np.linalg.norm(directions, axis=1, keepdims=True)
        coefficients = self.plan.largest_coefficient * directions / norms
        noise = rng.standard_normal((PROMPTS, task.N))
        return coefficients @ task.Z + np.sqrt(task.tau) * self.plan.largest_coefficient * noise

    @cached_property
    def needed(self) -> float:
        """T of (21)."""
        return float(
            steps_for_inference(
                self.plan.constants,
                self.run.rates.guaranteed,
                labels=self.plan.label_bound,
                epsilon=self.plan.epsilon,
            )
        )

    @property
    def trained(self) -> bool:
        """Whether descent itself was run to T."""
        return self.needed <= int(self.run.steps[-1])

    def combined(self, step: float) -> Float[np.ndarray, "N K"]:
        """A-hat after so many steps with attention as at the start."""
        w = self.plan.frozen.weights_after(step, float(self.run.rates.w))
        return np.einsum("nhk,hk->nk", self.plan.frozen.attention, w)

    def errors(self, combined: Float[np.ndarray, "N K"]) -> Float[np.ndarray, "prompts"]:
        """||y-hat - y*||^2 / (2K) for every prompt (22)."""
        away = self.labels @ (combined - self.task.target)
        return np.sum(away**2, axis=1) / (2 * self.task.K)

    @cached_property
    def at_T(self) -> Float[np.ndarray, "prompts"]:
        """Errors at T or later: of descent if it ran so long, else with attention frozen."""
        return self.errors(self.run.combined if self.trained else self.combined(self.needed))

    @cached_property
    def really_needed(self) -> float:
        """The first step, up to a part in a thousand, after which a share 1 - delta is within."""
        low, high = 0.0, self.needed
        while high - low > max(1.0, 1e-3 * high):
            middle = (low + high) / 2
            share = np.mean(self.errors(self.combined(np.floor(middle))) <= self.plan.epsilon)
            low, high = (low, middle) if share >= 1 - self.plan.delta else (middle, high)
        return high


def ask_after_training(
    experiment: Experiment[Evidence[Promise]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Promise]:
    """Thousands of prompts with lambda of norm B after the T steps of Theorem 2."""
    runs = bench.evidence(DESCENTS)
    promises = (Promise(run.plan, run, experiment.seed + i) for i, run in enumerate(runs))
    return Evidence(tuple(promises), skipped=runs.skipped)


PROMISES = Experiment(DESCENTS.instances, ask_after_training, DESCENTS.training)

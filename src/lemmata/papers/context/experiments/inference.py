"""Prompts at inference, for transformers trained as long as Theorem 2 asks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence

from ..setting import LEAST_GAP, Plan
from ..theory import Rates, steps_for_inference
from .descents import DESCENTS, Run
from .plans import OfPlan

PROMPTS = 2_000


@dataclass(frozen=True, eq=False)
class Promise(OfPlan):
    """What Theorem 2 promises for a plan, and what becomes of it with attention frozen.

    Attributes:
        plan: what is promised about.
        rates: the step sizes of the theory.
        seed: of the prompts.
    """

    plan: Plan
    rates: Rates
    seed: int

    def labels(
        self, coefficients: Float[np.ndarray, "m"], prompts: int = PROMPTS
    ) -> Float[np.ndarray, "prompts N"]:
        """Labels of prompts with this lambda, whose noise is drawn anew in each."""
        noise = np.random.default_rng([self.seed, 11]).standard_normal((prompts, self.task.N))
        deviation = np.sqrt(self.task.tau) * np.linalg.norm(coefficients)
        return coefficients @ self.task.Z + deviation * noise

    def worst(
        self, away: Float[np.ndarray, "N columns"], times: float = 1.0
    ) -> Float[np.ndarray, "m"]:
        """The lambda of norm B, or so many times B, with the largest signal through a matrix."""
        U, _, _ = np.linalg.svd(self.task.Z @ away)
        return times * self.plan.largest_coefficient * U[:, 0]

    def needed(self, times: float = 1.0) -> float:
        """T of (21), in whole steps, for ||lambda|| <= B or so many times B."""
        labels, epsilon = times * self.plan.label_bound, self.plan.epsilon
        rate = self.rates.guaranteed
        steps = steps_for_inference(self.plan.constants, rate, labels=labels, epsilon=epsilon)
        return float(np.ceil(float(steps)))

    def away(self, step: float) -> Float[np.ndarray, "N K"]:
        """A-hat - A after so many steps with attention as at the start."""
        w = self.plan.frozen.weights_after(step, float(self.rates.w))
        return np.einsum("nhk,hk->nk", self.plan.frozen.attention, w) - self.task.target

    def errors(
        self, away: Float[np.ndarray, "N K"], times: float = 1.0
    ) -> Float[np.ndarray, "prompts"]:
        """||y-hat - y*||^2 / (2K) for prompts with the worst lambda (22)."""
        missed = self.labels(self.worst(away, times)) @ away
        return np.sum(missed**2, axis=1) / (2 * self.task.K)

    @cached_property
    def really_needed(self) -> float:
        """The first step, up to a part in a thousand, after which a share 1 - delta is within."""
        low, high = 0.0, self.needed()
        while high - low > max(1.0, 1e-3 * high):
            middle = (low + high) / 2
            errors = self.errors(self.away(np.floor(middle)))
            within = np.mean(errors <= self.plan.epsilon) >= 1 - self.plan.delta
            low, high = (low, middle) if within else (middle, high)
        return high


@dataclass(frozen=True, eq=False)
class Asked(Promise):
    """The same, and descent at these rates."""

    run: Run

    @property
    def epsilon_reached(self) -> float:
        """The epsilon for which the run is as long as T, or longer where that underflows."""
        plan = self.plan
        fallen = max(np.exp(int(self.run.steps[-1]) * self.run.log_guaranteed), LEAST_GAP)
        return float(plan.label_bound**2 * plan.constants.gap * fallen / plan.task.ridge)


def ask_after_training(
    experiment: Experiment[Evidence[Asked]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Asked]:
    """Thousands of prompts with the worst lambda of norm B after the T steps of Theorem 2."""
    runs = bench.evidence(DESCENTS)
    promises = (Asked(run.plan, run.rates, experiment.seed + i, run) for i, run in enumerate(runs))
    return Evidence(tuple(promises), skipped=runs.skipped)


PROMISES = Experiment(DESCENTS.instances, ask_after_training, DESCENTS.training, free=DESCENTS.free)

"""Labels drawn as (1) says, and what is known of them exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence

from ..setting import Law, Plan, attention_of, draw_labels
from .plans import PLANS, OfPlan

DRAWS = 20_000
MOST_PLANS = 5
MOST_NUMBERS = 40_000_000
"""Of one batch of noise."""


@dataclass(frozen=True, eq=False)
class Prompts(OfPlan):
    """A plan, random weights for it, and a generator for labels.

    Attributes:
        combined: A-hat of random weights.
        coefficients: a lambda of norm B.
        seed: of everything drawn.
    """

    plan: Plan
    combined: Float[np.ndarray, "N K"]
    coefficients: Float[np.ndarray, "m"]
    seed: int

    @cached_property
    def literal_labels(self) -> Float[np.ndarray, "draws K"]:
        """y_k = lambda'(z_k + eps_k) for the fixed lambda, eps_k drawn entry by entry."""
        rng = np.random.default_rng([self.seed, 1])
        task = self.task
        count = max(10, min(DRAWS, MOST_NUMBERS // (task.m * task.K)))
        noise = rng.standard_normal((count, task.m, task.K)) * np.sqrt(task.tau)
        return np.einsum("i,nik->nk", self.coefficients, task.representations + noise)

    def _labels(self, law: Law, stream: int) -> Float[np.ndarray, "draws K"]:
        rng = np.random.default_rng([self.seed, stream])
        return draw_labels(self.task, law, rng, max(10, min(DRAWS, MOST_NUMBERS // self.task.K)))

    def losses(self, law: Law) -> Float[np.ndarray, "draws"]:
        """The loss inside (9), prompt by prompt."""
        labels = self._labels(law, 2)
        away = labels[:, : self.task.N] @ self.combined - labels
        return np.sum(away**2, axis=1) / (2 * self.task.K)

    def errors(self, law: Law, combined: Float[np.ndarray, "N K"]) -> Float[np.ndarray, "draws"]:
        """||y-hat - y*||^2 / K, prompt by prompt."""
        away = self._labels(law, 3)[:, : self.task.N] @ (combined - self.task.target)
        return np.sum(away**2, axis=1) / self.task.K


def draw_prompts(
    experiment: Experiment[Evidence[Prompts]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Prompts]:
    """Thousands of prompts for each of the first tasks, with random weights."""
    cases = []
    for i, plan in enumerate(plans[:MOST_PLANS]):
        rng = np.random.default_rng([experiment.seed, 7, i])
        w = rng.standard_normal((plan.heads, plan.task.K))
        attention = attention_of(plan.task, np.asarray(plan.start.Q))
        direction = rng.standard_normal(plan.task.m)
        direction *= plan.largest_coefficient / np.linalg.norm(direction)
        combined = np.einsum("nhk,hk->nk", attention, w)
        cases.append(Prompts(plan, combined, direction, experiment.seed + i))
    return Evidence(tuple(cases))


PROMPTS = Experiment(PLANS, draw_prompts)

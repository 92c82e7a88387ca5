"""The posterior mean of the coefficients against ridge regression, prompt by prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from lemmata.claims import AbstractInstances, Bench, Experiment, Scale
from lemmata.settings import Evidence

from ..setting import Plan, draw_task, posterior_mean, ridge_coefficients, standard_law
from .plans import OfTask, Size, describe_size

PROMPTS, SAMPLES = 600, 4_000
MOST_TASKS = 2
MOST_BASIC = 40
"""m: importance sampling in more dimensions is worth little."""


@dataclass(frozen=True)
class OneTask(AbstractInstances):
    """A task of some size, with as many heads as examples."""

    size: Size = (6, 12, 4, 2, 0.5)

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        task = draw_task(*self.size, seed=seed, name=describe_size(self.size))
        return [Plan(task, heads=task.N)]

    @property
    def says(self) -> str:
        return describe_size(self.size)


@dataclass(frozen=True, eq=False)
class Posteriors(OfTask):
    """A task, and errors of both predictors over the same prompts."""

    plan: Plan
    seed: int

    @cached_property
    def _errors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        task = self.task
        rng = np.random.default_rng([self.seed, 13])
        coefficients = standard_law(task.m).draw(rng, PROMPTS)
        deviation = np.sqrt(task.tau) * np.linalg.norm(coefficients, axis=1, keepdims=True)
        noise = rng.standard_normal((PROMPTS, task.N))
        labels = coefficients @ task.Z + deviation * noise
        posteriors = [posterior_mean(task, y, samples=SAMPLES, rng=rng) for y in labels]
        bayes = np.stack([posterior.coefficients for posterior in posteriors])
        ridge = ridge_coefficients(task, labels, task.ridge)
        misses = ((guess - coefficients) @ task.Z_query for guess in (ridge, bayes))
        first, second = (np.mean(miss**2, axis=1) for miss in misses)
        return first, second, np.array([posterior.effective for posterior in posteriors])

    @property
    def ridge_errors(self) -> Float[np.ndarray, "prompts"]:
        """Of ridge regression with m tau, averaged over queries."""
        return self._errors[0]

    @property
    def bayes_errors(self) -> Float[np.ndarray, "prompts"]:
        """Of the posterior mean."""
        return self._errors[1]

    @property
    def effective(self) -> float:
        """The median effective sample size of a posterior mean."""
        return float(np.median(self._errors[2]))


def compare_with_bayes(
    experiment: Experiment[Evidence[Posteriors]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Posteriors]:
    """Hundreds of prompts, the posterior mean from thousands of weighted samples each."""
    fitting = [
        plan
        for plan in plans
        if plan.task.N < plan.task.K and plan.task.tau > 0 and plan.task.m <= MOST_BASIC
    ]
    return Evidence(tuple(Posteriors(plan, experiment.seed) for plan in fitting[:MOST_TASKS]))


POSTERIORS = Experiment(OneTask(), compare_with_bayes)

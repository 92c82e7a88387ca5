"""The posterior mean of the coefficients against ridge regression, prompt by prompt."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.context.experiments.plans import OfTask

if TYPE_CHECKING:
    from lemmata.papers.context.setting import Task

PROMPTS, SAMPLES = 600, 4_000
MOST_TASKS = 2
MOST_BASIC = 40
"""m: importance sampling in more dimensions is worth little."""


@dataclass(frozen=True, eq=False)
class Posteriors(OfTask):
    """A task, and errors of both predictors over the same prompts."""

    task: "Task"
    seed: int

    @cached_property
    def _errors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from lemmata.papers.context.setting import posterior_mean, ridge_coefficients, standard_law

        task = self.task
        rng = np.random.default_rng([self.seed, 13])
        coefficients = standard_law(task.m).draw(rng, PROMPTS)
        deviation = np.sqrt(task.tau) * np.linalg.norm(coefficients, axis=1, keepdims=True)
        noise = rng.standard_normal((PROMPTS, task.N))
        labels = coefficients @ task.Z + deviation * noise
        found = [posterior_mean(task, y, samples=SAMPLES, rng=rng) for y in labels]
        bayes = np.stack([one.coefficients for one in found])
        ridge = ridge_coefficients(task, labels, task.ridge)
        misses = ((guess - coefficients) @ task.Z_query for guess in (ridge, bayes))
        first, second = (np.mean(miss**2, axis=1) for miss in misses)
        return first, second, np.array([one.effective for one in found])

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


def _posteriors(bench: Bench) -> Cases[Posteriors]:
    from lemmata.papers.context.setting import draw_task

    if bench.instances is not None:
        own = [p.task for p in bench.instances if p.task.N < p.task.K and p.task.tau > 0]
        own = [task for task in own if task.m <= MOST_BASIC]
        return Cases(tuple(Posteriors(task, bench.seed) for task in own[:MOST_TASKS]))
    task = draw_task(6, 12, 4, 2, 0.5, seed=bench.seed, name="N=6 K=12 m=2 tau=0.5")
    return Cases((Posteriors(task, bench.seed),))


POSTERIORS: Experiment[Cases[Posteriors]] = Experiment(
    "posteriors",
    "600 prompts, the posterior mean from 4,000 weighted samples each; N=6, m=2, tau=0.5",
    _posteriors,
)

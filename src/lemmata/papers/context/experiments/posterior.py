"""The posterior mean of the coefficients against ridge regression, prompt by prompt."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from lemmata.claims import Bench, Cases, Experiment
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.context.setting import Task

PROMPTS, SAMPLES = 600, 4_000
MOST_TASKS = 2


@dataclass(frozen=True, eq=False)
class Posteriors:
    """A task, and errors of both predictors over the same prompts."""

    task: "Task"
    seed: int

    @property
    def name(self) -> str:
        """The task's name."""
        return self.task.name

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The task's problems."""
        return self.task.problems

    @cached_property
    def _errors(self) -> tuple[np.ndarray, np.ndarray]:
        from lemmata.papers.context.setting import posterior_mean, ridge_coefficients, standard_law

        task = self.task
        rng = np.random.default_rng([self.seed, 13])
        coefficients = standard_law(task.m).draw(rng, PROMPTS)
        deviation = np.sqrt(task.tau) * np.linalg.norm(coefficients, axis=1, keepdims=True)
        noise = rng.standard_normal((PROMPTS, task.N))
        labels = coefficients @ task.Z + deviation * noise
        bayes = np.stack(
            [posterior_mean(task, y, samples=SAMPLES, rng=rng).coefficients for y in labels]
        )
        ridge = ridge_coefficients(task, labels, task.ridge)
        return tuple(
            np.mean(((guess - coefficients) @ task.Z_query) ** 2, axis=1)
            for guess in (ridge, bayes)
        )

    @property
    def ridge_errors(self) -> Float[np.ndarray, "prompts"]:
        """Of ridge regression with m tau, averaged over queries."""
        return self._errors[0]

    @property
    def bayes_errors(self) -> Float[np.ndarray, "prompts"]:
        """Of the posterior mean."""
        return self._errors[1]


def _posteriors(bench: Bench) -> Cases[Posteriors]:
    from lemmata.papers.context.setting import draw_task

    if bench.instances is not None:
        own = [p.task for p in bench.instances if p.task.N < p.task.K and p.task.tau > 0]
        return Cases(tuple(Posteriors(task, bench.seed) for task in own[:MOST_TASKS]))
    task = draw_task(6, 12, 4, 2, 0.5, seed=bench.seed, name="N=6 K=12 m=2 tau=0.5")
    return Cases((Posteriors(task, bench.seed),))


POSTERIORS: Experiment[Cases[Posteriors]] = Experiment(
    "posteriors",
    "600 prompts, the posterior mean from 4,000 weighted samples each; N=6, m=2, tau=0.5",
    _posteriors,
)

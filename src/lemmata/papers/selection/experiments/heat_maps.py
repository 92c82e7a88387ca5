"""The heat maps of Figures 3 and 8: the small transformer, its weights at several steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lemmata.claims import AbstractInstances, Bench, Experiment, Scale
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from ..setting import OnlineChoices, Plan, Query, Task, Training, largest_epsilon, run_all
from .plans import AbstractPlanned, Drawn, Trial
from .runs import divergence


@dataclass(frozen=True)
class HeatPlans(AbstractInstances):
    """The small transformer of Figures 3 and 8, once for each x_query.

    Attributes:
        T, q, d, d_e: the task; the paper does not say q.
        threshold, samples: of the rejection, and in a batch.
        rate, later_rate: the step size, and that of the second half; the paper has no numbers.
        queries: what may stand for x_query, of which the paper says nothing.
    """

    T: int = 10
    q: int = 3
    d: int = 20
    d_e: int = 20
    threshold: float = 0.5
    samples: int = 256
    rate: float = 0.3
    later_rate: float = 0.1
    queries: tuple[Query, ...] = ("zero", "fixed", "random")

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        task = Task(self.T, self.q, self.d)
        return [
            Plan(
                query,
                task,
                self.rate,
                largest_epsilon(task) / 2,
                self.d_e,
                self.threshold,
                training=OnlineChoices(
                    rate=self.rate,
                    later_rate=self.later_rate,
                    samples=self.samples,
                    initial=self.d_e**-0.5,
                    x_query=query,
                    seed=seed,
                ),
            )
            for query in self.queries
        ]

    @property
    def says(self) -> str:
        return (
            f"T = {self.T}, q = {self.q}, d = {self.d}, d_e = {self.d_e}, n = {self.samples}, "
            f"threshold {self.threshold:g}, with x_query {', '.join(self.queries)}"
        )


@dataclass(frozen=True)
class HeatTraining:
    """How long, and when weights are looked at.

    Attributes:
        moments: the steps before the last one at which weights are looked at.
        steps: the last one; None for that of the scale.
        quick_steps, paper_steps: those of the scales.
    """

    moments: tuple[int, ...] = (0, 100, 500)
    steps: int | None = None
    quick_steps: int = 2_000
    paper_steps: int = 50_000

    def last(self, scale: Scale) -> int:
        """The last step."""
        usual = self.paper_steps if scale == "paper" else self.quick_steps
        return usual if self.steps is None else self.steps

    @property
    def says(self) -> str:
        """In words."""
        steps = f"{self.quick_steps:,} steps (at paper scale {self.paper_steps:,})"
        steps = steps if self.steps is None else f"{self.steps:,} steps"
        return f"online SGD from Gaussian weights of variance 1/d_e, {steps}"


@dataclass(frozen=True)
class HeatMap(AbstractPlanned):
    """W and V at several steps of one run.

    Attributes:
        plan: named after what x_query is.
        how: the longest run.
        steps: the moments.
        V, W: the weights at each.
    """

    plan: Plan
    how: Training
    steps: tuple[int, ...]
    V: Float[np.ndarray, "moments d width"]
    W: Float[np.ndarray, "moments width width"]
    problems: Sequence[Problem] = ()

    @property
    def d(self) -> int:
        """The dimension of a token."""
        return self.how.task.d

    @property
    def alpha(self) -> Float[np.ndarray, "moments"]:
        """The mean diagonal of the part of V that meets tokens."""
        return np.trace(self.V[:, :, : self.d], axis1=1, axis2=2) / self.d

    @property
    def C(self) -> Float[np.ndarray, "moments"]:
        """The mean diagonal of the part of W between positions."""
        return np.trace(self.W[:, self.d :, self.d :], axis1=1, axis2=2) / self.how.d_e

    @property
    def blocks(self) -> dict[str, Float[np.ndarray, "moments"]]:
        """The root mean square of every block that should vanish, at each moment."""
        d, d_e = self.d, self.how.d_e
        blocks = {
            "W token-token": self.W[:, :d, :d],
            "W token-position": self.W[:, :d, d:],
            "W position-token": self.W[:, d:, :d],
            "W position-position, off C I": self.W[:, d:, d:]
            - self.C[:, None, None] * np.eye(d_e)[None],
            "V token, off alpha I": self.V[:, :, :d] - self.alpha[:, None, None] * np.eye(d)[None],
            "V position": self.V[:, :, d:],
        }
        return {name: np.sqrt((block**2).mean(axis=(1, 2))) for name, block in blocks.items()}


def _heat_maps(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[HeatMap]:
    """W and V at several moments, each of a run of its own: the same seed gives the same bits."""
    last = experiment.training.last(experiment.scale)
    early = [moment for moment in experiment.training.moments if moment < last]
    # The step size changes at half time of the longest run.
    wanted = {
        plan.name: [
            Training.of(plan, rate=plan.rate, change=last // 2, steps=moment)
            for moment in ((*early, last) if plan.name == "random" else (0, last))
        ]
        for plan in plans
    }
    every = [training for trainings in wanted.values() for training in trainings]
    progress = bench.track("heat maps", sum(training.steps for training in every))
    done = iter(run_all(every, store=bench.store, progress=progress))
    maps = []
    for plan in plans:
        own = [next(done) for _ in wanted[plan.name]]
        V, W = (np.stack([np.asarray(run.weights[i]) for run in own]) for i in (0, 1))
        steps = tuple(run.how.steps for run in own)
        maps.append(HeatMap(plan, own[-1].how, steps, V, W, divergence(plan.name, own[-1])))
    return Evidence(tuple(maps))


HEAT_MAPS = Experiment(HeatPlans(), _heat_maps, HeatTraining(), own=True)

"""The experiments behind Section 3.3: transformers, and fully connected nets that are trained."""

from dataclasses import dataclass

import numpy as np

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from ..setting import (
    Estimate,
    FamilyAttention,
    Plan,
    Scalars,
    TabulatedAttention,
    TwoScalars,
    least_loss,
    near_orthogonal_family,
    train_nets,
    trajectory,
)
from .construction import Encoded, encode_all
from .networks import SECTION_4, law_of
from .plans import AbstractOfPlan, AbstractPlanned, Descending, Drawn, Plans, Size, Trial, tabulate


@dataclass(frozen=True)
class Separation(AbstractPlanned):
    """A transformer and fully connected nets of the same width.

    Attributes:
        width: d + d_e, the size of the transformer's W.
        loss, error: of the transformer with V = [I 0] and W = C diag(0, I), C as good as any on
            a grid; mean over subsets, exact over tokens, with its standard error.
        C: that C.
    """

    plan: Plan
    width: int
    loss: float
    error: float
    C: float
    problems: tuple[Problem, ...]

    def floor(self, width: int) -> float:
        """The least loss of a fully connected net."""
        return float(law_of(self.task, width))


def separate(case: Encoded) -> Separation:
    """The best transformer of this form, by trying; the closer positions are, the larger C."""
    T, d = case.task.T, case.task.d
    width = d + len(case.E)
    scales = np.geomspace(1, 100 / max(1 - case.closest, 1e-6), 17)
    means = [float(case.attention(float(C)).mean_square(d).mean()) for C in scales]
    best = int(np.argmin(means))
    losses = case.attention(float(scales[best])).mean_square(d)
    all_seen = len(losses) == case.task.subset_count
    error = 0.0 if all_seen else float(losses.std() / np.sqrt(len(losses)))
    spoken_of = ("all_chosen", "encodings_mislead")
    problems = [problem for problem in case.problems if problem.code in spoken_of]
    if width >= T * d:
        text = f"the transformer's width {width} is not below T d = {T * d}"
        problems.append(Problem("no_narrower", case.name, text))
    return Separation(case.plan, width, means[best], error, float(scales[best]), tuple(problems))


def _separations(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Separation]:
    """The best transformer of two numbers, and the least loss of nets as wide as it is."""
    seen, unseen = encode_all(plans, experiment.seed)
    return tabulate([separate(case) for case in seen], "loss", "error", skipped=unseen)


SEPARATIONS = Experiment(
    Plans((Size(20, 3, 2), Size(40, 2, 3, 40, threshold=0.6), SECTION_4)), _separations
)


@dataclass(frozen=True)
class TrainedTransformer(AbstractPlanned):
    """A transformer at the end of its training, in two numbers; its loss has no 1/2."""

    plan: Plan
    width: int
    alpha: float
    C: float
    loss: float
    problems: tuple[Problem, ...] = ()

    def floor(self, width: int) -> float:
        """The least loss of a fully connected net."""
        return float(law_of(self.task, width))

    @property
    def narrowest_better(self) -> int:
        """The least width at which some fully connected net does better."""
        size = self.task.T * self.task.d
        return min(width for width in range(size + 1) if self.floor(width) < self.loss)


MEMBERS, SUBSETS = 4, 200
"""Encodings, and subsets of each, that stand for all."""


def _trained_transformer(
    experiment: Trial, plans: Drawn, bench: Bench
) -> Evidence[TrainedTransformer]:
    """The recursion of Lemma E.7 for one fresh encoding a step."""
    training, seed = experiment.training, experiment.seed
    trained = [_train(training.of(plan), training.steps, seed) for plan in plans]
    return tabulate(trained, "loss")


def _train(plan: Plan, steps: int, seed: int) -> TrainedTransformer:
    task = plan.task
    assert plan.d_e is not None
    E = near_orthogonal_family(MEMBERS, plan.d_e, task.T, plan.threshold, seed)
    y = task.draw_subsets(SUBSETS, np.random.default_rng([seed, 4]))
    table = TabulatedAttention.of(FamilyAttention.of(E, y), 12.0, points=200)
    dynamics = TwoScalars.of(table, task, plan.d_e, plan.rate)
    path = trajectory(dynamics.alone, steps, steps)
    end = Scalars(path.alpha[0, -1], path.C[0, -1])
    loss = 2 * float(dynamics.loss(end))
    return TrainedTransformer(plan, plan.width, float(end.alpha), float(end.C), loss)


PAPER_STEPS = 66_667
"""50,000 steps of size 1 and 50,000 of size 1/3, as steps of size 1."""

TRAINED_TRANSFORMER = Experiment(
    Plans((SECTION_4._replace(rate=1.0),)),
    _trained_transformer,
    Descending(PAPER_STEPS),
    own=True,
)


@dataclass(frozen=True)
class Trained(AbstractOfPlan):
    """A trained net.

    Attributes:
        least: the least loss with its first layer's token part.
        measured: its own loss on fresh samples.
    """

    width: int
    least: float
    measured: Estimate

    @property
    def law(self) -> float:
        """The least loss of this width."""
        return float(law_of(self.task, self.width))


@dataclass(frozen=True)
class NetTrainings:
    """Nets with a linear first layer of these widths and two ReLU layers, trained by Adam.

    Attributes:
        widths: of the first layer.
        steps: of Adam, on fresh samples.
        seeds, paper_seeds: how many of each width, by scale.
    """

    widths: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    steps: int = 2_000
    seeds: int = 1
    paper_seeds: int = 3

    @property
    def says(self) -> str:
        """In words."""
        widths = f"{min(self.widths)} to {max(self.widths)} neurons"
        return f"nets with a linear first layer of {widths}, {self.steps:,} steps of Adam"


def _trained(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Trained]:
    """Their losses on fresh samples, and the least loss with their first layers."""
    training, nets = experiment.training, []
    seeds = training.paper_seeds if experiment.scale == "paper" else training.seeds
    for plan in plans:
        for seed in range(experiment.seed, experiment.seed + seeds):
            total = len(training.widths) * training.steps
            for net in train_nets(
                plan.task,
                training.widths,
                steps=training.steps,
                seed=seed,
                store=bench.store,
                progress=bench.track("fully connected nets", total),
            ):
                name = f"{plan.name}, width {net.width}, seed {seed}"
                least = least_loss(plan.task, net.tokens)
                nets.append(Trained(name, plan, net.width, least, net.estimate))
    return tabulate(nets, "least", "law", "measured.loss", "measured.error")


TRAINED = Experiment(Plans((Size(5, 2, 1),)), _trained, NetTrainings(), own=True)

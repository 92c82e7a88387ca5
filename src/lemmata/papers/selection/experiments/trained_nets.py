"""Fully connected nets that are trained, beside the law of their width."""

from dataclasses import dataclass

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence

from ..setting import Estimate, least_loss, train_nets
from .networks import law_of
from .plans import AbstractOfPlan, Drawn, Plans, Size, Trial, tabulate


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

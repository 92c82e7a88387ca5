"""A bench on which figures and structures have fewer random datasets."""

from dataclasses import dataclass, replace
from typing import Any

from lemmata.claims import AbstractInstances, Bench, Experiment, Several
from lemmata.papers.mechanics.experiments import Random

MANY = 20
"""Experiments with fewer random datasets stay as they are."""


@dataclass
class FewTrials(Bench):
    """At most ``trials`` where the paper has a hundred."""

    trials: int = 24

    def bind(self, experiment: Experiment[Any]) -> Experiment[Any]:
        bound = super().bind(experiment)
        return replace(bound, instances=self._fewer(bound.instances))

    def _fewer(self, instances: AbstractInstances) -> AbstractInstances:
        if isinstance(instances, Several):
            return Several(tuple(self._fewer(source) for source in instances.sources))
        if isinstance(instances, Random) and instances.count > MANY:
            return replace(instances, count=min(self.trials, instances.count))
        return instances

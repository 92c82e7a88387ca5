"""Online training with the two batch sizes that the paper reports, 128 and 256."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from ..setting import Plan
from .plans import Drawn, Trial
from .runs import SECTION_4, SGD, Online, Pair, sizes_of

FEW, MANY = 128, 256
"""Samples of a batch in Appendix F and in Section 4."""


@dataclass(frozen=True)
class Batches:
    """The runs of one seed with the two batch sizes."""

    name: str
    few: Pair
    many: Pair

    @property
    def instance(self) -> Plan:
        """The plan of both, but for the batch."""
        return self.few.plan

    @property
    def problems(self) -> Sequence[Problem]:
        return (*self.few.problems, *self.many.problems)


def _batches(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Batches]:
    """128 and 256 samples a step, fresh and fixed encodings."""
    size, scale = sizes_of(experiment), "paper" if experiment.scale == "paper" else "quick"
    few, many = (
        replace(SECTION_4, **{scale: replace(size, samples=samples)}) for samples in (FEW, MANY)
    )
    pairs = zip(*(bench.evidence(replace(SGD, instances=one)) for one in (few, many)), strict=True)
    return Evidence(tuple(Batches(first.name, first, other) for first, other in pairs))


BATCHES = Experiment(SECTION_4, _batches, Online(), own=True)

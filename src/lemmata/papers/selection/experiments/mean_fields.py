"""Online training beside its mean field: two numbers that follow the average step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from ..setting import MeanField, Plan, Training, TrainingRun, mean_field
from .plans import AbstractPlanned, Drawn, Trial
from .runs import PAPER, SECTION_4, Online, OnlinePlans, divergence, pairs_behind, sizes_of


@dataclass(frozen=True)
class Followed(AbstractPlanned):
    """An SGD run beside its mean field.

    Attributes:
        run: with fresh encodings, from zero.
        outside: the mean field of what SGD descends.
        inside: that of the loss (4), with the expectation inside the norm.
    """

    plan: Plan
    run: TrainingRun
    outside: MeanField
    inside: MeanField

    @property
    def problems(self) -> Sequence[Problem]:
        return divergence(self.name, self.run)


def _followed(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Followed]:
    """Fresh encodings, beside the two-scalar recursion over an ensemble of encodings."""
    pairs = pairs_behind(experiment, bench)
    done = bench.track("mean field", 2)
    curves = []
    for average in ("outside", "inside"):
        curves.append(mean_field(pairs.cases[0].stochastic.how, average=average))
        done(1)
    return Evidence(tuple(Followed(pair.plan, pair.stochastic, *curves) for pair in pairs))


MEAN_FIELD = Experiment(SECTION_4, _followed, Online(), own=True)


@dataclass(frozen=True)
class Forecast(AbstractPlanned):
    """A mean field at the paper's own sizes."""

    plan: Plan
    how: Training
    curve: MeanField
    problems: Sequence[Problem] = ()


def _forecast(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Forecast]:
    """The mean field alone, with fresh encodings."""
    forecasts = []
    for plan in plans:
        size = sizes_of(experiment)
        training = experiment.training.of(size, "stochastic", plan.training.seed)
        moments = (0, training.steps // 20, training.steps // 10, training.steps)
        lengths = tuple((T, size.q) for T in size.lengths)
        training = replace(training, record=moments, tests=lengths)
        forecasts.append(Forecast(plan, training, mean_field(training)))
    return Evidence(tuple(forecasts))


PAPER_ONCE = replace(PAPER, seeds=1)
FORECAST = Experiment(OnlinePlans(PAPER_ONCE, PAPER_ONCE), _forecast, Online(), own=True)

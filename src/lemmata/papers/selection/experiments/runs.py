"""The experiments of Section 4 and Appendix F: online training, and what its figures rest on.

Everything that needs arrays on a device is imported when an experiment runs. On a user's plans
these experiments give nothing: what a figure reports is about its own runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.selection.setting import Training, TrainingRun
    from lemmata.papers.selection.setting._mean_field import MeanField

Arm = Literal["stochastic", "fixed"]
Series = Float[np.ndarray, "records"]


@dataclass(frozen=True)
class Sizes:
    """One scale of the experiments.

    Attributes:
        T, q, d, d_e: the training task and the dimension of its encodings.
        threshold: of the rejection; the paper gives none.
        samples: the batch size; 256 in Section 4, 128 in Appendix F.
        lengths: other lengths to test, at the same q.
        subset_sizes: other subset sizes to test, at the same T.
        steps, every: how long, and how often something is recorded.
        change, later_rate: when SGD changes its step size, and to what; None keeps it.
        seeds: independent runs of each kind.
    """

    T: int
    q: int
    d: int
    d_e: int
    threshold: float
    samples: int
    lengths: tuple[int, ...]
    subset_sizes: tuple[int, ...]
    steps: int
    every: int
    change: int
    later_rate: float | None
    seeds: int

    @property
    def tests(self) -> tuple[tuple[int, int], ...]:
        """All tasks (T, q) that are tested."""
        longer = ((T, self.q) for T in self.lengths)
        return (*longer, *((self.T, q) for q in self.subset_sizes))


QUICK = Sizes(40, 2, 3, 40, 0.6, 128, (50, 60, 70, 80), (3, 4, 5), 6_000, 100, 6_000, None, 3)
"""A small copy of the experiment. Its step size does not change: it ends too early for that."""

PAPER = Sizes(
    T=200,
    q=3,
    d=5,
    d_e=170,
    threshold=0.3,
    samples=256,
    lengths=(250, 300, 350, 400),
    subset_sizes=(5, 6, 7, 8),
    steps=100_000,
    every=500,
    change=50_000,
    later_rate=1 / 3,
    seeds=2,
)

ADAM_RATE = 1e-3
"""The usual step size of Adam."""


def sizes(bench: Bench) -> Sizes:
    """Those of the bench's scale."""
    return PAPER if bench.paper_scale else QUICK


def training(
    scale: Sizes, *, encodings: Arm = "stochastic", adam: bool = False, spread: bool = False
) -> "Training":
    """A run of the paper, with x_query = 0, from zero or with a variance of 1/(d + d_e)."""
    from lemmata.papers.selection.setting import Task, Training

    return Training(
        Task(scale.T, scale.q, scale.d),
        scale.d_e,
        encodings=encodings,
        threshold=scale.threshold,
        samples=scale.samples,
        algorithm="adam" if adam else "sgd",
        rate=ADAM_RATE if adam else 1.0,
        later_rate=None if adam else scale.later_rate,
        change=scale.change,
        initial=(scale.d + scale.d_e) ** -0.5 if spread else 0.0,
        steps=scale.steps,
        record=tuple(range(0, scale.steps + 1, scale.every)),
        tests=scale.tests,
    )


@dataclass(frozen=True)
class Pair:
    """The same training with fresh and with fixed encodings, from one seed."""

    name: str
    stochastic: "TrainingRun"
    fixed: "TrainingRun"

    def run(self, arm: Arm) -> "TrainingRun":
        """One of the two."""
        return self.stochastic if arm == "stochastic" else self.fixed

    @property
    def problems(self) -> Sequence[Problem]:
        return (*divergence(self.name, self.stochastic), *divergence(self.name, self.fixed))


def divergence(name: str, run: "TrainingRun") -> Sequence[Problem]:
    """Whether training blew up."""
    if run.diverged is None:
        return ()
    message = f"the loss blew up at step {run.diverged}"
    return (Problem("diverged", f"{name}, {run.how.encodings} encodings", message),)


def _pairs(bench: Bench, title: str, *, adam: bool, spread: bool) -> Cases[Pair]:
    from dataclasses import replace

    from lemmata.papers.selection.setting import run_all

    if bench.instances is not None:
        return Cases(())
    scale = sizes(bench)
    arms: tuple[Arm, Arm] = ("stochastic", "fixed")
    seeds = range(bench.seed, bench.seed + scale.seeds)
    wanted = [
        replace(training(scale, encodings=arm, adam=adam, spread=spread), seed=seed)
        for seed in seeds
        for arm in arms
    ]
    progress = bench.track(title, len(wanted) * scale.steps)
    found = run_all(wanted, store=bench.store, progress=progress)
    return Cases(
        tuple(Pair(f"seed {seed}", *found[2 * i : 2 * i + 2]) for i, seed in enumerate(seeds))
    )


_SIZES = (
    "T = 40, q = 2, d = 3, d_e = 40, n = 128, threshold 0.6, 6,000 steps, 3 seeds; at paper scale "
    "T = 200, q = 3, d = 5, d_e = 170, n = 256, threshold 0.3, 100,000 steps, 2 seeds"
)
SGD: Experiment[Cases[Pair]] = Experiment(
    "online-sgd",
    f"online SGD from zero, fresh against fixed encodings, x_query = 0: {_SIZES}",
    lambda bench: _pairs(bench, "SGD from zero", adam=False, spread=False),
)
ADAM: Experiment[Cases[Pair]] = Experiment(
    "online-adam",
    f"the same with Adam, step size 0.001: {_SIZES}",
    lambda bench: _pairs(bench, "Adam from zero", adam=True, spread=False),
)
SGD_RANDOM: Experiment[Cases[Pair]] = Experiment(
    "online-sgd-random",
    f"SGD from Gaussian weights of variance 1/(d + d_e): {_SIZES}",
    lambda bench: _pairs(bench, "SGD from random weights", adam=False, spread=True),
)
ADAM_RANDOM: Experiment[Cases[Pair]] = Experiment(
    "online-adam-random",
    f"Adam from Gaussian weights of variance 1/(d + d_e): {_SIZES}",
    lambda bench: _pairs(bench, "Adam from random weights", adam=True, spread=True),
)


@dataclass(frozen=True)
class Followed:
    """An SGD run beside its mean field.

    Attributes:
        run: with fresh encodings, from zero.
        outside: the mean field of what SGD descends.
        inside: that of the loss (4), with the expectation inside the norm.
    """

    name: str
    run: "TrainingRun"
    outside: "MeanField"
    inside: "MeanField"

    @property
    def problems(self) -> Sequence[Problem]:
        return divergence(self.name, self.run)


def _followed(bench: Bench) -> Cases[Followed]:
    from lemmata.papers.selection.setting._mean_field import mean_field

    pairs = bench.evidence(SGD)
    if not len(pairs):
        return Cases(())
    done = bench.track("mean field", 2)
    curves = []
    for average in ("outside", "inside"):
        curves.append(mean_field(pairs.cases[0].stochastic.how, average=average))
        done(1)
    return Cases(tuple(Followed(pair.name, pair.stochastic, *curves) for pair in pairs))


MEAN_FIELD: Experiment[Cases[Followed]] = Experiment(
    "mean-field",
    "the SGD runs of Figure 1 beside the two-scalar recursion over an ensemble of 100 encodings "
    "with 20 subsets each",
    _followed,
)


@dataclass(frozen=True)
class Forecast:
    """A mean field at the paper's own sizes."""

    name: str
    how: "Training"
    curve: "MeanField"
    problems: Sequence[Problem] = ()


def _forecast(bench: Bench) -> Cases[Forecast]:
    from dataclasses import replace

    from lemmata.papers.selection.setting._mean_field import mean_field

    if bench.instances is not None:
        return Cases(())
    how = training(PAPER)
    lengths = tuple((T, PAPER.q) for T in PAPER.lengths)
    moments = (0, how.steps // 20, how.steps // 10, how.steps)
    how = replace(how, record=moments, tests=lengths)
    return Cases((Forecast("paper size", how, mean_field(how)),))


FORECAST: Experiment[Cases[Forecast]] = Experiment(
    "mean-field-paper-size",
    "the mean field of SGD with fresh encodings at T = 200, q = 3, d = 5, d_e = 170, threshold "
    "0.3: step size 1, then 1/3 from step 50,000 to 100,000",
    _forecast,
)


@dataclass(frozen=True)
class Starts:
    """The runs of one seed from zero and from random weights."""

    name: str
    zero: Pair
    random: Pair

    @property
    def problems(self) -> Sequence[Problem]:
        return (*self.zero.problems, *self.random.problems)


def _starts(zero: Cases[Pair], random: Cases[Pair]) -> Cases[Starts]:
    return Cases(
        tuple(Starts(one.name, one, other) for one, other in zip(zero, random, strict=True))
    )


SGD_STARTS: Experiment[Cases[Starts]] = Experiment(
    "online-sgd-starts",
    f"SGD from Gaussian weights of variance 1/(d + d_e) beside SGD from zero: {_SIZES}",
    lambda bench: _starts(bench.evidence(SGD), bench.evidence(SGD_RANDOM)),
)
ADAM_STARTS: Experiment[Cases[Starts]] = Experiment(
    "online-adam-starts",
    f"Adam from Gaussian weights of variance 1/(d + d_e) beside Adam from zero: {_SIZES}",
    lambda bench: _starts(bench.evidence(ADAM), bench.evidence(ADAM_RANDOM)),
)


def clock(run: "TrainingRun") -> Series:
    """The sum of all step sizes up to each record: the time of gradient flow."""
    how = run.how
    later = how.rate if how.later_rate is None else how.later_rate
    before = np.minimum(run.steps, how.change)
    return how.rate * before + later * (run.steps - before)


def late(run: "TrainingRun", series: Series) -> float:
    """The mean over the last tenth of the time."""
    time = clock(run)
    return float(np.mean(series[time >= 0.9 * time[-1]]))


def decay(run: "TrainingRun", series: Series) -> float:
    """The power of the time with which a series falls, from the first quarter to the end.

    1 means that it falls like 1/t, 0 that it stays.
    """
    time = clock(run)
    early = np.abs(time / time[-1] - 0.25) <= 0.05
    ratio = time[time >= 0.9 * time[-1]].mean() / time[early].mean()
    return float(np.log(series[early].mean() / late(run, series)) / np.log(ratio))

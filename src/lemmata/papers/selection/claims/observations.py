"""Section 4 and Appendix F: what Figures 1, 2 and 4 to 7 and their captions say."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool

from lemmata.old_claims import Bench, Cases, Judgement, at_least, fact
from lemmata.papers.selection.claims._spread import (
    FALLS,
    SMALL,
    advantage,
    end,
    lengths,
    less,
    measured,
    more,
    over,
    share,
    stays,
    subset_sizes,
    vanishes,
)
from lemmata.papers.selection.claims._terms import CONVERGES, claim
from lemmata.papers.selection.experiments.ensembles import RIVALS, SWITCHED, Switched
from lemmata.papers.selection.experiments.runs import (
    ADAM,
    ADAM_STARTS,
    FORECAST,
    SGD,
    SGD_STARTS,
    Arm,
    Forecast,
    Pair,
    Starts,
    decay,
    late,
)

if TYPE_CHECKING:
    from lemmata.papers.selection.setting import TrainingRun

REPORTED_SHARE = 0.15 / (5 / 6)
"""The caption's 0.15 as a share of d/(2q) at the paper's sizes."""


def fitted(
    run: "TrainingRun", transform: Callable[[np.ndarray], np.ndarray]
) -> tuple[Bool[np.ndarray, "records"], float, float]:
    """A straight line through the transformed training loss: its records, slope and height.

    From the first record below a twentieth of the zero predictor's loss to the change of step size.
    """
    loss, steps = run["loss"], run.steps
    small = np.nan_to_num(loss, nan=np.inf) <= SMALL * run.how.task.zero_loss
    chosen = (np.cumsum(small) > 0) & (steps <= run.how.change)
    if chosen.sum() < 3:
        return np.isfinite(loss), 0.0, 0.0
    slope, height = np.polyfit(steps[chosen].astype(float), transform(loss[chosen]), 1)
    return chosen, float(slope), float(height)


def linearity(run: "TrainingRun", transform: Callable[[np.ndarray], np.ndarray]) -> float:
    """The R^2 of that line; 0 if the loss has not become small in time."""
    chosen, slope, height = fitted(run, transform)
    y = transform(run["loss"][chosen])
    rest = y - slope * run.steps[chosen] - height
    return max(0.0, float(1 - np.sum(rest**2) / np.sum((y - y.mean()) ** 2)))


@claim(
    "figure-1",
    "Section 4, Figure 1",
    "With fresh encodings the training loss goes to 0, its inverse grows linearly (a line through "
    "it has R² above 0.99), and the cosines of W and V with their targets go to 1 (above 0.999).",
    assumes=(CONVERGES,),
    on=SGD,
    sharpened="the loss falls exponentially: the logarithm of its inverse grows linearly",
)
def figure_1(pairs: Cases[Pair], sharpened: bool) -> Sequence[Judgement]:
    """The loss of the last 300 batches, as a run reports it."""
    runs = [pair.stochastic for pair in pairs]
    shares = [late(run, run["loss"]) / run.how.task.zero_loss for run in runs]
    powers = [decay(run, run["loss"]) for run in runs]
    name, transform = (
        ("log 1/L", lambda loss: -np.log(loss)) if sharpened else ("1/L", np.reciprocal)
    )
    cosines = {
        f"cosine of {matrix}": [late(run, run[f"cosine_{matrix}"]) for run in runs]
        for matrix in ("W", "V")
    }
    return [
        less("share of d/(2q) at the end", {"training": shares}, SMALL),
        more("power of 1/t", {"training": powers}, FALLS),
        more("R² of a line", {name: [linearity(run, transform) for run in runs]}, 0.99),
        more("direction", cosines, 0.999),
    ]


@claim(
    "figure-2",
    "Section 4, Figure 2",
    "At every longer length the loss goes to 0 with fresh encodings, and stays above a constant "
    "with fixed ones.",
    assumes=(CONVERGES,),
    on=SGD,
    sharpened="it goes to 0 with fixed encodings too",
)
def figure_2(pairs: Cases[Pair], sharpened: bool) -> Sequence[Judgement]:
    """Powers of the time, and the ratio at the end."""
    if sharpened:
        return vanishes(pairs, "fixed", lengths(pairs))
    return [
        *vanishes(pairs, "stochastic", lengths(pairs)),
        stays(pairs, lengths(pairs)),
        advantage(pairs, lengths(pairs), 2.0),
    ]


@claim(
    "figure-2/converges-10k",
    "Section 4, caption of Figure 2",
    "With fresh encodings the loss at longer lengths has converged after 10,000 of 100,000 steps: "
    "it is at most twice that at the end.",
    assumes=(),
    on=FORECAST,
    sharpened="it has converged after 5,000 steps",
)
def converges_10k(forecasts: Cases[Forecast], sharpened: bool) -> Sequence[Judgement]:
    """By the mean field at the paper's own sizes, which is ahead of SGD at that time."""
    found = []
    for forecast in forecasts:
        how, curve = forecast.how, forecast.curve
        tasks = [(T, q) for T, q in how.tests if q == how.task.q]
        losses = np.array([curve.losses[task] for task in tasks])
        column = 1 if sharpened else 2
        found.append(
            at_least(
                "twice the loss at the end",
                2 * losses[:, -1:],
                losses[:, column : column + 1],
                steps=curve.steps[column : column + 1],
                names=[f"T = {T}" for T, _ in tasks],
            )
        )
    return found


@claim(
    "figure-4/length",
    "Appendix F.1, Figure 4",
    "With fixed encodings every run ends with a loss of at least 0.15 at every longer length; runs "
    "of other sizes are judged by the same share, 18 %, of d/(2q).",
    assumes=(CONVERGES,),
    on=SWITCHED,
    sharpened="of at least 0.45",
)
def figure_4_length(ends: Cases[Switched], sharpened: bool) -> Sequence[Judgement]:
    """Of each run, with x_query = 0; one below suffices against it."""
    return [_floor(ends, (3 if sharpened else 1) * REPORTED_SHARE)]


@claim(
    "figure-4/length/repaired",
    "Appendix F.1, Figure 4",
    "With fixed encodings every run ends with a loss above a tenth of d/(2q) at every longer "
    "length.",
    assumes=(CONVERGES,),
    on=SWITCHED,
    sharpened="above a half of d/(2q)",
)
def figure_4_length_repaired(ends: Cases[Switched], sharpened: bool) -> Sequence[Judgement]:
    """The same with a lower floor."""
    return [_floor(ends, 0.5 if sharpened else 0.1)]


def _floor(ends: Cases[Switched], height: float) -> Judgement:
    """The errors are those of the sampled subsets."""
    shares = {
        f"{one.name}, T = {T}": (loss / one.zero_loss, error / one.zero_loss)
        for one in ends
        for T, (loss, error) in one.longer.items()
    }
    return measured("share of d/(2q) at the end", shares, height)


def _rival(bench: Bench) -> Sequence[Judgement]:
    """A subset that no C selects, at the paper's own sizes."""
    largest = bench.evidence(RIVALS).cases[-1]
    reason = (
        f"limit: of {largest.looked} subsets with {largest.name} {largest.found} have an encoding "
        f"outside with <e_i, e_y> >= 1, so that the loss is at least {largest.floor:.2g} for all "
        f"alpha and C, and goes to {largest.limit:.2g} rather than 0 as C grows"
    )
    return [fact("limit", largest.first is None, reason, largest.first)]


@claim(
    "figure-4/subsets",
    "Appendix F.1, Figure 4",
    "At every unseen subset size both losses go to 0 in the long run, and that with fresh "
    "encodings is ahead.",
    assumes=(CONVERGES,),
    on=SGD,
    sharpened="that with fixed encodings is ahead",
    counterexample=_rival,
)
def figure_4_subsets(pairs: Cases[Pair], sharpened: bool) -> Sequence[Judgement]:
    """The limit is refuted by a subset; the rest is seen in the runs."""
    return _ahead(pairs, sharpened)


@claim(
    "figure-4/subsets/repaired",
    "Appendix F.1, Figure 4",
    "At every unseen subset size both losses fall below a third of d/(2q), and that with fresh "
    "encodings is ahead at the end.",
    assumes=(CONVERGES,),
    on=SGD,
    sharpened="that with fixed encodings is ahead",
)
def figure_4_subsets_repaired(pairs: Cases[Pair], sharpened: bool) -> Sequence[Judgement]:
    """Without a statement about the limit."""
    return _ahead(pairs, sharpened)


def _ahead(pairs: Cases[Pair], sharpened: bool) -> Sequence[Judgement]:
    arms: tuple[Arm, Arm] = ("stochastic", "fixed")
    shares = {
        f"{arm}, {name}": values
        for arm in arms
        for name, values in over(
            pairs, subset_sizes(pairs), lambda pair, T, q, arm=arm: share(pair, arm, T, q)
        ).items()
    }
    first, second = reversed(arms) if sharpened else arms
    ahead = over(
        pairs,
        subset_sizes(pairs),
        lambda pair, T, q: end(pair, second, T, q) - end(pair, first, T, q),
    )
    return [
        less("share of d/(2q) at the end", shares, 1 / 3),
        more(f"{second} less {first} at the end", ahead, 0.0),
    ]


@claim(
    "figure-4/subsets-increasing",
    "Appendix F.1, Figure 4",
    "With fixed encodings the loss at the end increases with the unseen subset size.",
    assumes=(CONVERGES,),
    on=SGD,
    sharpened="it decreases",
)
def subsets_increasing(pairs: Cases[Pair], sharpened: bool) -> Sequence[Judgement]:
    """One size after the other."""
    sign = -1 if sharpened else 1
    tasks = list(subset_sizes(pairs))
    rows = {
        f"q = {low} to {high}": [
            sign * (end(pair, "fixed", T, high) - end(pair, "fixed", T, low)) for pair in pairs
        ]
        for (T, low), (_, high) in pairwise(tasks)
    }
    return [more("decrease" if sharpened else "increase", rows, 0.0)]


def early_stopping(pairs: Cases[Pair], factor: float) -> Judgement:
    """The best loss over all records, fixed over stochastic, at every unseen subset size."""

    def ratio(pair: Pair, T: int, q: int) -> float:
        fixed, stochastic = (run.task("population", T, q) for run in (pair.fixed, pair.stochastic))
        return float(fixed.min() / stochastic.min())

    return more(
        "best of fixed over best of stochastic", over(pairs, subset_sizes(pairs), ratio), factor
    )


@claim(
    "figure-5",
    "Appendix F.2, Figure 5",
    "With Adam fixed encodings end with at least twice the loss at every longer length and do not "
    "go to 0; at every unseen subset size the best loss of all steps is smaller with fresh ones.",
    assumes=(CONVERGES,),
    on=ADAM,
    sharpened="fifty times the loss at every longer length",
)
def figure_5(pairs: Cases[Pair], sharpened: bool) -> Sequence[Judgement]:
    """Early stopping picks the best step."""
    return [
        advantage(pairs, lengths(pairs), 50.0 if sharpened else 2.0),
        stays(pairs, lengths(pairs)),
        early_stopping(pairs, 1.0),
    ]


def similar(starts: Cases[Starts], within: float) -> Judgement:
    """The losses at the end differ little between the two starts."""
    arms: tuple[Arm, Arm] = ("stochastic", "fixed")
    rows = {
        f"{arm}, T = {T}, q = {q}": [
            abs(end(one.random, arm, T, q) / end(one.zero, arm, T, q) - 1) for one in starts
        ]
        for arm in arms
        for T, q in starts.cases[0].zero.fixed.how.tests
    }
    return less("relative change by a random start", rows, within)


def _random(starts: Cases[Starts]) -> Cases[Pair]:
    return Cases(tuple(one.random for one in starts))


@claim(
    "figure-6",
    "Appendix F.3, Figure 6",
    "SGD from random weights ends like SGD from zero (every loss within a quarter); fixed "
    "encodings end with at least twice the loss at every longer length, and with more at every "
    "unseen subset size.",
    assumes=(CONVERGES,),
    on=SGD_STARTS,
    sharpened="every loss is within a thousandth",
)
def figure_6(starts: Cases[Starts], sharpened: bool) -> Sequence[Judgement]:
    """The losses leave out what the first d rows of W do; these have died out by then."""
    pairs = _random(starts)
    return [
        similar(starts, 1e-3 if sharpened else 0.25),
        advantage(pairs, lengths(pairs), 2.0),
        advantage(pairs, subset_sizes(pairs), 1.0),
    ]


@claim(
    "figure-7",
    "Appendix F.4, Figure 7",
    "Adam from random weights ends like Adam from zero (every loss within a quarter); fixed "
    "encodings end with at least twice the loss at every longer length, and the best loss of all "
    "steps is smaller with fresh ones at every unseen subset size.",
    assumes=(CONVERGES,),
    on=ADAM_STARTS,
    sharpened="every loss is within a thousandth",
)
def figure_7(starts: Cases[Starts], sharpened: bool) -> Sequence[Judgement]:
    """As Figure 5."""
    pairs = _random(starts)
    return [
        similar(starts, 1e-3 if sharpened else 0.25),
        advantage(pairs, lengths(pairs), 2.0),
        early_stopping(pairs, 1.0),
    ]

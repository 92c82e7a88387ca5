"""Figure 3: normalized descent on acyclic data turns towards W^mm."""

from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from lemmata.claims import Bench, Experiment
from lemmata.drawing import COLUMN_WIDTH, PALETTE, draw_band, new_figure, number
from lemmata.papers._paper import Drawing
from lemmata.settings import Evidence

from ..experiments import ACYCLIC_RUN, Looked, Random, train
from ..setting import ACYCLIC, Dataset, Training
from ._trials import draw_direction, of, say_sizes, spread

PAPER = 0.99
"""The paper reports a mean correlation above this."""

LONG = 40_000
"""Ten times the paper's number of steps, to see the rate."""

FEW = 26
"""Trials that are trained for longer."""


LONG_RUN: Looked = Experiment(Random(ACYCLIC, FEW), train, Training(steps=LONG), own=True)
"""The first datasets of Figure 3 again."""


def draw(bench: Bench) -> Drawing:
    """The correlation, and how fast it approaches 1."""
    run, long = bench.evidence(ACYCLIC_RUN), bench.evidence(LONG_RUN)
    with new_figure(3.85, 2, 1, width=COLUMN_WIDTH) as (picture, (above, below)):
        draw_direction(above, run, PAPER, "above 0.99")
        above.set_xlabel("step $t$")
        _draw_rate(below, run, long)
        say_sizes(picture, run, ACYCLIC)
    numbers = _numbers(run, long)
    return Drawing(picture, _caption(run, numbers), numbers)


def _draw_rate(axes: Axes, run: Evidence[Dataset], long: Evidence[Dataset]) -> None:
    rows, later = run.one_minus_correlation, long.one_minus_correlation
    draw_band(
        axes,
        long.records[1:],
        later[:, 1:],
        PALETTE["green"],
        label=f"mean of the first {len(long)}, ten times longer",
    )
    draw_band(axes, run.records[1:], rows[:, 1:], PALETTE["blue"], label=f"mean of all {len(run)}")
    constant = float(np.mean(_constant(long)))
    times = np.array([100, long.records[-1]])
    axes.plot(
        times,
        constant / _length(long, times),
        "--",
        color=PALETTE["black"],
        linewidth=0.9,
        label=rf"{number(constant, 3)}$\,/\,(\eta t)^2$",
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(top=3)
    axes.set_title("(b) its distance from 1")
    axes.set_xlabel("step $t$")
    axes.set_ylabel("$1-$ correlation")
    axes.legend(loc="lower left")


def _length(run: Evidence[Dataset], steps: np.ndarray) -> Float[np.ndarray, "..."]:
    """(eta t)^2, the square of the way that W has gone."""
    return (float(run.rate[0, 0]) * steps) ** 2


def _constant(run: Evidence[Dataset]) -> Float[np.ndarray, "trials"]:
    """(eta t)^2 (1 - correlation) at the end."""
    return _length(run, run.records[-1:]) * run.one_minus_correlation[:, -1]


def _slope(run: Evidence[Dataset]) -> float:
    """d log(mean of 1 - correlation) / d log t over the last half of the steps."""
    late = run.records >= run.records[-1] / 2
    gaps = run.one_minus_correlation.mean(axis=0)[late]
    return float(np.polyfit(np.log(run.records[late]), np.log(gaps), 1)[0])


def start_outside(run: Evidence[Dataset]) -> Float[np.ndarray, "trials"]:
    """What W(0) outside the span of all pairs, which never moves, takes from the correlation."""
    lost = []
    for dataset, norm in zip(run, run.norm[:, -1], strict=True):
        start = dataset.initial_weights
        if start is None:
            lost.append(0.0)
            continue
        basis = np.concatenate([dataset.tied_basis, dataset.free_basis])
        outside = start.ravel() - (basis @ start.ravel()) @ basis
        lost.append(float(outside @ outside / (2 * norm**2)))
    return np.array(lost)


def _numbers(run: Evidence[Dataset], long: Evidence[Dataset]) -> dict[str, Any]:
    rows = []
    for name, some in (("Figure 3", run), ("ten times longer", long)):
        last = 1 - some.one_minus_correlation[:, -1]
        row = {"run": name, "trials": len(some), "steps": int(some.records[-1])}
        rows.append(row | spread(last) | {"above 0.99": int((last > PAPER).sum())})
    gaps = run.one_minus_correlation[:, -1]
    return {
        "correlation at the end": rows,
        "reported in the paper": "mean above 0.99",
        "(eta t)^2 (1 - correlation) at the end": {
            "Figure 3": spread(_constant(run)),
            "ten times longer": spread(_constant(long)),
        },
        "slope of log(1 - correlation) in log t, last half": {
            "Figure 3": _slope(run),
            "ten times longer": _slope(long),
        },
        "||W|| / (eta t) at the end": spread(
            run.norm[:, -1] / np.sqrt(_length(run, run.records[-1:]))
        ),
        "worst trial": run.names[int(gaps.argmax())],
        "mean of 1 - correlation": float(gaps.mean()),
        "of which from the part of W(0) that no gradient moves": float(start_outside(run).mean()),
    }


def _caption(run: Evidence[Dataset], numbers: dict[str, Any]) -> str:
    first, later = numbers["correlation at the end"]
    share = numbers["of which from the part of W(0) that no gradient moves"]
    gap = numbers["mean of 1 - correlation"]
    slopes = numbers["slope of log(1 - correlation) in log t, last half"]
    met = "agrees" if first["mean"] > PAPER else "does not agree"
    return (
        f"Normalized descent (η = {number(float(run.rate[0, 0]))}, {first['steps']} steps, log "
        f"loss) on {len(run)} random acyclic datasets, all counted. (a) The correlation with the "
        f"exact W^mm ends at {number(first['mean'])} on average (sd {number(first['sd'], 2)}, from "
        f"{number(first['smallest'])} to {number(first['largest'])}; above 0.99 in "
        f"{of(first['above 0.99'], len(run))}), which {met} with the paper's mean above 0.99. "
        "Labels are drawn uniformly and datasets redrawn until they are acyclic, as the authors' "
        "program does; their text takes the token of highest priority. Of the mean distance "
        f"{number(gap, 3)} from 1, {number(100 * share / gap, 2)} % comes from the part of the "
        "random W(0) that no gradient moves; the rest is the rate. (b) 1 − correlation approaches "
        f"the law 1/(ηt)²: its slope in log t is {number(slopes['Figure 3'], 3)} over the last "
        f"half of (a) and {number(slopes['ten times longer'], 3)} when {later['trials']} of the "
        f"trials go on to {later['steps']} steps, where the correlation is "
        f"{number(later['mean'], 6)} on average."
    )

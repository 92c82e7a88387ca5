"""What the figures of online training share: curves of both arms, tables, and how it was run."""

from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lemmata.drawing import PALETTE, draw_band, draw_sizes, number
from lemmata.settings import Evidence

from ..experiments.endings import late, power
from ..experiments.runs import ARMS, Arm, Pair
from ..setting import Training

COLOURS = {"stochastic": PALETTE["blue"], "fixed": PALETTE["red"]}
NAMES = {"stochastic": "fresh encodings", "fixed": "fixed encodings"}


def rows(
    pairs: Evidence[Pair], arm: Arm, kind: str, T: int, q: int
) -> Float[np.ndarray, "seeds records"]:
    """The loss of a task, one row a seed; ``kind`` is population or validation."""
    return np.array([pair.run(arm)[f"{kind} T={T} q={q}"] for pair in pairs])


def draw_task(axes: Axes, pairs: Evidence[Pair], T: int, q: int) -> None:
    """Both arms on one task: averaged over tokens, and on the validation set."""
    steps = pairs.cases[0].fixed.steps
    for arm in ARMS:
        colour, name = COLOURS[arm], NAMES[arm]
        draw_band(axes, steps, rows(pairs, arm, "population", T, q), colour, label=name)
        axes.plot(
            steps,
            rows(pairs, arm, "validation", T, q).mean(axis=0),
            ":",
            color=colour,
            linewidth=0.8,
            label=f"{name}, 128 samples",
        )
    axes.set_yscale("log")
    axes.set_title(f"$T={T}$, $q={q}$")
    draw_thousands(axes)


def draw_thousands(axes: Axes) -> None:
    """Steps in thousands."""
    axes.xaxis.set_major_formatter(lambda step, _: f"{step / 1000:g}k" if step else "0")


def table(pairs: Evidence[Pair], tasks: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """The losses at the end, and how they fall."""
    return [
        {
            "T": T,
            "q": q,
            "encodings": arm,
            "loss at the end": float(np.mean(ends(pairs, arm, "population", T, q))),
            "sd of the seeds": float(np.std(ends(pairs, arm, "population", T, q))),
            "on 128 samples": float(np.mean(ends(pairs, arm, "validation", T, q))),
            "share of d/(2q)": float(np.mean(ends(pairs, arm, "population", T, q)))
            / (pairs.cases[0].run(arm).how.task.d / (2 * q)),
            "power of 1/t": float(np.mean([power(pair, arm, T, q) for pair in pairs])),
        }
        for T, q in tasks
        for arm in ARMS
    ]


def ends(pairs: Evidence[Pair], arm: Arm, kind: str, T: int, q: int) -> list[float]:
    """Means over the last tenth of the time, one a seed."""
    losses = rows(pairs, arm, kind, T, q)
    return [late(pair.run(arm), row) for pair, row in zip(pairs, losses, strict=True)]


def setting(how: Training, seeds: int) -> str:
    """What was run, with our choices where the paper leaves something open."""
    task = how.task
    start = "zero weights" if not how.initial else f"weights of sd {number(how.initial, 3)}"
    if how.algorithm == "adam":
        rule = f"Adam (step size {number(how.rate)}, its usual settings)"
    elif how.later_rate is None or how.change >= how.steps:
        rule = f"SGD with η = {number(how.rate)} throughout"
    else:
        rule = (
            f"SGD with η = {number(how.rate)}, and {number(how.later_rate, 3)} from step "
            f"{how.change} on"
        )
    return (
        f"T = {task.T}, q = {task.q}, d = {task.d}, d_e = {how.d_e}; {rule} from {start}, "
        f"{how.steps} steps with fresh batches of {how.samples}; means of {seeds} seeds with "
        "their 5–95 % range. The paper does not say at which inner product encodings are "
        f"rejected, nor what x_query is: here {number(how.threshold)} and {how.x_query}."
    )


def say_sizes(picture: Figure, how: Training, seeds: int) -> None:
    """What was run, in a line below the panels."""
    task = how.task
    sizes = (
        f"$T={task.T}$, $q={task.q}$, $d={task.d}$, $d_e={how.d_e}$, {how.samples} samples a step"
    )
    many = f"{seeds} seed{'s' if seeds > 1 else ''}"
    draw_sizes(picture, f"trained at {sizes}, {many}")


def span(values: list[float]) -> str:
    """The least and the largest of some numbers, if they differ."""
    ends = number(min(values), 2), number(max(values), 2)
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"

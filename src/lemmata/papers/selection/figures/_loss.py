"""Figure 1: the training loss with fresh encodings, its inverse, and the directions of W and V."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lemmata.claims import Bench
from lemmata.drawing import PALETTE, draw_band, draw_logarithmic, new_figure, number
from lemmata.papers._paper import Drawing
from lemmata.settings import Evidence

from ..experiments.endings import fitted, late, linearity
from ..experiments.mean_fields import MEAN_FIELD, Followed
from ._curves import draw_thousands, say_sizes, setting


def draw(bench: Bench) -> Drawing:
    """SGD, and the mean field that it fluctuates around."""
    followed = bench.evidence(MEAN_FIELD)
    with new_figure(2.1, 1, 3) as (picture, (loss, inverse, cosines)):
        _draw_loss(loss, followed)
        _draw_inverse(inverse, followed)
        _draw_cosines(cosines, followed)
        for axes in (loss, inverse, cosines):
            axes.set_xlabel("step $t$")
            draw_thousands(axes)
        say_sizes(picture, followed.cases[0].run.how, len(followed))
    numbers = _numbers(followed)
    return Drawing(picture, _caption(followed, numbers), numbers)


def _grid(followed: Evidence[Followed], name: str) -> np.ndarray:
    return np.array([case.run[name] for case in followed])


def _draw_loss(axes: Axes, followed: Evidence[Followed]) -> None:
    first = followed.cases[0]
    task = first.run.how.task
    steps = first.run.steps
    draw_band(axes, steps, _grid(followed, "loss"), PALETTE["blue"], label="SGD, last 300 batches")
    axes.plot(
        steps,
        first.outside.losses[task.T, task.q],
        "--",
        color=PALETTE["black"],
        label="mean field",
    )
    axes.axhline(task.zero_loss, color=PALETTE["grey"], linestyle=":", linewidth=0.9)
    axes.annotate(
        "$d/(2q)$",
        (steps[-1], task.zero_loss),
        (0, -2),
        textcoords="offset points",
        ha="right",
        va="top",
        color=PALETTE["grey"],
    )
    draw_logarithmic(axes)
    axes.set_title("(a) training loss")
    axes.set_ylabel("loss $L$")
    axes.legend(loc="center right")


def _draw_inverse(axes: Axes, followed: Evidence[Followed]) -> None:
    first = followed.cases[0]
    task, steps = first.run.how.task, first.run.steps
    draw_band(axes, steps, 1 / _grid(followed, "loss"), PALETTE["blue"], label="SGD")
    predicted = 1 / first.outside.losses[task.T, task.q]
    axes.plot(steps, predicted, "--", color=PALETTE["black"], label="mean field")
    chosen, slope, height = fitted(first.run, np.reciprocal)
    x = steps[chosen][[0, -1]]
    axes.plot(x, slope * x + height, "-.", color=PALETTE["orange"], label="line through SGD")
    axes.set_title("(b) its inverse")
    axes.set_ylabel("$1/L$")
    axes.legend(loc="lower right")


def _draw_cosines(axes: Axes, followed: Evidence[Followed]) -> None:
    steps = followed.cases[0].run.steps
    for name, colour in (("W", "blue"), ("V", "orange")):
        rows = 1 - _grid(followed, f"cosine_{name}")
        label = f"${name}$ and ${name}^*$"
        draw_band(axes, steps[1:], np.maximum(rows[:, 1:], 1e-8), PALETTE[colour], label=label)
    axes.set_yscale("log")
    axes.set_title("(c) directions")
    axes.set_ylabel("$1-$ cosine")
    axes.legend(loc="upper right")


def _numbers(followed: Evidence[Followed]) -> dict[str, Any]:
    runs = [case.run for case in followed]
    first = followed.cases[0]
    how = first.run.how
    lines = [fitted(run, np.reciprocal) for run in runs]
    inside, outside = first.inside, first.outside
    task = how.task.T, how.task.q
    return {
        "seeds": len(runs),
        "fit of 1/L": {
            "from step": int(runs[0].steps[lines[0][0]][0]),
            "to step": int(runs[0].steps[lines[0][0]][-1]),
            "slope": float(np.mean([slope for _, slope, _ in lines])),
            "R^2": float(np.mean([linearity(run, np.reciprocal) for run in runs])),
            "4 eta / d_e, the slope for orthogonal encodings": 4 * how.rate / how.d_e,
        },
        "1 - cosine at the end": {
            name: float(np.mean([1 - late(run, run[f"cosine_{name}"]) for run in runs]))
            for name in ("W", "V")
        },
        "at the last step": [
            {
                "what": "SGD",
                "alpha": float(np.mean([run["alpha"][-1] for run in runs])),
                "C": float(np.mean([run["C"][-1] for run in runs])),
                "loss": float(np.mean([run.task("population", *task)[-1] for run in runs])),
            },
            *(
                {
                    "what": what,
                    "alpha": float(curve.alpha[-1]),
                    "C": float(curve.C[-1]),
                    "loss": float(curve.losses[task][-1]),
                }
                for what, curve in (
                    ("mean field", outside),
                    ("mean field of loss (4)", inside),
                )
            ),
        ],
        "training loss, last 300 batches": float(np.mean([run["loss"][-1] for run in runs])),
    }


def _caption(followed: Evidence[Followed], numbers: dict[str, Any]) -> str:
    fit, cosines = numbers["fit of 1/L"], numbers["1 - cosine at the end"]
    sgd, field, other = numbers["at the last step"]
    how = followed.cases[0].run.how
    return (
        f"Online training with fresh encodings. {setting(how, len(followed))} (a) The training "
        "loss (of the last 300 batches, and so behind by 150 steps) ends at "
        f"{number(numbers['training loss, last 300 batches'], 3)}. Dashed: the mean field, two "
        "numbers alpha and C that follow the average gradient of a step; SGD ends at alpha = "
        f"{number(sgd['alpha'])} and C = {number(sgd['C'])}, the mean field at "
        f"{number(field['alpha'])} and {number(field['C'])}. That of the loss (4) of the "
        f"theorems, with the expectation over encodings inside, would end at "
        f"{number(other['alpha'])} and {number(other['C'])}. (b) A line through 1/L from step "
        f"{fit['from step']} to {fit['to step']} has slope {number(fit['slope'], 3)} and R² = "
        f"{number(fit['R^2'])}; with orthogonal encodings the slope would be 4η/d_e = "
        f"{number(fit['4 eta / d_e, the slope for orthogonal encodings'], 3)}. (c) 1 − cosine "
        f"ends at {number(cosines['W'], 2)} for W and {number(cosines['V'], 2)} for V."
    )

"""Width against loss: fully connected nets, and the transformer at its own width (Section 3.3)."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lemmata.claims import Bench, Experiment
from lemmata.drawing import COLUMN_WIDTH, PALETTE, SMALL, new_figure, number
from lemmata.papers._paper import Drawing
from lemmata.settings import Evidence

from .. import theory
from ..experiments.networks import SECTION_4, Explicit, explicit_nets
from ..experiments.plans import Drawn, Plans, Trial
from ..experiments.separation import TRAINED, TRAINED_TRANSFORMER, Trained, TrainedTransformer
from ..setting import Task

WIDTHS = (5, 80, 175, 300, 450, 600, 750, 900, 980, 996, 999)
"""At which the explicit net is measured; 175 is the transformer's."""


SAMPLES, PAPER_SAMPLES = 4_000, 20_000


def _large_nets(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Explicit]:
    """The explicit net of several widths, on samples."""
    samples = PAPER_SAMPLES if experiment.scale == "paper" else SAMPLES
    nets = [explicit_nets(plan, WIDTHS, samples, experiment.seed) for plan in plans]
    return Evidence(tuple(net for same_plan in nets for net in same_plan))


LARGE_NETS = Experiment(Plans((SECTION_4,)), _large_nets, own=True)


def draw(bench: Bench) -> Drawing:
    """The paper's sizes above, trained nets of a small task below."""
    large, small = bench.evidence(LARGE_NETS), bench.evidence(TRAINED)
    (transformer,) = bench.evidence(TRAINED_TRANSFORMER)
    with new_figure(4.5, 2, 1, width=COLUMN_WIDTH) as (picture, (above, below)):
        _draw_large(above, large, transformer)
        _draw_small(below, small)
    numbers = _numbers(large, small, transformer)
    return Drawing(picture, _caption(small, numbers), numbers)


def _draw_large(axes: Axes, nets: Evidence[Explicit], transformer: TrainedTransformer) -> None:
    task = transformer.task
    size, floor = task.T * task.d, transformer.floor(transformer.width)
    _draw_law(axes, task)
    _draw_points(axes, nets, "s", PALETTE["blue"], "explicit net")
    axes.errorbar(
        transformer.width,
        transformer.loss,
        fmt="*",
        color=PALETTE["red"],
        markersize=9,
        label="transformer (mean field)",
        zorder=4,
    )
    axes.annotate(
        "",
        (transformer.width, floor),
        (transformer.width, transformer.loss * 1.4),
        arrowprops={"arrowstyle": "<->", "color": PALETTE["red"], "linewidth": 0.8},
    )
    axes.text(
        transformer.width + 0.015 * size,
        np.sqrt(floor * transformer.loss),
        f"×{floor / transformer.loss:.0f}\nat $m={transformer.width}$",
        fontsize=SMALL,
        color=PALETTE["red"],
        va="center",
    )
    axes.set_xlim(-0.02 * size, 1.02 * size)
    axes.set_ylim(7e-4, 4)
    axes.set_title(f"(a) $T={task.T}$, $q={task.q}$, $d={task.d}$")
    axes.legend(loc="center right", bbox_to_anchor=(0.94, 0.42))


def _draw_small(axes: Axes, nets: Evidence[Trained]) -> None:
    task = next(iter(nets)).task
    size, widest = task.T * task.d, max(net.width for net in nets)
    _draw_law(axes, task)
    _draw_points(axes, nets, "o", PALETTE["green"], "trained net")
    axes.set_xlim(-0.1, widest + 0.3)
    axes.set_ylim(1e-4, 1.2)
    axes.set_xticks(range(widest + 1))
    axes.axvline(size, color=PALETTE["grey"], linewidth=0.6, linestyle=":")
    axes.text(size - 0.08, 0.55, "$Td$ ", fontsize=SMALL, color=PALETTE["grey"], ha="right")
    axes.set_title(f"(b) $T={task.T}$, $q={task.q}$, $d={task.d}$, {len(nets)} nets")
    axes.legend(loc="lower left")


def _draw_law(axes: Axes, task: Task) -> None:
    size = task.T * task.d
    widths = np.arange(size)
    laws = [float(theory.width_law(task.T, task.q, task.d, int(m))) for m in widths]
    bound = float(theory.zero_sum_eigenvalue(task.T, task.q))
    axes.plot(widths, laws, color=PALETTE["black"], label="least loss (ours)")
    axes.plot([0, size - 1], [bound] * 2, "--", color=PALETTE["orange"], label="Theorem 3.5")
    axes.set_yscale("log")
    axes.set_xlabel("neurons in the first layer, $m$")
    axes.set_ylabel("mean squared error")


def _draw_points(axes: Axes, nets: Evidence[Any], marker: str, color: str, label: str) -> None:
    """Measured losses with three standard errors."""
    axes.errorbar(
        [net.width for net in nets],
        [net.measured.loss for net in nets],
        yerr=[3 * net.measured.error for net in nets],
        fmt=marker,
        color=color,
        markersize=3.5,
        markerfacecolor="white",
        elinewidth=0.8,
        capsize=1.5,
        label=label,
        zorder=3,
    )


def _numbers(
    large: Evidence[Explicit], small: Evidence[Trained], transformer: TrainedTransformer
) -> dict[str, Any]:
    task = transformer.task
    full = task.T * task.d - 1
    return {
        "transformer": {
            "width": transformer.width,
            "loss": transformer.loss,
            "alpha": transformer.alpha,
            "C": transformer.C,
            "least loss of nets of this width": transformer.floor(transformer.width),
            "Theorem 3.5": transformer.floor(full),
            "least width of a net that can do better": transformer.narrowest_better,
            "predicting zero": float(theory.trivial_loss(task.q, task.d)),
        },
        "explicit": [_row(net) for net in large],
        "trained": [_row(net) | {"least with its first layer": net.least} for net in small],
    }


def _row(net: Explicit | Trained) -> dict[str, Any]:
    return {
        "width": net.width,
        "loss": net.measured.loss,
        "standard error": net.measured.error,
        "law": net.law,
    }


def _caption(small: Evidence[Trained], numbers: dict[str, Any]) -> str:
    model = numbers["transformer"]
    excess = max(row["loss"] - row["law"] for row in numbers["trained"])
    task = next(iter(small)).task
    return (
        "Mean squared error (without the 1/2 of Eq. 3) against the number m of neurons in the "
        "first layer of a fully connected net. No net is below the solid line, the sum of the "
        "Td − m smallest eigenvalues of (E[YYᵀ]/q²) ⊗ I_d; the bound of Theorem 3.5 (dashed) is "
        "its value at m = Td − 1. Bars are three standard errors. (a) The sizes of Section 4. "
        "The explicit net, whose subset rides on its neurons as a code, is on the line at every "
        f"width. The transformer has width d + d_e = {model['width']} and loss "
        f"{number(model['loss'])} after the paper's 100,000 steps (in mean field); nets of that "
        f"width have at least {number(model['least loss of nets of this width'])} of the "
        f"{number(model['predicting zero'])} of predicting zero. The bound of Theorem 3.5, "
        f"{number(model['Theorem 3.5'])}, is below the transformer; nets need at least "
        f"{model['least width of a net that can do better']} neurons to do better than it. (b) "
        f"{len(small)} nets trained by Adam on fresh samples end at most {number(excess, 2)} "
        f"above the line (predicting zero: {number(task.d / task.q)}); with Td neurons or more "
        "the least loss is 0."
    )

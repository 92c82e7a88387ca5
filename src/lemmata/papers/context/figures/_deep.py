"""Figure 2b: training and inference losses of a four-layer transformer."""

from typing import Any

from matplotlib.figure import Figure

from lemmata.claims import Bench
from lemmata.drawing import (
    COLUMN_WIDTH,
    PALETTE,
    Drawing,
    draw_logarithmic,
    draw_sizes,
    new_figure,
    number,
)

from ..experiments.deep import DEEP, LOSSES, paper_training
from ..setting import PROMPTS, SEEN_PROMPTS, TEST_PROMPTS, DeepRun

NAMES = {
    "training": "training loss",
    "in_domain": "inference, in domain",
    "out_of_domain": "inference, out of domain",
}
COLOURS = {
    "training": PALETTE["black"],
    "in_domain": PALETTE["blue"],
    "out_of_domain": PALETTE["red"],
}
MARKS = {"training": "o", "in_domain": "s", "out_of_domain": "^"}


def draw(bench: Bench) -> Drawing:
    """The three losses against steps."""
    (deep,) = bench.evidence(DEEP)
    least = deep.how.task.minimum
    with new_figure(2.6, width=COLUMN_WIDTH) as (picture, axes):
        for name in LOSSES:
            axes.plot(
                deep.steps,
                deep[name],
                marker=MARKS[name],
                markersize=3,
                markevery=max(1, len(deep.steps) // 10),
                color=COLOURS[name],
                label=NAMES[name],
            )
        axes.axhline(
            least, color=PALETTE["grey"], linestyle="--", linewidth=0.9, label="$L^*$, linear maps"
        )
        draw_logarithmic(axes)
        axes.set_xlabel("step $t$")
        axes.set_ylabel("loss")
        picture.legend(loc="outside upper center", ncols=2, columnspacing=1.2)
        say_sizes(picture, deep, f"$H={deep.how.heads}$, 1 seed", between="\n")
    numbers = _numbers(deep)
    return Drawing(picture, _caption(deep, numbers), numbers)


def say_sizes(picture: Figure, deep: DeepRun, trials: str, between: str = ", ") -> None:
    """What was trained, in a line (or two) below the panels."""
    training, task = deep.how, deep.how.task
    sizes = f"$N={task.N}$, $K={task.K}$, $d={task.d}$, $m={task.m}$, $\\tau={number(task.tau)}$"
    model = f"{training.layers} layers, $d_{{model}}={training.d_model}$, {trials}"
    draw_sizes(picture, f"{sizes}{between}{model}")


def _numbers(deep: DeepRun) -> dict[str, Any]:
    return {
        "steps": deep.steps.tolist(),
        **{NAMES[name]: deep[name].tolist() for name in LOSSES},
        "L*": deep.how.task.minimum,
        "out of domain over in domain, at the end": float(
            deep["out_of_domain"][-1] / deep["in_domain"][-1]
        ),
        "the same, at most for linear maps": deep.linear_ratio,
        "operations a step": deep.how.flops_per_step,
        "operations a step at the paper's size": paper_training().flops_per_step,
    }


def choices(deep: DeepRun) -> str:
    """What was run, with our choices where the paper leaves something open."""
    training = deep.how
    task = training.task
    return (
        f"N = {task.N}, K = {task.K}, d = {task.d}, m = {task.m}, Gaussian tokens; d_model = "
        f"{training.d_model}, d_ff = {training.d_ff}; Adam with step size "
        f"{number(training.rate)} and batches of {training.batch} from {PROMPTS} prompts, tests on "
        f"{TEST_PROMPTS} prompts, the training loss on {SEEN_PROMPTS} of those trained on. Where "
        f"the paper is silent: τ = {number(task.tau)}; a token over its label (0 if unknown) goes "
        f"through a linear map into {training.layers} ReLU layers with layer norm after each part, "
        "without positional code or "
        "dropout, and a linear map reads one number off each; attention has no biases; matrices "
        "start uniform within ±1/√inputs."
    )


def _caption(deep: DeepRun, numbers: dict[str, Any]) -> str:
    paper, training = paper_training(), deep.how
    ratio = numbers["out of domain over in domain, at the end"]
    operations = numbers["operations a step at the paper's size"]
    ends = [number(deep[name][-1], 3) for name in LOSSES]
    return (
        f"Losses of a {training.layers}-layer transformer with H = {training.heads} during "
        f"{training.steps} steps. {choices(deep)} The inference losses are ‖ŷ − ŷ*‖²/K against "
        "ridge regression, for λ from N(0, I) and from N(1, 4I). The training loss ends at "
        f"{ends[0]}, the others at {ends[1]} and {ends[2]}. Dashed: L* = "
        f"{number(numbers['L*'], 3)}, the least loss of a map linear in the labels. Out of domain "
        f"the loss ends {number(ratio, 3)} times as high as in domain; for maps linear in the "
        "labels, all one-layer transformers among them, it is at most "
        f"{number(numbers['the same, at most for linear maps'], 3)} times as high on these "
        f"prompts. At the paper's size (N = {paper.task.N}, K = {paper.task.K}, d = "
        f"{paper.task.d}, m = {paper.task.m}, d_model = {paper.d_model}, d_ff = {paper.d_ff}, H = "
        f"{paper.heads}, batches of {paper.batch}) a step takes {number(operations, 3)} "
        "floating-point operations, "
        f"{number(operations / training.flops_per_step, 3)} times as many as here: "
        f"{number(operations / 6e10, 2)} seconds at 60 billion a second."
    )

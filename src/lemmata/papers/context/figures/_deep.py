"""Figure 2b: training and inference losses of a four-layer transformer."""

from typing import TYPE_CHECKING, Any

from lemmata.drawing import COLUMN_WIDTH, PALETTE, Drawing, number, style
from lemmata.old_claims import Bench
from lemmata.papers.context.experiments.deep import DEEP, LOSSES, Deep, paper_training

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    from matplotlib.figure import Figure

    (found,) = bench.evidence(DEEP)
    least = found.run.how.task.minimum
    with style():
        picture = Figure(figsize=(COLUMN_WIDTH, 2.3))
        axes = picture.subplots()
        for name in LOSSES:
            axes.plot(
                found.steps,
                found[name],
                marker=MARKS[name],
                markersize=3,
                markevery=max(1, len(found.steps) // 10),
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
    numbers = _numbers(found)
    return Drawing(picture, _caption(found, numbers), numbers)


def draw_logarithmic(axes: "Axes") -> None:
    """A logarithmic scale with few and plain numbers."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 3) if high > 30 * low else (1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda loss, _: f"{loss:g}")


def _numbers(found: Deep) -> dict[str, Any]:
    return {
        "steps": found.steps.tolist(),
        **{NAMES[name]: found[name].tolist() for name in LOSSES},
        "L*": found.run.how.task.minimum,
        "out of domain over in domain, at the end": float(
            found["out_of_domain"][-1] / found["in_domain"][-1]
        ),
        "the same, at most for linear maps": found.linear_ratio,
        "operations a step": found.run.how.flops_per_step,
        "operations a step at the paper's size": paper_training().flops_per_step,
    }


def choices(found: Deep) -> str:
    """What was run, with our choices where the paper leaves something open."""
    from lemmata.papers.context.setting._deep import PROMPTS, SEEN_PROMPTS, TEST_PROMPTS

    how = found.run.how
    task = how.task
    return (
        f"N = {task.N}, K = {task.K}, d = {task.d}, m = {task.m}, Gaussian tokens; d_model = "
        f"{how.d_model}, d_ff = {how.d_ff}; Adam with step size {number(how.rate)} and batches of "
        f"{how.batch} from {PROMPTS} prompts, tests on {TEST_PROMPTS} prompts, the training loss "
        f"on {SEEN_PROMPTS} of those trained on. Where the paper is silent: τ = "
        f"{number(task.tau)}; a token over its label (0 if unknown) goes through a linear map into "
        f"{how.layers} ReLU layers with layer norm after each part, without positional code or "
        "dropout, and a linear map reads one number off each; attention has no biases; matrices "
        "start uniform within ±1/√inputs."
    )


def _caption(found: Deep, numbers: dict[str, Any]) -> str:
    paper, how = paper_training(), found.run.how
    ratio = numbers["out of domain over in domain, at the end"]
    operations = numbers["operations a step at the paper's size"]
    ends = [number(found[name][-1], 3) for name in LOSSES]
    return (
        f"Losses of a {how.layers}-layer transformer with H = {how.heads} during {how.steps} "
        f"steps. {choices(found)} The inference losses are ‖ŷ − ŷ*‖²/K against ridge regression, "
        "for λ from N(0, I) and from N(1, 4I). The training loss ends at "
        f"{ends[0]}, the others at {ends[1]} and {ends[2]}. Dashed: L* = "
        f"{number(numbers['L*'], 3)}, the least loss of a map linear in the labels. Out of domain "
        f"the loss ends {number(ratio, 3)} times as high as in domain; for maps linear in the "
        "labels, all one-layer transformers among them, it is at most "
        f"{number(numbers['the same, at most for linear maps'], 3)} times as high on these "
        f"prompts. At the paper's size (N = {paper.task.N}, K = {paper.task.K}, d = "
        f"{paper.task.d}, m = {paper.task.m}, d_model = {paper.d_model}, d_ff = {paper.d_ff}, H = "
        f"{paper.heads}, batches of {paper.batch}) a step takes {number(operations, 3)} "
        f"floating-point operations, {number(operations / how.flops_per_step, 3)} times as many as "
        f"here: {number(operations / 6e10, 2)} seconds at 60 billion a second."
    )

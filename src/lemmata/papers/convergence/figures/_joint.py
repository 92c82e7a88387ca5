"""Two-stage training against joint training of both layers, on the same datasets."""

from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lemmata.claims import Bench
from lemmata.drawing import PALETTE, SMALL, TEXT_WIDTH, draw_band, number, style
from lemmata.papers._paper import Drawing

from .. import theory
from ..experiments import JOINT_RUN, PAPER_RUN
from ..setting import Dataset, JointRun, TwoStageRun

Grid = Float[np.ndarray, "datasets _"]
Curves = dict[str, tuple[np.ndarray, Grid]]

_STRIDE = 10
"""The loss is evaluated at every tenth update of stage 1, where it is not trained."""

EXACT = 1e-20
"""1 - cos below this is rounding."""

_PANELS = (
    ("loss", "(a) loss", r"$\mathcal{L}(\theta^{(t)})$"),
    ("kq", "(b) attention layer", r"$1 - \cos(W_{\mathrm{kq}}^{(t)}, W_{\mathrm{kq}}^*)$"),
    ("ov", "(c) feed-forward layer", r"$1 - \cos(W_{\mathrm{ov}}^{(t)}, W_{\mathrm{ov}}^*)$"),
)


def draw(bench: Bench) -> Drawing:
    """Loss and both directions against the total number of updates."""
    joint, stages = bench.evidence(JOINT_RUN), bench.evidence(PAPER_RUN)
    curves = _two_stage_curves(stages, len(joint.datasets)), _joint_curves(joint)
    with style():
        picture = Figure(figsize=(TEXT_WIDTH, 2.3))
        for axes, (name, title, label) in zip(picture.subplots(1, 3), _PANELS, strict=True):
            _draw_panel(axes, curves[0][name], curves[1][name], stages.algorithm.stage1_steps)
            if name == "loss":
                _name_curves(axes, stages, joint)
            axes.set_title(title)
            axes.set_ylabel(label)
    rates = {
        "stage 1": float(stages.rate_ov[0]),
        "stage 2": float(stages.rate_kq[0]),
        "joint": float(joint.rate[0]),
    }
    numbers = _numbers(*curves, rates)
    return Drawing(picture, _caption(stages, joint, numbers), numbers)


def _two_stage_curves(run: TwoStageRun, count: int) -> Curves:
    """Stage 2 follows stage 1; a layer that is not trained yet has no direction."""
    first, second = run.stage1, run.stage2
    early = first.steps[:-1:_STRIDE]
    before = np.array(
        [
            _loss_before_attention(dataset, norms[:-1:_STRIDE] / dataset.norm_ov)
            for dataset, norms in zip(run.datasets[:count], first.series["norm"], strict=False)
        ]
    )
    later = first.steps[-1] + second.steps
    loss = np.concatenate([before, np.exp(second.series["log_loss"][:count])], axis=1)
    return {
        "loss": (np.concatenate([early, later]), loss),
        "kq": (later, second.series["one_minus_correlation"][:count]),
        "ov": (first.steps, first.series["one_minus_correlation"][:count]),
    }


def _loss_before_attention(
    dataset: Dataset, scales: Float[np.ndarray, "records"]
) -> Float[np.ndarray, "records"]:
    """L at W_ov = scale W_ov* and W_kq = 0: the mean of the tokens' columns decides.

    Stage 1 keeps W_ov on the ray of W_ov* (panel c), where the logit of v is, up to a constant,
    the scale times the share of positions that the collocation sends to v.
    """
    shares = np.zeros((len(dataset.data.samples), dataset.K))
    for row, sample in zip(shares, dataset.data.samples, strict=True):
        for token in sample.tokens:
            row[dataset.collocation.following[token]] += 1 / len(sample.tokens)
    label = [sample.label for sample in dataset.data.samples]
    right = shares[np.arange(len(shares)), label]
    logits = scales[:, None, None] * shares
    losses = np.logaddexp.reduce(logits, axis=2) - scales[:, None] * right
    return losses @ dataset.data.frequencies


def _joint_curves(run: JointRun) -> Curves:
    steps, series = run.recording.steps, run.recording.series
    return {
        "loss": (steps, np.exp(series["log_loss"])),
        "kq": (steps, series["one_minus_correlation"]),
        "ov": (steps, series["value_one_minus_correlation"]),
    }


def _draw_panel(
    axes: Axes, stages: tuple[np.ndarray, Grid], joint: tuple[np.ndarray, Grid], border: int
) -> None:
    """Both algorithms; a direction that is exact has no place on a logarithmic axis."""
    axes.axvline(border, color=PALETTE["grey"], linewidth=0.6, linestyle=":")
    largest = float(np.nanmax(stages[1]))
    if largest > EXACT:
        draw_band(axes, *stages, PALETTE["blue"], label="two stages")
    else:
        words = f"two stages:\n≤ {number(largest, 1)}\nfrom $t$ = 1 on"
        axes.text(0.03, 0.05, words, transform=axes.transAxes, va="bottom", fontsize=SMALL)
    draw_band(axes, *joint, PALETTE["red"], label="joint")
    axes.set_yscale("log")
    axes.set_xlabel("updates $t$ in total")


def _name_curves(axes: Axes, stages: TwoStageRun, joint: JointRun) -> None:
    """The legend tells the step sizes, which differ, and the number of datasets."""
    eta0, eta = (number(float(rates[0]), 3) for rates in (stages.rate_ov, stages.rate_kq))
    names = (
        f"two stages: $\\eta_0$ = {eta0},\n$\\eta$ = {eta} in stage 2",
        f"joint: $\\eta$ = {number(float(joint.rate[0]), 3)}",
    )
    drawn = [line for line in axes.lines if line.get_label() in ("two stages", "joint")]
    title = f"{len(joint.datasets)} datasets, 5–95 %"
    axes.legend(drawn, names, title=title, title_fontsize=SMALL, loc="lower left")
    axes.set_ylim(axes.get_ylim()[0] / 1e4, None)


def _numbers(stages: Curves, joint: Curves, rates: dict[str, float]) -> dict[str, Any]:
    below = joint["loss"][1] <= stages["loss"][1][:, -1:]
    first = joint["loss"][0][below.argmax(axis=1)][below.any(axis=1)]
    names = {"loss": "L", "kq": "1 - cos(W_kq, W_kq*)", "ov": "1 - cos(W_ov, W_ov*)"}
    ends = {name: (stages[name][1][:, -1], joint[name][1][:, -1]) for name in names}
    return {
        "datasets": len(below),
        "step sizes": rates,
        "at the end": [
            {
                "quantity": words,
                "training": training,
                "mean": values.mean(),
                "5 %": np.quantile(values, 0.05),
                "95 %": np.quantile(values, 0.95),
            }
            for name, words in names.items()
            for training, values in zip(("two stages", "joint"), ends[name], strict=True)
        ],
        "datasets where joint training ends lower": {
            words: int(np.sum(ends[name][1] < ends[name][0])) for name, words in names.items()
        },
        "joint loss reaches the final two-stage loss": {
            "datasets": len(first),
            "median t": float(np.median(first)) if len(first) else None,
        },
    }


def _caption(stages: TwoStageRun, joint: JointRun, numbers: dict[str, Any]) -> str:
    ends = {(row["quantity"], row["training"]): row["mean"] for row in numbers["at the end"]}
    loss, attention, values = (
        {"two stages": ends[name, "two stages"], "joint": ends[name, "joint"]}
        for name in dict.fromkeys(name for name, _ in ends)
    )
    closer = numbers["datasets where joint training ends lower"]["1 - cos(W_kq, W_kq*)"]
    count = numbers["datasets"]
    crossing = numbers["joint loss reaches the final two-stage loss"]
    floor = theory.loss_floor(
        stages.algorithm.stage1_steps, float(stages.rate_ov[0]), stages.datasets[0].K
    )
    when = (
        f", and has passed the two-stage result by t = {number(crossing['median t'])} (median)"
        if crossing["datasets"]
        else ""
    )
    return (
        f"Algorithm 1 ({stages.algorithm.stage1_steps} + {stages.algorithm.steps} updates; the "
        "dotted line is where stage 2 begins) against one stage of normalized gradient descent on "
        f"both layers ({joint.algorithm.steps} updates of {number(float(joint.rate[0]))}, the step "
        f"size of stage 1) on the same {count} random datasets with |V| = {stages.datasets[0].K}; "
        "mean and 5–95 % band. "
        f"(a) The loss ends at {number(loss['two stages'], 3)} with two stages, where the frozen "
        f"W_ov does not allow less than {number(float(np.exp(floor)), 3)}; joint training ends "
        f"at {number(loss['joint'], 3)}{when}. "
        f"(b) 1 − cos with W_kq* ends at {number(attention['two stages'], 3)} with two stages and "
        f"{number(attention['joint'], 3)} jointly; joint training is closer on "
        f"{closer} of {count} datasets. "
        f"(c) 1 − cos with W_ov* ends at {number(values['joint'], 3)} jointly; two stages have "
        f"that direction up to {number(values['two stages'], 1)}. "
        "The two spend their updates differently, and step sizes were not tuned: this compares "
        "where they go, not which is faster."
    )

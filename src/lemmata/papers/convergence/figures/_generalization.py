"""Theorem 3 and Example 2: what the trained model predicts on inputs it has never seen."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from scipy.special import softmax

from lemmata.claims import Bench
from lemmata.drawing import PALETTE, draw_arrow, draw_band, draw_tokens, new_figure, number
from lemmata.papers._paper import Drawing
from lemmata.tokens import Role

from ..experiments import EXAMPLE_RUN, FASTER_RUN, PAPER_RUN
from ..setting import TwoStageRun

UNSEEN = ("SP", "VP", "SPP", "OSP", "OVP", "SVP")
"""Inputs of Example 2 and their neighbours; none is a prefix of a training sentence."""

TIE = 1e-9
"""Two predictions whose probabilities differ by less count as tied."""


@dataclass(frozen=True)
class Prediction:
    """What the model of Example 2 says after an input; several tokens if they tie."""

    words: str
    attention: Float[np.ndarray, "positions"]
    predicted: list[str]
    probability: float
    others: float

    @property
    def chance(self) -> str:
        """The probability, by what is missing to 1 where it would be rounded to that."""
        if self.others < 5e-4:
            return f"$1-${number(self.others, 1)}"
        return f"{self.probability:.3f}"


@dataclass(frozen=True)
class Unseen:
    """Inputs of Theorem 3 on random datasets: the probability of n(x_0), and whether it wins."""

    rate: float
    copies: int
    probability: Float[np.ndarray, "inputs"]
    wins: Bool[np.ndarray, "inputs"]


def draw(bench: Bench) -> Drawing:
    """Predictions of Example 2, logits of the three roles, and probabilities on random data."""
    example, paper, faster = (bench.evidence(e) for e in (EXAMPLE_RUN, PAPER_RUN, FASTER_RUN))
    predictions = [_predict(example, words) for words in UNSEEN]
    unseen = [_unseen(run, copies) for run in (paper, faster) for copies in (1, 2)]
    with new_figure(2.7, 1, 3, width_ratios=[1.0, 1.1, 1.1]) as (picture, (left, middle, right)):
        _draw_predictions(left, predictions)
        _draw_logits(middle, paper)
        _draw_probabilities(right, unseen)
    caption = _caption(example, predictions, paper, unseen)
    return Drawing(picture, caption, _numbers(predictions, paper, unseen))


def _predict(run: TwoStageRun, words: str) -> Prediction:
    dataset = run.datasets[0]
    tokens = dataset.encode(list(words))
    distribution = run.predict(0, tokens)
    best = float(distribution.max())
    likeliest = np.flatnonzero(distribution > best - TIE)
    winners = [dataset.data.name(int(v)) for v in likeliest]
    others = float(np.delete(distribution, likeliest[0]).sum())
    return Prediction(words, run.attention(0, tokens), winners, best, others)


def _unseen(run: TwoStageRun, copies: int) -> Unseen:
    """Every [x_0, the other non-optimal tokens of q, q ... q] with q itself non-optimal."""
    probability, wins = [], []
    for i, dataset in enumerate(run.datasets):
        weights, values = run.key_query(i), run.value_logits(i)
        for query in range(dataset.K):
            lower = dataset.orders.having(query, Role.NON_OPTIMAL)
            if query not in lower:
                continue
            tail = [x for x in lower if x != query] + [query] * copies
            new = dataset.orders.having(query, Role.NON_COMPARABLE)
            tokens = np.array([[x, *tail] for x in new], dtype=int).reshape(-1, 1 + len(tail))
            focus = softmax(weights[tokens, query], axis=1)
            after = softmax(np.einsum("np,npv->nv", focus, values[tokens]), axis=1)
            label = np.array([dataset.collocation.following[x] for x in new], dtype=int)
            probability.append(after[np.arange(len(new)), label])
            wins.append(after.argmax(axis=1) == label)
    rate = float(run.rate_kq[0])
    return Unseen(rate, copies, np.concatenate(probability), np.concatenate(wins))


def _draw_predictions(axes: Axes, predictions: list[Prediction]) -> None:
    """One row an input, each token shaded by the attention on it."""
    widest = max(len(prediction.words) for prediction in predictions)
    for row, prediction in enumerate(predictions):
        draw_tokens(
            axes,
            widest - len(prediction.words),
            -row,
            list(prediction.words),
            fills=list(prediction.attention),
            notes=[_short(weight) for weight in prediction.attention],
        )
        draw_arrow(axes, widest + 0.12, widest + 0.75, -row)
        words = f"{' or '.join(prediction.predicted)}  {prediction.chance}"
        axes.text(widest + 0.95, -row, words, va="center")
    axes.set_xlim(0, widest + 2.6)
    axes.set_ylim(-len(predictions) + 0.4, 0.6)
    axes.set_axis_off()
    axes.set_title("(a) Example 2: attention, prediction")


def _short(weight: float) -> str:
    """Four characters or five: .9995, .4999, 5e-4."""
    if weight < 1e-3:
        return f"{weight:.0e}".replace("e-0", "e-")
    return f"{min(weight, 0.9999):.4f}".lstrip("0")


def _draw_logits(axes: Axes, run: TwoStageRun) -> None:
    """The least favourable logit of each role, and the slopes that W_kq* predicts."""
    steps, series = run.stage2.steps, run.stage2.series
    rows = (
        ("smallest_optimal", PALETTE["red"], "optimal: smallest"),
        ("largest_non_optimal", PALETTE["blue"], "non-optimal: largest"),
    )
    for (name, colour, label), slope in zip(rows, _slopes(run).mean(axis=1), strict=True):
        draw_band(axes, steps, series[name], colour, label=label)
        words = f"slope of $W^*$: {number(slope, 2)} a step"
        axes.plot(steps, slope * steps, "--", color=colour, linewidth=0.8, label=words)
    axes.plot(steps, np.zeros(len(steps)), color=PALETTE["grey"], label="non-comparable: all")
    axes.set_title(f"(b) {len(run.datasets)} random datasets: logits")
    axes.set_xlabel(r"updates $t$ of $W_{\mathrm{kq}}$")
    axes.set_ylabel(r"$x^{\!\top} W_{\mathrm{kq}}^{(t)} x^q$")
    axes.legend(loc="upper left")
    axes.set_ylim(None, 2.2 * axes.get_ylim()[1])


def _slopes(run: TwoStageRun) -> Float[np.ndarray, "roles datasets"]:
    """Growth per update in the direction W_kq*: smallest optimal, largest non-optimal entry."""
    columns = []
    for dataset, rate in zip(run.datasets, run.rate_kq, strict=True):
        entries = [float(entry) for entry in dataset.attention_margin.entries.values()]
        ends = min(e for e in entries if e > 0), max(e for e in entries if e < 0)
        columns.append([end * float(rate) / dataset.norm_kq for end in ends])
    return np.array(columns).T


def _draw_probabilities(axes: Axes, unseen: list[Unseen]) -> None:
    for case in unseen:
        colour = PALETTE["purple" if case.rate > unseen[0].rate else "green"]
        words = "once" if case.copies == 1 else "twice"
        axes.ecdf(
            case.probability,
            color=colour,
            linestyle="-" if case.copies == 1 else "--",
            label=f"$\\eta$ = {number(case.rate, 2)}, $x^q$ {words}",
        )
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_title(f"(c) the same: {len(unseen[0].wins):,} unseen inputs")
    axes.set_xlabel(r"probability of $n(x_0)$")
    axes.set_ylabel("share of inputs with at most this")
    axes.legend(loc="upper left")


def _numbers(
    predictions: list[Prediction], paper: TwoStageRun, unseen: list[Unseen]
) -> dict[str, Any]:
    series = paper.stage2.series
    slopes = _slopes(paper).mean(axis=1)
    return {
        "Example 2": [
            {
                "input": prediction.words,
                "attention": [float(f"{weight:.6g}") for weight in prediction.attention],
                "predicted": " or ".join(prediction.predicted),
                "probability": prediction.probability,
                "probability of the others": prediction.others,
            }
            for prediction in predictions
        ],
        "logits at the end": [
            {
                "role": role,
                "mean": series[name][:, -1].mean(),
                "5 %": np.quantile(series[name][:, -1], 0.05),
                "95 %": np.quantile(series[name][:, -1], 0.95),
                "t times the slope of W_kq*": slope * paper.stage2.steps[-1],
            }
            for role, name, slope in (
                ("optimal, smallest", "smallest_optimal", slopes[0]),
                ("non-optimal, largest", "largest_non_optimal", slopes[1]),
                ("non-comparable, largest size", "largest_idle", 0.0),
            )
        ],
        "unseen inputs": [
            {
                "eta": case.rate,
                "query copies": case.copies,
                "inputs": len(case.wins),
                "predicted n(x_0)": int(case.wins.sum()),
                "share": case.wins.mean(),
                "smallest probability": case.probability.min(),
                "median": np.median(case.probability),
            }
            for case in unseen
        ],
    }


def _caption(
    example: TwoStageRun, predictions: list[Prediction], paper: TwoStageRun, unseen: list[Unseen]
) -> str:
    said = ", ".join(f"{p.words} → {' or '.join(p.predicted)}" for p in predictions)
    ordered = _ordered_from(paper)
    idle = float(np.abs(paper.stage2.series["largest_idle"]).max())
    zero = "exactly 0" if idle == 0 else f"at most {number(idle)} in size"
    shares = "; ".join(
        f"{number(100 * float(case.wins.mean()), 3)} % at η = {number(case.rate, 3)} with "
        f"{'one copy' if case.copies == 1 else 'two copies'} of the query "
        f"(probability at least {number(float(case.probability.min()), 3)})"
        for case in unseen
    )
    return (
        "Theorem 3. (a) Example 1, trained with T = T₁ = "
        f"{example.stage2.steps[-1]}, η₀ = {number(float(example.rate_ov[0]))}, "
        f"η = {number(float(example.rate_kq[0]))}, predicts for unseen inputs that end in P: "
        f"{said}. Shading and numbers give the attention on each token. "
        f"(b) The {len(paper.datasets)} random datasets of Figure 2: the least favourable logit "
        "over all queries, mean and 5–95 % band; dashed, the slopes of W_kq*. Optimal tokens are "
        f"above 0 and non-optimal ones below {ordered}; logits of non-comparable tokens are "
        f"{zero}. (c) On the same datasets, all {len(unseen[0].wins)} inputs made of one "
        "non-comparable token x₀ and each non-optimal token of a query that is itself non-optimal. "
        f"The most probable next token is n(x₀) for {shares}."
    )


def _ordered_from(run: TwoStageRun) -> str:
    """From which update on the roles are in order on every dataset."""
    series = run.stage2.series
    ordered = (series["smallest_optimal"] > 0) & (series["largest_non_optimal"] < 0)
    late = np.flatnonzero(~ordered.all(axis=0))
    if not len(late):
        return "at every t"
    if late[-1] + 1 == len(run.stage2.steps):
        return f"on {number(100 * float(ordered[:, -1].mean()), 3)} % of the datasets at the end"
    return f"on every dataset from t = {run.stage2.steps[late[-1] + 1]} on"

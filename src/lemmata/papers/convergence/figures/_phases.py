"""Ours: how long a rare input waits, over the skew of the frequencies and the margin of stage 1."""

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from lemmata.claims import Bench
from lemmata.drawing import (
    MAP_DPI,
    PALETTE,
    SMALL,
    Drawing,
    GridAxis,
    draw_contours,
    draw_numbers,
    new_figure,
    number,
)

from ..setting import Dataset, TwoStage
from ..theory import C1

SIZES = {"quick": (31, 24), "paper": (121, 96)}
"""Skews and margins."""

LEVEL = 0.9
"""The attention that the rare input is to give to its optimal token."""

RATE, STEPS = 0.2, 700
"""Of stage 2; the law is that of small steps."""

STAGE1_STEPS = 100
"""Of stage 1, whose step size makes the margin: they enter by their product alone."""

PAPER_MARGIN = 900 * 0.2 / np.sqrt(2)
"""What Section 7's stage 1 gives to two tokens."""

SECTIONS = (2.0, 30.0, 75.0, 127.0)
"""Margins of panel (b)."""


def draw(bench: Bench, sizes: tuple[int, int] | None = None) -> Drawing:
    """Two tokens, the sentences aba and bab, and the input b a rarer than the input a b."""
    columns, rows = sizes or SIZES[bench.scale]
    powers, margins = np.linspace(0, 60, columns), np.linspace(1, 160, rows)
    times = times_over(powers, margins, bench)
    sections = times_over(powers, np.array(SECTIONS), bench)
    with new_figure(2.9, 1, 2, width_ratios=(1.25, 1), dpi=MAP_DPI) as (picture, (left, right)):
        _draw_map(left, powers, margins, times)
        _draw_sections(right, powers, sections)
    numbers = _numbers(powers, margins, times)
    return Drawing(picture, _caption(numbers), numbers)


def skewed_pair(power: float) -> Dataset:
    """aba and bab, where inputs that end in a occur 10^power times less often than the others."""
    data = Dataset.from_sentences(f"skew 10^{power:g}", ["aba", "bab"])
    rare = data.data.vocabulary.index("a")
    shares = [-power * np.log(10) if s.query == rare else 0.0 for s in data.data.samples]
    return replace(data, log_frequency=np.array(shares))


def times_over(
    powers: Float[np.ndarray, "powers"], margins: Float[np.ndarray, "margins"], bench: Bench
) -> Float[np.ndarray, "margins powers"]:
    """t eta when every input first gives its optimal token the level; NaN if it never does."""
    datasets = [skewed_pair(float(power)) for power in powers]
    done = bench.track("margins of stage 1", len(margins))
    rows = []
    for margin in margins:
        algorithm = TwoStage(STAGE1_STEPS, float(margin) / STAGE1_STEPS, STEPS, RATE)
        weight = algorithm.run(datasets, store=bench.store).stage2.series["smallest_weight"]
        first = np.where((weight >= LEVEL).any(axis=1), (weight >= LEVEL).argmax(axis=1), np.nan)
        rows.append(RATE * first)
        done(1)
    return np.array(rows)


def law(powers: Float[np.ndarray, "..."], margin: Float[np.ndarray, "..."]) -> np.ndarray:
    """t eta by which the rare input has the level, for small steps.

    The frequent input goes ahead until its gradient is as small as that of the rare one at the
    level: its log-odds are then ``ahead``. Log-odds of r take a path of r / sqrt(2).
    """
    ahead = powers * np.log(10) - 2 * (1 - LEVEL) * margin - np.log(LEVEL * (1 - LEVEL))
    own = np.log(LEVEL / (1 - LEVEL))
    return np.hypot(np.maximum(ahead, own), own) / np.sqrt(2)


def free_skew(margin: Float[np.ndarray, "..."] | float) -> Float[np.ndarray, "..."] | float:
    """The power of ten up to which skew costs nothing."""
    own = np.log(LEVEL / (1 - LEVEL)) + np.log(LEVEL * (1 - LEVEL))
    return (2 * (1 - LEVEL) * margin + own) / np.log(10)


def _draw_map(
    axes: Axes,
    powers: Float[np.ndarray, "powers"],
    margins: Float[np.ndarray, "margins"],
    times: Float[np.ndarray, "margins powers"],
) -> None:
    x = GridAxis("skew of the frequencies, $10^x$", powers)
    y = GridAxis("margin $\\Delta$ of stage 1", margins, logarithmic=False)
    words = f"$t\\eta$ until attention is {LEVEL:g} everywhere"
    draw_numbers(axes, x, y, times, label=words, colours="cividis_r", logarithmic=False)
    draw_contours(axes, x, y, times, (10, 30, 50, 70, 90))
    ends = np.array([margins[0], margins[-1]])
    axes.plot(free_skew(ends), ends, color=PALETTE["red"])
    axes.axhline(PAPER_MARGIN, color="white", linestyle=":", linewidth=0.9)
    words = {"fontsize": SMALL, "va": "bottom"}
    axes.text(59.5, PAPER_MARGIN + 1, "Section 7", ha="right", color="white", **words)
    axes.text(0.3, margins[-1] - 12, "skew is free", color=PALETTE["red"], **words)


def _draw_sections(
    axes: Axes,
    powers: Float[np.ndarray, "powers"],
    sections: Float[np.ndarray, "margins powers"],
) -> None:
    colours = [PALETTE[name] for name in ("blue", "green", "orange", "red")]
    for margin, row, colour in zip(SECTIONS, sections, colours, strict=True):
        axes.plot(powers, row, "o", ms=2.5, color=colour, label=f"$\\Delta={margin:g}$")
        axes.plot(powers, law(powers, np.array(margin)), color=colour, linewidth=0.9)
    data = skewed_pair(0.0)
    promised = promise(data)
    axes.axhline(promised, color=PALETTE["black"], linestyle="--", linewidth=0.9)
    words = {"fontsize": SMALL, "ha": "right", "va": "top"}
    axes.text(60, promised - 1, "Theorem 2's formula", **words)
    axes.set_xlabel("skew of the frequencies, $10^x$")
    axes.set_ylabel("$t\\eta$")
    axes.set_ylim(0, 105)
    axes.legend(loc="upper left", title="dots: training, lines: law", title_fontsize=SMALL)


def promise(data: Dataset) -> float:
    """t eta from which Theorem 2's bound on the attention is at the level, its thresholds aside."""
    rate = float(C1(1.0, data.norm_kq, data.L_max))
    return float(np.log(data.L_max * LEVEL / (1 - LEVEL)) / rate)


def _numbers(
    powers: Float[np.ndarray, "powers"],
    margins: Float[np.ndarray, "margins"],
    times: Float[np.ndarray, "margins powers"],
) -> dict[str, Any]:
    expected = law(powers, margins[:, None])
    return {
        "powers of ten of the skew": powers,
        "margins": margins,
        "t eta": times,
        "law": expected,
        "largest difference from the law": float(np.nanmax(np.abs(times - expected))),
        "of points": int(times.size),
        "points where the level is never reached": int(np.isnan(times).sum()),
        "free skew at Section 7's margin, power of ten": float(free_skew(PAPER_MARGIN)),
        "t eta by Theorem 2": promise(skewed_pair(0.0)),
    }


def _caption(numbers: dict[str, Any]) -> str:
    free = numbers["free skew at Section 7's margin, power of ten"]
    return (
        f"Algorithm 1 on {{aba, bab}}, where the input b a occurs 10^x times less often than a b; "
        f"stage 2 with η = {RATE:g}. (a) The time tη until every input gives its optimal token "
        f"{LEVEL:g} of the attention, at {numbers['of points']:,} points. The red line is where "
        "skew begins to cost: log skew = 2(1 − a)Δ + 2 log a, with a = "
        f"{LEVEL:g} and Δ the margin that stage 1 has left. (b) Beyond it the time grows with the "
        "logarithm of the skew, by 1/√2 for every factor e (lines: the law, at most "
        f"{number(numbers['largest difference from the law'], 2)} from the training of the map). "
        f"At Section 7's margin of {number(PAPER_MARGIN, 3)} a skew of up to 10^{free:.0f} is "
        "free. Theorem 2's rate does not know of frequencies: its formula has the level from tη = "
        f"{number(numbers['t eta by Theorem 2'], 3)} on, which skewed data "
        "overtakes (the theorem itself speaks of much larger t)."
    )

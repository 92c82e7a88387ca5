"""Ours: how long sequences may get after training, over the dimension of the encodings."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lemmata.claims import Bench
from lemmata.drawing import (
    MAP_DPI,
    PALETTE,
    SMALL,
    TEXT_WIDTH,
    Drawing,
    GridAxis,
    draw_contours,
    draw_numbers,
    number,
    style,
)
from lemmata.training import record_steps, run

from ..setting import FamilyAttention, TabulatedAttention, Task, TwoScalars

TASK = Task(T=20, q=2, d=3)
"""What is trained."""

RATE = 1.0

SIZES = {"quick": (25, 100_000, 24), "paper": (61, 1_000_000, 100)}
"""Dimensions, steps, and encodings on which a length is tested."""

LONGEST = 4_000
"""The longest sequence that is tested."""

PAIRS = 2_000
"""Pairs of an encoding and a subset whose average is trained on."""

HIGHEST, POINTS = 24.0, 480
"""Attention is tabulated up to this C."""

SHOWN = (16, 32, 96, 512)
"""Dimensions of panel (b)."""


def draw(bench: Bench) -> Drawing:
    """The mean field of SGD with fresh encodings, and its C on longer sequences."""
    count, steps, tests = SIZES[bench.scale]
    between = np.geomspace(12, 768, count).round().astype(int)
    dimensions = np.union1d(between, SHOWN)
    records = np.unique(np.geomspace(100, steps, 16).round().astype(int))
    C = trained_scale(dimensions, records, bench)
    lengths = np.unique(np.geomspace(TASK.T, LONGEST, 40).round().astype(int))
    missed = np.stack(
        [missed_over(d, C[i], lengths, tests, bench.seed) for i, d in enumerate(dimensions)]
    )
    with style():
        picture = Figure(figsize=(TEXT_WIDTH, 2.9), dpi=MAP_DPI)
        left, right = picture.subplots(1, 2, width_ratios=(1.25, 1), sharey=True)
        _draw_map(left, dimensions, lengths, missed[:, -1].T, C[:, -1])
        _draw_reach(right, dimensions, records, lengths, missed, C)
    numbers = _numbers(dimensions, records, lengths, missed, C)
    return Drawing(picture, _caption(numbers), numbers)


def draw_gaps(
    dimension: int, others: int, count: int, source: np.random.Generator
) -> Float[np.ndarray, "count others"]:
    """1 - <e_i, e_y> of positions outside y, for random signs; chosen encodings differ."""
    chosen = source.integers(0, 2, (count, dimension, TASK.q), dtype=np.int8) * 2.0 - 1
    while (same := np.abs(np.einsum("nd,nd->n", *np.moveaxis(chosen, 2, 0))) == dimension).any():
        chosen[same] = source.integers(0, 2, (int(same.sum()), dimension, TASK.q)) * 2.0 - 1
    gram = np.einsum("ndp,ndq->npq", chosen, chosen) / dimension
    coefficients = np.linalg.solve(gram, np.ones((count, TASK.q, 1)))[:, :, 0]
    subset = np.einsum("ndq,nq->nd", chosen, coefficients) / dimension
    signs = source.integers(0, 2, (count, dimension, others), dtype=np.int8)
    inner = np.stack([e @ s for e, s in zip(subset, signs, strict=True)])
    return 1 - (2 * inner - subset.sum(axis=1)[:, None])


def trained_scale(
    dimensions: Int[np.ndarray, "dimensions"], records: Int[np.ndarray, "records"], bench: Bench
) -> Float[np.ndarray, "dimensions records"]:
    """C along training at length T, all dimensions as one batch."""
    source = np.random.default_rng([bench.seed, 0])
    done = bench.track("encodings", len(dimensions))
    problems = []
    for dimension in dimensions:
        gaps = draw_gaps(int(dimension), TASK.T - TASK.q, PAIRS, source)
        exact = FamilyAttention(jnp.asarray(gaps), jnp.asarray(1.0 * TASK.q))
        table = TabulatedAttention.of(exact, HIGHEST, POINTS)
        problems.append(TwoScalars.of(table, TASK, int(dimension), RATE))
        done(1)
    batch = jax.tree.map(lambda *leaves: jnp.stack(leaves), *problems)
    steps = record_steps(records.tolist(), int(records[-1]))
    return run(batch, steps, store=bench.store).series["C"][:, -len(records) :]


def missed_over(
    dimension: int,
    C: Float[np.ndarray, "records"],
    lengths: Int[np.ndarray, "lengths"],
    tests: int,
    seed: int,
) -> Float[np.ndarray, "records lengths"]:
    """The mean attention outside the subset at each length, on fresh encodings."""
    source = np.random.default_rng([seed, 1, dimension])
    gaps = draw_gaps(dimension, LONGEST - TASK.q, tests, source)
    rows = []
    for scale in C:
        weights = np.cumsum(np.exp(-scale * gaps), axis=1)[:, lengths - TASK.q - 1]
        rows.append((weights / (TASK.q + weights)).mean(axis=0))
    return np.array(rows)


def noise(dimension: Float[np.ndarray, "..."] | Int[np.ndarray, "..."]) -> np.ndarray:
    """The variance of <e_i, e_y> outside y: that of q normal encodings."""
    return TASK.q / (dimension - TASK.q - 1)


def reach_by_law(C: np.ndarray, dimension: np.ndarray) -> np.ndarray:
    """The length at which half of the attention misses the subset.

    T others weigh T exp(C^2 v / 2) on average, v being the noise, against q exp(C): that is an
    exponent of C - C^2 v / 2. Beyond C = 1/v one of the others is as large as the chosen ones, and
    no C helps any more.
    """
    v = noise(dimension)
    useful = np.minimum(C, 1 / v)
    return TASK.q * (1 + np.exp(useful - useful**2 * v / 2))


def reach(
    missed: Float[np.ndarray, "lengths"], lengths: Int[np.ndarray, "lengths"]
) -> float:
    """The length at which half is missed, between tested ones; NaN where it is beyond them."""
    if not missed[0] < 0.5 < missed[-1]:
        return float("nan")
    return float(np.exp(np.interp(0.5, missed, np.log(lengths))))


def _draw_map(
    axes: Axes,
    dimensions: Int[np.ndarray, "dimensions"],
    lengths: Int[np.ndarray, "lengths"],
    missed: Float[np.ndarray, "lengths dimensions"],
    C: Float[np.ndarray, "dimensions"],
) -> None:
    x, y = GridAxis("dimension $d_e$ of the encodings", dimensions), GridAxis("length", lengths)
    look = {"colours": "cividis_r", "limits": (0.0, 1.0), "logarithmic": False}
    draw_numbers(axes, x, y, missed, label="attention missed after training", **look)
    draw_contours(axes, x, y, missed, (0.1, 0.5, 0.9))
    axes.plot(dimensions, reach_by_law(C, dimensions), color=PALETTE["red"])
    axes.axhline(TASK.T, color=PALETTE["black"], linestyle=":", linewidth=0.9)
    axes.set_ylim(lengths[0], lengths[-1])


def _draw_reach(
    axes: Axes,
    dimensions: Int[np.ndarray, "dimensions"],
    records: Int[np.ndarray, "records"],
    lengths: Int[np.ndarray, "lengths"],
    missed: Float[np.ndarray, "dimensions records lengths"],
    C: Float[np.ndarray, "dimensions records"],
) -> None:
    """The length at which half is missed, along training."""
    for shown, name in zip(SHOWN, ("red", "orange", "green", "blue"), strict=True):
        at = int(np.flatnonzero(dimensions == shown)[0])
        found = [reach(row, lengths) for row in missed[at]]
        axes.plot(records, found, "o", ms=2.5, color=PALETTE[name], label=f"$d_e={shown}$")
        expected = reach_by_law(C[at], np.array(shown))
        axes.plot(records, expected, color=PALETTE[name], linewidth=0.9)
    axes.set_xscale("log")
    axes.set_xlabel("step of training")
    axes.set_ylabel("length at which half is missed")
    axes.tick_params(labelleft=True)
    axes.legend(loc="upper left", title="dots: measured, lines: law", title_fontsize=SMALL)


def _numbers(
    dimensions: Int[np.ndarray, "dimensions"],
    records: Int[np.ndarray, "records"],
    lengths: Int[np.ndarray, "lengths"],
    missed: Float[np.ndarray, "dimensions records lengths"],
    C: Float[np.ndarray, "dimensions records"],
) -> dict[str, Any]:
    found = np.array([reach(row, lengths) for row in missed[:, -1]])
    expected = reach_by_law(C[:, -1], dimensions)
    best = int(np.nanargmax(found))
    return {
        "dimensions": dimensions,
        "lengths": lengths,
        "missed after training": missed[:, -1],
        "steps": int(records[-1]),
        "C after training": C[:, -1],
        "length at which half is missed": found,
        "by the law": expected,
        "largest factor between them": float(np.exp(np.nanmax(np.abs(np.log(found / expected))))),
        "best dimension": int(dimensions[best]),
        "its length": float(found[best]),
    }


def _caption(numbers: dict[str, Any]) -> str:
    return (
        f"T = {TASK.T}, q = {TASK.q}, d = {TASK.d}, fresh random sign encodings without rejection, "
        f"the mean field of SGD with η = {RATE:g} from zero. (a) The attention outside the subset "
        f"after {numbers['steps']:,} steps, on sequences of other lengths (dotted: the training "
        "length). Red: the law T = q(1 + exp(C − C²v/2)) with v = q/(d_e − q − 1) the variance "
        "of an inner product and C what training has reached, or 1/v if that is less; it is within "
        f"a factor of {number(numbers['largest factor between them'], 2)} of where half is missed. "
        "Few dimensions are too noisy whatever C is, T = q(1 + exp((d_e − q − 1)/2q)) at most; "
        "with many C grows more slowly, as its steps are divided by d_e. The best is d_e = "
        f"{numbers['best dimension']}, which reaches a length of {numbers['its length']:,.0f}. (b) "
        "The same length along training: it grows like a power of the steps, until the noise "
        "stops it."
    )

"""Ours: how long sequences may get after training, over the dimension of the encodings."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int
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
from lemmata.training import record_steps, run

from ..setting import FamilyAttention, TabulatedAttention, Task, TwoScalars

TASK = Task(T=20, q=2, d=3)
"""What is trained."""

RATE = 1.0

SIZES = {"quick": (25, 100_000, 8_000), "paper": (61, 1_000_000, 60_000)}
"""Dimensions, steps, and encodings times dimensions on which lengths are tested."""

LONGEST = 4_000
"""The longest sequence that is tested."""

PAIRS = 4_000
"""Pairs of an encoding and a subset whose average is trained on."""

HIGHEST, POINTS = 16.0, 320
"""Attention is tabulated up to this C."""

SHOWN = (16, 32, 96, 512)
"""Dimensions of panel (b)."""


def draw(bench: Bench, sizes: tuple[int, int, int] | None = None) -> Drawing:
    """The mean field of SGD with fresh encodings, and its C on longer sequences."""
    count, steps, tests = sizes or SIZES[bench.scale]
    between = np.geomspace(12, 768, count).round().astype(int)
    dimensions = np.union1d(between, SHOWN)
    records = np.unique(np.geomspace(100, steps, 16).round().astype(int))
    C = trained_scale(dimensions, records, bench)
    lengths = np.unique(np.geomspace(TASK.T, LONGEST, 40).round().astype(int))
    missed = np.stack(
        [missed_over(int(d), C[i], lengths, tests, bench.seed) for i, d in enumerate(dimensions)]
    )
    grid = {"width_ratios": (1.25, 1), "sharey": True}
    with new_figure(2.9, 1, 2, dpi=MAP_DPI, **grid) as (picture, (left, right)):
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
    gaps = draw_gaps(dimension, LONGEST - TASK.q, max(tests // dimension, 16), source)
    rows = []
    for scale in C:
        weights = np.cumsum(np.exp(-scale * gaps), axis=1)[:, lengths - TASK.q - 1]
        rows.append((weights / (TASK.q + weights)).mean(axis=0))
    return np.array(rows)


def reach_by_law(C: np.ndarray, dimension: np.ndarray) -> np.ndarray:
    """The length at which half of the attention misses the subset, for q = 2.

    e_y is the sum of both chosen encodings over the m positions in which they agree, so that
    <e_i, e_y> is the mean of m random signs: T - q others weigh (T - q) cosh(C / m)^m on average,
    and the chosen ones q e^C. m is d_e / 2, up to its own chance.
    """
    m = dimension / 2
    log_cosh = np.logaddexp(C / m, -C / m) - np.log(2)
    return TASK.q * (1 + np.exp(C - m * log_cosh))


def reach(missed: Float[np.ndarray, "lengths"], lengths: Int[np.ndarray, "lengths"]) -> float:
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
    x, y = (
        GridAxis("dimension $d_e$ of the encodings", dimensions),
        GridAxis("length of the sequence", lengths),
    )
    look = {"colours": "cividis_r", "limits": (0.0, 1.0), "logarithmic": False}
    draw_numbers(axes, x, y, missed, label="attention missed after training", **look)
    draw_contours(axes, x, y, missed, (0.1, 0.5, 0.9))
    axes.plot(dimensions, reach_by_law(C, dimensions), color=PALETTE["red"])
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
    best, widest = int(np.nanargmax(found)), int(np.flatnonzero(dimensions == SHOWN[-1])[0])
    return {
        "dimensions": dimensions,
        "lengths": lengths,
        "missed after training": missed[:, -1],
        "steps": int(records[-1]),
        "C after training": C[:, -1],
        "length at which half is missed": found,
        "by the law": expected,
        "largest factor between them": float(np.exp(np.nanmax(np.abs(np.log(found / expected))))),
        "power of the steps": _last_power(records, [reach(row, lengths) for row in missed[widest]]),
        "best dimension": int(dimensions[best]),
        "its length": float(found[best]),
    }


def _last_power(records: Int[np.ndarray, "records"], lengths: list[float]) -> float:
    """The slope on logarithms over the last decade of steps."""
    last = records >= records[-1] / 10
    return float(np.polyfit(np.log(records[last]), np.log(np.array(lengths)[last]), 1)[0])


def _caption(numbers: dict[str, Any]) -> str:
    return (
        f"T = {TASK.T}, q = {TASK.q}, d = {TASK.d}, fresh random sign encodings without rejection, "
        f"the mean field of SGD with η = {RATE:g} from zero. (a) The attention outside the subset "
        f"after {numbers['steps']:,} steps, on sequences of other lengths, from the training "
        "length on. Red: the law T = q(1 + exp(C − m log cosh(C/m))) with m = d_e/2 and C what "
        "training has reached: with q = 2 the inner product of another encoding with e_y is the "
        "mean of m signs. It is within a factor of "
        f"{number(numbers['largest factor between them'], 3)} of where half is missed. Few "
        "dimensions are too noisy: no C gets beyond q(1 + 2^m). With many dimensions C grows more "
        "slowly, as its steps are divided by d_e. The best here is d_e = "
        f"{numbers['best dimension']}, which reaches a length of {numbers['its length']:,.0f}. (b) "
        "The same length along training: with many dimensions it grows like a power of the steps "
        f"({number(numbers['power of the steps'], 2)} at d_e = {SHOWN[-1]} over the last decade), "
        "with few the noise stops it."
    )

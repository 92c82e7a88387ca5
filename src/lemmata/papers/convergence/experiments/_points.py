"""Random weights, and what the paper's displayed formulas give there.

Each quantity is computed twice by routes that share nothing: the loss is written as in the paper
and differentiated with a complex step (exact to rounding), the printed gradient formulas are
evaluated as they stand, and the log-domain gradients of the package stand beside them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from lemmata.attention import attention_gradient, collocation_gradient, value_margins
from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence
from lemmata.training import compiled_once

from ..setting import Batch, Dataset

SCALES = (0.3, 1.0, 10.0, 100.0)
POINTS_PER_SCALE = 4
MILD = 2
"""The first scales are mild enough for the formulas as printed, which subtract from 1."""

Matrix = np.ndarray


@dataclass(frozen=True)
class Point:
    """Random weights.

    Attributes:
        values: W_ov x, one row a token x.
        equal: the same when every margin of W_ov is ``delta``.
        weights: W_kq.
        along: a direction for W_ov and one for W_kq.
        mild: whether the formulas as printed, which subtract from 1, are good here.
    """

    values: Matrix
    equal: Matrix
    delta: float
    weights: Matrix
    along: Matrix
    mild: bool


def printed_formulas(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """Losses and gradients at random weights, as printed and by complex steps."""
    ready, skipped, points = _points(experiment, instances)
    tables = [
        [_formulas(dataset, point) for point in row]
        for dataset, row in zip(ready, points, strict=True)
    ]
    columns = {
        name: np.array([[values[name] for values in table] for table in tables])
        for name in (tables[0][0] if tables else ())
    }
    return Evidence(ready, None, columns, skipped)


def random_points(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """Gradients at random weights of several sizes, in the log domain."""
    ready, skipped, points = _points(experiment, instances)
    columns = _implemented(ready, points) if ready else {}
    return Evidence(ready, None, columns, skipped)


Datasets = tuple[Dataset, ...]


def _points(
    experiment: Experiment[Any], instances: Sequence[Dataset]
) -> tuple[Datasets, Datasets, list[list[Point]]]:
    """The datasets that have points, those that have none, and the points: drawn as if alone."""
    fits = [d.has_collocation and d.norm_kq > 0 and d.orthonormal for d in instances]
    ready = tuple(d for d, good in zip(instances, fits, strict=True) if good)
    skipped = tuple(d for d, good in zip(instances, fits, strict=True) if not good)
    return ready, skipped, [_draw(d, np.random.default_rng(experiment.seed)) for d in ready]


def _draw(dataset: Dataset, generator: np.random.Generator) -> list[Point]:
    """The points of one dataset."""
    K, target = dataset.K, dataset.value_margin.weights
    assert target is not None
    points = []
    for number, scale in enumerate(np.repeat(SCALES, POINTS_PER_SCALE)):
        values = scale * generator.standard_normal((K, K))
        weights = scale * generator.standard_normal((K, K))
        along = generator.standard_normal((2, K, K))
        mild = number < MILD * POINTS_PER_SCALE
        points.append(Point(values, scale * target.T, float(scale), weights, along, mild))
    return points


def _formulas(dataset: Dataset, point: Point) -> dict[str, float]:
    """The printed formulas, the complex-step derivatives, and the size of the terms that add up."""
    listed = dataset.log_frequency is None
    both = (loss, _listed_loss) if listed else ()
    losses = [f(dataset, point.values, point.weights).real for f in both] or [np.nan] * 2
    row = {
        "loss_grouped": losses[0],
        "loss_listed": losses[1],
        "weight_ratio": _worst_ratio(dataset, point.weights),
        "largest_logit": float(np.abs(point.weights).max()),
        **_single_tokens(dataset, point),
        **_peaks(dataset, point),
    }
    names = [f"{kind}_{number}" for number in (4, 5, 6) for kind in ("formula", "slope", "terms")]
    return row | (_gradients(dataset, point) if point.mild else dict.fromkeys(names, np.nan))


def _single_tokens(dataset: Dataset, point: Point) -> dict[str, float]:
    """L₀ and its kin at a point, along a line, and near the ray of W_ov*."""
    values, over = point.values, point.along[0]
    after = [dataset.collocation.following[x] for x in range(dataset.K)]
    losses = [loss_of(values, point.weights, (x, x), y).real for x, y in enumerate(after)]
    shares = np.zeros(dataset.K)
    for sample, share in zip(dataset.data.samples, _all_shares(dataset), strict=True):
        shares[sample.query] += share * (len(sample.tokens) == 1)
    near = point.equal + 0.1 * point.delta * over
    right = near[np.arange(dataset.K), after][:, None]
    wrong = np.where(np.arange(dataset.K) == np.array(after)[:, None], -np.inf, near - right)
    return {
        "collocation_loss": _collocation_loss(dataset, values).real,
        "collocation_loss_along": _collocation_loss(dataset, values + over).real,
        "repeated_loss": sum(losses),
        "first_loss": float(shares @ losses),
        "least_first": float(shares.min()),
        "most_first": float(shares.max()),
        "near_norm": float(np.linalg.norm(near)),
        "near_margin": float(-wrong.max()),
        "near_gap": _gap(near, point.equal),
        "near_log_loss": float(_log_sum(_log_softplus(_log_sum(wrong)))),
        "value_size": float(np.abs(values).max() + np.abs(over).max()),
    }


def _gap(a: Matrix, b: Matrix) -> float:
    """1 − cos."""
    return float(np.sum((a / np.linalg.norm(a) - b / np.linalg.norm(b)) ** 2) / 2)


def _log_softplus(x: np.ndarray) -> np.ndarray:
    """log log(1 + e^x)."""
    return np.where(x < -30, x, np.log(np.logaddexp(0.0, np.maximum(x, -30))))


def _peaks(dataset: Dataset, point: Point) -> dict[str, float]:
    """By how much the likeliest successor of a token of an input leads all other next tokens.

    At W_ov whose columns peak where the collocation says: any such one, and one whose wrong logits
    tie. NaN where every token is a successor.
    """
    after = np.array([dataset.collocation.following[x] for x in range(dataset.K)])
    rows = np.arange(dataset.K)
    peaked = point.values.copy()
    peaked[rows, after] = peaked.max(axis=1)
    margins = 0.1 + np.abs(point.along[0]).max(axis=1)
    tied = margins[:, None] * (after[:, None] == rows)
    return {
        name: _least_peak(dataset, values, point.weights)
        for name, values in (("peak", peaked), ("tied_peak", tied))
    }


def _least_peak(dataset: Dataset, values: Matrix, weights: Matrix) -> float:
    leads = []
    for sample in dataset.data.samples:
        tokens = list(sample.tokens)
        logits = _softmax(weights[tokens, sample.query]) @ values[tokens]
        inside = np.isin(np.arange(dataset.K), [dataset.collocation.following[x] for x in tokens])
        if not inside.all():
            leads.append(logits[inside].max() - logits[~inside].max())
    return min(leads, default=np.nan)


def _all_shares(dataset: Dataset) -> np.ndarray:
    """π, where it can be written."""
    return np.exp(dataset.log_pi)


def _gradients(dataset: Dataset, point: Point) -> dict[str, float]:
    """Lemma 4, Eq. (5) and Eq. (6), each with the derivative that it should be.

    The size of what cancels on the way is the formula with absolute values and without minus signs.
    """
    step = 1e-30
    values, weights, (over_values, over_weights) = point.values, point.weights, point.along
    moved = weights + 1j * step * over_weights
    slopes = {
        4: loss(dataset, point.equal, moved).imag / step,
        5: _collocation_loss(dataset, values + 1j * step * over_values).imag / step,
        6: loss(dataset, values, moved).imag / step,
    }
    row = {f"slope_{number}": slope for number, slope in slopes.items()}
    for name, sign in (("formula", -1), ("terms", 1)):
        part = np.abs if sign > 0 else np.asarray
        over, along = part(over_values), part(over_weights)
        row[f"{name}_4"] = _lemma_4(dataset, point, along, sign)
        row[f"{name}_5"] = float(np.sum(equation_5(dataset, values, sign) * over))
        row[f"{name}_6"] = float(np.sum(equation_6(dataset, values, weights, sign) * along))
    return row


def _log_sum(logits: np.ndarray) -> np.ndarray:
    top = np.real(logits).max(axis=-1, keepdims=True)
    return (np.log(np.exp(logits - top).sum(axis=-1, keepdims=True)) + top)[..., 0]


def _softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(logits - _log_sum(logits)[..., None])


def _collocation_loss(dataset: Dataset, values: Matrix) -> complex:
    """L_0 as displayed in Section 4.2."""
    after = [dataset.collocation.following[x] for x in range(dataset.K)]
    return complex(np.sum(_log_sum(values) - values[np.arange(dataset.K), after]))


def loss_of(values: Matrix, weights: Matrix, tokens: Sequence[int], label: int) -> complex:
    """−log T_y of one input."""
    phi = _softmax(weights[list(tokens), tokens[-1]])
    logits = phi @ values[list(tokens)]
    return complex(_log_sum(logits) - logits[label])


def _shares(dataset: Dataset) -> np.ndarray:
    """π; where it is too skewed for counts, in units that do not underflow.

    The unit is the largest π of an input with a choice, and inputs without one, which have no
    gradient, are left out. Gradients are linear in π, and an update does not see the unit.
    """
    log_pi = dataset.log_frequency
    if log_pi is None:
        return dataset.data.frequencies
    chosen = np.array([len(set(sample.tokens)) > 1 for sample in dataset.data.samples])
    return np.exp(np.where(chosen, log_pi - log_pi[chosen].max(), -np.inf))


def loss(dataset: Dataset, values: Matrix, weights: Matrix) -> complex:
    """Eq. (1): distinct inputs, weighted by their frequencies."""
    return sum(
        share * loss_of(values, weights, sample.tokens, sample.label)
        for sample, share in zip(dataset.data.samples, _shares(dataset), strict=True)
    )


def _listed_loss(dataset: Dataset, values: Matrix, weights: Matrix) -> float:
    """The loss of Section 3: the mean over D_0, where a sample stands as often as it occurs."""
    total = sum(
        sample.count * loss_of(values, weights, sample.tokens, sample.label).real
        for sample in dataset.data.samples
    )
    return total / sum(sample.count for sample in dataset.data.samples)


def equation_5(dataset: Dataset, values: Matrix, sign: int = -1) -> Matrix:
    """Eq. (5) as printed, in token coordinates."""
    gradient = _softmax(values)
    after = [dataset.collocation.following[x] for x in range(dataset.K)]
    gradient[np.arange(dataset.K), after] += sign
    return gradient


def equation_6(dataset: Dataset, values: Matrix, weights: Matrix, sign: int = -1) -> Matrix:
    """Eq. (6) as printed, in token coordinates."""
    gradient, outer = np.zeros_like(weights), values if sign < 0 else np.abs(values)
    for sample, share in zip(dataset.data.samples, _shares(dataset), strict=True):
        X = np.eye(dataset.K)[:, list(sample.tokens)]
        phi = _softmax(weights[list(sample.tokens), sample.query])
        error = _softmax(phi @ values[list(sample.tokens)])
        error[sample.label] += sign
        middle = np.diag(phi) + sign * np.outer(phi, phi)
        gradient[:, sample.query] += share * (X @ middle @ X.T @ outer @ error)
    return gradient


def _lemma_4(dataset: Dataset, point: Point, along: Matrix, sign: int = -1) -> float:
    """The gradient's projection when every margin of W_ov is delta."""
    total = 0.0
    for sample, share in zip(dataset.data.samples, _shares(dataset), strict=True):
        tokens = list(sample.tokens)
        chosen = dataset.orders.selected(sample)
        phi = _softmax(point.weights[tokens, sample.query])
        T = _softmax(phi @ point.equal[tokens])
        slope = along[tokens, sample.query]
        centred = slope + sign * (phi @ slope)
        for weight, rise, token in zip(phi, centred, tokens, strict=True):
            after = dataset.collocation.following[token]
            factor = T[sample.label] + sign if token in chosen else T[after]
            total += point.delta * share * factor * weight * rise
    return float(total)


def _worst_ratio(dataset: Dataset, weights: Matrix) -> float:
    """Eq. (11): the largest log phi_l + (a_l' - a_l) over all inputs and pairs; at most 0."""
    worst = -np.inf
    for sample in dataset.data.samples:
        logits = weights[list(sample.tokens), sample.query]
        log_phi = logits - _log_sum(logits)
        worst = max(worst, float((log_phi - logits + logits.max()).max()))
    return worst


def _implemented(
    datasets: Sequence[Dataset], points: Sequence[Sequence[Point]]
) -> dict[str, Float[np.ndarray, "datasets points"]]:
    """The log-domain gradients of the package at the same points.

    Few shapes are compiled: the last dataset is repeated until their number is a power of two.
    """
    count = len(datasets)
    more = (1 << (count - 1).bit_length()) - count
    plain = [d.plain for d in datasets]
    batch = Batch([*plain, *[plain[-1]] * more])
    K = batch.inputs.vocabulary.shape[1]
    weights = np.zeros((3, count + more, len(points[0]), K, K))
    for i, row in enumerate([*points, *[points[-1]] * more]):
        k = batch.datasets[i].K
        for p, point in enumerate(row):
            weights[:, i, p, :k, :k] = point.values, point.equal, point.weights
    columns = _at_points(
        batch.inputs,
        batch.following,
        batch.probe.optimal,
        batch.target_ov,
        batch.target_kq,
        *weights,
    )
    return {name: np.asarray(grid)[:count] for name, grid in columns.items()}


def _at_point(inputs, following, optimal, target_ov, target, values, equal, weights):
    """Descent of both layers on their targets, and the smallest weight of the optimal tokens."""
    first = collocation_gradient(values, following, inputs.vocabulary).gradient
    cells = weights[inputs.cell_token, inputs.cell_query]
    second = attention_gradient(inputs, value_margins(inputs, equal), cells).gradient
    mass = jax.nn.softmax(inputs.log_multiplicity + cells[inputs.cells], axis=1)
    chosen = jnp.sum(jnp.where(optimal, mass, 0.0), axis=1)
    tokens = jnp.arange(len(following))
    wrong = inputs.vocabulary[:, None] & inputs.vocabulary[None, :]
    wrong &= tokens[None, :] != following[:, None]
    right = values[tokens, following][:, None]
    total = jax.nn.logsumexp(jnp.where(wrong, values - right, -jnp.inf), axis=1)
    size = jnp.sqrt(jnp.sum(values**2))
    return {
        "value_log_gradient": first.log_norm,
        "value_descent": -jnp.sum(first.unit * target_ov),
        "value_descent_on_itself": -jnp.sum(first.unit * values) / size,
        "value_norm": size,
        "log_miss": jax.nn.logsumexp(-jax.nn.softplus(-total)),
        "attention_descent": -jnp.sum(second.unit * target),
        "smallest_weight": jnp.min(jnp.where(jnp.isfinite(inputs.log_frequency), chosen, jnp.inf)),
    }


_at_points = compiled_once(
    jax.vmap(jax.vmap(_at_point, in_axes=(None, None, None, None, None, 0, 0, 0)))
)
"""One row a dataset, one column a point."""

"""Random weights, and what the paper's displayed formulas give there.

Each quantity is computed twice by routes that share nothing: the loss is written as in the paper
and differentiated with a complex step (exact to rounding), the printed gradient formulas are
evaluated as they stand, and the log-domain gradients of the package stand beside them.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from lemmata.attention import attention_gradient, collocation_gradient, pack, value_margins
from lemmata.papers.convergence.experiments import Points
from lemmata.papers.convergence.setting import Dataset

SCALES = (0.3, 1.0, 10.0, 100.0)
POINTS_PER_SCALE = 4
MILD = 2
"""The first scales are mild enough for the formulas as printed, which subtract from 1."""

Matrix = np.ndarray


def random_points(datasets: Sequence[Dataset], skipped: tuple[Dataset, ...], seed: int) -> Points:
    """Evaluate everything at random W_ov and W_kq."""
    tables = [
        _one_dataset(dataset, np.random.default_rng([seed, i]))
        for i, dataset in enumerate(datasets)
    ]
    points = [point for point, _ in tables]
    series = {
        name: np.array([[row[name] for row in rows] for _, rows in tables])
        for name in tables[0][1][0]
    }
    return Points(tuple(datasets), series | _implemented(datasets, points), skipped)


def _one_dataset(
    dataset: Dataset, generator: np.random.Generator
) -> tuple[list[tuple[Matrix, Matrix, Matrix]], list[dict[str, float]]]:
    """The points of one dataset as (V, V with equal margins, W), and the formulas there."""
    K = dataset.K
    target = dataset.value_margin.weights
    assert target is not None
    points, rows = [], []
    for number in range(len(SCALES) * POINTS_PER_SCALE):
        scale = SCALES[number // POINTS_PER_SCALE]
        values = scale * generator.standard_normal((K, K))
        equal = scale * target.T
        weights = scale * generator.standard_normal((K, K))
        along = generator.standard_normal((2, K, K))
        points.append((values, equal, weights))
        mild = number // POINTS_PER_SCALE < MILD
        rows.append(_formulas(dataset, values, equal, weights, along, scale, mild))
    return points, rows


def _formulas(
    dataset: Dataset,
    values: Matrix,
    equal: Matrix,
    weights: Matrix,
    along: Matrix,
    delta: float,
    mild: bool,
) -> dict[str, float]:
    """The printed formulas (left) and the complex-step derivatives (right)."""
    grouped, listed = _loss(dataset, values, weights), _listed_loss(dataset, values, weights)
    step = 1e-30
    row = {
        "loss_grouped": float(grouped.real),
        "loss_listed": float(listed),
        "weight_ratio": _worst_ratio(dataset, weights),
    }
    nan = float("nan")
    row |= {
        "equation_5": float(np.sum(_equation_5(dataset, values) * along[0])) if mild else nan,
        "derivative_5": (
            _collocation_loss(dataset, values + 1j * step * along[0]).imag / step if mild else nan
        ),
        "equation_6": float(np.sum(_equation_6(dataset, values, weights) * along[1]))
        if mild
        else nan,
        "derivative_6": (
            _loss(dataset, values, weights + 1j * step * along[1]).imag / step if mild else nan
        ),
        "lemma_4": _lemma_4(dataset, equal, weights, along[1], delta) if mild else nan,
        "derivative_4": (
            _loss(dataset, equal, weights + 1j * step * along[1]).imag / step if mild else nan
        ),
    }
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


def _sample_loss(values: Matrix, weights: Matrix, tokens: Sequence[int], label: int) -> complex:
    phi = _softmax(weights[list(tokens), tokens[-1]])
    logits = phi @ values[list(tokens)]
    return complex(_log_sum(logits) - logits[label])


def _loss(dataset: Dataset, values: Matrix, weights: Matrix) -> complex:
    """Eq. (1): distinct inputs, weighted by their frequencies."""
    return sum(
        share * _sample_loss(values, weights, sample.tokens, sample.label)
        for sample, share in zip(dataset.data.samples, dataset.data.frequencies, strict=True)
    )


def _listed_loss(dataset: Dataset, values: Matrix, weights: Matrix) -> float:
    """The loss of Section 3: the mean over D_0, every repetition on its own."""
    losses = [
        _sample_loss(values, weights, sample.tokens, sample.label).real
        for sample in dataset.data.samples
        for _ in range(sample.count)
    ]
    return float(np.mean(losses))


def _equation_5(dataset: Dataset, values: Matrix) -> Matrix:
    gradient = _softmax(values)
    after = [dataset.collocation.following[x] for x in range(dataset.K)]
    gradient[np.arange(dataset.K), after] -= 1
    return gradient


def _equation_6(dataset: Dataset, values: Matrix, weights: Matrix) -> Matrix:
    gradient = np.zeros_like(weights)
    for sample, share in zip(dataset.data.samples, dataset.data.frequencies, strict=True):
        X = np.eye(dataset.K)[:, list(sample.tokens)]
        phi = _softmax(weights[list(sample.tokens), sample.query])
        error = _softmax(phi @ values[list(sample.tokens)]) - np.eye(dataset.K)[sample.label]
        middle = np.diag(phi) - np.outer(phi, phi)
        column = X @ middle @ X.T @ values @ error
        gradient[:, sample.query] += share * column
    return gradient


def _lemma_4(
    dataset: Dataset, values: Matrix, weights: Matrix, along: Matrix, delta: float
) -> float:
    """The projection of the gradient on ``along`` when every margin of W_ov is delta."""
    total = 0.0
    for sample, share in zip(dataset.data.samples, dataset.data.frequencies, strict=True):
        tokens = list(sample.tokens)
        chosen = dataset.orders.selected(sample)
        phi = _softmax(weights[tokens, sample.query])
        T = _softmax(phi @ values[tokens])
        slope = along[tokens, sample.query]
        centred = slope - phi @ slope
        for weight, rise, token in zip(phi, centred, tokens, strict=True):
            after = dataset.collocation.following[token]
            factor = T[sample.label] - 1 if token in chosen else T[after]
            total += delta * share * factor * weight * rise
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
    datasets: Sequence[Dataset], points: list[list[tuple[Matrix, Matrix, Matrix]]]
) -> dict[str, Float[np.ndarray, "datasets points"]]:
    """The log-domain gradients of the package at the same points."""
    inputs = pack([d.data for d in datasets])
    K = inputs.vocabulary.shape[1]
    B, P = len(datasets), len(points[0])
    values, equal, weights = np.zeros((3, B, P, K, K))
    target_ov, target_kq = np.zeros((2, B, K, K))
    following = np.zeros((B, K), dtype=np.int64)
    optimal = np.zeros(inputs.tokens.shape, dtype=bool)
    for i, d in enumerate(datasets):
        following[i, : d.K] = [d.collocation.following[x] for x in range(d.K)]
        assert d.value_margin.weights is not None
        assert d.attention_margin.weights is not None
        target_ov[i, : d.K, : d.K] = d.value_margin.weights.T
        target_kq[i, : d.K, : d.K] = d.attention_margin.weights
        for n, sample in enumerate(d.data.samples):
            for s, token in enumerate(sorted(set(sample.tokens))):
                optimal[i, n, s] = token in d.orders.selected(sample)
        for p in range(P):
            for store, matrix in zip((values, equal, weights), points[i][p], strict=True):
                store[i, p, : d.K, : d.K] = matrix

    def one(inputs, following, optimal, target_ov, target_kq, values, equal, weights):
        first = collocation_gradient(values, following, inputs.vocabulary).gradient
        cells = weights[inputs.cell_token, inputs.cell_query]
        second = attention_gradient(inputs, value_margins(inputs, equal), cells).gradient
        target = jnp.where(inputs.cell_exists, target_kq[inputs.cell_token, inputs.cell_query], 0.0)
        logits = inputs.log_multiplicity + cells[inputs.cells]
        mass = jax.nn.softmax(logits, axis=1)
        counted = jnp.isfinite(inputs.log_frequency)
        chosen = jnp.sum(jnp.where(optimal, mass, 0.0), axis=1)
        plus = jnp.where(counted, chosen, jnp.inf)
        wrong = inputs.vocabulary[:, None] & inputs.vocabulary[None, :]
        wrong &= jnp.arange(K)[None, :] != following[:, None]
        right = jnp.take_along_axis(values, following[:, None], axis=1)
        total = jax.nn.logsumexp(jnp.where(wrong, values - right, -jnp.inf), axis=1)
        size = jnp.sqrt(jnp.sum(values**2))
        return {
            "value_log_gradient": first.log_norm,
            "value_descent": -jnp.sum(first.unit * target_ov),
            "value_descent_on_itself": -jnp.sum(first.unit * values) / size,
            "value_norm": size,
            "log_miss": jax.nn.logsumexp(-jax.nn.softplus(-total)),
            "attention_descent": -jnp.sum(second.unit * target),
            "smallest_weight": jnp.min(plus),
        }

    over_points = jax.vmap(one, in_axes=(None, None, None, None, None, 0, 0, 0))
    found = jax.jit(jax.vmap(over_points))(
        jax.tree.map(jnp.asarray, inputs),
        following,
        optimal,
        target_ov,
        target_kq,
        values,
        equal,
        weights,
    )
    return {name: np.asarray(grid) for name, grid in found.items()}

"""The regularization path of any loss: minimisers on spheres of growing radius.

Without convexity there is no Newton path to follow. The logarithm of the loss above its infimum
is minimised over directions instead, from several starts and from the previous radius; it has no
small numbers in it, however large the radius is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import minimize

from lemmata.attention import AbstractLoss, CellCoordinates, Inputs
from lemmata.margin import pair_rows, span_basis

from ._batch import Batch
from ._dataset import Dataset
from ._training import Training

STARTS = 2
"""Random directions to start from, beside the predicted one."""


@dataclass(frozen=True)
class BallPath:
    """The best point found on each sphere.

    Attributes:
        radii: R.
        weights: W_R.
        log_excess: log(risk - infimum) there.
    """

    radii: Float[np.ndarray, "radii"]
    weights: Float[np.ndarray, "radii dimension dimension"]
    log_excess: Float[np.ndarray, "radii"]

    def cosine_gap(self, target: Float[np.ndarray, "dimension dimension"]) -> np.ndarray:
        """1 - corr(W_R, target)."""
        turn = self.weights / self.radii[:, None, None] - target / np.linalg.norm(target)
        return np.sum(turn**2, axis=(1, 2)) / 2


def ball_paths(
    datasets: Sequence[Dataset], how: Training, radii: Sequence[float], seed: int = 0
) -> list[BallPath]:
    """One path a dataset; the datasets share their compiled loss."""
    batch = Batch(datasets, how.loss, how.head, embedded=True)
    parts = (batch.inputs, batch.loss, batch.coordinates)
    found = []
    for b, dataset in enumerate(datasets):
        inputs, loss, coordinates = jax.tree.map(lambda leaf, b=b: leaf[b], parts)
        width = batch.coordinates_width
        found.append(_path(dataset, inputs, loss, coordinates, width, radii, seed))
    return found


def _path(
    dataset: Dataset,
    inputs: Inputs,
    loss: AbstractLoss,
    coordinates: CellCoordinates,
    width: int,
    radii: Sequence[float],
    seed: int,
) -> BallPath:
    d = dataset.E.shape[1]
    basis = span_basis(pair_rows(dataset.pairs, dataset.E))
    matrices = np.zeros((len(basis), width, width))
    matrices[:, :d, :d] = basis.reshape(-1, d, d)
    generator = np.random.default_rng(seed)
    starts = [basis @ dataset.target.ravel(), *generator.standard_normal((STARTS, len(basis)))]
    weights, values = [], []
    for radius in radii:

        def objective(z: np.ndarray, radius: float = radius) -> tuple[float, np.ndarray]:
            size = np.linalg.norm(z)
            unit = z / size
            W = radius * np.einsum("r,rde->de", unit, matrices)
            value, slope = _evaluate(inputs, loss, coordinates, jnp.asarray(W))
            along = np.einsum("rde,de->r", matrices, np.asarray(slope)) * radius
            return float(value), (along - unit * (unit @ along)) / size

        tries = [
            minimize(objective, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-15})
            for start in starts
        ]
        best = min(tries, key=lambda result: result.fun)
        unit = best.x / np.linalg.norm(best.x)
        weights.append((radius * unit @ basis).reshape(d, d))
        values.append(float(best.fun))
        starts = [unit, starts[0]] if len(weights) == 1 else [unit, starts[1]]
    return BallPath(np.array(radii, dtype=float), np.stack(weights), np.array(values))


@eqx.filter_jit
def _evaluate(
    inputs: Inputs,
    loss: AbstractLoss,
    coordinates: CellCoordinates,
    weights: Float[Array, "dimension dimension"],
) -> tuple[Float[Array, ""], Float[Array, "dimension dimension"]]:
    """The log of the loss and its gradient."""
    found = loss(inputs, coordinates.logits(weights))
    gradient = coordinates.pull_back(found.gradient)
    return found.log_loss, gradient.unit * jnp.exp(gradient.log_norm - found.log_loss)

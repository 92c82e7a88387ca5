"""Fully connected nets g(W_1 [x; y]) with any g: what their first layer lets through.

Losses are mean squared errors without the 1/2 of Eq. (3), as in Theorem 3.5.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.fft import dct

from lemmata._errors import InputError

from ._task import Task, select_tokens

TokenPart = Float[np.ndarray, "width inputs"]
"""The columns of W_1 that meet x_vec = (x_1, ..., x_T): Td of them."""

EVERY_SUBSET = 20_000
"""Up to so many subsets an average over all of them is taken literally."""

INDEPENDENT = 1e-8
"""Rows are dependent, or may be, if one is smaller than this once the others are taken out."""

CODE = 40.0
"""The step between two codes of the explicit net, in standard deviations of its neurons."""

BLOCK = 2_000
"""Samples that are looked at together."""


@dataclass(frozen=True)
class FirstLayer:
    """W_1 = [A B]: A sees the tokens, B the positions y_1 < ... < y_q, counted from 1."""

    task: Task
    tokens: TokenPart
    subset: Float[np.ndarray, "width q"]

    @property
    def width(self) -> int:
        """The number of neurons."""
        return len(self.tokens)

    def __call__(
        self, X: Float[np.ndarray, "samples d T"], y: Int[np.ndarray, "samples q"]
    ) -> Float[np.ndarray, "samples width"]:
        """W_1 [x_vec; y]."""
        return flatten(X) @ self.tokens.T + (y + 1.0) @ self.subset.T


def flatten(X: Float[np.ndarray, "samples d T"]) -> Float[np.ndarray, "samples inputs"]:
    """x_vec: one token after the other."""
    return np.swapaxes(X, 1, 2).reshape(len(X), -1)


def subset_moment(task: Task) -> Float[np.ndarray, "T T"]:
    """E[YY'] / q^2, over all subsets if they are few, otherwise by counting."""
    if task.subset_count <= EVERY_SUBSET:
        Y = task.indicators(task.all_subsets())
        return Y.T @ Y / (len(Y) * task.q**2)
    pair = (task.q - 1) / (task.q * task.T * (task.T - 1))
    return np.full((task.T, task.T), pair) + (1 / (task.q * task.T) - pair) * np.eye(task.T)


def kernel(tokens: TokenPart) -> Float[np.ndarray, "dimension inputs"]:
    """An orthonormal basis of what the neurons do not see."""
    if not len(tokens):
        return np.eye(tokens.shape[1])
    directions, triangle = np.linalg.qr(tokens.T, mode="complete")
    sizes = np.abs(np.diag(triangle))
    if len(sizes) == len(tokens) and sizes.min() > INDEPENDENT * sizes.max():
        return directions.T[len(tokens) :]
    _, sizes, directions = np.linalg.svd(tokens)
    tiny = max(tokens.shape) * np.finfo(float).eps * sizes[0]
    return directions[int((sizes > tiny).sum()) :]


def least_loss(task: Task, tokens: TokenPart) -> float:
    """The loss of the best g if it is told y: E_y tr(A_y P A_y'), P the projection on the kernel.

    No choice of B and g does better with these A. With one neuron or more the explicit code below
    comes as close to it as one likes.
    """
    return directions_cost(task, kernel(tokens))


def directions_cost(task: Task, directions: Float[np.ndarray, "dimension inputs"]) -> float:
    """E_y of the squared size of the target's part along orthonormal directions."""
    missed = directions.reshape(-1, task.T, task.d)
    seen = np.einsum("ts,ksi->kti", subset_moment(task), missed, optimize=True)
    return float((missed * seen).sum())


def best_directions(task: Task, width: int) -> TokenPart:
    """Orthonormal rows that lose least: the mean of all tokens first, then waves of zero sum."""
    if not 0 <= width <= task.T * task.d:
        raise InputError(f"the width must be between 0 and T d = {task.T * task.d}; got {width}")
    waves = np.asarray(dct(np.eye(task.T), axis=0, norm="ortho"))
    return np.kron(waves, np.eye(task.d))[:width]


@dataclass(frozen=True)
class ExplicitNet:
    """A net of any width that attains the least loss, up to ``excess``.

    The neurons hold the best directions of x. The subset costs no neuron of its own: y_j is added,
    times ``scale``, to neuron j (or, if there are fewer neurons than positions to code, neurons
    hold several of them as digits in base T). The neurons are standard normal without it, so the
    nearest code is the right one except with a chance that vanishes as ``scale`` grows; the rest
    of the net rounds, subtracts the code, and averages the chosen tokens of what is left.
    """

    task: Task
    width: int
    scale: float = CODE

    @property
    def layer(self) -> FirstLayer:
        """Its first layer."""
        return FirstLayer(
            self.task, best_directions(self.task, self.width), self.scale * self._digits()
        )

    def output(self, hidden: Float[np.ndarray, "samples width"]) -> Float[np.ndarray, "samples d"]:
        """The layers after the first."""
        samples = len(hidden)
        if not self.width:
            return np.zeros((samples, self.task.d))
        digits, layer = self._digits(), self.layer
        y = self._decode(hidden, digits)
        rest = (hidden - (y + 1.0) @ layer.subset.T) @ layer.tokens
        return select_tokens(np.swapaxes(rest.reshape(samples, self.task.T, -1), 1, 2), y)

    def excess(self) -> float:
        """What a wrong code can add to the loss at most.

        A neuron is off by half a step with chance erfc(scale / sqrt 8), and the nearest code then
        leaves no more noise than there was, so the error is at most 2 ||x|| / sqrt q; the rest is
        the inequality of Cauchy and Schwarz with E||x||^4 = Td (Td + 2).
        """
        neurons, size = min(self.width, self.task.q), self.task.T * self.task.d
        chance = neurons * math.erfc(self.scale / math.sqrt(8))
        return 4 * math.sqrt(chance * size * (size + 2)) / self.task.q

    def _digits(self) -> Float[np.ndarray, "width q"]:
        """The place of each position in each neuron's code."""
        found = np.zeros((self.width, self.task.q))
        for j in range(self.task.q if self.width else 0):
            found[j % self.width, j] = float(self.task.T) ** (j // self.width)
        return found

    def _decode(
        self,
        hidden: Float[np.ndarray, "samples width"],
        digits: Float[np.ndarray, "width q"],
    ) -> Int[np.ndarray, "samples q"]:
        """The positions whose code is nearest, from 0."""
        lowest = digits.sum(axis=1)
        most = lowest * (self.task.T - 1)
        codes = np.clip(np.rint(hidden / self.scale) - lowest, 0.0, most)
        return np.stack(
            [
                (codes[:, j % self.width] // digits[j % self.width, j] % self.task.T).astype(int)
                for j in range(self.task.q)
            ],
            axis=1,
        )


def best_output(
    layer: FirstLayer, hidden: Float[np.ndarray, "samples width"]
) -> Float[np.ndarray, "samples d"]:
    """The best g for a first layer whose rows A are independent: E[STS_q | W_1 [x; y]].

    Given y, the neurons are Gaussian with mean B y and covariance AA'; so the chances of all
    subsets follow, and with them the mean.
    """
    task, A = layer.task, layer.tokens
    y = task.all_subsets()
    Y = task.indicators(y) / task.q
    inverse = np.linalg.pinv(A)
    means = (y + 1.0) @ layer.subset.T
    root = np.linalg.inv(np.linalg.cholesky(A @ A.T))
    near, far = hidden @ root.T, means @ root.T
    fit = near @ far.T - 0.5 * (far**2).sum(axis=1)
    chances = np.exp(fit - fit.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    guess = (hidden @ inverse.T).reshape(len(hidden), task.T, task.d)
    shift = np.einsum("st,std->sd", Y, (means @ inverse.T).reshape(len(y), task.T, task.d))
    return np.einsum("nt,ntd->nd", chances @ Y, guess) - chances @ shift


@dataclass(frozen=True)
class Estimate:
    """A loss measured on random samples, and its standard error."""

    loss: float
    error: float


def estimate_loss(net: ExplicitNet | FirstLayer, samples: int, seed: int = 0) -> Estimate:
    """Measure the explicit net, or a first layer with the best g."""
    draw = np.random.default_rng(seed)
    layer = net.layer if isinstance(net, ExplicitNet) else net
    found = []
    for start in range(0, samples, BLOCK):
        count = min(BLOCK, samples - start)
        X, y = net.task.draw_tokens(count, draw), net.task.draw_subsets(count, draw)
        hidden = layer(X, y)
        output = net.output(hidden) if isinstance(net, ExplicitNet) else best_output(net, hidden)
        found.append(((output - select_tokens(X, y)) ** 2).sum(axis=1))
    losses = np.concatenate(found)
    return Estimate(float(losses.mean()), float(losses.std(ddof=1) / math.sqrt(samples)))

"""Laws of the coefficients lambda, and labels drawn from them."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError

from ._task import Task

Entries = Literal["gaussian", "rademacher"]
"""What the independent entries behind lambda are: standard normal, or fair signs."""


@dataclass(frozen=True, eq=False)
class Law:
    """lambda = mean + mixing xi, where xi has independent entries of mean 0 and variance 1."""

    mean: Float[np.ndarray, "m"]
    mixing: Float[np.ndarray, "m m"]
    entries: Entries = "gaussian"

    @property
    def second_moment(self) -> Float[np.ndarray, "m m"]:
        """E lambda lambda', the only thing about the law that the loss depends on."""
        return np.outer(self.mean, self.mean) + self.mixing @ self.mixing.T

    def draw(self, rng: np.random.Generator, count: int) -> Float[np.ndarray, "count m"]:
        """Coefficient vectors, one a row."""
        shape = (count, len(self.mean))
        gaussian = self.entries == "gaussian"
        xi = rng.standard_normal(shape) if gaussian else rng.choice([-1.0, 1.0], size=shape)
        return self.mean + xi @ self.mixing.T


def standard_law(m: int, entries: Entries = "gaussian") -> Law:
    """Independent entries of mean 0 and variance 1, as Assumption 1 has it."""
    return Law(np.zeros(m), np.eye(m), entries)


def shifted_law(m: int) -> Law:
    """N(1, 4 I), the out-of-domain law of Section 4."""
    return Law(np.ones(m), 2 * np.eye(m))


def correlated_law(m: int, correlation: float) -> Law:
    """Gaussian with mean 0 and variance 1, any two entries correlated, against Assumption 1."""
    if not -1 / max(m - 1, 1) < correlation < 1:
        raise InputError(
            f"a common correlation of {m} entries lies between {-1 / max(m - 1, 1):.4g} and 1; got "
            f"{correlation:g}"
        )
    matrix = (1 - correlation) * np.eye(m) + correlation * np.ones((m, m))
    return Law(np.zeros(m), np.linalg.cholesky(matrix))


def draw_labels(
    task: Task, law: Law, rng: np.random.Generator, count: int
) -> Float[np.ndarray, "count K"]:
    """Labels of all tokens, one instance a row.

    Given lambda they are independent, normal with mean lambda' z_k and variance tau ||lambda||^2.
    """
    coefficients = law.draw(rng, count)
    deviation = np.sqrt(task.tau) * np.linalg.norm(coefficients, axis=1, keepdims=True)
    noise = rng.standard_normal((count, task.K))
    return coefficients @ task.representations + deviation * noise


def loss_under(task: Task, law: Law, combined: Float[np.ndarray, "N K"]) -> float:
    """The population loss (9) at A-hat for any law of the coefficients.

    The noise of a label in the prompt is that of the target, so that copying it costs nothing.
    """
    moment = law.second_moment
    signal = task.Z @ combined - task.representations
    copied = np.sum(combined**2) + task.K - 2 * np.trace(combined[:, : task.N])
    noise = task.tau * np.trace(moment) * copied
    return float((np.sum(signal * (moment @ signal)) + noise) / (2 * task.K))


def label_moment(task: Task, law: Law) -> Float[np.ndarray, "N N"]:
    """E y y' of the labels in a prompt."""
    moment = law.second_moment
    return task.Z.T @ moment @ task.Z + task.tau * np.trace(moment) * np.eye(task.N)


def label_root(task: Task, law: Law) -> Float[np.ndarray, "N N"]:
    """R with R'R = E y y', formed without squares, so that small errors keep their digits."""
    noise = np.sqrt(task.tau * np.trace(law.second_moment)) * np.eye(task.N)
    return np.linalg.qr(np.vstack([law.mean @ task.Z, law.mixing.T @ task.Z, noise]))[1]


def prediction_error(task: Task, law: Law, combined: Float[np.ndarray, "N K"]) -> float:
    """E ||y-hat - y*||^2 / K at inference, y* being what the target A predicts (Section 4)."""
    away = combined - task.target
    return float(np.sum(away * (label_moment(task, law) @ away)) / task.K)

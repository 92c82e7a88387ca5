"""What can be predicted from a prompt: ridge regression, the paper's best choice, and Bayes."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError

from ._task import Task

FROM_PRIOR = 0.1
"""The part of the proposals for the posterior that comes from the prior; it bounds the weights."""


def ridge_coefficients(
    task: Task, labels: Float[np.ndarray, "... N"], regularizer: float
) -> Float[np.ndarray, "... m"]:
    """argmin over lambda of ||y - Z'lambda||^2 + r ||lambda||^2: (20) for m tau, (25) for N tau."""
    return labels @ task.ridge_map(regularizer)


def ridge_predictions(
    task: Task, labels: Float[np.ndarray, "... N"], regularizer: float
) -> Float[np.ndarray, "... K"]:
    """The given labels as they are, and ridge regression elsewhere: (22), (23)."""
    found = ridge_coefficients(task, labels, regularizer) @ task.Z_query
    return np.concatenate([labels, found], axis=-1)


def gap_to_best(task: Task) -> float:
    """E ||y* - y-best||^2 / K, between the regularizers m tau and N tau (Figure 3)."""
    change = task.ridge_map(task.ridge) - task.ridge_map(task.N * task.tau)
    away = change @ task.Z_query
    return float((np.sum((task.Z @ away) ** 2) + task.ridge * np.sum(away**2)) / task.K)


class Posterior(NamedTuple):
    """E[lambda | y] by importance sampling, and how much the sample is worth.

    Attributes:
        coefficients: the posterior mean.
        effective: the effective sample size.
    """

    coefficients: Float[np.ndarray, "m"]
    effective: float


def posterior_mean(
    task: Task, labels: Float[np.ndarray, "N"], *, samples: int, rng: np.random.Generator
) -> Posterior:
    """E[lambda | y] for standard normal lambda, whose noise tau ||lambda||^2 depends on lambda.

    The mean is not linear in the labels, so no one-layer transformer predicts it. Proposals come
    from the posterior with noise of the fixed variance m tau, whose tails are lighter than those of
    the true one, and a tenth of them from the prior: otherwise the weights have no variance. They
    are kept as logarithms.
    """
    if task.tau == 0:
        raise InputError("without noise the posterior is no density; use tau > 0")
    precision = task.Z @ task.Z.T / task.ridge + np.eye(task.m)
    factor = np.linalg.cholesky(precision)
    centre = np.linalg.solve(precision, task.Z @ labels / task.ridge)
    xi = rng.standard_normal((samples, task.m))
    near = centre + np.linalg.solve(factor.T, xi.T).T
    drawn = np.where(rng.random((samples, 1)) < FROM_PRIOR, xi, near)
    norms = np.sum(drawn**2, axis=1)
    residual = np.sum((labels - drawn @ task.Z) ** 2, axis=1)
    log_density = -residual / (2 * task.tau * norms) - task.N / 2 * np.log(norms) - norms / 2
    whitened = np.sum(((drawn - centre) @ factor) ** 2, axis=1)
    log_near = math.log1p(-FROM_PRIOR) + np.sum(np.log(np.diag(factor))) - whitened / 2
    log_weight = log_density - np.logaddexp(log_near, math.log(FROM_PRIOR) - norms / 2)
    log_weight -= np.logaddexp.reduce(log_weight)
    weight = np.exp(log_weight)
    return Posterior(weight @ drawn, math.exp(-float(np.logaddexp.reduce(2 * log_weight))))

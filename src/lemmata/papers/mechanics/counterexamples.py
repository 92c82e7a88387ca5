"""Datasets within a statement's literal hypotheses that break it, and what to compute there."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize

from .setting import Dataset

Direction = Float[np.ndarray, "tokens"]

SEARCH_DIGITS = 7
"""A search for a minimiser gives its direction to so many digits, the square root of rounding."""


def named(
    name: str, size: int, sequences: Sequence[Sequence[int]], labels: Sequence[int]
) -> Dataset:
    """A dataset with canonical embeddings."""
    return Dataset.from_samples(name, sequences, labels, np.eye(size))


def figure_2() -> Dataset:
    """Our reconstruction of Figure 2 from the facts in the text."""
    sequences = [[1, 2, 0], [3, 1, 0], [2, 3, 0], [0, 2, 1], [2, 0, 1], [0, 3, 1], [2, 3, 1]]
    return named("figure-2", 4, sequences, [2, 1, 2, 0, 2, 0, 1])


def chain() -> Dataset:
    """A total order 0 > 1 > 2: the edge from 0 to 2 has margin 2."""
    return named("chain", 3, [[0, 1, 2], [1, 2]], [0, 1])


def cycle_above_last() -> Dataset:
    """0 and 1 are tied above the last token, one of them with two samples to one."""
    return named("cycle-above-last", 3, [[0, 1, 2], [0, 1, 2], [1, 0, 2]], [0, 1, 1])


def purely_cyclic() -> Dataset:
    """One component and nothing below it: W^mm is 0."""
    return named("purely-cyclic", 2, [[0, 1], [0, 0, 1], [0, 1, 1]], [0, 0, 1])


def only_the_label() -> Dataset:
    """A sequence of its label alone: every W has the infimum of the risk."""
    return named("only-the-label", 1, [[0, 0]], [0])


def unrealizable() -> Dataset:
    """The third label is not in its sequence."""
    return named("unrealizable", 4, [[0, 1, 3], [1, 2, 3], [0, 2, 3]], [0, 1, 1])


def flat_loss_and_two_scores() -> Dataset:
    """Theorem 1: with l'(1) = 0 and labels of score 1 and 1/2, one sample decays twice as fast."""
    return named("flat-loss", 3, [[0, 2], [1, 2]], [0, 1])


def several_minimisers() -> Dataset:
    """Theorem 2: with l(u) = -u the risk of the cyclic subdata is constant."""
    return named("several-minimisers", 3, [[1, 2, 0], [1, 0]], [0, 1])


def several_minimisers_excess(w: Direction) -> float:
    """log(risk - infimum) for l(u) = -u; with p the share of 0 against 1 and d that of 2 against
    both, the risk is -(1 - p d / (1 + d)) / 2.
    """
    both = np.logaddexp(w[0], w[1])
    odds = w[2] - both
    return float(np.log(0.5) + (w[0] - both) + odds - np.logaddexp(0, odds))


def two_decay_rates() -> Dataset:
    """Theorem 2: under (1 - u)^2 a sample without ties decays twice as fast as one with."""
    return named("two-decay-rates", 5, [[0, 1, 4], [0, 1, 4], [3, 4]], [0, 1, 3])


def two_decay_rates_excess(w: Direction) -> float:
    """log(risk - 1/6) for (1 - u)^2, from p, the share of 0 against 1, and the odds of 4."""
    both = np.logaddexp(w[0], w[1])
    q = 1 / (1 + np.exp(w[0] - w[1]))
    log_y = w[4] - both - np.logaddexp(0, w[4] - both)
    y = np.exp(log_y)
    tilt = 2 * (q - 0.5) ** 2
    sides = [(1 - q, q), (q, 1 - q)]
    linear = sum(2 * (1 - p) * p for p, _ in sides)
    square = sum(p * p for p, _ in sides)
    log_alone = 2 * (w[4] - w[3] - np.logaddexp(0, w[4] - w[3]))
    terms = [log_y + np.log(linear + square * y), log_alone]
    if tilt > 0:
        terms.append(np.log(tilt))
    return float(np.logaddexp.reduce(terms) - np.log(3))


def frozen_below() -> tuple[Dataset, Float[np.ndarray, "dimension dimension"]]:
    """Eq. (13): a part in S_cyc that lifts token 3, which is tied with nothing.

    0 and 1 are tied after 4, and the embedding of 3 leans on their difference.
    """
    embeddings = np.eye(7)
    embeddings[3] += 3 * (embeddings[0] - embeddings[1])
    inside = np.outer(np.eye(7)[0] - np.eye(7)[1], np.eye(7)[4])
    sequences = [[0, 1, 4], [0, 1, 4], [2, 3, 4], [5, 6]]
    dataset = Dataset.from_samples("frozen-below", sequences, [0, 1, 2, 5], embeddings)
    return dataset, inside


def sphere_cosines(
    dataset: Dataset,
    log_excess: Callable[[Direction], float],
    radii: Sequence[float] | Float[np.ndarray, "radii"],
    basis: Float[np.ndarray, "rank tokens"] | None = None,
) -> Float[np.ndarray, "radii"]:
    """The cosine with W^mm of the minimiser of the risk on each sphere.

    All samples share their last token, so that W is one column, in the span of the basis if one is
    given. The first sphere is searched from several starts around W^mm, each later one from where
    the one before ended.
    """
    whole = dataset.target[:, dataset.data.samples[0].query]
    basis = np.eye(len(whole)) if basis is None else basis
    goal = basis @ whole / np.linalg.norm(whole)
    starts = goal + np.random.default_rng(0).standard_normal((4, len(goal))) / 2
    cosines = []
    for radius in radii:

        def objective(z: np.ndarray, radius: float = float(radius)) -> float:
            return log_excess(radius * (z / np.linalg.norm(z)) @ basis)

        limits = {"xatol": 1e-10, "fatol": 1e-10, "maxiter": 20_000, "maxfev": 20_000}
        tries = [minimize(objective, z, method="Nelder-Mead", options=limits) for z in starts]
        best = min(tries, key=lambda result: result.fun).x
        starts = (best / np.linalg.norm(best))[None]
        cosines.append(float(starts[0] @ goal))
    return np.round(cosines, SEARCH_DIGITS)

"""Datasets within a statement's literal hypotheses that break it, and what to compute there."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize

from lemmata.settings import Example, first_letters

from .setting import Dataset


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


def two_scores() -> Dataset:
    """Theorem 1: with l'(1) = 0 and labels of score 1 and 1/2, one sample decays faster."""
    return named("two-scores", 3, [[0, 2], [1, 2]], [0, 1])


def several_minimisers() -> Dataset:
    """Theorem 2: with l(u) = -u the risk of the cyclic subdata is constant."""
    return named("several-minimisers", 3, [[1, 2, 0], [1, 0]], [0, 1])


def several_minimisers_gaps(
    radii: Sequence[float],
) -> tuple[Dataset, Float[np.ndarray, "radii"]]:
    """1 - corr(W_R, W^mm) there for l(u) = -u.

    With p the share of 0 against 1 and d the odds of 2 against both, the risk is
    -(1 - p d / (1 + d)) / 2, and W is one column; each sphere is searched from where the one
    before ended.
    """
    dataset = several_minimisers()
    goal = dataset.target[:, 0] / np.linalg.norm(dataset.target)

    def log_excess(z: np.ndarray, radius: float) -> float:
        w = radius * z / np.linalg.norm(z)
        both = np.logaddexp(w[0], w[1])
        return float(w[0] - both + w[2] - both - np.logaddexp(0, w[2] - both))

    limits = {"xatol": 1e-10, "fatol": 1e-10, "maxiter": 20_000, "maxfev": 20_000}
    starts = goal + np.random.default_rng(0).standard_normal((4, 3)) / 2
    gaps = []
    for radius in radii:
        tries = [minimize(log_excess, z, radius, "Nelder-Mead", options=limits) for z in starts]
        best = min(tries, key=lambda result: result.fun).x
        starts = (best / np.linalg.norm(best))[None]
        gaps.append(1 - float(starts[0] @ goal))
    return dataset, np.array(gaps)


def two_decay_rates() -> Dataset:
    """Theorem 2: under (1 - u)^2 a sample without ties decays twice as fast as one with."""
    return named("two-decay-rates", 3, [[0, 1, 2], [0, 1, 2], [0, 1]], [0, 1, 0])


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


def idle_edge() -> Dataset:
    """1 > 2 has a margin of 1 that W^mm would have without asking for it: its multiplier is 0."""
    return named("idle-edge", 4, [[0, 1, 2], [3, 2]], [1, 3])


def two_cycles() -> Dataset:
    """0 and 1 are tied, and so are 2 and 3 below them, in one sequence."""
    sequences = [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [2, 3, 4], [2, 3, 4]]
    return named("two-cycles", 5, sequences, [0, 1, 2, 3])


def crowd() -> Dataset:
    """Five tokens close together on one side of token 0 and one on the other, as unit vectors."""
    angles = np.deg2rad([0.0, 60.0, *(-60.0 + np.arange(5))])
    embeddings = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return Dataset.from_samples("crowd", [[0, 1]], [0], embeddings)


POLITE = """\
salt pepper please salt
pepper salt please salt
salt pepper please pepper
pepper please pepper
bread salt pepper please salt
bread thanks bread
bread pepper thanks bread
salt pepper thanks pepper"""


def example(dataset: Dataset, title: str, says: str) -> Example:
    """A dataset as sentences of letters, the label last."""
    lines = [
        [*sample.tokens, sample.label]
        for sample in dataset.data.samples
        for _ in range(sample.count)
    ]
    return Example(title, says, first_letters(lines))


EXAMPLES = (
    Example(
        "salt, pepper, bread",
        "After 'please', salt and pepper beat each other and have to share; after 'thanks' there "
        "is a clear order.",
        POLITE,
    ),
    example(chain(), "a chain", "a beats b, and b beats c: the gap between a and c is twice 1."),
    example(figure_2(), "the paper's Figure 2", "Two last tokens, each with an order of its own."),
    example(
        cycle_above_last(),
        "a tie above the last word",
        "a and b beat each other; b occurs twice as often and gets two thirds.",
    ),
    example(
        purely_cyclic(),
        "nothing but a tie",
        "No direction grows: the weights stay finite, and Theorem 3 has nothing to say.",
    ),
    example(
        unrealizable(),
        "an answer out of reach",
        "The third label does not occur in its sentence: no attention can select it.",
    ),
    example(
        idle_edge(),
        "an edge that costs nothing",
        "One pair gets its margin for free: its multiplier is 0.",
    ),
    example(
        two_cycles(), "two ties, one above the other", "Two pairs that share, in one sequence."
    ),
)
"""Data to begin with: the paper's own, and what breaks its statements."""

"""Runs that several modules look at."""

import numpy as np
import pytest
from oracles.golden import cases

from lemmata.papers.convergence.setting import Dataset, TwoStage, TwoStageRun
from lemmata.tokens import TokenData


def dataset(name: str) -> Dataset:
    """A stored dataset as a user would give it: tokens numbered by first appearance."""
    case = cases()[name]
    return Dataset(name, case.from_sentences or case.data)


UNEVEN = Dataset(
    "uneven",
    TokenData.from_samples(
        [(x, y, 1, "") for x, y in ("ab", "bc", "cd", "da")]
        + [("abbd", "b", 4, ""), ("cdd", "d", 1, ""), ("dcaa", "b", 2, ""), ("cab", "d", 5, "")]
    ),
)
"""Two optimal tokens under one query, Assumption 3 broken, unequal frequencies."""

SILENT = Dataset.from_sentences("silent", ["ab", "ba"])
"""No input has two distinct tokens: there is nothing for attention to learn."""

SKEWED = Dataset(
    "skewed",
    TokenData.from_sentences(["aba", "bab"]),
    log_frequency=np.array([np.log(0.25)] * 3 + [-1e9]),
)
"""The frequency of [b a] is e^-1000000000."""


MEMBERS = [*map(dataset, ("example1", "lemma7_witness", "random_K6")), UNEVEN, SILENT, SKEWED]


@pytest.fixture(scope="session")
def trained() -> dict[str, tuple[TwoStageRun, int]]:
    """Section 7's step sizes, 900 + 900 steps, all recorded; each dataset with its row."""
    found = TwoStage().run(MEMBERS)
    return {member.name: (found, i) for i, member in enumerate(MEMBERS)}

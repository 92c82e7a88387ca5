"""What a plan alone tells about the restricted isometry of its encodings."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import lemmata as lm

PLAN = lm.draw("selection")[0]


def plan(E: np.ndarray | None = None, *, T: int = 5, q: int = 2, **more) -> object:
    task = replace(PLAN.task, T=T if E is None else E.shape[1], q=q)
    d_e = more.pop("d_e", None) if E is None else E.shape[0]
    return replace(PLAN, task=task, encodings=E, d_e=d_e, **more)


def is_doubtful(given: object) -> bool:
    return "isometry_not_certain" in [problem.code for problem in given.problems]


def isometry(E: np.ndarray, q: int) -> float:
    """By eigenvalues and singular values over all sets."""
    gram, T = E.T @ E, E.shape[1]
    worst = 0.0
    for S in combinations(range(T), q):
        block = gram[np.ix_(S, S)] - np.eye(q)
        worst = max(worst, np.abs(np.linalg.eigvalsh(block)).max())
        rest = [i for i in range(T) if i not in S]
        for other in combinations(rest, min(2 * q, len(rest))):
            worst = max(worst, np.linalg.norm(gram[np.ix_(S, other)], 2))
    return float(worst)


@pytest.mark.parametrize("seed", range(8))
def test_given_encodings_are_measured(seed: int) -> None:
    draw = np.random.default_rng(seed)
    E = np.eye(7)[:, :6] + 10.0 ** draw.uniform(-2.5, -0.5) * draw.standard_normal((7, 6))
    E /= np.linalg.norm(E, axis=0)
    assert is_doubtful(plan(E)) is (isometry(E, 2) >= 0.1)


def test_one_hot_and_orthogonal_encodings_are_isometries() -> None:
    assert not is_doubtful(plan())
    assert not is_doubtful(plan(np.linalg.qr(np.random.default_rng(0).standard_normal((8, 8)))[0]))
    assert is_doubtful(plan(2 * np.eye(5)))  # not of unit length


@pytest.mark.parametrize(("q", "mu", "doubtful"), [(1, 0.08, True), (2, 0.06, False)])
def test_inner_products_that_add_up_are_measured(q: int, mu: float, doubtful: bool) -> None:
    """A vector along two others by mu: delta = sqrt(2) mu, while mu < 1/10 < sqrt(2) q mu."""
    E = np.eye(5)
    E[:, 4] = [mu, mu, 0.0, 0.0, np.sqrt(1 - 2 * mu**2)]
    assert isometry(E, q) == pytest.approx(np.sqrt(2) * mu, rel=1e-12)
    assert is_doubtful(plan(E, q=q)) is doubtful


def test_random_encodings_are_within_their_threshold() -> None:
    """sqrt(2) q mu < 1/10 for q = 2 and mu below 0.0353."""
    assert not is_doubtful(plan(d_e=1000, threshold=0.035))
    assert is_doubtful(plan(d_e=1000, threshold=0.036))


def test_lemmas_can_take_it_for_granted() -> None:
    @lm.claim(
        "at least four positions", setting="selection", hypotheses=["isometry"], on="instances"
    )
    def four(data):
        return lm.at_least(data.each(lambda p: p.T), 4)

    tilted = plan(np.array([[1.0, 0.9, 0.9], [0.0, 0.43, -0.43]]), q=1)
    assert lm.check(four, data=[tilted])[0].status == "inapplicable"
    assert lm.check(four, data=[plan(T=3, q=1)])[0].status == "fails"

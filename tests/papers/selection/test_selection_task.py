"""The task: subsets, tokens, and what predicting nothing costs."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from lemmata._errors import InputError
from lemmata.papers.selection.setting import Task, select_tokens


@pytest.mark.parametrize(("T", "q"), [(1, 1), (4, 4), (6, 1), (6, 3), (9, 2)])
def test_all_subsets_are_the_combinations_in_order(T, q):
    task = Task(T, q, 1)
    assert [tuple(row) for row in task.all_subsets().tolist()] == list(combinations(range(T), q))
    assert task.subset_count == len(list(combinations(range(T), q)))


@pytest.mark.parametrize(("T", "q"), [(6, 3), (7, 1), (5, 4)])
def test_drawn_subsets_are_uniform(T, q):
    task = Task(T, q, 1)
    y = task.draw_subsets(20_000, np.random.default_rng(1))
    every, counts = np.unique(y, axis=0, return_counts=True)
    np.testing.assert_array_equal(every, task.all_subsets())
    assert chisquare(counts).pvalue > 1e-3


def test_a_subset_of_all_positions_is_all_positions():
    y = Task(4, 4, 1).draw_subsets(3, np.random.default_rng(0))
    np.testing.assert_array_equal(y, [[0, 1, 2, 3]] * 3)


@pytest.mark.parametrize("task", [Task(9, 2, 3), Task(5, 5, 1), Task(12, 4, 2)])
def test_predicting_zero_costs_d_over_2q(task):
    draw = np.random.default_rng(2)
    X, y = task.draw_tokens(40_000, draw), task.draw_subsets(40_000, draw)
    cost = 0.5 * (select_tokens(X, y) ** 2).sum(axis=1)
    error = cost.std() / np.sqrt(len(cost))
    assert error < 0.01 * task.zero_loss
    assert abs(cost.mean() - task.zero_loss) < 3.5 * error


def test_tokens_are_standard_normal_in_the_shape_of_x():
    X = Task(5, 2, 3).draw_tokens(2_000, np.random.default_rng(3))
    assert X.shape == (2_000, 3, 5)
    assert kstest(X.ravel(), "norm").pvalue > 1e-3


def test_the_target_is_the_mean_of_the_chosen_columns():
    X = np.arange(2 * 3 * 4.0).reshape(2, 3, 4)
    y = np.array([[0, 3], [1, 2]])
    expected = [(X[0][:, 0] + X[0][:, 3]) / 2, (X[1][:, 1] + X[1][:, 2]) / 2]
    np.testing.assert_array_equal(select_tokens(X, y), expected)
    Y = Task(4, 2, 3).indicators(y)
    np.testing.assert_array_equal(Y, [[1, 0, 0, 1], [0, 1, 1, 0]])
    np.testing.assert_allclose(np.einsum("ndt,nt->nd", X, Y) / 2, expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((3, 4, 1), "q = 4 positions cannot be chosen out of T = 3"),
        ((0, 1, 1), "T must be a positive whole number; got 0"),
        ((3, 0, 1), "q must be a positive whole number; got 0"),
        ((3, 1, -2), "d must be a positive whole number; got -2"),
        ((True, 1, 1), "T must be a positive whole number; got True"),
        ((3.0, 1, 1), r"T must be a positive whole number; got 3\.0"),
    ],
)
def test_tasks_that_are_none(sizes, message):
    with pytest.raises(InputError, match=message):
        # past the type checker of the tests, as a user would be
        Task.__post_init__(unchecked(*sizes))


def unchecked(T, q, d) -> Task:
    task = object.__new__(Task)
    for name, value in (("T", T), ("q", q), ("d", d)):
        object.__setattr__(task, name, value)
    return task


def test_too_many_subsets_are_not_listed():
    assert Task(263, 3, 1).subset_count < 3_000_000 < Task(264, 3, 1).subset_count == 3_031_864
    with pytest.raises(InputError, match="3031864 subsets of size 3 of 264 positions are too many"):
        Task(264, 3, 1).all_subsets()

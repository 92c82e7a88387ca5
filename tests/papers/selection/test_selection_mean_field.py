"""The mean field against a plain recursion, and against SGD runs of another program."""

from dataclasses import replace

import numpy as np
import pytest
from oracles.sparse_selection import FACTS

from lemmata._errors import InputError
from lemmata.papers.selection.experiments import runs
from lemmata.papers.selection.setting import Task, Training, near_orthogonal_family
from lemmata.papers.selection.setting._mean_field import mean_field, sample_attention

SMALL = Training(
    Task(8, 2, 3),
    12,
    threshold=0.7,
    rate=2.0,
    later_rate=0.5,
    change=25,
    steps=60,
    record=(0, 10, 25, 26, 40, 60),
    tests=((9, 3),),
)
TABLE = 1e-6
"""What interpolation between tabulated moments of attention may cost."""

ENSEMBLE = {"members": 6, "subsets": 5, "seed": 3}


def _gaps(T: int, q: int) -> np.ndarray:
    """1 - <e_i, e_y> outside y, of the ensemble that the mean field draws."""
    E = near_orthogonal_family(6, SMALL.d_e, SMALL.longest, SMALL.threshold, 3)
    return np.asarray(sample_attention(E[:, :, :T], q, 5, "outside", 3).gaps)


def _loss(gaps: np.ndarray, q: int, d: int, average: str, alpha: float, C: float) -> float:
    """(d/2) E ||Y/q - alpha S||^2, attention written out position by position."""
    weights = np.concatenate([np.ones((len(gaps), q)), np.exp(-C * gaps)], axis=1)
    S = weights / weights.sum(axis=1, keepdims=True)
    target = np.concatenate([np.full(q, 1 / q), np.zeros(gaps.shape[1])])
    if average == "inside":
        # By symmetry the mean attention is one number on the subset and another outside.
        on, off = S[:, :q].mean(), S[:, q:].mean()
        S = np.concatenate([np.full(q, on), np.full(gaps.shape[1], off)])[None]
    return float(0.5 * d * np.mean(np.sum((target - alpha * S) ** 2, axis=1)))


@pytest.mark.parametrize("average", ["outside", "inside"])
def test_it_is_descent_on_the_mean_loss_with_a_change_of_step_size(average):
    """Slopes by central differences; alpha moves by 1/d of them, C by 1/d_e."""
    found = mean_field(SMALL, average=average, **ENSEMBLE)
    d, q = SMALL.task.d, SMALL.task.q
    gaps, others = _gaps(8, 2), {task: _gaps(*task) for task in found.losses}
    alpha = C = 0.0
    h = 1e-5
    for t in range(SMALL.steps + 1):
        if t in found.steps:
            at = int(np.searchsorted(found.steps, t))
            assert found.alpha[at] == pytest.approx(alpha, abs=TABLE)
            assert found.C[at] == pytest.approx(C, abs=TABLE)
            for (T, size), losses in found.losses.items():
                known = _loss(others[T, size], size, d, average, alpha, C)
                assert losses[at] == pytest.approx(known, abs=TABLE)
        rate = 2.0 if t < 25 else 0.5
        by_alpha, by_C = (
            (
                _loss(gaps, q, d, average, alpha + a, C + c)
                - _loss(gaps, q, d, average, alpha - a, C - c)
            )
            / (2 * h)
            for a, c in ((h, 0.0), (0.0, h))
        )
        alpha, C = alpha - rate * by_alpha / d, C - rate * by_C / SMALL.d_e
    assert set(found.losses) == {(8, 2), (9, 3)}


def test_it_predicts_the_papers_run():
    """Reference values at the end of 100,000 steps, of SGD and of a mean field of 2,000 pairs.

    An ensemble of that size knows C to about 0.005; SGD is behind by about 1,000 steps, which is
    0.008 in C.
    """
    how = replace(
        runs.Online().of(runs.PAPER, "stochastic"),
        record=(0, 50_000, 100_000),
        tests=((250, 3), (400, 3)),
    )
    found = mean_field(how)
    assert found.alpha[-1] == pytest.approx(1.2040, abs=0.003)
    assert found.C[-1] == pytest.approx(6.0916, abs=0.025)
    assert found.losses[200, 3][-1] == pytest.approx(0.00114, rel=0.04)
    reference = FACTS["sgd_reference_runs"]["stochastic"]
    for column, steps in ((1, "50000"), (2, "100000")):
        assert found.alpha[column] == pytest.approx(reference[steps]["alpha"], abs=0.005)
        assert found.C[column] == pytest.approx(reference[steps]["C"], abs=0.03)
    for T in (250, 400):
        known = reference["100000"]["ood_xfree"][str(T)]
        assert found.losses[T, 3][-1] == pytest.approx(known, rel=0.08)


def test_it_predicts_the_reduced_run():
    """Means of five seeds of another program, within their errors and that of the ensemble."""
    size = replace(runs.QUICK, lengths=(80,), subset_sizes=(), every=1_000)
    found = mean_field(runs.Online().of(size, "stochastic"))
    for steps, known in FACTS["sgd_reduced_ci"]["stochastic"].items():
        column = int(np.searchsorted(found.steps, int(steps)))
        late = int(steps) >= 3_000
        assert found.C[column] == pytest.approx(known["C"][0], abs=0.02 if late else 0.06)
        assert found.alpha[column] == pytest.approx(known["alpha"][0], abs=0.015)
        for T in (40, 80):
            loss, spread = known[f"xfree_T{T}"]
            error = 3 * spread / np.sqrt(5) + 0.05 * loss
            assert found.losses[T, 2][column] == pytest.approx(loss, abs=error)


@pytest.mark.parametrize(
    "change",
    [{"encodings": "fixed"}, {"algorithm": "adam"}, {"initial": 0.1}, {"x_query": "random"}],
)
def test_other_runs_have_no_such_mean_field(change):
    with pytest.raises(InputError, match="predicts SGD from zero"):
        mean_field(replace(SMALL, **change), **ENSEMBLE)


def test_growth_beyond_the_table_is_an_error(monkeypatch):
    from lemmata.papers.selection.setting import _mean_field

    monkeypatch.setattr(_mean_field, "HIGHEST", 0.5)
    with pytest.raises(InputError, match=r"beyond 0\.5"):
        mean_field(SMALL, **ENSEMBLE)

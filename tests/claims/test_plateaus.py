"""Plateaus of real training, which look like limits: true lemmas are not refuted by them."""

import numpy as np
import pytest

import lemmata as lm
from lemmata.claims import Status, judge, tends_to
from lemmata.settings import Evidence

T = np.unique(np.rint(np.geomspace(1, 1e4, 60)))


class Curve:
    name = "curve"
    problems = ()


def judged(curve: np.ndarray, *, waits: bool) -> Status:
    return judge(tends_to(curve[None], 0.0, waits=waits), Evidence((Curve(),), T)).status


@pytest.mark.parametrize(("gone", "refuted"), [(0.05, False), (0.9, False), (1.1, True)])
def test_a_limit_that_waits_is_refuted_only_after_more_than_half_of_the_way(
    gone: float, refuted: bool
) -> None:
    """The curve settles at 1; how far it has come is compared with what is left."""
    curve = 1.0 + gone / T**2
    assert judged(curve, waits=False) is Status.FAILS
    assert judged(curve, waits=True) is (Status.FAILS if refuted else Status.UNDECIDED)


def test_the_loss_of_selection_waits_where_alpha_has_adapted() -> None:
    """Below d/(2q) by a tenth, alpha rests for T^2 / (eta d) steps; then the loss vanishes."""
    plan = lm.selection.Plan("plateau", lm.selection.Task(139, 12, 1), 0.05, 1e-3)

    @lm.claim("the loss vanishes", setting="selection", on=lm.experiment("selection", steps=20_000))
    def vanishes(run):
        return lm.tends_to(run.loss, 0.0)

    run = lm.train(plan, steps=20_000)
    assert 0.8 < run.loss[0, -1] / run.loss[0, 0] < 0.95
    assert lm.check(vanishes, data=plan)[0].status is Status.UNDECIDED


def test_a_rare_input_of_convergence_waits() -> None:
    """Its share is e^-50: 900 steps are over before it is heard of."""
    content = ([["a"], ["a", "b"], ["a", "b", "a"], ["b"]], ["b", "a", "b", "a"])
    numbers = {"a": 0, "b": 1}
    sequences = [[numbers[token] for token in sequence] for sequence in content[0]]
    labels = [numbers[label] for label in content[1]]
    data = lm.convergence.Dataset.from_samples(
        "rare", sequences, labels, log_frequencies=[0.0, 0.0, -50.0, 0.0]
    )

    @lm.claim("it turns to W_kq*", setting="convergence")
    def turns(run):
        return lm.tends_to(run.one_minus_correlation, 0.0)

    verdict = lm.check(turns, data=data)[0]
    assert verdict.status is Status.UNDECIDED
    assert "too short" in verdict.reason

"""Paths of any loss, what proves that they turn away from W^mm, and log-frequencies."""

from dataclasses import replace
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp, mpf

import lemmata as lm
from lemmata._errors import InputError
from lemmata._verbs import find_claims
from lemmata.attention._minimise import _stationary
from lemmata.papers.mechanics.claims.rates import per_fold
from lemmata.papers.mechanics.counterexamples import (
    named,
    two_decay_rates,
    two_scores,
)
from lemmata.papers.mechanics.setting import SETTING, Dataset, Objective, ball_path, tied_balls
from lemmata.papers.mechanics.setting._ball import _whole
from lemmata.papers.mechanics.setting._heads import EXPONENTIAL
from lemmata.search import read_back


def exact(claim: str, dataset: Dataset, **options: str) -> tuple[arb, arb]:
    """Both exponents that the second evaluation of a statement compares."""
    (found,) = find_claims(f"mechanics/{claim}")
    assert found.exact is not None
    compared = found.exact(dataset, options)
    return compared.left[0], compared.right[0]


def test_a_flat_loss_is_proved_to_turn_where_decay_rates_differ() -> None:
    """Column 2 is (1, 1, -2)/3 and column 1 is (1, -1)/2: |W^mm|^2 = 2/3 + 1/2 = 7/6.

    The tied samples fall like e^-m, the other one like e^-2m for (1 - u)^2, so that its margin may
    be half as large: 2/3 + 1/8 = 19/24.
    """
    best, other = exact("lemma-4", two_decay_rates(), loss="squared")
    assert best.overlaps((arb(6) / 7).sqrt())
    assert abs(float(other) - np.sqrt(24 / 19)) < 1e-12
    best, other = exact("theorem-2", two_decay_rates(), loss="flat")
    assert abs(float(other) - 1 / np.sqrt(2 / 3 + 1 / 18)) < 1e-12
    best, other = exact("theorem-2", two_decay_rates(), loss="linear")
    assert best.overlaps(other)


def test_nothing_is_proved_where_the_finite_limit_may_not_exist() -> None:
    three = named("three", 4, [[0, 1, 3], [1, 2, 3], [2, 0, 3], [0, 3, 1]], [0, 1, 2, 0])
    assert exact("theorem-2", three, loss="flat") == (0, 0)
    assert exact("lemma-4", three, loss="flat")[0] < exact("lemma-4", three, loss="flat")[1]


def test_only_a_score_of_exactly_one_is_flat() -> None:
    for length, flat in ((1.0, True), (1.0 + 2**-50, False)):
        E = np.diag([length, 2.0, 1.0])
        dataset = Dataset.from_samples("scores", [[0, 2], [1, 2]], [0, 1], E)
        best, other = exact("theorem-1", dataset, loss="flat")
        assert (best < other) is flat
        best, other = exact("theorem-1", dataset, loss="linear")
        assert best.overlaps(other)


def test_paths_of_losses() -> None:
    radii = [20.0, 50.0, 120.0]
    path = ball_path(two_scores(), Objective("flat", np.diag([1.0, 0.5, 1.0])), radii)
    np.testing.assert_allclose(1 - path.cosine_gap(two_scores().target), np.sqrt(3) / 2, atol=1e-4)
    dataset = two_decay_rates()
    path = ball_path(dataset, Objective("squared"), radii, np.zeros((3, 3)))
    # (1, 1, -2)/3 and (1, -1)/4 against (1, 1, -2)/3 and (1, -1)/2
    cosine = (2 / 3 + 1 / 4) / np.sqrt(19 / 24) / np.sqrt(7 / 6)
    assert 1 - path.cosine_gap(dataset.target)[-1] == pytest.approx(cosine, abs=2e-3)
    with pytest.raises(InputError, match="ties"):
        ball_path(dataset, Objective("squared"), radii)
    with pytest.raises(InputError, match="alone"):
        Objective("cross-entropy")


def test_no_path_where_one_token_of_several_has_a_higher_score_than_the_label() -> None:
    E = np.array([[1.0, 0.0], [0.8, 0.6], [2.0, 0.1]])
    dataset = Dataset.from_samples("long", [[0, 1, 2]], [0], E)
    with pytest.raises(InputError, match="Assumption 3"):
        ball_path(dataset, Objective("flat", "embedding"), [1.0])


@pytest.mark.parametrize("loss", ["linear", "squared", "flat", "log", "exponential"])
def test_the_excess_over_the_infimum_and_its_gradient(loss: str) -> None:
    """Against the loss as it is written, in 60 digits."""
    dataset = replace(
        named("two", 3, [[0, 1, 2], [1, 1, 2]], [0, 1]), log_frequency=np.log([0.25, 0.75])
    )
    written = {
        "linear": lambda u: -u,
        "squared": lambda u: (1 - u) ** 2,
        "flat": lambda u: mp.atan(u - 1) - (u - 1),
        "log": lambda u: -mp.log(u),
        "exponential": lambda u: mp.exp(-u),
    }[loss]
    cells = list(dataset.cells)

    def value(logits: list[mpf]) -> mpf:
        power = {cell: mp.exp(x) for cell, x in zip(cells, logits, strict=True)}
        total = mpf(0)
        for s, weight in zip(dataset.data.samples, (mpf(1) / 4, mpf(3) / 4), strict=True):
            mass = sum(power[t, s.query] for t in s.tokens)
            own = sum(power[t, s.query] for t in s.tokens if t == s.label)
            total += weight * (written(own / mass) - written(mpf(1)))
        return mp.log(total)

    with mp.workdps(400):
        step = mpf(2) ** -60
        for scale in (0.3, 5.0, 100.0):
            logits = [mpf(scale * x) for x in (1.0, 0.25, -0.5)]
            found, slope = _whole(dataset, Objective(loss))(np.array(logits, dtype=float))
            assert found == pytest.approx(float(value(logits)), rel=1e-12)
            for i in range(3):
                ahead, behind = list(logits), list(logits)
                ahead[i] += step
                behind[i] -= step
                expected = (value(ahead) - value(behind)) / (2 * step)
                assert slope[i] == pytest.approx(float(expected), abs=1e-10)


def test_the_exponential_loss_near_its_infimum_and_far_from_it() -> None:
    """With scores of 1e8 the loss e^-u does not fit into a float, but its logarithm does."""
    points = [(0.5, -300.0), (1.0, -41.0), (2.0, -1.0), (2.0, 2.0), (1e8, 10.0), (1e8, 18.0)]
    top, gaps = jnp.array([t for t, _ in points]), jnp.array([g for _, g in points])
    with mp.workdps(200):
        expected = [
            float(mp.exp(g) - mpf(t) + mp.log(-mp.expm1(-mp.exp(mpf(g))))) for t, g in points
        ]
    np.testing.assert_allclose(EXPONENTIAL.log_excess(top, gaps), expected, rtol=1e-14)


def rare(*logs: float) -> Dataset:
    """Ties decided by two samples, and one without a tie."""
    return replace(two_decay_rates(), log_frequency=np.array(logs))


@pytest.mark.parametrize("log", [-3.0, -50.0, -1_000.0, -10_000.0])
def test_the_finite_limit_with_rare_samples(log: float) -> None:
    """a wins against b e^-log times as often: their logits differ by that."""
    for dataset in (rare(0.0, log, -2.0), rare(-7.0, log - 7.0, 0.0)):
        W = dataset.W_cyc
        assert W[0, 2] - W[1, 2] == pytest.approx(-log, rel=1e-15)
        E = np.random.default_rng(0).standard_normal((3, 4))
        W = replace(dataset, embeddings=E).W_cyc
        assert (E[0] - E[1]) @ W @ E[2] == pytest.approx(-log, rel=1e-12)


def test_the_finite_limit_of_a_cycle_of_rare_samples_in_balls() -> None:
    sequences, labels = [[0, 1, 3], [1, 2, 3], [0, 2, 3], [0, 1, 2, 3]], [0, 1, 2, 1]
    logs = np.array([0.0, -40.0, -90.0, -300.0])
    dataset = replace(named("cycle", 4, sequences, labels), log_frequency=logs)
    old, ctx.prec = ctx.prec, 5_000
    try:
        balls = tied_balls(dataset)
        assert balls is not None
        middle = [float(x.mid()) for x in balls.limit.entries()]
    finally:
        ctx.prec = old
    np.testing.assert_allclose(dataset.W_cyc.ravel(), middle, rtol=1e-13, atol=1e-12)


def test_log_frequencies_are_counts_where_both_can_be_said(tmp_path) -> None:
    counted = Dataset.from_sentences("counted", {"a b c a": 6, "a b c b": 2, "b a b": 1})
    logs = np.log([6.0, 2.0, 1.0]) - 5
    plain = replace(counted.data, samples=tuple(replace(s, count=1) for s in counted.data.samples))
    logged = replace(counted, data=plain, log_frequency=logs)
    again = read_back(SETTING, logged)
    np.testing.assert_array_equal(again.log_frequency, logs)
    assert "counts" not in logged.document()
    runs = [lm.train([d], steps=40, algorithm="gd", rate=0.7) for d in (counted, again)]
    for name in ("norm", "log_loss", "cyclic_distance"):
        ours, theirs = (np.asarray(getattr(run, name)) for run in runs)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
    assert again.lipschitz_tight == pytest.approx(counted.lipschitz_tight, rel=1e-14)
    assert again.log_total == pytest.approx(np.log(9))
    assert np.exp(again.log_tied_share) == pytest.approx(float(Fraction(8, 9)))


def test_training_with_rare_samples_agrees_with_balls() -> None:
    dataset, steps = rare(0.0, -200.0, -3.0), np.array([0, 1, 40])
    options = {"algorithm": "gd", "rate": 1.0}
    run = lm.train([dataset], steps=40, record=(0, 1, 40), **options)
    old, ctx.prec = ctx.prec, 3_000
    try:
        columns = SETTING.space.replay(dataset, options, steps)
    finally:
        ctx.prec = old
    assert columns is not None
    for name in ("log_loss", "norm", "cyclic_distance", "log_gradient_norm"):
        middle = [float(ball.mid()) for ball in columns[name]]
        np.testing.assert_allclose(np.asarray(getattr(run, name))[0], middle, rtol=1e-10)


def test_rare_samples_need_independent_embeddings() -> None:
    flat = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    with pytest.raises(InputError, match="independent"):
        _ = replace(rare(0.0, -1_000.0, 0.0), embeddings=flat).correction
    assert replace(rare(0.0, -5.0, 0.0), embeddings=flat).correction.norm > 0


def test_growth_per_fold() -> None:
    x = np.array([[0.0, 1.0, 10.0, 100.0, 1_000.0]])
    growth = per_fold(3 * np.log(np.maximum(x, 1.0)) + 7, x, 10.0)
    np.testing.assert_allclose(growth[0, 2:], 3.0)
    assert np.isnan(growth[0, :2]).all()


@pytest.mark.parametrize(
    "name",
    ["own/normalized-rate", "own/orbit", "own/descent-rate", "own/block", "theorem-3/repaired"],
)
def test_a_short_run_on_the_users_data_breaks_no_limit(name: str) -> None:
    skewed = Dataset.from_sentences("skewed", {"a b a": 10**6, "b a b": 1, "a c b c": 3})
    tied = Dataset.from_sentences("tied", {"a b a": 3, "a b b": 1, "c a b c": 5, "c b a b": 2})
    for dataset in (skewed, tied, rare(0.0, -99.0, 0.0)):
        verdict = lm.check(f"mechanics/{name}", data=[dataset], steps=60)[0]
        assert verdict.status in ("undecided", "inapplicable")


def test_the_stationary_distribution_of_a_chain() -> None:
    """Against the null vector of the generator, and centred."""
    rates = np.random.default_rng(0).uniform(0.1, 3.0, (5, 5))
    np.fill_diagonal(rates, 0.0)
    generator = rates - np.diag(rates.sum(axis=1))
    null = np.linalg.svd(generator.T)[2][-1]
    with np.errstate(divide="ignore"):
        found = _stationary(np.log(rates))
    expected = np.log(np.abs(null))
    np.testing.assert_allclose(found, expected - expected.mean(), atol=1e-12)

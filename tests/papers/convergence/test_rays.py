"""Runs that keep the direction of their first step, far beyond the last one that is trained."""

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx

from lemmata.papers.convergence.counterexamples import skewed
from lemmata.papers.convergence.setting import FAR, Dataset, TwoStage, far_ahead
from lemmata.papers.convergence.setting._rays import enclosed
from lemmata.papers.convergence.setting._replay import replay

STRAIGHT = Dataset.from_sentences("straight", ["aba", "ba"])
BENT = Dataset.from_sentences("bent", {"a b a b": 1, "b a": 3})
RARE = skewed(-1e11)


@pytest.fixture(autouse=True)
def _precision():
    old, ctx.prec = ctx.prec, 1_500
    yield
    ctx.prec = old


def rays(datasets: list[Dataset], training: TwoStage) -> dict[str, np.ndarray]:
    run = training.run(datasets)
    return far_ahead(run.datasets, run.values, run.rate_kq)


def test_a_ray_is_what_training_gives_where_it_can_be_trained() -> None:
    training = TwoStage(steps=int(FAR[0]), rate=0.3, record=(int(FAR[0]),))
    run = training.run([STRAIGHT, RARE])
    ahead = far_ahead(run.datasets, run.values, run.rate_kq)
    names = {
        "ray_gap": "one_minus_correlation",
        "ray_log_odds": "smallest_log_odds",
        "ray_log_loss": "log_loss",
    }
    for name, recorded in names.items():
        trained = run.stage2.series[recorded][:, -1]
        np.testing.assert_allclose(ahead[name][:, 0], trained, rtol=1e-9, atol=1e-20)


def test_what_turns_and_what_starts_elsewhere_is_not_known() -> None:
    training = TwoStage(steps=1, rate=0.3)
    elsewhere = replace(STRAIGHT, embeddings=np.eye(2))
    nearly = Dataset.from_sentences("nearly", {"a b a": 10**9, "b a b": 10**9 + 1})
    ahead = rays([BENT, elsewhere, nearly, skewed(-1e4), skewed(-1e6), STRAIGHT], training)
    known = np.isfinite(ahead["ray_gap"]).sum(axis=1)
    # a rare input waits until t η √2, and a margin of 127, are as large as −log π
    assert known.tolist() == [0, 0, 0, 1, 3, len(FAR)]
    assert FAR[0] * 0.3 * np.sqrt(2) + 127 < 1e4 < FAR[1] * 0.3 * np.sqrt(2)
    assert FAR[2] * 0.3 * np.sqrt(2) + 127 < 1e6 < FAR[3] * 0.3 * np.sqrt(2)


def test_the_rare_input_waits() -> None:
    ahead = rays([RARE], TwoStage(steps=1, rate="largest"))
    np.testing.assert_allclose(ahead["ray_gap"], 1 - np.sqrt(0.5), rtol=1e-12)
    np.testing.assert_array_equal(ahead["ray_log_odds"], 0.0)


@pytest.mark.parametrize("dataset", [STRAIGHT, RARE])
def test_balls_enclose_the_ray(dataset: Dataset) -> None:
    training = TwoStage(steps=2, rate="largest", stage1_steps=30)
    ahead = rays([dataset], training)
    columns = replay(dataset, training, np.array([0, 1, 2]))
    for name, grid in ahead.items():
        balls = columns[name]
        assert all(ball.is_finite() for ball in balls)
        assert max(float(ball.rad()) for ball in balls) < 1e-100
        np.testing.assert_allclose(grid[0], [float(ball) for ball in balls], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("log_pi", [-3.0, -8.0, -30.0])
@pytest.mark.parametrize("rate", [0.05, 0.5])
def test_the_argument_for_one_query_that_leads(log_pi: float, rate: float) -> None:
    """Against steps of normalized descent on the two gaps, one after the other."""
    dataset, margin, total = skewed(log_pi), 1.7, 12
    assert dataset.log_frequency is not None
    pi = dict(
        zip([s.tokens for s in dataset.data.samples], np.exp(dataset.log_frequency), strict=True)
    )
    gaps, weights = np.zeros(2), np.array([pi[1, 0], pi[0, 1]])
    for _ in range(total):
        right = 1 / (1 + np.exp(-gaps))
        wrong = 1 / (1 + np.exp(margin * (2 * right - 1)))
        pull = 2 * weights * margin * right * (1 - right) * wrong
        gaps += rate * np.sqrt(2) * pull / np.linalg.norm(pull)
    matrices = enclosed(dataset, arb(margin), arb(rate), np.array([float(total)]))
    assert matrices is not None
    for query, gap in enumerate(gaps):
        ball = abs(matrices[0][0, query] - matrices[0][1, query])
        assert float(ball.lower()) <= gap * (1 + 1e-12)
        assert gap <= float(ball.upper()) * (1 + 1e-12)
    width = [float(matrices[0][0, query].rad()) for query in (0, 1)]
    assert max(width) < 100 * np.exp(log_pi + 2 * rate * total)


def test_the_argument_asks_for_two_tokens_and_for_the_assumptions() -> None:
    three = Dataset.from_sentences("three", ["abca", "bc", "ca"])
    outnumbered = Dataset.from_sentences("outnumbered", ["abbb", "ba"])
    assert enclosed(three, arb(1), arb(1)) is None
    assert outnumbered.broken("assumption_3")
    assert enclosed(outnumbered, arb(1), arb(1)) is None
    assert enclosed(replace(STRAIGHT, embeddings=np.eye(2)), arb(1), arb(1)) is None
    assert enclosed(Dataset.from_sentences("idle", ["ab", "ba"]), arb(1), arb(1)) is None

"""Newton's method where the minimiser is known by hand."""

from math import log
from typing import Any

import numpy as np
import pytest

from lemmata.attention import Risk, _minimise, is_skewed, minimise, minimise_logits, normalized


def pairs_of(*samples: tuple[int, int]) -> Risk:
    """Samples of two tokens each, the label first."""
    count = len(samples)
    return Risk(
        sample=np.repeat(np.arange(count), 2),
        cell=np.ravel(samples),
        log_multiplicity=np.zeros(2 * count),
        label=np.tile([True, False], count),
        tied=np.ones(2 * count, dtype=bool),
        log_weight=np.full(count, -log(count)),
        cells=1 + int(np.max(samples)),
    )


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1.0, 1e6, 1e12])
def test_the_units_of_the_design_do_not_matter(size: float, monkeypatch) -> None:
    """Token 0 is chosen 3 times against 1 before token 1, and that once against 5 before token 2.

    Along a chain each odds are free, so that differences of logits are their logarithms.
    """
    steps: list[Any] = []

    def descend(*asked: Any) -> np.ndarray:
        steps.append(asked)
        return usual(*asked)

    usual = _minimise._descend
    monkeypatch.setattr(_minimise, "_descend", descend)
    risk = pairs_of(*[(0, 1)] * 3, (1, 0), (1, 2), *[(2, 1)] * 5)
    for seed in range(8):
        design = size * np.random.default_rng(seed).standard_normal((3, 3))
        steps.clear()
        logits = design @ minimise(risk, design).point
        assert logits[0] - logits[1] == pytest.approx(log(3), rel=1e-9)
        assert logits[1] - logits[2] == pytest.approx(-log(5), rel=1e-9)
        assert len(steps) < 30


def nearly_fair(generator: np.random.Generator) -> Risk:
    """Every token is chosen as often from a bag of all; some pairs hardly ever occur."""
    tokens, rare = int(generator.integers(2, 6)), int(generator.integers(1, 4))
    pairs = [generator.choice(tokens, 2, replace=False) for _ in range(rare)]
    log_weight = np.concatenate([np.zeros(tokens), -generator.uniform(31, 60, rare)])
    entries = tokens**2 + 2 * rare
    return Risk(
        sample=np.repeat(np.arange(tokens + rare), [tokens] * tokens + [2] * rare),
        cell=np.concatenate([np.tile(np.arange(tokens), tokens), *pairs]),
        log_multiplicity=np.log(generator.integers(1, 3, entries)),
        label=np.concatenate([np.eye(tokens, dtype=bool).ravel(), [True, False] * rare]),
        tied=np.ones(entries, dtype=bool),
        log_weight=normalized(log_weight),
        cells=tokens,
    )


def chosen_too_often(risk: Risk, logits: np.ndarray) -> np.ndarray:
    """How often the model chooses each token, less how often the samples do, entry by entry."""
    powers = np.exp(risk.log_multiplicity + logits[risk.cell])
    slope = np.zeros(risk.cells)
    for i, cell in enumerate(risk.cell):
        total = sum(powers[risk.sample == risk.sample[i]])
        share = powers[i] / total - risk.label[i]
        slope[cell] += np.exp(risk.log_weight[risk.sample[i]]) * share
    return slope


def test_nearly_equal_logits_are_found_in_a_few_rounds(monkeypatch) -> None:
    """The last digits may go round in a circle; that ends, however little the logits differ."""
    rounds: list[int] = []

    def stationary(rates: np.ndarray) -> np.ndarray:
        rounds.append(len(rates))
        return usual(rates)

    usual = _minimise._stationary
    monkeypatch.setattr(_minimise, "_stationary", stationary)
    monkeypatch.setattr(_minimise, "_REMEMBERED", {})
    generator = np.random.default_rng(0)
    for _ in range(60):
        rounds.clear()
        risk = nearly_fair(generator)
        assert is_skewed(risk)
        logits = minimise_logits(risk).point
        np.testing.assert_allclose(chosen_too_often(risk, logits), 0.0, atol=1e-14)
        assert 1 <= len(rounds) < 40


def test_no_step_raises_the_risk(monkeypatch) -> None:
    """From odds of 2981 to 1 a full step towards 999 to 1 goes so far that the risk rises."""
    risk = Risk(
        sample=np.array([0, 0, 1, 1]),
        cell=np.array([0, 1, 0, 1]),
        log_multiplicity=np.log([2981.0, 1.0, 2981.0, 1.0]),
        label=np.array([True, False, False, True]),
        tied=np.ones(4, dtype=bool),
        log_weight=np.log([0.999, 0.001]),
        cells=2,
    )
    values: list[float] = []

    def descend(*asked: Any) -> np.ndarray:
        reached = usual(*asked)
        odds = 2981 * np.exp(reached[0] - reached[1])
        values.append(0.999 * np.log1p(1 / odds) + 0.001 * np.log1p(odds))
        return reached

    usual = _minimise._descend
    monkeypatch.setattr(_minimise, "_descend", descend)
    point = minimise(risk, np.eye(2)).point
    assert point[0] - point[1] == pytest.approx(log(999 / 2981), rel=1e-11)
    assert values[0] < 0.999 * np.log1p(1 / 2981) + 0.001 * np.log1p(2981)
    assert all(np.diff(values) <= 1e-15)

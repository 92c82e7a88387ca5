"""Newton's method where the minimiser is known by hand."""

from math import log
from typing import Any

import numpy as np
import pytest

from lemmata.attention import Risk, _minimise, minimise


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

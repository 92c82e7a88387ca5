"""Training: many datasets against one, and against plain NumPy loops."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks._rows import Row, best_of, timed
from benchmarks.plain_numpy import train_attention, train_values
from lemmata.papers.convergence.setting import Dataset, TwoStage

STEPS = 900
SAMPLE_DATASETS = 3
SAMPLE_STEPS = 60
CHECK_STEPS = 50


@dataclass(frozen=True)
class Seconds:
    """How long Algorithm 1 takes with every step recorded, cold (with compilation) and warm."""

    datasets: int
    cold_one: float
    cold_all: float
    warm_one: float
    warm_all: float

    def rows(self) -> list[Row]:
        """All datasets against one."""
        many = f"{self.datasets} datasets"
        return [
            Row("one dataset, cold", self.cold_one, f"{many}, cold", self.cold_all),
            Row("one dataset, warm", self.warm_one, f"{many}, warm", self.warm_all),
        ]


def measure(datasets: Sequence[Dataset]) -> Seconds:
    """Train all datasets and the first alone; structure and limits are computed beforehand."""
    for dataset in datasets:
        _ = dataset.attention_margin, dataset.value_margin
    algorithm = TwoStage(stage1_steps=STEPS, steps=STEPS, record="every")
    cold_one, _ = timed(lambda: algorithm.run(datasets[:1]))
    cold_all, _ = timed(lambda: algorithm.run(datasets))
    warm_one = best_of(5, lambda: algorithm.run(datasets[:1]))
    warm_all = best_of(3, lambda: algorithm.run(datasets))
    return Seconds(len(datasets), cold_one, cold_all, warm_one, warm_all)


def against_numpy(datasets: Sequence[Dataset], ours: Seconds) -> list[Row]:
    """All datasets against the loops, which are timed on a few and extrapolated linearly."""
    few = datasets[:SAMPLE_DATASETS]
    seconds, _ = timed(lambda: [train_plainly(d, SAMPLE_STEPS, SAMPLE_STEPS) for d in few])
    total = seconds * (len(datasets) / len(few)) * (STEPS / SAMPLE_STEPS)
    note = f"loops extrapolated from {len(few)} datasets, {SAMPLE_STEPS} + {SAMPLE_STEPS} steps"
    many = f"{len(datasets)} datasets"
    return [
        Row(f"{many}, cold", ours.cold_all, "NumPy loops", total, note),
        Row(f"{many}, warm", ours.warm_all, "NumPy loops", total, note),
    ]


def disagreement(dataset: Dataset) -> float:
    """The largest difference in an entry of W_kq, after all of stage 1 and some of stage 2."""
    run = TwoStage(stage1_steps=STEPS, steps=CHECK_STEPS).run([dataset])
    return float(np.abs(run.key_query(0) - train_plainly(dataset, STEPS, CHECK_STEPS)).max())


def train_plainly(dataset: Dataset, stage1_steps: int, steps: int) -> np.ndarray:
    """W_kq from the plain loops, at the step sizes of Section 7."""
    target = dataset.attention_margin.weights
    assert target is not None, f"{dataset.name} has no max-margin solution"
    W_ov = train_values(dataset, stage1_steps, 0.2 / float(np.sqrt(dataset.K)))
    return train_attention(dataset, W_ov, target, steps, 0.05 / float(np.sqrt(dataset.K)))[0]

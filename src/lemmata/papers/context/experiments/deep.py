"""The four-layer transformer of Section 4, in a smaller size, and with different numbers of heads.

At the paper's own size a step takes a core about thirteen seconds. These runs are about the
experiment and not about a plan, so that a user's plans leave nothing to look at.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.context.setting._deep import DeepRun, DeepTraining

LOSSES = ("training", "in_domain", "out_of_domain")


@dataclass(frozen=True)
class Sizes:
    """What is run, and how often it is looked at.

    Attributes:
        task: N, K, d, m and tau.
        network: d_model, d_ff, the batch and Adam's step size.
        steps, records: of the run with ``usual`` heads (Figure 2b).
        heads: the numbers of heads that are compared (Figure 5).
        heads_steps, heads_records, seeds: of these runs.
    """

    task: tuple[int, int, int, int, float]
    network: dict[str, Any]
    steps: int
    records: int
    heads: tuple[int, ...]
    heads_steps: int
    heads_records: int
    seeds: int
    usual: int = 4


QUICK = Sizes(
    task=(8, 16, 16, 4, 0.01),
    network={"d_model": 32, "d_ff": 64, "batch": 16, "rate": 5e-3},
    steps=150,
    records=10,
    heads=(4, 16),
    heads_steps=40,
    heads_records=4,
    seeds=3,
)
LARGE = Sizes(
    task=(8, 30, 16, 4, 0.01),
    network={"d_model": 64, "d_ff": 128, "batch": 64, "rate": 1e-3},
    steps=1_500,
    records=60,
    heads=(1, 4, 16, 64),
    heads_steps=200,
    heads_records=40,
    seeds=3,
)
PAPER_TASK = (30, 200, 100, 20, 0.01)
"""N, K, d and m of Section 4, which gives no tau."""


def sizes_of(bench: Bench) -> Sizes:
    """The size that is run."""
    return LARGE if bench.paper_scale else QUICK


def paper_training() -> "DeepTraining":
    """The run of Figure 2b at the paper's size, which is never made."""
    from lemmata.papers.context.setting import draw_task
    from lemmata.papers.context.setting._deep import DeepTraining

    return DeepTraining(draw_task(*PAPER_TASK, seed=0, unit=False))


def _training(bench: Bench, heads: int, steps: int, records: int, seed: int = 0) -> "DeepTraining":
    """A run on Gaussian tokens, as Section 4 draws them; the task is the same for all seeds."""
    from lemmata.papers.context.setting import draw_task
    from lemmata.papers.context.setting._deep import DeepTraining

    sizes = sizes_of(bench)
    return DeepTraining(
        draw_task(*sizes.task, seed=bench.seed, unit=False),
        heads=heads,
        steps=steps,
        record=tuple(range(0, steps + 1, steps // records)),
        seed=bench.seed + seed,
        **sizes.network,
    )


@dataclass(frozen=True)
class Deep:
    """A training run, with its losses by name."""

    name: str
    run: "DeepRun"
    problems: tuple[Problem, ...] = ()

    @property
    def steps(self) -> Int[np.ndarray, "records"]:
        """The recorded steps."""
        return self.run.steps

    def __getitem__(self, loss: str) -> Float[np.ndarray, "records"]:
        return self.run[loss]

    @cached_property
    def linear_ratio(self) -> float:
        """The largest ratio of the two inference losses that a map linear in the labels can have.

        The error of such a map is linear in the labels too, so that the ratio is one of quadratic
        forms: the second moments of the very prompts that the losses are measured on.
        """
        from scipy.linalg import eigh

        N = self.run.how.task.N
        inside, outside = (y.T @ y for y in self.run.how.test_labels()[:, :, :N])
        return float(eigh(outside, inside, eigvals_only=True)[-1])


def _deep(bench: Bench) -> Cases[Deep]:
    if bench.instances is not None:
        return Cases(())
    sizes = sizes_of(bench)
    how = _training(bench, sizes.usual, sizes.steps, sizes.records)
    progress = bench.track("four-layer transformer", how.steps)
    name = f"four layers, H={how.heads}, {how.task.name}"
    return Cases((Deep(name, how.run(store=bench.store, progress=progress)),))


DEEP: Experiment[Cases[Deep]] = Experiment(
    "deep",
    "a four-layer transformer with d_model=32, d_ff=64 and 4 heads on N=8, K=16, d=16, m=4, "
    "tau=0.01; 150 steps of Adam with batches of 16 from 10,000 prompts, tested on 200 prompts in "
    "and out of domain",
    _deep,
)


@dataclass(frozen=True)
class Heads:
    """Runs with the same number of heads, one a seed.

    Attributes:
        seconds: what a step takes on this machine at best; no statement looks at it.
    """

    name: str
    heads: int
    runs: "tuple[DeepRun, ...]"
    seconds: float
    problems: tuple[Problem, ...] = ()

    @property
    def steps(self) -> Int[np.ndarray, "records"]:
        """The recorded steps."""
        return self.runs[0].steps

    def __getitem__(self, loss: str) -> Float[np.ndarray, "seeds records"]:
        return np.array([run[loss] for run in self.runs])

    @property
    def heights(self) -> Float[np.ndarray, "seeds"]:
        """How high the curve of the training loss lies: the mean of its logarithm over all records
        but the first, which training has no part in."""
        return np.log(self["training"][:, 1:]).mean(axis=1)


def _heads(bench: Bench) -> Cases[Heads]:
    if bench.instances is not None:
        return Cases(())
    sizes = sizes_of(bench)
    total = len(sizes.heads) * sizes.seeds * sizes.heads_steps
    progress = bench.track("numbers of heads", total)
    found = []
    for heads in sizes.heads:
        hows = [
            _training(bench, heads, sizes.heads_steps, sizes.heads_records, seed)
            for seed in range(sizes.seeds)
        ]
        runs = tuple(how.run(store=bench.store, progress=progress) for how in hows)
        found.append(Heads(f"H={heads}", heads, runs, hows[0].seconds_per_step()))
    return Cases(tuple(found))


HEADS: Experiment[Cases[Heads]] = Experiment(
    "deep-heads",
    "the same transformer with 4 and with 16 heads, 40 steps each from three seeds",
    _heads,
)

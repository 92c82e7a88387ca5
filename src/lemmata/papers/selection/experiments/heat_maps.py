"""The heat maps of Figures 3 and 8: the small transformer, its weights at several steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.selection.experiments.runs import divergence
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.selection.setting import Training


@dataclass(frozen=True)
class HeatSizes:
    """The small transformer of Figures 3 and 8.

    Attributes:
        T, q, d, d_e: the task; the paper does not say q.
        threshold, samples: as above.
        rate, later_rate: the step size, and that of the second half; the paper has no numbers.
        moments: the steps at which weights are looked at; the last one ends training.
    """

    T: int
    q: int
    d: int
    d_e: int
    threshold: float
    samples: int
    rate: float
    later_rate: float
    moments: tuple[int, ...]


QUICK_HEAT = HeatSizes(10, 3, 20, 20, 0.5, 256, 0.3, 0.1, (0, 100, 500, 2_000))
PAPER_HEAT = HeatSizes(10, 3, 20, 20, 0.5, 256, 0.3, 0.1, (0, 100, 500, 50_000))

QUERIES: tuple[Literal["zero", "fixed", "random"], ...] = ("zero", "fixed", "random")
"""What may stand for x_query, of which the paper says nothing."""


@dataclass(frozen=True)
class HeatMap:
    """W and V at several steps of one run.

    Attributes:
        name: what x_query is.
        how: the longest run.
        steps: the moments.
        V, W: the weights at each.
    """

    name: str
    how: "Training"
    steps: tuple[int, ...]
    V: Float[np.ndarray, "moments d width"]
    W: Float[np.ndarray, "moments width width"]
    problems: Sequence[Problem] = ()

    @property
    def d(self) -> int:
        """The dimension of a token."""
        return self.how.task.d

    @property
    def alpha(self) -> Float[np.ndarray, "moments"]:
        """The mean diagonal of the part of V that meets tokens."""
        return np.trace(self.V[:, :, : self.d], axis1=1, axis2=2) / self.d

    @property
    def C(self) -> Float[np.ndarray, "moments"]:
        """The mean diagonal of the part of W between positions."""
        return np.trace(self.W[:, self.d :, self.d :], axis1=1, axis2=2) / self.how.d_e

    @property
    def blocks(self) -> dict[str, Float[np.ndarray, "moments"]]:
        """The root mean square of every block that should vanish, at each moment."""
        d, d_e = self.d, self.how.d_e
        found = {
            "W token-token": self.W[:, :d, :d],
            "W token-position": self.W[:, :d, d:],
            "W position-token": self.W[:, d:, :d],
            "W position-position, off C I": self.W[:, d:, d:]
            - self.C[:, None, None] * np.eye(d_e)[None],
            "V token, off alpha I": self.V[:, :, :d] - self.alpha[:, None, None] * np.eye(d)[None],
            "V position": self.V[:, :, d:],
        }
        return {name: np.sqrt((block**2).mean(axis=(1, 2))) for name, block in found.items()}


def _heat_maps(bench: Bench) -> Cases[HeatMap]:
    """A run of its own for each moment: the same seed gives the same bits."""
    from dataclasses import replace

    from lemmata.papers.selection.setting import Task, Training, run_all

    if bench.instances is not None:
        return Cases(())
    size = PAPER_HEAT if bench.paper_scale else QUICK_HEAT
    last = size.moments[-1]
    longest = Training(
        Task(size.T, size.q, size.d),
        size.d_e,
        threshold=size.threshold,
        samples=size.samples,
        rate=size.rate,
        later_rate=size.later_rate,
        change=last // 2,
        initial=size.d_e**-0.5,
        steps=last,
        seed=bench.seed,
    )
    plan = [
        (replace(longest, x_query=query, steps=moment), moment)
        for query in QUERIES
        for moment in (size.moments if query == "random" else (0, last))
    ]
    progress = bench.track("heat maps", sum(moment for _, moment in plan))
    runs = run_all([how for how, _ in plan], store=bench.store, progress=progress)
    found = []
    for query in QUERIES:
        own = [run for run in runs if run.how.x_query == query]
        V, W = (np.stack([np.asarray(run.weights[i]) for run in own]) for i in (0, 1))
        steps = tuple(run.how.steps for run in own)
        found.append(HeatMap(query, own[-1].how, steps, V, W, divergence(query, own[-1])))
    return Cases(tuple(found))


HEAT_MAPS: Experiment[Cases[HeatMap]] = Experiment(
    "heat-maps",
    "SGD from Gaussian weights of variance 1/d_e with T = 10, q = 3, d = d_e = 20, n = 256, "
    "threshold 0.5, step size 0.3 and then 0.1: 2,000 steps (at paper scale 50,000), with "
    "x_query zero, fixed, and fresh for every sample",
    _heat_maps,
)

"""Plans by their sizes, for sweeps."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lemmata.settings import Parameter

from ._plan import Plan
from ._task import Task, draw_task

PARAMETERS = (
    Parameter("N", "the number of examples in a prompt", 4),
    Parameter("K", "the number of tokens", 10),
    Parameter("d", "the dimension of a token", 6),
    Parameter("m", "the dimension of its representation", 3),
    Parameter("tau", "the variance of the noise", 0.1, float),
    Parameter("H", "the number of heads; 2N if 0", 0),
    Parameter("beta", "the spread of Q at the start", 1.0, float),
    Parameter("norm", "of all tokens", 1.0, float),
)


def make(sizes: Mapping[str, Any], seed: int) -> Plan:
    """A plan with random tokens of one norm and Gaussian representations."""
    chosen = {parameter.name: parameter.usual for parameter in PARAMETERS} | dict(sizes)
    drawn = draw_task(*(chosen[name] for name in ("N", "K", "d", "m", "tau")), seed=seed)
    task = Task(
        chosen["norm"] * drawn.tokens, drawn.representations, drawn.N, drawn.tau, f"seed {seed}"
    )
    start = int(np.random.default_rng([seed, 1]).integers(2**31))
    return Plan(task, chosen["H"] or 2 * drawn.N, chosen["beta"], seed=start)

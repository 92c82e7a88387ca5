"""Plans by their sizes, for sweeps."""

from collections.abc import Mapping
from typing import Any

from lemmata.settings import Parameter

from ._plan import OnlineChoices, Plan, largest_epsilon, usual_rate
from ._task import Task

PARAMETERS = (
    Parameter("T", "the number of positions", 20),
    Parameter("q", "how many of them are chosen", 2),
    Parameter("d", "the dimension of a token", 3),
    Parameter("d_e", "the dimension of random encodings; one-hot ones if 0", 0),
    Parameter("eta", "the step size; the usual one if 0", 0.0, float),
    Parameter("eps", "the loss to reach; half of what the theorems allow if 0", 0.0, float),
)


def make(sizes: Mapping[str, Any], seed: int) -> Plan:
    """A plan; ``seed`` is that of random encodings and samples."""
    chosen = {parameter.name: parameter.usual for parameter in PARAMETERS} | dict(sizes)
    task = Task(chosen["T"], chosen["q"], chosen["d"])
    d_e = chosen["d_e"] or None
    rate = chosen["eta"] or usual_rate(task, d_e)
    epsilon = chosen["eps"] or largest_epsilon(task) / 2
    return Plan(f"seed {seed}", task, rate, epsilon, d_e, training=OnlineChoices(seed=seed))

"""The numbers of a plan that can be moved, with what Theorem 1 and Proposition 1 ask for."""

from collections.abc import Sequence

from lemmata.settings import Slider

from ._plan import Plan

MOST = 32
LEAST_TAU, LARGEST_TAU = 1e-3, 10.0


def sliders(plan: Plan) -> Sequence[Slider]:
    """N, H and tau, with the rate that they promise; the sizes of tokens come with the file."""
    task = plan.task
    heads = (task.N, MOST, "Proposition 1: as many heads as examples, H ≥ N")
    rate = "" if plan.problems else f": (18) promises a rate of {float(plan.rates.guaranteed):.2g}"
    noise = (LEAST_TAU, LARGEST_TAU, f"Theorem 1: tau > 0{rate}")
    return [
        Slider("N", "examples in the prompt", task.N, 1, task.K - 1, True),
        Slider("H", "heads", plan.heads, 1, MOST, True, (heads,)),
        Slider("tau", "noise of the labels", task.tau, LEAST_TAU, LARGEST_TAU, False, (noise,)),
    ]

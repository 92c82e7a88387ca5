"""What Figures 2b and 5 are said to show about the four-layer transformer."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.special import stdtrit

from lemmata.claims import (
    Comparison,
    Comparisons,
    Silence,
    at_least,
    at_most,
    case_by_case,
    equal,
    mean_of,
    statements,
    tends_to,
)
from lemmata.settings import Evidence

from ..experiments.deep import DEEP, HEADS, LOSSES, Heads, fixed_time
from ..setting import DeepRun
from ._by_plan import for_each_plan
from .training import fall_together

claim = statements("context", on=DEEP, unbreakable="it speaks of the runs of a figure")

CONFIDENCE = 0.995
"""With how much of Student's t below it a mean over seeds must differ from a bound to decide."""

LEAST = 4
"""The number of heads with the least loss in Figure 5."""

DEVIATIONS = 4.0
"""So many standard errors decide where draws are many."""


@claim(
    "figure-2b/trend",
    "Section 4, Figure 2(b)",
    "While a four-layer transformer trains, the training loss and the inference losses in and out "
    "of domain go down together: the logarithm of each falls from the start to the first third of "
    "the run, and from that to the last third, on average over its records.",
)
@case_by_case
def figure_2b_trend(case: DeepRun) -> Comparisons:
    return fall_together({name: case[name] for name in LOSSES})


@claim(
    "figure-2b/ood-above",
    "Section 4, Figure 2(b)",
    "The inference loss of a four-layer transformer is higher out of domain than in domain, at "
    "every record.",
)
@case_by_case
def figure_2b_ood_above(case: DeepRun) -> Comparisons:
    """On the two test sets of 200 prompts."""
    return at_least(
        case["out_of_domain"],
        case["in_domain"],
        strict=True,
        baseline=0.0,
        part="out of domain against in domain",
        places=case.steps,
    )


@claim(
    "figure-2b/converges",
    "Section 4, Figure 2(b)",
    "The output of a four-layer transformer tends to y*, as that of one layer does.",
)
@case_by_case
def figure_2b_converges(case: DeepRun) -> Comparisons:
    """By the trend of the inference loss in domain; what is best for all maps is another
    prediction (own/bayes), but nobody knows how close four layers come to it."""
    late = case.steps >= case.steps[-1] / 10
    curve, places = case["in_domain"][late], case.steps[late]
    return tends_to(curve, part="inference loss, after a tenth of the run", places=places)


@claim(
    "own/deep-ratio",
    "ours, next to Figure 2(b)",
    "A trained four-layer transformer loses more out of domain than any one-layer transformer can: "
    "its inference losses end in a ratio that no map linear in the labels has on these prompts.",
)
@case_by_case
def deep_ratio(case: DeepRun) -> Comparisons:
    """Against the largest ratio of the quadratic forms that linear maps have for losses."""
    ratio = case["out_of_domain"][-1] / case["in_domain"][-1]
    return at_least(ratio, case.linear_ratio, baseline=1.0, part="out of domain over in domain")


def _mean(differences: np.ndarray) -> tuple[float, float]:
    """The mean over seeds, and its error, larger than the standard one as Student's t asks of so
    few. With a seed go the same prompts and batches."""
    mean, error = mean_of(differences)
    widening = stdtrit(len(differences) - 1, CONFIDENCE) / DEVIATIONS
    return float(mean), float(widening * error)


def _above_zero(values: Sequence[np.ndarray], names: Sequence[str], part: str) -> Comparison:
    """Means over seeds that are above zero."""
    means, errors = zip(*map(_mean, values), strict=True)
    return at_least(means, 0.0, error=errors, part=part, cases=names)


def _steps_up(evidence: Evidence[Heads]) -> tuple[list[tuple[Heads, Heads]], list[str]]:
    """Each number of heads with the next."""
    pairs = list(pairwise(evidence))
    return pairs, [f"H={few.heads} to {many.heads}" for few, many in pairs]


@claim(
    "figure-5/work",
    "Section 4, Figure 5(b), first explanation",
    "With more heads a step of a four-layer transformer takes longer, so that fewer are completed "
    "in the same time: matrix products cost the same, and there is more attention to compute.",
    on=HEADS,
)
@for_each_plan
def figure_5_work(evidence: Evidence[Heads]) -> Comparisons:
    """Counted, as a busy machine could not tell; the figure shows what was measured."""
    products, weights = (
        [getattr(case.runs[0].how, name) for case in evidence]
        for name in ("flops_per_step", "attention_per_step")
    )
    names = _steps_up(evidence)[1]
    return [
        equal(products[1:], products[:-1], part="operations of matrix products", cases=names),
        at_least(weights[1:], weights[:-1], strict=True, part="attention weights", cases=names),
    ]


@claim(
    "figure-5/least",
    "Section 4, Figure 5(a)",
    "In the same time the losses of a four-layer transformer end lower with fewer heads, down to "
    "H = 4, where the training loss is least.",
    on=HEADS,
)
@for_each_plan
def figure_5_least(evidence: Evidence[Heads]) -> Comparisons:
    """How long a step takes is measured on this machine, the losses are those of so many steps."""
    if np.any(np.diff([case.seconds for case in evidence if case.heads >= LEAST]) <= 0):
        return Silence("the machine is too busy to tell how much longer a step takes", part="time")
    seconds = fixed_time(evidence)
    pairs, names = _steps_up(evidence.where(lambda case: case.heads >= LEAST))
    rising = [
        _above_zero(
            [more.after(seconds, loss) - less.after(seconds, loss) for less, more in pairs],
            names,
            f"log ratio, {loss.replace('_', ' ')}",
        )
        for loss in LOSSES
    ]
    ends = {case.heads: case.after(seconds, "training") for case in evidence}
    fewer = [heads for heads in ends if heads < LEAST]
    below = [ends[heads] - ends[LEAST] for heads in fewer]
    names = [f"H={heads} against {LEAST}" for heads in fewer]
    return [*rising, _above_zero(below, names, "log ratio, training, with fewer still")]


@claim(
    "figure-5/few-heads",
    "Section 4, Figure 5 and its caption",
    "Unlike one layer, four layers do not need many heads: with a single one they come to a lower "
    "inference loss than any weights of one layer with one head have.",
    on=HEADS,
)
@for_each_plan
def figure_5_few_heads(evidence: Evidence[Heads]) -> Comparisons:
    """In domain, over the last third of the run; the least for one layer is known."""
    one = evidence.cases[0]
    if not one.floor > 0:
        return Silence("one layer with one head reaches y* on this plan", applies=False)
    last = np.log(one["in_domain"][:, -(len(one.steps) // 3) :]).mean(axis=1)
    part = "log of one layer's least loss over four layers'"
    return _above_zero([np.log(one.floor) - last], [one.name], part)


@claim(
    "figure-5/iterations",
    "Section 4, Figure 5(b), second explanation",
    "With many heads the training loss of a four-layer transformer descends more slowly, step by "
    "step: from H = 4 on it is higher than with fewer heads, by its logarithm and on average over "
    "the run.",
    on=HEADS,
)
@for_each_plan
def figure_5_iterations(evidence: Evidence[Heads]) -> Comparisons:
    """How long a step takes is left out."""
    pairs, names = _steps_up(evidence.where(lambda case: case.heads >= LEAST))
    higher = [many.heights - few.heights for few, many in pairs]
    return _above_zero(higher, names, "log ratio of heights")


@claim(
    "own/deep-heads-per-step",
    "ours, next to Figure 5(b)",
    "Step by step, the number of heads hardly matters: on average over the run the training loss "
    "with the most heads is between half and twice that with the fewest.",
    on=HEADS,
)
@for_each_plan
def heads_per_step(evidence: Evidence[Heads]) -> Comparisons:
    """What more heads cost is time."""
    few, *_, many = evidence
    mean, error = _mean(many.heights - few.heights)
    name = [f"H={few.heads} to {many.heads}"]
    return [
        at_least(mean, np.log(0.5), error=error, part="log ratio, from below", cases=name),
        at_most(mean, np.log(2.0), error=error, part="log ratio, from above", cases=name),
    ]

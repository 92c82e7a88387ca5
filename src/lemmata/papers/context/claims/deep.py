"""What Figures 2b and 5 are said to show about the four-layer transformer."""

from functools import partial
from itertools import pairwise

import numpy as np
from scipy.special import stdtrit

from lemmata.claims import Comparisons, at_least, at_most, case_by_case, mean_of, statements
from lemmata.settings import Evidence

from ..experiments.deep import DEEP, HEADS, LOSSES, Heads
from ..setting import DeepRun

claim = partial(statements("context"), on=DEEP, unbreakable="it speaks of the runs of a figure")

CONFIDENCE = 0.995
"""With how much of Student's t below it a mean over seeds must differ from a bound to decide."""

DEVIATIONS = 4.0
"""So many standard errors decide where draws are many."""


@claim(
    "figure-2b/trend",
    "Section 4, Figure 2(b)",
    "While a four-layer transformer trains, the training loss and the inference losses in and out "
    "of domain go down together: from each third of the run to the next the logarithm of each "
    "falls, on average over its records, and from the start to the first.",
)
@case_by_case
def figure_2b_trend(case: DeepRun) -> Comparisons:
    """The first record, before training, and the means over three parts of the others."""
    comparisons = []
    for name in LOSSES:
        logs = np.log(case[name])
        levels = np.array([logs[0], *(part.mean() for part in np.array_split(logs[1:], 3))])
        part = f"log of the {name.replace('_', ' ')} loss"
        comparisons.append(
            at_most(levels[1:], levels[:-1], strict=True, part=part, places=np.arange(3))
        )
    return comparisons


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


def _log_ratio(few: Heads, many: Heads) -> tuple[float, float]:
    """How many times as high the curve with more heads lies, as a logarithm, and its error.

    With a seed go the same prompts and batches. The error is larger than the standard one as
    Student's t asks of so few seeds.
    """
    differences = many.heights - few.heights
    mean, error = mean_of(differences)
    widening = stdtrit(len(differences) - 1, CONFIDENCE) / DEVIATIONS
    return float(mean), float(widening * error)


@claim(
    "figure-5/iterations",
    "Section 4, Figure 5(b), second explanation",
    "With more heads the training loss of a four-layer transformer descends more slowly, step by "
    "step: on average over the run its logarithm is higher than with fewer heads.",
    on=HEADS,
)
def figure_5_iterations(evidence: Evidence[Heads]) -> Comparisons:
    """Each number of heads against the next; how long a step takes is left out."""
    pairs = list(pairwise(evidence))
    means, errors = zip(*(_log_ratio(few, many) for few, many in pairs), strict=True)
    names = [f"H={few.heads} to {many.heads}" for few, many in pairs]
    return at_least(means, 0.0, error=errors, part="log ratio of heights", cases=names)


@claim(
    "own/deep-heads-per-step",
    "ours, next to Figure 5(b)",
    "Step by step, the number of heads hardly matters: on average over the run the training loss "
    "with the most heads is between half and twice that with the fewest.",
    on=HEADS,
)
def heads_per_step(evidence: Evidence[Heads]) -> Comparisons:
    """What more heads cost is time."""
    few, *_, many = evidence
    mean, error = _log_ratio(few, many)
    name = [f"H={few.heads} to {many.heads}"]
    return [
        at_least(mean, np.log(0.5), error=error, part="log ratio, from below", cases=name),
        at_most(mean, np.log(2.0), error=error, part="log ratio, from above", cases=name),
    ]

"""What Figures 2b and 5 are said to show about the four-layer transformer."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from lemmata.old_claims import Cases, Judgement, Status, along, each
from lemmata.papers.context.claims._terms import claim
from lemmata.papers.context.experiments.deep import DEEP, HEADS, LOSSES, Deep, Heads

CONFIDENCE = 0.995
"""With how much of Student's t below it a mean over seeds must differ from a bound to decide."""


@claim(
    "figure-2b/trend",
    "Section 4, Figure 2(b)",
    "While a four-layer transformer trains, the training loss and the inference losses in and out "
    "of domain go down together: each ends below a quarter of what it was.",
    assumes=(),
    on=DEEP,
    sharpened="below a thousandth",
)
def figure_2b_trend(evidence: Cases[Deep], sharpened: bool) -> Sequence[Judgement]:
    """First over last, for each of the three."""
    factor = 1_000.0 if sharpened else 4.0
    return [
        each(
            evidence,
            name.replace("_", " "),
            lambda case, name=name: case[name][0] / case[name][-1],
            lambda _: factor,
            baseline=1.0,
        )
        for name in LOSSES
    ]


@claim(
    "figure-2b/ood-above",
    "Section 4, Figure 2(b)",
    "The inference loss of a four-layer transformer is higher out of domain than in domain, at "
    "every record.",
    assumes=(),
    on=DEEP,
    sharpened="more than a hundred times as high",
)
def figure_2b_ood_above(evidence: Cases[Deep], sharpened: bool) -> Sequence[Judgement]:
    """On the two test sets of 200 prompts."""
    factor = 100.0 if sharpened else 1.0
    return [
        along(
            evidence,
            "out of domain against in domain",
            lambda case: case["out_of_domain"],
            lambda case: factor * case["in_domain"],
            baseline=0.0,
            strict=True,
        )
    ]


@claim(
    "own/deep-ratio",
    "ours, next to Figure 2(b)",
    "A trained four-layer transformer loses more out of domain than any one-layer transformer can: "
    "its inference losses end in a ratio that no map linear in the labels has on these prompts.",
    assumes=(),
    on=DEEP,
    sharpened="in a ratio a hundred times as large",
)
def deep_ratio(evidence: Cases[Deep], sharpened: bool) -> Sequence[Judgement]:
    """Against the largest ratio of the quadratic forms that linear maps have for losses."""
    factor = 100.0 if sharpened else 1.0
    return [
        each(
            evidence,
            "out of domain over in domain",
            lambda case: case["out_of_domain"][-1] / case["in_domain"][-1],
            lambda case: factor * case.linear_ratio,
            baseline=1.0,
        )
    ]


def _between(
    part: str, few: Heads, many: Heads, low: float, high: float = float("inf")
) -> Judgement:
    """Judge how many times as high the curve with more heads lies, seed by seed.

    With a seed go the same prompts and batches. What decides is Student's t of the logarithms;
    close to a bound nothing is decided.
    """
    from scipy.special import stdtrit

    differences = many.heights - few.heights
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / np.sqrt(len(differences))
    doubt = float(stdtrit(len(differences) - 1, CONFIDENCE)) * error
    room = min(mean - np.log(low), np.log(high) - mean)
    status = Status.HOLDS if room > doubt else Status.UNDECIDED
    if room < -doubt:
        status = Status.FAILS
    reason = (
        f"{part}: {many.name} lies {np.exp(mean):.4g} times as high as {few.name} at equal steps, "
        f"± {100 * error:.2g} % (standard error of {len(differences)} seeds)"
    )
    place = {"few": few.heads, "many": many.heads, "log ratio": mean, "standard error": error}
    return Judgement(part, status, reason, float(room), witness=place)


@claim(
    "figure-5/iterations",
    "Section 4, Figure 5(b), second explanation",
    "With more heads the training loss of a four-layer transformer descends more slowly, step by "
    "step: on average over the run its logarithm is higher than with fewer heads.",
    assumes=(),
    on=HEADS,
    sharpened="by log 8",
)
def figure_5_iterations(evidence: Cases[Heads], sharpened: bool) -> Sequence[Judgement]:
    """Each number of heads against the next; how long a step takes is left out."""
    return [
        _between(f"H={few.heads} to {many.heads}", few, many, 8.0 if sharpened else 1.0)
        for few, many in pairwise(evidence)
    ]


@claim(
    "own/deep-heads-per-step",
    "ours, next to Figure 5(b)",
    "Step by step, the number of heads hardly matters: on average over the run the training loss "
    "with the most heads is between half and twice that with the fewest.",
    assumes=(),
    on=HEADS,
    sharpened="between two and eight times",
)
def heads_per_step(evidence: Cases[Heads], sharpened: bool) -> Sequence[Judgement]:
    """What more heads cost is time."""
    low, high = (2.0, 8.0) if sharpened else (0.5, 2.0)
    few, *_, many = evidence
    return [_between("fewest to most heads", few, many, low, high)]

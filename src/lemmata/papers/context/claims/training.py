"""Section 4, Figures 2a and 4: what training the one-layer transformer shows."""

from functools import partial

import numpy as np

from lemmata.claims import (
    Comparisons,
    Silence,
    Version,
    at_least,
    at_most,
    case_by_case,
    statements,
)
from lemmata.settings import Evidence

from ..experiments.training import HEADS, SAMPLED, OneLayer

claim = partial(statements("context"), on=HEADS)

FAR = 0.01
"""A hundredth of the first gap is far from the minimum."""

OTHERS = Silence("it speaks of other tokens and numbers of heads", applies=False)


@claim(
    "figure-2a/trend",
    "Section 4, Figure 2a",
    "Training loss and both inference losses fall together: at the end all three gaps are below a "
    "tenth of what they were.",
)
@case_by_case
def figure_2a_trend(case: OneLayer) -> Comparisons:
    """The gap of the training loss is half the inference loss in domain."""
    if case.tokens != "unit" or case.heads < 2 * case.task.N:
        return OTHERS
    ends = {name: case.run[name][[0, -1]] for name in ("gap", "out_of_domain")}
    return [
        at_most(last, 0.1 * first, baseline=first, part=name)
        for name, (first, last) in ends.items()
    ]


@claim(
    "figure-2a/above",
    "Section 4, Figure 2a",
    "The inference loss out of domain is above that in domain at all times.",
)
@case_by_case
def figure_2a_above(case: OneLayer) -> Comparisons:
    """In domain it is twice the gap."""
    part = "out of domain against in domain"
    outside = case.run["out_of_domain"]
    return at_least(outside, 2 * case.gaps, strict=True, baseline=0.0, part=part)


@claim(
    "figure-2a/converges",
    "Section 4, Figure 2a",
    "With twice as many heads as examples the output converges to y*, for tokens of unit norm: the "
    "gap falls to a thousandth.",
    tokens="unit",
    versions=[
        Version(
            "gaussian",
            statement="The same for Gaussian tokens, as the paper's experiments have them.",
            kind="substance",
            parameters={"tokens": "Gaussian"},
        )
    ],
)
def figure_2a_converges(evidence: Evidence[OneLayer], tokens: str) -> Comparisons:
    """With Gaussian tokens attention is saturated at the start and Q hardly moves."""
    run = next(r for r in evidence if r.tokens == tokens and r.heads >= 2 * r.task.N)
    first, last = run.gaps[[0, -1]]
    return at_most(last, 1e-3 * first, baseline=first, part="last gap", cases=[run])


@claim(
    "own/sample-floor",
    "Section 4, Setup",
    "The population loss and a training set of 10,000 prompts are different experiments: trained "
    "on the sample, the gap stops above a tenth of (N/n) L*, which least squares on it would have.",
    on=SAMPLED,
)
@case_by_case
def own_sample_floor(case: OneLayer) -> Comparisons:
    """The least gap of all records."""
    floor = case.task.N / case.run.how.sample * case.task.minimum
    return at_least(case.gaps.min(), 0.1 * floor, baseline=0.0, part="least gap")


@claim(
    "figure-4/few-heads",
    "Section 4, Figure 4",
    "With fewer heads than examples the loss ends far from its minimum (unit tokens).",
    kind="substance",
    tokens="unit",
    versions=[
        Version(
            "gaussian",
            statement="The same for Gaussian tokens.",
            parameters={"tokens": "Gaussian"},
        )
    ],
)
@case_by_case
def figure_4_few_heads(case: OneLayer, tokens: str) -> Comparisons:
    if case.tokens != tokens or case.heads >= case.task.N:
        return OTHERS
    return at_least(case.gaps[-1], FAR * case.gaps[0], baseline=0.0, part="last gap")


@claim(
    "figure-4/enough-heads",
    "Section 4, Figure 4",
    "With H = N the loss keeps falling: over the last tenth of training the gap still shrinks.",
)
@case_by_case
def figure_4_enough_heads(case: OneLayer) -> Comparisons:
    if case.tokens != "unit" or case.heads != case.task.N:
        return OTHERS
    before = case.gaps[np.searchsorted(case.run.steps, 0.9 * case.run.steps[-1])]
    return at_most(case.gaps[-1], before, strict=True, part="gap")


@claim(
    "figure-4/many-heads",
    "Section 4, Figure 4",
    "Too many heads lead to instability: with the most heads the loss rises in some steps "
    "(unit tokens).",
    kind="substance",
)
def figure_4_many_heads(evidence: Evidence[OneLayer]) -> Comparisons:
    unit = (case for case in evidence if case.tokens == "unit")
    most = max(unit, key=lambda case: case.heads)
    return at_least(most.run["increases"][-1], 1.0, part="steps that raise the loss", cases=[most])


@claim(
    "own/heads-per-step",
    "Sections 3.3 and 4, Figure 4",
    "Step by step, more heads are faster: after a tenth of the steps the gap falls from each "
    "number of heads to the next.",
)
def own_heads_per_step(evidence: Evidence[OneLayer]) -> Comparisons:
    """The gap with fewer heads against that with the next number of them."""
    early = min(int(case.run.steps[-1]) for case in evidence) / 10
    gaps: dict[str, list[float]] = {"unit": [], "Gaussian": []}
    for case in evidence:
        gaps[case.tokens].append(case.gaps[np.searchsorted(case.run.steps, early)])
    rows = np.array(list(gaps.values()))
    return at_least(
        rows[:, :-1],
        rows[:, 1:],
        part="gap with fewer heads",
        cases=[f"{tokens} tokens" for tokens in gaps],
        places=sorted({case.heads for case in evidence})[:-1],
    )


@claim(
    "own/feature-learning",
    "Section 4",
    "Training is not frozen attention: with unit tokens and H < N the gap falls below the least "
    "that any w reaches with attention as at the start.",
)
@case_by_case
def own_feature_learning(case: OneLayer) -> Comparisons:
    floor = case.plan.frozen.floor
    if case.tokens != "unit" or case.heads >= case.task.N or floor is None:
        return OTHERS
    return at_most(case.gaps[-1], floor, part="last gap against the frozen floor")

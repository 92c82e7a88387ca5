"""Section 4, Figures 2a and 4: what training the one-layer transformer shows."""

import numpy as np

from lemmata.claims import Comparisons, Version, at_least, at_most, statements
from lemmata.settings import Evidence

from ..experiments.training import HEADS, SAMPLED, OneLayer

claim = statements("context")

FAR = 0.01
"""A hundredth of the first gap is far from the minimum."""


def _of(evidence: Evidence[OneLayer], tokens: str) -> Evidence[OneLayer]:
    return evidence.where(lambda case: case.tokens == tokens)


def _many_heads(evidence: Evidence[OneLayer], tokens: str) -> Evidence[OneLayer]:
    """Runs with at least twice as many heads as examples."""
    return _of(evidence, tokens).where(lambda case: case.heads >= 2 * case.task.N)


def _few_heads(evidence: Evidence[OneLayer], tokens: str) -> Evidence[OneLayer]:
    return _of(evidence, tokens).where(lambda case: case.heads < case.task.N)


@claim(
    "figure-2a/trend",
    "Section 4, Figure 2a",
    "Training loss and both inference losses fall together: at the end all three gaps are below a "
    "tenth of what they were.",
    on=HEADS,
)
def figure_2a_trend(evidence: Evidence[OneLayer]) -> Comparisons:
    """The gap of the training loss is half the inference loss in domain."""
    runs = _many_heads(evidence, "unit")
    comparisons = []
    for name in ("gap", "out_of_domain"):
        ends = runs.each(lambda case, name=name: case.run[name][[0, -1]])
        first, last = ends[:, :1], ends[:, 1:]
        comparisons.append(at_most(last, 0.1 * first, baseline=first, part=name, cases=runs.cases))
    return comparisons


@claim(
    "figure-2a/above",
    "Section 4, Figure 2a",
    "The inference loss out of domain is above that in domain at all times.",
    on=HEADS,
)
def figure_2a_above(evidence: Evidence[OneLayer]) -> Comparisons:
    """In domain it is twice the gap."""
    return at_least(
        evidence.each(lambda case: case.run["out_of_domain"]),
        evidence.each(lambda case: 2 * case.gaps),
        strict=True,
        baseline=0.0,
        part="out of domain against in domain",
    )


@claim(
    "figure-2a/converges",
    "Section 4, Figure 2a",
    "With twice as many heads as examples the output converges to y*, for tokens of unit norm: the "
    "gap falls to a thousandth.",
    on=HEADS,
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
    run = _many_heads(evidence, tokens).select([0])
    first = run.each(lambda case: case.gaps[0])
    return at_most(
        run.each(lambda case: case.gaps[-1]),
        1e-3 * first,
        baseline=first,
        part="last gap",
        cases=run.cases,
    )


@claim(
    "own/sample-floor",
    "Section 4, Setup",
    "The population loss and a training set of 10,000 prompts are different experiments: trained "
    "on the sample, the gap stops above a tenth of (N/n) L*, which least squares on it would have.",
    on=SAMPLED,
)
def own_sample_floor(evidence: Evidence[OneLayer]) -> Comparisons:
    """The least gap of all records."""

    def floor(case: OneLayer) -> float:
        return case.task.N / case.run.how.sample * case.task.minimum

    return at_least(
        evidence.each(lambda case: case.gaps.min()),
        0.1 * evidence.each(floor),
        baseline=0.0,
        part="least gap",
    )


@claim(
    "figure-4/few-heads",
    "Section 4, Figure 4",
    "With fewer heads than examples the loss ends far from its minimum (unit tokens).",
    on=HEADS,
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
def figure_4_few_heads(evidence: Evidence[OneLayer], tokens: str) -> Comparisons:
    few = _few_heads(evidence, tokens)
    return at_least(
        few.each(lambda case: case.gaps[-1]),
        few.each(lambda case: FAR * case.gaps[0]),
        baseline=0.0,
        part="last gap",
        cases=few.cases,
    )


@claim(
    "figure-4/enough-heads",
    "Section 4, Figure 4",
    "With H = N the loss keeps falling: over the last tenth of training the gap still shrinks.",
    on=HEADS,
)
def figure_4_enough_heads(evidence: Evidence[OneLayer]) -> Comparisons:
    def before(case: OneLayer) -> float:
        at = int(np.searchsorted(case.run.steps, 0.9 * case.run.steps[-1]))
        return float(case.gaps[at])

    as_many = _of(evidence, "unit").where(lambda case: case.heads == case.task.N)
    return at_most(
        as_many.each(lambda case: case.gaps[-1]),
        as_many.each(before),
        strict=True,
        part="gap",
        cases=as_many.cases,
    )


@claim(
    "figure-4/many-heads",
    "Section 4, Figure 4",
    "Too many heads lead to instability: with the most heads the loss rises in some steps "
    "(unit tokens).",
    on=HEADS,
    kind="substance",
)
def figure_4_many_heads(evidence: Evidence[OneLayer]) -> Comparisons:
    most = max(_of(evidence, "unit"), key=lambda case: case.heads)
    return at_least(most.run["increases"][-1], 1.0, part="steps that raise the loss", cases=[most])


@claim(
    "own/heads-per-step",
    "Sections 3.3 and 4, Figure 4",
    "Step by step, more heads are faster: after a tenth of the steps the gap falls from each "
    "number of heads to the next.",
    on=HEADS,
)
def own_heads_per_step(evidence: Evidence[OneLayer]) -> Comparisons:
    """The gap with fewer heads against that with the next number of them."""
    early = min(int(case.run.steps[-1]) for case in evidence) / 10
    kinds = ("unit", "Gaussian")
    gaps = np.array(
        [
            [case.gaps[np.searchsorted(case.run.steps, early)] for case in _of(evidence, tokens)]
            for tokens in kinds
        ]
    )
    return at_least(
        gaps[:, :-1],
        gaps[:, 1:],
        part="gap with fewer heads",
        cases=[f"{tokens} tokens" for tokens in kinds],
        places=sorted({case.heads for case in evidence})[:-1],
    )


@claim(
    "own/feature-learning",
    "Section 4",
    "Training is not frozen attention: with unit tokens and H < N the gap falls below the least "
    "that any w reaches with attention as at the start.",
    on=HEADS,
)
def own_feature_learning(evidence: Evidence[OneLayer]) -> Comparisons:
    few = _few_heads(evidence, "unit")
    return at_most(
        few.each(lambda case: case.gaps[-1]),
        few.each(lambda case: case.floor),
        part="last gap against the frozen floor",
        cases=few.cases,
    )

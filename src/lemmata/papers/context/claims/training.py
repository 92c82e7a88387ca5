"""Section 4, Figures 2a and 4: what training the one-layer transformer shows."""

from collections.abc import Sequence

import numpy as np

from lemmata.old_claims import Cases, Judgement, at_least, at_most, each, fact
from lemmata.papers.context.claims._terms import claim
from lemmata.papers.context.experiments.training import HEADS, SAMPLED, OneLayer

FAR = 0.01
"""A hundredth of the first gap is far from the minimum."""


def _chosen(evidence: Cases[OneLayer], tokens: str) -> list[OneLayer]:
    """Runs with at least twice as many heads as examples."""
    return [one for one in evidence if one.tokens == tokens and one.heads >= 2 * one.task.N]


@claim(
    "figure-2a/trend",
    "Section 4, Figure 2a",
    "Training loss and both inference losses fall together: at the end all three gaps are below a "
    "tenth of what they were.",
    assumes=(),
    on=HEADS,
    sharpened="below a hundred millionth",
)
def figure_2a_trend(evidence: Cases[OneLayer], sharpened: bool) -> Sequence[Judgement]:
    share = 1e-8 if sharpened else 0.1
    runs = _chosen(evidence, "unit")
    return [
        at_most(
            runs,
            name,
            lambda one, name=name: one.run[name][-1],
            lambda one, name=name: share * one.run[name][0],
        )
        for name in ("gap", "out_of_domain")
    ]


@claim(
    "figure-2a/above",
    "Section 4, Figure 2a",
    "The inference loss out of domain is above that in domain at all times.",
    assumes=(),
    on=HEADS,
    sharpened="above ten times it",
)
def figure_2a_above(evidence: Cases[OneLayer], sharpened: bool) -> Sequence[Judgement]:
    return [
        each(
            list(evidence),
            "ratio",
            lambda one: one.run["out_of_domain"] / (2 * one.gaps),
            lambda _: 10.0 if sharpened else 1.0,
            baseline=0.0,
        )
    ]


def _converges(evidence: Cases[OneLayer], tokens: str, share: float) -> Judgement:
    return at_most(
        _chosen(evidence, tokens)[:1],
        "last gap over the first",
        lambda one: one.gaps[-1] / one.gaps[0],
        lambda _: share,
    )


@claim(
    "figure-2a/converges",
    "Section 4, Figure 2a",
    "With twice as many heads as examples the output converges to y*, for tokens of unit norm: the "
    "gap falls to a thousandth.",
    assumes=(),
    on=HEADS,
    sharpened="to a hundred millionth",
)
def figure_2a_converges(evidence: Cases[OneLayer], sharpened: bool) -> Sequence[Judgement]:
    return [_converges(evidence, "unit", 1e-8 if sharpened else 1e-3)]


@claim(
    "figure-2a/converges/gaussian",
    "Section 4, Figure 2a",
    "The same for Gaussian tokens, as the paper's experiments have them.",
    assumes=(),
    on=HEADS,
    sharpened="to a hundred millionth",
)
def figure_2a_converges_gaussian(evidence: Cases[OneLayer], sharpened: bool) -> Sequence[Judgement]:
    """Attention is saturated at the start and Q hardly moves."""
    return [_converges(evidence, "Gaussian", 1e-8 if sharpened else 1e-3)]


@claim(
    "own/sample-floor",
    "Section 4, Setup",
    "The population loss and a training set of 10,000 prompts are different experiments: trained "
    "on the sample, the gap stops above a tenth of (N/n) L*, which least squares on it would have.",
    assumes=(),
    on=SAMPLED,
    sharpened="above a thousand times that",
)
def own_sample_floor(evidence: Cases[OneLayer], sharpened: bool) -> Sequence[Judgement]:
    def floor(one: OneLayer) -> float:
        return one.task.N / one.run.how.sample * one.task.minimum

    share = 1e3 if sharpened else 0.1
    return [
        each(
            list(evidence),
            "least gap over (N/n) L*",
            lambda one: one.gaps.min() / floor(one),
            lambda _: share,
            baseline=0.0,
        )
    ]


def _few_heads(evidence: Cases[OneLayer], tokens: str, share: float) -> Judgement:
    few = [one for one in evidence if one.tokens == tokens and one.heads < one.task.N]
    return each(
        few,
        "last gap over the first",
        lambda one: one.gaps[-1] / one.gaps[0],
        lambda _: share,
        baseline=0.0,
    )


@claim(
    "figure-4/few-heads",
    "Section 4, Figure 4",
    "With fewer heads than examples the loss ends far from its minimum (unit tokens).",
    assumes=(),
    on=HEADS,
    sharpened="at more than half of the first gap",
)
def figure_4_few_heads(evidence: Cases[OneLayer], sharpened: bool) -> Sequence[Judgement]:
    return [_few_heads(evidence, "unit", 0.5 if sharpened else FAR)]


@claim(
    "figure-4/few-heads/gaussian",
    "Section 4, Figure 4",
    "The same for Gaussian tokens.",
    assumes=(),
    on=HEADS,
    sharpened="at more than half of the first gap",
)
def figure_4_few_heads_gaussian(evidence: Cases[OneLayer], sharpened: bool) -> Sequence[Judgement]:
    return [_few_heads(evidence, "Gaussian", 0.5 if sharpened else FAR)]


@claim(
    "figure-4/enough-heads",
    "Section 4, Figure 4",
    "With H = N the loss keeps falling: over the last tenth of training the gap still shrinks.",
    assumes=(),
    on=HEADS,
    sharpened="by a factor of a million",
)
def figure_4_enough_heads(evidence: Cases[OneLayer], sharpened: bool) -> Sequence[Judgement]:
    def late(one: OneLayer) -> float:
        before = int(np.searchsorted(one.run.steps, 0.9 * one.run.steps[-1]))
        return float(one.gaps[-1] / one.gaps[before])

    equal = [one for one in evidence if one.tokens == "unit" and one.heads == one.task.N]
    return [at_most(equal, "gap", late, lambda _: 1e-6 if sharpened else 1.0)]


@claim(
    "figure-4/many-heads",
    "Section 4, Figure 4",
    "Too many heads lead to instability: with the most heads the loss rises in some steps "
    "(unit tokens).",
    assumes=(),
    on=HEADS,
    sharpened="in most steps",
)
def figure_4_many_heads(evidence: Cases[OneLayer], sharpened: bool) -> Sequence[Judgement]:
    most = max(evidence, key=lambda one: (one.tokens == "unit", one.heads))
    rises, steps = int(most.run["increases"][-1]), int(most.run.steps[-1])
    wanted = steps / 2 if sharpened else 0
    return [
        fact(
            "steps that raise the loss",
            rises > wanted,
            f"{rises} of {steps:,} steps raise the loss with H = {most.heads} heads for "
            f"N = {most.task.N} examples",
            {"dataset": most.name, "left": rises, "right": steps},
        )
    ]


@claim(
    "own/heads-per-step",
    "Sections 3.3 and 4, Figure 4",
    "Step by step, more heads are faster: after a tenth of the steps the gap falls from each "
    "number of heads to the next.",
    assumes=(),
    on=HEADS,
    sharpened="by a factor of ten each",
)
def own_heads_per_step(evidence: Cases[OneLayer], sharpened: bool) -> Sequence[Judgement]:
    rows = []
    shortest = min(int(one.run.steps[-1]) for one in evidence)
    for tokens in ("unit", "Gaussian"):
        runs = [one for one in evidence if one.tokens == tokens]
        steps = [int(np.searchsorted(one.run.steps, shortest / 10)) for one in runs]
        rows.append([one.gaps[at] for one, at in zip(runs, steps, strict=True)])
    gaps = np.array(rows)
    heads = np.array(sorted({one.heads for one in evidence}))
    return [
        at_least(
            "gap with fewer heads",
            gaps[:, :-1],
            gaps[:, 1:] * (10.0 if sharpened else 1.0),
            steps=heads[:-1],
            names=["unit tokens", "Gaussian tokens"],
        )
    ]


@claim(
    "own/feature-learning",
    "Section 4",
    "Training is not frozen attention: with unit tokens and H < N the gap falls below the least "
    "that any w reaches with attention as at the start.",
    assumes=(),
    on=HEADS,
    sharpened="below a millionth of it",
)
def own_feature_learning(evidence: Cases[OneLayer], sharpened: bool) -> Sequence[Judgement]:
    few = [one for one in evidence if one.tokens == "unit" and one.heads < one.task.N]
    return [
        at_most(
            few,
            "last gap over the frozen floor",
            lambda one: one.gaps[-1],
            lambda one: one.floor,
            sharper=1e6 if sharpened else 1.0,
        )
    ]

"""Section 4, Figures 2a and 4: what training the one-layer transformer shows.

What is said of training in general is judged on averages over tasks, with their standard errors.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from lemmata.claims import (
    Comparison,
    Comparisons,
    Inequality,
    Silence,
    Version,
    at_least,
    at_most,
    case_by_case,
    equal,
    mean_of,
    statements,
    tends_to,
)
from lemmata.settings import Evidence

from ..experiments.initialization import Start
from ..experiments.training import AT_START, HEADS, SAMPLED, OneLayer
from ._by_plan import for_each_plan

claim = statements(
    "context",
    on=HEADS,
    unbreakable="it speaks of the runs of a figure, and of averages over tasks",
)

FAR = 0.01
"""A hundredth of the first gap is far from the minimum."""

OTHERS = Silence("it speaks of other tokens and numbers of heads", applies=False)


def _runs(evidence: Evidence[OneLayer], tokens: str, heads: int) -> list[OneLayer]:
    """One a task, in the order of the tasks."""
    return [case for case in evidence if (case.tokens, case.heads) == (tokens, heads)]


def _left(runs: list[OneLayer], step: float | None = None) -> Float[np.ndarray, "tasks"]:
    """The log10 of the gap over the first, at a step or at the end."""
    at = [-1 if step is None else int(np.searchsorted(run.run.steps, step)) for run in runs]
    return np.array([np.log10(run.gaps[i] / run.gaps[0]) for run, i in zip(runs, at, strict=True)])


def _on_average(
    evidence: Evidence[OneLayer], values: np.ndarray, bound: float, part: str, *, below: bool = True
) -> Inequality:
    """The mean over tasks (or over the starts of a plan) is below a bound, or above it."""
    mean, error = mean_of(values)
    compare = at_most if below else at_least
    return compare(mean, bound, error=error, part=part, cases=[_average(evidence)])


def _average(evidence: Evidence[OneLayer]) -> str:
    plan = evidence.cases[0].group
    return f"{plan}, average over first weights" if plan else "average over tasks"


def _lacks(evidence: Evidence[OneLayer], *kinds: str, few: bool = False) -> Silence | None:
    """Why the statement does not speak of a user's plan: other tokens, or no H < N."""
    there = {case.tokens for case in evidence}
    if missing := [kind for kind in kinds if kind not in there]:
        reason = f"it speaks of {missing[0]} tokens, and those of {evidence.cases[0].group} are not"
        return Silence(reason, applies=False)
    if few and _numbers_of_heads(evidence)[0] >= evidence.cases[0].task.N:
        return Silence("it speaks of fewer heads than examples, and N is 1", applies=False)
    return None


def fall_together(curves: Mapping[str, Float[np.ndarray, "records"]]) -> list[Comparison]:
    """The mean logarithm over the first third of the records against the first one, before
    training, and that over the last third against it."""
    comparisons: list[Comparison] = []
    for name, curve in curves.items():
        logs = np.log(curve)
        if len(logs) < 4:
            return [Silence("the run has too few records for three parts", part="trend")]
        first, _, last = (part.mean() for part in np.array_split(logs[1:], 3))
        part = f"log of the loss, {name.replace('_', ' ')}"
        levels = [first, last], [logs[0], first]
        comparisons.append(at_most(*levels, strict=True, part=part, places=np.arange(2)))
    return comparisons


def _numbers_of_heads(evidence: Evidence[OneLayer]) -> list[int]:
    return sorted({case.heads for case in evidence})


def _chosen(evidence: Evidence[OneLayer]) -> int:
    """The number of heads of Figure 2: at least twice as many as examples."""
    enough = 2 * evidence.cases[0].task.N
    return min(heads for heads in _numbers_of_heads(evidence) if heads >= enough)


@claim(
    "figure-2a/trend",
    "Section 4, Figure 2a",
    "Training loss and both inference losses fall together: with unit tokens and twice as many "
    "heads as examples, or more, each is lower at every record than at the one before.",
)
@case_by_case
def figure_2a_trend(case: OneLayer) -> Comparisons:
    """Until the gap is rounding error; that of the training loss is half the inference loss in
    domain."""
    if case.tokens != "unit" or case.heads < 2 * case.task.N:
        return OTHERS
    known = case.gaps > SINGLE * case.gaps[0]
    curves = {name: np.where(known, case.run[name], np.nan) for name in ("gap", "out_of_domain")}
    return [
        at_most(curve[1:], curve[:-1], strict=True, part=name.replace("_", " "))
        for name, curve in curves.items()
    ]


SINGLE = 1e-5
"""In float32 smaller gaps, relative to the first, may rise by rounding."""


@claim(
    "figure-2a/literal",
    "Section 4, Setup; Figure 2a",
    "In the set-up to the letter, Gaussian tokens and batches of 256 from 10,000 prompts, training "
    "loss and both inference losses fall together: each from the start to the first third of the "
    "run, and from that to the last third, by the means of its logarithm.",
    on=SAMPLED,
)
@case_by_case
def figure_2a_literal(case: OneLayer) -> Comparisons:
    """By thirds, as batches make every curve rise now and then."""
    if case.tokens != "Gaussian":
        return OTHERS
    return fall_together({name: case.run[name] for name in ("sample_loss", "gap", "out_of_domain")})


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
    "With twice as many heads as examples the output tends to y*, for tokens of unit norm.",
    tokens="unit",
    versions=[
        Version(
            "gaussian",
            statement="For Gaussian tokens, as the paper's experiments have them.",
            parameters={"tokens": "Gaussian"},
        )
    ],
)
@for_each_plan
def figure_2a_converges(evidence: Evidence[OneLayer], tokens: str) -> Comparisons:
    """The gap over the first, task by task, by its trend over the last part of the run."""
    if silence := _lacks(evidence, tokens):
        return silence
    runs = _runs(evidence, tokens, _chosen(evidence))
    curves = [run.gaps / run.gaps[0] for run in runs]
    return tends_to(curves, part="gap over the first", cases=runs, places=runs[0].run.steps)


@claim(
    "own/saturation",
    "Section 4, Figure 2a",
    "With Gaussian tokens attention is saturated at the start, and the same training ends at a "
    "larger gap than with unit tokens, on average over tasks.",
)
@for_each_plan
def own_saturation(evidence: Evidence[OneLayer]) -> Comparisons:
    """For all numbers of heads up to twice that of examples; the features are the same."""
    if silence := _lacks(evidence, *KINDS):
        return silence
    most = _chosen(evidence)
    numbers = [heads for heads in _numbers_of_heads(evidence) if heads <= most]
    gaussian, unit = (
        np.mean([_left(_runs(evidence, kind, heads)) for heads in numbers], axis=0)
        for kind in KINDS
    )
    part = "log10 of the ratio of last gaps"
    return _on_average(evidence, gaussian - unit, 0.0, part, below=False)


KINDS = ("Gaussian", "unit")


@claim(
    "section-4/setup",
    "Section 4, Setup",
    "The experiments start as Section 3 has it: w = 0, and Gaussian Q by which Assumption 2 holds.",
    on=AT_START,
    versions=[
        Version(
            "tokens",
            where="Section 4, Setup; Section 2",
            statement="And their tokens have norm 1, as Theorem 1 needs it.",
            kind="hypothesis",
            parameters={"tokens": True},
        )
    ],
)
@case_by_case
def section_4_setup(start: Start, tokens: bool = False) -> Comparisons:
    """zeta_0 in as many digits as it takes: at the paper's size it is below 1e-40."""
    if tokens:
        return equal(start.task.norms.max(), 1.0, part="largest norm of a token")
    if not (start.exact or start.plan.frozen.resolved):
        return Silence("zeta_0 is too small for the digits that there is time for")
    full = sum(least > 0 for least, _ in start.eigenvalues)
    return [
        equal(np.asarray(start.plan.start.w).ravel(), 0.0, size=1.0, part="w"),
        equal(full, len(start.eigenvalues), part="how many B_k have full rank"),
    ]


@claim(
    "own/sample-floor",
    "Section 4, Setup",
    "The population loss and a training set of n = 10,000 prompts are different experiments: least "
    "squares on the sample has a gap of (N/n) L* up to a factor of two, and training on it ends "
    "above that.",
    on=SAMPLED,
)
@case_by_case
def own_sample_floor(case: OneLayer) -> Comparisons:
    """With the population loss the least gap is zero."""
    if case.group:
        reason = (
            "the factor of two is for the sizes of Section 4: with few coefficients the noise of "
            "a prompt, tau ||lambda||^2, varies more"
        )
        return Silence(reason, applies=False)
    labels, N = case.run.how.labels, case.task.N
    floor = float(case.task.gap(np.linalg.lstsq(labels[:, :N], labels)[0]))
    expected = N / len(labels) * case.task.minimum
    return [
        at_least(floor, expected / 2, baseline=0.0, part="gap of least squares, from below"),
        at_most(floor, 2 * expected, part="gap of least squares, from above"),
        at_least(case.gaps[-1], floor, baseline=0.0, part="last gap of training"),
    ]


@claim(
    "figure-4/few-heads",
    "Section 4, Figure 4",
    "With fewer heads than examples the loss ends far from its minimum, for Gaussian tokens as in "
    "the figure: on average over tasks above a hundredth of the first gap.",
)
@for_each_plan
def figure_4_few_heads(evidence: Evidence[OneLayer]) -> Comparisons:
    if silence := _lacks(evidence, "Gaussian", few=True):
        return silence
    N = evidence.cases[0].task.N
    few = [heads for heads in _numbers_of_heads(evidence) if heads < N]
    return [
        _on_average(
            evidence,
            _left(_runs(evidence, "Gaussian", heads)),
            np.log10(FAR),
            f"log10 of the last gap over the first, H = {heads}",
            below=False,
        )
        for heads in few
    ]


@claim(
    "figure-4/stops",
    "Section 4, Figure 4",
    "With fewer heads than examples the loss stops descending, while with H = N it goes on: in the "
    "last quarter of training the logarithm of the gap falls less, on average over tasks with "
    "Gaussian tokens.",
)
@for_each_plan
def figure_4_stops(evidence: Evidence[OneLayer]) -> Comparisons:
    """Task by task, the one fall against the other."""
    if silence := _lacks(evidence, "Gaussian", few=True):
        return silence
    N, part = evidence.cases[0].task.N, "log10 of the gap, fall with H = N less that with H = "
    enough = _last_falls(_runs(evidence, "Gaussian", N))
    return [
        _on_average(evidence, enough - _last_falls(runs), 0.0, f"{part}{heads}", below=False)
        for heads in _numbers_of_heads(evidence)
        if heads < N
        for runs in [_runs(evidence, "Gaussian", heads)]
    ]


def _last_falls(runs: list[OneLayer]) -> Float[np.ndarray, "tasks"]:
    return _left(runs, 0.75 * float(runs[0].run.steps[-1])) - _left(runs)


@claim(
    "figure-4/enough-heads",
    "Section 4, Figure 4",
    "With H = N the loss keeps falling, though slowly: in the second half of training the gap "
    "shrinks further.",
)
@case_by_case
def figure_4_enough_heads(case: OneLayer) -> Comparisons:
    if case.heads != case.task.N:
        return OTHERS
    halfway = case.gaps[np.searchsorted(case.run.steps, case.run.steps[-1] / 2)]
    return at_most(case.gaps[-1], halfway, strict=True, part="gap")


@claim(
    "figure-4/many-heads",
    "Section 4, Figure 4",
    "Too many heads, 13N as in the figure, lead to instability and divergence: for Gaussian tokens "
    "the gap ends above that which twice as many heads as examples have after the same steps.",
    kind="substance",
)
@for_each_plan
def figure_4_many_heads(evidence: Evidence[OneLayer]) -> Comparisons:
    """Task by task; it ends far below."""
    if silence := _lacks(evidence, "Gaussian"):
        return silence
    many = _runs(evidence, "Gaussian", _numbers_of_heads(evidence)[-1])
    usual = _runs(evidence, "Gaussian", _chosen(evidence))
    step = float(many[0].run.steps[-1])
    part = "log10 of the last gap over the first"
    return at_least(_left(many), _left(usual, step), part=part, cases=many)


@claim(
    "own/heads-per-step",
    "Sections 3.3 and 4, Figure 4",
    "Step by step, more heads are faster: on average over tasks, after a tenth of the steps, the "
    "gap falls from each number of heads to the next.",
)
@for_each_plan
def own_heads_per_step(evidence: Evidence[OneLayer]) -> Comparisons:
    """The gap with one number of heads against that with the next."""
    early = min(int(case.run.steps[-1]) for case in evidence) / 10
    heads = _numbers_of_heads(evidence)
    kinds = [kind for kind in KINDS if any(case.tokens == kind for case in evidence)]
    changes = []
    for kind in kinds:
        rows = np.array([_left(_runs(evidence, kind, H), early) for H in heads])
        changes.append(mean_of(np.diff(rows, axis=0), axis=1))
    means, errors = (np.array(values) for values in zip(*changes, strict=True))
    return at_most(
        means,
        0.0,
        error=errors,
        strict=True,
        part="change of the log10 of the gap",
        cases=[f"{kind} tokens" for kind in kinds],
        places=heads[:-1],
    )


@claim(
    "own/feature-learning",
    "Section 4",
    "Training is not frozen attention: with unit tokens and H < N the gap falls below the least "
    "that any w reaches with attention as at the start, on average over tasks.",
)
@for_each_plan
def own_feature_learning(evidence: Evidence[OneLayer]) -> Comparisons:
    """For all such H together; the floor is a residual of least squares, known exactly."""
    if silence := _lacks(evidence, "unit", few=True):
        return silence
    N = evidence.cases[0].task.N
    runs = [_runs(evidence, "unit", H) for H in _numbers_of_heads(evidence) if H < N]
    left = [
        [np.log10(run.gaps[-1] / (run.plan.frozen.floor or np.nan)) for run in own] for own in runs
    ]
    part, values = "log10 of the last gap over the floor", np.mean(left, axis=0)
    if evidence.cases[0].group and not np.mean(values) < 0:
        steps = int(runs[0][0].run.steps[-1])
        return Silence(
            f"it has not fallen so far in {steps:,} steps; more may be needed", part=part
        )
    return _on_average(evidence, values, 0.0, part)

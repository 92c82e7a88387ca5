"""Theorem 2 and its proof, and the inference losses of Section 4 in closed form."""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.stats import chi2

from lemmata.claims import (
    Comparison,
    Comparisons,
    at_least,
    at_most,
    case_by_case,
    equal,
    share_at_most,
    statements,
)
from lemmata.settings import Evidence

from ..experiments.inference import PROMISES, PROMPTS, Asked
from ..experiments.points import POINTS, Point
from ..setting import CONVERGENCE, NOISE, prediction_error, shifted_law, standard_law
from ._averages import prompts_under, too_many
from ._in_balls import spectral_gap
from ._rounding import OPERATIONS

claim = statements("context", on=PROMISES)
at_points = partial(claim, on=POINTS, hypotheses=(NOISE,))


@claim(
    "theorem-2",
    "Section 3.2, Theorem 2, (21), (22)",
    "After T steps the error ||y-hat - y*||^2 / (2K) is at most epsilon with probability at least "
    "1 - delta, for every lambda of norm at most B.",
    hypotheses=CONVERGENCE,
)
def theorem_2(evidence: Evidence[Asked]) -> Comparisons:
    """With the worst lambda, at T exactly: of descent, for the epsilon that makes T its length, and
    with attention frozen for the plan's epsilon; and by how much T is too long."""

    def missed(case: Asked) -> float:
        return float(np.sum(case.errors(case.run.away) > case.epsilon_reached))

    parts = [
        _outside(evidence, missed, "share of prompts outside after training"),
        _outside(evidence, _missed_at_T, "share of prompts outside with attention frozen"),
    ]
    needy = evidence.where(lambda case: case.needed() > 0)
    if len(needy):
        needed, really = (
            needy.each(value) for value in (lambda c: c.needed(), lambda c: c.really_needed)
        )
        part = "T against what is really needed"
        parts.append(at_least(needed, really, part=part, cases=needy.cases))
    return parts


def _missed_at_T(case: Asked, times: float = 1.0) -> float:
    """Prompts outside at T, for ||lambda|| so many times the plan's B, with attention frozen."""
    errors = case.errors(case.away(case.needed(times)), times)
    return float(np.sum(errors > case.plan.epsilon))


def _outside(evidence: Evidence[Asked], count: Callable[[Asked], float], part: str) -> Comparison:
    deltas = evidence.each(lambda case: case.plan.delta)
    return share_at_most(evidence.each(count), PROMPTS, deltas, part=part)


@claim(
    "assumption-4",
    "Section 3.2, Assumption 4",
    "Any bound B on ||lambda|| will do, and costs little: with ten times B, T grows by "
    "log(100) / -log(1 - eta_w zeta_0 / (2K)), and (22) holds again.",
    hypotheses=CONVERGENCE,
)
def assumption_4(evidence: Evidence[Asked]) -> Comparisons:
    """T in whole steps, where it is not zero, and prompts with ||lambda|| = 10 B after it."""
    outside = _outside(evidence, partial(_missed_at_T, times=10.0), "share of prompts outside")
    needy = evidence.where(lambda case: case.needed() > 0)
    if not len(needy):
        return outside
    added = needy.each(lambda case: case.needed(10.0) - case.needed())
    stated = needy.each(lambda case: np.log(100) / -case.run.log_guaranteed)
    part = "steps added, against what is stated"
    return [
        outside,
        at_most(np.abs(added - stated), 1.0, size=stated, part=part, cases=needy.cases),
    ]


@claim(
    "equation-68",
    "Appendix C, (68)",
    "||y - Z'lambda||^2 exceeds tau ||lambda||^2 (N + 2 sqrt(N s) + 2 s) with probability at most "
    "exp(-s).",
)
@case_by_case
def equation_68(case: Asked) -> Comparisons:
    """The exact tail of chi-square with N degrees of freedom."""
    s, N = np.array([0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0]), case.task.N
    tail = chi2.sf(N + 2 * np.sqrt(N * s) + 2 * s, N)
    return at_most(tail, np.exp(-s), baseline=1.0, part="probability", places=s)


@claim(
    "equation-69",
    "Appendix C, (69)",
    "||y|| <= B (||Z|| + sqrt(tau) (N + 2 sqrt(N log(1/delta)) + 2 log(1/delta))^(1/2)) with "
    "probability at least 1 - delta.",
    hypotheses=(NOISE,),
)
@case_by_case
def equation_69(case: Asked) -> Comparisons:
    """The share of prompts with longer labels, for the lambda of norm B with the largest signal."""
    labels = case.labels(case.worst(np.eye(case.task.N)))
    longer = np.sum(np.linalg.norm(labels, axis=1) > case.plan.label_bound)
    part = "share of prompts with longer labels"
    return share_at_most(longer, PROMPTS, case.plan.delta, part=part)


@at_points("equation-70", "Appendix C, (70)", "||A-hat - A||_2 <= sqrt(2K (L - L*) / (m tau)).")
@case_by_case
def equation_70(point: Point) -> Comparisons:
    """The gap is ||Z-bar (A-hat - A)||^2, known up to the condition of Z-bar."""
    task, gap = point.task, point.here.gap
    rounding = OPERATIONS * task.spectral / task.ridge**0.5
    bound, away = np.sqrt(2 * task.K * gap / task.ridge), np.linalg.norm(point.here.delta, 2)
    return at_most(away, bound, rounding=rounding, part="distance from A")


@at_points(
    "equation-70/loss",
    "Appendix C, the display before (70)",
    "L = ||Z-bar (A-hat - A)||_2^2 / (2K) + L* with the spectral norm.",
    kind="misprint",
    exact=spectral_gap,
)
@case_by_case
def equation_70_loss(point: Point) -> Comparisons:
    """It is the Frobenius norm."""
    spectral = np.linalg.norm(point.here.weighted, 2) ** 2 / (2 * point.task.K)
    return equal(spectral, point.here.gap, part="gap by the spectral norm")


@claim(
    "own/in-domain",
    "Section 4",
    "In domain the expected inference loss ||y-hat - y*||^2 / K is twice the gap, for all weights.",
    on=POINTS,
)
@case_by_case
def own_in_domain(point: Point) -> Comparisons:
    """Rounding is relative to ||Z-bar||^2 ||A-hat - A||^2, of which the two are parts."""
    task, at = point.task, point.here
    loss = prediction_error(task, standard_law(task.m), at.combined)
    size = task.spectral**2 * np.sum(at.delta**2) / task.K
    return equal(loss, 2 * at.gap, size=size, part="loss")


@claim(
    "own/out-of-domain",
    "Section 4",
    "Under N(1, 4 I) the expected inference loss is more than four times that in domain, for all "
    "weights but those with no loss at all: it is higher and falls with it.",
    hypotheses=(NOISE,),
    on=POINTS,
)
@case_by_case
def own_out_of_domain(point: Point) -> Comparisons:
    """In domain it is twice the gap."""
    loss = prediction_error(point.task, shifted_law(point.task.m), point.here.combined)
    bound = 8 * point.here.gap if point.here.gap else np.nan
    return at_least(loss, bound, strict=True, baseline=0.0, part="loss")


@claim(
    "own/inference-losses",
    "Section 4",
    "The closed forms of both inference losses are what averages over prompts give.",
    on=POINTS,
)
@case_by_case
def own_inference_losses(point: Point) -> Comparisons:
    """||y-hat - y*||^2 / K, prompt by prompt; rounding is relative to what the parts could be."""
    task, at = point.task, point.here
    if (silence := too_many(task)) is not None:
        return silence
    comparisons = []
    for part, law in (("in", standard_law(task.m)), ("out of", shifted_law(task.m))):
        labels, chances = prompts_under(task, law)
        errors = np.sum((labels[:, : task.N] @ at.delta) ** 2, axis=1) / task.K
        size = np.trace(law.second_moment) * task.spectral**2 * np.sum(at.delta**2)
        stated = prediction_error(task, law, at.combined)
        comparisons.append(equal(chances @ errors, stated, size=size, part=f"{part} domain"))
    return comparisons

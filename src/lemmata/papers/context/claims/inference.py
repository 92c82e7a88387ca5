"""Theorem 2 and its proof, and the inference losses of Section 4 in closed form."""

from dataclasses import replace

import numpy as np
from scipy.stats import chi2

from lemmata.claims import Comparisons, at_least, at_most, equal, share_at_most, statements
from lemmata.settings import Evidence

from ..experiments.inference import PROMISES, Promise
from ..experiments.points import POINTS, Point
from ..experiments.prompts import PROMPTS, Prompts
from ..setting import CONVERGENCE, NOISE, prediction_error, shifted_law, standard_law
from ._averages import mean_is

claim = statements("context")


@claim(
    "theorem-2",
    "Section 3.2, Theorem 2, (21), (22)",
    "After T steps the error ||y-hat - y*||^2 / (2K) is at most epsilon with probability at least "
    "1 - delta, for every lambda of norm at most B.",
    hypotheses=CONVERGENCE,
    on=PROMISES,
)
def theorem_2(evidence: Evidence[Promise]) -> Comparisons:
    """The share of prompts outside, and by how much T is too long."""
    outside = share_at_most(
        evidence.each(lambda case: np.sum(case.at_T > case.plan.epsilon)),
        evidence.each(lambda case: len(case.labels)),
        evidence.each(lambda case: case.plan.delta),
        part="share of prompts outside",
    )
    needy = _needy(evidence)
    if not len(needy):
        return outside
    longer = at_least(
        needy.each(lambda case: case.needed),
        needy.each(lambda case: case.really_needed),
        part="T against what is really needed",
        cases=needy.cases,
    )
    return [outside, longer]


def _needy(evidence: Evidence[Promise]) -> Evidence[Promise]:
    """Where T is not zero."""
    return evidence.where(lambda case: case.needed > 0)


@claim(
    "assumption-4",
    "Section 3.2, Assumption 4",
    "Any bound B on ||lambda|| will do, and costs little: ten times B adds "
    "log(100) / -log(1 - eta_w zeta_0 / (2K)) to T.",
    hypotheses=CONVERGENCE,
    on=PROMISES,
)
def assumption_4(evidence: Evidence[Promise]) -> Comparisons:
    """T with B and with 10 B, where T is not zero."""
    needy = _needy(evidence)

    def with_ten_times_the_bound(case: Promise) -> float:
        wider = replace(case.plan, bound=10 * case.plan.largest_coefficient)
        return replace(case, plan=wider).needed

    longer = needy.each(with_ten_times_the_bound)
    return equal(
        longer - needy.each(lambda case: case.needed),
        needy.each(lambda case: np.log(100) / -np.log1p(-float(case.run.used.guaranteed))),
        size=longer,
        part="what is added",
        cases=needy.cases,
    )


@claim(
    "equation-68",
    "Appendix C, (68)",
    "||y - Z'lambda||^2 exceeds tau ||lambda||^2 (N + 2 sqrt(N s) + 2 s) with probability at most "
    "exp(-s).",
    on=PROMISES,
)
def equation_68(evidence: Evidence[Promise]) -> Comparisons:
    """The exact tail of chi-square with N degrees of freedom."""
    s = np.array([0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0])
    N = evidence.each(lambda case: case.task.N)
    tail = chi2.sf(N + 2 * np.sqrt(N * s) + 2 * s, N)
    return at_most(tail, np.exp(-s), baseline=1.0, part="probability", places=s)


@claim(
    "equation-69",
    "Appendix C, (69)",
    "||y|| <= B (||Z|| + sqrt(tau) (N + 2 sqrt(N log(1/delta)) + 2 log(1/delta))^(1/2)) with "
    "probability at least 1 - delta.",
    hypotheses=(NOISE,),
    on=PROMISES,
)
def equation_69(evidence: Evidence[Promise]) -> Comparisons:
    """The share of prompts with longer labels; lambda has the norm B."""
    return share_at_most(
        evidence.each(
            lambda case: np.sum(np.linalg.norm(case.labels, axis=1) > case.plan.label_bound)
        ),
        evidence.each(lambda case: len(case.labels)),
        evidence.each(lambda case: case.plan.delta),
        part="share of prompts with longer labels",
    )


@claim(
    "own/in-domain",
    "Section 4",
    "In domain the expected inference loss ||y-hat - y*||^2 / K is twice the gap, for all weights.",
    on=POINTS,
)
def own_in_domain(evidence: Evidence[Point]) -> Comparisons:
    """Rounding is relative to ||Z-bar||^2 ||A-hat - A||^2, of which the two are parts."""
    return equal(
        evidence.each(lambda p: prediction_error(p.task, standard_law(p.task.m), p.here.combined)),
        evidence.each(lambda p: 2 * p.here.gap),
        size=evidence.each(lambda p: p.task.spectral**2 * np.sum(p.here.delta**2) / p.task.K),
        part="loss",
    )


@claim(
    "own/out-of-domain",
    "Section 4",
    "Under N(1, 4 I) the expected inference loss is more than four times that in domain, for all "
    "weights: it is higher and falls with it.",
    hypotheses=(NOISE,),
    on=POINTS,
)
def own_out_of_domain(evidence: Evidence[Point]) -> Comparisons:
    """In domain it is twice the gap."""
    return at_least(
        evidence.each(lambda p: prediction_error(p.task, shifted_law(p.task.m), p.here.combined)),
        evidence.each(lambda p: 4 * 2 * p.here.gap),
        strict=True,
        baseline=0.0,
        part="loss",
    )


@claim(
    "own/inference-losses",
    "Section 4",
    "The closed forms of both inference losses are what sampled prompts give.",
    on=PROMPTS,
)
def own_inference_losses(evidence: Evidence[Prompts]) -> Comparisons:
    """Averages over prompts."""
    return [
        mean_is(
            part,
            evidence,
            lambda case, law=law: case.errors(law(case.task.m), case.combined),
            lambda case, law=law: prediction_error(case.task, law(case.task.m), case.combined),
        )
        for part, law in (("in domain", standard_law), ("out of domain", shifted_law))
    ]

"""The judge: what a comparison is worth on the evidence. Only here are comparisons given verdicts.

It also measures what a check can tell: the tightness of an inequality, the resolution of an
identity or a limit, the confidence interval of a share. A check that could not have failed decides
nothing.
"""

from typing import Any

from lemmata._errors import named
from lemmata.settings import Evidence

from ._comparisons import Comparison, Fact, Identity, Inequality, Limit, Share, Silence
from ._identity import judge_identity
from ._inequality import judge_inequality
from ._limit import judge_limit
from ._places import says
from ._share import judge_share
from ._verdict import Judgement, Status


def judge(comparison: Comparison, evidence: Evidence[Any]) -> Judgement:
    """What the comparison is worth on the evidence."""
    match comparison:
        case Inequality():
            return judge_inequality(comparison, evidence)
        case Identity():
            return judge_identity(comparison, evidence)
        case Limit():
            return judge_limit(comparison, evidence)
        case Share():
            return judge_share(comparison, evidence)
        case Fact():
            return _judge_fact(comparison)
        case Silence():
            status = Status.UNDECIDED if comparison.applies else Status.INAPPLICABLE
            return Judgement(comparison.part, status, says(comparison.part, comparison.reason))
        case _:
            raise TypeError(f"{comparison!r} is no comparison; use lm.at_least, lm.equal and so on")


def judge_for(name: str, comparison: Comparison, evidence: Evidence[Any]) -> Judgement:
    """The same; what is wrong with the comparison is said with the name of its claim."""
    with named(name):
        return judge(comparison, evidence)


def _judge_fact(fact: Fact) -> Judgement:
    if not fact.checked:
        return Judgement(fact.part, Status.UNDECIDED, says(fact.part, "there was nothing to see"))
    status = Status.HOLDS if fact.holds else Status.FAILS
    return Judgement(
        fact.part, status, fact.reason, fact.margin, witness=fact.witness, case=fact.case
    )

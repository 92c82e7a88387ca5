"""Check a claim on a bench."""

from lemmata.old_claims._bench import Bench
from lemmata.old_claims._claim import Claim, Evidence
from lemmata.old_claims._verdict import Judgement, Status, Verdict, combine


def check(claim: Claim, bench: Bench) -> Verdict:
    """Run the claim's experiment, judge it, and judge the negative control.

    On the user's data the statement is judged there alone; otherwise a counterexample within its
    literal hypotheses counts too.
    """
    evidence = bench.evidence(claim.experiment)
    broken = _unmet(claim, evidence)
    if broken is not None:
        return _verdict(claim, (broken,), None)
    applicable = _applicable(claim, evidence)
    judgements: tuple[Judgement, ...] = ()
    if claim.counterexample is not None and bench.instances is None:
        judgements = tuple(claim.counterexample(bench))
    judgements += tuple(claim.check(evidence.select(applicable), False))
    control = combine(claim.check(evidence.select(applicable), True)).status
    return _verdict(claim, judgements, control)


def _applicable(claim: Claim, evidence: Evidence) -> list[int]:
    codes = frozenset().union(*(assumption.broken_by for assumption in claim.assumptions))
    return [
        index
        for index in range(len(evidence))
        if not any(problem.code in codes for problem in evidence.problems(index))
    ]


def _unmet(claim: Claim, evidence: Evidence) -> Judgement | None:
    """Why the statement speaks of no instance, or None if it speaks of one."""
    if _applicable(claim, evidence):
        return None
    for assumption in claim.assumptions:
        for problem in evidence.problems(0) if len(evidence) else ():
            if problem.code in assumption.broken_by:
                return Judgement(
                    "assumptions",
                    Status.INAPPLICABLE,
                    f"{assumption.name} is not met: {problem.message} ({problem.where})",
                    witness={
                        "assumption": assumption.name,
                        "problem": problem.code,
                        "where": problem.where,
                    },
                )
    return Judgement("assumptions", Status.INAPPLICABLE, "there is no instance to check")


def _verdict(claim: Claim, judgements: tuple[Judgement, ...], control: Status | None) -> Verdict:
    overall = combine(judgements)
    status, reason = overall.status, overall.reason
    if control not in (None, Status.FAILS) and status in (Status.HOLDS, Status.VACUOUS):
        status = Status.UNDECIDED
        reason = f"the check cannot fail here: its negative control came out as {control}"
    return Verdict(
        claim=claim.name,
        status=status,
        reason=reason,
        statement=claim.statement,
        where=claim.where,
        experiment=claim.experiment.says,
        parts=judgements,
        margin=overall.margin,
        informative_from=overall.informative_from,
        witness=overall.witness,
        control=control,
    )

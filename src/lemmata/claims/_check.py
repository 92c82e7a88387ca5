"""Check a claim on a bench."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from lemmata._errors import InputError
from lemmata.settings import Evidence

from ._claim import Claim
from ._comparisons import Comparison
from ._experiment import Bench
from ._judge import judge_for
from ._verdict import Judgement, Status, Support, Verdict, combine


def check(claim: Claim, bench: Bench) -> Verdict:
    """Run the claim's experiment and judge what the claim asserts about it.

    On the user's data the statement is judged there alone; otherwise a counterexample within its
    literal hypotheses counts too.
    """
    refuse_idle_options(claim, bench)
    _refuse_no_steps(bench)
    return _check_as_changed(claim, bench) if bench.options else _check(claim, bench)


def _check_as_changed(claim: Claim, bench: Bench) -> Verdict:
    """With the training that a user asks for, which may be too short for what is measured.

    Infinities are judged, without a warning; what cannot be measured at all is said.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return _check(claim, bench)
    except (IndexError, np.linalg.LinAlgError) as error:
        asked = ", ".join(f"{name} {value}" for name, value in bench.options.items())
        raise InputError(
            f"{claim.name} cannot be checked with {asked}: such a training does not reach what the "
            "statement speaks of; ask for more steps, or for the usual ones"
        ) from error


def _check(claim: Claim, bench: Bench) -> Verdict:
    if claim.experiment.own and bench.instances is not None:
        text = "it speaks of its own instances, and your data cannot take their place"
        return _verdict(claim, bench, [(Judgement("data", Status.INAPPLICABLE, text), None)], None)
    evidence, applicable = evidence_for(claim, bench)
    judged: list[tuple[Judgement, Any]] = []
    if claim.counterexample is not None and bench.instances is None:
        judged += _judge_all(claim.name, claim.counter(bench), applicable)
    if len(applicable):
        judged += _judge_all(claim.name, claim.compare(applicable), applicable)
    if not judged or (not len(applicable) and evidence.cases + evidence.skipped):
        judged.append((_unmet(claim, evidence), None))
    support = Support(
        instances=len(applicable),
        set_aside=len(evidence) - len(applicable) + len(evidence.skipped),
        steps=None if evidence.steps is None else float(np.max(evidence.steps, initial=0)),
        seed=bench.seed,
    )
    return _verdict(claim, bench, judged, support)


def evidence_for(claim: Claim, bench: Bench) -> tuple[Evidence[Any], Evidence[Any]]:
    """What the claim's experiment gives, and the part of it that meets the hypotheses."""
    evidence: Evidence[Any] = bench.evidence(claim.experiment)
    return evidence, evidence.select(_applicable(claim, evidence))


def refuse_idle_options(claim: Claim, bench: Bench) -> None:
    """An option that changes nothing is an error."""
    if bench.options and claim.experiment.training is None:
        raise InputError(
            f"{claim.name} trains nothing, so that {', '.join(bench.options)} would have no effect"
        )


def _refuse_no_steps(bench: Bench) -> None:
    """Without a step there is no training that a statement could be about."""
    steps = bench.options.get("steps")
    if isinstance(steps, int | float) and steps < 1:
        raise InputError(f"a claim is checked on at least 1 step of training; got --steps {steps}")


def _judge_all(
    name: str, comparisons: Sequence[Comparison], evidence: Evidence[Any]
) -> list[tuple[Judgement, Any]]:
    """Each comparison judged, with the case that its witness speaks of."""
    judged = []
    for comparison in comparisons:
        judgement = judge_for(name, comparison, evidence)
        cases = evidence.cases if comparison.cases is None else comparison.cases
        case = None
        if judgement.case is not None and judgement.case < len(cases):
            case = cases[judgement.case]
        judged.append((judgement, case))
    return judged


def _applicable(claim: Claim, evidence: Evidence[Any]) -> list[int]:
    return [
        index
        for index, case in enumerate(evidence.cases)
        if not any(hypothesis.broken(case.problems) for hypothesis in claim.hypotheses)
    ]


def _unmet(claim: Claim, evidence: Evidence[Any]) -> Judgement:
    """Why the statement speaks of no instance."""
    for case in (*evidence.cases, *evidence.skipped):
        for hypothesis in claim.hypotheses:
            for problem in hypothesis.broken(case.problems):
                return Judgement(
                    "hypotheses",
                    Status.INAPPLICABLE,
                    f"{hypothesis.title} is not met: {problem.message} ({problem.where})",
                    witness={
                        "assumption": hypothesis.title,
                        "problem": problem.code,
                        "where": problem.where,
                    },
                )
    return Judgement("hypotheses", Status.INAPPLICABLE, "there is no instance to check")


def _verdict(
    claim: Claim,
    bench: Bench,
    judged: Sequence[tuple[Judgement, Any]],
    support: Support | None,
) -> Verdict:
    parts = tuple(judgement for judgement, _ in judged)
    overall = combine(parts)
    case = next(case for judgement, case in judged if judgement is overall)
    return Verdict(
        claim=claim.name,
        status=overall.status,
        reason=overall.reason,
        statement=claim.statement,
        where=claim.where,
        experiment=bench.bind(claim.experiment).says,
        parts=parts,
        margin=overall.margin,
        informative_from=overall.informative_from,
        witness=overall.witness,
        tightness=overall.tightness,
        resolution=overall.resolution,
        kind=claim.kind if overall.status is Status.FAILS else None,
        support=support,
        instance=document_of(case),
    )


def instance_of(case: Any) -> Any:
    """The value of its setting that a case is about."""
    return getattr(case, "instance", case)


def document_of(case: Any) -> dict[str, Any] | None:
    """The instance behind a case as a document that can be read back; None if it has none."""
    instance = instance_of(case)
    return instance.document() if hasattr(instance, "document") else None

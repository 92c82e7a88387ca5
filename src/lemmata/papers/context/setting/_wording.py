"""The findings of an analysis in words, for a person who has not read the paper."""

from collections.abc import Iterator, Mapping

from rich.table import Table
from rich.text import Text

from lemmata.settings import Hypothesis

from ..theory import Real
from ._findings import (
    Applicability,
    Duration,
    Guarantees,
    Losses,
    RidgeRegression,
    Zeta,
    as_document,
)
from ._plan import Plan

MEANS = {
    "proposition-1": "a Gaussian start meets Assumption 2 with probability one",
    "theorem-1": "gradient descent at the step sizes of (16) takes the loss to its least value, at "
    "the guaranteed rate or faster",
    "theorem-2": "after T steps the transformer predicts as ridge regression does, up to epsilon",
}

VERSIONS = {
    "printed_61": "as printed in (61)",
    "repaired_61": "(61) repaired",
    "simplified_17": "as printed in (17)",
    "repaired_17": "(17) repaired",
}

STYLES = {True: "green", False: "bold red", None: "yellow"}


def describe_plan(plan: Plan) -> Iterator[Text]:
    """The task and the transformer."""
    task = plan.task
    yield Text(plan.name, style="bold")
    yield Text(
        f"Predict the labels of K = {task.K:,} tokens in d = {task.d:,} dimensions from those of "
        f"the first N = {task.N:,}; labels combine m = {task.m:,} representations with noise of "
        f"variance tau = {task.tau:g}. H = {plan.heads:,} heads start with Gaussian entries of "
        f"deviation beta = {plan.scale:g}."
    )


def describe_losses(losses: Losses) -> Iterator[Text]:
    """The loss at its best, as printed, and at the start."""
    printed = ""
    if losses.minimum_as_printed != losses.minimum:
        printed = (
            f" (the paper's formula says {losses.minimum_as_printed:.6g}: it leaves out the noise "
            "in the labels to predict)"
        )
    yield Text(
        f"The loss starts at {losses.at_start:.6g}; the least that is possible is L* = "
        f"{losses.minimum:.6g}{printed}. The gap to close is {losses.initial_gap:.6g}."
    )


def describe_ridge(ridge: RidgeRegression) -> Iterator[Text]:
    """What is learned."""
    if ridge.risk is None:
        yield Text("All tokens have their labels in the prompt: there is nothing to predict.")
        return
    yield Text(
        f"What is learned is ridge regression with the regularizer m tau = "
        f"{ridge.regularizer:g}. Its squared error on a new token, label noise aside, is "
        f"{ridge.risk:.6g}; with N tau = {ridge.best:g}, which the paper calls best, "
        f"{ridge.best_risk:.6g}."
    )


def describe_zeta(zeta: Zeta) -> Iterator[Text]:
    """zeta_0, and how well it is known."""
    if zeta.kind == "exact":
        yield Text(f"The theory's rates depend on zeta_0 = {_number(zeta.value)}.")
    elif zeta.kind == "at most":
        many = "one token" if zeta.tokens == 1 else f"{zeta.tokens} tokens"
        yield Text(
            f"The theory's rates depend on zeta_0, which is at most {_number(zeta.value)} (in "
            f"high precision, over {many}): no run will ever be that long.",
            style="yellow",
        )
    elif zeta.kind == "unknown":
        yield Text(
            "The theory's rates depend on zeta_0, which is positive but so small that float64 "
            "cannot tell it from zero, and more digits would take too long.",
            style="yellow",
        )
    else:
        yield Text(
            "zeta_0 = 0: the theory has no step size and no rate for this plan.", style="yellow"
        )


def describe_guarantees(guarantees: Guarantees, zeta: Zeta, plan: Plan) -> Iterator[Text | Table]:
    """Step sizes, rates and T, version by version."""
    least, most = ("at least ", "at most ") if zeta.kind == "at most" else ("", "")
    yield Text(
        f"The least gamma that (15) allows is {least}{_number(guarantees.gamma)}. "
        "The step sizes and what they guarantee, by the version of the smoothness L:"
    )
    table = Table("version of L", "L", "eta_Q", "eta_w", "rate a step", "T of (21)", box=None)
    for name, row in guarantees.versions.items():
        values = (row.L, row.eta_Q, row.eta_w, row.guaranteed, row.steps)
        table.add_row(VERSIONS[name], *map(_number, values))
    yield table
    yield Text(
        f"The best rate that Theorem 1 can promise, with any gamma, is "
        f"{most}{_number(guarantees.best_rate)}. T is for epsilon = {plan.epsilon:g}, delta = "
        f"{plan.delta:g} and ||lambda|| <= {plan.largest_coefficient:.4g}, that is for ||y|| <= "
        f"{guarantees.label_bound:.4g}."
    )


def describe_duration(
    duration: Duration, guarantees: Guarantees | None, zeta: Zeta
) -> Iterator[Text]:
    """How long training really takes."""
    if duration.largest_stable_rate is not None:
        yield Text(
            f"With attention held where it starts, descent on w is stable for eta_w below "
            f"{_number(duration.largest_stable_rate)}."
        )
    if duration.gap_needed == 0:
        yield Text("Without noise Theorem 2 asks for a gap of 0, which no number of steps reaches.")
        return
    needed = f"the gap {_number(duration.gap_needed)} that Theorem 2 needs"
    if duration.floor > duration.gap_needed:
        known = "" if zeta.kind == "zero" else ", as far as float64 can tell"
        yield Text(
            f"Attention held where it starts leaves a gap of {_number(duration.floor)}{known}, "
            f"above {needed}: attention itself has to learn.",
            style="yellow",
        )
        return
    takes = f"{_steps(duration.at_tuned_rate)} at eta_w = {_number(duration.tuned_rate)}"
    if guarantees is not None:
        rate = _number(guarantees.versions["printed_61"].eta_w)
        takes = f"{_steps(duration.at_theory_rate)} at the theory's eta_w = {rate}, {takes}"
    yield Text(f"So held, {needed} takes so many steps: {takes}.")


def describe_theorems(
    theorems: Mapping[str, Applicability], hypotheses: Mapping[str, Hypothesis]
) -> Iterator[Text]:
    """Which theorems apply, and what breaks the others."""
    for name, state in theorems.items():
        broken = "; ".join(f"not so: {hypotheses[key].says}" for key in state.broken)
        unsure = "; ".join(hypotheses[key].says for key in state.open)
        verdict = "applies"
        if broken:
            verdict = f"does not apply ({broken})"
        elif unsure:
            verdict = f"may apply (float64 cannot tell: {unsure})"
        yield Text(f"{name} {verdict}: {MEANS[name]}.", style=STYLES[state.applies])


def describe_problems(plan: Plan) -> Iterator[Text]:
    """The hypotheses that the plan does not meet, with advice."""
    for problem in plan.problems:
        yield Text(f"{problem.code}: {problem.message}", style="yellow")


def _steps(value: float | None) -> str:
    return "more than 1e300" if value is None else _number(value)


def _number(value: Real | None) -> str:
    """Four digits; whole numbers up to a billion in full."""
    plain = as_document(value)
    if isinstance(plain, str):
        return plain
    return f"{plain:,.0f}" if plain == round(plain) and 1 <= plain < 1e9 else f"{plain:.4g}"

"""The analysis in words, for a person who has not read the paper."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

MEANS = {
    "proposition-1": "a Gaussian start meets Assumption 2 with probability one",
    "theorem-1": "gradient descent at the step sizes of (16) takes the loss to its least value, at "
    "the guaranteed rate or faster",
    "theorem-2": "after T steps the transformer predicts as ridge regression does, up to epsilon",
}

ASKS = {
    "unit_tokens": "every token has norm 1",
    "noise": "tau > 0",
    "heads": "H >= N",
    "assumption-2": "every B_k has full row rank (Assumption 2)",
    "assumption-3": "some coordinate tells all prompt tokens apart (Assumption 3)",
}

VERSIONS = {
    "printed_61": "as printed in (61)",
    "repaired_61": "(61) repaired",
    "simplified_17": "as printed in (17)",
    "repaired_17": "(17) repaired",
}

STYLES = {True: "green", False: "bold red", None: "yellow"}


def describe(answer: dict[str, Any]) -> Iterator[Text | Table]:
    """The task, which theorems apply, what they promise, and what training really takes."""
    yield Text(answer["name"], style="bold")
    yield Text(
        "Predict the labels of K = {K:,} tokens in d = {d:,} dimensions from those of the first "
        "N = {N:,}; labels combine m = {m:,} representations with noise of variance tau = {tau:g}. "
        "H = {H:,} heads start with Gaussian entries of deviation beta = {beta:g}.".format(**answer)
    )
    yield from _loss(answer)
    yield from _ridge(answer)
    yield from _zeta(answer)
    if answer["theory"] is not None:
        yield from _theory(answer)
    yield from _time(answer)
    for name, state in answer["theorems"].items():
        yield Text(f"{name} {_verdict(state)}: {MEANS[name]}.", style=STYLES[state["applies"]])
    for problem in answer["problems"]:
        yield Text(f"{problem['code']}: {problem['message']}", style="yellow")


def _verdict(state: dict[str, Any]) -> str:
    if state["applies"]:
        return "applies"
    if state["broken"]:
        why = "; ".join(f"not so: {ASKS[name]}" for name in state["broken"])
        return f"does not apply ({why})"
    return f"may apply (float64 cannot tell: {'; '.join(ASKS[name] for name in state['open'])})"


def _loss(answer: dict[str, Any]) -> Iterator[Text]:
    loss = answer["loss"]
    printed = ""
    if loss["minimum_as_printed"] != loss["minimum"]:
        printed = (
            f" (the paper's formula says {loss['minimum_as_printed']:.6g}: it leaves out the noise "
            "in the labels to predict)"
        )
    yield Text(
        f"The loss starts at {loss['at_start']:.6g}; the least that is possible is L* = "
        f"{loss['minimum']:.6g}{printed}. The gap to close is {loss['initial_gap']:.6g}."
    )


def _ridge(answer: dict[str, Any]) -> Iterator[Text]:
    ridge = answer["ridge"]
    if ridge["risk"] is None:
        yield Text("All tokens have their labels in the prompt: there is nothing to predict.")
        return
    yield Text(
        f"What is learned is ridge regression with the regularizer m tau = "
        f"{ridge['regularizer']:g}. Its squared error on a new token, label noise aside, is "
        f"{ridge['risk']:.6g}; with N tau = {ridge['best']:g}, which the paper calls best, "
        f"{ridge['best_risk']:.6g}."
    )


def _zeta(answer: dict[str, Any]) -> Iterator[Text]:
    zeta = answer["zeta"]
    if zeta["kind"] == "exact":
        yield Text(f"The theory's rates depend on zeta_0 = {_number(zeta['value'])}.")
    elif zeta["kind"] == "at most":
        many = "one token" if zeta["tokens"] == 1 else f"{zeta['tokens']} tokens"
        yield Text(
            f"The theory's rates depend on zeta_0, which is at most {_number(zeta['value'])} (in "
            f"high precision, over {many}): no run will ever be that long.",
            style="yellow",
        )
    elif zeta["kind"] == "unknown":
        yield Text(
            "The theory's rates depend on zeta_0, which is positive but so small that float64 "
            "cannot tell it from zero, and more digits would take too long.",
            style="yellow",
        )
    else:
        yield Text(
            "zeta_0 = 0: the theory has no step size and no rate for this plan.", style="yellow"
        )


def _theory(answer: dict[str, Any]) -> Iterator[Text | Table]:
    theory = answer["theory"]
    bound = answer["zeta"]["kind"] == "at most"
    yield Text(
        f"The least gamma that (15) allows is {_at(bound, 'at least')}{_number(theory['gamma'])}. "
        "The step sizes and what they guarantee, by the version of the smoothness L:"
    )
    table = Table("version of L", "L", "eta_Q", "eta_w", "rate a step", "T of (21)", box=None)
    for name, row in theory["versions"].items():
        values = (row[key] for key in ("L", "eta_Q", "eta_w", "guaranteed", "steps"))
        table.add_row(VERSIONS[name], *map(_number, values))
    yield table
    yield Text(
        "The best rate that Theorem 1 can promise, with any gamma, is "
        f"{_at(bound, 'at most')}{_number(theory['best_rate'])}. T is for epsilon = "
        f"{answer['epsilon']:g}, delta = {answer['delta']:g} and ||lambda|| <= {answer['B']:.4g}, "
        f"that is for ||y|| <= {theory['label_bound']:.4g}."
    )


def _at(bound: bool, words: str) -> str:
    return f"{words} " if bound else ""


def _time(answer: dict[str, Any]) -> Iterator[Text]:
    time = answer["time"]
    stable = time["largest_stable_rate"]
    if stable is not None:
        yield Text(
            f"With attention held where it starts, descent on w is stable for eta_w below "
            f"{_number(stable)}."
        )
    if time["gap_needed"] == 0:
        yield Text("Without noise Theorem 2 asks for a gap of 0, which no number of steps reaches.")
        return
    needed = f"the gap {_number(time['gap_needed'])} that Theorem 2 needs"
    if time["floor"] > time["gap_needed"]:
        yield Text(
            f"Attention held where it starts leaves a gap of {_number(time['floor'])}, above "
            f"{needed}: attention itself has to learn.",
            style="yellow",
        )
        return
    takes = f"{_steps(time['at_tuned_rate'])} at eta_w = {_number(time['tuned_rate'])}"
    if answer["theory"] is not None:
        rate = _number(answer["theory"]["versions"]["printed_61"]["eta_w"])
        takes = f"{_steps(time['at_theory_rate'])} at the theory's eta_w = {rate}, {takes}"
    yield Text(f"So held, {needed} takes so many steps: {takes}.")


def _steps(value: float | None) -> str:
    return "more than 1e300" if value is None else _number(value)


def _number(value: float | str) -> str:
    """Four digits; whole numbers up to a billion in full."""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if value == round(value) and 1 <= value < 1e9 else f"{value:.4g}"

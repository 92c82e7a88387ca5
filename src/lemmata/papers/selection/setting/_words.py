"""The analysis in words, for a person who has not read the paper."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

MEANS = {
    "theorem-3.1": "gradient descent with one-hot encodings reaches eps in time T²d/(eta eps), up "
    "to logarithms",
    "theorem-3.3": "so it does with random encodings, drawn afresh all the time",
}

ASKS = {
    "one_hot": "encodings are one-hot",
    "not_one_hot": "encodings are not one-hot",
    "q_range": "2 <= q < T/4",
    "epsilon_range": "eps < dT/(100 (T-q) q)",
    "step_size": "eta <= 1/(20 d²)",
    "stochastic_step_size": "eta <= d_e²/(40 d² T)",
    "isometry": "the RIP with delta < 1/10",
}

KINDS = {
    "one-hot": "one-hot encodings",
    "random": "random sign encodings in {d_e} dimensions, inner products within {threshold:g}",
    "given": "your encodings in {d_e} dimensions",
}

ROUNDING = 1e-9

DRAWN = {
    "one-hot": "",
    "random": ", encodings drawn afresh (error from the draws we made)",
    "given": ", the coordinates of your encodings flipped and switched afresh",
}


def describe(answer: dict[str, Any]) -> Iterator[Text | Table]:
    """The task, its encodings, which theorems apply, and how long training will take."""
    yield Text(answer["name"], style="bold")
    kind = KINDS[answer["encodings"]].format(**answer)
    yield Text(
        f"Average q = {answer['q']} of T = {answer['T']:,} tokens in d = {answer['d']} dimensions; "
        f"{kind}. Step size eta = {answer['eta']:g}, loss to reach eps = {answer['eps']:.4g}; "
        f"predicting zero costs {answer['zero_loss']:.4g}."
    )
    if answer["encodings"] != "one-hot":
        yield from _encodings(answer)
    yield from _time(answer)
    yield from _elsewhere(answer)
    for name, state in answer["theorems"].items():
        why = "; ".join(f"not so: {ASKS[needed]}" for needed in state["broken"])
        verdict = "applies" if state["applies"] else f"does not apply ({why})"
        yield Text(
            f"{name} {verdict}: {MEANS[name]}", style="green" if state["applies"] else "bold red"
        )
    for problem in answer["problems"]:
        yield Text(f"{problem['code']}: {problem['message']}", style="yellow")


def _encodings(answer: dict[str, Any]) -> Iterator[Text | Table]:
    found = answer["measured"]
    table = Table("encodings", "value", "", box=None)
    for name, title in (
        ("coherence", "largest |<e_i, e_j>|"),
        ("isometry", "isometry"),
        ("orthogonality", "orthogonality"),
        ("off_subset", "largest |<e_i, e_y>|, i not in y"),
    ):
        exact = found.get(f"{name}_exact", True)
        table.add_row(title, f"{found[name]:.4f}", "exact" if exact else "at least")
    yield table
    outcome = {True: "yes", False: "no", None: "open: there are too many sets to go through"}
    yield Text(f"delta < 1/10, as Theorem 3.3 asks: {outcome[found['below_tenth']]}")
    if found["floor"] is not None:
        possible = found["floor"] < 0.1
        yield Text(
            f"Orthogonality of any {answer['T']} unit vectors in {answer['d_e']} dimensions is at "
            f"least {found['floor']:.4f}: "
            + (
                "this does not rule out delta < 1/10"
                if possible
                else f"delta < 1/10 is impossible below d_e = {found['least_d_e']}"
            )
        )
    if found["rival"] > 1 - ROUNDING:
        yield Text(
            f"Some position outside a subset has <e_i, e_y> = {found['rival']:.4g}, not below 1: "
            "attention cannot single out that subset.",
            style="bold red",
        )
    if found["draws"] is not None:
        yield Text(f"Rejection needs about {found['draws']:.4g} draws for {answer['T']} encodings.")


def _time(answer: dict[str, Any]) -> Iterator[Text]:
    time = answer["time"]
    if time["steps"] is None:
        yield Text(f"Loss eps is not reached within {time['searched']:,} steps.", style="yellow")
    else:
        error = time["standard_error"]
        spread = f" ± {error:,.0f}" if error else ""
        yield Text(
            f"Loss eps is reached after {time['steps']:,.0f}{spread} steps of gradient descent on "
            f"the population loss{DRAWN[answer['encodings']]}."
        )
    if time["half_attention"] is not None:
        yield Text(f"Half of the attention is on the subset after {time['half_attention']:,.0f}.")
    inertia = "T-1" if answer["encodings"] == "one-hot" else "d_e"
    compared = ""
    if time["steps"] is not None:
        compared = f" ({time['steps_over_law']:.3g} and {time['steps_over_bound']:.2g} times that)"
    yield Text(
        f"Our law for small eps, ({inertia})/(4 eta eps): {time['law']:,.0f}; the paper's bound "
        f"without logarithms, T²d/(eta eps): {time['bound']:.3g}{compared}."
    )
    limit = answer["limits"]["stable_eta"]
    if answer["eta"] >= limit:
        yield Text(
            f"eta = {answer['eta']:g} is not below 2q = {limit}, where descent stops being stable.",
            style="bold red",
        )
    else:
        yield Text(f"Descent is stable: eta < 2q = {limit}.")


def _elsewhere(answer: dict[str, Any]) -> Iterator[Text]:
    length, width = answer["length"], answer["width"]
    now = "" if length["ratio"] is None else f"{length['ratio']:.4g} times when eps is reached, "
    yield Text(
        f"At T = {length['T']:,} the loss is larger: {now}{length['law']:.4g} times in the limit "
        f"(our law for orthogonal encodings); Corollary 3.6 says O({length['paper']:g})."
    )
    yield Text(
        f"Width d + d_e = {width['transformer']:,}, against Td = {width['fully_connected']:,} for "
        f"a fully connected net, whose loss is at least {width['floor']:.4g} at the same width."
    )

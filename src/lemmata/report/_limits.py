"""Where training goes, and what says so: limits, certificates, theorems, problems."""

from collections.abc import Mapping, Sequence
from typing import Any

from lemmata._html import Markup, element, join
from lemmata.drawing import number
from lemmata.report._pieces import MOST_ROWS, chip, clean, count, facts, folded, table

MOST_PROBLEMS = 50
LONGEST_FRACTION = 60

STATUS = {
    "solved": "there is one",
    "zero": "no token strictly beats another, so there is no direction: the weights stay finite",
    "infeasible": "does not exist: the embeddings contradict the orders",
}


def limits(answer: Mapping[str, Any]) -> Markup:
    """The direction of training, what happens if there is none, and what decides ties."""
    generalized, correction = answer.get("generalized"), answer.get("cyclic_correction")
    return element(
        "section",
        element("h2", "Where the weights go"),
        element("h3", "The direction, W^mm"),
        element("p", _direction(answer["max_margin"]["status"])),
        _margin(answer["max_margin"]),
        _generalized(generalized) if generalized else None,
        _correction(correction) if correction else None,
        *[
            join(element("h3", element("code", clean(name))), _margin(found))
            for name, found in answer.items()
            if name.startswith("max_margin_")
        ],
    )


def _direction(status: str) -> str:
    """What the max-margin solution is, and what it does if there is one."""
    what = (
        "The smallest weights that put every winner ahead of each token it beats by a margin of "
        "at least 1."
    )
    does = "As training goes on, the weights grow without end and turn into this direction."
    return f"{what} {does}" if status == "solved" else what


def _margin(found: Mapping[str, Any]) -> Markup:
    exact = found.get("norm_squared_exact")
    infeasible = found.get("infeasibility")
    entries = found.get("entries") or []
    total = found.get("entries_total", len(entries))
    return join(
        facts(
            [
                ("Status", f"{found['status']}: {STATUS.get(found['status'], '')}"),
                ("Norm", _number(found["norm"])),
                (
                    "Its square, exactly",
                    exact if exact and len(exact) <= LONGEST_FRACTION else None,
                ),
                ("Certified", None if infeasible else found.get("certified")),
                ("Distance to the true one", _at_most(found.get("error_bound"))),
            ]
        ),
        _contradiction(infeasible) if infeasible else None,
        folded(f"{count(total, 'entry', 'entries')} that are not 0", _entries(entries, total))
        if entries
        else None,
    )


def _number(value: float | None) -> str | None:
    return None if value is None else number(value, 9)


def _at_most(bound: float | None) -> str | None:
    if bound is None:
        return None
    return "0: the solution is exact" if bound == 0 else f"at most {number(bound)}"


def _entries(entries: Sequence[Mapping[str, Any]], total: int) -> Markup:
    rows = [[chip(e["query"]), chip(e["token"]), clean(e["value"])] for e in entries[:MOST_ROWS]]
    return table(["last token", "token", "entry"], rows, total, "entries")


def _contradiction(certificate: Sequence[Mapping[str, Any]]) -> Markup:
    """Weights that prove it: anyone can add up the constraints."""
    rows = [
        [chip(row["query"]), chip(row["winner"]), chip(row["loser"]), clean(row["multiplier"])]
        for row in certificate[:MOST_PROBLEMS]
    ]
    head = ["last token", "winner", "beats", "weight"]
    return join(
        element(
            "p",
            "No weights can satisfy all of the orders with these embeddings. The proof: ask for a "
            "margin of 1 in each row, multiply by its weight, and add up. Up to rounding, the left "
            "sides cancel, and 0 ≥ 1 is left.",
        ),
        table(head, rows, len(certificate), "rows"),
    )


def _generalized(found: Mapping[str, Any]) -> Markup:
    separable, bound = found["separable"], found["bound"]
    direction = found["direction"]
    return join(
        element("h3", "What training does instead"),
        element(
            "p",
            "Some pairs can still be separated for good: the weights grow without end along a "
            "direction that does so. On the other pairs the samples pull against each other, the "
            "weights settle, and attention stays shared. The predictions say how.",
        ),
        facts(
            [
                ("Separated for good", count(len(separable), "pair")),
                ("Settled at finite weights", count(len(bound), "pair")),
                ("Norm of the direction", _number(direction["norm"])),
                ("Norm of the finite part", _number(found["finite_norm"])),
                ("Gradient left there", _number(found["finite_gradient_norm"])),
            ]
        ),
        folded("The separated pairs", _pairs(separable)) if separable else None,
        folded("The settled pairs", _pairs(bound)) if bound else None,
    )


def _pairs(pairs: Sequence[Mapping[str, Any]]) -> Markup:
    rows = [[chip(p["query"]), chip(p["winner"]), chip(p["loser"])] for p in pairs[:MOST_ROWS]]
    return table(["last token", "winner", "beats"], rows, len(pairs), "pairs")


def _correction(found: Mapping[str, Any]) -> Markup:
    return join(
        element("h3", "What decides ties, W^cyc"),
        element(
            "p",
            "Among tied tokens no direction wins. Their part of the weights settles at a finite "
            "value, W^cyc, and its softmax gives the shares of the attention. A norm of 0 means "
            "that all tied tokens get equal shares, or that there are none.",
        ),
        facts(
            [
                ("Norm", _number(found["norm"])),
                ("Gradient left there", _number(found["gradient_norm"])),
                ("Samples with a tie", f"{found['tied_samples']:,}"),
            ]
        ),
    )


def statements(answer: Mapping[str, Any]) -> Markup:
    """Which theorems speak about this data, and what is in the way of the others."""
    assumptions = answer.get("assumptions", {})
    theorems = answer.get("theorems", {})
    problems = answer.get("problems", [])
    rows = [
        [
            element("code", clean(name)),
            _badge(state["applies"], "applies", "does not apply"),
            _reasons(state["broken"], assumptions, problems),
        ]
        for name, state in theorems.items()
    ]
    checked = [
        [
            element("code", clean(name)),
            _badge(state["holds"], "holds", "broken"),
            ", ".join(map(clean, state["problems"])),
        ]
        for name, state in assumptions.items()
    ]
    return element(
        "section",
        element("h2", "What the theory says about this data"),
        element(
            "p",
            "A theorem speaks only about data that meets its assumptions. What it asks "
            "of the loss and of the step size is up to the training.",
        ),
        table(["theorem", "", "why not"], rows, len(rows), "theorems") if rows else None,
        element("h3", "Assumptions"),
        table(["assumption", "", "problems"], checked, len(checked), "assumptions"),
        _problems(problems),
    )


def _badge(good: bool, yes: str, no: str) -> Markup:
    return element("span", yes if good else no, class_=f"badge {'holds' if good else 'fails'}")


def _reasons(
    broken: Sequence[str],
    assumptions: Mapping[str, Mapping[str, Any]],
    problems: Sequence[Mapping[str, Any]],
) -> Markup:
    """Each broken assumption with the first problem that breaks it."""
    first: dict[str, str] = {}
    for problem in problems:
        first.setdefault(problem["code"], clean(problem["message"]))
    reasons = []
    for name in broken:
        codes = assumptions.get(name, {}).get("problems", [])
        words = "; ".join(first[code] for code in codes if code in first)
        reasons.append(element("div", element("code", clean(name)), f" {words}"))
    return join(*reasons)


def _problems(problems: Sequence[Mapping[str, Any]]) -> Markup | None:
    if not problems:
        return element("p", "No problems were found in the data.")
    rows = [
        [element("code", clean(p["code"])), clean(p["message"]), clean(p["where"])]
        for p in problems[:MOST_PROBLEMS]
    ]
    listed = table(["problem", "what it is", "where"], rows, len(problems), "problems")
    return join(element("h3", "Problems"), listed)

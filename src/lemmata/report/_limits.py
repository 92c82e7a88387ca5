"""Where training goes, and what says so: limits, certificates, theorems, problems."""

from collections.abc import Sequence

from lemmata._html import Markup, element, join
from lemmata._mathml import mathematics
from lemmata.drawing import number
from lemmata.margin import MaxMargin, Pair, Status
from lemmata.settings import Hypothesis, LimitView, OrdersView, certificate_of
from lemmata.tokens import Problem, Token

from ._pieces import MOST_ROWS, chip, clean, count, facts, folded, table

MOST_PROBLEMS = 50
LONGEST_FRACTION = 10**30

ASSUMPTION_HEAD = ("assumption", "what it asks", "status", "problems")

STATUS = {
    Status.SOLVED: "there is one",
    Status.ZERO: "no token strictly beats another, so there is no direction: the weights stay "
    "finite",
    Status.INFEASIBLE: "does not exist: the embeddings contradict the orders",
}

Words = Sequence[Token]


def limits(view: OrdersView) -> Markup | None:
    """What training goes to, each with its certificate."""
    if not view.limits:
        return None
    shown = [_limit(limit, view.vocabulary) for limit in view.limits]
    return element("section", element("h2", "Where the weights go"), *shown)


def _limit(limit: LimitView, words: Words) -> Markup:
    counted = [(title, count(len(pairs), "pair")) for title, pairs in limit.pairs.items()]
    named = [(name, _fact(value)) for name, value in limit.facts]
    return join(
        element("h3", mathematics(limit.title)),
        *[element("p", mathematics(text)) for text in limit.says],
        _margin(limit.margin, words, limit.axes) if limit.margin else None,
        facts([*counted, *named]) if counted or named else None,
        *[
            folded(f"The pairs: {title[0].lower()}{title[1:]}", _pairs(pairs, words))
            for title, pairs in limit.pairs.items()
            if pairs
        ],
    )


def _fact(value: float | int | str | None) -> str | None:
    if isinstance(value, int):
        return f"{value:,}"
    return number(value, 9) if isinstance(value, float) else value


def _margin(margin: MaxMargin, words: Words, axes: tuple[str, str]) -> Markup:
    infeasible = margin.status is Status.INFEASIBLE
    exact = margin.norm_squared_exact
    short = exact is not None and max(exact.numerator, exact.denominator) < LONGEST_FRACTION
    how = "by a duality gap" if exact is None else "exactly"
    return join(
        facts(
            [
                ("Status", f"{margin.status.value}: {STATUS[margin.status]}"),
                ("Norm", None if margin.norm is None else number(margin.norm, 9)),
                ("Its square, exactly", str(exact) if short else None),
                ("Certified", None if infeasible else how),
                ("Distance to the true one", None if infeasible else _at_most(margin.error_bound)),
            ]
        ),
        _contradiction(margin, words) if infeasible else None,
        _entries(margin, words, axes),
    )


def _at_most(bound: float) -> str:
    return "0: the solution is exact" if bound == 0 else f"at most {number(bound)}"


def _entries(margin: MaxMargin, words: Words, axes: tuple[str, str]) -> Markup | None:
    entries = [(place, value) for place, value in margin.entries.items() if value != 0]
    if not entries:
        return None
    rows = [
        [chip(words[column]), chip(words[row]), clean(value)]
        for (row, column), value in entries[:MOST_ROWS]
    ]
    return folded(
        f"{count(len(entries), 'entry', 'entries')} that are not 0",
        table([*reversed(axes), "entry"], rows, len(entries), "entries"),
    )


def _contradiction(margin: MaxMargin, words: Words) -> Markup:
    """Weights that prove it: anyone can add up the constraints."""
    certificate = list(certificate_of(margin))
    rows = [
        [chip(words[query]), chip(words[winner]), chip(words[loser]), clean(weight)]
        for query, winner, loser, weight in certificate[:MOST_PROBLEMS]
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


def _pairs(pairs: Sequence[Pair], words: Words) -> Markup:
    rows = [
        [chip(words[query]), chip(words[winner]), chip(words[loser])]
        for query, (winner, loser) in pairs[:MOST_ROWS]
    ]
    return table(["last token", "winner", "beats"], rows, len(pairs), "pairs")


def statements(view: OrdersView) -> Markup:
    """Which theorems speak about this data, and what is in the way of the others."""
    theorems = [
        [
            element("code", clean(name)),
            _badge(not broken, "applies", "does not apply"),
            _reasons(broken, view.problems),
        ]
        for name, broken in view.theorems.items()
    ]
    assumptions = [
        [
            clean(name).replace("_", " "),
            mathematics(clean(view.asks.get(name, ""))),
            _badge(not broken, "holds", "broken"),
            ", ".join(clean(code) for code in dict.fromkeys(problem.code for problem in broken)),
        ]
        for name, broken in view.assumptions.items()
    ]
    return element(
        "section",
        element("h2", "What the theory says about this data"),
        element(
            "p",
            "A theorem speaks only about data that meets its assumptions. What it asks "
            "of the loss and of the step size is up to the training.",
        ),
        table(["theorem", "speaks about this data", "why not"], theorems, len(theorems), "theorems")
        if theorems
        else None,
        element("h3", "Assumptions"),
        table(
            ["assumption", "what it asks", "status", "problems"],
            assumptions,
            len(assumptions),
            "assumptions",
        ),
        _problems(view.problems),
    )


def _badge(good: bool, yes: str, no: str) -> Markup:
    return element("span", yes if good else no, class_=f"badge {'holds' if good else 'fails'}")


def _reasons(broken: Sequence[Hypothesis], problems: Sequence[Problem]) -> Markup:
    """Each hypothesis that is not met, with the first problem of each kind that breaks it."""
    reasons = []
    for hypothesis in broken:
        first: dict[str, str] = {}
        for problem in hypothesis.broken(problems):
            first.setdefault(problem.code, clean(problem.message))
        why = "; ".join(first.values())
        reasons.append(element("div", element("code", clean(hypothesis.name)), f" {why}"))
    return join(*reasons)


def _problems(problems: Sequence[Problem]) -> Markup | None:
    if not problems:
        return element("p", "No problems were found in the data.")
    rows = [
        [element("code", clean(p.code)), clean(p.message), clean(p.where)]
        for p in problems[:MOST_PROBLEMS]
    ]
    listed = table(["problem", "what it is", "where"], rows, len(problems), "problems")
    return join(element("h3", "Problems"), listed)

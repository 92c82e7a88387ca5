"""An analysis as plain values for a page: graphs laid out, limits, theorems, problems."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from lemmata._analyses import Analysis
from lemmata._plain import plain
from lemmata.drawing import GraphLayout, NamedGraph, legible, number, percent
from lemmata.margin import MaxMargin
from lemmata.papers import Theorem
from lemmata.settings import AbstractSetting, LimitView, OrdersView
from lemmata.tokens import Problem

MOST_GRAPHS = 24
MOST_PROBLEMS = 20
MOST_EDGES = 60
"""That are told of a graph."""

MOST_ROWS, MOST_COLUMNS = 40, 40
"""Of a matrix."""

MOST_SELECTED = 40

WIDTH = 4.6
"""Of a graph, in inches: what fits on a phone."""


def analysis_document(
    setting: AbstractSetting[Any], instances: Sequence[Any], analysis: Analysis
) -> dict[str, Any]:
    """What is known about the first instance."""
    instance, view = instances[0], analysis.orders_view()
    return {
        "setting": setting.key,
        "name": str(instance.name),
        "instances": len(instances),
        "problems": _problems(instance.problems),
        "theorems": [_theorem(theorem) for theorem in analysis.theorems],
        "sliders": [
            {**plain(slider), "title": slider.name} for slider in setting.sliders(instance)
        ],
        "orders": None if view is None else _orders(view),
        "words": None if view is not None else list(_words(analysis)),
    }


def _theorem(theorem: Theorem) -> dict[str, Any]:
    """A theorem, and what is in its way."""
    return {
        "name": theorem.name,
        "statement": theorem.statement,
        "applies": theorem.applies,
        "broken": [hypothesis.says for hypothesis in theorem.broken],
        "open": [hypothesis.says for hypothesis in theorem.open],
        "kind": None if theorem.kind is None else theorem.kind.value,
    }


def _problems(problems: Sequence[Problem]) -> list[dict[str, str]]:
    return [
        {"code": problem.code, "message": problem.message, "where": problem.where}
        for problem in problems[:MOST_PROBLEMS]
    ]


def _orders(view: OrdersView) -> dict[str, Any]:
    queries = sorted(view.queries, key=lambda query: -view.samples.get(query, 0))
    return {
        "facts": {name: _fact(value) for name, value in view.facts.items()},
        "caution": view.caution,
        "ties": view.ties,
        "hidden": max(len(queries) - MOST_GRAPHS, 0),
        "graphs": [_graph(view, query) for query in queries[:MOST_GRAPHS]],
        "limits": [_limit(limit, view) for limit in view.limits],
        "selections": None
        if view.predictions is None
        else [
            {
                "input": [str(view.vocabulary[token]) for token in selection.sample.tokens],
                "label": str(view.vocabulary[selection.sample.label]),
                "count": selection.sample.count,
                "selected": [
                    f"{view.vocabulary[token]} {percent(float(share))}"
                    for token, share in zip(selection.tokens, selection.shares, strict=True)
                ],
            }
            for selection in view.predictions[:MOST_SELECTED]
        ],
    }


def _fact(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _graph(view: OrdersView, query: int) -> dict[str, Any]:
    graph = view.graphs.get(query)
    named = None
    if graph is not None:
        named = NamedGraph(graph, view.vocabulary, view.shares.get(query, {}))
    return {
        "query": legible(str(view.vocabulary[query]), substitute=False),
        "samples": view.samples.get(query),
        "unreachable": [str(view.vocabulary[token]) for token in view.unreachable.get(query, ())],
        "picture": None if named is None or not named.drawable else _picture(named),
        "tied": 0 if named is None else len(named.ties),
    }


def _picture(named: NamedGraph) -> dict[str, Any]:
    layout: GraphLayout = named.layout(width=WIDTH)
    top = {token for tied in named.winners for token in tied}
    return {
        "width": round(layout.width, 1),
        "height": round(layout.height, 1),
        "font": layout.font,
        "tokens": [
            {
                **_box(box),
                "text": layout.words[token],
                "look": "top" if token in top else "idle" if token in layout.idle else "",
            }
            for token, box in layout.tokens.items()
        ],
        "ties": [_box(box) for box in layout.ties],
        "panels": [_box(box) for box in layout.panels],
        "arrows": [[round(x, 1) for point in arrow for x in point] for arrow in layout.arrows],
        "says": "; ".join(f"{winner} beats {loser}" for winner, loser in named.edges[:MOST_EDGES]),
    }


def _box(box: Any) -> dict[str, float]:
    names = ("left", "top", "width", "height")
    return {name: round(getattr(box, name), 1) for name in names}


def _limit(limit: LimitView, view: OrdersView) -> dict[str, Any]:
    facts = [(name, _number(value)) for name, value in limit.facts if value is not None]
    if limit.margin is not None:
        facts = [*_margin(limit.margin), *facts]
    facts += [(title, f"{len(pairs)} pairs") for title, pairs in limit.pairs.items()]
    return {
        "title": limit.title,
        "says": list(limit.says),
        "facts": [{"name": name, "value": value} for name, value in facts],
        "matrix": None if limit.margin is None else _matrix(limit, limit.margin, view),
    }


def _number(value: float | int | str) -> str:
    return number(value, 9) if isinstance(value, float) else str(value)


def _margin(margin: MaxMargin) -> Iterator[tuple[str, str]]:
    yield "Status", margin.status.value
    if margin.norm is not None:
        yield "Norm", number(margin.norm, 9)
    if margin.norm_squared_exact is not None:
        yield "Its square, exactly", legible(str(margin.norm_squared_exact), substitute=False)


def _matrix(limit: LimitView, margin: MaxMargin, view: OrdersView) -> dict[str, Any] | None:
    """The part of it that is not 0, as fractions where they are known; None if all of it is."""
    rows = sorted({row for row, _ in margin.entries})
    columns = sorted({column for _, column in margin.entries})
    if not rows:
        return None
    shown = rows[:MOST_ROWS], columns[:MOST_COLUMNS]
    names = [[str(view.vocabulary[token]) for token in some] for some in shown]
    return {
        "axes": [axis.replace("token", "word") for axis in limit.axes],
        "rows": names[0],
        "columns": names[1],
        "values": [
            [str(plain(margin.entries.get((row, column), 0))) for column in shown[1]]
            for row in shown[0]
        ],
        "hidden": len(rows) * len(columns) - len(shown[0]) * len(shown[1]),
    }


def _words(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """What the terminal says: lines and tables, but for what stands elsewhere on the page."""
    instance = analysis.instance
    elsewhere = (
        *(f"{problem.code}: " for problem in instance.problems),
        *(f"{theorem.name} " for theorem in analysis.theorems),
    )
    for item in analysis.own.describe():
        if isinstance(item, Table):
            yield {
                "head": [str(column.header) for column in item.columns],
                "rows": [
                    [str(cell) for cell in row]
                    for row in zip(*(column.cells for column in item.columns), strict=True)
                ],
            }
        else:
            text = Text(item) if isinstance(item, str) else item
            if text.plain == instance.name or text.plain.startswith(elsewhere):
                continue
            yield {"says": text.plain, "style": str(text.style)}

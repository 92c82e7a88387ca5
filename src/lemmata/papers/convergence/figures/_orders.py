"""Figure 1: the inputs of Example 1, its collocation, and one order per query."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lemmata.claims import Bench
from lemmata.drawing import (
    PALETTE,
    TEXT_WIDTH,
    draw_arrow,
    draw_map,
    draw_priority_graph,
    draw_tokens,
    style,
)
from lemmata.papers._paper import Drawing
from lemmata.tokens import Role

from ..setting import Dataset, example_1


def draw(bench: Bench) -> Drawing:
    """Read the structure off Example 1; nothing is trained and nothing is random."""
    dataset = example_1()
    with style():
        picture = Figure(figsize=(TEXT_WIDTH, 2.6))
        grid = picture.add_gridspec(1, 3, width_ratios=[1.05, 0.85, 1.5])
        left, middle, right = (picture.add_subfigure(grid[column]) for column in range(3))
        _draw_inputs(left.subplots(), dataset)
        ring = middle.subplots()
        names = {token: dataset.data.name(token) for token in range(dataset.K)}
        draw_map(ring, dataset.collocation.following, names)
        ring.set_title("(b) collocation $x \\to n(x)$", loc="center")
        for query, axes in enumerate(right.subplots(2, 2).flat):
            _draw_order(axes, dataset, query, names, "cdef"[query])
    return Drawing(picture, _caption(dataset), _numbers(dataset))


def _draw_inputs(axes: Axes, dataset: Dataset) -> None:
    """One row an input, the optimal token framed, with the next token behind an arrow."""
    widest = dataset.data.longest_input
    for row, sample in enumerate(dataset.data.samples):
        chosen = dataset.orders.selected(sample)
        start = widest - len(sample.tokens)
        tokens = [dataset.data.name(token) for token in sample.tokens]
        draw_tokens(axes, start, -row, tokens, marked=[t in chosen for t in sample.tokens])
        draw_arrow(axes, widest + 0.12, widest + 0.8, -row)
        draw_tokens(axes, widest + 0.9, -row, [dataset.data.name(sample.label)])
    axes.set_xlim(0, widest + 2, auto=None)
    axes.set_ylim(-len(dataset.data.samples) + 0.45, 0.55, auto=None)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()
    axes.set_title("(a) input and next token", loc="center")


def _draw_order(
    axes: Axes, dataset: Dataset, query: int, names: dict[int, str], letter: str
) -> None:
    orders = dataset.orders
    idle = orders.having(query, Role.NON_COMPARABLE)
    winners = orders.having(query, Role.OPTIMAL)
    draw_priority_graph(
        axes,
        orders.graphs[query].edges,
        names,
        idle=idle,
        colours=dict.fromkeys(winners, PALETTE["red"]),
    )
    axes.set_title(f"({letter}) query {names[query]}", loc="center")


def _numbers(dataset: Dataset) -> dict[str, Any]:
    name = dataset.data.name
    orders = dataset.orders
    return {
        "inputs": dataset.N,
        "L_max": dataset.L_max,
        "collocation": {name(x): name(y) for x, y in dataset.collocation.following.items()},
        "orders": [
            {
                "query": name(query),
                "order": ", ".join(f"{name(a)} > {name(b)}" for a, b in graph.edges),
                "non-comparable": [name(x) for x in orders.having(query, Role.NON_COMPARABLE)],
                "column of W_kq*": {
                    name(x): entry
                    for (x, q), entry in dataset.attention_margin.entries.items()
                    if q == query
                },
            }
            for query, graph in orders.graphs.items()
        ],
        "squared norm of W_ov*": dataset.value_margin.norm_squared_exact,
        "squared norm of W_kq*": dataset.attention_margin.norm_squared_exact,
        "broken assumptions": [problem.message for problem in dataset.problems],
    }


def _caption(dataset: Dataset) -> str:
    met = "All assumptions of the paper hold. " if not dataset.problems else ""
    return (
        f"Example 1. (a) Its {dataset.N} distinct inputs, each with its next token; the framed "
        "token is the one that the collocation sends there. (b) The collocation n, read off the "
        "inputs of length one. (c)–(f) The order under each query: an arrow points from a token "
        f"to one that it beats, and grey tokens are not comparable. {met}The max-margin solutions "
        f"have ‖W_ov*‖² = {dataset.value_margin.norm_squared_exact} and "
        f"‖W_kq*‖² = {dataset.attention_margin.norm_squared_exact}, exactly."
    )

"""Figure 2: the data of an example, its token-priority graphs, and its cyclic subdata.

The picture itself is not in the paper's text. The seven samples here are our own, chosen so that
everything the text says about the figure holds.
"""

from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lemmata.claims import Bench
from lemmata.drawing import PALETTE, TEXT_WIDTH, draw_arrow, draw_tokens, number, style
from lemmata.papers._paper import Drawing
from lemmata.tokens import (
    PriorityGraph,
    Sample,
    TokenData,
    label_positions,
    priority_graphs,
    tied_positions,
)

from ..setting import Dataset

SAMPLES = ("231 3", "421 2", "341 3", "132 1", "312 3", "142 1", "342 2")
"""The inputs as numbers of tokens, and their labels."""


Place = tuple[float, float]

CHAIN: dict[int, Place] = {2: (0.0, 2.2), 1: (0.0, 1.1), 0: (-0.95, 0.0), 3: (0.95, 0.0)}
TIE: dict[int, Place] = {2: (0.0, 2.2), 0: (-0.95, 1.1), 1: (0.95, 1.1), 3: (0.0, 0.0)}
"""Where the tokens of each graph go: tied tokens in a triangle, so that no arrow meets another."""

LABELS = 10.0
"""Points of the tokens' names: their subscripts stay legible in print."""

RADIUS = 9.5
"""Of a token in a graph, in points."""


def example() -> Dataset:
    """Seven samples over e1, e2, e3, e4; any orthonormal embeddings."""
    rows = []
    for i, sample in enumerate(SAMPLES, start=1):
        tokens, label = sample.split()
        rows.append(([f"e{token}" for token in tokens], f"e{label}", 1, f"sample {i}"))
    vocabulary = [f"e{token}" for token in range(1, 5)]
    return Dataset("Figure 2", TokenData.from_samples(rows, vocabulary))


def draw(bench: Bench) -> Drawing:
    """Read the structure off the samples; nothing is trained and nothing is random."""
    dataset = example()
    with style(), rc_context({"font.size": LABELS}):
        picture = Figure(figsize=(TEXT_WIDTH, 2.15))
        axes = picture.subplots(1, 5, width_ratios=[1.0, 0.9, 0.9, 1.0, 0.9])
        first, second = dataset.graphs.values()
        (tied,) = _reduced_graphs(dataset).values()
        _draw_samples(axes[0], dataset, dataset.data)
        _draw_graph(axes[1], first, CHAIN)
        _draw_graph(axes[2], second, TIE)
        _draw_samples(axes[3], dataset, dataset.cyclic)
        _draw_graph(axes[4], tied, TIE)
        titles = ("data", r"$\mathcal{G}^{(1)}$", r"$\mathcal{G}^{(2)}$", "cyclic subdata")
        for place, letter, title in zip(axes, "abcde", (*titles, "its graph"), strict=True):
            place.set_title(f"({letter}) {title}", loc="center")
    numbers = _numbers(dataset)
    return Drawing(picture, _caption(dataset, numbers), numbers)


def _reduced_graphs(dataset: Dataset) -> dict[int, PriorityGraph]:
    data = dataset.cyclic
    return priority_graphs(data, [frozenset({sample.label}) for sample in data.samples])


def _draw_samples(axes: Axes, dataset: Dataset, data: TokenData) -> None:
    """One row a sample: the query filled, the label framed; a gap where the query changes."""
    widest = dataset.data.longest_input
    heights = {s.source: -i - 0.5 * (s.query > 0) for i, s in enumerate(dataset.data.samples)}
    for sample in data.samples:
        height = heights[sample.source]
        draw_tokens(
            axes,
            widest - len(sample.tokens),
            height,
            [_name(token) for token in sample.tokens],
            fills=[0.6 * (token == sample.query) for token in sample.tokens],
            marked=[token == sample.label for token in sample.tokens],
        )
        draw_arrow(axes, widest + 0.12, widest + 0.8, height)
        draw_tokens(axes, widest + 0.9, height, [_name(sample.label)], marked=[True])
        place = str(_position(sample))
        axes.text(-0.1, height, place, ha="right", va="center", color=PALETTE["grey"])
    axes.set_xlim(-0.7, widest + 2, auto=None)
    axes.set_ylim(min(heights.values()) - 0.55, 0.55, auto=None)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()


def _draw_graph(axes: Axes, graph: PriorityGraph, places: dict[int, Place]) -> None:
    """Every edge, those between tied tokens in green, and a dashed box around every component."""
    strict = set(graph.strict_edges)
    for winner, loser in graph.edges:
        axes.annotate(
            "",
            xy=places[loser],
            xytext=places[winner],
            arrowprops={
                "arrowstyle": "-|>,head_length=0.28,head_width=0.14",
                "shrinkA": RADIUS,
                "shrinkB": RADIUS,
                "linewidth": 0.8,
                "color": PALETTE["black" if (winner, loser) in strict else "green"],
                "connectionstyle": f"arc3,rad={0.2 * ((loser, winner) in graph.evidence)}",
            },
        )
    for token in graph.nodes:
        x, y = places[token]
        fill = PALETTE["sky"] if token == graph.query else "white"
        look = {"markersize": 2 * RADIUS - 2, "markeredgecolor": "black", "markeredgewidth": 0.8}
        axes.plot(x, y, "o", color=fill, zorder=3, **look)
        axes.text(x, y, _name(token), ha="center", va="center_baseline", zorder=4)
    for component in graph.components:
        _draw_box(axes, [places[token] for token in component])
    axes.set_xlim(-1.6, 1.6, auto=None)
    axes.set_ylim(-0.65, 2.75, auto=None)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()


def _draw_box(axes: Axes, inside: list[Place]) -> None:
    from matplotlib.patches import FancyBboxPatch

    left, bottom = (min(place[axis] for place in inside) for axis in range(2))
    right, top = (max(place[axis] for place in inside) for axis in range(2))
    tie = len(inside) > 1
    axes.add_patch(
        FancyBboxPatch(
            (left, bottom),
            right - left,
            top - bottom,
            boxstyle="round,pad=0.42,rounding_size=0.42",
            facecolor="none",
            edgecolor=PALETTE["green" if tie else "grey"],
            linestyle="--",
            linewidth=0.9 if tie else 0.6,
        )
    )


def _name(token: int) -> str:
    return f"$e_{token + 1}$"


def _numbers(dataset: Dataset) -> dict[str, Any]:
    samples = dataset.data.samples
    return {
        "samples": [_facts(dataset, sample) for sample in samples],
        "I": [_position(sample) for sample in dataset.cyclic.samples],
        "graphs": [_shape(dataset, graph) for graph in dataset.graphs.values()],
        "graph of the cyclic subdata": [
            _shape(dataset, graph) for graph in _reduced_graphs(dataset).values()
        ],
        "cyclic subdata": [dataset.data.show(sample) for sample in dataset.cyclic.samples],
        "squared norm of W^mm": dataset.margin.norm_squared_exact,
        "norm of W^mm": dataset.norm,
        "norm of W^cyc": dataset.correction.norm,
        "gradient of the cyclic risk at W^cyc": dataset.correction.gradient_norm,
    }


def _facts(dataset: Dataset, sample: Sample) -> dict[str, Any]:
    """The sets O_i and R_i, counted from 1 as in the paper."""
    graph = dataset.graphs[sample.query]
    return {
        "i": _position(sample),
        "input": " ".join(map(dataset.data.name, sample.tokens)),
        "label": dataset.data.name(sample.label),
        "O": [t + 1 for t in label_positions(sample)],
        "R": [t + 1 for t in tied_positions(sample, graph)],
    }


def _shape(dataset: Dataset, graph: PriorityGraph) -> dict[str, Any]:
    name = dataset.data.name
    return {
        "query": name(graph.query),
        "edges": ", ".join(f"{name(a)} > {name(b)}" for a, b in graph.edges),
        "components": [[name(token) for token in tied] for tied in graph.components],
    }


def _position(sample: Sample) -> int:
    """The number of a sample, which its source carries."""
    return int(sample.source.removeprefix("sample "))


def _caption(dataset: Dataset, numbers: dict[str, Any]) -> str:
    last = numbers["samples"][-1]
    first, second = (_braces(graph["components"]) for graph in numbers["graphs"])
    return (
        "Our reconstruction of Figure 2: the paper's picture is not in its text, so these "
        f"{len(numbers['samples'])} samples are not the authors' own but agree with everything "
        "the text says about them. (a) Inputs with their last token (the query) filled and their "
        "label framed. (b), (c) The token-priority graphs of the queries e₁ and e₂: an arrow goes "
        "from a label to each other token of its input, and dashed boxes are the strongly "
        f"connected components, {first} and {second}; tied tokens beat each other through green "
        f"arrows. (d) The cyclic subdata: samples I = {_set(numbers['I'])}, reduced to the "
        f"tokens tied with their label; for sample {last['i']}, O = {_set(last['O'])} "
        f"and R = {_set(last['R'])}. (e) Its graph. With orthonormal embeddings "
        f"‖W^mm‖² = {numbers['squared norm of W^mm']} exactly, and "
        f"‖W^cyc‖ = {number(numbers['norm of W^cyc'], 6)}."
    )


def _braces(components: list[list[str]]) -> str:
    return ", ".join(_set(component) for component in components)


def _set(members: list[Any]) -> str:
    return "{" + ", ".join(map(str, members)) + "}"

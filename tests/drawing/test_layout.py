"""Layouts of priority graphs: nothing overlaps, nothing is lost, and no word is a formula."""

from io import BytesIO
from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure

from lemmata.drawing import (
    Box,
    GraphLayout,
    draw_graph_layout,
    draw_priority_graph,
    lay_out_graph,
    legible,
    style,
)
from lemmata.drawing._letters import LONGEST, _advance, text_width

NASTY = [
    "$x_1$",
    "$",
    "_",
    '"q"',
    "<b>",
    "&amp;",
    "中文",
    "😀",
    "a\x1b[31m",
    "\u202eabc",
    "x" * 500,
]


def names(count: int) -> dict[int, str]:
    """Labels of all lengths."""
    return {i: "w" * (1 + 7 * i % 23) + str(i) for i in range(count)}


def random_graph(count: int, seed: int, *, cycles: bool) -> list[tuple[int, int]]:
    generator = np.random.default_rng(seed)
    pairs = {(int(min(p)), int(max(p))) for p in generator.integers(count, size=(2 * count, 2))}
    edges = {(a, b) for a, b in pairs if a != b}
    back = {(b, a) for a, b in sorted(edges)[:: max(count // 4, 1)]} if cycles else set()
    return sorted(edges | back)


def overlap(first: Box, second: Box) -> bool:
    across = min(first.right, second.right) - max(first.left, second.left)
    down = min(first.bottom, second.bottom) - max(first.top, second.top)
    return across > 1e-9 and down > 1e-9


def inside(inner: Box, outer: Box) -> bool:
    return (
        outer.left <= inner.left
        and inner.right <= outer.right
        and outer.top <= inner.top
        and inner.bottom <= outer.bottom
    )


def draw(layout: GraphLayout, kind: str = "svg") -> bytes:
    content = BytesIO()
    with style():
        figure = Figure(figsize=layout.size)
        figure.set_layout_engine("none")
        draw_graph_layout(figure.add_axes((0.0, 0.0, 1.0, 1.0)), layout)
        figure.savefig(content, format=kind)
    return content.getvalue()


@pytest.mark.parametrize("cycles", [False, True])
@pytest.mark.parametrize("count", [2, 10, 40, 200])
def test_no_two_tokens_overlap_and_all_fit_the_picture(count: int, cycles: bool) -> None:
    edges = random_graph(count, count, cycles=cycles)
    touched = {token for edge in edges for token in edge}
    idle = [token for token in range(count) if token not in touched]
    layout = lay_out_graph(edges, names(count), idle=idle)
    assert set(layout.tokens) == set(range(count))
    assert not any(overlap(a, b) for a, b in combinations(layout.tokens.values(), 2))
    assert not any(overlap(a, b) for a, b in combinations(layout.ties, 2))
    assert not any(overlap(a, b) for a, b in combinations(layout.panels, 2))
    picture = Box(0.0, 0.0, layout.width, layout.height)
    assert all(inside(box, picture) for box in layout.tokens.values())
    assert layout.size == (layout.width / 72, layout.height / 72)
    assert layout.size[0] <= 7.0
    for token, box in layout.tokens.items():
        assert text_width(layout.words[token]) * layout.font < box.width


@pytest.mark.parametrize("seed", range(5))
def test_arrows_go_down_and_say_exactly_what_follows_from_the_edges(seed: int) -> None:
    edges = random_graph(30, seed, cycles=True)
    layout = lay_out_graph(edges, names(30))
    shapes = [*layout.panels, *layout.ties, *layout.tokens.values()]

    def tokens_at(x: float, y: float, side: str) -> frozenset[int]:
        """The tokens of the largest box whose middle of that side is here."""
        box = next(
            b
            for b in shapes
            if abs((b.left + b.right) / 2 - x) < 1e-6 and abs(getattr(b, side) - y) < 1e-6
        )
        return frozenset(t for t, inner in layout.tokens.items() if inside(inner, box))

    beats = np.zeros((30, 30), dtype=bool)
    for start, end in layout.arrows:
        assert start[1] < end[1]
        for winner in tokens_at(*start, "bottom"):
            for loser in tokens_at(*end, "top"):
                beats[winner, loser] = True
    for box in layout.ties:
        tied = [t for t, inner in layout.tokens.items() if inside(inner, box)]
        beats[np.ix_(tied, tied)] = True
    given = np.zeros((30, 30), dtype=bool)
    given[tuple(np.array(edges).T)] = True
    for matrix in (beats, given):
        for middle in range(30):
            matrix |= np.outer(matrix[:, middle], matrix[middle])
    np.testing.assert_array_equal(beats, given)


def test_tied_tokens_share_one_box() -> None:
    edges = [(0, 1), (1, 2), (2, 0), (0, 3), (4, 5), (5, 4)]
    layout = lay_out_graph(edges, names(6), notes={0: "50 %"})
    held = [
        {token for token, box in layout.tokens.items() if inside(box, tie)} for tie in layout.ties
    ]
    assert held == [{0, 1, 2}, {4, 5}]
    assert layout.words[0].endswith(" 50 %")


def test_an_implied_arrow_is_left_out() -> None:
    layout = lay_out_graph([(0, 1), (1, 2), (0, 2)], names(3))
    assert len(layout.arrows) == 2


def test_tokens_with_the_same_place_share_an_arrow_and_wide_panels_wrap() -> None:
    layout = lay_out_graph([(0, i) for i in range(1, 200)], names(200))
    assert len(layout.arrows) == 1
    assert len(layout.panels) == 1
    rows = {box.top for token, box in layout.tokens.items() if token}
    assert len(rows) > 5


def test_a_wide_layer_of_different_tokens_wraps() -> None:
    edges = [(i, 40 + j) for i in range(40) for j in (i, (i + 1) % 40)]
    layout = lay_out_graph(edges, names(80), width=3.0)
    assert not layout.panels
    assert layout.size[0] <= 3.0
    assert all(layout.tokens[a].bottom < layout.tokens[b].top for a, b in edges)


def test_idle_tokens_go_last_and_an_empty_graph_has_a_size() -> None:
    layout = lay_out_graph([(0, 1)], names(4), idle=[2, 3])
    assert layout.idle == {2, 3}
    assert min(layout.tokens[i].top for i in (2, 3)) > layout.tokens[1].bottom
    assert draw(lay_out_graph([], {}))


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_any_words_are_drawn_literally_and_without_warnings(kind: str) -> None:
    layout = lay_out_graph([(0, i) for i in range(1, len(NASTY))], dict(enumerate(NASTY)))
    assert layout.words[0] == "$x_1$"
    assert layout.words[6] == "□□"
    assert max(map(len, layout.words.values())) == LONGEST
    assert draw(layout, kind)


def test_sketches_take_any_words_too() -> None:
    with style():
        figure = Figure()
        axes = figure.subplots()
        edges = [(0, i) for i in range(1, len(NASTY))]
        draw_priority_graph(axes, edges, dict(enumerate(NASTY)))
        figure.savefig(BytesIO(), format="svg")
    shown = [text.get_text() for text in axes.texts]
    assert "$x_1$" in shown
    assert "$" in shown


def test_words_that_the_font_lacks_can_be_left_to_the_viewer() -> None:
    layout = lay_out_graph([(0, 1)], {0: "中文", 1: "\x00"}, substitute=False)
    assert layout.words == {0: "中文", 1: "□"}
    assert legible("می\u200cشود", substitute=False) == "می\u200cشود"


def test_widths_do_not_depend_on_what_was_drawn_before() -> None:
    before = text_width("Hello")
    draw(lay_out_graph([(0, 1)], {0: "Hello", 1: "world"}, font=31.0), "png")
    _advance.cache_clear()
    assert text_width("Hello") == before


def test_the_same_graph_gives_the_same_layout() -> None:
    edges = random_graph(60, 1, cycles=True)
    assert lay_out_graph(edges, names(60)) == lay_out_graph(edges[::-1], names(60))

"""The page about someone's own data: for people, safe, complete, and of bounded size."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.text import Text
from test_report import read

import lemmata as lm
from lemmata._errors import InputError
from lemmata._plain import plain
from lemmata.drawing import NamedGraph
from lemmata.papers.mechanics.setting import SETTING, Dataset
from lemmata.report import write_analysis
from lemmata.settings import AbstractAnalysis, Hypothesis, OrdersView
from lemmata.tokens import PriorityGraph, Problem, Token

NASTY = "<script>alert('x')</script>"

TOY = """\
the dog chased the cat cat
the dog chased the cat dog
the dog chased the cat dog
the cat saw the bird bird
a bird saw the bird missing
"""

CONTRADICTORY = {
    "sequences": [["a", "b"], ["b", "a", "c"], ["c", "b"]],
    "labels": ["a", "b", "b"],
    "embeddings": [[1.0], [2.0], [3.0]],
}


@dataclass(frozen=True)
class Viewed(AbstractAnalysis):
    """An analysis that is nothing but its view."""

    view: OrdersView

    def document(self) -> dict[str, Any]:
        return {}

    def describe(self) -> Iterator[Text]:
        yield Text("not shown")

    def orders_view(self) -> OrdersView:
        return self.view


@dataclass(frozen=True)
class Told(AbstractAnalysis):
    """An analysis without orders."""

    words: str

    def document(self) -> dict[str, Any]:
        return {"words": self.words}

    def describe(self) -> Iterator[Text]:
        yield Text(self.words, style="bold")
        yield Text(f"more of {self.words}", style="yellow")


def analyze(folder: Path, content: str | dict[str, Any], setting: str = "mechanics") -> Any:
    """What a setting makes of a file, with the theorems that speak about it."""
    path = folder / ("data.txt" if isinstance(content, str) else "data.json")
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    (analysis,) = lm.analyze(path, setting)
    return analysis


def page(folder: Path, *analyses: AbstractAnalysis, source: str = "data.txt", **more: Any) -> str:
    path = write_analysis(folder, analyses, source=source, **more)
    assert path == folder / "index.html"
    return path.read_text(encoding="utf-8")


def words(html: str) -> str:
    """What a person reads, without styles; the tags of the page must be balanced."""
    read(html)
    return visible(re.sub(r"<style.*?</style>", "", html, flags=re.DOTALL))


def visible(html: str) -> str:
    """What a person reads of a part of the page."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", "", html)))


def section(html: str, start: str, end: str) -> str:
    """What a person reads from one heading to another."""
    begin = html.index(f"<h2>{start}<")
    return visible(html[begin : html.index(f">{end}<", begin)])


Edges = list[tuple[Token, Token]]


def view_of(queries: dict[Token, tuple[list[Token], Edges]], **more: Any) -> OrdersView:
    """A view of the nodes and edges under each last token."""
    words: dict[Token, int] = {}
    for query, (nodes, _) in queries.items():
        for token in (query, *nodes):
            words.setdefault(token, len(words))
    graphs = {
        words[query]: PriorityGraph(
            words[query],
            tuple(words[token] for token in nodes),
            {(words[winner], words[loser]): 0 for winner, loser in edges},
        )
        for query, (nodes, edges) in queries.items()
    }
    return replace(OrdersView(tuple(words), graphs), **more)


def hand_made(queries: dict[Token, tuple[list[Token], Edges]], **more: Any) -> Viewed:
    """The least that an analysis has."""
    return Viewed(view_of(queries, **more))


def test_the_page_of_a_small_text(tmp_path: Path) -> None:
    analysis = analyze(tmp_path, TOY)
    answer = plain(analysis.document())
    html = page(tmp_path, analysis)
    text = words(html)
    for name in ("samples", "distinct_inputs", "longest_sequence"):
        assert f"{name.replace('_', ' ')}{answer[name]}" in text
    assert "realizableno" in text
    assert "Under 1 of 2 last tokens some tokens are tied." in text
    assert "Under 1 of 2 last tokens some label does not occur in its sequence." in text
    table = section(html, "What attention will learn", "After cat")
    assert "cat3dog 66.67 % cat 33.33 %–" in table
    assert "bird2birdmissing" in table
    assert "Labels that their sequences do not hold: missing" in text
    assert "a matrix Wcyc that the samples determine" in text
    assert f"Samples with a tie{answer['cyclic_correction']['tied_samples']}" in text
    assert f"Its square, exactly{answer['max_margin']['norm_squared_exact']}" in text
    assert "Certifiedexactly" in text
    assert text.count("does not apply") == 4
    assert "the label 'missing' does not occur in its sequence" in text
    for word in ("Glossary", "tied", "W^mm", "label out of reach"):
        assert word in visible(html[html.index(">Glossary<") :])


def test_percentages_are_those_of_the_view(tmp_path: Path) -> None:
    view = analyze(tmp_path, TOY).orders_view()
    vocabulary = view.vocabulary
    cat, dog = vocabulary.index("cat"), vocabulary.index("dog")
    assert view.predictions is not None
    predictions = tuple(
        replace(p, shares=np.array([0.0625, 0.9375])) if len(p.tokens) == 2 else p
        for p in view.predictions
    )
    shares = {**view.shares, cat: {dog: 0.8125, cat: 0.1875}}
    html = page(tmp_path, Viewed(replace(view, shares=shares, predictions=predictions)))
    text = words(html)
    assert text.count("81.25 %") == text.count("18.75 %") == 4
    listed = section(html, "Sample by sample", "Where the weights go")
    shared = [p for p in predictions if len(p.tokens) == 2]
    assert shared
    for prediction in shared:
        first, second = (vocabulary[token] for token in prediction.tokens)
        label = vocabulary[prediction.sample.label]
        count = prediction.sample.count
        assert f"{label}{first} 6.25 % {second} 93.75 %{count}" in listed
    assert "66.67" not in text


def test_the_graph_shows_tied_tokens_in_one_box_with_their_shares(tmp_path: Path) -> None:
    html = page(tmp_path, analyze(tmp_path, TOY))
    figure = re.search(r'id="data-0-order-1".*?</svg>', html, flags=re.DOTALL)
    assert figure is not None
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", figure[0])
    assert sorted(texts) == ["cat 33.33\u00a0%", "chased", "dog 66.67\u00a0%", "the"]
    assert figure[0].count("fill: #ddeffa") == 1
    assert (tmp_path / "graph-cat.svg").read_text("utf-8").startswith("<?xml")
    assert 'href="graph-cat.svg"' in html


def test_graphs_are_named_after_their_last_tokens_in_the_formats_asked_for(tmp_path: Path) -> None:
    tokens: list[Token] = ["The", "the", "../up", "?", "", "a b", "日本", "w" * 99]
    edges: Edges = [("x", "y")]
    view = view_of({token: (["x", "y"], edges) for token in tokens})
    html = page(tmp_path, Viewed(view), figures=("svg", "pdf"))
    stems = ["The", "the-2", "up", "token", "token-2", "a-b", "日本", "w" * 40]
    expected = {f"graph-{stem}.{kind}" for stem in stems for kind in ("svg", "pdf")}
    assert {path.name for path in tmp_path.glob("graph-*")} == expected
    assert (tmp_path / "graph-up.pdf").read_bytes().startswith(b"%PDF")
    assert 'href="graph-%E6%97%A5%E6%9C%AC.pdf"' in html
    page(tmp_path / "several", Viewed(view), Viewed(view))
    assert (tmp_path / "several" / "graph-1-up.svg").is_file()
    page(tmp_path / "none", Viewed(view), figures=())
    assert [path.name for path in (tmp_path / "none").iterdir()] == ["index.html"]


def test_a_graph_is_saved_as_its_ending_says(tmp_path: Path) -> None:
    dataset = Dataset.from_sentences("m", {"a b c a": 3, "b a c b": 1, "x c x": 2})
    saved = dataset.graphs["c"].save(tmp_path / "c.svg")
    assert saved == tmp_path / "c.svg"
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", saved.read_text("utf-8"))
    assert sorted(texts) == ["a", "b", "c", "x"]
    assert dataset.graphs["c"].save(str(tmp_path / "c.pdf")).read_bytes().startswith(b"%PDF")
    picture = dataset.graphs["c"].save(tmp_path / "c.tex").read_text("utf-8")
    assert sorted(re.findall(r"\\node.*{(.)};", picture)) == ["a", "b", "c", "x"]
    shares = re.findall(r">(.) (\d+)", SETTING.analyze(dataset).graphs["c"]._repr_svg_() or "")
    assert sorted(shares) == [("a", "75"), ("b", "25")]
    with pytest.raises(InputError, match=r"end the name in \.pdf, \.svg, \.png or \.tex"):
        dataset.graphs["c"].save(tmp_path / "c.jpg")
    with pytest.raises(InputError, match=r"unknown last token 'z'.*known: c"):
        dataset.graphs["z"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.pdf", "c.svg", "c.tex"]


def test_a_graph_for_latex_has_every_arrow_and_escapes_words(tmp_path: Path) -> None:
    """a beats b beats c, so that the arrow from a to c is left out; x_% is never compared."""
    dataset = Dataset.from_sentences("m", ["a b c a", "b c b", "x_% c x_%"])
    picture = dataset.graphs["c"].save(tmp_path / "c.tex").read_text("utf-8")
    arrows = re.findall(
        r"\\draw\[-latex.*?\] \(([\d.]+), ([\d.]+)\).*\(([\d.]+), ([\d.]+)\);", picture
    )
    assert len(arrows) == 3
    assert all(float(top) < float(bottom) for _, top, _, bottom in arrows)
    assert r"{x\_\%};" in picture
    assert picture.count("{") == picture.count("}") + picture.count(r"\{")


def test_everything_is_escaped(tmp_path: Path) -> None:
    tokens = [
        NASTY,
        '"><img/src=x>',
        "]]>",
        "<!--",
        "-->",
        "&lt;",
        "$x_1$",
        "中文",
        "\x1b[0m\u202e",
    ]
    samples = {"sequences": [tokens, tokens[::-1], ["a", NASTY]], "labels": [*tokens[:2], "no"]}
    html = page(tmp_path, analyze(tmp_path, samples), source=f"{NASTY}.txt")
    reader = read(html)
    assert not {"script", "img"} & set(reader.tags)
    assert "<script" not in html
    text = "".join(reader.text)
    for token in tokens[:-1]:
        assert text.count(token) >= 5
    assert not re.search("[\x00-\x08\x1b\u202e]", html)
    assert "□[0m□" in text
    assert not any("alert" in name for name, _ in reader.attributes)
    for path in tmp_path.glob("graph-*.svg"):
        assert "<script" not in path.read_text("utf-8")


def test_halves_of_characters_do_not_break_the_page(tmp_path: Path) -> None:
    broken = hand_made({"\udfff": (["\ud800", "b"], [("\ud800", "b")])})
    html = page(tmp_path, broken, source="\ud800.json")
    assert "After □" in words(html)


def test_the_page_loads_nothing_and_its_references_resolve(tmp_path: Path) -> None:
    html = page(tmp_path, *[analyze(tmp_path, TOY)] * 3)
    assert not re.search(r"https?:|@import|url\((?!#)", html)
    reader = read(html)
    assert not {"link", "img", "iframe", "object", "embed", "script"} & set(reader.tags)
    names = [value for name, value in reader.attributes if name == "id"]
    assert len(names) == len(set(names))
    for name, value in reader.attributes:
        assert name not in ("src", "srcset", "data", "background")
        if name.endswith("href"):
            assert value[1:] in names if value[0] == "#" else (tmp_path / value).is_file()


def test_a_contradiction_is_explained_with_its_certificate(tmp_path: Path) -> None:
    analysis = analyze(tmp_path, CONTRADICTORY)
    answer = plain(analysis.document())
    html = page(tmp_path, analysis)
    text = words(html)
    assert "The embeddings contradict these orders" in text
    assert "attention will select" not in section(html, "What attention will learn", "After b")
    assert "grow without end and turn into this direction" not in text
    assert "0 ≥ 1 is left" in text
    for row in answer["max_margin"]["infeasibility"]:
        assert f"{row['query']}{row['winner']}{row['loser']}{row['multiplier']}" in text
    assert f"Separated for good{len(answer['generalized']['separable'])} pairs" in text
    assert f"Settled at finite weights{len(answer['generalized']['bound'])} pairs" in text
    assert "0.271268272" in text
    assert "by a duality gap" not in text


def test_orders_without_samples_or_predictions(tmp_path: Path) -> None:
    html = page(tmp_path, analyze(tmp_path, "S V O P\nV O P\nO P P\nP S V\n", "convergence"))
    text = words(html)
    assert "the token that the collocation sends to the label beats" in text
    assert "No tokens are tied." in text
    assert "They share the attention." in text
    assert "Wcyc" not in text
    table = section(html, "What attention will learn", "After O")
    for query, winner in {"S": "S", "V": "V", "O": "O", "P": "O"}.items():
        assert f"{query}{winner}" in table
    assert "longest sentence4" in text
    assert "Sample by sample" not in text
    assert "The direction of the linear layer, Wov*" in text
    assert "Its square, exactly13/6" in text
    assert "No problems were found" in text


def test_an_analysis_without_orders_is_told_in_its_own_words(tmp_path: Path) -> None:
    html = page(tmp_path, Told("The heading"), Told("<b>another</b>"), source="plan.json")
    text = words(html)
    assert "What to expect from plan.json" in text
    assert "<h2>The heading</h2>" in html
    assert '<p class="caution">more of The heading</p>' in html
    assert "<b>another</b>" in text
    assert "Glossary" not in text


def test_theorems_are_told_with_what_breaks_them(tmp_path: Path) -> None:
    small = Hypothesis("small", "Assumption 9", "it is small", frozenset({"large"}))
    problems = tuple(Problem("large", f"at {i}", f"it is {i} <b>") for i in range(3))
    theorems = {"theorem-1": (small,), "theorem-2": ()}
    view = view_of({"q": (["a", "b"], [("a", "b")])}, problems=problems, theorems=theorems)
    text = words(page(tmp_path, Viewed(view)))
    assert "theorem-1does not applysmall it is 0 <b>theorem-2applies" in text
    assert "No theorem speaks" not in text
    silent = replace(view, theorems={"theorem-1": (small,)})
    assert "No theorem speaks about this data as a whole" in words(page(tmp_path, Viewed(silent)))


def test_the_least_view_and_an_empty_one(tmp_path: Path) -> None:
    text = words(page(tmp_path, hand_made({"q": (["q"], []), "r": ([], [])})))
    assert "no choice: each sequence holds one token" in text
    assert "nothing: no label occurs in its sequence" in text
    assert "Where the weights go" not in text
    page(tmp_path, hand_made({}))
    page(tmp_path)


def test_labels_out_of_reach_have_a_row_though_they_have_no_graph(tmp_path: Path) -> None:
    view = OrdersView(("q", "lost"), {}, samples={0: 3}, unreachable={0: (1,)})
    text = words(page(tmp_path, Viewed(view)))
    assert "q3nothing: no label occurs in its sequencelost" in text
    assert "Labels that their sequences do not hold: lost" in text


def test_problems_instances_and_last_tokens_are_capped_and_counted(tmp_path: Path) -> None:
    problems = tuple(Problem("odd", "x", f"message {i}") for i in range(123))
    view = view_of({f"q{i}": (["a", "b"], [("a", "b")]) for i in range(300)}, problems=problems)
    samples = {query: 1000 - i for i, query in enumerate(view.queries)}
    vocabulary = (*view.vocabulary, *[f"t{i}" for i in range(250 - len(view.vocabulary))])
    text = words(page(tmp_path, Viewed(replace(view, samples=samples, vocabulary=vocabulary))))
    assert "message 49" in text
    assert "message 50" not in text
    assert "and 73 more problems, not shown" in text
    assert "and 100 more last tokens, not shown" in text
    assert "and 276 more last tokens, not shown" in text
    assert "and 102 more tokens, not shown" in text
    assert text.count("After q") == 24
    assert len(list(tmp_path.glob("graph-*.svg"))) == 24
    text = words(page(tmp_path / "many", *[hand_made({})] * 12))
    assert "Instance 9" in text
    assert "Instance 10" not in text
    assert "and 2 more instances, not shown" in text


def test_a_large_graph_is_told_not_drawn(tmp_path: Path) -> None:
    losers: list[Token] = [f"w{i}" for i in range(300)]
    query = (["top", *losers], [("top", loser) for loser in losers])
    view = view_of({"q": query})
    html = page(tmp_path, Viewed(replace(view, samples={0: 5})))
    assert "<svg" not in html
    assert not list(tmp_path.glob("graph-*.svg"))
    text = words(html)
    assert "The graph of 301 tokens is not drawn: too large for this page." in text
    assert "and 240 more in this layer, not shown" in text
    assert "Who beats whom: 300 pairs" in text
    assert "and 100 more pairs, not shown" in text


def test_a_large_vocabulary_takes_seconds_and_a_megabyte(tmp_path: Path) -> None:
    tokens = range(1_500)
    graphs = {
        i: PriorityGraph(i, tuple(range(i, i + 180)), {(i, i + j): 0 for j in range(1, 180)})
        for i in range(1_200)
    }
    view = OrdersView(
        tuple(f"w{i}" for i in tokens), graphs, samples=dict.fromkeys(graphs, 20), facts={"n": 7}
    )
    started = time.process_time()
    html = page(tmp_path, Viewed(view))
    assert time.process_time() - started < 15  # about 3 s when nothing else runs
    assert len(html) < 1_500_000
    assert "and 1,000 more last tokens, not shown" in words(html)


def test_the_same_data_gives_the_same_bytes(tmp_path: Path) -> None:
    analysis = analyze(tmp_path, TOY)
    assert page(tmp_path / "a", analysis) == page(tmp_path / "b", analysis)
    first, second = ((tmp_path / x / "graph-cat.svg").read_bytes() for x in "ab")
    assert first == second


def test_a_named_graph_ranks_what_is_compared() -> None:
    facts = {(0, 1): 0, (1, 0): 0, (2, 3): 0, (0, 2): 0}
    graph = NamedGraph(PriorityGraph(4, (0, 1, 2, 3, 4), facts), ("a", "b", 1, "1", "idle"))
    assert graph.query == "idle"
    assert graph.edges == [("a", "b"), ("a", 1), ("b", "a"), (1, "1")]
    assert graph.layers == [[["a", "b"], ["idle"]], [[1]], [["1"]]]
    assert graph.ranked == [[[0, 1]], [[2]], [[3]]]
    assert graph.winners == [[0, 1]]
    assert graph.ties == [[0, 1]]
    assert replace(graph, shares={0: 0.25, 1: 0.75}).ties == [[1, 0]]
    assert graph.idle == [4]
    assert graph.drawable
    assert not NamedGraph(PriorityGraph(0, (0,), {}), ("a",)).drawable

"""The page about someone's own data: for people, safe, complete, and of bounded size."""

import importlib
import json
import re
import time
from html import unescape
from pathlib import Path
from typing import Any

from test_report import read

from lemmata.report import plain, write_analysis
from lemmata.report._order import Order
from lemmata.tokens import read_instances

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


def analyze(folder: Path, content: str | dict[str, Any], setting: str = "mechanics") -> Any:
    """The answer of a paper's setting, as the command line hands it on."""
    room = importlib.import_module(f"lemmata.papers.{setting}.setting")
    path = folder / ("data.txt" if isinstance(content, str) else "data.json")
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return plain(room.analyze(read_instances(path, prefixes=room.PREFIXES)))


def page(folder: Path, answer: Any, source: str = "data.txt") -> str:
    path = write_analysis(folder, answer, source=source)
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


def hand_made(queries: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The least that an answer has."""
    margin = {"status": "solved", "norm": 1.0, "norm_squared_exact": None, "error_bound": 0.0}
    return {"vocabulary": [], "queries": queries, "max_margin": margin} | more


def test_the_page_of_a_small_text(tmp_path: Path) -> None:
    answer = analyze(tmp_path, TOY)
    html = page(tmp_path, answer)
    text = words(html)
    for name in ("samples", "distinct_inputs", "longest_sequence"):
        assert f"{name.replace('_', ' ')}{answer[name]}" in text
    assert "Under 1 of 2 last tokens some tokens are tied." in text
    assert "Under 1 of 2 last tokens some label does not occur in its sequence." in text
    table = section(html, "What attention will learn", "After cat")
    assert "cat3dog 66.67 % cat 33.33 %–" in table
    assert "bird2birdmissing" in table
    assert "Labels that their sequences do not hold: missing" in text
    assert "a matrix W^cyc that the samples determine" in text
    assert f"Samples with a tie{answer['cyclic_correction']['tied_samples']}" in text
    assert f"Its square, exactly{answer['max_margin']['norm_squared_exact']}" in text
    assert "Certifiedexactly" in text
    assert text.count("does not apply") == 4
    assert "the label 'missing' does not occur in its sequence" in text
    for word in ("Glossary", "tied", "W^mm", "label out of reach"):
        assert word in visible(html[html.index(">Glossary<") :])


def test_percentages_are_those_of_the_answer(tmp_path: Path) -> None:
    answer = analyze(tmp_path, TOY)
    answer["queries"]["cat"]["tied"][0]["probabilities"] = [0.8125, 0.1875]
    shared = [sample for sample in answer["predictions"] if len(sample["selected"]) == 2]
    for sample in shared:
        sample["probabilities"] = [0.0625, 0.9375]
    html = page(tmp_path, answer)
    text = words(html)
    assert text.count("81.25 %") == text.count("18.75 %") == 4
    listed = section(html, "Sample by sample", "Where the weights go")
    for sample in shared:
        first, second = sample["selected"]
        assert f"{sample['label']}{first} 6.25 % {second} 93.75 %{sample['count']}" in listed
    assert "66.67" not in text


def test_the_graph_shows_tied_tokens_in_one_box_with_their_shares(tmp_path: Path) -> None:
    html = page(tmp_path, analyze(tmp_path, TOY))
    figure = re.search(r'id="data-0-order-1".*?</svg>', html, flags=re.DOTALL)
    assert figure is not None
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", figure[0])
    assert sorted(texts) == ["cat 33.33\u00a0%", "chased", "dog 66.67\u00a0%", "the"]
    assert figure[0].count("fill: #ddeffa") == 1
    assert (tmp_path / "graph-1.svg").read_text("utf-8").startswith("<?xml")
    assert 'href="graph-1.svg"' in html


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
    answer = analyze(tmp_path, samples)
    html = page(tmp_path, answer, source=f"{NASTY}.txt")
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
    query = {"edges": [["\ud800", "b"]], "components": [["\ud800"], ["b"]]}
    html = page(tmp_path, hand_made({"\udfff": query}), source="\ud800.json")
    assert "After □" in words(html)


def test_the_page_loads_nothing_and_its_references_resolve(tmp_path: Path) -> None:
    html = page(tmp_path, {"instances": [analyze(tmp_path, TOY)] * 3})
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
    answer = analyze(tmp_path, CONTRADICTORY)
    html = page(tmp_path, answer)
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


def test_an_answer_without_samples_layers_or_predictions(tmp_path: Path) -> None:
    answer = analyze(tmp_path, "S V O P\nV O P\nO P P\nP S V\n", "convergence")
    html = page(tmp_path, answer)
    text = words(html)
    assert "the token that the collocation sends to the label beats" in text
    assert "No tokens are tied." in text
    table = section(html, "What attention will learn", "After O")
    for query in "SVOP":
        (winner,) = answer["roles"][query]["optimal"]
        assert f"{query}{winner}" in table
    assert "Sample by sample" not in text
    assert "max_margin_ov" in text
    assert "Its square, exactly13/6" in text
    assert "No problems were found" in text


def test_the_least_answer_and_an_empty_one(tmp_path: Path) -> None:
    queries = {"q": {"edges": [], "components": [["q"]]}, "r": {"edges": [], "components": []}}
    text = words(page(tmp_path, hand_made(queries)))
    assert "no choice: each sequence holds one token" in text
    assert "nothing: no label occurs in its sequence" in text
    page(tmp_path, hand_made({}))
    page(tmp_path, {"instances": []})


def test_problems_instances_and_last_tokens_are_capped_and_counted(tmp_path: Path) -> None:
    problems = [{"code": "odd", "message": f"message {i}", "where": "x"} for i in range(123)]
    queries = {
        f"q{i}": {"samples": 1000 - i, "edges": [["a", "b"]], "components": [["a"], ["b"]]}
        for i in range(300)
    }
    answer = hand_made(queries, problems=problems, vocabulary=[f"t{i}" for i in range(250)])
    text = words(page(tmp_path, answer))
    assert "message 49" in text
    assert "message 50" not in text
    assert "and 73 more problems, not shown" in text
    assert "and 100 more last tokens, not shown" in text
    assert "and 276 more last tokens, not shown" in text
    assert "and 50 more tokens, not shown" in text
    assert text.count("After q") == 24
    assert len(list(tmp_path.glob("graph-*.svg"))) == 24
    text = words(page(tmp_path / "many", {"instances": [hand_made({})] * 12}))
    assert "Instance 9" in text
    assert "Instance 10" not in text
    assert "and 2 more instances, not shown" in text


def test_a_large_graph_is_told_not_drawn(tmp_path: Path) -> None:
    losers = [f"w{i}" for i in range(300)]
    query = {
        "samples": 5,
        "edges": [["top", loser] for loser in losers],
        "components": [["top"], *[[loser] for loser in losers]],
    }
    html = page(tmp_path, hand_made({"q": query}))
    assert "<svg" not in html
    assert not list(tmp_path.glob("graph-*.svg"))
    text = words(html)
    assert "The graph of 301 tokens is not drawn: too large for this page." in text
    assert "and 240 more in this layer, not shown" in text
    assert "Who beats whom: 300 pairs" in text
    assert "and 100 more pairs, not shown" in text


def test_a_large_vocabulary_takes_seconds_and_a_megabyte(tmp_path: Path) -> None:
    words_ = [f"w{i}" for i in range(5000)]
    queries = {}
    for i in range(4800):
        tokens = words_[i : i + 180]
        queries[words_[i]] = {
            "samples": 20,
            "edges": [[tokens[0], other] for other in tokens[1:]],
            "components": [[token] for token in tokens],
            "layers": [[[tokens[0]]], [[token] for token in tokens[1:]]],
        }
    answer = hand_made(queries, vocabulary=words_, samples=100_000)
    started = time.process_time()
    html = page(tmp_path, answer)
    assert time.process_time() - started < 15  # about 2 s when nothing else runs
    assert len(html) < 4_000_000
    assert "and 4,600 more last tokens, not shown" in words(html)


def test_the_same_answer_gives_the_same_bytes(tmp_path: Path) -> None:
    answer = analyze(tmp_path, TOY)
    assert page(tmp_path / "a", answer) == page(tmp_path / "b", answer)
    first, second = ((tmp_path / x / "graph-1.svg").read_bytes() for x in "ab")
    assert first == second


def test_layers_are_found_where_an_answer_leaves_them_out() -> None:
    order = Order.read(
        "q",
        {
            "edges": [["a", "b"], ["b", "a"], [1, "1"], ["a", 1]],
            "components": [["a", "b"], [1], ["1"], ["idle"]],
        },
    )
    assert order.ranked == [[["a", "b"]], [[1]], [["1"]]]
    assert order.winners == [["a", "b"]]
    assert order.ties == [["a", "b"]]
    assert order.idle == ["idle"]

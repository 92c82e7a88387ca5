"""The graphs and limits of a corpus are those of brute force, and of other solvers."""

import random
from collections import Counter
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from oracles import corpora, graphs

from lemmata.corpus import Corpus, Reading, _index, _partition, _ties, build
from lemmata.papers.mechanics.setting import SETTING, Dataset

DOCUMENTS = [corpora.zipfian(700, 40, seed) for seed in range(4)]
WINDOW = 8


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("corpus")
    for number, words in enumerate(DOCUMENTS):
        (folder / f"{number}.txt").write_text(" ".join(words))
    return Corpus(build(folder, folder / "store", Reading(window=WINDOW), workers=1))


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """The same samples, one by one, in the setting of the mechanics paper."""
    found = list(corpora.samples(DOCUMENTS, WINDOW))
    return Dataset.from_samples(
        "same", [words for words, _ in found], [label for _, label in found]
    )


def test_edges_are_those_of_brute_force(corpus: Corpus) -> None:
    expected = corpora.edges(DOCUMENTS, WINDOW)
    assert {name for name in corpus.names if corpus[name].edges} == set(expected)
    for query, counts in expected.items():
        table = corpus[query]._edges
        found = {
            (corpus.names[a], corpus.names[b]): int(n)
            for a, b, n in zip(table.winner, table.loser, table.count, strict=True)
        }
        assert found == dict(counts)


def test_labels_are_counted_with_and_without_reach(corpus: Corpus) -> None:
    reached: Counter[tuple[str, str]] = Counter()
    missed: Counter[tuple[str, str]] = Counter()
    for words, label in corpora.samples(DOCUMENTS, WINDOW):
        (reached if label in words else missed)[words[-1], label] += 1
    for query in corpus.names[:10]:
        own = {label for q, label in reached | missed if q == query}
        expected = {label: (reached[query, label], missed[query, label]) for label in own}
        assert corpus[query].labels == expected
        assert set(corpus[query].out_of_reach) == {x for x, (r, _) in expected.items() if not r}
    assert corpus.samples == reached.total() + missed.total()
    assert corpus.reached == reached.total()


def test_components_and_layers(corpus: Corpus) -> None:
    for query, counts in list(corpora.edges(DOCUMENTS, WINDOW).items())[:12]:
        number = {name: i for i, name in enumerate(corpus.names)}
        pairs = [(number[a], number[b]) for a, b in counts]
        nodes = sorted({node for pair in pairs for node in pair})
        expected = graphs.components(nodes, pairs)
        found = corpus[query]
        tied = {frozenset(map(number.__getitem__, tie)) for tie in found.ties}
        assert tied == {component for component in expected if len(component) > 1}
        assert found.components == len(expected)
        for depth, layer in enumerate(found.layers):
            for name in layer[:2]:
                own = next(c for c in expected if number[name] in c)
                assert graphs.chain_above(own, nodes, pairs) == depth


def test_limits_are_those_of_the_mechanics_setting(corpus: Corpus, dataset: Dataset) -> None:
    names = dataset.data.vocabulary
    exact = {(names[x], names[q]): value for (x, q), value in dataset.margin.entries.items()}
    finite = dataset.correction.entries
    for query in corpus.names:
        found = corpus[query]
        for token, value in found.values.items():
            assert value == exact.get((token, query), Fraction(0))
        logit = dict(zip(found._tokens["token"].tolist(), found.logits.tolist(), strict=True))
        for (x, q), expected in finite.items():
            if names[q] == query:
                assert logit[corpus.numbered[str(names[x])]] == pytest.approx(expected, abs=1e-9)
    assert corpus.norm == pytest.approx(dataset.margin.norm, rel=1e-12)
    assert corpus.tie_gradient < 1e-14
    degenerate = SETTING.analyze(dataset).document()["max_margin"]["degeneracy"]
    if degenerate is not None:
        assert corpus.tight == len(degenerate["tight"])
        assert corpus.idle == len(degenerate["idle"])


def test_fractions_are_those_of_an_independent_solver(corpus: Corpus) -> None:
    """Goldfarb and Idnani in fractions, on graphs that brute force condensed."""
    all_edges = corpora.edges(DOCUMENTS, WINDOW)
    rare = [q for q, counts in all_edges.items() if len(counts) < 150]
    for query in random.Random(0).sample(rare, min(len(rare), 12)):
        number = {name: i for i, name in enumerate(corpus.names)}
        pairs = [(number[a], number[b]) for a, b in all_edges[query]]
        nodes = sorted({node for pair in pairs for node in pair})
        components = sorted(graphs.components(nodes, pairs), key=min)
        own = {node: i for i, component in enumerate(components) for node in component}
        strict = sorted({(own[a], own[b]) for a, b in pairs if own[a] != own[b]})
        expected = corpora.least_norm(strict, [len(component) for component in components])
        values = corpus[query].values
        assert {number[name]: value for name, value in values.items()} == {
            node: expected[own[node]] for node in nodes
        }
        square = sum((value * value for value in values.values()), Fraction(0))
        assert corpus[query].norm_squared == square


def test_rare_tokens_only_fill_their_place(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(" ".join(DOCUMENTS[0]))
    corpus = Corpus(build(text, tmp_path / "s", Reading(window=5, min_count=12), workers=1))
    counts = Counter(DOCUMENTS[0])
    kept = {word for word, n in counts.items() if n >= 12}
    assert set(corpus.names) == kept
    assert len(kept) < len(counts)
    expected = corpora.edges(DOCUMENTS[:1], 5, kept)
    assert corpus.edges == sum(len(edges) for edges in expected.values())
    assert corpus.facts == sum(edges.total() for edges in expected.values())


def test_places_say_why(corpus: Corpus) -> None:
    found = corpus["w0"]
    for fact in [*found.facts(3), *found.contested(3)]:
        assert fact.count == found.beats(fact.winner, fact.loser)
        assert fact.against == found.beats(fact.loser, fact.winner)
        places = found.places(fact.winner, fact.loser, 100_000)
        assert len(places) == fact.count
        for place in places[:3]:
            assert place.words[-1] == "w0"
            assert place.label == fact.winner
            assert {fact.winner, fact.loser} <= set(place.words)
            words = Path(place.file).read_text().split()
            start = sum(len(d) for d in DOCUMENTS[: int(Path(place.file).stem)])
            at = place.position - start
            assert tuple(words[max(0, at - WINDOW + 1) : at + 1]) == place.words


def test_what_is_selected_has_the_highest_value_and_shares_by_ties(corpus: Corpus) -> None:
    context = ["w3", "w1", "w9", "w2", "w2", "w5", "w0"]
    choice = corpus.choose(context)
    values = corpus["w0"].values
    top = max(values.get(word, Fraction(0)) for word in context)
    assert set(choice.selected) == {w for w in context if values.get(w, Fraction(0)) == top}
    assert sum(choice.selected.values()) == pytest.approx(1)
    if choice.decided and len(choice.selected) > 1:
        tie = next(tie for tie in corpus["w0"].ties if set(choice.selected) <= set(tie))
        weight = {word: context.count(word) * tie[word] for word in choice.selected}
        for word, share in choice.selected.items():
            assert share == pytest.approx(weight[word] / sum(weight.values()))


def test_partitions_change_nothing(
    tmp_path: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many small partitions give the same graphs and values as one."""
    source = corpus.folder.parent
    monkeypatch.setattr(_index, "BYTES_A_SAMPLE", 1 << 22)
    other = Corpus(build(source, tmp_path / "s", Reading(window=WINDOW), workers=1))
    assert other.partitions > 3
    for query in corpus.names:
        assert other[query].values == corpus[query].values
        np.testing.assert_array_equal(other[query]._edges.count, corpus[query]._edges.count)
        np.testing.assert_allclose(other[query].logits, corpus[query].logits, atol=1e-12)


def test_ties_that_are_too_large_are_solved_when_asked_for(
    tmp_path: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = partial(_ties.tied_entries, most=60)
    monkeypatch.setattr(_partition, "tied_entries", few)
    other = Corpus(build(corpus.folder.parent, tmp_path / "s", Reading(window=WINDOW), workers=1))
    assert 0 < other.unsolved < other.queries
    assert other.tied_samples == corpus.tied_samples
    for query in corpus.names[:6]:
        assert np.isnan(other[query]._tokens["logit"]).any() == (other[query].unsolved_ties > 0)
        np.testing.assert_allclose(other[query].logits, corpus[query].logits, atol=1e-10)


def test_strict_edges_are_marked(corpus: Corpus) -> None:
    for query in corpus.names[:6]:
        found = corpus[query]
        tied = [set(tie) for tie in found.ties]
        assert found.facts(1 << 30), query
        for fact in found.facts(1 << 30):
            assert fact.against == 0
            assert not any({fact.winner, fact.loser} <= tie for tie in tied)
            assert found.values[fact.winner] - found.values[fact.loser] >= 1
        assert len(found.facts(1 << 30)) == found.strict_edges

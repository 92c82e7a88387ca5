"""Ties inside a sample and the cyclic subdata, against the definitions read word by word."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import selection
from oracles.recorded import FACTS, recorded

from lemmata.tokens import (
    Sample,
    TokenData,
    cyclic_subdata,
    label_positions,
    priority_graphs,
    tied_positions,
)

SAMPLE = st.lists(st.integers(0, 4), min_size=1, max_size=5).flatmap(
    lambda tokens: st.tuples(st.just(tuple(tokens)), st.sampled_from([*tokens, 4]))
)
"""A short sequence over five tokens with a label that is usually one of them."""

DATASETS = st.lists(SAMPLE, min_size=1, max_size=9, unique=True)


def token_data(rows: list[selection.Row]) -> TokenData:
    return TokenData.from_samples([(x, y, 1, "") for x, y in rows], range(5))


def graphs_of(data: TokenData):
    return priority_graphs(data, [{s.label} & set(s.tokens) for s in data.samples])


@given(DATASETS)
def test_positions_of_the_label_and_of_its_component(rows):
    data = token_data(rows)
    graphs = graphs_of(data)
    for sample, row in zip(data.samples, rows, strict=True):
        assert label_positions(sample) == selection.label_positions(row)
        assert tied_positions(sample, graphs[sample.query]) == selection.tied_positions(rows, row)


@given(DATASETS)
def test_the_cyclic_subdata_keeps_tied_tokens_and_the_old_query(rows):
    data = token_data(rows)
    found = cyclic_subdata(data, graphs_of(data))
    assert found.vocabulary == data.vocabulary
    assert [(s.tokens, s.query, s.label) for s in found.samples] == [
        (r.tokens, r.query, r.label) for r in selection.reduce(rows)
    ]


@given(DATASETS)
def test_no_cyclic_subdata_exactly_when_all_graphs_are_acyclic(rows):
    data = token_data(rows)
    graphs = graphs_of(data)
    assert (not cyclic_subdata(data, graphs).samples) is all(g.acyclic for g in graphs.values())


def test_counts_and_sources_stay():
    data = TokenData.from_samples([("abc", "a", 3, "first"), ("bac", "b", 2, "second")])
    found = cyclic_subdata(data, graphs_of(data))
    assert found.samples == (
        Sample((0, 1), 0, 3, "first", asked_by=2),
        Sample((1, 0), 1, 2, "second", asked_by=2),
    )
    assert found.total == 5


def test_a_sample_without_its_label_is_no_part_of_the_cyclic_subdata():
    # the first two tie a and c under q; the last asks for c where only a is left
    data = TokenData.from_samples([("caq", "c", 1, ""), ("acq", "a", 1, ""), ("aq", "c", 1, "")])
    found = cyclic_subdata(data, graphs_of(data))
    assert [sample.label for sample in found.samples] == [0, 1]


def test_the_query_of_a_shortened_sample_is_what_it_was():
    sample = Sample((0, 1), 0)
    assert (sample.query, sample.count) == (1, 1)
    assert replace(sample, asked_by=3).query == 3


@pytest.mark.parametrize("name", [name for name in FACTS if name != "unrealizable"])
def test_golden_ties(name):
    # the file reads Section 3.1 literally, which differs where a label is not in its sequence
    case = recorded(name)
    facts, data = case.facts, case.dataset.data
    graphs = case.dataset.graphs
    rows = list(zip(facts["sequences"], facts["labels"], strict=True))
    where = {(tuple(x), y): i for i, (x, y) in reversed(list(enumerate(rows)))}
    for sample in data.samples:
        number = where[sample.tokens, sample.label]
        assert label_positions(sample) == facts["O"][number]
        assert tied_positions(sample, graphs[sample.query]) == facts["R"][number]
    found = [
        (s.tokens, s.query, s.label) for s in case.dataset.cyclic.samples for _ in range(s.count)
    ]
    expected = [(tuple(r["tokens"]), r["query"], r["label"]) for r in facts["cyclic_subdataset"]]
    assert sorted(found) == sorted(expected)
    assert case.dataset.cyclic.total == len(facts["I"])

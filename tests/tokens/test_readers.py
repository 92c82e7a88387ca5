"""Token files: what is read, and what every broken file is told."""

import json
from pathlib import Path

import numpy as np
import pytest

from lemmata._errors import InputError
from lemmata.tokens import Instance, TokenData, read_instances


@pytest.fixture
def write(tmp_path):
    def create(name: str, content: str | bytes | object):
        path = tmp_path / name
        if not isinstance(content, str | bytes):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return create


def pairs(data: TokenData) -> list[tuple[list[str], str, int]]:
    return [([data.name(x) for x in s.tokens], data.name(s.label), s.count) for s in data.samples]


def only(instances: list[Instance]) -> Instance:
    (instance,) = instances
    return instance


def test_text_with_prefixes_gives_every_proper_prefix(write):
    data = only(read_instances(write("a.txt", "S V O\nV O\n"), prefixes=True)).data
    assert pairs(data) == [(["S"], "V", 1), (["S", "V"], "O", 1), (["V"], "O", 1)]
    assert data.vocabulary == ("S", "V", "O")


def test_text_without_prefixes_gives_the_last_token_of_each_line(write):
    data = only(read_instances(write("a.txt", "S V O\nV O\nalone\n"), prefixes=False)).data
    assert pairs(data) == [(["S", "V"], "O", 1), (["V"], "O", 1)]


def test_text_counts_repeated_prefixes_and_names_the_first_line(write):
    data = only(read_instances(write("a.txt", "a b\n\na b c\n"), prefixes=True)).data
    assert pairs(data) == [(["a"], "b", 2), (["a", "b"], "c", 1)]
    assert [s.source for s in data.samples] == ["line 1", "line 3"]


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfa b\n", b"a b\r\n", b"  a\t b  ", b"a b\n\n\n"])
def test_text_ignores_byte_order_marks_line_ends_and_blanks(write, content):
    assert pairs(only(read_instances(write("a.txt", content), prefixes=True)).data) == [
        (["a"], "b", 1)
    ]


@pytest.mark.parametrize("prefixes", [True, False])
def test_json_lines_state_their_labels(write, prefixes):
    lines = '{"sequence": ["a", "b"], "label": "c"}\n\n{"sequence": ["b"], "label": "a"}\n'
    data = only(read_instances(write("a.jsonl", lines), prefixes=prefixes)).data
    assert pairs(data) == [(["a", "b"], "c", 1), (["b"], "a", 1)]
    assert [s.source for s in data.samples] == ["line 1", "line 3"]


def test_json_with_embeddings_and_weights(write):
    document = {
        "sequences": [["a", "b"], ["b"]],
        "labels": ["b", "a"],
        "embeddings": [[1, 0, 2], [0, 1, 0.5]],
        "initial_weights": [[1, 0, 0], [0, 1, 0], [0, 0, 2]],
    }
    instance = only(read_instances(write("a.json", document), prefixes=True))
    assert pairs(instance.data) == [(["a", "b"], "b", 1), (["b"], "a", 1)]
    np.testing.assert_array_equal(instance.embeddings, [[1, 0, 2], [0, 1, 0.5]])
    np.testing.assert_array_equal(instance.initial_weights, np.diag([1.0, 1.0, 2.0]))


def test_integer_tokens_own_the_embedding_row_of_their_number(write):
    document = {"sequences": [[2, 0]], "labels": [2], "embeddings": np.eye(4).tolist()}
    data = only(read_instances(write("a.json", document), prefixes=False)).data
    assert data.vocabulary == (0, 1, 2, 3)
    assert data.samples[0].tokens == (2, 0)


def test_integer_tokens_without_embeddings_are_sorted(write):
    document = {"sequences": [[7, 3]], "labels": [5]}
    data = only(read_instances(write("a.json", document), prefixes=False)).data
    assert data.vocabulary == (3, 5, 7)
    assert data.samples[0].tokens == (2, 0)


def test_the_longest_line_and_sequence_are_read(write):
    line = "a b" + " " * 999_997
    assert pairs(only(read_instances(write("a.txt", line), prefixes=True)).data) == [
        (["a"], "b", 1)
    ]
    longest = {"sequences": [["a"] * 2_000], "labels": ["b"]}
    data = only(read_instances(write("a.json", longest), prefixes=True)).data
    assert data.longest_input == 2_000


def test_letters_beside_the_surrogates_are_text(write):
    document = '{"sequences": [["\\ud7ff", "\\ue000"]], "labels": ["\\ud83d\\ude00"]}'
    data = only(read_instances(write("a.json", document), prefixes=True)).data
    assert data.vocabulary == ("\ud7ff", "\ue000", "\U0001f600")


def test_instances_are_read_in_order(write):
    entries = [{"sequences": [[x]], "labels": ["z"]} for x in "ab"]
    found = read_instances(write("a.json", {"instances": entries}), prefixes=True)
    assert [pairs(instance.data) for instance in found] == [[(["a"], "z", 1)], [(["b"], "z", 1)]]


GOOD = {"sequences": [["a"]], "labels": ["b"]}
BROKEN = {
    "empty text": ("a.txt", "", ["a.txt", "empty", "at least one sequence"]),
    "only blanks": ("a.txt", " \n\t\n", ["a.txt", "empty"]),
    "empty json lines": ("a.jsonl", "\n\n", ["a.jsonl", "empty"]),
    "empty json": ("a.json", "", ["a.json", "empty"]),
    "no pair of tokens": ("a.txt", "a\nb\n", ["a.txt", "no sentence has two tokens"]),
    "unknown extension": ("a.csv", "a b", ["a.csv", "'.csv'", ".txt", ".jsonl", ".json"]),
    "no extension": ("a", "a b", ["unknown format ''", ".txt"]),
    "bad utf-8": ("a.txt", b"a b\n\xff c\n", ["a.txt", "UTF-8", "byte 4"]),
    "long line": ("a.txt", "a b\n" + "x" * 10_000_000, ["line 2", "10,000,000", "right file"]),
    "long json line": ("a.jsonl", "x" * 10_000_000, ["line 1", "10,000,000", "right file"]),
    "long sentence": ("a.txt", "a b\n" + "a " * 3_000, ["line 2", "3,000 tokens", "split"]),
    "long sequence": (
        "a.json",
        {"sequences": [["a"] * 2_001], "labels": ["b"]},
        ["sequence 0", "2,001 tokens", "split"],
    ),
    "line just too long": ("a.txt", "a b\n" + "x" * 1_000_001, ["line 2", "1,000,001"]),
    "half a surrogate pair": (
        "a.json",
        '{"sequences": [["a", "\\ud800"]], "labels": ["a"]}',
        ["sequence 0", "surrogate"],
    ),
    "other half of a surrogate pair": (
        "a.jsonl",
        '{"sequence": ["a"], "label": "x\\udfff"}',
        ["line 1", "surrogate"],
    ),
    "broken json": ("a.json", "{", ["a.json", "not valid JSON"]),
    "broken json line": (
        "a.jsonl",
        '{"sequence": ["a"], "label": "b"}\n{"sequence"',
        ["line 2", "not valid JSON"],
    ),
    "deep json": ("a.json", "[" * 100_000, ["a.json", "not valid JSON"]),
    "endless number": (
        "a.json",
        '{"sequences": [[%s]], "labels": [1]}' % ("1" * 5_000),
        ["a.json"],
    ),
    "endless number in a line": (
        "a.jsonl",
        '{"sequence": [1], "label": 2}\n{"sequence": [%s], "label": 1}' % ("1" * 5_000),
        ["line 2"],
    ),
    "array at the top": ("a.json", [1, 2], ["a.json", '"sequences" and "labels"']),
    "no labels": ("a.json", {"sequences": [["a"]]}, ['"sequences" and "labels"']),
    "line without label": ("a.jsonl", '{"sequence": ["a"]}', ["line 1", '"label"']),
    "line not an object": ("a.jsonl", "[1]", ["line 1", '"sequence"', '"label"']),
    "sequences not a list": ("a.json", GOOD | {"sequences": "ab"}, ["must be lists"]),
    "no sequences": ("a.json", {"sequences": [], "labels": []}, ["not empty"]),
    "sequence not a list": ("a.json", GOOD | {"sequences": ["a"]}, ["sequence 0", "list"]),
    "empty sequence": (
        "a.json",
        {"sequences": [["a"], []], "labels": ["b", "b"]},
        ["sequence 1", "at least one token"],
    ),
    "label count": ("a.json", GOOD | {"labels": ["b", "c"]}, ["1 sequences", "2 labels"]),
    "bool token": ("a.json", GOOD | {"sequences": [[True]]}, ["sequence 0", "True", "integers"]),
    "float token": ("a.jsonl", '{"sequence": ["a"], "label": 1.0}', ["line 1", "1.0", "strings"]),
    "null label": ("a.json", GOOD | {"labels": [None]}, ["sequence 0", "None", "strings"]),
    "nested token": ("a.json", GOOD | {"sequences": [[["a"]]]}, ["sequence 0", "strings"]),
    "1 and '1'": ("a.json", GOOD | {"sequences": [[1, "1"]]}, ["token 1", "number", "string"]),
    "1 and '1' in lines": (
        "a.jsonl",
        '{"sequence": [1], "label": 2}\n{"sequence": ["1"], "label": 2}',
        ["token 1", "number", "string"],
    ),
    "ragged embeddings": ("a.json", GOOD | {"embeddings": [[1, 2], [3]]}, ["same length"]),
    "flat embeddings": ("a.json", GOOD | {"embeddings": [1, 2]}, ["embeddings", "one row a token"]),
    "empty embeddings": ("a.json", GOOD | {"embeddings": []}, ["embeddings", "one row a token"]),
    "embeddings of words": ("a.json", GOOD | {"embeddings": [["x"], ["y"]]}, ["rows of numbers"]),
    "embeddings an object": ("a.json", GOOD | {"embeddings": {"a": [1]}}, ["rows of numbers"]),
    "NaN embeddings": (
        "a.json",
        GOOD | {"embeddings": [[1, 2], [3, float("nan")]]},
        ["embeddings", "[1][1]", "nan", "finite"],
    ),
    "infinite embeddings": (
        "a.json",
        '{"sequences": [["a"]], "labels": ["b"], "embeddings": [[1e999], [1]]}',
        ["[0][0]", "inf", "finite"],
    ),
    "huge embeddings": (
        "a.json",
        '{"sequences": [["a"]], "labels": ["b"], "embeddings": [[%s], [1]]}' % ("1" * 400),
        ["embeddings"],
    ),
    "too few embeddings": ("a.json", GOOD | {"embeddings": [[1]]}, ["1 embedding", "2 tokens"]),
    "too many embeddings": ("a.json", GOOD | {"embeddings": [[1]] * 3}, ["3 embed", "2 tokens"]),
    "token without embedding": (
        "a.json",
        {"sequences": [[0]], "labels": [5], "embeddings": [[1], [2]]},
        ["0 to 5", "0 to 1"],
    ),
    "token one past the embeddings": (
        "a.json",
        {"sequences": [[0]], "labels": [2], "embeddings": [[1], [2]]},
        ["0 to 2", "0 to 1"],
    ),
    "negative token": (
        "a.json",
        {"sequences": [[-1]], "labels": [0], "embeddings": [[1], [2]]},
        ["-1 to 0", "0 to 1"],
    ),
    "weights not square": ("a.json", GOOD | {"initial_weights": [[1, 2]]}, ["square", "(1, 2)"]),
    "weights of another dimension": (
        "a.json",
        GOOD | {"embeddings": [[1, 0], [0, 1]], "initial_weights": [[1]]},
        ["initial_weights", "2"],
    ),
    "weights not finite": ("a.json", GOOD | {"initial_weights": [[None]]}, ["[0][0]", "finite"]),
    "no instances": ("a.json", {"instances": []}, ["instances", "at least one"]),
    "instance at fault": ("a.json", {"instances": [GOOD, 5]}, ["instance 1", '"sequences"']),
    "sequence of instance at fault": (
        "a.json",
        {"instances": [GOOD, {"sequences": [["a"], [1.5]], "labels": ["b", "b"]}]},
        ["instance 1, sequence 1", "1.5"],
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_files_are_refused_in_words(write, what):
    name, content, fragments = BROKEN[what]
    path = write(name, content)
    with pytest.raises(InputError) as caught:
        read_instances(path, prefixes=True)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert [f for f in fragments if f not in message] == []


@pytest.mark.parametrize("prefixes", [True, False])
def test_missing_file_and_folder_are_named(tmp_path, prefixes):
    (tmp_path / "folder.txt").mkdir()
    for name, reason in (("none.txt", "No such file"), ("folder.txt", "directory")):
        with pytest.raises(InputError, match=f"{name}: .*{reason}"):
            read_instances(tmp_path / name, prefixes=prefixes)


def test_counts_in_json_lines_and_json(tmp_path: Path) -> None:
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"sequence": ["a", "b"], "label": "a", "count": 1000}\n'
                     '{"sequence": ["b", "a"], "label": "b"}\n'
                     '{"sequence": ["a", "b"], "label": "a", "count": 2}\n')  # fmt: skip
    (instance,) = read_instances(lines, prefixes=False)
    assert [sample.count for sample in instance.data.samples] == [1002, 1]
    whole = tmp_path / "a.json"
    whole.write_text(
        '{"name": "mine", "sequences": [["a", "b"], ["b"]], "labels": ["a", "b"], "counts": [3, 1]}'
    )
    (instance,) = read_instances(whole, prefixes=False)
    assert [sample.count for sample in instance.data.samples] == [3, 1]
    assert instance.data.frequencies.tolist() == [0.75, 0.25]
    assert instance.name == "mine"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", '{"sequence": ["a"], "label": "a", "cuont": 3}', "did you mean 'count'"),
        ("a.jsonl", '{"sequence": ["a"], "label": "a", "count": 0}', "from 1 to"),
        ("a.jsonl", '{"sequence": ["a"], "label": "a", "count": 1.5}', "whole number"),
        ("a.jsonl", '{"sequence": ["a"], "label": "a", "count": true}', "whole number"),
        ("a.json", '{"sequences": [["a"]], "labels": ["a"], "count": [1]}', "'counts'"),
        ("a.json", '{"sequences": [["a"]], "labels": ["a"], "counts": [1, 2]}', "one number a"),
        ("a.json", '{"sequences": [["a"]], "labels": ["a"], "counts": 2}', "one number a"),
        ("a.json", '{"sequences": [["a"]], "labels": ["a"], "name": 3}', "name must be"),
        ("a.json", '{"instances": [], "seed": 1}', "unknown key 'seed'"),
    ],
)
def test_unknown_keys_and_bad_counts_are_refused(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_instances(tmp_path / name, prefixes=False)

"""A store appears whole or not at all: killed, on a cluster, or from input that cannot be read."""

import gzip
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from oracles import corpora

from lemmata._errors import InputError
from lemmata.corpus import Corpus, Reading, _index, _sources, build
from lemmata.corpus._tables import read_table, write_table

TEXT = " ".join(corpora.zipfian(6_000, 300, 3))

BUILD = """
import sys
from pathlib import Path
from lemmata.corpus import Reading, _index, build
_index.BYTES_A_SAMPLE = 1 << 20
build(Path(sys.argv[1]), Path(sys.argv[2]), Reading(window=8), memory=1 << 28, workers=1)
"""


def same(one: Path, other: Path) -> None:
    """Every file has the same content; Parquet files, the same table, bit by bit."""
    files = [
        sorted(str(f.relative_to(root)) for f in root.rglob("*") if f.is_file())
        for root in (one, other)
    ]
    assert files[0] == files[1]
    for name in files[0]:
        a, b = one / name, other / name
        if name.endswith(".parquet"):
            left, right = read_table(a), read_table(b)
            assert list(left) == list(right)
            for column in left:
                np.testing.assert_array_equal(left[column], right[column])
        else:
            assert a.read_bytes() == b.read_bytes(), name


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def test_killed_at_random_ten_times_it_ends_with_the_same_store(
    text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_index, "BYTES_A_SAMPLE", 1 << 20)
    expected = build(text, text.parent / "a", Reading(window=8), memory=1 << 28, workers=1)
    draw = random.Random(1)
    store = text.parent / "b"
    killed = 0
    for _ in range(10):
        child = subprocess.Popen([sys.executable, "-c", BUILD, str(text), str(store)])
        unfinished = store.parent / ".b.unfinished"
        stages = ("wanted.json", "encoded.json", f"queries/{draw.randrange(20):05}.parquet")
        stage = unfinished / draw.choice(stages)
        while child.poll() is None and not stage.exists() and not store.exists():
            time.sleep(0.002)
        time.sleep(0.05 * draw.random())
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
            killed += 1
        child.wait()
    subprocess.run([sys.executable, "-c", BUILD, str(text), str(store)], check=True)
    assert killed >= 3
    assert not unfinished.exists()
    same(expected, store)


KILLED_BEFORE_A_MOVE = """
import os, signal
move = Path.replace
def replace(self, target):
    if Path(target).match(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return move(self, target)
Path.replace = replace
"""


def test_what_killed_writers_leave_is_not_in_the_store(
    text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_index, "BYTES_A_SAMPLE", 1 << 20)
    how = {"memory": 1 << 28, "workers": 1}
    expected = build(text, text.parent / "a", Reading(window=8), **how)
    imports, rest = BUILD.split("_index.BYTES", 1)
    code = f"{imports}{KILLED_BEFORE_A_MOVE}_index.BYTES{rest}"
    store = text.parent / "b"
    for number, file in enumerate(("vocabulary.parquet", "edges/00003.parquet"), start=1):
        child = subprocess.run([sys.executable, "-c", code, str(text), str(store), file])
        assert child.returncode == -signal.SIGKILL
        left = list((text.parent / ".b.unfinished").rglob(".unfinished.*"))
        assert len(left) == number
    same(expected, build(text, store, Reading(window=8), **how))


def test_processes_and_a_cluster_give_the_same_store(
    text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(_index, "BYTES_A_SAMPLE", 1 << 18)
    reading = Reading(window=8)
    memory = 3 << 28
    expected = build(text, text.parent / "a", reading, memory=2 << 28, workers=1)
    assert Corpus(expected).partitions > 2
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        build(text, text.parent / "b", reading, memory=memory, workers=2, scheduler=address)
    same(expected, text.parent / "b")


def test_what_is_there_is_not_made_again(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = build(text, text.parent / "s", Reading(window=8), workers=1)
    before = (store / "manifest.json").stat().st_mtime_ns
    monkeypatch.setattr(_sources, "CHUNK", 0)
    build(text, text.parent / "s", Reading(window=8), workers=1)
    assert (store / "manifest.json").stat().st_mtime_ns == before
    monkeypatch.undo()
    other = Corpus(build(text, text.parent / "s", Reading(window=4), workers=1))
    assert other.window == 4


def corpus_of(path: Path, **reading: object) -> Corpus:
    how = Reading(**{"window": 4, **reading})  # pyright: ignore[reportArgumentType]
    return Corpus(build(path, path.parent / "store", how, workers=1))


def numbers(corpus: Corpus) -> dict:
    return {name: corpus.numbers[name] for name in ("tokens", "samples", "reached", "edges")}


def test_the_same_text_in_every_form(text: Path) -> None:
    words = TEXT.split()
    expected = numbers(corpus_of(text))
    folder = text.parent
    number = {word: i for i, word in enumerate(dict.fromkeys(words))}
    ids = [number[word] for word in words]
    (folder / "a.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    (folder / "b.jsonl").write_text(json.dumps({"id": 1, "text": TEXT}) + "\n")
    (folder / "c.jsonl").write_text(json.dumps({"tokens": ids}) + "\n")
    write_table(folder / "d.parquet", {"text": np.array([TEXT], dtype=object)})
    for name in ("a.txt.gz", "b.jsonl", "c.jsonl", "d.parquet"):
        assert numbers(corpus_of(folder / name)) == expected, name


def test_pieces_are_cut_between_words(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = numbers(corpus_of(text))
    monkeypatch.setattr(_sources, "CHUNK", 17)
    assert numbers(corpus_of(text, min_count=1, column="any")) == expected


def test_documents_do_not_see_each_other(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text('{"text": "a b"}\n{"text": "a b a"}\n\n{"text": ""}\n{"text": "b a"}\n')
    corpus = corpus_of(path)
    assert corpus.documents == 4
    assert corpus.samples == 4
    assert corpus["b"].beats("a", "b") == 1
    (place,) = corpus["b"].places("a", "b")
    assert (place.document, place.words, place.label) == (2, ("a", "b"), "a")


def test_characters(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("abab cab")
    corpus = corpus_of(path, tokenizer="characters")
    assert sorted(corpus.names) == [" ", "a", "b", "c"]
    assert corpus.tokens == 8


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.models.WordLevel({"[UNK]": 0, "w0": 1, "w1": 2, "w2": 3}, unk_token="[UNK]")
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_a_tokenizer_from_a_file(tmp_path: Path, tokenizer: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("w0 w1 w2 w0\n" * 50)
    corpus = corpus_of(path, tokenizer=str(tokenizer))
    assert set(corpus.names) == {"w0", "w1", "w2"}
    path = tmp_path / "ids.jsonl"
    path.write_text("[1, 2, 3, 1, 2]\n")
    assert set(corpus_of(path, tokenizer=str(tokenizer)).names) == {"w0", "w1", "w2"}


BAD = {
    "latin.txt": ("blé café ".encode("latin-1"), r"is not UTF-8: byte 2 is 0xe9"),
    "cut.txt": ("blé".encode()[:-1], r"is not UTF-8"),
    "empty.txt": (b"", r"nothing to learn from: 0 tokens"),
    "one.txt": (b"word", r"nothing to learn from: 1 token in all"),
    "long.txt": (b"x" * (1 << 21), r"characters without a blank .*--tokenizer characters"),
    "cut.txt.gz": (gzip.compress(b"a b c " * 999)[:-20], r"cannot read .* to its end"),
    "no.txt.gz": (b"plain", r"cannot read"),
    "broken.jsonl": (b'{"text": "a b"}\n{"text": ', r"line 2 is no JSON"),
    "other.jsonl": (b'{"sequence": ["a"]}\n', r"none of text.*--column NAME, one of sequence"),
    "mixed.jsonl": (b'{"text": 3}\n', r"line 1: a document is a text or a list"),
    "negative.jsonl": (b"[1, -2, 3]\n", r"token number -2 is negative"),
    "no.parquet": (b"PAR1 not", r"cannot read"),
    "alone.jsonl": (b'"a"\n"b"\n', r"there is no sample"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_said_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    content, says = BAD[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=says):
        corpus_of(path)
    assert os.listdir(tmp_path) == [name]


def test_a_line_of_json_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sources, "LONGEST_LINE", 1 << 10)
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps({"text": "word " * 1000}))
    with pytest.raises(InputError, match="line 1 is longer than"):
        corpus_of(path)


def test_a_tokenizer_that_does_not_fit(tmp_path: Path, tokenizer: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("nothing of this is known w0")
    with pytest.raises(InputError, match="does not fit this text: 5 of 6"):
        corpus_of(path, tokenizer=str(tokenizer))
    path = tmp_path / "ids.jsonl"
    path.write_text("[1, 2, 99]\n")
    with pytest.raises(InputError, match=r"token number 99 is out of range.*has 4 tokens"):
        corpus_of(path, tokenizer=str(tokenizer))
    (tmp_path / "no.json").write_text("{}")
    for name in ("no.json", "nowhere.json"):
        with pytest.raises(InputError, match=r"is no tokenizer|there is no"):
            corpus_of(path.with_name("text.txt"), tokenizer=str(tmp_path / name))


def test_a_full_disk(text: Path) -> None:
    """No file of this process may grow beyond some kilobytes: writing fails as on a full disk."""
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        with pytest.raises(InputError, match="cannot write to"):
            corpus_of(text)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert os.listdir(text.parent) == [text.name]


@pytest.mark.parametrize(
    ("reading", "says"),
    [
        ({"window": 0}, "--window takes"),
        ({"min_count": -1}, "--min-count takes"),
        ({"held_out": 1.0}, "--held-out takes"),
        ({"min_count": 10**9}, "0 of .* tokens occur at least"),
    ],
)
def test_options_out_of_range(text: Path, reading: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        corpus_of(text, **reading)


def test_a_folder_in_the_way_stays(text: Path) -> None:
    (text.parent / "store").mkdir()
    with pytest.raises(InputError, match="is in the way"):
        corpus_of(text)
    assert (text.parent / "store").is_dir()

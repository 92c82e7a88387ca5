"""Results on disk: whole or not at all, and never read when damaged."""

import os

import numpy as np
import pytest

from lemmata._errors import InputError
from lemmata.training import Store, fingerprint

ARRAYS = {"weights": np.arange(6.0).reshape(2, 3), "position": np.array(3)}


def assert_same(found: dict[str, np.ndarray] | None) -> None:
    assert found is not None
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array, strict=True)


def test_what_is_saved_is_loaded(tmp_path):
    store = Store(tmp_path / "new" / "folder")
    assert store.load("key") is None
    store.save("key", ARRAYS)
    assert_same(store.load("key"))
    store.save("key", {"other": np.ones(2)})
    assert store.load("key").keys() == {"other"}
    assert [path.name for path in store.folder.iterdir()] == ["key.npz"]


def test_special_values_survive_bit_for_bit(tmp_path):
    array = np.array([np.nan, -0.0, np.inf, 5e-324, 1 / 3])
    store = Store(tmp_path)
    store.save("key", {"array": array})
    assert store.load("key")["array"].tobytes() == array.tobytes()


def test_a_failed_save_leaves_what_was_there(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.save("key", ARRAYS)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.save("key", {"other": np.ones(2)})
    with pytest.raises(OSError, match="No space"):
        store.save("new", {"other": np.ones(2)})
    assert [path.name for path in tmp_path.iterdir()] == ["key.npz"]
    assert_same(store.load("key"))


def test_objects_are_never_pickled(tmp_path):
    with pytest.raises(ValueError, match="allow_pickle"):
        Store(tmp_path).save("key", {"bad": np.array([None])})
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_file_is_nothing(tmp_path):
    store = Store(tmp_path)
    store.save("key", ARRAYS)
    path = tmp_path / "key.npz"
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        assert store.load("key") is None


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04", b"\x93NUMPY\x01\x00v\x00{"])
def test_a_file_of_another_kind_is_nothing(tmp_path, content):
    (tmp_path / "key.npz").write_bytes(content)
    assert Store(tmp_path).load("key") is None


@pytest.mark.parametrize("flip", [0x01, 0x20, 0xFF])
def test_a_damaged_byte_gives_nothing_or_the_same(tmp_path, flip):
    store = Store(tmp_path)
    store.save("key", ARRAYS)
    path = tmp_path / "key.npz"
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :])
        found = store.load("key")
        if found is not None:
            assert_same(found)


def test_nothing_is_unpickled(tmp_path):
    store = Store(tmp_path)
    store.save("key", ARRAYS)
    with np.load(tmp_path / "key.npz") as archive:
        foreign = {name: np.array({"a": 1}, dtype=object) for name in archive.files}
    np.savez(tmp_path / "key.npz", allow_pickle=True, **foreign)
    assert store.load("key") is None
    with pytest.raises(ValueError, match="allow_pickle"):
        store.origin("key")


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write to"):
        Store(tmp_path / "file" / "folder")


def test_fingerprints_do_not_depend_on_the_order_of_names():
    assert fingerprint({"a": 1, "b": [2.5, "x"]}) == fingerprint({"b": [2.5, "x"], "a": 1})
    assert fingerprint((1, 2)) == fingerprint([1, 2])


DIFFERENT = [
    ([1, 23], [12, 3]),
    ([1, 2], [2, 1]),
    ([[1], 2], [[1, 2]]),
    ({"a": 1}, {"a": 2}),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, ["a", 1]),
    ({"a": {"b": 1}, "c": 2}, {"a": {"b": 1, "c": 2}}),
    ({"a": 1, "b": 2}, {"a": [1], "b": 2}),
    (1, "1"),
    (1, 1.0),
    (0.1, np.nextafter(0.1, 1).item()),
    (np.zeros(2), np.zeros(3)),
    (np.zeros(4), np.zeros((2, 2))),
    (np.zeros(2), np.zeros(2, dtype=np.float32)),
    (np.zeros(2), np.array([0.0, 5e-324])),
    ([np.zeros(1), np.zeros(2)], [np.zeros(2), np.zeros(1)]),
]


@pytest.mark.parametrize("number", range(len(DIFFERENT)))
def test_different_experiments_have_different_fingerprints(number):
    first, second = DIFFERENT[number]
    assert fingerprint(first) != fingerprint(second)

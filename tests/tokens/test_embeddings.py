"""Embeddings: orthonormal families and files."""

import json

import numpy as np
import pytest

from lemmata._errors import InputError
from lemmata.tokens import (
    canonical_embeddings,
    orthonormality_error,
    random_orthonormal_embeddings,
    read_embeddings,
)

MATRIX = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]])


def test_canonical_embeddings_are_unit_vectors():
    np.testing.assert_array_equal(canonical_embeddings(3), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize("dimension", [4, 7])
def test_random_family_is_orthonormal(dimension):
    E = random_orthonormal_embeddings(4, dimension, np.random.default_rng(0))
    assert E.shape == (4, dimension)
    for i in range(4):
        for j in range(4):
            assert E[i] @ E[j] == pytest.approx(float(i == j), abs=1e-14)


def test_random_family_is_uniform_in_the_mean():
    rng = np.random.default_rng(1)
    draws = np.array([random_orthonormal_embeddings(2, 3, rng) for _ in range(2000)])
    np.testing.assert_allclose(draws.mean(axis=0), 0, atol=0.06)
    np.testing.assert_allclose((draws**2).mean(axis=0), 1 / 3, atol=0.03)


def test_same_generator_same_family():
    first, second = (
        random_orthonormal_embeddings(3, 5, np.random.default_rng(7)) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_too_many_orthonormal_embeddings():
    with pytest.raises(InputError, match="at least 5"):
        random_orthonormal_embeddings(5, 4, np.random.default_rng(0))


def test_orthonormality_error_is_the_largest_entry():
    assert orthonormality_error(np.eye(3)) == 0
    assert orthonormality_error(np.array([[1.0, 0.0], [0.25, 1.0]])) == 0.25
    assert orthonormality_error(np.array([[2.0, 0.0], [0.0, 1.0]])) == 3
    assert orthonormality_error(np.array([[1.0, 0.0], [-0.25, 1.0]])) == 0.25
    assert orthonormality_error(np.array([[0.5, 0.0], [0.0, 1.0]])) == 0.75


def test_npy_and_json_hold_the_same_matrix(tmp_path):
    np.save(tmp_path / "e.npy", MATRIX)
    (tmp_path / "e.json").write_text(json.dumps(MATRIX.tolist()))
    for name in ("e.npy", "e.json"):
        np.testing.assert_array_equal(read_embeddings(tmp_path / name), MATRIX)


def npy(array: np.ndarray, keep: int | None = None) -> bytes:
    from io import BytesIO

    stream = BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()[:keep]


BROKEN = {
    "e.csv": (b"1,2", [".npy or .json", "'.csv'"]),
    "ragged.json": (b"[[1, 2], [3]]", ["same length"]),
    "flat.json": (b"[1, 2]", ["one row a token", "(2,)"]),
    "empty.json": (b"", ["cannot be read"]),
    "deep.json": (b"[" * 100_000, []),
    "nan.json": (b"[[1, NaN]]", ["[0][1]", "nan", "finite"]),
    "huge.json": (b"[[%s]]" % (b"1" * 400), []),
    "text.json": (b'[["x"]]', ["rows of numbers"]),
    "latin.json": (b"[[1]] \xff", ["cannot be read"]),
    "vector.npy": (npy(np.ones(3)), ["one row a token", "(3,)"]),
    "none.npy": (npy(np.ones((0, 3))), ["one row a token", "(0, 3)"]),
    "inf.npy": (npy(np.array([[1.0, np.inf]])), ["[0][1]", "inf", "finite"]),
    "complex.npy": (npy(np.array([[1j, 2.0]])), ["rows of numbers"]),
    "objects.npy": (npy(np.array([[None]])), ["cannot be read"]),
    "cut.npy": (npy(np.ones((2, 2)), -5), ["cannot be read"]),
    "header.npy": (npy(np.ones((2, 2)), 20), ["cannot be read"]),
    "nothing.npy": (b"", ["cannot be read"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_embeddings_are_refused_in_words(tmp_path, name):
    content, fragments = BROKEN[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_embeddings(path)
    assert str(caught.value).startswith(str(path))
    assert [f for f in fragments if f not in str(caught.value)] == []


def test_missing_embeddings(tmp_path):
    with pytest.raises(InputError, match=r"none\.npy: No such file"):
        read_embeddings(tmp_path / "none.npy")

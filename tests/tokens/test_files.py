"""Token files beside a file of embeddings, and instances put together by hand."""

import json
import re

import numpy as np
import pytest

from lemmata._errors import InputError
from lemmata.tokens import Instance, TokenData
from lemmata.tokens._files import read_token_files

ROWS = [[1.0, 0.5], [0.0, 2.0], [3.0, 4.0]]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a b c\nb c\n")
    return path


def embeddings(folder, rows: list[list[float]]):
    path = folder / "e.json"
    path.write_text(json.dumps(rows))
    return path


def test_each_token_owns_the_row_of_its_first_appearance(text, tmp_path):
    (instance,) = read_token_files(text, embeddings(tmp_path, ROWS), prefixes=True)
    assert instance.data.vocabulary == ("a", "b", "c")
    np.testing.assert_array_equal(instance.embeddings, ROWS)
    assert len(instance.data.samples) == 3


def test_without_embeddings_the_file_stands_alone(text):
    (instance,) = read_token_files(text, None, prefixes=False)
    assert instance.embeddings is None
    assert [sample.tokens for sample in instance.data.samples] == [(0, 1), (1,)]


@pytest.mark.parametrize("rows", [ROWS[:2], [*ROWS, ROWS[0]]])
def test_too_few_and_too_many_rows_are_refused(text, tmp_path, rows):
    with pytest.raises(InputError, match=rf"e\.json: {len(rows)} rows, but .*a\.txt has 3 tokens"):
        read_token_files(text, embeddings(tmp_path, rows), prefixes=True)


DATA = TokenData.from_sentences(["abc"])


@pytest.mark.parametrize(
    ("rows", "start"), [(None, None), (None, 3), ((3, 2), None), ((3, 2), 2), ((3, 5), 5)]
)
def test_shapes_that_fit(rows, start):
    Instance(
        DATA,
        None if rows is None else np.ones(rows),
        None if start is None else np.ones((start, start)),
    ).check_shapes("mine")


@pytest.mark.parametrize("rows", [2, 4])
def test_embeddings_for_other_tokens_are_refused(rows):
    with pytest.raises(InputError, match=f"mine: {rows} embedding rows for 3 tokens"):
        Instance(DATA, np.ones((rows, 2))).check_shapes("mine")


@pytest.mark.parametrize(
    ("width", "shape"),
    [(None, (2, 2)), (None, (3, 2)), (2, (3, 3)), (5, (3, 3)), (2, (1, 2)), (2, (2, 3))],
)
def test_initial_weights_of_another_dimension_are_refused(width, shape):
    instance = Instance(DATA, None if width is None else np.ones((3, width)))
    # the types of the tests would refuse it sooner, but nobody else has them
    object.__setattr__(instance, "initial_weights", np.ones(shape))
    sides = f"shape {shape}; expected {(width or 3, width or 3)}"
    with pytest.raises(InputError, match=re.escape(sides)):
        instance.check_shapes("mine")


def test_one_instance_with_what_a_setting_does_not_take_is_enough(tmp_path):
    plain = {"sequences": [["a", "b"], ["b", "a"]], "labels": ["a", "b"]}
    path = tmp_path / "two.json"
    for more in ({"log_frequencies": [0, -50]}, {"initial_values": [[0.5, 0.0], [0.0, 0.5]]}):
        (key,) = more
        for entries in ([plain, plain | more], [plain | more, plain]):
            path.write_text(json.dumps({"instances": entries}))
            with pytest.raises(InputError, match=rf'two\.json: this setting .*"{key}"'):
                read_token_files(path, None, prefixes=False)
            read = read_token_files(
                path, None, prefixes=False, log_frequencies=True, initial_values=True
            )
            assert [getattr(one, key) is not None for one in read] == [e != plain for e in entries]

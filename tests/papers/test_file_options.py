"""A file may say how its instance is trained."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lemmata as lm
from lemmata._errors import InputError

TOKENS: dict[str, Any] = {"sequences": [["a", "b"], ["b", "c", "b"]], "labels": ["a", "c"]}


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(**more: Any) -> Path:
        file = tmp_path / "data.json"
        file.write_text(json.dumps({**TOKENS, **more}))
        return file

    return write


@lm.claim(
    "no step is longer than 0.02", setting="mechanics", on=lm.experiment("mechanics", steps=5)
)
def short(run):
    return lm.at_most(run.norm, 0.02 * run.steps)


@lm.claim("there are three tokens", setting="mechanics", on="instances")
def three(data):
    return lm.equal(data.each(lambda d: d.K), 3)


def test_it_is_trained_as_the_file_says(written: Any) -> None:
    run = lm.train(written(options={"rate": 0.5, "steps": 7}))
    assert run.steps[-1] == 7
    np.testing.assert_allclose(run.norm[0, 1], 0.5, rtol=1e-12)  # one normalized step from zero
    other = lm.train(written(options={"rate": 0.5, "steps": 7}), steps=3)
    assert other.steps[-1] == 3


def test_a_claim_is_checked_so_where_it_leaves_that_open(written: Any) -> None:
    """The number of steps is part of the statement, the step size is not."""
    file = written(options={"rate": 0.5, "steps": 7})
    (verdict,) = lm.check(short, data=file)
    assert verdict.status == "fails"
    assert verdict.support is not None
    assert verdict.support.steps == 5
    assert lm.check(short, data=file, rate=0.01)[0].status == "holds"
    assert lm.check(short, data=written())[0].status == "holds"
    assert lm.check(three, data=file)[0].status == "holds"


def test_options_that_make_no_sense_are_refused(written: Any) -> None:
    with pytest.raises(InputError, match="unknown option of the mechanics setting 'speed'"):
        lm.train(written(options={"speed": 3}))
    with pytest.raises(InputError, match='"options" must be an object'):
        lm.train(written(options=3))


def test_plans_have_them_too(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"T": 6, "q": 2, "d": 1, "eta": 0.1, "options": {"steps": 9}}))
    assert lm.train(file, "selection").steps[-1] == 9

"""Results as JSON and as words."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from lemmata._plain import plain
from lemmata.claims import Judgement, Status, Verdict
from lemmata.drawing import number


@dataclass(frozen=True)
class Point:
    at: tuple[int, int]
    height: Fraction


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), None),
        (float("-inf"), None),
        (np.float64("inf"), None),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (Fraction(-13, 6), "-13/6"),
        (Status.FAILS, "fails"),
        (np.array([[1.0, np.nan], [np.inf, 2.0]]), [[1.0, None], [None, 2.0]]),
        (Point((1, 2), Fraction(1, 2)), {"at": [1, 2], "height": "1/2"}),
        ({(0, 1): np.array(2), Status.HOLDS: {3, 1}}, {"0,1": 2, "holds": [1, 3]}),
        ((None, "text", True), [None, "text", True]),
    ],
)
def test_plain_values(value: object, expected: object) -> None:
    found = plain(value)
    assert found == expected
    json.dumps(found, allow_nan=False)


def test_plain_keeps_types() -> None:
    assert type(plain(np.float64(1.5))) is float
    assert type(plain(np.int32(7))) is int
    assert type(plain(np.bool_(False))) is bool
    assert type(plain(Status.HOLDS)) is str


def test_plain_names_what_it_cannot_write() -> None:
    with pytest.raises(TypeError, match="cannot write a complex as JSON"):
        plain({"z": 1j})


def test_verdict_as_json() -> None:
    part = Judgement("norm", Status.VACUOUS, "because", math.inf, 4551.0, {"t": np.int64(9)})
    verdict = Verdict(
        claim="paper/theorem-1",
        status=Status.VACUOUS,
        reason="because",
        statement="says",
        where="Section 5",
        experiment="a run",
        parts=(part,),
        margin=math.nan,
        informative_from=4551.0,
        witness={"pi": Fraction(1, 3), "left": -math.inf},
    )
    found = plain(verdict)
    assert {"claim", "status", "margin", "informative_from", "witness"} <= found.keys()
    assert {"statement", "experiment", "where", "reason", "parts"} <= found.keys()
    assert found["margin"] is None
    assert found["witness"] == {"pi": "1/3", "left": None}
    (shown,) = found["parts"]
    assert shown["part"] == "norm"
    assert shown["status"] == "vacuous"
    assert shown["margin"] is None
    assert shown["witness"] == {"t": 9}
    assert shown["tightness"] is None
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (-0.0, "0"),
        (0.0370843, "0.03708"),
        (-3.5, "−3.5"),
        (444178.0, "444178"),
        (5.7e14, "5.7\u00a0×\u00a010¹⁴"),
        (1e-30, "10⁻³⁰"),
        (None, "–"),
        (math.nan, "–"),
        (-math.inf, "−∞"),
    ],
)
def test_numbers_for_people(value: float | None, expected: str) -> None:
    assert number(value) == expected

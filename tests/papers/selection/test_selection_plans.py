"""Plan files: what is read, what is filled in, and what is refused in words."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard

from lemmata._errors import InputError
from lemmata.papers.selection.setting import SETTING, OnlineChoices, Plan
from lemmata.papers.selection.setting._plan_file import KEYS, TRAINING_KEYS
from lemmata.papers.selection.setting._task import Task

BARE = {"T": 20, "q": 3, "d": 2}


def write(folder: Path, content: Any, name: str = "plan.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def only(plans: list[Plan]) -> Plan:
    (plan,) = plans
    return plan


def test_a_bare_plan_is_what_theorem_3_1_speaks_of(tmp_path: Path):
    plan = only(SETTING.read(write(tmp_path, BARE)))
    assert (plan.name, plan.task, plan.kind, plan.d_e) == ("plan", Task(20, 3, 2), "one-hot", None)
    assert plan.rate == 1 / 80
    assert plan.epsilon == pytest.approx(2 * 20 / (100 * 17 * 3) / 2, rel=1e-15)
    assert (plan.inertia, plan.width) == (19, 22)
    assert plan.problems == ()
    assert plan.training == OnlineChoices()


def test_everything_a_plan_can_say(tmp_path: Path):
    training = {
        "encodings": "fixed",
        "samples": 64,
        "x_query": "random",
        "initial": 0.1,
        "later_rate": 0.5,
        "change": 0,
        "tests": [[40, 3], [20, 5]],
        "seed": 7,
        "factors": 8,
        "queries": 20,
        "heads": 4,
    }
    assert set(training) == set(TRAINING_KEYS)
    said = BARE | {"name": "all", "eta": 2, "eps": 0.25, "d_e": 30, "threshold": 0.5}
    plan = only(SETTING.read(write(tmp_path, said | {"training": training})))
    assert (plan.name, plan.rate, plan.epsilon) == ("all", 2.0, 0.25)
    assert (plan.d_e, plan.threshold, plan.kind) == (30, 0.5, "random")
    assert (plan.inertia, plan.width) == (30, 32)
    tests = ((40, 3), (20, 5))
    assert plan.training == OnlineChoices(
        "fixed", 2.0, 0.5, 0, 64, 0.1, "random", tests, 7, 8, 20, 4
    )


def test_random_encodings_get_the_step_size_of_theorem_3_3_but_at_most_1(tmp_path: Path):
    plan = only(SETTING.read(write(tmp_path, BARE | {"d_e": 30})))
    assert plan.rate == pytest.approx(30**2 / (40 * 4 * 20), rel=1e-15)
    assert only(SETTING.read(write(tmp_path, BARE | {"d_e": 3000}))).rate == 1


def test_several_plans_are_numbered_or_named(tmp_path: Path):
    plans = SETTING.read(write(tmp_path, {"plans": [BARE, BARE | {"name": "second"}, BARE]}))
    assert [plan.name for plan in plans] == ["plan 0", "second", "plan 2"]


ROWS = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.8, 0.1], [0.0, 0.6, -0.8]]


@pytest.mark.parametrize("how", ["inside", "json", "npy"])
def test_encodings_have_a_row_a_position(tmp_path: Path, how: str):
    said = {"T": 5, "q": 2, "d": 1}
    file = write(tmp_path, said | ({"encodings": ROWS} if how == "inside" else {}))
    beside = None
    if how == "json":
        beside = write(tmp_path, ROWS, "rows.json")
    if how == "npy":
        beside = tmp_path / "rows.npy"
        np.save(beside, np.array(ROWS))
    plan = only(SETTING.read(file, beside))
    assert (plan.kind, plan.d_e, plan.inertia) == ("given", 3, 3)
    np.testing.assert_array_equal(plan.encodings, np.array(ROWS).T)
    assert plan.rate == pytest.approx(9 / (40 * 5), rel=1e-15)


@pytest.mark.parametrize(("d_e", "T"), [(8, 5), (48, 16), (1024, 1000)])
def test_orthogonal_encodings_have_a_name(tmp_path: Path, d_e: int, T: int):
    """Twenty megabytes of signs are a word in a file."""
    said = {"T": T, "q": 2, "d": 1, "eps": 0.01, "eta": 3.0, "d_e": d_e, "encodings": "walsh"}
    plan = only(SETTING.read(write(tmp_path, said)))
    assert plan.encodings is not None
    order = d_e & -d_e
    signs = np.tile(hadamard(order), (d_e // order, 1))[:, :T]
    np.testing.assert_array_equal(plan.encodings, signs / np.sqrt(d_e))
    np.testing.assert_allclose(plan.encodings.T @ plan.encodings, np.eye(T), atol=1e-12)
    document = plan.document()
    assert {key: document[key] for key in said} == said
    assert only(SETTING.read(write(tmp_path, document))).document() == document
    moved = replace(plan, encodings=plan.encodings[::-1])
    assert len(moved.document()["encodings"]) == T


def refused() -> dict[str, tuple[Any, str]]:
    """Content, and words of the message, by what is wrong."""
    small = {"T": 5, "q": 2, "d": 1}
    deep = '{"T": ' + "[" * 100_000
    return {
        "empty": ("", "the file is empty; expected"),
        "blank": (" \n", "the file is empty"),
        "malformed": ('{"T": 5,', "not valid JSON"),
        "nested": (deep, "not valid JSON"),
        "list": ([BARE], 'expected {"T"'),
        "number": ("3", 'expected {"T"'),
        "no plans": ({"plans": []}, "at least one plan"),
        "plans of numbers": ({"plans": [BARE, 3]}, 'plan 1: expected {"T"'),
        "beside plans": ({"plans": [BARE], "eta": 1}, "belongs into each plan"),
        "same name": ({"plans": [BARE | {"name": "a"}] * 2}, "two plans are called 'a'"),
        "missing": ({"T": 5, "d": 1}, '"q" is missing'),
        "unknown key": (BARE | {"epsilon": 1}, "unknown key 'epsilon'; did you mean 'eps'?"),
        "unknown key, unlike any": (BARE | {"zzz": 1}, "(known: T, q, d"),
        "second of two": ({"plans": [BARE, BARE | {"eta": -1}]}, "plan 1: eta must be a positive"),
        "q above T": (BARE | {"q": 21}, "q = 21 positions cannot be chosen out of T = 20"),
        "q is T": (BARE | {"q": 20}, "choose q < T"),
        "fraction": (BARE | {"T": 20.0}, "T must be a positive whole number; got 20.0"),
        "truth": (BARE | {"d": True}, "d must be a positive whole number"),
        "text": (BARE | {"q": "3"}, "q must be a positive whole number"),
        "negative": (BARE | {"T": -20}, "T must be a positive whole number; got -20"),
        "nan": ('{"T": 20, "q": 3, "d": 2, "eta": NaN}', "eta must be a positive number; got nan"),
        "infinite": ('{"T": 20, "q": 3, "d": 2, "eps": 1e999}', "eps must be a positive number"),
        "zero": (BARE | {"eps": 0}, "eps must be a positive number; got 0"),
        "huge": (BARE | {"T": 10**9}, "T = 1,000,000,000 is too large (at most 100,000)"),
        "huger": (BARE | {"eta": 10**400}, "eta must be a positive number"),
        "huge d_e": (BARE | {"d_e": 10**30}, "too large"),
        "long encoded": (BARE | {"T": 3000, "d_e": 9}, "T = 3,000 is too large to measure"),
        "large encoded": (BARE | {"T": 2000, "d_e": 99_999}, "entries are too large"),
        "name": (BARE | {"name": "a\x1b[31m"}, "name must be a text that can be printed"),
        "long name": (BARE | {"name": "a" * 81}, "longer than 80 characters"),
        "threshold": (BARE | {"d_e": 9, "threshold": 2}, "threshold must be between 0 and 1"),
        "no threshold": (BARE | {"threshold": 0.5}, '"threshold" is for random encodings'),
        "Welch": (BARE | {"d_e": 9, "threshold": 0.1}, "the largest is at least 0.2536 (Welch)"),
        "draws": (BARE | {"T": 99, "d_e": 99, "threshold": 0.02}, "draws would be needed"),
        "few dimensions": (BARE | {"d_e": 2}, "linearly dependent in d_e = 2"),
        "no d_e": (small | {"encodings": "walsh"}, 'needs a "d_e" that is a power of two'),
        "odd d_e": (small | {"encodings": "walsh", "d_e": 12}, "at least T = 5, or a multiple"),
        "ragged": (small | {"encodings": [[1, 0], [1]]}, "encodings: expected rows of numbers"),
        "few rows": (small | {"encodings": ROWS[:4]}, "4 rows of encodings, but the plan 'plan'"),
        "words": (small | {"encodings": [["a"] * 5] * 5}, "expected rows of numbers"),
        "nan row": (json.dumps(small | {"encodings": [[0.5, float("nan")]] * 5}), "[0][1] is nan"),
        "twins": (small | {"encodings": [*ROWS[:4], ROWS[1]]}, "positions 1 and 4 have the same"),
        "zero row": (
            small | {"encodings": [*ROWS[:4], [0, 0, 0]]},
            "position 4 has the encoding 0",
        ),
        "other d_e": (small | {"encodings": ROWS, "d_e": 4}, "encodings in 3 dimensions"),
        "training": (BARE | {"training": 3}, "training: expected an object"),
        "training key": (BARE | {"training": {"sample": 3}}, "did you mean 'samples'?"),
        "samples": (BARE | {"training": {"samples": 0}}, "samples must be a positive whole number"),
        "seed": (BARE | {"training": {"seed": 2**32}}, "seed = 4,294,967,296 is too large"),
        "choice": (
            BARE | {"training": {"x_query": "one"}},
            "x_query is one of zero, fixed, random",
        ),
        "odd choice": (BARE | {"training": {"x_query": []}}, "x_query is one of"),
        "initial": (BARE | {"training": {"initial": -1}}, "initial must be a number that is not"),
        "tests": (BARE | {"training": {"tests": [40, 3]}}, "tests is a list of pairs [T, q]"),
        "test": (BARE | {"training": {"tests": [[3, 4]]}}, "test [3, 4]: q = 4 positions cannot"),
    }


@pytest.mark.parametrize("case", refused())
def test_bad_plans_are_refused_in_words(tmp_path: Path, case: str):
    content, message = refused()[case]
    file = write(tmp_path, content)
    with pytest.raises(InputError) as error:
        SETTING.read(file)
    assert message in str(error.value)
    assert str(error.value).startswith(str(file))


@pytest.mark.parametrize(
    ("key", "most"),
    [("samples", 10**6), ("queries", 10**6), ("factors", 10**4), ("heads", 100), ("change", 2**62)],
)
def test_numbers_of_a_training_have_a_largest_one(tmp_path: Path, key: str, most: int):
    def training(value: int) -> dict:
        return BARE | {"training": {"initial": 0.1, key: value}}

    assert getattr(only(SETTING.read(write(tmp_path, training(most)))).training, key) == most
    with pytest.raises(InputError, match=f"{key} = {most + 1:,} is too large"):
        SETTING.read(write(tmp_path, training(most + 1)))


def test_what_is_not_a_plan_file_is_refused_in_words(tmp_path: Path):
    (tmp_path / "plan.json").write_bytes(b"\xff\xfe{}")
    for file, message in {
        tmp_path / "plan.json": "not UTF-8",
        tmp_path / "none.json": "No such file",
        write(tmp_path, "a b c", "tokens.txt"): "reads plans from .json",
    }.items():
        with pytest.raises(InputError, match=message):
            SETTING.read(file)


def test_encodings_from_two_places_are_refused(tmp_path: Path):
    beside = write(tmp_path, ROWS, "rows.json")
    said = {"T": 5, "q": 2, "d": 1}
    for more, message in (
        ({"encodings": ROWS}, "has encodings of its own"),
        ({"d_e": 4}, "asks for random ones in 4"),
        ({"d_e": 3, "threshold": 0.9}, "leave out"),
        ({"T": 6}, "5 rows of encodings"),
        ({"q": 4}, "linearly dependent in d_e = 3"),
    ):
        with pytest.raises(InputError, match=message):
            SETTING.read(write(tmp_path, said | more), beside)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**12) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3),
    st.dictionaries(st.sampled_from(TRAINING_KEYS), VALUES, max_size=2),
)
def test_whatever_stands_in_a_plan_it_is_read_or_refused(
    tmp_path: Path, said: dict, training: dict
):
    file = write(tmp_path, {**BARE, "training": training, **said})
    try:
        plan, refusal = only(SETTING.read(file)), str(file)
    except InputError as error:
        plan, refusal = None, str(error)
    assert refusal.startswith(str(file))
    assert plan is None or plan.task.q < plan.task.T <= 100_000


def exact_problems(T: int, q: int, d: int, d_e: int | None, eta: str, eps: str) -> set[str]:
    """The hypotheses of Theorems 3.1 and E.6, in fractions."""
    broken = set()
    if q < 2 or 4 * q >= T:
        broken.add("q_out_of_range")
    if Fraction(eps) >= Fraction(d * T, 100 * (T - q) * q):
        broken.add("large_epsilon")
    if Fraction(eta) > Fraction(1, 20 * d * d):
        broken.add("large_step")
    if d_e is not None and Fraction(eta) > Fraction(d_e * d_e, 40 * d * d * T):
        broken.add("large_stochastic_step")
    if d_e is not None:  # signs with any inner products may have any delta
        broken.add("isometry_not_certain")
    return broken


@pytest.mark.parametrize("d_e", [None, 30, 170])
@pytest.mark.parametrize(("eta", "eps"), [("0.0125", "0.001"), ("0.0126", "0.008"), ("1", "0.5")])
@pytest.mark.parametrize(("T", "q"), [(20, 3), (12, 3), (13, 3), (40, 1), (200, 50)])
def test_problems_are_the_hypotheses_that_are_not_met(T: int, q: int, d_e, eta: str, eps: str):
    plan = Plan("p", Task(T, q, 2), float(eta), float(eps), d_e)
    found = {problem.code for problem in plan.problems}
    assert found == exact_problems(T, q, 2, d_e, eta, eps)
    assert all(problem.where == "p" and problem.message for problem in plan.problems)

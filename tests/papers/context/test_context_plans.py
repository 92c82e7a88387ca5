"""Plan files of this paper: what is read, what is drawn, and what is refused in words."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lemmata as lm
from lemmata._errors import InputError
from lemmata._plain import plain
from lemmata.papers.context.setting import SETTING, Plan
from lemmata.papers.context.setting._plan_file import KEYS

BARE = {"N": 3, "tau": 0.1, "H": 4, "K": 6, "d": 5, "m": 2}
TOKENS = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-0.8, 0.6]]
REPRESENTATIONS = [[1.0, 2.0, 3.0], [0.5, -1.0, 0.0], [2.0, 0.0, 1.0], [1.0, 1.0, -1.0]]
GIVEN = {"N": 2, "tau": 0.1, "H": 2, "tokens": TOKENS, "representations": REPRESENTATIONS}


def write(folder: Path, content: Any, name: str = "plan.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def only(plans: list[Plan]) -> Plan:
    (plan,) = plans
    return plan


def codes(plan: Plan) -> set[str]:
    return {problem.code for problem in plan.problems}


def test_a_bare_plan_has_unit_tokens_and_gaussian_representations(tmp_path: Path):
    plan = only(SETTING.read(write(tmp_path, BARE)))
    task = plan.task
    assert (plan.name, task.N, task.K, task.d, task.m) == ("plan", 3, 6, 5, 2)
    assert (task.tau, plan.heads, plan.scale, plan.seed) == (0.1, 4, 1.0, 0)
    assert (plan.epsilon, plan.delta, plan.largest_coefficient) == (0.01, 0.1, math.sqrt(2))
    np.testing.assert_allclose(np.linalg.norm(task.tokens, axis=0), 1, rtol=1e-14)
    assert plan.problems == ()


def test_random_numbers_depend_on_the_seed_and_not_on_each_other(tmp_path: Path):
    large = {"N": 30, "tau": 0.1, "H": 8, "K": 400, "d": 20, "m": 20}
    first, again, other = (
        only(SETTING.read(write(tmp_path, large | {"seed": seed, "token_law": "gaussian"})))
        for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(first.task.tokens, again.task.tokens)
    np.testing.assert_array_equal(first.task.representations, again.task.representations)
    assert not np.array_equal(first.task.tokens, other.task.tokens)
    heads = np.asarray(first.start.Q).transpose(1, 0, 2)
    drawn = [first.task.tokens.T, first.task.representations.T, heads]
    samples = [np.ravel(array)[:3_200] for array in drawn]
    for sample in samples:
        assert abs(sample.mean()) < 4 / math.sqrt(sample.size)
        assert abs((sample**2).mean() - 1) < 4 * math.sqrt(2 / sample.size)
    correlations = np.corrcoef(samples)[np.triu_indices(3, 1)]
    assert (np.abs(correlations) < 4 / math.sqrt(3_200)).all()
    assert codes(first) >= {"not_unit"}


def test_the_law_of_tokens_changes_nothing_else(tmp_path: Path):
    unit, gaussian = (
        only(SETTING.read(write(tmp_path, BARE | {"token_law": law}))).task
        for law in ("unit", "gaussian")
    )
    norms = np.linalg.norm(gaussian.tokens, axis=0)
    np.testing.assert_allclose(gaussian.tokens / norms, unit.tokens, rtol=1e-14)
    np.testing.assert_array_equal(gaussian.representations, unit.representations)


def test_everything_a_plan_can_say(tmp_path: Path):
    more = {"name": "all", "beta": 2, "seed": 7, "epsilon": 0.5, "delta": 0.2, "B": 3}
    plan = only(SETTING.read(write(tmp_path, GIVEN | more)))
    assert (plan.name, plan.scale, plan.seed) == ("all", 2.0, 7)
    assert (plan.epsilon, plan.delta, plan.largest_coefficient) == (0.5, 0.2, 3.0)
    np.testing.assert_array_equal(plan.task.tokens, np.array(TOKENS).T)
    np.testing.assert_array_equal(plan.task.representations, np.array(REPRESENTATIONS).T)
    assert set(GIVEN | more | BARE | {"token_law": "unit"}) == set(KEYS)


@pytest.mark.parametrize("how", ["json", "npy"])
def test_embeddings_are_the_tokens(tmp_path: Path, how: str):
    said = {key: value for key, value in GIVEN.items() if key != "tokens"}
    beside = write(tmp_path, TOKENS, "rows.json") if how == "json" else tmp_path / "rows.npy"
    if how == "npy":
        np.save(beside, np.array(TOKENS))
    plans = SETTING.read(write(tmp_path, {"plans": [said, said | {"N": 3, "H": 5}]}), beside)
    assert [(plan.name, plan.task.N) for plan in plans] == [("plan 0", 2), ("plan 1", 3)]
    for plan in plans:
        np.testing.assert_array_equal(plan.task.tokens, np.array(TOKENS).T)


LEGAL: dict[str, tuple[dict[str, Any], set[str]]] = {
    "no noise": ({"tau": 0}, {"no_noise"}),
    "no noise, N > m": (
        {"tau": 0, "representations": [[1.0], [2.0], [3.0], [4.0]]},
        {"no_noise", "singular"},
    ),
    "singular Z": (
        {"tau": 0, "representations": [[1.0, 1.0], [2.0, 2.0], [0.0, 1.0], [1.0, 0.0]]},
        {"no_noise", "singular"},
    ),
    "twins": (
        {"tokens": [TOKENS[0], TOKENS[0], TOKENS[1], TOKENS[2]]},
        {"repeated_token", "no_distinct_row", "no_full_rank"},
    ),
    "twins elsewhere": ({"tokens": [*TOKENS[:3], TOKENS[0]]}, set()),
    "norm": ({"tokens": [*TOKENS[:3], [0.6, 0.9]]}, {"not_unit"}),
    "few heads": ({"H": 1}, {"few_heads", "no_full_rank"}),
    "one token": (
        {"N": 1, "H": 1, "tokens": [[1.0]], "representations": [[2.0]]},
        set(),
    ),
    "nothing to represent": ({"representations": [[0.0]] * 4}, set()),
    "nothing at all": ({"tau": 0, "representations": [[0.0]] * 4}, {"no_noise", "singular"}),
}


@pytest.mark.parametrize("case", LEGAL)
def test_what_breaks_a_hypothesis_is_read_and_named(tmp_path: Path, case: str):
    change, expected = LEGAL[case]
    plan = only(SETTING.read(write(tmp_path, GIVEN | change)))
    assert codes(plan) >= expected
    assert codes(plan) - expected <= {"zeta_unresolved", "no_full_rank"}
    answer = plain(lm.analyze(plan).document())
    assert {problem["code"] for problem in answer["problems"]} == codes(plan)
    assert answer["theorems"]["theorem-1"]["applies"] is not (codes(plan) != set())


def refused() -> dict[str, tuple[Any, str]]:
    """Content, and words of the message, by what is wrong."""
    nan = json.dumps(GIVEN).replace("0.6", "NaN", 1)
    return {
        "empty": ("", "the file is empty; expected"),
        "malformed": ('{"N": 5,', "not valid JSON"),
        "nested": ('{"N": ' + "[" * 100_000, "not valid JSON"),
        "list": ([BARE], 'expected {"N"'),
        "no plans": ({"plans": []}, "at least one plan"),
        "plans of numbers": ({"plans": [BARE, 3]}, 'plan 1: expected {"N"'),
        "beside plans": ({"plans": [BARE], "tau": 1}, "belongs into each plan"),
        "same name": ({"plans": [BARE | {"name": "a"}] * 2}, "two plans are called 'a'"),
        **{
            f"no {key}": (
                {name: value for name, value in BARE.items() if name != key},
                f'"{key}" is missing; expected',
            )
            for key in BARE
        },
        "null": (BARE | {"H": None}, '"H" is missing'),
        "unknown key": (BARE | {"eps": 1}, "unknown key 'eps'; did you mean"),
        "many examples": (BARE | {"N": 7}, "N = 7 examples, but the dictionary has only K = 6"),
        "no examples": (BARE | {"N": 0}, "N must be a positive whole number; got 0"),
        "no heads": (BARE | {"H": 0}, "H must be a positive whole number; got 0"),
        "negative tau": (BARE | {"tau": -0.1}, "tau must be a number that is not negative"),
        "nan": (json.dumps(BARE).replace("0.1", "NaN"), "tau must be a number that is not neg"),
        "infinite": (json.dumps(BARE).replace("0.1", "1e999"), "tau must be a number"),
        "text": (BARE | {"tau": "0.1"}, "tau must be a number"),
        "fraction": (BARE | {"K": 6.0}, "K must be a positive whole number; got 6.0"),
        "truth": (BARE | {"d": True}, "d must be a positive whole number"),
        "second of two": ({"plans": [BARE, BARE | {"m": -1}]}, "plan 1: m must be a positive"),
        "both": (GIVEN | {"K": 4}, '"K" is for random tokens, but the tokens are given'),
        "law of given tokens": (GIVEN | {"token_law": "unit"}, '"token_law" is for random tokens'),
        "both representations": (GIVEN | {"m": 3}, '"m" is for random representations'),
        "law": (BARE | {"token_law": "sphere"}, "token_law is one of unit, gaussian; got 'sphere'"),
        "odd law": (BARE | {"token_law": []}, "token_law is one of"),
        "ragged": (GIVEN | {"tokens": [[1, 0], [1]]}, "tokens: expected rows of numbers"),
        "flat": (GIVEN | {"tokens": [1, 0]}, "tokens: expected a matrix"),
        "no tokens": (GIVEN | {"tokens": []}, "tokens: expected a matrix"),
        "nan token": (nan, "tokens: entry [2][0] is nan"),
        "huge token": (GIVEN | {"tokens": [[1e200, 0.0], *TOKENS[1:]]}, "larger than 1e+30"),
        "few representations": (
            GIVEN | {"representations": REPRESENTATIONS[:3]},
            "3 representations, but there are K = 4 tokens",
        ),
        "ragged representations": (
            GIVEN | {"representations": [[1], [1, 2], [1], [1]]},
            "representations: expected rows of numbers",
        ),
        "words": (GIVEN | {"tokens": [["a"] * 2] * 4}, "tokens: expected rows of numbers"),
        "huge K": (BARE | {"K": 10**9}, "K = 1,000,000,000 is too large (at most 10,000)"),
        "huge d": (BARE | {"d": 10**30}, "is too large"),
        "huge H": (BARE | {"H": 10**6}, "H = 1,000,000 is too large"),
        "huge m": (BARE | {"m": 10**6}, "m = 1,000,000 is too large"),
        "large tokens": (BARE | {"K": 9_999, "d": 9_999}, "K d = 99,980,001 is too large"),
        "large attention": (BARE | {"N": 9, "K": 9_000, "H": 9_000}, "N H K = 729,000,000"),
        "large heads": (BARE | {"d": 3_000, "H": 9}, "H d d = 81,000,000 is too large"),
        "large prompt": (BARE | {"N": 999, "K": 999}, "N N K = 997,002,999 is too large"),
        "large tasks": (BARE | {"N": 1, "K": 2, "m": 9_999}, "m m = 99,980,001 is too large"),
        "seed": (BARE | {"seed": 2**32}, "seed = 4,294,967,296 is too large"),
        "negative seed": (BARE | {"seed": -1}, "seed must be a whole number that is not negative"),
        "beta": (BARE | {"beta": 0}, "beta must be a positive number; got 0"),
        "extreme": (BARE | {"tau": 1e-200}, "tau = 1e-200 is extreme"),
        "epsilon": (BARE | {"epsilon": -1}, "epsilon must be a positive number"),
        "delta": (BARE | {"delta": 1}, "delta is a probability below 1; got 1"),
        "B": (BARE | {"B": 1e99}, "B = 1e+99 is extreme"),
        "name": (BARE | {"name": "a\x1b[31m"}, "name must be a text that can be printed"),
    }


@pytest.mark.parametrize("case", refused())
def test_bad_plans_are_refused_in_words(tmp_path: Path, case: str):
    content, message = refused()[case]
    file = write(tmp_path, content)
    with pytest.raises(InputError) as error:
        SETTING.read(file)
    assert message in str(error.value)
    assert str(error.value).startswith(str(file))


def test_what_is_not_a_plan_file_is_refused_in_words(tmp_path: Path):
    (tmp_path / "plan.json").write_bytes(b"\xff\xfe{}")
    for file, message in {
        tmp_path / "plan.json": "not UTF-8",
        tmp_path / "none.json": "No such file",
        write(tmp_path, "a b c", "tokens.txt"): "the context setting reads plans from .json",
    }.items():
        with pytest.raises(InputError, match=message):
            SETTING.read(file)


def test_tokens_from_two_places_are_refused(tmp_path: Path):
    beside = write(tmp_path, TOKENS, "rows.json")
    for said, message in (
        (GIVEN, "has tokens of its own"),
        (BARE, '"K" is for random tokens'),
        ({"N": 5, "tau": 0.1, "H": 5, "m": 1}, "only K = 4 tokens"),
    ):
        with pytest.raises(InputError, match=message):
            SETTING.read(write(tmp_path, said), beside)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.lists(st.lists(st.floats(), max_size=2)),
    max_leaves=6,
)


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3), st.booleans())
def test_whatever_stands_in_a_plan_it_is_analyzed_or_refused(
    tmp_path: Path, said: dict, random: bool
):
    file = write(tmp_path, {**(BARE if random else GIVEN), **said})
    try:
        answer, refusal = plain(SETTING.analyze(only(SETTING.read(file))).document()), str(file)
    except InputError as error:
        answer, refusal = None, str(error)
    assert refusal.startswith(str(file))
    assert answer is None or answer["loss"]["minimum"] >= 0
    json.dumps(answer, allow_nan=False)

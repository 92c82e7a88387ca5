"""Whatever is typed, the answer is a sentence and the exit code 2."""

import json
from pathlib import Path

import pytest
from oracles.terminal import run, write

HUGE = "99999999999999999999"


def refused(*words: object) -> str:
    done = run(*words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    return line


@pytest.mark.parametrize("setting", ["mechanics", "convergence"])
def test_more_steps_than_any_run_has(tmp_path: Path, setting: str) -> None:
    file = write(tmp_path, "data.txt", "a b a\nb a\n")
    for extra in ((), ("--record", "1,5")):
        line = refused("train", file, "--setting", setting, "--steps", HUGE, *extra)
        assert (
            line == "error: 99,999,999,999,999,999,999 steps are too many (at most 1,000,000,000)"
        )


def test_weights_whose_norm_is_no_number(tmp_path: Path) -> None:
    """They used to be trained, with a norm of inf and a correlation that was wrong."""
    content = {"sequences": [["a", "b"]], "labels": ["a"], "initial_weights": [[1e300, 0], [0, 1]]}
    file = write(tmp_path, "data.json", content)
    assert "an entry of size 1e+300 is too large" in refused("train", file, "--steps", 5)
    start = write(tmp_path, "start.json", [[1e300, 0], [0, 1]])
    plain = write(tmp_path, "plain.txt", "a b a\n")
    assert "an entry of size 1e+300 is too large" in refused("train", plain, "--start", start)
    assert "a step size of 1e+300 is too large" in refused("train", plain, "--lr", "1e300")


def test_options_of_training_in_a_sweep() -> None:
    line = refused("sweep", "mechanics", "--over", "K=4", "--steps", 5)
    assert line.endswith("options of training are written like --over steps=2000")


def test_a_text_in_the_place_of_a_number_is_shown_as_one(tmp_path: Path) -> None:
    file = write(tmp_path, "plan.json", {"T": "5", "q": 2, "d": 1})
    line = refused("train", file, "--setting", "selection")
    assert line.endswith("T must be a positive whole number; got '5'")


def test_an_unknown_key_of_a_plan(tmp_path: Path) -> None:
    plan = {"N": 4, "K": 12, "d": 5, "m": 3, "tau": 0.1, "H": 8, "token_lew": "unit"}
    line = refused("analyze", write(tmp_path, "plan.json", plan), "--setting", "context")
    assert "unknown key 'token_lew'; did you mean 'token_law'? (known: N, tau," in line


@pytest.mark.parametrize("command", ["check", "falsify"])
def test_an_error_in_a_comparison_names_its_lemma(tmp_path: Path, command: str) -> None:
    text = """import numpy as np

import lemmata as lm


@lm.claim("it is short", setting="mechanics")
def good(run):
    return lm.at_most(run.norm, 1e9)


@lm.claim("it fits", setting="mechanics")
def odd(run):
    return lm.at_least(run.norm, np.zeros(7))
"""
    file = write(tmp_path, "mine.py", text)
    words = ("--budget", 4) if command == "falsify" else ()
    assert refused(command, file, *words).startswith(
        "error: mine/odd: the comparison: a list of 7 numbers is neither one a case"
    )


def test_hypotheses_that_are_one_text(tmp_path: Path) -> None:
    text = """import lemmata as lm


@lm.claim("it is short", setting="mechanics", hypotheses="acyclic")
def short(run):
    return lm.at_most(run.norm, 1e9)
"""
    line = refused("check", write(tmp_path, "mine.py", text))
    assert line.endswith("hypotheses is a list of names, as in ['acyclic']")


def test_options_in_a_file_are_numbers(tmp_path: Path) -> None:
    content = {"sequences": [["a", "b"]], "labels": ["a"], "options": {"steps": "many"}}
    file = write(tmp_path, "data.json", json.dumps(content))
    assert "steps takes a whole number; got 'many'" in refused("train", file)

"""Calls of the public page with what they do not take."""

from collections.abc import Callable
from typing import Any

import pytest

import lemmata as lm

DATA = lm.mechanics.Dataset


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: lm.draw("mechanics", 0), "count must be at least 1; got 0"),
        (lambda: lm.draw("mechanics", 2, seed=-1), "seed must be a whole number that is not neg"),
        (lambda: lm.experiment("mechanics", count=0), "count must be at least 1; got 0"),
        (lambda: lm.check(5), "claims are names, files or functions under @lm.claim; got 5"),
        (lambda: lm.check([]), "there is no claim: the list is empty"),
        (lambda: lm.falsify([]), "there is no claim: the list is empty"),
        (lambda: lm.falsify(5), "claims are names, files or functions under @lm.claim; got 5"),
        (lambda: lm.falsify("mechanics/lemma-1", budget=-1.0), "budget must be"),
        (lambda: lm.check("mechanics/equation-10", data=7), "int is no instance of the mechanics"),
        (lambda: lm.train(lm.draw("mechanics"), steps="a"), "steps takes a whole number; got 'a'"),
        (lambda: DATA.from_sentences("m", {}), "there is no sentence"),
        (lambda: lm.convergence.Dataset.from_sentences("m", []), "there is no sentence"),
    ],
)
def test_the_answer_is_a_sentence(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(lm.InputError, match=says):
        call()

"""Dynamics of the user's own: what cannot be run is refused in a sentence."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import pytest
from jaxtyping import Array, Float

import lemmata as lm
from lemmata._errors import InputError


class Steps(lm.AbstractDynamics[Any]):
    """Something that halves, as a whole or as an array."""

    start: Any

    def init(self) -> Any:
        return self.start

    def step(self, state: Any) -> Any:
        return state / 2

    def measure(self, state: Any) -> Any:
        return {"size": state}


class Grows(Steps):
    def step(self, state: Any) -> Any:
        return jnp.stack([state, state])


class Shaped(Steps):
    def init(self) -> Any:
        return jnp.zeros((self.start, self.start))


class Unnamed(Steps):
    def measure(self, state: Any) -> Any:
        return state


class Empty(lm.AbstractDynamics[Float[Array, ""]]):
    def init(self) -> Any:
        return jnp.zeros(())

    def step(self, state: Any) -> Any:
        return state

    def measure(self, state: Any) -> Any:
        return {}


REFUSED: dict[str, tuple[Any, str]] = {
    "no function": (3, "dynamics takes a function from an instance to an lm.Abs.*got 3"),
    "no dynamics": (lambda data: data.K, "must give an lm.AbstractDynamics .* got int for acyc"),
    "an error": (lambda data: Steps(data.KK), r"raised AttributeError \(test_own_dynamics.py"),
    "an object": (Steps, "Steps.start is a Dataset; fields of dynamics are numbers and arrays"),
    "a text": (lambda data: Steps(data.name), "Steps.start is a str"),
    "no field": (lambda data: Empty(), "Empty has no field that tells instances apart"),
    "two classes": (
        lambda data: (Grows if data.name.endswith("0") else Steps)(1.0),
        "are of two classes, or differ in a static field",
    ),
    "two shapes": (
        lambda data: Steps(jnp.zeros(1 if data.name.endswith("0") else 2)),
        r"Steps.start has shape \(1,\) on acyclic-0.0 and \(2,\) on cyclic-0.1",
    ),
    "a vector": (
        lambda data: Steps(jnp.zeros(2)),
        r"Steps.measure gives 'size' with shape \(2,\); a measurement is one number",
    ),
    "no names": (lambda data: Unnamed(1.0), "Unnamed.measure must return a dictionary .* got"),
    "another state": (
        lambda data: Grows(jnp.zeros(())),
        r"Grows.step must give a state like that of init; init gives shape \(\) and step",
    ),
    "a number where a shape is": (
        lambda data: Shaped(data.K),
        r"Shaped.init raised TypeError \(test_own_dynamics.py, line \d+\).*numbers are not",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_run_is_refused(name: str) -> None:
    dynamics, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        _check(dynamics)


@pytest.mark.parametrize("steps", [0, -1, 1.5, "many"])
def test_a_number_of_steps_is_a_whole_one(steps: Any) -> None:
    with pytest.raises(InputError, match="own dynamics are a whole number of at least 1; got"):
        lm.experiment("mechanics", dynamics=lambda data: Steps(1.0), steps=steps)


def test_what_can_be_run_is_run() -> None:
    assert _check(lambda data: Steps(1.0 * data.K)) == "holds"


def test_the_same_dynamics_run_once() -> None:
    made = []

    def dynamics(data: Any) -> Any:
        made.append(data)
        return Steps(1.0)

    claims = []
    for name in ("one", "two"):
        on = lm.experiment("mechanics", dynamics=dynamics, steps=5, count=2)
        check = lm.claim(name, setting="mechanics", on=on)(lambda run: lm.at_most(run.size, 1.0))
        claims.append(replace(check.claims[0], name=name))
    assert [verdict.status for verdict in lm.check(claims)] == ["holds", "holds"]
    assert len(made) == 2


def _check(dynamics: Callable[[Any], Any]) -> str:
    halving = lm.experiment("mechanics", dynamics=dynamics, steps=5, count=2)

    @lm.claim("it vanishes like 2^-t", setting="mechanics", on=halving)
    def vanishes(run: Any) -> Any:
        return lm.equal(run.size, run.each(lambda data: data.K) * 0.5**run.steps)

    return lm.check(vanishes)[0].status


def test_an_attack_tells_what_is_wrong_with_dynamics_of_ones_own() -> None:
    on = lm.experiment("mechanics", dynamics=Steps, steps=3)

    @lm.claim("it halves", setting="mechanics", on=on)
    def halves(run: Any) -> Any:
        return lm.at_most(run.size, 1.0)

    with pytest.raises(InputError, match=r"Steps\.start is a Dataset"):
        lm.falsify(halves, budget=20.0)

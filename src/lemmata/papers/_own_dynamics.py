"""Dynamics of the user's own: made of each instance, looked over, and run as one batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr, tree_leaves_with_path

from lemmata._errors import InputError, StatementError, told
from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence
from lemmata.training import AbstractDynamics, log_spaced, run

FIELDS = (
    "fields of dynamics are numbers and arrays: take them out of the instance, as in "
    "lambda data: Mine(jnp.asarray(data.W_mm)); what is the same for all instances may be "
    "eqx.field(static=True)"
)

TRACED = (
    "; while JAX compiles it, fields and states are arrays of which the shape is known and the "
    "numbers are not"
)


@dataclass(frozen=True, eq=False)
class Followed:
    """Dynamics of the user's own, one for each instance, for some steps.

    Equal if it is the same function, and as many steps.

    Attributes:
        dynamics: a function from an instance to an ``AbstractDynamics``.
        steps: how many.
    """

    dynamics: Any
    steps: Any

    def __post_init__(self) -> None:
        if not callable(self.dynamics):
            raise InputError(
                "dynamics takes a function from an instance to an lm.AbstractDynamics, as in "
                f"lambda data: Mine(jnp.asarray(data.W_mm)); got {self.dynamics!r:.80}"
            )
        if not isinstance(self.steps, int | np.integer) or self.steps < 1:
            raise InputError(
                f"steps of own dynamics are a whole number of at least 1; got {self.steps}"
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Followed) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[int, int]:
        return id(self.dynamics), self.steps

    @property
    def says(self) -> str:
        return f"{self.steps:,} steps of {getattr(self.dynamics, '__name__', 'own dynamics')}"

    def of(self, instance: Any) -> AbstractDynamics[Any]:
        """The dynamics of one instance, whose fields are numbers and arrays."""
        try:
            made = self.dynamics(instance)
        except InputError:
            raise
        except Exception as error:
            told_so = told(error, self.dynamics)
            raise StatementError(f"dynamics of {instance.name} {told_so}") from error
        if not isinstance(made, AbstractDynamics):
            raise StatementError(
                "dynamics must give an lm.AbstractDynamics for every instance; got "
                f"{type(made).__name__} for {instance.name}"
            )
        _check_fields(made)
        return made


def follow(
    experiment: Experiment[Evidence[Any]], instances: Sequence[Any], bench: Bench
) -> Evidence[Any]:
    followed: Followed = experiment.training
    each = [followed.of(instance) for instance in instances]
    _check_together(each, [instance.name for instance in instances])
    batch = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(x) for x in leaves]), *each)
    _check_measurements(batch)
    steps = log_spaced(followed.steps)
    progress = bench.track("own dynamics", len(each) * followed.steps)
    recording = run(batch, steps, store=bench.store, progress=progress)
    return Evidence(tuple(instances), steps, recording.series)


follow.__doc__ = ""  # what is measured is said by the dynamics


def _check_fields(dynamics: AbstractDynamics[Any]) -> None:
    name = type(dynamics).__name__
    leaves = tree_leaves_with_path(dynamics)
    for path, leaf in leaves:
        if not _is_numeric(leaf):
            raise StatementError(f"{name}{keystr(path)} is a {type(leaf).__name__}; {FIELDS}")
    if not leaves:
        raise StatementError(f"{name} has no field that tells instances apart; {FIELDS}")


def _is_numeric(leaf: Any) -> bool:
    try:
        return np.asarray(leaf).dtype.kind in "biufc"
    except (TypeError, ValueError):
        return False


def _check_together(each: Sequence[AbstractDynamics[Any]], names: Sequence[str]) -> None:
    """They run as one batch, so that all have the same fields of the same shapes."""
    first = each[0]
    for dynamics, name in zip(each[1:], names[1:], strict=True):
        if jax.tree.structure(dynamics) != jax.tree.structure(first):
            raise StatementError(
                f"dynamics of {names[0]} and {name} are of two classes, or differ in a static "
                "field; they run as one batch, so that only numbers in arrays may differ"
            )
        both = zip(tree_leaves_with_path(first), jax.tree.leaves(dynamics), strict=True)
        for (path, one), other in both:
            if np.shape(one) != np.shape(other):
                raise StatementError(
                    f"{type(first).__name__}{keystr(path)} has shape {np.shape(one)} on "
                    f"{names[0]} and {np.shape(other)} on {name}; they run as one batch, so that "
                    "all need one shape: name instances of one size (instances=), or pad"
                )


def _check_measurements(batch: AbstractDynamics[Any]) -> None:
    """Trace the dynamics of one instance, and see that a step keeps the shape of the state and
    that every measurement is one number.
    """
    kind = type(batch)
    one = jax.tree.map(lambda leaf: leaf[0], batch)
    state = _traced(kind, "init", one)
    after = _traced(kind, "step", one, state)
    if _shapes(after) != _shapes(state):
        raise StatementError(
            f"{kind.__name__}.step must give a state like that of init; init gives {_said(state)} "
            f"and step {_said(after)}"
        )
    measured = _traced(kind, "measure", one, state)
    if not isinstance(measured, dict):
        raise StatementError(
            f"{kind.__name__}.measure must return a dictionary of numbers by name; got "
            f"{type(measured).__name__}"
        )
    for name, value in measured.items():
        if np.shape(value) != ():
            raise StatementError(
                f"{kind.__name__}.measure gives '{name}' with shape {np.shape(value)}; a "
                f"measurement is one number of one instance: give its entries names of their own, "
                f"such as {name}_0, or reduce it, as with jnp.max"
            )


def _traced(kind: type, method: str, *inputs: Any) -> Any:
    """What a method gives, by shapes alone."""
    function = getattr(kind, method)
    try:
        return eqx.filter_eval_shape(function, *inputs)
    except InputError:
        raise
    except Exception as error:
        hint = TRACED if isinstance(error, TypeError) else ""
        text = told(error, function).split("\n")[0].rstrip(".")
        raise StatementError(f"{kind.__name__}.{method} {text}{hint}") from error


def _shapes(state: Any) -> Any:
    return jax.tree.structure(state), [np.shape(leaf) for leaf in jax.tree.leaves(state)]


def _said(state: Any) -> str:
    shapes = [f"{np.shape(leaf)}" for leaf in jax.tree.leaves(state)]
    return f"shape {', '.join(shapes)}" if shapes else "nothing"

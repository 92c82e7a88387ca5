"""A lemma of the user's own: a function with a statement, in any file or notebook."""

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from lemmata._errors import InputError, StatementError, named, told
from lemmata.claims import (
    AbstractInstances,
    Bench,
    Claim,
    Comparison,
    Comparisons,
    Experiment,
    Limit,
    Own,
    Scale,
    with_sizes,
)
from lemmata.settings import AbstractSetting, Evidence, Hypothesis, Run

from ._own_dynamics import Followed, follow
from ._source import find_setting, note_declared

COUNT = 20
"""Random instances on which a lemma is checked by default."""


MOST_TRIES = 100
"""So many instances are drawn for one that meets rare hypotheses."""


@dataclass(frozen=True)
class Drawn(AbstractInstances):
    """Random instances of a setting; if none of them meets the hypotheses, others that do.

    Those come from the space that an adversary searches, where everything varies.
    """

    setting: AbstractSetting[Any]
    count: int = COUNT
    hypotheses: tuple[Hypothesis, ...] = ()

    def draw(self, seed: int, scale: Scale) -> Sequence[Any]:
        usual = self._usual(seed, scale)
        if any(map(self._meets, usual)):
            return usual
        return self._rare(len(usual), seed) or usual

    def settled(self, seed: int, scale: Scale) -> "Drawn":
        """Without the hypotheses, where some of the usual instances meet them."""
        met = any(map(self._meets, self._usual(seed, scale)))
        return replace(self, hypotheses=()) if met else self

    def _usual(self, seed: int, scale: Scale) -> Sequence[Any]:
        return _drawn(self.setting, self.count if scale == "quick" else 10 * self.count, seed)

    def _meets(self, instance: Any) -> bool:
        return not any(hypothesis.broken(instance.problems) for hypothesis in self.hypotheses)

    def _rare(self, count: int, seed: int) -> list[Any]:
        space, generator = self.setting.space, np.random.default_rng([seed, 0])
        if space is None:
            return []
        tries = (space.draw(generator) for _ in range(MOST_TRIES * count))
        chosen = islice(filter(self._meets, tries), count)
        return [replace(instance, name=f"drawn-{seed}.{i}") for i, instance in enumerate(chosen)]

    @property
    def says(self) -> str:
        return f"{self.count} random instances of the {self.setting.key} setting"


@functools.lru_cache(maxsize=4)
def _drawn(setting: AbstractSetting[Any], count: int, seed: int) -> Sequence[Any]:
    """The same values again, with what they found out about themselves."""
    return tuple(setting.draw(count, seed))


@dataclass(frozen=True)
class Generated(AbstractInstances):
    """Instances that a function of the user's makes from a seed."""

    generate: Callable[[int], Sequence[Any]]

    def draw(self, seed: int, scale: Scale) -> Sequence[Any]:
        return list(self.generate(seed))

    @property
    def says(self) -> str:
        return f"instances of {getattr(self.generate, '__name__', 'a generator')}"


@dataclass(frozen=True, eq=False)
class Asked:
    """Training as the setting does it, with the options that were asked for.

    Equal options make equal values, arrays among them too.
    """

    setting: AbstractSetting[Any]
    options: Mapping[str, Any]

    def __post_init__(self) -> None:
        self.setting.check(self.options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Asked) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> Any:
        options = sorted(self.options.items())
        return self.setting, tuple((name, _comparable(value)) for name, value in options)

    def changed(self, options: Mapping[str, Any]) -> "Asked":
        """The same with other options."""
        return replace(self, options={**self.options, **options})

    @property
    def steps(self) -> int | None:
        """How many, as far as that is known before."""
        return self.setting.steps_of(self.options)

    @property
    def says(self) -> str:
        said = ", ".join(f"{name} {value}" for name, value in self.options.items())
        return f"trained as usual{f' with {said}' if said else ''}"


def _comparable(value: Any) -> Any:
    """An option as something that can be hashed: equal for equal numbers, or else its identity."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, list | tuple | range):
        return tuple(map(_comparable, value))
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value


def experiment(
    setting: str | AbstractSetting[Any],
    *,
    instances: Sequence[Any] | Callable[[int], Sequence[Any]] | None = None,
    count: int = COUNT,
    dynamics: Any = None,
    **options: Any,
) -> Experiment[Evidence[Any]]:
    """An experiment for a lemma: instances of a setting, trained with these options.

    Args:
        setting: a paper's key, a file, or a setting of your own.
        instances: a list of instances, or a function from a seed to one; ``count`` random ones
            if left out.
        dynamics: instead of the setting's own training, a function from an instance to an
            ``AbstractDynamics``; its measurements become the columns, and ``steps`` says for how
            long it runs.
        options: what ``train`` takes in this setting: ``algorithm``, ``rate``, ``steps``, ...
    """
    home = find_setting(setting)
    if count < 1:
        raise InputError(f"count must be at least 1; got {count}")
    source: AbstractInstances = Drawn(home, count)
    if callable(instances):
        source = Generated(instances)
    elif instances is not None:
        source = Own(tuple(instances))
    if dynamics is None:
        numbers = [option.name for option in home.options if option.is_number]
        free = tuple(name for name in numbers if name not in options)
        return Experiment(source, _train, Asked(home, options), free=free)
    steps = options.pop("steps", 1_000)
    if options:
        raise InputError(f"own dynamics take instances and steps; {', '.join(options)} has no use")
    return Experiment(source, follow, Followed(dynamics, steps))


def _train(
    experiment: Experiment[Evidence[Any]], instances: Sequence[Any], bench: Bench
) -> Evidence[Any]:
    asked: Asked = experiment.training
    trained = asked.setting.train(instances, asked.options, store=bench.store, track=bench.track)
    return evidence_of(trained)


_train.__doc__ = ""


def evidence_of(trained: Run) -> Evidence[Any]:
    """What a run says about the instances that could be trained."""
    rows = [i for i, good in enumerate(trained.trained) if good]
    skipped = [c for c, good in zip(trained.instances, trained.trained, strict=True) if not good]
    return replace(trained.evidence.select(rows), skipped=tuple(skipped))


def _look(
    experiment: Experiment[Evidence[Any]], instances: Sequence[Any], bench: Bench
) -> Evidence[Any]:
    """Nothing is trained."""
    return Evidence(tuple(instances))


def claim(
    statement: str,
    *,
    setting: str | AbstractSetting[Any],
    hypotheses: Sequence[str] = (),
    on: str | Experiment[Any] = "runs",
    where: str = "",
) -> Callable[[Callable[..., Comparisons]], Callable[..., Comparisons]]:
    """Declare a lemma: the function below it says what is asserted.

    Args:
        statement: the lemma in words.
        setting: a paper's key, a file with a setting, or a setting of your own.
        hypotheses: what an instance must satisfy, by the setting's names.
        on: ``runs`` hands the function training runs (``steps``, ``rate`` and every recorded
            column as attributes, one row an instance, one column a record); ``instances`` hands
            it the instances with their graphs and limits, untrained; ``lm.experiment(...)`` says
            what exactly is run.
        where: where the lemma stands, if anywhere.

    The function returns ``lm.at_least(left, right)``, ``lm.at_most``, ``lm.equal``,
    ``lm.tends_to(curve, value)``, or a list of these.
    """
    home = find_setting(setting)
    if isinstance(hypotheses, str):
        raise InputError(f"hypotheses is a list of names, as in ['{hypotheses}']")
    assumed = tuple(home.hypothesis(name) for name in hypotheses)
    if isinstance(on, str) and on not in ("runs", "instances"):
        raise InputError(f"on is 'runs', 'instances' or lm.experiment(...); got '{on}'")
    if isinstance(on, Experiment):
        chosen = on
        other = getattr(on.training, "setting", home)
        if other.key != home.key:
            raise InputError(f"setting is {home.key}, but the experiment is one of {other.key}")
    elif on == "runs":
        chosen = experiment(home)
    else:
        chosen = Experiment(Drawn(home), _look)
    if isinstance(chosen.instances, Drawn):
        chosen = replace(chosen, instances=replace(chosen.instances, hypotheses=assumed))

    def wrap(check: Callable[..., Comparisons]) -> Callable[..., Comparisons]:
        name = f"{_file_of(check)}/{check.__name__}"
        note_declared(name, check.__code__.co_firstlineno)
        declared = Claim(
            name, where or name, statement, assumed, chosen, _guarded(check, name), setting=home
        )
        check.claims = (declared,)  # pyright: ignore[reportFunctionMemberAccess]
        return check

    return wrap


def _file_of(check: Callable[..., Any]) -> str:
    """The name of the file that a function stands in; ``own`` in a notebook."""
    stem = Path(check.__code__.co_filename).stem
    return stem if stem.isidentifier() else "own"


def _guarded(check: Callable[..., Comparisons], name: str) -> Callable[..., Comparisons]:
    """Say which lemma is at fault if it raises, or gives something that is no comparison.

    Rounding is allowed for relative to the terms of the sides, whether or not they cancel; and
    nobody knows how long training stands still on the instances, where it does.
    """

    def asserted(evidence: Any) -> Sequence[Comparison]:
        try:
            with warnings.catch_warnings():  # what is infinite or unknown is judged
                warnings.simplefilter("ignore", RuntimeWarning)
                answer = check(evidence)
        except InputError:
            raise
        except Exception as error:
            raise StatementError(f"{name} {told(error, check)}") from error
        parts: list[Any] = list(answer) if isinstance(answer, list | tuple) else [answer]
        for part in parts or [None]:
            if not isinstance(part, Comparison):
                raise StatementError(
                    f"{name} must return lm.at_least(...), lm.at_most, lm.equal, lm.tends_to or a "
                    f"list of these; got {'nothing' if part is None else type(part).__name__}"
                )
        return [replace(part, waits=True) if isinstance(part, Limit) else part for part in parts]

    @functools.wraps(check)
    def guarded(evidence: Any) -> Comparisons:
        if not isinstance(evidence, Evidence):  # a run in ball arithmetic
            return asserted(evidence)
        with named(name):
            return with_sizes(asserted, evidence.recorded())

    return guarded

"""What a sweep runs: a target at one point of a grid, for several seeds at once.

A task is described by plain values alone, so that it can go to another process or machine.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lemmata import __version__
from lemmata._errors import InputError, unknown_name
from lemmata._plain import plain
from lemmata._verbs import find_claims, setting_of
from lemmata.claims import Bench, Claim, Verdict, check
from lemmata.papers import find_setting, is_file, papers
from lemmata.settings import AbstractSetting, Run

STEP_SIZES = ("eta", "lr")
"""What the step size may be called beside ``rate``."""

VERDICT = ("status", "margin", "tightness")
"""What is measured of a claim."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Target:
    """What is swept: a setting, or a claim in its setting."""

    name: str
    setting: AbstractSetting[Any]
    claim: Claim | None = None

    @classmethod
    def of(cls, name: str) -> "Target":
        """The target of this name: a setting, a claim, ``FILE.py`` or ``FILE.py::NAME``."""
        if name in papers() or (is_file(name) and "::" not in name):
            return cls(name, find_setting(name))
        (claim,) = find_claims(name)
        return replace(cls.of_claim(claim), name=name)

    @classmethod
    def of_claim(cls, claim: Claim) -> "Target":
        """A claim that is there as a value."""
        return cls(claim.name, setting_of(claim), claim)

    def typed(self, point: Mapping[str, Any]) -> Row:
        """The values of a point as the setting reads them."""
        sizes, options = self.split(point)
        return {name: sizes.get(name, options.get(_option(name, options))) for name in point}

    def split(self, point: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """A point as sizes of instances and options of training."""
        sizes = {parameter.name: parameter for parameter in self.setting.parameters}
        options = {option.name: option for option in self.setting.options}
        made, trained = {}, {}
        for name, value in point.items():
            option = _option(name, options)
            if name in sizes:
                made[name] = _finite(name, sizes[name].read(value))
            elif option in trained:
                raise InputError(f"{name} is another name of {option}: sweep over one of them")
            elif option in options:
                read = options[option].read(value) if isinstance(value, str) else value
                trained[option] = _finite(name, read)
            else:
                known = [*sizes, *options]
                raise InputError(unknown_name(f"name to sweep over in {self.name}", name, known))
        return made, trained

    @property
    def content(self) -> str:
        """A digest of the file that it is in, so that a changed file is another target."""
        file = Path(self.name.partition("::")[0])
        if not is_file(str(file)):
            return ""
        return hashlib.sha256(file.read_bytes()).hexdigest()


def _option(name: str, options: Mapping[str, Any]) -> str:
    """The option that is meant; the step size has several names."""
    return "rate" if name in STEP_SIZES and "rate" in options else name


def _finite(name: str, value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{name} takes finite numbers; got {value}")
    return value


@dataclass(frozen=True)
class Group:
    """Tasks that run together: one point, several seeds.

    Attributes:
        target: by name.
        point: what was asked for at this point, by the names that were asked for.
        seeds: one task each.
        measure: columns, or places in the analysis such as ``max_margin.norm``; nothing for what
            is usual.
        content: of the target's file, as a digest; nothing for what the package has.
    """

    target: str
    point: Mapping[str, Any]
    seeds: tuple[int, ...]
    measure: tuple[str, ...] = ()
    content: str = ""

    def key(self, seed: int) -> str:
        """What a task is known by: everything that its numbers depend on.

        A file counts by its name and content, not by the folder that it is in.
        """
        target = f"{Path(self.target).name} {self.content}" if self.content else self.target
        words = [__version__, target, plain(dict(self.point)), seed, self.measure]
        return hashlib.sha256(json.dumps(words, sort_keys=True).encode()).hexdigest()[:24]

    def without(self, done: set[str]) -> "Group":
        """The tasks that are not done yet."""
        return replace(self, seeds=tuple(s for s in self.seeds if self.key(s) not in done))


def run_group(group: Group) -> list[Row]:
    """One row a task: ``task`` (its key), the point, ``seed``, and what was measured."""
    return measure_group(group, Target.of(group.target))


def measure_group(group: Group, target: Target) -> list[Row]:
    """The same with a target that is there already."""
    try:
        return _measure(group, target)
    except MemoryError as error:
        shown = ", ".join(f"{name} = {value}" for name, value in group.point.items())
        raise InputError(f"{group.target} with {shown} does not fit into memory") from error


def _measure(group: Group, target: Target) -> list[Row]:
    sizes, options = target.split(group.point)
    instances = [target.setting.make(sizes, seed) for seed in group.seeds]
    if target.claim is None:
        measured = _train(target.setting, instances, options, group.measure)
    else:
        measured = [
            _judge(target.claim, x, options, s) for x, s in zip(instances, group.seeds, strict=True)
        ]
    return [
        {"task": group.key(seed), **group.point, "seed": seed, **values}
        for seed, values in zip(group.seeds, measured, strict=True)
    ]


def _judge(claim: Claim, instance: Any, options: Mapping[str, Any], seed: int) -> Row:
    verdict = check(claim, Bench(seed, instances=[instance], options=dict(options)))
    return {"status": verdict.status.value, "margin": verdict.margin, "tightness": _factor(verdict)}


def _factor(verdict: Verdict) -> float | None:
    """By which factor a bound could be sharpened; None where that is not known."""
    return None if verdict.tightness is None else verdict.tightness.factor


def _train(
    setting: AbstractSetting[Any],
    instances: Sequence[Any],
    options: Mapping[str, Any],
    measure: Sequence[str],
) -> list[Row]:
    """The last record of columns, and numbers of the analysis; trains only if a column is asked."""
    columns = {column.name for column in setting.columns}
    usual = [column.name for column in setting.columns if column.title]
    wanted = list(measure) or usual
    run = None
    if options or any(name in columns for name in wanted):
        setting.check(options)
        run = setting.train(instances, options)
    rows = []
    for i, instance in enumerate(instances):
        document = None if all(name in columns for name in wanted) else _analysis(setting, instance)
        rows.append(
            {
                name: _last(run, i, name)
                if run is not None and name in columns
                else _inside(document, name, columns)
                for name in wanted
            }
        )
    return rows


def _last(run: Run, i: int, name: str) -> float | None:
    grid = run.evidence.columns.get(name)
    if grid is None or not run.trained[i]:
        return None
    value = float(grid[i, -1])
    return None if np.isnan(value) else value


def _analysis(setting: AbstractSetting[Any], instance: Any) -> Any:
    return plain(setting.analyze(instance).document())


def _inside(document: Any, name: str, columns: set[str]) -> float | None:
    """A number of the analysis, by the names on the way to it."""
    value, before = document, ""
    for part in name.split("."):
        if not isinstance(value, dict) or part not in value:
            raise InputError(unknown_name("measure", name, _known(value, before, columns)))
        value, before = value[part], f"{before}{part}."
    if isinstance(value, dict):
        inside = ", ".join(_numbers_in(value, before)) or "none"
        raise InputError(f"'{name}' of the analysis is no number; numbers in it: {inside}")
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"'{name}' of the analysis is no number") from error


def _known(value: Any, before: str, columns: set[str]) -> list[str]:
    """What could be measured at a place of the analysis; at its top, columns too."""
    if before:
        return list(_numbers_in(value, before)) if isinstance(value, dict) else [before[:-1]]
    tops = [name for name, part in (value or {}).items() if isinstance(part, int | float | dict)]
    return [*sorted(columns), *tops]


def _numbers_in(values: Mapping[str, Any], before: str) -> Iterator[str]:
    """The places of the numbers in a part of the analysis, however deep."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _numbers_in(value, f"{before}{name}.")
        elif value is None or isinstance(value, int | float):
            yield f"{before}{name}"

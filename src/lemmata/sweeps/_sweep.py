"""``lm.sweep``: a target over a grid, wherever it runs, and nothing is run twice."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lemmata._engines import Announce, Engine, dask, here, processes
from lemmata._errors import InputError
from lemmata.claims import Claim, declared_by
from lemmata.settings import Track, silent

from ._grid import MOST_TASKS, points_of, read_axis
from ._results import Results
from ._table import SweepTable, same_order
from ._tasks import Group, Row, Target, measure_group, run_group

GROUP = 8
"""Seeds that run together, so that one compiled program serves them."""


def sweep(
    target: Any,
    over: Mapping[str, Any] | Sequence[str] = (),
    *,
    together: bool = False,
    seeds: int = 1,
    measure: Sequence[str] = (),
    out: str | Path | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    track: Track = silent,
    announce: Announce = lambda line: None,
) -> SweepTable:
    """Measure a setting, or judge a claim, at every point of a grid.

    Args:
        target: a setting (``"mechanics"``), a claim (``"mechanics/equation-10"``,
            ``"lemma.py::half"``), or a function under ``@lm.claim``.
        over: values by name, ``{"K": [4, 8], "rate": "1e-3..1e3..x10"}``, or as typed,
            ``["K=4,8"]``. Names are parameters of the setting or options of its training.
        together: walk through all values together instead of all combinations.
        seeds: how many instances at each point.
        measure: columns, of which the last record counts, or numbers of the analysis by their
            place (``max_margin.norm``); the columns that ``train`` shows if left out. A claim
            gives ``status``, ``margin`` and ``tightness``.
        out: a folder in which results are kept; what is there is not run again.
        workers: processes; with one, everything runs in this one.
        scheduler: the address of a Dask scheduler, which then does the work.
        track: shows progress.
        announce: is told how much there is to do, and about how long it takes.
    """
    if seeds < 1:
        raise InputError(f"seeds must be at least 1; got {seeds}")
    found = _target(target)
    groups = _groups(found, over, together, seeds, tuple(measure))
    results = None if out is None else Results(Path(out))
    rows = {} if results is None else results.read()
    points = {group.key(seed): group.point for group in groups for seed in group.seeds}
    missing = [rest for rest in (group.without(set(rows)) for group in groups) if rest.seeds]
    tasks = sum(len(group.seeds) for group in missing)
    announce(f"{len(points):,} task{'s' * (len(points) != 1)}, {tasks:,} to run")
    engine = _engine(found, target, workers, scheduler, announce)
    done = track("tasks", tasks)
    for group, measured in _timed(engine(missing), len(missing), announce):
        if results is not None:
            results.write(measured)
        rows |= {row["task"]: row for row in measured}
        done(len(group.seeds))
    disagreements = () if results is None else results.disagreements
    names = list(groups[0].point)
    return SweepTable(found.name, names, same_order(rows, points), disagreements)


def _target(target: Any) -> Target:
    if isinstance(target, str | Path):
        found = Target.of(str(target))
    else:
        claims = [target] if isinstance(target, Claim) else declared_by(target)
        if len(claims) != 1:
            raise InputError("sweep takes one setting or one claim at a time")
        found = Target.of_claim(claims[0])
    if found.claim is not None and found.claim.experiment.own:
        raise InputError(f"{found.name} speaks of its own instances: there is nothing to vary")
    return found


def _groups(
    target: Target,
    over: Mapping[str, Any] | Sequence[str],
    together: bool,
    seeds: int,
    measure: tuple[str, ...],
) -> list[Group]:
    """The tasks of a grid; every name and every value is checked before anything runs."""
    axes = over if isinstance(over, Mapping) else dict(_read_axes(over))
    ranges = {
        name: read_axis(f"{name}={values}")[1] if isinstance(values, str) else list(values)
        for name, values in axes.items()
    }
    points = points_of(ranges, together)
    if len(points) * seeds > MOST_TASKS:
        raise InputError(f"{len(points) * seeds:,} tasks; a sweep has at most {MOST_TASKS:,}")
    if measure and target.claim is not None:
        raise InputError("--measure is for a setting; a claim gives status, margin and tightness")
    chunks = [tuple(range(seeds))[i : i + GROUP] for i in range(0, seeds, GROUP)]
    typed, content = [target.typed(point) for point in points], target.content
    _check_points(target, typed)
    return [
        Group(target.name, point, chunk, measure, content) for point in typed for chunk in chunks
    ]


def _check_points(target: Target, points: Sequence[Mapping[str, Any]]) -> None:
    """No point may occur twice, and every choice of options must be one that training takes."""
    seen, checked = set(), set()
    for point in points:
        key = repr(sorted(point.items()))
        if key in seen:
            shown = ", ".join(f"{name} = {value}" for name, value in point.items())
            raise InputError(f"the grid has {shown} twice")
        seen.add(key)
        options = target.split(point)[1]
        if target.claim is None and options and repr(options) not in checked:
            target.setting.check(options)
            checked.add(repr(options))


def _read_axes(texts: Sequence[str]) -> list[tuple[str, list[str]]]:
    axes = [read_axis(text) for text in texts]
    names = [name for name, _ in axes]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise InputError(f"{min(twice)} is swept over twice")
    return axes


def _engine(
    found: Target, target: Any, workers: int, scheduler: str | None, announce: Announce
) -> Engine[Group, list[Row]]:
    if scheduler is not None:
        return dask(run_group, scheduler, announce)
    if workers < 1:
        raise InputError(f"workers must be at least 1; got {workers}")
    if workers > 1 and isinstance(target, str | Path):
        return processes(run_group, workers)
    return here(lambda group: measure_group(group, found))


def _timed(done: Any, total: int, announce: Announce) -> Any:
    """The same results; after the second, about how long the rest will take."""
    start, first = time.monotonic(), 0.0
    for number, result in enumerate(done, 1):
        passed = time.monotonic() - start
        if number == 1:
            first = passed
        if number == 2 and total > 4:
            rest = (total - 2) * min(passed - first, passed / 2)
            announce(f"about {max(rest, 1):.0f} s to go")
        yield result

"""The run loop: compiled chunks, batched over instances, checkpointed after each chunk."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from ._compiling import compiled_briefly, compiled_once, compiled_well
from ._dynamics import AbstractDynamics
from ._store import Film, Store, fingerprint

POINTS_PER_CHUNK = 64
"""Recorded points per compiled call; a run can be stopped and resumed between calls."""

STEPS_PER_POINT = 1_000
"""A longer silence between two records is broken, so that progress shows."""

INSTANCES_PER_GROUP = 13
"""Instances that run side by side in one compiled call: few enough to stay in the cache."""

LARGE = 1_000_000
"""Numbers in a group of instances from which on a step takes milliseconds."""

StateT = TypeVar("StateT")

Progress = tuple[int, StateT, dict[str, np.ndarray]]
"""How many points are done, the state there, and what was recorded."""


@dataclass(frozen=True, repr=False)
class Recording(Generic[StateT]):
    """What a run kept.

    Attributes:
        steps: the number of updates done at each record.
        series: for each measurement, one row an instance and one column a record.
        final: the state after the last step, batched.
        states: the state at every record, batched and then by record; None unless it was filmed.
    """

    steps: Int[np.ndarray, "records"]
    series: dict[str, Float[np.ndarray, "instances records"]]
    final: StateT
    states: StateT | None = None

    def __repr__(self) -> str:
        last = self.steps[-1] if len(self.steps) else 0
        return f"<Recording of {len(self.steps)} steps up to {last}: {', '.join(self.series)}>"

    def moment(self, record: int) -> "Recording[StateT]":
        """The recording as if its run had ended at a record; it must have been filmed."""
        assert self.states is not None, "the states of this run were not kept"
        series = {name: values[:, : record + 1] for name, values in self.series.items()}
        final = jax.tree.map(lambda leaf: leaf[:, record], self.states)
        return Recording(self.steps[: record + 1], series, final)

    def at(self, step: int) -> int:
        """The column of a recorded step."""
        column = int(np.searchsorted(self.steps, step))
        if column == len(self.steps) or self.steps[column] != step:
            raise KeyError(f"step {step} was not recorded")
        return column

    def select(self, rows: Int[np.ndarray, "chosen"]) -> "Recording[StateT]":
        """The recording of these instances alone."""
        series = {name: values[rows] for name, values in self.series.items()}
        final, states = jax.tree.map(lambda leaf: np.asarray(leaf)[rows], (self.final, self.states))
        return Recording(self.steps, series, final, states)


def run(
    dynamics: AbstractDynamics[StateT],
    steps: Int[np.ndarray, "records"],
    *,
    store: Store | None = None,
    progress: Callable[[int], None] = lambda _: None,
    group: int = INSTANCES_PER_GROUP,
    chunk: int = POINTS_PER_CHUNK,
) -> Recording[StateT]:
    """Run a batch of instances and record the given steps.

    The leaves of ``dynamics`` have a leading batch axis. Groups of instances run side by side on
    the machine's cores; small ones are filled up to a power of two, so that batches of different
    sizes share compiled programs. With a store, each group is resumed from its last checkpoint,
    which leads to the same bits as a run that was never stopped.

    Args:
        dynamics: what to run.
        steps: sorted step numbers to record; the last one ends the run.
        store: where checkpoints and results are kept; None keeps nothing on disk, and a ``Film``
            the state of every record in memory.
        progress: called with the number of instance-steps done since the last call.
        group: instances that run side by side in one compiled call.
        chunk: recorded points per compiled call; 1 where a single step takes milliseconds.
    """
    count = len(jax.tree.leaves(dynamics)[0])
    groups = -(-count // group)
    size = min(1 << (-(-count // groups) - 1).bit_length(), group)
    members = [np.minimum(np.arange(g * size, (g + 1) * size), count - 1) for g in range(groups)]
    parts = [jax.tree.map(lambda leaf, at=at: np.asarray(leaf)[at], dynamics) for at in members]
    film = store if isinstance(store, Film) else None
    store = None if film else store
    # All groups have the same shapes: what is stored under a program is described once.
    advance = _program(parts[0], film)
    structure, programs = _describe(parts[0], advance, chunk) if store else (None, [])
    stop: list[bool] = []

    def work(index: int) -> tuple[dict[str, np.ndarray], StateT, StateT | None]:
        part, real = parts[index], min(size, count - index * size)
        done, save = None, None
        if store:
            key = _key(programs, part, steps)
            saved, save = store.load(key), partial(store.save, key)
            done = None if saved is None else _thaw(saved, structure)
        return _run_group(
            part, advance, steps, done, save, film, lambda more: progress(more * real), stop, chunk
        )

    with ThreadPoolExecutor(min(os.cpu_count() or 1, groups)) as pool:
        try:
            done = list(pool.map(work, range(groups)))
        except BaseException:
            stop.append(True)
            raise
    series, final, states = jax.tree.map(
        lambda *leaves: np.concatenate(leaves)[:count], done[0], *done[1:]
    )
    return Recording(steps, series, final, states)


def _program(dynamics: AbstractDynamics[StateT], film: Film | None) -> Callable[..., Any]:
    """The loop, compiled as hard as it is worth.

    The number of steps has no say: the beginning of a long run has the bits of a short one.
    """
    numbers = sum(np.size(leaf) for leaf in jax.tree.leaves(dynamics))
    if film and film.quick:
        return _advance_once
    return _advance_briefly if dynamics.compiles_briefly and numbers < LARGE else _advance_well


def _run_group(
    dynamics: AbstractDynamics[StateT],
    advance: Callable[..., Any],
    steps: Int[np.ndarray, "records"],
    saved: Progress[StateT] | None,
    save: Callable[[dict[str, np.ndarray]], None] | None,
    film: Film | None,
    progress: Callable[[int], None],
    stop: list[bool],
    chunk: int,
) -> tuple[dict[str, np.ndarray], StateT, StateT | None]:
    points = _points(steps)
    keep = np.isin(points, steps)
    if saved is None:
        position, state, series = 0, _start_once(dynamics), {}
    else:
        position, state, series = saved
        progress(int(points[position - 1]))
    filmed: list[StateT] | None = [] if film and film.has_room(state, len(steps)) else None
    while position < len(points):
        if stop:
            raise KeyboardInterrupt
        stretch = points[position : position + chunk]
        before = points[position - 1] if position else 0
        gaps = np.zeros(chunk, dtype=np.int64)
        gaps[: len(stretch)] = np.diff(stretch, prepend=before)
        state, found, seen = advance(dynamics, state, jax.device_put(gaps), filmed is not None)
        kept = keep[position : position + len(stretch)]
        if filmed is not None and seen is not None:
            filmed.append(_frames(seen, kept))
        fresh = {name: np.asarray(rows)[: len(stretch)][kept].T for name, rows in found.items()}
        series = {
            name: np.concatenate([series[name], rows], axis=1) if series else rows
            for name, rows in fresh.items()
        }
        position += len(stretch)
        if save:
            save(_freeze(position, state, series))
        progress(int(stretch[-1] - before))
    states = None
    if filmed is not None:
        states = jax.tree.map(lambda *parts: np.concatenate(parts, axis=1), *filmed)
    return series, jax.tree.map(np.asarray, state), states


def _frames(seen: StateT, kept: Bool[np.ndarray, "points"]) -> StateT:
    """The states at the points that are recorded, with the instances first."""
    return jax.tree.map(lambda leaf: np.moveaxis(np.asarray(leaf)[: len(kept)][kept], 0, 1), seen)


def _points(steps: Int[np.ndarray, "records"]) -> Int[np.ndarray, "points"]:
    """The recorded steps, with stops in between so that no silence is long."""
    stops = np.arange(0, steps[-1] + 1, STEPS_PER_POINT)
    return np.unique(np.concatenate([steps, stops[stops > 0]])).astype(np.int64)


def _each(function: Callable[..., Any], *batched: Any) -> Any:
    """The function on every instance: by vectorization, or directly if there is but one.

    Gathers and scatters are several times slower with a batch axis, be it of length one.
    """
    if len(jax.tree.leaves(batched)[0]) > 1:
        return eqx.filter_vmap(function)(*batched)
    single = jax.tree.map(lambda leaf: leaf[0], batched)
    return jax.tree.map(lambda leaf: leaf[None], function(*single))


def _start(dynamics: AbstractDynamics[StateT]) -> StateT:
    return _each(lambda one: one.init(), dynamics)


def _advance(
    dynamics: AbstractDynamics[StateT],
    state: StateT,
    gaps: Int[jax.Array, "points"],
    film: bool = False,
) -> tuple[StateT, dict[str, jax.Array], StateT | None]:
    """For each gap, take that many steps and measure; a film also keeps the states."""

    def point(at: StateT, gap: jax.Array) -> tuple[StateT, Any]:
        def step(_: jax.Array, here: StateT) -> StateT:
            return _each(lambda one, state: one.step(state), dynamics, here)

        at = jax.lax.fori_loop(0, gap, step, at)
        found = _each(lambda one, state: one.measure(state), dynamics, at)
        return at, (found, at if film else None)

    state, (found, seen) = jax.lax.scan(point, state, gaps)
    return state, found, seen


_start_once = compiled_once(_start)
_advance_once = compiled_once(_advance)
_advance_briefly = compiled_briefly(_advance)
_advance_well = compiled_well(_advance)


def _describe(
    dynamics: AbstractDynamics[StateT], advance: Callable[..., Any], chunk: int
) -> tuple[Any, list[str]]:
    """The structure of a state, and the lowered programs with how they are compiled."""
    leaves, structure = jax.tree.flatten(dynamics)
    shapes = tuple((np.shape(leaf), np.dtype(leaf.dtype)) for leaf in leaves)
    return _describe_shapes(structure, shapes, advance, chunk)


@lru_cache(maxsize=256)
def _describe_shapes(
    structure: Any,
    shapes: tuple[tuple[tuple[int, ...], np.dtype], ...],
    advance: Callable[..., Any],
    chunk: int,
) -> tuple[Any, list[str]]:
    """What the description depends on alone: most runs of a paper have the shapes of another."""
    dynamics = jax.tree.unflatten(structure, [np.zeros(*shape) for shape in shapes])
    like = jax.tree.map(
        lambda leaf: np.zeros(leaf.shape, leaf.dtype), eqx.filter_eval_shape(_start, dynamics)
    )
    gaps = np.zeros(chunk, dtype=np.int64)
    return jax.tree.structure(like), [
        _start_once.lower(dynamics).as_text(),  # pyright: ignore[reportFunctionMemberAccess]
        advance.lower(dynamics, like, gaps).as_text(),  # pyright: ignore[reportFunctionMemberAccess]
        "well" if advance is _advance_well else "briefly",
    ]


def _key(programs: list[str], dynamics: Any, steps: Int[np.ndarray, "records"]) -> str:
    """The hash of all that the numbers depend on: the programs, the arrays, what is recorded."""
    arrays = [np.asarray(leaf) for leaf in jax.tree.leaves(dynamics)]
    return fingerprint({"programs": programs, "arrays": arrays, "steps": steps})


def _freeze(position: int, state: Any, series: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    leaves = jax.tree.leaves(state)
    frozen = {f"state:{i}": np.asarray(leaf) for i, leaf in enumerate(leaves)}
    return (
        frozen
        | {f"series:{name}": rows for name, rows in series.items()}
        | {"position": np.array(position)}
    )


def _thaw(saved: dict[str, np.ndarray], structure: Any) -> Progress[Any]:
    leaves = [saved[f"state:{i}"] for i in range(structure.num_leaves)]
    series = {
        name.removeprefix("series:"): rows
        for name, rows in saved.items()
        if name.startswith("series:")
    }
    return int(saved["position"]), jax.tree.unflatten(structure, leaves), series

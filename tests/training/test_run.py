"""The run loop, on dynamics simple enough to know every state in advance."""

import time
from collections.abc import Callable
from itertools import accumulate
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float

from lemmata.training import AbstractDynamics, Film, Recording, Store, _run, every, run


class Counting(AbstractDynamics[jax.Array]):
    """x -> x + a: after t steps start + t a, exactly."""

    start: Float[Array, "*batch"]
    stride: Float[Array, "*batch"]

    def init(self) -> jax.Array:
        return self.start

    def step(self, state: jax.Array) -> jax.Array:
        return state + self.stride

    def measure(self, state: jax.Array) -> dict[str, jax.Array]:
        return {"value": state, "double": 2.0 * state}


class Chaos(AbstractDynamics[jax.Array]):
    """x -> 3.9 x (1 - x): one wrong bit is everywhere after fifty steps."""

    start: Float[Array, "*batch"]

    def init(self) -> jax.Array:
        return self.start

    def step(self, state: jax.Array) -> jax.Array:
        return 3.9 * state * (1.0 - state)

    def measure(self, state: jax.Array) -> dict[str, jax.Array]:
        return {"value": state}


class BriefChaos(Chaos):
    """The same, for a compiler in a hurry."""

    compiles_briefly: ClassVar[bool] = True


def counting(count: int) -> Counting:
    return Counting(jnp.arange(float(count)), 1.0 + jnp.arange(float(count)))


def chaos(count: int = 30) -> Chaos:
    return Chaos(jnp.linspace(0.2, 0.7, count))


def stopping_after(calls: int) -> Callable[[int], None]:
    seen: list[int] = []

    def progress(done: int) -> None:
        seen.append(done)
        if len(seen) >= calls:
            raise KeyboardInterrupt

    return progress


def assert_same_bits(a: Recording, b: Recording) -> None:
    assert a.series.keys() == b.series.keys()
    for name in a.series:
        assert a.series[name].tobytes() == b.series[name].tobytes()
    for x, y in zip(jax.tree.leaves(a.final), jax.tree.leaves(b.final), strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


@pytest.mark.parametrize("count", [1, 13, 14, 29])
def test_every_instance_and_record_is_in_its_place(count):
    steps = np.array([0, 1, 2, 63, 64, 65, 130, 2500, 12_001])
    found = run(counting(count), steps)
    start = np.arange(float(count))[:, None]
    expected = start + (1 + start) * steps
    np.testing.assert_array_equal(found.series["value"], expected)
    np.testing.assert_array_equal(found.series["double"], 2 * expected)
    np.testing.assert_array_equal(found.final, expected[:, -1])
    np.testing.assert_array_equal(found.steps, steps)


def test_more_records_than_one_compiled_call_holds():
    found = run(counting(2), every(300))
    np.testing.assert_array_equal(found.series["value"], [np.arange(301.0), 1 + 2 * np.arange(301)])


def test_a_run_of_no_steps_records_the_start():
    found = run(counting(2), every(0))
    np.testing.assert_array_equal(found.series["value"], [[0], [1]])
    np.testing.assert_array_equal(found.final, [0, 1])


@pytest.mark.parametrize("count", [1, 14, 29])
def test_progress_adds_up_to_all_steps_of_all_instances(count):
    done: list[int] = []
    run(counting(count), np.array([0, 7000]), progress=done.append)
    assert min(done) >= 0
    assert sum(done) == count * 7000
    assert len(done) >= 1


def test_a_group_that_fails_stops_the_others():
    """Of three instances in groups of two, the steps of the second group count once."""
    done: list[int] = []

    def progress(steps: int) -> None:
        if steps == 2:
            raise ArithmeticError("the first group fails")
        done.append(steps)
        time.sleep(0.005)

    with pytest.raises(ArithmeticError, match="the first group fails"):
        run(counting(3), every(400), progress=progress, group=2, chunk=1)
    assert sum(done) < 400


def test_a_stopped_run_resumes_to_the_same_bits(tmp_path):
    whole = run(chaos(), every(400))
    store = Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(chaos(), every(400), store=store, progress=stopping_after(4))
    saved = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert saved
    done: list[int] = []
    again = run(chaos(), every(400), store=store, progress=done.append)
    assert max(done) > 64 * 10
    assert_same_bits(whole, again)


def test_a_finished_run_is_read_and_not_run_again(tmp_path):
    store = Store(tmp_path)
    first = run(chaos(3), every(200), store=store)
    done: list[int] = []
    second = run(chaos(3), every(200), store=store, progress=done.append)
    assert done == [3 * 200]
    assert_same_bits(first, second)


def test_any_other_run_is_not_mistaken_for_a_stored_one(tmp_path):
    store = Store(tmp_path)
    run(chaos(3), every(100), store=store)
    for other, steps in ((chaos(3), every(99)), (Chaos(chaos(3).start + 1e-16), every(100))):
        done: list[int] = []
        run(other, steps, store=store, progress=done.append)
        assert len(done) > 1
    assert len(list(tmp_path.iterdir())) == 3


def test_how_a_program_is_compiled_is_part_of_what_is_stored(tmp_path, monkeypatch):
    store = Store(tmp_path)
    start = chaos(3).start
    brief = run(BriefChaos(start), every(20), store=store)
    expected = list(accumulate(range(20), lambda x, _: 3.9 * x * (1 - x), initial=np.array(start)))
    np.testing.assert_allclose(brief.series["value"], np.transpose(expected), rtol=1e-9)
    longer = run(BriefChaos(start), every(200))
    assert longer.series["value"][:, :21].tobytes() == brief.series["value"].tobytes()
    monkeypatch.setattr(_run, "LARGE", 3)  # as if the three numbers were many
    run(BriefChaos(start), every(20), store=store)
    assert len(list(tmp_path.iterdir())) == 2


def test_damaged_checkpoints_are_ignored(tmp_path):
    store = Store(tmp_path)
    whole = run(chaos(), every(200), store=store)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:100])
    assert_same_bits(whole, run(chaos(), every(200), store=store))


def test_only_finished_files_are_left_one_per_group(tmp_path):
    run(chaos(), every(200), store=Store(tmp_path))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 3
    assert all(len(name) == 36 and name.endswith(".npz") for name in names)


def test_a_failing_progress_report_is_not_swallowed():
    def fail(_: int) -> None:
        raise RuntimeError("the report failed")

    with pytest.raises(RuntimeError, match="the report failed"):
        run(chaos(), every(100), progress=fail)


def test_columns_are_found_by_step():
    found = run(counting(1), np.array([0, 10, 100]))
    assert [found.at(step) for step in (0, 10, 100)] == [0, 1, 2]
    for step in (5, 101, -1):
        with pytest.raises(KeyError, match=f"step {step} was not recorded"):
            found.at(step)


def test_recordings_are_taken_apart():
    found = run(counting(4), every(5))
    chosen = found.select(np.array([3, 1]))
    np.testing.assert_array_equal(chosen.series["value"], found.series["value"][[3, 1]])
    np.testing.assert_array_equal(chosen.final, [23, 11])


def test_a_film_keeps_every_state() -> None:
    steps = np.array([0, 3, 4, 2_500])  # with stops in between that are no records
    filmed = run(counting(3), steps, store=Film())
    start, stride = np.arange(3.0), 1.0 + np.arange(3.0)
    assert np.array_equal(filmed.states, start[:, None] + steps * stride[:, None])
    moment = filmed.moment(1)
    assert np.array_equal(moment.final, start + 3 * stride)
    assert np.array_equal(moment.steps, [0, 3])
    assert np.array_equal(moment.series["double"][:, -1], 2 * (start + 3 * stride))
    assert np.array_equal(filmed.select(np.array([2])).states, filmed.states[[2]])


def test_a_film_changes_no_bit_and_keeps_no_more_than_there_is_room_for() -> None:
    steps = np.array([0, 7, 50, 1_800])
    plain, filmed = run(chaos(), steps), run(chaos(), steps, store=Film())
    assert np.array_equal(plain.series["value"], filmed.series["value"])
    assert np.array_equal(filmed.states, plain.series["value"])
    assert plain.states is None
    assert run(chaos(), steps, store=Film(room=100)).states is None


def test_a_quick_film_is_the_same_but_for_rounding() -> None:
    steps = np.array([0, 3, 4, 16])
    plain, quick = run(chaos(), steps), run(chaos(), steps, store=Film(quick=True))
    assert quick.states is not None
    np.testing.assert_allclose(quick.series["value"], plain.series["value"], rtol=1e-9)

"""Time: what does not fit is given up, and what a slow training costs is learnt from a part."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from search_walks import Setting, Walk, claim

import lemmata as lm
from lemmata.search import Outcome, attack
from lemmata.search import _certify as certifying
from lemmata.search import _hunt as hunting
from lemmata.search._clock import Clock, TooSlowError
from lemmata.search._hunt import Hunt


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """A clock that stands still unless it is moved on."""
    clock = {"t": 0.0}
    monkeypatch.setattr(time, "monotonic", lambda: clock["t"])
    return clock


def steady(now: dict[str, float], progress: Callable[[int], None], seconds: float) -> None:
    """Forty pieces of work, each of which takes so long."""
    for _ in range(40):
        now["t"] += seconds
        progress(1)


def test_what_fits_is_finished_and_what_does_not_is_given_up_early(now: dict[str, float]) -> None:
    steady(now, Clock(40.0).track("training", 40), 1.0)
    now["t"] = 0.0
    with pytest.raises(TooSlowError) as error:
        steady(now, Clock(40.0).track("training", 40), 2.0)
    assert now["t"] == 10.0  # five pieces tell
    assert error.value.seconds == pytest.approx(80.0)


def test_what_takes_a_moment_is_done_however_late_it_is(now: dict[str, float]) -> None:
    """A violation whose proof takes no time is not left unproved because shrinking took long."""
    now["t"] = 50.0
    Clock(40.0).afford(0.9)
    with pytest.raises(TooSlowError):
        Clock(40.0).afford(1.1)
    with pytest.raises(TooSlowError):
        Clock(60.0).afford(12.1)
    Clock(60.0).afford(11.9)


def test_a_part_of_the_time_ends_with_the_whole(now: dict[str, float]) -> None:
    now["t"] = 50.0
    clock = Clock(60.0)
    assert clock.left == 10.0
    assert clock.within(4.0) == Clock(54.0)
    assert clock.within(40.0) == clock
    assert Clock().within(4.0) == Clock(54.0)


def test_compiling_is_not_held_against_the_rest(now: dict[str, float]) -> None:
    progress = Clock(60.0).track("training", 80)
    now["t"] = 10.0
    steady(now, progress, 0.4)
    now["t"] += 10.0  # another program
    steady(now, progress, 0.4)


def test_what_was_compiled_too_late_is_finished_if_that_takes_no_time(
    now: dict[str, float],
) -> None:
    late = Clock(6.0).track("training", 40)
    now["t"] = 20.0
    steady(now, late, 0.01)
    late = Clock(6.0).track("training", 40)
    late(1)
    now["t"] += 1.0
    with pytest.raises(TooSlowError) as error:
        late(1)
    assert error.value.seconds == pytest.approx(39.0)


def test_a_statement_that_says_nothing_is_not_called_slow(
    now: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen of them at once are too many for the time, and of one alone it says nothing."""

    def silent(claim_: Any, walks: Any, options: Any, seed: Any, errors: Any, clock: Clock) -> list:
        progress = clock.track("training", len(walks))
        for _ in walks:
            now["t"] += 1.0
            progress(1)
        return []

    monkeypatch.setattr(hunting, "try_all", silent)
    finding = attack(claim(lambda run: lm.at_most(run.x, 0.0)), Setting(), budget=20.0)
    assert finding.status is Outcome.UNDECIDED
    assert "it says nothing of them" in finding.reason


def test_a_batch_that_does_not_fit_is_cut(
    now: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """256 at 1 s each do not fit into a share of 100 s; 32 do, and of 9 s 4 do."""
    sizes: list[int] = []

    def slow(claim_: Any, walks: Any, options: Any, seed: Any, errors: Any, clock: Clock) -> list:
        progress = clock.track("training", len(walks))
        sizes.append(len(walks))
        for _ in walks:
            now["t"] += 1.0
            progress(1)
        return []

    monkeypatch.setattr(hunting, "try_all", slow)
    statement = claim(lambda run: lm.at_most(run.x, 1e9))
    hunt = Hunt(statement, Setting().space, 0, 100.0, lambda line: None, deadline=100.0)
    assert not hunt.go_through([Walk(k, 1) for k in range(1_000)], {}, whole=False)
    assert sizes[:3] == [256, 32, 32]
    assert 90.0 <= now["t"] <= 110.0
    sizes.clear()
    hunt = Hunt(statement, Setting().space, 0, now["t"] + 9.0, lambda line: None)
    hunt.deadline = hunt.ends
    assert not hunt.go_through([Walk(k, 1) for k in range(1_000)], {}, whole=False)
    assert sizes[:3] == [256, 4, 4]


def test_what_takes_too_long_alone_is_left_out(
    now: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among the extremes one may be slow; those after it are tried, and not all were."""
    tried: list[int] = []

    def uneven(claim_: Any, walks: Any, options: Any, seed: Any, errors: Any, clock: Clock) -> list:
        progress = clock.track("training", 100)
        for _ in range(100):
            now["t"] += 1.0 if any(walk.start == 5 for walk in walks) else 0.0001
            progress(1)
        tried.extend(walk.start for walk in walks)
        return []

    monkeypatch.setattr(hunting, "try_all", uneven)
    statement = claim(lambda run: lm.at_most(run.x, 1e9))
    hunt = Hunt(statement, Setting().space, 0, 60.0, lambda line: None, deadline=60.0)
    assert not hunt.go_through([Walk(k, 1) for k in range(20)], {}, whole=False)
    assert tried == [k for k in range(20) if k != 5]
    assert hunt.set_aside == 1 + len(tried)  # of which this statement says nothing


def test_one_instance_that_takes_too_long_is_said_to_do_so(
    now: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*arguments: Any) -> list:
        progress = arguments[-1].track("training", 100)
        for _ in range(100):
            now["t"] += 5.0
            progress(1)
        return []

    monkeypatch.setattr(hunting, "try_all", endless)
    finding = attack(claim(lambda run: lm.at_most(run.x, 0.0)), Setting(), budget=20.0)
    assert finding.status is Outcome.UNDECIDED
    assert finding.reason == "one instance alone takes about 500 s: more time is needed"
    assert now["t"] <= 30.0


def test_a_proof_that_takes_too_long_is_not_begun(
    now: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay of the first twentieth tells how long all of it takes."""
    steps = np.arange(0, 101)
    lengths: list[int] = []

    def slow(self: Any, instance: Any, options: Any, some: np.ndarray) -> dict[str, Any]:
        lengths.append(int(some[-1]))
        now["t"] += float(some[-1])
        return {}

    space = Setting().space
    monkeypatch.setattr(type(space), "replay", slow)
    assert certifying._expected(space, Walk(0, 1), {}, steps) == pytest.approx(100.0)
    assert lengths == [5]
    Clock(now["t"] + 90.0).afford(100.0)
    with pytest.raises(TooSlowError, match="about 100 s"):
        Clock(now["t"] + 50.0).afford(100.0)

"""The adversary on walks, where all that it should find is known: see ``search_walks.py``."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from search_walks import RISES, SEEN, Setting, Walk, claim, untrained

import lemmata as lm
from lemmata._errors import InputError
from lemmata.claims import Fact, evidence_for
from lemmata.search import Finding, Findings, Outcome, attack, unsearchable
from lemmata.search import _attack as attacking
from lemmata.search import _hunt as hunting
from lemmata.search._attack import _free_trainings
from lemmata.search._hunt import Hunt
from lemmata.search._proofs import Proofs
from lemmata.search._score import try_all

SMALL: dict[str, Any] = {"scope": {"size": 2}, "budget": 0.0}


def at_most(bound: float) -> Any:
    return lambda run: lm.at_most(run.x, bound)


def attacked(statement: Any, setting: Setting | None = None, **options: Any) -> Finding:
    return attack(statement, setting or Setting(), **{"budget": 60.0} | options)


def stages(statement: Any, **options: Any) -> tuple[list[str], Finding]:
    """What is gone through, in order."""
    seen: list[str] = []

    def watch(line: str) -> None:
        stage = line.split(":")[0]
        if stage not in seen:
            seen.append(stage)

    return seen, attacked(statement, watch=watch, **options)


def test_the_smallest_walk_above_a_bound() -> None:
    """2 + 0.1 t exceeds 2.65 from t = 7 on."""
    finding = attacked(claim(at_most(2.65), rate=0.1, steps=8), **SMALL)
    assert finding.status is Outcome.FAILS
    assert finding.certified
    witness = finding.witness
    assert witness is not None
    assert witness.instance == Walk(2, 1)
    assert witness.size == (3,)
    left = pytest.approx(2.7)
    assert witness.place == {"part": "", "dataset": "2+1", "t": 7, "left": left, "right": 2.65}
    assert witness.score == pytest.approx(-(2.7 - 2.65) / 2.7, rel=1e-9)
    assert witness.certificate.says == "ball arithmetic with 320 bits up to step 7"
    assert witness.idle == ()
    assert witness.degenerate is None
    worst = finding.worst
    assert worst is not None
    assert (worst.instance, worst.place["t"]) == (Walk(2, 2), 7)
    assert finding.scopes == ("size 0", "size 1", "size 2")
    assert finding.tried == 25
    assert finding.reason == (
        "2.7 against 2.65 at t = 7, off by a relative 0.019 (ball arithmetic with 320 bits up to "
        "step 7)"
    )


def test_what_does_not_matter_in_a_witness() -> None:
    """|x| > 0.75 first with drift 1: without the start, and in both directions."""
    small = claim(lambda run: lm.at_most(np.abs(run.x), 0.75), rate=0.1, steps=8)
    witness = attacked(small).witness
    assert witness is not None
    assert witness.instance == Walk(0, -1)
    assert witness.idle == ("the direction", "the start")
    up = attacked(claim(at_most(0.75), rate=0.1, steps=8)).witness
    assert up is not None
    assert up.instance == Walk(0, 1)
    assert up.idle == ("the start",)


def test_the_order_of_stages() -> None:
    """Two scopes, the same with other trainings that are left open, extremes, the rest, a climb."""
    seen, finding = stages(claim(at_most(1e9)))
    assert seen == [
        *("size 0", "size 1"),
        *("size 0, rate 5.0", "size 0, steps 2", "size 1, rate 5.0", "size 1, steps 2"),
        *("extremes", "size 2", "size 3", "climb"),
    ]
    assert finding.status is Outcome.SURVIVED
    assert finding.scopes == ("size 0", "size 1", "size 2", "size 3")
    assert finding.closest == pytest.approx(1 - (1000 * 5.0 * 8) / 1e9, rel=1e-9)
    assert finding.closest_to == "0+1000"
    # 1 + 8 small ones with three trainings, three extremes with three, 16 + 24, 30 rounds of 256
    assert finding.tried == 3 * 9 + 3 * 3 + 40 + 30 * 256
    assert finding.set_aside == 0
    assert not finding.interrupted
    assert finding.reason.startswith("the closest of 7,756 instances is 1 away")


def test_a_scope_that_is_asked_for_is_finished_whatever_is_found() -> None:
    seen, finding = stages(claim(at_most(2.65), rate=0.1, steps=8), scope={"size": 4}, budget=0.0)
    assert finding.scopes == tuple(f"size {n}" for n in range(5))
    assert finding.tried == 9**2
    assert [stage for stage in seen if stage.startswith("size")] == list(finding.scopes)
    assert finding.status is Outcome.FAILS
    assert finding.witness is not None
    assert finding.witness.instance == Walk(2, 1)
    with pytest.raises(InputError, match=r"unknown size in a scope of this setting 'K'"):
        attacked(claim(at_most(1.0)), scope={"K": 3})


def test_time_is_shared_among_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that moves on by one second an evaluation, each stage has its share."""
    clock = {"now": 7.0}
    hunts: list[Hunt] = []
    ends: dict[str, set[float]] = {}

    def tick(*arguments: Any) -> list[Any]:
        clock["now"] += 1.0
        return try_all(*arguments)

    def hunt(*arguments: Any, **named: Any) -> Hunt:
        hunts.append(Hunt(*arguments, **named))
        return hunts[-1]

    def watch(line: str) -> None:
        ends.setdefault(line.split(":")[0], set()).add(round(hunts[-1].ends - 7.0, 6))

    monkeypatch.setattr(hunting.time, "monotonic", lambda: clock["now"])
    monkeypatch.setattr(hunting, "try_all", tick)
    monkeypatch.setattr(attacking, "Hunt", hunt)
    statement = claim(at_most(1e9))
    finding = attack(statement, Setting(), budget=100.0, watch=watch)
    assert ends == {
        **{f"size {n}": {25.0} for n in (0, 1)},
        **{f"size {n}, {option}": {40.0} for n in (0, 1) for option in ("rate 5.0", "steps 2")},
        "extremes": {55.0, 70.0},
        **{f"size {n}": {85.0} for n in (2, 3)},
        "climb": {100.0},
    }
    # 2 scopes, 4 again, 3 times extremes, 2 scopes, 30 rounds
    assert finding.seconds == 41.0
    clock["now"] = 7.0
    short = attack(statement, Setting(), budget=3.0, watch=watch)
    assert short.seconds == 4.0
    assert short.scopes == ("size 0",)


def test_degenerate_walks_are_used_only_if_there_is_no_other() -> None:
    """Standing still at 2 breaks it, and is smaller than what moves."""
    moving = attacked(claim(at_most(1.9)), **SMALL).witness
    assert moving is not None
    assert moving.instance == Walk(2, 1)
    moved = claim(lambda run: lm.at_least(np.abs(run.x - run.x[:, :1])[:, 1:], 0.05))
    still = attacked(moved, **SMALL)
    assert still.witness is not None
    assert still.witness.instance == Walk(0, 0)
    assert still.witness.degenerate == "it does not move"
    assert "degenerate: it does not move" in still.reason
    assert still.status is Outcome.FAILS


def test_hypotheses_set_instances_aside() -> None:
    finding = attacked(claim(at_most(1e9), RISES), scope={"size": 2}, budget=0.0)
    assert finding.tried == 15
    assert finding.set_aside == 10
    nobody = claim(at_most(0.0), RISES, lm.Hypothesis("falls", "", "", frozenset({"falls"})))
    assert attacked(nobody, scope={"size": 1}, budget=0.0).set_aside == 3
    never = untrained(lambda data: lm.at_most(np.full((len(data), 1), np.nan), 0.0))
    silent = attacked(never, scope={"size": 1}, budget=0.0)
    assert silent.status is Outcome.UNDECIDED
    assert (silent.tried, silent.set_aside, silent.closest) == (0, 9, None)
    assert silent.reason.startswith("no instance that was tried meets its hypotheses, or it says")


def test_violations_by_rounding_alone_are_none() -> None:
    """Eight times 0.1 added up is not 0.8; in balls it is no more than 8 times 0.1."""

    def tight(run: Any) -> Any:
        exact = run.each(lambda w: w.start) + run.rate * run.each(lambda w: w.drift) * run.steps
        return lm.equal(run.x, exact, rounding=0.0)

    finding = attacked(claim(tight), **SMALL)
    assert finding.status is Outcome.SURVIVED
    assert finding.reason.endswith("is 0 away from breaking it, up to rounding")
    assert finding.witness is None


def test_what_balls_lose_is_not_called_rounding() -> None:
    finding = attacked(claim(at_most(0.35)), Setting(width=lambda bits: 9), **SMALL)
    assert finding.status is Outcome.UNDECIDED
    assert not finding.certified
    assert "the violation is not certain" in finding.reason


def test_without_a_second_evaluation_nothing_is_proved() -> None:
    finding = attacked(claim(at_most(0.35)), Setting(knows=False), **SMALL)
    assert finding.status is Outcome.UNDECIDED
    assert "no second evaluation of this training" in finding.reason


def test_limits_and_averages_are_never_proved_wrong() -> None:
    settled = claim(lambda run: lm.tends_to(run.x[:, :1] + 1 / (1 + run.steps), 50.0), steps=64)
    average = claim(lambda run: lm.at_most(run.x, 0.35, error=0.01))
    share = untrained(
        lambda data: lm.share_at_least(data.each(lambda w: w.start == 0), 10_000, 0.5)
    )
    for statement in (settled, average, share):
        finding = attacked(statement, scope={"size": 1}, budget=0.0)
        assert finding.status is Outcome.UNDECIDED, finding.reason
        assert not finding.certified
        assert "extrapolated" in finding.reason
    assert attacked(settled, budget=60.0).tried < 100  # a second witness would prove no more


def test_free_trainings() -> None:
    """Only options that are left open; a very long training is cut if its length is,
    and comes after shorter ones."""
    space = Setting().space
    assert _free_trainings(claim(at_most(0)), space) == [{}, {"rate": 5.0}, {"steps": 2}]
    assert _free_trainings(claim(at_most(0), rate=0.1), space) == [{}, {"steps": 2}]
    assert _free_trainings(claim(at_most(0), steps=20_001), space) == [{}, {"rate": 5.0}]
    assert _free_trainings(untrained(at_most(0)), space) == [{}]
    long = claim(at_most(0))
    object.__setattr__(long.experiment.training, "steps", 20_001)
    assert _free_trainings(long, space) == [
        {"steps": 2},
        {"steps": 20_000},
        {"steps": 20_000, "rate": 5.0},
    ]
    object.__setattr__(long.experiment.training, "steps", 20_000)
    assert _free_trainings(long, space)[0] == {}


def test_open_options_are_part_of_the_witness_only_if_they_matter() -> None:
    """No walk of size 1 gets beyond 1.85 in 8 steps of 0.1, but in 8 steps of 5."""
    finding = attacked(claim(at_most(1.85)))
    assert finding.witness is not None
    assert finding.witness.options == {"rate": 5.0}
    assert finding.witness.instance == Walk(0, 1)
    # what breaks it with any rate is reported with the usual one
    far = attacked(claim(lambda run: lm.at_most(run.x, 0.05), steps=8)).witness
    assert far is not None
    assert far.options == {}


def test_what_cannot_be_searched() -> None:
    statement = claim(at_most(0))
    assert unsearchable(statement, Setting()) is None
    own = replace(statement, experiment=replace(statement.experiment, own=True))
    assert "its own instances" in str(unsearchable(own, Setting()))
    closed = Setting()
    closed.space = None
    assert (
        unsearchable(statement, closed) == "the walks setting does not say how its instances vary"
    )
    exists = replace(statement, unbreakable="it exists")
    assert unsearchable(exists, closed) == "it exists"
    finding = attacked(exists, closed)
    assert (finding.status, finding.tried) == (Outcome.NOT_SEARCHABLE, 0)


def test_the_same_seed_finds_the_same_witness() -> None:
    """Only a climb gets beyond 60: nothing that is drawn does, with 8 steps of 0.1 or of 5."""
    far = claim(lambda run: lm.at_most(run.x[:, 0], np.where(run.x[:, 0] > 900, 1e9, 60.0)))
    first, second, other = (attacked(far, seed=seed) for seed in (0, 0, 1))
    assert first.status is Outcome.FAILS
    assert first.document() | {"seconds": 0} == second.document() | {"seconds": 0}
    assert other.tried != first.tried or other.worst != first.worst


def test_an_interruption_gives_the_best_so_far() -> None:
    def stop(line: str) -> None:
        if line.startswith("size 1"):
            raise KeyboardInterrupt

    finding = attacked(claim(at_most(1e9)), watch=stop)
    assert finding.interrupted
    assert finding.tried == 9
    assert finding.scopes == ("size 0",)
    assert finding.status is Outcome.SURVIVED
    assert finding.reason.endswith("away from breaking it; interrupted")


# Batches.


def test_runs_of_different_sizes_share_programs() -> None:
    """Sixteen at least, and a power of two; what is added is not counted."""
    walks = [Walk(k, 1) for k in range(40)]
    for count, together in ((1, 16), (16, 16), (17, 32), (40, 64)):
        SEEN.clear()
        tried = try_all(claim(at_most(20.0)), walks[:count], {}, 0)
        assert SEEN.pop() == together
        assert not SEEN
        assert [attempt.instance for attempt in tried] == walks[:count]
    assert try_all(claim(at_most(20.0)), [], {}, 0) == []


def test_scores_are_distances_relative_to_the_larger_side() -> None:
    tried = try_all(claim(at_most(2.0), steps=8), [Walk(0, 1), Walk(3, 1)], {}, 0)
    assert [attempt.score for attempt in tried] == pytest.approx(
        [(2.0 - 0.8) / 2.0, -(3.8 - 2.0) / 3.8]
    )
    assert [attempt.broken for attempt in tried] == [False, True]
    assert tried[0].place is None
    left = pytest.approx(3.8)
    assert tried[1].place == {"part": "", "dataset": "3+1", "t": 8, "left": left, "right": 2.0}


def test_the_worst_part_gives_the_score() -> None:
    two = claim(lambda run: [lm.at_most(run.x, 10.0), lm.at_most(run.x, 2.0, part="second")])
    (attempt,) = try_all(two, [Walk(3, 1)], {}, 0)
    assert attempt.score == pytest.approx(-(3.8 - 2.0) / 3.8)
    assert attempt.place is not None
    assert attempt.place["part"] == "second"
    other = claim(lambda run: [lm.at_most(run.x, 2.0, part="first"), lm.at_most(run.x, 10.0)])
    (attempt,) = try_all(other, [Walk(3, 1)], {}, 0)
    assert attempt.score == pytest.approx(-(3.8 - 2.0) / 3.8)


def test_facts_speak_of_one_case() -> None:
    def fact(data: Any) -> Any:
        bad = [i for i, w in enumerate(data) if w.start == 2]
        return Fact(not bad, "no two", case=bad[0] if bad else 0)

    walks = [Walk(k, 1) for k in range(4)]
    tried = {a.instance: a.score for a in try_all(untrained(fact), walks, {}, 0)}
    assert tried == {Walk(2, 1): -1.0}
    assert {a.score for a in try_all(untrained(fact), walks[:2], {}, 0)} == {1.0}
    nothing = untrained(lambda data: Fact(True, "", checked=0, case=0))
    assert try_all(nothing, walks, {}, 0) == []


def test_a_batch_is_halved_until_only_those_at_fault_are_left_out() -> None:
    def fragile(run: Any) -> Any:
        if any(w.start == 5 for w in run):
            raise InputError("five")
        return lm.at_most(run.x, 100.0)

    walks = [Walk(k, 1) for k in range(9)]
    for check in (claim(fragile), untrained(lambda data: _fragile(data))):
        tried = try_all(check, walks, {}, 0)
        assert [a.instance.start for a in tried] == [0, 1, 2, 3, 4, 6, 7, 8]


def test_what_does_not_fit_into_memory_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def evidence(check: Any, bench: Any) -> Any:
        if any(w.start == 5 for w in bench.instances):
            raise MemoryError
        return evidence_for(check, bench)

    monkeypatch.setattr("lemmata.search._score.evidence_for", evidence)
    everything = untrained(lambda data: lm.at_most(data.each(lambda w: w.start), 100.0))
    tried = try_all(everything, [Walk(k, 1) for k in range(7)], {}, 0)
    assert [a.instance.start for a in tried] == [0, 1, 2, 3, 4, 6]


def _fragile(data: Any) -> Any:
    if any(w.start == 5 for w in data):
        raise ZeroDivisionError
    return lm.at_most(data.each(lambda w: w.start), 100.0)


def test_batches_grow_while_they_are_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trained side by side from 256 on, else from 4; bigger ones while time allows."""
    clock = {"now": 0.0}
    sizes: list[int] = []

    def timed(claim_: Any, instances: Any, *rest: Any) -> list[Any]:
        sizes.append(len(instances))
        clock["now"] += len(instances) / 100
        return []

    monkeypatch.setattr(hunting.time, "monotonic", lambda: clock["now"])
    monkeypatch.setattr(hunting, "try_all", timed)
    walks = [Walk(k, 1) for k in range(3000)]

    def hunt(statement: Any, seconds: float) -> Hunt:
        clock["now"] = 0.0
        sizes.clear()
        return Hunt(statement, Setting().space, 0, seconds, lambda line: None)

    assert hunt(claim(at_most(0)), 1e4).go_through(walks, {}, whole=False)
    assert sizes == [256, 2048, 696]
    assert hunt(untrained(at_most(0)), 1e4).go_through(walks, {}, whole=False)
    assert sizes == [4, 32, 256, 2048, 660]
    assert hunt(claim(at_most(0), steps=30_000), 1e4).go_through(walks[:40], {}, whole=False)
    assert sizes == [4, 32, 4]
    assert not hunt(untrained(at_most(0)), 1.0).go_through(walks, {}, whole=False)
    assert sizes == [4, 32, 32, 32, 32]  # 0.04 s is a tenth of a second's share, 0.32 s is not
    assert hunt(untrained(at_most(0)), 1.0).go_through(walks, {}, whole=True)
    assert sizes == [4, 32, 256, 2048, 660]


def test_what_an_experiment_does_not_look_at_is_passed_over() -> None:
    statement = untrained(at_most(0))
    few = replace(statement.experiment, fits=lambda walk: walk.start % 3 == 0)
    hunt = Hunt(replace(statement, experiment=few), Setting().space, 0, np.inf, lambda line: None)
    assert [walk.start for walk in hunt.within([Walk(k, 1) for k in range(7)])] == [0, 3, 6]
    assert hunt.set_aside == 4


def test_the_climb_varies_what_came_closest() -> None:
    """The largest x is sought, and found far beyond what is drawn."""
    hunt = Hunt(claim(at_most(1e6)), Setting().space, 0, np.inf, lambda line: None)
    hunt.at_once = 2_048
    attacking._climb(hunt, Setting().space, [{}])
    assert hunt.tried == 30 * 256
    assert hunt.closest is not None
    assert hunt.closest.instance.start + 0.8 * hunt.closest.instance.drift > 130
    again = Hunt(claim(at_most(1e6)), Setting().space, 0, np.inf, lambda line: None)
    again.at_once = 2_048
    attacking._climb(again, Setting().space, [{}])
    assert again.closest is not None
    assert again.closest.instance == hunt.closest.instance
    other = Hunt(claim(at_most(1e6)), Setting().space, 1, np.inf, lambda line: None)
    attacking._climb(other, Setting().space, [{}])
    assert other.tried == 30 * 4


# From what is found to a witness.


def proofs_of(statement: Any, setting: Setting, walks: list[Walk]) -> tuple[Proofs, Hunt]:
    hunt = Hunt(statement, setting.space, 0, np.inf, lambda line: None)
    proofs = Proofs(hunt, setting, setting.space)
    hunt.evaluate(walks, {})
    return proofs, hunt


def test_a_witness_is_shrunk_until_nothing_can_be_left_out() -> None:
    proofs, _ = proofs_of(claim(at_most(2.65), steps=8), Setting(), [Walk(40, 30), Walk(9, 9)])
    assert proofs.succeed()
    assert proofs.witness is not None
    assert proofs.witness.instance == Walk(0, 4)  # 3.2; 2.65 is beyond 3 drifts, 2.4
    assert proofs.worst is not None
    assert proofs.worst.instance == Walk(40, 30)


def test_shrinking_keeps_the_violation_plain() -> None:
    """At 2 + 3e-7 the bound is missed by less than a millionth, and by half as much at first."""
    proofs, _ = proofs_of(claim(at_most(2.8 * (1 - 3e-7)), steps=8), Setting(), [Walk(2, 1)])
    assert proofs.succeed()
    assert proofs.witness is not None
    assert proofs.witness.instance == Walk(2, 1)
    wide, _ = proofs_of(claim(at_most(2.8 * (1 - 3e-7)), steps=8), Setting(), [Walk(3, 1)])
    assert wide.succeed()
    assert wide.witness is not None
    assert wide.witness.score < -1e-6


def test_what_is_proved_counts_even_if_smaller_ones_are_not() -> None:
    """Balls of radius 1 prove that 40 is above 2.65, but nothing smaller than about 4."""
    proofs, _ = proofs_of(
        claim(at_most(2.65), steps=8), Setting(width=lambda bits: 1), [Walk(40, 1)]
    )
    assert proofs.succeed()
    assert proofs.witness is not None
    assert proofs.witness.certificate.proved
    assert not proofs.rounding


def test_the_worst_counts_even_if_time_is_up_with_the_smallest() -> None:
    """The sum of tenths is off by rounding; with 9 at the start it is not."""

    def exactly(run: Any) -> Any:
        start, drift = run.each(lambda w: w.start), run.each(lambda w: w.drift)
        expected = np.where(start == 9, -100.0, start + run.rate * drift * run.steps)
        return lm.equal(run.x, expected, rounding=0.0)

    setting = Setting()
    hunt = Hunt(claim(exactly), setting.space, 0, -np.inf, lambda line: None)
    proofs = Proofs(hunt, setting, setting.space)
    hunt.evaluate([Walk(0, 1), Walk(9, 1)], {})
    assert len(hunt.broken) == 2
    assert proofs.succeed()
    assert proofs.witness is not None
    assert proofs.witness.instance == Walk(9, 1)
    assert not proofs.rounding


def test_only_what_is_new_is_looked_at_again() -> None:
    setting = Setting(knows=False)
    proofs, hunt = proofs_of(claim(at_most(2.65), steps=8), setting, [Walk(4, 1), Walk(3, 0)])
    assert len(hunt.broken) == 2
    assert [attempt.instance for attempt in hunt.fresh] == [Walk(4, 1)]
    assert not proofs.succeed()
    assert hunt.fresh == []
    hunt.evaluate([Walk(5, 1)], {})
    assert [attempt.instance for attempt in hunt.fresh] == [Walk(5, 1)]


def test_proving_is_given_up_after_six_times() -> None:
    calls: list[int] = []
    hunt = Hunt(claim(at_most(2.65)), Setting().space, 0, np.inf, lambda line: None)

    def prove() -> bool:
        calls.append(len(hunt.fresh))
        hunt.looked_at = len(hunt.found)
        return False

    hunt.prove = prove
    for k in range(9):
        hunt.evaluate([Walk(4 + k, 1)], {})
    assert calls == [1] * 6
    assert hunt.proofs == 6
    assert not hunt.settled


def test_findings_as_a_table() -> None:
    found = Findings([attacked(claim(at_most(bound)), **SMALL) for bound in (2.65, 1e9)])
    assert repr(found).startswith("<Finding on walks/x: fails; ")
    assert repr(Findings()) == "<no findings>"
    page = found._repr_html_()
    assert page.index("<th>status") < page.index("<td>fails") < page.index("<td>survived")
    assert found[0]._repr_html_().count("<tr>") == 2
    other = replace(found[1], claim="walks/y")
    both = Findings([found[0], other])
    assert (both["walks/x"], both["walks/y"]) == (found[0], other)
    with pytest.raises(InputError, match=r"unknown finding 'z'.*walks/x"):
        both["z"]


def test_findings_as_documents() -> None:
    finding = attacked(claim(at_most(2.65), rate=0.1, steps=8), **SMALL)
    document = finding.document()
    assert document["size"] == [3]
    assert document["witness"]["instance"] == {"start": 2, "drift": 1}
    assert document["witness"]["violation"] == pytest.approx(float(Fraction(5, 270)), rel=1e-9)
    assert document["witness"]["certified"] is True
    assert document["worst"]["instance"] == {"start": 2, "drift": 2}
    assert document["certified"] is True
    assert document["scopes"] == ["size 0", "size 1", "size 2"]
    survived = attacked(claim(at_most(1e9)), budget=0.0).document()
    assert (survived["witness"], survived["worst"], survived["size"]) == (None, None, None)


def test_what_fills_up_a_batch_leaves_no_trace() -> None:
    """A worse one is trained beside it; the place of the one that was asked for is known."""
    statement = claim(at_most(2.65), steps=8)
    (alone,) = try_all(statement, [Walk(3, 1)], {}, 0)
    (filled,) = try_all(statement, [Walk(3, 1)], {}, 0, filler=Walk(9, 1))
    assert filled == alone
    assert filled.place is not None


def test_what_the_setting_does_not_read_back_is_no_witness() -> None:
    """A walk that starts below zero breaks the statement, but no file may say so."""

    class Choosy(Setting):
        def read(self, file: Path, embeddings: Path | None = None) -> list[Walk]:
            (walk,) = super().read(file)
            if walk.start < 0:
                raise InputError("a walk starts at zero or above")
            return [walk]

    def low(run: Any) -> Any:
        return lm.at_least(run.each(lambda walk: walk.start), 0.0)

    assert attack(untrained(low), Setting(), budget=5.0).witness is not None
    finding = attack(untrained(low), Choosy(), budget=5.0)
    assert finding.status is Outcome.SURVIVED
    assert finding.set_aside > 0

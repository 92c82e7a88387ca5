"""What proves that a walk breaks a statement, and what does not: see ``search_walks.py``."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from search_walks import Setting, Walk, claim, untrained

import lemmata as lm
from lemmata.claims import Fact, Limit, Silence
from lemmata.search import Certificate
from lemmata.search._balls import is_narrow
from lemmata.search._certify import (
    _begins,
    _precisions,
    _stretches,
    _width,
    certify,
)
from lemmata.search._proofs import read_back
from lemmata.search._score import try_all
from lemmata.search._violations import at_most_broken_by, violated

UP = Walk(0, 1)


def proof(
    check: Any, walk: Walk = UP, setting: Setting | None = None, **training: Any
) -> Certificate:
    """What is proved of a statement that is broken in floating point."""
    setting, statement = setting or Setting(), claim(check, **training)
    (attempt,) = try_all(statement, [walk], {}, 0)
    assert attempt.broken
    return certify(statement, setting.space, attempt, lambda case: read_back(setting, case))


def row(*values: Any) -> np.ndarray:
    return np.array([[arb(v) if not isinstance(v, arb) else v for v in values]], dtype=object)


WIDE = arb(1, 0.5)
NAN = arb("nan")


# Comparisons of balls.


@pytest.mark.parametrize(
    ("comparison", "broken"),
    [
        (lm.at_most(row(WIDE), 0.4), True),
        (lm.at_most(row(WIDE), 0.6), False),
        (lm.at_most(row(WIDE), 2.0), False),
        (lm.at_least(row(WIDE), 1.6), True),
        (lm.at_least(row(WIDE), 1.4), False),
        (lm.at_least(row(WIDE), 0.0), False),
        (lm.at_most(row(1), 1), False),
        (lm.at_most(row(1), 1, strict=True), True),
        (lm.at_least(row(1), 1, strict=True), True),
        (lm.at_least(row(1), 1), False),
        (lm.at_most(row(WIDE), 1, strict=True), False),
        (lm.at_most(0.4, row(WIDE)), False),
        (lm.at_least(0.4, row(WIDE)), True),
        (lm.equal(row(WIDE), 1.2), False),
        (lm.equal(row(WIDE), 1.6), True),
        (lm.equal(row(1, 2), row(1, 3)), True),
        (lm.equal(row(1, 2), row(1, 2)), False),
        (lm.at_most(row(0, 0, 5), 1), True),
        (lm.at_most(row(NAN, 0), 1), False),
        (lm.at_most(row(NAN, 5), 1), True),
        (lm.at_most(row(arb(0, "inf")), 1), False),
        (lm.equal(row(NAN), 1), False),
        (lm.at_most(row(5), 1, error=0.1), False),
        (lm.equal(row(5), 1, error=0.1), False),
        (lm.at_most([Fraction(1, 3)], Fraction(1, 3)), False),
        (lm.at_most([Fraction(1, 3)], Fraction(333, 1000)), True),
        (lm.tends_to(row(5, 5), 0.0), False),
        (lm.share_at_least([0], [1000], 0.9), False),
        (Fact(False, "no"), False),
        (Silence("nothing"), False),
    ],
)
def test_certainly_violated(comparison: Any, broken: bool) -> None:
    assert violated(comparison) is broken


def test_only_later_steps_count() -> None:
    steps = np.array([0, 1, 2, 4])
    early = lm.at_most(row(5, 5, 0, 0), 1, from_step=2)
    assert not violated(early, steps)
    assert at_most_broken_by(early, 0.5, steps)
    assert violated(lm.at_most(row(5, 5, 5, 0), 1, from_step=2), steps)
    assert violated(lm.at_most(row(5, 5, 5, 0), 1, from_step=[1, 2]), steps)
    assert not violated(lm.at_most(row(5, 5, 5, 0), 1, from_step=[1, 4]), steps)
    # differences of records belong to the earlier step
    assert not violated(lm.at_most(row(5, 5, 0), 1, from_step=2), steps)
    assert violated(lm.at_most(row(5, 5, 5), 1, from_step=2), steps)
    # places of its own
    own = lm.at_most(row(5, 0), 1, from_step=2, places=[1.0, 3.0])
    assert not violated(own, steps)
    assert violated(replace(own, places=[2.0, 3.0]), steps)


@pytest.mark.parametrize(
    ("comparison", "excluded"),
    [
        (lm.at_most(row(arb(1, 0.1)), 1), True),
        (lm.at_most(row(arb(1, 0.6)), 1), False),
        (lm.at_most(row(arb(1.6)), 1), False),
        (lm.at_most(row(arb(-9)), 1), True),
        (lm.at_least(row(arb(9)), 1), True),
        (lm.at_least(row(arb(0.4)), 1), False),
        (lm.at_least(row(arb(0.6)), 1), True),
        (lm.equal(row(arb(0.4)), 1), False),
        (lm.equal(row(arb(1.6)), 1), False),
        (lm.equal(row(arb(1, 0.1)), 1), True),
        (lm.equal(row(1, 9), 1), False),
        (lm.at_most(row(NAN, 0, 0), 1), True),
        (lm.at_most(row(NAN, 0, NAN), 1), False),
        (lm.at_most(row(0, arb(0, "inf")), 1), False),
        (lm.at_most(row(NAN), 1), False),
        (Fact(False, "no"), False),
    ],
)
def test_a_violation_by_half_is_excluded(comparison: Any, excluded: bool) -> None:
    assert at_most_broken_by(comparison, 0.5, np.arange(3)) is excluded


# How far a run must be followed.


def lengths(check: Any, walk: Walk = UP) -> list[int]:
    statement = claim(check)
    evidence = lm.Evidence((walk,), np.arange(9), {"x": 0.1 * np.arange(9.0)[None]})
    return [len(steps) for steps, _ in _stretches(statement, evidence)]


def test_a_statement_about_each_record_is_followed_to_where_it_breaks() -> None:
    assert lengths(lambda run: lm.at_most(run.x, 0.25)) == [4, 9]
    assert lengths(lambda run: lm.at_most(run.x, 0.05)) == [2, 9]
    assert lengths(lambda run: lm.at_most(run.x, 0.75)) == [9]
    assert lengths(lambda run: lm.at_most(run.x[:, 1:], run.x[:, :-1] + 0.05)) == [2, 9]


@pytest.mark.parametrize(
    "check",
    [
        lambda run: lm.at_most(run.x[:, -1], 0.05),
        lambda run: lm.at_most(run.x, run.x[:, -1:] / 2),
        lambda run: lm.at_most(run.x, 0.05, from_step=run.steps[-1] / 2),
        lambda run: lm.at_most(
            run.x, 0.05, from_step=0.5, places=np.asarray(run.steps / run.steps[-1], dtype=float)
        ),
        lambda run: lm.at_most(run.x.max(axis=1), 0.05),
        lambda run: lm.tends_to(run.x, 5.0),
        lambda run: [lm.at_most(run.x, 0.05)] + [lm.at_most(run.x, 9.0)] * (len(run.steps) > 8),
        lambda run: (
            lm.at_most(run.x, 0.05) if len(run.steps) < 9 else lm.at_least(run.x - 9.0, 0.05)
        ),
        lambda run: (
            lm.at_most(run.x, 0.05)
            if len(run.steps) < 9
            else lm.Inequality(run.x, np.full((1, 9), 0.05), ">=")
        ),
        lambda run: [lm.at_most(run.x, 0.05), lm.at_most(run.x[:, -1], 9.0)],
    ],
)
def test_what_later_records_change_is_followed_to_the_end(check: Any) -> None:
    assert lengths(check) == [9]


def test_beginnings() -> None:
    part, whole = lm.at_most([[1.0, 2.0]], 5.0), lm.at_most([[1.0, 2.0, 3.0]], 5.0)
    assert _begins(part, whole, 1)
    assert not _begins(part, whole, 2)
    assert not _begins(part, lm.at_most([[1.0, 2.5, 3.0]], 5.0), 1)
    assert not _begins(part, lm.at_most([[1.0, 2.0, 3.0]], 6.0), 1)
    assert not _begins(part, lm.equal([[1.0, 2.0, 3.0]], 5.0), 1)
    assert not _begins(part, part, 1)
    assert not _begins(Fact(True, ""), Fact(True, ""), 1)
    gaps = lm.at_most([[np.nan, 2.0]], 5.0), lm.at_most([[np.nan, 2.0, 3.0]], 5.0)
    assert _begins(*gaps, 1)
    assert not _begins(Limit([[1.0, 2.0]]), Limit([[1.0, 2.0, 3.0]]), 1)


def test_the_second_half_is_proved_at_its_own_place() -> None:
    """x <= 0.35 is false from 4 on; x >= 0.15 is true there, though false before."""
    half = proof(lambda run: lm.at_most(run.x, 0.35, from_step=run.steps[-1] / 2))
    assert half.proved
    assert half.says.endswith("up to step 8")
    true = claim(lambda run: lm.at_least(run.x, 0.15, from_step=run.steps[-1] / 2))
    assert not try_all(true, [UP], {}, 0)[0].broken
    (attempt,) = try_all(claim(lambda run: lm.at_least(run.x, 0.15)), [UP], {}, 0)
    setting = Setting()
    found = certify(true, setting.space, attempt, lambda case: case)
    assert not found.proved
    assert found.rounding


# How many bits it takes.


def test_more_bits_are_tried_while_balls_get_narrower() -> None:
    setting = Setting(width=lambda bits: arb(10) if bits < 5_000 else arb(2) ** -bits)
    found = proof(lambda run: lm.at_most(run.x, 0.75), setting=setting)
    assert not found.proved  # nothing narrows from 320 to 1,280 bits
    assert setting.space.bits[1:] == [320, 1_280]
    shrinking = Setting(width=lambda bits: arb(3_000) / bits)
    found = proof(lambda run: lm.at_most(run.x, 0.35), setting=shrinking)
    assert found.proved
    assert shrinking.space.bits[1:] == [320, 1_280, 5_120, 20_480]
    assert found.says == "ball arithmetic with 20480 bits up to step 7"
    exact = Setting()
    assert proof(lambda run: lm.at_most(run.x, 0.35), setting=exact).proved
    assert exact.space.bits[1:] == [320]
    assert ctx.prec == 53


def test_precision_is_what_it_was_afterwards() -> None:
    assert list(_precisions((100, 200))) == [100, 200]
    assert ctx.prec == 53
    for bits in _precisions((100, 200)):
        assert ctx.prec == bits == 100
        break
    assert ctx.prec == 53


def test_widths_are_relative() -> None:
    assert _width(row(1, arb(100, 1))[0]) == pytest.approx(0.01, rel=1e-6)
    assert _width(row(NAN, NAN)[0]) == 0.0
    assert np.isnan(_width(row(1, NAN)[0]))
    assert _width(row(arb(1, 1), 4)[0]) == 0.0


# Floating point on columns that balls enclose.


def median(bound: float) -> Any:
    return lambda run: lm.at_most(np.median(run.x, axis=1), bound)


def test_functions_without_balls_need_narrow_ones() -> None:
    """The median of x is 0.4; balls of radius 1 around another value say nothing of it."""
    found = proof(median(0.3))
    assert found.proved
    assert "in floating point" in found.says
    wide = Setting(width=lambda bits: 1, shift=1.0)
    assert not proof(median(0.3), setting=wide).proved
    lost = Setting(width=lambda bits: arb("inf"))
    assert not proof(median(-1.0), setting=lost).proved


def test_functions_without_balls_need_a_plain_violation() -> None:
    assert not proof(median(0.4 * (1 - 1e-7))).proved
    assert proof(median(0.4 * (1 - 1e-5))).proved


def test_functions_without_balls_prove_no_limit() -> None:
    def limit(run: Any) -> Any:
        return lm.tends_to(np.sort(run.x[:, :1]) + 1 / (1.0 + run.steps), 50.0)

    assert not proof(limit, steps=64).proved

    def average(run: Any) -> Any:
        return lm.at_most(np.median(run.x, axis=1), 0.1, error=0.01)

    assert not proof(average).proved


def test_narrow_balls() -> None:
    tiny = arb(2) ** -300
    assert is_narrow(row(0, 1, arb(2, 1e-13)))
    assert not is_narrow(row(0, 1, arb(2, 1e-11)))
    assert not is_narrow(row(1, arb(1e-20, 1e-21)))
    assert is_narrow(row(1, arb(0, tiny)))
    assert not is_narrow(row(arb(0, tiny), arb(tiny, tiny)))
    assert is_narrow(row(NAN, 1, 2))
    assert not is_narrow(row(NAN, 1, NAN))
    assert not is_narrow(row(0, arb(0, "inf")))
    assert is_narrow(row(0, arb("inf")))


# Where nothing is trained.


def structural(check: Any, walk: Walk, setting: Setting) -> Certificate:
    statement = untrained(check)
    (attempt,) = try_all(statement, [walk], {}, 0)
    return certify(statement, setting.space, attempt, lambda case: read_back(setting, case))


def of_start(bound: float) -> Any:
    return lambda data: lm.at_most(data.each(lambda w: w.start), bound)


def test_structure_is_recomputed() -> None:
    assert structural(of_start(2.0), Walk(4, 1), Setting()).proved
    near = structural(of_start(4 * (1 - 5e-10)), Walk(4, 1), Setting())
    assert not near.proved
    assert near.rounding
    assert "the sides differ by 5e-10 only, where 1e-09 may be an error" in near.says
    assert structural(of_start(4 * (1 - 2e-9)), Walk(4, 1), Setting()).proved


@pytest.mark.parametrize("bounds", [(2.0, 9.0), (9.0, 2.0), (2.0, 3.0)])
def test_one_broken_part_of_a_statement_about_structure_is_enough(
    bounds: tuple[float, float],
) -> None:
    def parts(data: Any) -> Any:
        return [of_start(bound)(data) for bound in bounds]

    found = structural(parts, Walk(4, 1), Setting())
    assert found.proved
    assert found.says == "recomputed from its file, in balls; nothing is trained"


def test_ten_times_the_doubt_of_an_instance_is_needed() -> None:
    for doubt, proved in ((0.049, True), (0.051, False)):
        assert structural(of_start(2.0), Walk(4, 1), Setting(uncertain=doubt)).proved is proved


def test_written_otherwise_it_must_be_as_wrong() -> None:
    """4 is 2 too large; so is a twin, up to a tenth of that, or it was rounding."""
    for twin, proved in ((4, True), (2, False), (0, False), (5, False)):
        found = structural(of_start(2.0), Walk(4, 1), Setting(twin=Walk(twin, 1)))
        assert found.proved is proved
    many = structural(of_start(2.0), Walk(42, 1), Setting(twin=Walk(45, 1)))
    assert many.proved
    assert not structural(of_start(2.0), Walk(42, 1), Setting(twin=Walk(47, 1))).proved


def test_facts_without_numbers_are_proved_by_their_file() -> None:
    def fact(data: Any) -> Any:
        return Fact(all(w.start < 3 for w in data), "below three", case=0)

    assert structural(fact, Walk(4, 1), Setting()).proved
    assert structural(fact, Walk(4, 1), Setting(twin=Walk(5, 1))).proved
    assert not structural(fact, Walk(4, 1), Setting(twin=Walk(2, 1))).proved


def test_read_back_the_instance_must_still_break_it() -> None:
    statement, setting = untrained(of_start(2.0)), Setting()
    (attempt,) = try_all(statement, [Walk(4, 1)], {}, 0)
    found = certify(statement, setting.space, attempt, lambda case: Walk(1, 1))
    assert not found.proved
    assert found.rounding
    assert found.says == "read back from its file, the instance does not break it"


def test_experiments_without_options_have_no_second_evaluation() -> None:
    statement = claim(lambda run: lm.at_most(run.x, 0.35))
    (attempt,) = try_all(statement, [UP], {}, 0)
    space = Setting().space
    found = certify(statement, space, replace(attempt, place=None), lambda case: case)
    assert not found.proved
    assert "has no second evaluation" in found.says
    assert not found.rounding


def test_unknown_columns_prove_nothing() -> None:
    setting = Setting()

    def other(run: Any) -> Any:
        return lm.at_most(run.x if isinstance(run, lm.Evidence) else run.length, 0.35)

    found = proof(other, setting=setting)
    assert not found.proved
    assert found.says == "floating point alone: length is not known in ball arithmetic"
    assert setting.space.replayed == [1]


def test_comparisons_inside_a_statement_that_balls_cannot_decide() -> None:
    """Where x = 0 the bound is 9: with wide balls nobody knows where."""

    def chosen(run: Any) -> Any:
        return lm.at_most(run.x, np.where(run.x == 0, 9.0, 0.35))

    assert proof(chosen).proved
    assert not proof(chosen, setting=Setting(width=lambda bits: arb(2) ** -20)).proved

    def branched(run: Any) -> Any:
        return lm.at_most(run.x, 0.35 if run.x[0, 4] > 0.2 else 9.0)

    assert proof(branched).proved
    assert not proof(branched, setting=Setting(width=lambda bits: 0.3)).proved

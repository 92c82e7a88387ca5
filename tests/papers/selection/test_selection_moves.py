"""Moves in the space of plans, one by one: what is drawn, varied, shrunk, and held against what."""

import math
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from oracles.ends import Ends

from lemmata.papers.selection.setting import SETTING, OnlineChoices, Plan, Task
from lemmata.papers.selection.setting import _family as families
from lemmata.papers.selection.setting._extremes import (
    _plan,
    draw_near_theorem,
    draw_with_law,
    small_plans,
)
from lemmata.papers.selection.setting._family import (
    ADDING,
    FAMILIES,
    all_whole,
    dressed,
    encoded,
    family,
    independent,
)
from lemmata.papers.selection.setting._space import _fewer

SPACE = SETTING.space


def sizes_of(plan: Plan) -> tuple[int, int, int]:
    return plan.T, plan.q, plan.d


def one_hot(T: int, q: int, d: int, rate: float = 0.5, eps: float = 1e-3) -> Plan:
    return Plan("p", Task(T, q, d), rate, eps)


def given(E: Any, q: int, d: int = 1, rate: float = 0.5, eps: float = 1e-3) -> Plan:
    E = np.array(E, dtype=float)
    return Plan("p", Task(E.shape[1], q, d), rate, eps, len(E), encodings=E)


@pytest.mark.parametrize(
    ("sizes", "lengths", "subsets", "widths"),
    [
        ((40, 7, 9), (8, 20, 29, 39, 40), (1, 2, 3, 6, 7), (1, 4, 8, 9)),
        ((6, 3, 4), (3, 4, 5, 6), (1, 2, 3), (1, 2, 3, 4)),
        ((9, 2, 1), (3, 4, 8, 9), (1, 2), (1,)),
        ((2, 1, 1), (2,), (1,), (1,)),
    ],
)
def test_smaller_tasks_are_these(sizes, lengths, subsets, widths) -> None:
    """T goes to q + 1, 4q + 1, half and one less; q to 1, 2, half and one less; d likewise."""
    plan = one_hot(*sizes)
    found = [p for p in SPACE.simpler(plan) if p.task != plan.task]
    expected = {x for x in product(lengths, subsets, widths) if x[1] < x[0]} - {sizes}
    assert {sizes_of(p) for p in found} == expected
    for p in found:
        assert p.rate in (0.5, min(1.0, 1 / (20 * p.d**2)))
    usual = {sizes_of(p) for p in found if p.rate != 0.5}
    assert usual == {x for x in expected if x[2] < sizes[2]}


def test_numbers_become_rounder() -> None:
    plan = one_hot(6, 3, 4, 0.1234567, 0.0456)
    same = [p for p in SPACE.simpler(plan) if p.task == plan.task]
    rates = [p.rate for p in same if p.rate != plan.rate]
    assert rates == pytest.approx([1 / 320, 1.0, 0.5, 2.0, 0.1, 0.1, 0.12, 0.123], rel=1e-15)
    losses = [p.epsilon for p in same if p.epsilon != plan.epsilon]
    assert losses == pytest.approx([0.001, 0.1, 0.05, 0.046], rel=1e-15)
    assert sum(p.epsilon == plan.epsilon and p.rate == plan.rate for p in same) == 1
    assert {p.training for p in same} == {OnlineChoices()}


def test_encodings_lose_positions_coordinates_and_digits() -> None:
    E = np.arange(1.0, 13).reshape(3, 4)
    rows = [E[1:], E[[0, 2]], E[:2]]
    for T, expected in (
        (4, [E, *rows]),
        (2, [E[:, :2], *(row[:, :2] for row in rows)]),
        (3, [E[:, :3], E[:, 1:], E[:, [0, 2, 3]], E[:, [0, 1, 3]], *(row[:, :3] for row in rows)]),
    ):
        found = list(_fewer(E, T))
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    assert len(list(_fewer(E[:1], 4))) == 1
    assert [len(one) for one in _fewer(np.ones((16, 2)), 2)] == [16] + 16 * [15]
    tall = list(_fewer(np.ones((17, 2)), 2))
    assert [len(one) for one in tall] == [17, 8]
    np.testing.assert_allclose(tall[1], math.sqrt(17 / 8), rtol=1e-15)
    plan = given([[1.234, 0.0], [0.123, 0.768]], 1)
    shown = [p.encodings for p in SPACE.simpler(plan) if p.encodings is not None]
    rounded = ([[1, 0], [0, 1]], [[1.2, 0], [0.1, 0.8]], [[1.23, 0], [0.12, 0.77]])
    for matrix, one in zip(rounded, shown[-3:], strict=True):
        np.testing.assert_array_equal(one, matrix)


@pytest.mark.parametrize(
    ("plan", "size"),
    [
        (one_hot(6, 3, 4, 1 / 320), (0, 6, 3, 4, 0, 0, 0)),
        (one_hot(6, 3, 4, 0.25), (0, 6, 3, 4, 0, 4, 0)),
        (one_hot(6, 3, 4, 0.25, 0.125), (0, 6, 3, 4, 0, 9, 0)),
        (given([[1.0, 0.0], [0.0, -1.5]], 1, 2, 0.25), (1, 2, 1, 2, 2, 4 + 1 + 4, 0)),
        (Plan("p", Task(5, 2, 1), 9 / 200, 1e-3, 3), (1, 5, 2, 1, 3, 0, 0)),
        (
            Plan("p", Task(5, 2, 1), 0.05, 1e-3, training=OnlineChoices(samples=9, seed=3)),
            (0, 5, 2, 1, 0, 0, 2),
        ),
    ],
)
def test_the_size_of_a_plan_is_what_there_is_to_type(plan: Plan, size: tuple) -> None:
    assert SPACE.size(plan) == size


def test_changes_are_of_one_thing_each() -> None:
    plan = one_hot(64, 2, 3, 0.5, 0.02)
    found = dict(SPACE.changes(plan))
    assert len(found) == 6
    assert found["the loss to reach"].epsilon == 0.01
    assert found["x_query"].training == OnlineChoices(x_query="fixed")
    assert found["the step size by a factor of 2"].rate == 0.25
    assert found["the dimension d"].task == Task(64, 2, 4)
    assert found["one position more"].task == Task(65, 2, 3)
    units = found["whether the unit vectors are called one-hot or given"]
    assert (units.kind, units.d_e) == ("given", 64)
    np.testing.assert_array_equal(units.encodings, np.eye(64))
    assert len(dict(SPACE.changes(one_hot(65, 2, 3)))) == 5  # written out, these are too many
    assert len(dict(SPACE.changes(Plan("p", Task(9, 2, 3), 0.5, 0.02, 8)))) == 5
    assert len(dict(SPACE.changes(given(np.eye(4), 2)))) == 4
    asked = Plan("p", Task(9, 2, 3), 0.5, 0.02, training=OnlineChoices(x_query="random"))
    assert dict(SPACE.changes(asked))["x_query"].training == OnlineChoices()


def test_positions_and_coordinates_in_another_order() -> None:
    first, second = SPACE.equivalents(given([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 1))
    np.testing.assert_array_equal(first.encodings, [[3, 2, 1], [6, 5, 4]])
    np.testing.assert_array_equal(second.encodings, [[-4, -5, -6], [-1, -2, -3]])


def test_trainings_are_short_long_and_watched() -> None:
    found = SPACE.trainings()
    assert [training.get("steps") for training in found] == [None, 10, 60, 1_000, None, 100_000]
    records = [training["record"] for training in found if "record" in training]
    assert records == [tuple(range(61)), tuple(range(6))]


@pytest.mark.parametrize(
    ("high", "sizes", "rate"), [(False, (2, 1, 1), 0.001), (True, (124, 4, 31), 31.6)]
)
def test_drawn_plans_reach_from_small_to_large(high: bool, sizes: tuple, rate: float) -> None:
    """T - q is up to 30 q, d up to 10^1.5, and half of the rates are at most the usual one."""
    plan = SPACE.draw(Ends(high, [0.2, 0.5, 0.25]))
    assert (plan.name, sizes_of(plan), plan.rate) == ("drawn", sizes, rate)
    assert (plan.kind, plan.epsilon) == ("one-hot", 1e-3)
    plan = SPACE.draw(Ends(high, [0.2, 0.49, 0.25]))
    usual = {1: 0.001, 31: float(f"{1 / (20 * 961):.2e}")}[plan.d]
    assert plan.rate == usual
    assert SPACE.draw(Ends(high, [0.1])).kind == "random"
    assert SPACE.draw(Ends(high, [0.19])).kind == "random"
    assert SPACE.draw(Ends(high, [0.09])).kind == "given"
    if not high:
        assert SPACE.draw(Ends(high, [0.2, 0.5, 0.24])).kind == "given"


@pytest.mark.parametrize(
    ("high", "sizes", "d_e", "shares"),
    [(False, (9, 2, 1), 16, (0.1, 10**-1.5)), (True, (64, 4, 3), 256, (1.0, 10**-0.05))],
)
def test_plans_are_drawn_within_theorem_33(
    high: bool, sizes: tuple, d_e: int, shares: tuple
) -> None:
    plan, (T, q, d) = draw_near_theorem(Ends(high)), sizes
    assert (sizes_of(plan), plan.d_e) == (sizes, d_e)
    assert plan.rate == pytest.approx(shares[0] * d_e**2 / (40 * d**2 * T), rel=1e-14)
    assert plan.epsilon == pytest.approx(shares[1] * d * T / (100 * (T - q) * q), rel=1e-14)
    np.testing.assert_allclose(plan.encodings.T @ plan.encodings, np.eye(T), atol=1e-14)


@pytest.mark.parametrize(
    ("high", "sizes", "d_e", "threshold", "rate"),
    [(False, (2, 1, 1), 2, 0.3, 0.01), (True, (4, 3, 3), 4, 0.7, 10.0)],
)
def test_few_random_signs_are_drawn_with_their_law(high, sizes, d_e, threshold, rate) -> None:
    plan = draw_with_law(Ends(high))
    assert (sizes_of(plan), plan.d_e, plan.threshold) == (sizes, d_e, threshold)
    assert (plan.kind, plan.rate, plan.epsilon) == ("random", pytest.approx(rate), 1e-3)


def test_a_plan_varies_in_one_thing() -> None:
    plan = one_hot(20, 5, 10, 0.5, 0.01)

    def varied(word: str, high: bool, *words: Any, of: Plan = plan) -> Plan:
        return SPACE.vary(of, Ends(high, [0.3, 0.3], [word, *words]))

    assert [varied("eta", high).rate for high in (False, True)] == [0.199, 1.26]
    for deviation, ends in ((0.01, (0.00977, 0.0102)), (1.0, (0.001, 0.1))):
        assert tuple(varied("eps", high, deviation).epsilon for high in (False, True)) == ends
    choices = [varied("query", high).training.x_query for high in (False, True)]
    assert choices == ["zero", "random"]
    # by a factor of 10^-0.2 = 0.63 or 10^0.2 = 1.58, and one less or one more
    for what, ends in (("T", (12, 33)), ("q", (2, 9)), ("d", (5, 17))):
        for high, size in zip((False, True), ends, strict=True):
            assert sizes_of(varied(what, high)) == sizes_of(_with(plan, **{what: size}))
    assert varied("T", False, of=one_hot(2, 1, 1)).T == 2
    assert varied("q", True, of=one_hot(4, 3, 1)).q == 3
    assert varied("d", False, of=one_hot(4, 3, 1)).d == 1
    own = given(np.eye(4), 2)
    assert varied("d", True, of=given(np.eye(4), 2, 3)).encodings is not None
    moved = varied("encodings", False, of=own).encodings
    away = np.abs(moved - np.eye(4))
    assert 0 < away.max() < 0.005  # 10^-3 times a normal number
    np.testing.assert_array_equal(moved, np.round(moved, 3))


def _with(plan: Plan, **sizes: int) -> Plan:
    return one_hot(*({"T": plan.T, "q": plan.q, "d": plan.d} | sizes).values())


def test_families_are_what_they_say() -> None:
    """Four positions in three or five dimensions; what is drawn comes from the ends."""
    low, units, a = Ends(False), np.eye(5)[:, :4], (10, 49, 51)
    last = units.copy()
    last[:, 3] = [a[0] / a[2], a[0] / a[2], 0.0, a[1] / a[2], 0.0]
    near, four = units.copy(), units.copy()
    near[:, 3], four[:, 3] = [1.0, 1.0, 0.0, 0.1, 0.0], [4.0, 4.0, 0.0, 0.1, 0.0]
    line = [[1, 2, 3, 4], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    for kind, expected in (
        ("scaled", 0.1 * units),
        ("close", 1.0 + 0.1 * units),
        ("opposed", units - 0.225),
        ("parallel", np.array(line, dtype=float)),
        ("dependent", near),
        ("misleading", four),
        ("adding", last),
        ("signs", np.full((5, 4), -1 / math.sqrt(5))),
    ):
        np.testing.assert_allclose(family(kind, 4, 5, low), expected, rtol=1e-15, err_msg=kind)
    for kind, factor in (("scaled", 10.0), ("close", 1.0)):
        found = family(kind, 4, 3, Ends(True))
        np.testing.assert_array_equal(found, factor * np.eye(4) + (kind == "close"))
    np.testing.assert_allclose(
        family("adding", 3, 3, Ends(True))[:, 2], np.array([40, 40, 799]) / 801, rtol=1e-15
    )
    assert all(2 * a**2 + b**2 == c**2 for a, b, c in ADDING)
    for T, d_e, rows in ((4, 4, 4), (4, 5, 8), (5, 2, 8), (2, 1, 2)):
        E = family("orthogonal", T, d_e, low)
        assert E.shape == (rows, T)
        np.testing.assert_allclose(E.T @ E, np.eye(T), atol=1e-15)
        assert set(np.abs(E).ravel()) == {1 / math.sqrt(rows)}
    for kind in ("dependent", "misleading", "adding"):
        assert family(kind, 2, 4, low) is None
        assert family(kind, 3, 3, low) is not None
    assert family("parallel", 3, 1, low).shape == (2, 3)
    gaussian = family("gaussian", 6, 9, np.random.default_rng(0))
    assert gaussian.shape == (9, 6)
    np.testing.assert_array_equal(gaussian, np.round(gaussian, 2))
    for high, size in ((False, 0.005), (True, 0.05)):
        noise = family("tilted", 60, 60, Ends(high)) - np.eye(60)
        assert noise.std() == pytest.approx(size, rel=0.05)
        np.testing.assert_allclose(noise, np.round(noise, 3), atol=1e-15)


def test_what_is_independent(monkeypatch) -> None:
    zero, same, signed = ([[1.0, 0], [0, 0]], [[1.0, 1], [2, 2]], [[1.0, 1], [0.0, -0.0]])
    for E in (zero, same, signed):
        assert not independent(np.array(E), Task(2, 1, 1))
    slanted = np.eye(5) + 0.1
    monkeypatch.setattr(families, "MOST_SUBSETS", 10)
    assert independent(slanted, Task(5, 2, 1))
    monkeypatch.setattr(families, "MOST_SUBSETS", 9)
    assert not independent(slanted, Task(5, 2, 1))
    assert independent(np.eye(5), Task(5, 2, 1))  # one need not look


@pytest.mark.parametrize(("q", "d_e", "fits"), [(2, 2, True), (3, 3, True), (3, 2, False)])
def test_a_subset_has_no_more_positions_than_dimensions(q: int, d_e: int, fits: bool) -> None:
    E = np.random.default_rng(4).standard_normal((d_e, 4))
    plan = encoded(one_hot(4, q, 1), E)
    assert (plan is not None) == fits
    assert encoded(one_hot(5, q, 1), E) is None


def test_twelve_positions_are_dressed_and_thirteen_are_not() -> None:
    # up to two dimensions more than positions, or one less
    found = dressed(one_hot(12, 2, 1), "signs", np.random.default_rng(8))
    assert found is None or 11 <= found.d_e <= 14
    assert dressed(one_hot(12, 2, 1), "scaled", Ends(True)).d_e == 14
    assert dressed(one_hot(12, 2, 1), "scaled", Ends(False)).d_e == 12
    assert dressed(one_hot(12, 2, 1), "gaussian", Ends(False)).d_e == 11
    assert dressed(one_hot(13, 2, 1), "scaled", Ends(True)) is None


def rates_of(q: int, d: int) -> dict[str, float]:
    usual = min(1.0, 1 / (20 * d**2))
    return {"usual": usual, "q/2": q / 2, "1.9q": 1.9 * q, "2.1q": 2.1 * q}


def share_of(word: int | str, T: int) -> int:
    """The largest q below T/4, counted up from 1."""
    if word == "T-1":
        return T - 1
    return max([q for q in range(1, T) if 4 * q < T], default=1) if word == "T/4" else int(word)


def test_extremes_of_one_hot_plans_are_all_pairs() -> None:
    """Plain loops over the same words."""
    words: dict[str, Sequence[Any]] = {
        "T": (2, 3, 4, 9, 33, 200, 5_000, 100_000),
        "q": (1, 2, 3, 8, 30, "T/4", "T-1"),
        "d": (1, 2, 5, 30, 1_000, 100_000, "T", "10T"),
        "eta": (1e-6, 1e-3, 0.05, 0.3, 1.0, 3.0, 10.0, 1e3, "usual", "q/2", "1.9q", "2.1q"),
        "eps": (1e-12, 1e-6, 0.1, 1e3, "largest"),
    }
    usual = ((3, 1, 1, 1.0, 1e-3), (9, 2, 1, "usual", 1e-3), (40, 3, 5, "usual", 1e-3))
    expected = set()
    for base, (first, second) in product(usual, combinations(words, 2)):
        for a, b in product(words[first], words[second]):
            said = dict(zip(words, base, strict=True)) | {first: a, second: b}
            T, d, q = said["T"], said["d"], share_of(said["q"], said["T"])
            d = {"T": T, "10T": 10 * T}[d] if isinstance(d, str) else d
            if q < T:
                eta, eps = said["eta"], said["eps"]
                eta = rates_of(q, d)[eta] if isinstance(eta, str) else eta
                eps = 0.999 * d * T / (100 * (T - q) * q) if eps == "largest" else eps
                expected.add((T, q, d, f"{eta:.12g}", f"{eps:.12g}"))
    plans = [plan for plan in SPACE.extremes() if plan.name.startswith("extreme")]
    found = [(*sizes_of(p), f"{p.rate:.12g}", f"{p.epsilon:.12g}") for p in plans]
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert [plan.name for plan in plans] == [f"extreme {n + 1}" for n in range(len(plans))]


def test_extremes_with_orthogonal_signs_are_within_theorem_33() -> None:
    expected = []
    for T, q, d, d_e in (
        *((9, 2, 1, 16), (9, 2, 1, 64), (9, 2, 1, 256)),
        *((13, 3, 2, 256), (256, 2, 1, 256)),
    ):
        most, loss = d_e**2 / (40 * d**2 * T), d * T / (100 * (T - q) * q)
        for even in (True, False):
            rates = {most, most / 10, q / 2, 1.9 * q, 2.1 * q, 3.0 * q}
            for rate, share in product(rates, (0.9, 0.01)):
                if rate <= most and (even or T <= 100):
                    expected.append((T, q, d, d_e, even, f"{rate:.9g}", f"{share * loss:.9g}"))
    found = []
    for plan in SPACE.extremes():
        if "orthogonal T" in plan.name:
            gram = plan.encodings.T @ plan.encodings
            even = not plan.name.startswith("nearly")
            np.testing.assert_allclose(np.diag(gram), 1.0, rtol=1e-14)
            largest = np.abs(gram - np.diag(np.diag(gram))).max()
            assert largest == pytest.approx(0.0 if even else 40 / 801, abs=1e-14)
            numbers = f"{plan.rate:.9g}", f"{plan.epsilon:.9g}"
            found.append((*sizes_of(plan), plan.d_e, even, *numbers))
    assert sorted(found) == sorted(expected)


def test_extremes_with_other_encodings() -> None:
    plans = list(SPACE.extremes())
    laws = [plan for plan in plans if plan.kind == "random"]
    assert [(*sizes_of(p), p.d_e, p.threshold) for p in laws] == [
        *((2, 1, 1, 2, 0.5), (2, 1, 2, 3, 0.5), (3, 1, 2, 4, 0.5), (3, 2, 1, 4, 0.5)),
        *((4, 2, 3, 4, 0.5), (3, 2, 2, 3, 0.5), (3, 1, 1, 5, 0.7), (4, 1, 1, 4, 0.5)),
        *((3, 2, 1, 6, 0.4), (4, 2, 1, 5, 0.3), (6, 2, 1, 64, 0.5), (9, 2, 1, 64, 0.5)),
        (20, 3, 1, 40, 0.3),
    ]
    for p in laws:
        assert p.rate == pytest.approx(min(1.0, p.d_e**2 / (40 * p.d**2 * p.T)), rel=1e-15)
    dressed_ones = [p for p in plans if p.kind == "given" and "orthogonal T" not in p.name]
    assert {sizes_of(p) for p in dressed_ones} == {(3, 1, 1), (4, 2, 1), (9, 2, 1), (9, 2, 5)}
    assert {p.name.split()[0] for p in dressed_ones} == set(FAMILIES)
    for p in dressed_ones:
        odd = int(p.name.split()[1]) % 2
        small = min(1 / (20 * p.d**2), 1.0, p.d_e**2 / (40 * p.d**2 * p.T))
        assert p.rate == pytest.approx(1.0 if odd else small, rel=1e-15)
        assert max(p.q, p.T - 1) <= p.d_e or p.name.startswith(("signs", "gaussian"))


@pytest.mark.parametrize(
    ("T", "q", "eta", "d", "expected"),
    [
        (9, "T/4", "2.1q", 1, (2, 4.2)),
        (8, "T/4", "1.9q", 1, (1, 1.9)),
        (5, "T-1", "q/2", 3, (4, 2.0)),
        (5, 4, "usual", 3, (4, 1 / 180)),
        (5, 5, "usual", 3, None),
        (4, "T/4", 3.0, 3, (1, 3.0)),
        (2, "T-1", "usual", 1, (1, 0.05)),
    ],
)
def test_words_of_extremes_are_numbers(T, q, eta, d, expected) -> None:
    plan = _plan({"T": T, "q": q, "d": d, "eta": eta, "eps": 0.1})
    assert (plan and (plan.q, pytest.approx(plan.rate))) == expected
    largest = _plan({"T": T, "q": 1, "d": d, "eta": 1.0, "eps": "largest"})
    assert largest.epsilon == pytest.approx(0.999 * d * T / (100 * (T - 1)), rel=1e-14)


def test_small_plans_are_counted() -> None:
    """Tasks with T <= 3, q <= 2, d <= 2; eta on a grid of 12 that holds 1/20, which d = 1 asks."""
    scopes = small_plans(3, 2, 2)
    plain, signs, orthogonal, *whole = [list(scope.instances()) for scope in scopes]
    assert len(plain) == 3 * (12 + 13)
    grid = sorted({plan.rate for plan in plain if plan.d == 1})
    assert grid == [0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 100.0]
    assert {plan.rate for plan in plain if plan.d == 2} - set(grid) == {1 / 80}
    sizes = [(2, 1, d_e) for d_e in (2, 3, 4)]
    sizes += [(3, q, d_e) for d_e in range(2, 10) for q in (1, 2)]
    assert {(p.T, p.q, p.d_e) for p in signs} <= set(sizes)
    assert {(p.T, p.d_e) for p in signs} == {(T, d_e) for T, _, d_e in sizes}
    assert all(p.rate == min(1.0, p.d_e**2 / (40 * p.T)) for p in signs)
    assert len(orthogonal) == 3 * 2 * (3 + 3)  # within four dimensions, and within sixteen
    for d_e, plans in enumerate(whole, start=1):
        tasks = [(T, q, d) for T, q in ((2, 1), (3, 1), (3, 2)) if q <= d_e for d in (1, 2)]
        known = [E for T in (2, 3) for E in all_whole(T, d_e) if d_e < 3]
        assert {sizes_of(p) for p in plans} <= set(tasks)
        expected = [independent(E, Task(*x)) for x in tasks for E in known if E.shape[1] == x[0]]
        assert len(plans) == 3 * sum(expected) or d_e == 3
    for plans in (orthogonal, *whole):
        assert {plan.rate for plan in plans} == {0.05, 0.5, 2.0}
    assert {(p.T, p.d_e) for p in small_plans(6, 1, 1)[2].instances()} == {
        *((T, 4) for T in (2, 3, 4)),
        *((T, 16) for T in (2, 3, 4, 5, 6)),
    }
    assert {p.T for p in small_plans(6, 1, 1)[4].instances()} == {2, 3, 4}
    assert {p.T for p in SPACE.scopes({})[0].instances()} == set(range(2, 13))

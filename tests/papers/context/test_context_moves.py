"""Moves in the space of plans, one by one: what is drawn, varied, shrunk, and held against what."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from oracles.ends import Ends

from lemmata.papers.context.setting import SETTING, Plan, Task
from lemmata.papers.context.setting import _parts as parts
from lemmata.papers.context.setting import _space as space

SPACE = SETTING.space
EPS = 2.0**-52
SLANT = (0.6, 0.8)


def plan_of(tokens: Any, features: Any, N: int, heads: int = 2, tau: float = 0.1, **more) -> Plan:
    task = Task(np.array(tokens, dtype=float), np.array(features, dtype=float), N, tau, "p")
    return Plan(task, heads, **more)


def wide(N: int = 3, heads: int = 5, unit: bool = True) -> Plan:
    """Five tokens in two dimensions, two tasks."""
    tokens = np.array([[1.0, 0.0, 0.6, -0.8, -0.6], [0.0, 1.0, 0.8, 0.6, 0.8]])
    features = np.arange(10.0).reshape(2, 5) / 8 + 1.26
    return plan_of(tokens if unit else 2 * tokens, features, N, heads, 0.1234, scale=0.3456)


def numbers(plan: Plan) -> tuple:
    task = plan.task
    return task.N, task.K, task.d, task.m, plan.heads, task.tau, plan.scale, plan.seed


@pytest.mark.parametrize(
    ("high", "coins", "expected"),
    [
        (False, (0.79, 0.2), (1, 2, 1, 1, 1, 1e-4, 0.1, 0)),
        (True, (0.8, 0.19), (3, 6, 3, 16, 4, 10.0, 10.0, 99)),
    ],
)
def test_drawn_plans_reach_from_small_to_large(high: bool, coins: tuple, expected: tuple) -> None:
    plan = SPACE.draw(Ends(high, coins))
    assert numbers(plan) == expected
    stream = np.random.default_rng(2**31 - 1 if high else 0)
    if high:  # Gaussian tokens and representations across (1, ..., 1), both ten times as large
        tokens = 10 * stream.standard_normal((3, 6))
        features = stream.standard_normal((16, 6))
        features = 100 * (features - features.mean(axis=0))
        features[:, 0] = 10.0
    else:
        tokens = stream.standard_normal((1, 2))
        tokens, features = tokens / np.abs(tokens), 0.1 * stream.standard_normal((1, 2))
    np.testing.assert_allclose(plan.task.tokens, tokens, rtol=1e-14)
    np.testing.assert_allclose(plan.task.representations, features, rtol=1e-14)


def test_drawn_plans_may_lack_one_head() -> None:
    generator = np.random.default_rng(0)
    drawn = [SPACE.draw(generator) for _ in range(200)]
    heads = {N: {p.heads for p in drawn if p.task.N == N} for N in (1, 2, 3)}
    assert heads == {1: {1, 2, 3, 4}, 2: {1, 2, 3, 4}, 3: {2, 3, 4}}
    assert space._mostly_first(5) == [0.5] + 4 * [0.125]


def test_a_plan_varies_in_one_thing() -> None:
    plan = wide()

    def varied(how: int, high: bool, of: Plan = plan, *wholes: int) -> Plan:
        return SPACE.vary(of, Ends(high, wholes=[how, *wholes]))

    assert [varied(0, high).task.tau for high in (False, True)] == [0.039, 0.39]
    assert [varied(1, high).seed for high in (False, True)] == [0, 999]
    for heads, ends in ((1, (1, 2)), (5, (4, 10)), (40, (39, 80)), (50, (49, 80)), (80, (79, 80))):
        found = [varied(2, high, replace(plan, heads=heads)).heads for high in (False, True)]
        assert tuple(found) == ends
    assert [varied(3, high).scale for high in (False, True)] == [0.11, 1.1]
    assert varied(4, False, plan, 0).task.N == 2
    idle = plan_of([[1.0, 0.5]], [[1.0, 2.0]], 1, 1)
    assert varied(4, False, idle) is idle
    for high, step in ((False, 0.01), (True, 1.0)):
        moved = varied(5, high).task.representations - plan.task.representations
        largest = 9 / 8 + 1.26
        np.testing.assert_allclose(
            moved, step * largest * np.random.default_rng(0).standard_normal((2, 5)), rtol=1e-9
        )
        away = step * np.random.default_rng(0).standard_normal((2, 5))
        free = wide(unit=False)
        np.testing.assert_allclose(
            varied(6, high, free).task.tokens, free.task.tokens + away, rtol=1e-12
        )
        kept = plan.task.tokens + away
        kept /= np.sqrt((kept**2).sum(axis=0))
        np.testing.assert_allclose(varied(6, high).task.tokens, kept, rtol=1e-12)
    zero = plan_of([[1.0, 0.5]], [[0.0, 0.0]], 1)
    assert 0 < np.abs(varied(5, True, zero).task.representations).max() < 1e-8


def test_far_fewer_tokens() -> None:
    """The first one or two of three examples and the last query, with as few heads."""
    plan = wide()
    tokens, features = plan.task.tokens, plan.task.representations
    expected = []
    for few, kept in ((1, [0, 4]), (2, [0, 1, 4])):
        for d, m in ((few, 1), (few, 2), (2, 2)):
            expected.append((few, few + 2, tokens[:d, kept], features[:m, kept]))
    for unit in (True, False):
        found = list(space._far_fewer(wide(unit=unit)))
        assert len(found) == 6
        for one, (N, heads, rows, labels) in zip(found, expected, strict=True):
            assert (one.task.N, one.heads) == (N, heads)
            if unit:
                rows = rows / np.sqrt((rows**2).sum(axis=0))
            np.testing.assert_allclose(one.task.tokens, rows if unit else 2 * rows, rtol=1e-15)
            np.testing.assert_array_equal(one.task.representations, labels)
    flat = plan_of([[1, 0, 0.6], [0, 1, 0.8]], [[1, 2, 3]], 2)
    assert [p.task.N for p in space._far_fewer(flat)] == [1, 1, 1]
    unseen = plan_of([[0, 1, 0.6], [1, 0, 0.8]], [[1, 2, 3]], 2, 1)
    first = next(space._far_fewer(unseen))  # without its second coordinate the first is 0
    np.testing.assert_array_equal(first.task.tokens, [[0.0, 0.6]])
    assert first.heads == 1
    assert not list(space._far_fewer(plan_of(np.eye(3), np.ones((1, 3)), 3)))
    assert not list(space._far_fewer(plan_of(np.eye(3), np.ones((1, 3)), 1)))


def sizes_of(plans: Any) -> list[tuple]:
    return [(p.task.N, p.task.K, p.heads, p.task.d, p.task.m) for p in plans]


def test_one_thing_fewer() -> None:
    found = list(space._fewer(wide()))
    assert sizes_of(found) == [
        *[(2, 4, 5, 2, 2)] * 3,
        *[(3, 4, 5, 2, 2)] * 2,
        *[(3, 5, 2, 2, 2), (3, 5, 4, 2, 2)],
        *[(3, 5, 5, 1, 2)] * 2,
        *[(3, 5, 5, 2, 1)] * 2,
    ]
    tokens, features = wide().task.tokens, wide().task.representations
    for k in range(5):
        kept = [i for i in range(5) if i != k]
        np.testing.assert_array_equal(found[k].task.tokens, tokens[:, kept])
        np.testing.assert_array_equal(found[k].task.representations, features[:, kept])
    np.testing.assert_array_equal(found[7].task.tokens, tokens[1:])  # one would be 0
    np.testing.assert_array_equal(found[8].task.tokens, tokens[:1])
    np.testing.assert_array_equal(found[9].task.representations, features[1:])
    slanted = plan_of([[0.6, 0.8], [0.8, 0.6]], [[1.0, 2.0]], 1)
    (first, second) = list(space._fewer(slanted))[1:]
    np.testing.assert_allclose(first.task.tokens, [[1.0, 1.0]])
    np.testing.assert_allclose(second.task.tokens, [[1.0, 1.0]])
    for heads, less in ((1, []), (2, [1]), (3, [2]), (4, [2, 3]), (9, [4, 8])):
        plan = plan_of([[1.0, 0.5]], [[1.0, 2.0]], 1, heads)
        assert [p.heads for p in space._fewer(plan)] == less
    few = plan_of([[1.0, 0.5, 0.2]], [[1.0, 2.0, 3.0]], 1, 1)
    assert sizes_of(space._fewer(few)) == [(1, 2, 1, 1, 1)] * 2
    few = plan_of([[1.0, 0.5, 0.2]], [[1.0, 2.0, 3.0]], 2, 1)
    assert sizes_of(space._fewer(few)) == [(1, 2, 1, 1, 1)] * 2
    few = plan_of([[1.0, 0.5, 0.2]], [[1.0, 2.0, 3.0]], 3, 1)
    assert sizes_of(space._fewer(few)) == []


def test_rounder_numbers() -> None:
    found = list(space._plainer(wide()))
    assert [(p.seed, p.scale) for p in found[:4]] == [
        *((0, 0.3456), (1, 0.3456), (1, 1.0), (1, 0.35)),
    ]
    assert [p.task.tau for p in found[4:8]] == [1.0, 0.1, 0.01, 0.12]
    assert len(found) == 8 + 6 * 6  # five kinds of representations and one of tokens
    features = wide().task.representations
    for column, start in ((slice(None), 8), (slice(0, 1), 14), (slice(4, 5), 38)):
        digits = [lambda x, n=n: float(f"{x:.{n}e}") for n in (0, 1)]
        kinds = (lambda x: 0.0, lambda x: 1.0, lambda x: float(round(x)), *digits)
        for kind, one in zip(kinds, found[start : start + 5], strict=True):
            expected = features.copy()
            expected[:, column] = [[kind(x) for x in row] for row in features[:, column]]
            np.testing.assert_array_equal(one.task.representations, expected)
            np.testing.assert_array_equal(one.task.tokens, wide().task.tokens)
    np.testing.assert_array_equal(found[13].task.representations, features)
    kinds = [list(SPACE.simpler(wide())), *(f(wide()) for f in (space._far_fewer, space._fewer))]
    assert len(kinds[0]) == 6 + 11 + len(found) == sum(len(list(k)) for k in kinds[1:]) + 44


def test_tokens_snap_to_plain_ones() -> None:
    assert parts.plain_tokens(1) == [(1.0,), (-1.0,)]
    assert parts.plain_tokens(2) == [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), SLANT]
    assert parts.plain_tokens(3)[3:] == [(-1.0, 0.0, 0.0), (*SLANT, 0.0)]
    assert parts.plain_features(1) == [(1.0,), (-1.0,), (2.0,)]
    assert parts.plain_features(2) == [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
    angles = np.radians([10, 40, 75, 100, 170, 230, 280, 350])
    tokens = np.array([np.cos(angles), np.sin(angles)])
    nearest = [(1, 0), SLANT, (0, 1), (0, 1), (-1, 0), (-0.6, -0.8), (0, -1), (1, 0)]
    np.testing.assert_array_equal(parts.snapped(tokens, None), np.array(nearest).T)
    one = parts.snapped(tokens, 2)
    np.testing.assert_array_equal(one[:, 2], [0.0, 1.0])
    rest = [0, 1, 3, 4, 5, 6, 7]
    np.testing.assert_array_equal(one[:, rest], tokens[:, rest])
    free = np.array([[2.04, 0.96], [-0.02, 0.28]])
    np.testing.assert_array_equal(parts.snapped(free, 0), [[2.0, 0.96], [0.0, 0.28]])
    assert not np.signbit(parts.snapped(free, 0)[1, 0])
    assert [parts.is_unit(np.array([[1 + x]])) for x in (9e-10, -9e-10, 2e-9)] == [1, 1, 0]


def test_geometries_of_tokens() -> None:
    random = np.random.default_rng(3).standard_normal((2, 5))

    def unit(vectors: np.ndarray) -> np.ndarray:
        return vectors / np.sqrt((vectors**2).sum(axis=0))

    pairs = random.copy()
    pairs[:, 1], pairs[:, 3] = -pairs[:, 0], -pairs[:, 2]
    for kind, expected in {
        "unit": unit(random),
        "one-hot": [[1, 0, -1, 0, -1], [0, 1, 0, -1, 0]],
        "close": unit(random[:, :1] + 1e-3 * random),
        "opposite": unit(pairs),
        "gaussian": random,
    }.items():
        found = parts._tokens(kind, 2, 5, np.random.default_rng(3))
        np.testing.assert_allclose(found, expected, rtol=1e-14, err_msg=kind)
    assert tuple(parts.TOKENS) == ("unit", "one-hot", "close", "opposite", "gaussian")
    even = parts._tokens("opposite", 2, 4, np.random.default_rng(3))
    np.testing.assert_allclose(even[:, 1::2], -even[:, ::2])


def test_geometries_of_representations() -> None:
    random, tokens = np.random.default_rng(3).standard_normal((2, 5)), wide(unit=False).task.tokens
    for kind, expected in {
        "gaussian": random,
        "orthogonal": [[1, 0, 1, 0, 1], [0, 1, 0, 1, 0]],
        "close": random[:, :1] + 1e-3 * random,
        "equal": np.outer(random[:, 0], np.ones(5)),
        "tokens": tokens / 2,
        "across": np.column_stack([np.ones(2), 5 * (random - random[::-1])[:, 1:]]),
    }.items():
        found = parts._features(kind, 2, tokens, np.random.default_rng(3))
        np.testing.assert_allclose(found, expected, rtol=1e-14, err_msg=kind)
    usual = parts.Parts(N=4, K=3, token_scale=10.0, scale=3.0).plan("p", 5)
    assert (usual.task.K, usual.task.N, usual.name) == (5, 4, "p")
    np.testing.assert_allclose(usual.task.norms, 10.0)
    stream = np.random.default_rng(5)
    stream.standard_normal((2, 5))
    features = 3.0 * stream.standard_normal((2, 5))
    np.testing.assert_allclose(usual.task.representations, features, rtol=1e-14)
    assert numbers(parts.Parts().plan("p", 5)) == (2, 4, 2, 2, 2, 0.1, 1.0, 1)


@pytest.mark.parametrize(
    ("plan", "size"),
    [
        (plan_of(np.eye(2), [[1.0, 2.5]], 1), (1 + 2 + 2 + 1 + 2, 6 + 6 + 9)),
        (plan_of([[1.0, -0.25]], [[0.0, 2.5]], 1, 7), (1 + 2 + 1 + 1 + 7, 8 + 3 + 9)),
        (plan_of(np.eye(2), np.eye(2), 1, tau=0.0, scale=0.125, seed=0), (9, 6 + 6 + 5)),
        (plan_of(np.eye(2), np.eye(2), 2, seed=31), (10, 6 + 6 + 6 + 4)),
    ],
)
def test_the_size_of_a_plan_is_what_there_is_to_type(plan: Plan, size: tuple) -> None:
    assert SPACE.size(plan) == size


def test_changes_are_of_one_thing_each() -> None:
    plan = wide()
    found = dict(SPACE.changes(plan))
    usual = (3, 5, 2, 2, 5, 0.1234, 0.3456, 1)
    for name, place, value in (
        ("the seed of Q", 7, 2),
        ("the size of Q", 6, 0.6912),
        ("the noise", 5, 0.2468),
        ("the number of heads", 4, 6),
        ("the size of the representations", 0, 3),
    ):
        assert numbers(found[name]) == (*usual[:place], value, *usual[place + 1 :])
        times = 10 if place == 0 else 1
        features = times * plan.task.representations
        np.testing.assert_array_equal(found[name].task.representations, features)
    assert len(found) == 5


def test_tasks_and_tokens_in_the_opposite_order() -> None:
    plan = wide()
    first, second = SPACE.equivalents(plan)
    np.testing.assert_array_equal(first.task.tokens, plan.task.tokens)
    np.testing.assert_array_equal(first.task.representations, plan.task.representations[[1, 0]])
    order = [2, 1, 0, 4, 3]
    np.testing.assert_array_equal(second.task.tokens, plan.task.tokens[:, order])
    features = plan.task.representations[:, order]
    np.testing.assert_array_equal(second.task.representations, features)
    assert numbers(first) == numbers(second) == numbers(plan)


def test_doubt_is_the_conditioning_of_what_is_solved() -> None:
    """The squares of Z-bar are the eigenvalues of Z'Z + m tau: here 9 + 0.2 and 0.2."""
    tokens = np.eye(3)
    plan = plan_of(tokens, [[3.0, 0.0, 1.0], [0.0, 0.0, 1.0]], 2, 1, 0.1)
    assert SPACE.doubt(plan) == pytest.approx(EPS * np.sqrt(9.2 / 0.2))
    enough = replace(plan, heads=2)
    worst = max(np.linalg.cond(_scored(enough, k)) for k in range(3))
    assert worst > np.sqrt(9.2 / 0.2)
    assert SPACE.doubt(enough) == pytest.approx(EPS * worst, rel=1e-6)
    silent = plan_of(tokens, [[3.0, 0.0, 1.0]], 2, 1, 0.0)
    assert SPACE.doubt(silent) == EPS  # what is singular has no conditioning
    tiny = plan_of(tokens, [[1e9, 0.0, 1.0]], 2, 1, 1e-30)
    assert SPACE.doubt(tiny) == 1.0


def _scored(plan: Plan, k: int) -> np.ndarray:
    """B_k = Z-bar C_k, with the attention of each head from token k at the examples."""
    task, Q = plan.task, np.asarray(plan.start.Q)
    logits = np.array([task.prompt.T @ Q[:, h] @ task.tokens[:, k] for h in range(plan.heads)])
    scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(task.Z.T @ task.Z + task.ridge * np.eye(task.N))
    return (vectors * np.sqrt(values)) @ vectors.T @ scores.T


def test_trainings_are_slow_fast_and_long() -> None:
    found = list(SPACE.trainings())
    rates = [{"rate": rate} for rate in (1e-3, 0.1, 1.0, 10.0, 100.0)]
    assert found == [{}, *rates, {"steps": 10}, {"steps": 100_000}]


def test_extremes_are_all_pairs() -> None:
    known: dict[str, tuple] = {
        "tau": (0.0, 1e-9, 1e-4, 10.0, 1e4),
        "H": (1, 3, 4, 40),
        "N": (1, 3),
        "K": (3, 8),
        "d": (1, 4),
        "m": (1, 6, 16),
        "tokens": ("one-hot", "close", "opposite", "gaussian"),
        "representations": ("orthogonal", "close", "equal", "zero queries", "tokens", "across"),
        "token_scale": (1e-4, 0.1, 3.0, 10.0, 1e4),
        "scale": (1e-4, 1e4),
        "query_scale": (1e-4, 1e4),
        "beta": (1e-4, 0.1, 10.0, 1e3),
        "seed": (2, 3),
    }
    words = [f"{name}={value}" for name, values in known.items() for value in values]
    pairs = [f"{a} {b}" for a, b in combinations(words, 2) if a.split("=")[0] != b.split("=")[0]]
    plans = list(SPACE.extremes())
    names = [f"extreme {n}: {says}" for n, says in enumerate(["none", *words, *pairs], start=1)]
    assert [plan.name for plan in plans] == names
    usual = {"tau": 0.1, "H": 2, "N": 2, "K": 4, "d": 2, "m": 2, "beta": 1.0, "seed": 1}
    for plan in plans[: len(words) + 1]:
        name, _, value = plan.name.split(": ")[1].partition("=")
        said = usual | ({name: type(usual[name])(value)} if name in usual else {})
        task = plan.task
        found = {k: getattr(task, k) for k in ("tau", "N", "K", "d", "m")}
        found |= {"H": plan.heads, "beta": plan.scale, "seed": plan.seed}
        assert found == said


def test_dictionaries_of_plain_tokens() -> None:
    """Of four tokens two for the prompt and one of the others, in their order."""
    found = list(space._dictionaries([(1.0,), (2.0,), (3.0,), (4.0,)], 2, 3))
    assert len(found) == len(set(found)) == 6 * 2
    assert found[:2] == [((1.0,), (2.0,), (3.0,)), ((1.0,), (2.0,), (4.0,))]
    plans = list(SPACE.scopes({"N": 1, "K": 2, "d": 1, "m": 1, "H": 1})[0].instances())
    assert len(plans) == 2 * 9 * 2
    assert [plan.task.tau for plan in plans[:4]] == [1.0, 0.01, 1.0, 0.01]
    assert [plan.name for plan in plans] == [f"plan {n}" for n in range(1, 37)]
    assert [scope.limits["K"] for scope in SPACE.scopes({"K": 4})] == [2, 3, 4]

"""The space of plans: small scopes counted by hand, extremes, neighbours and shrinking."""

import math
from itertools import combinations, product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lemmata as lm
from lemmata.papers.selection.setting import (
    SETTING,
    FamilyAttention,
    OnlineChoices,
    Plan,
    Task,
    inner_products,
    measure_isometry,
)
from lemmata.papers.selection.setting._descents import CountedAttention, count_gaps
from lemmata.papers.selection.setting._extremes import _plan, _signs
from lemmata.papers.selection.setting._family import (
    FAMILIES,
    all_signs,
    all_whole,
    family,
    independent,
)
from lemmata.search import read_back

SPACE = SETTING.space


def same(a: Plan, b: Plan) -> bool:
    encodings = (a.encodings is None) == (b.encodings is None)
    if encodings and a.encodings is not None and b.encodings is not None:
        encodings = bool((a.encodings == b.encodings).all())
    return encodings and (a.task, a.rate, a.epsilon, a.d_e) == (b.task, b.rate, b.epsilon, b.d_e)


def test_scopes_hold_every_size() -> None:
    scopes = SPACE.scopes({"T": 4, "q": 2, "d": 2})
    tasks = {plan.task for plan in scopes[0].instances()}
    assert tasks == {Task(T, q, d) for T, q, d in product((2, 3, 4), (1, 2), (1, 2)) if q < T}
    for scope in scopes:
        names = [plan.name for plan in scope.instances()]
        assert len(names) == len(set(names))


def test_whole_number_encodings_are_counted_up_to_symmetry() -> None:
    """Burnside: the mean number of sets that a symmetry of the square or the cube leaves alone."""
    for T, d_e in ((2, 1), (1, 2), (2, 2), (3, 2), (2, 3)):
        vectors = [v for v in product((-1, 0, 1), repeat=d_e) if any(v)]
        kept = 0
        symmetries = list(product(list(_permutations(d_e)), list(product((1, -1), repeat=d_e))))
        for order, signs in symmetries:
            moved = {v: tuple(signs[k] * v[order[k]] for k in range(d_e)) for v in vectors}
            kept += sum({moved[v] for v in s} == set(s) for s in combinations(vectors, T))
        assert len(all_whole(T, d_e)) == kept / len(symmetries)


def _permutations(n: int) -> list[tuple[int, ...]]:
    return [p for p in product(range(n), repeat=n) if len(set(p)) == n]


def test_sign_encodings_are_counted_up_to_symmetry() -> None:
    """Rows up to sign are patterns of the other vectors, and their order does not matter."""
    for T, d_e in ((2, 3), (3, 4), (4, 2)):
        found = [np.rint(E * np.sqrt(d_e)).astype(int) for E in all_signs(T, d_e)]
        kinds = {tuple(sorted(map(tuple, (E[:, :1] * E).tolist()))) for E in found}
        every = product(product((1, -1), repeat=T), repeat=d_e)
        wanted = {
            tuple(sorted(tuple(row[0] * x for x in row) for row in matrix)) for matrix in every
        }
        assert len(found) == len(kinds)
        assert kinds == wanted


def test_some_plans_are_within_the_hypotheses_of_theorem_33() -> None:
    """Orthogonal ones with steps below and above 2q, and others whose inner products add up."""
    found = [plan for plan in SPACE.extremes() if "orthogonal T" in plan.name]
    codes = {problem.code for plan in found for problem in plan.problems}
    assert codes <= {"large_step"}
    rates = {plan.rate > 2 * plan.q for plan in found if plan.T <= 13}
    assert rates == {True, False}
    uneven = [plan for plan in found if plan.name.startswith("nearly")]
    measured = measure_isometry(uneven[0].encodings, 2)
    a, c = 40, 801
    assert measured.delta == pytest.approx(np.sqrt(2) * a / c, rel=1e-9)
    assert measured.off_subset == pytest.approx(2 * a / c, rel=1e-9)
    assert measured.off_subset > measured.delta / (1 - 2 * measured.delta)


def test_encodings_in_another_order_are_the_same() -> None:
    E = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.8]])
    plan = Plan("p", Task(3, 1, 1), 0.1, 1e-3, 2, encodings=E)
    gram = np.sort(np.ravel(E.T @ E))
    for other in SPACE.equivalents(plan):
        assert not np.array_equal(other.encodings, E)
        np.testing.assert_allclose(np.sort(np.ravel(other.encodings.T @ other.encodings)), gram)
    assert not list(SPACE.equivalents(Plan("p", Task(3, 1, 1), 0.1, 1e-3)))


def test_all_instances_can_be_read_back() -> None:
    plans = [plan for scope in SPACE.scopes(SPACE.limits) for plan in list(scope.instances())[::97]]
    plans += list(SPACE.extremes())[::29]
    generator = np.random.default_rng(3)
    drawn = [SPACE.draw(generator) for _ in range(40)]
    plans += drawn + [SPACE.vary(plan, generator) for plan in drawn for _ in range(4)]
    assert {plan.kind for plan in plans} >= {"one-hot", "given"}
    for plan in plans:
        assert same(read_back(SETTING, plan), plan)


@pytest.mark.parametrize("T", [8, 9, 10, 12, 13])
def test_the_largest_share_of_an_extreme_is_below_a_quarter(T: int) -> None:
    plan = _plan({"T": T, "d": 1, "q": "T/4", "eta": "usual", "eps": 0.1})
    assert plan is not None
    assert plan.task.q < T / 4 <= plan.task.q + 1


def test_sign_encodings_are_of_no_more_positions_than_asked_for() -> None:
    assert all(plan.task.T == 2 for plan in _signs(2, 1))


def test_extremes_reach_far() -> None:
    extremes = list(SPACE.extremes())
    assert {plan.kind for plan in extremes} == {"one-hot", "given", "random"}
    for values in (
        [plan.rate for plan in extremes],
        [plan.epsilon for plan in extremes],
        [plan.T for plan in extremes],
        [plan.d for plan in extremes],
    ):
        assert max(values) / min(values) > 1e4
    shares = {round(plan.rate / plan.q, 9) for plan in extremes if plan.kind == "one-hot"}
    assert {0.5, 1.9, 2.1} <= shares
    problems = [{problem.code for problem in plan.problems} for plan in extremes]
    assert set() in problems
    assert {"q_out_of_range", "large_epsilon", "large_step"} in problems


@pytest.mark.parametrize("kind", FAMILIES)
def test_families_have_a_subset_encoding(kind: str) -> None:
    task = Task(4, 2, 1)
    E = family(kind, task.T, 5, np.random.default_rng(2))
    assert E is not None
    if kind == "signs":
        return
    assert independent(E, task)
    inner = inner_products(E, task.all_subsets())
    chosen = np.take_along_axis(inner, task.all_subsets(), axis=1)
    np.testing.assert_allclose(chosen, 1.0, rtol=1e-8)


def test_dependent_and_equal_encodings_are_left_out() -> None:
    assert not independent(np.array([[1.0, 1.0], [0.0, 0.0]]), Task(2, 1, 1))
    assert not independent(np.array([[1.0, 0.0], [1.0, 0.0]]), Task(2, 1, 1))
    assert not independent(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]), Task(3, 2, 1))
    assert independent(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]), Task(3, 1, 1))


def test_shrinking_comes_to_an_end_at_a_small_plan() -> None:
    draw = np.random.default_rng(0)
    E = np.round(draw.standard_normal((7, 6)), 5)
    training = OnlineChoices(x_query="fixed")
    plan = Plan("p", Task(6, 3, 4), 0.1234567, 0.0456, 7, encodings=E, training=training)
    for _ in range(100):
        smaller = [p for p in SPACE.simpler(plan) if SPACE.size(p) < SPACE.size(plan)]
        if not smaller:
            break
        plan = min(smaller, key=SPACE.size)
    assert (plan.kind, plan.task, plan.rate, plan.epsilon) == ("one-hot", Task(2, 1, 1), 0.05, 1e-3)
    assert plan.training == OnlineChoices()


def test_tall_encodings_are_halved_and_keep_their_length() -> None:
    signs = np.where(np.random.default_rng(1).random((31, 6)) < 0.5, -1.0, 1.0)
    plan = Plan("p", Task(6, 2, 1), 0.1, 1e-3, 31, encodings=signs / math.sqrt(31))
    given = [p.encodings for p in SPACE.simpler(plan) if p.encodings is not None]
    halved = [E for E in given if len(E) == 15]
    assert {E.shape[1] for E in halved} == {3, 5, 6}
    for E in halved:
        np.testing.assert_allclose(E, signs[:15, : E.shape[1]] / math.sqrt(15), rtol=1e-12)


def test_what_does_not_matter() -> None:
    plan = Plan("p", Task(5, 2, 3), 0.1, 1e-3)
    changed = dict(SPACE.changes(plan))
    assert changed["the loss to reach"].epsilon == 5e-4
    given = changed["whether the unit vectors are called one-hot or given"]
    assert given.kind == "given"
    assert SPACE.degenerate(plan) is None
    assert SPACE.degenerate(Plan("p", Task(5, 5, 3), 0.1, 1e-3)) is not None


def test_plans_of_all_sizes_share_programs(caplog) -> None:
    """The heart of a fast search: other T, q, d, eta and encodings compile nothing new."""
    scopes = [SPACE.scopes(SPACE.limits)[i] for i in (0, 2, 3, 4)]
    plans = [plan for scope in scopes for plan in scope.instances()]
    jax.config.update("jax_log_compiles", True)
    try:
        lm.train(plans[::9], steps=3)
        assert "Compiling jit(_advance)" in caplog.text
        caplog.clear()
        lm.train(plans[4::11], steps=3)
        lm.train(plans[::2], steps=3)
        assert "Compiling jit(_advance)" not in caplog.text
    finally:
        jax.config.update("jax_log_compiles", False)


@pytest.mark.parametrize("C", [0.0, 1.3, -0.7])
def test_equal_gaps_may_be_counted(C: float) -> None:
    """Encodings with gaps of several sizes, counted and padded, against all subsets one by one."""
    E = np.eye(5)
    E[:, 4] = [0.3, 0.3, 0.0, 0.0, 0.8]
    plan = Plan("five", Task(5, 2, 3), 0.5, 1e-3, 5, encodings=E)
    gaps, counts, chances = count_gaps(plan)
    assert counts.sum() > 0 == counts.min()
    counted = CountedAttention(*map(jnp.asarray, (gaps, counts, chances)), jnp.asarray(2.0))
    alone = FamilyAttention.of(E[None], plan.task.all_subsets())
    found, expected = (attention.moments(jnp.asarray(C)) for attention in (counted, alone))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    assert expected.variance > 1e-5 or C == 0


def test_side_by_side_is_as_alone() -> None:
    """Counting equal gaps, padding and batches change nothing."""
    draw = np.random.default_rng(5)
    plans = [
        Plan("a", Task(5, 2, 2), 0.3, 1e-3),
        Plan("b", Task(5, 2, 2), 0.3, 1e-3, 4, encodings=np.round(draw.standard_normal((4, 5)), 2)),
        Plan("c", Task(4, 2, 2), 0.3, 1e-3, 4, encodings=np.eye(4)),
        Plan(
            "d", Task(3, 1, 1), 0.5, 1e-3, 2, encodings=np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])
        ),
    ]
    together = lm.train(plans, steps=100)
    for i, plan in enumerate(plans):
        alone = lm.train([plan], steps=100)
        for name in ("loss", "alpha", "C", "missed"):
            np.testing.assert_allclose(
                getattr(together, name)[i], getattr(alone, name)[0], rtol=1e-12, atol=1e-13
            )
    # the identity as given encodings is one-hot with d_e = T in the place of T - 1
    unit, loss = together.C[2], together.missed[2]
    np.testing.assert_allclose(loss, 2 * np.exp(-unit) / (2 + 2 * np.exp(-unit)), rtol=1e-12)


LEMMAS = """
import numpy as np
import lemmata as lm

SHORT = lm.experiment("selection", steps=50)


@lm.claim("no alpha helps against missed attention", setting="selection", on=SHORT)
def true_floor(run):
    T, q, d = (run.each(lambda plan, name=name: getattr(plan, name)) for name in "Tqd")
    u = run.missed
    floor = d * u**2 / (2 * ((T - q) * (1 - u) ** 2 + q * u**2))
    return lm.at_least(run.loss, floor, rounding=1e-9)


@lm.claim("the loss never rises", setting="selection", on=SHORT)
def false_descent(run):
    return lm.at_most(run.loss[:, 1:], run.loss[:, :-1])
"""


def test_lemmas_of_a_user_break_or_survive(tmp_path) -> None:
    file = tmp_path / "own.py"
    file.write_text(LEMMAS)
    finding = lm.falsify(f"{file}::false_descent", budget=0.0, scope={"T": 3, "q": 1, "d": 1})[0]
    assert (finding.status, finding.certified) == ("fails", True)
    assert finding.witness.instance.task == Task(2, 1, 1)
    assert finding.witness.instance.rate > 1
    finding = lm.falsify(f"{file}::true_floor", budget=0.0, scope={"T": 3, "q": 1, "d": 1})[0]
    assert finding.status == "survived"
    assert finding.tried > 100
    assert math.isfinite(finding.closest)

"""The claims: default verdicts and controls, witnesses, and users' plans of every kind."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lemmata.claims import Bench, Status, Verdict, check
from lemmata.papers import papers
from lemmata.papers.context import theory
from lemmata.papers.context.claims.smoothness import Witness
from lemmata.papers.context.setting import (
    Plan,
    Task,
    Weights,
    constants_of,
    evaluate,
    from_heads,
    represent,
    system_of,
)

ALL = {claim.name.removeprefix("context/"): claim for claim in papers()["context"].claims}
DEEP = {name for name in ALL if name.startswith(("figure-2b", "figure-5", "own/deep"))}

FALSE = {
    "assumption-1/correlated",
    "assumption-3",
    "equation-17",
    "equation-33",
    "equation-46/gaussian",
    "equation-56",
    "equation-59",
    "equation-70/loss",
    "equation-77/variance",
    "equation-79",
    "figure-2a/converges/gaussian",
    "figure-4/few-heads",
    "figure-4/many-heads",
    "lemma-10",
    "lemma-5",
    "lemma-7/gaussian",
    "section-3.1/heads",
    "section-3.2/best",
    "section-3.2/better",
    "section-3.2/closer",
    "section-3.2/noise",
    "section-3.3/heads",
    "section-3.3/noiseless",
}


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(seed=0)


@pytest.mark.parametrize("name", [name for name in ALL if name not in DEEP])
def test_default_verdicts(bench: Bench, name: str):
    verdict = check(ALL[name], bench)
    assert verdict.status is (Status.FAILS if name in FALSE else Status.HOLDS), verdict.reason
    assert verdict.control is Status.FAILS
    if name in FALSE:
        assert any(part.witness for part in verdict.parts if part.status is Status.FAILS)


def test_theorem_1_says_on_how_many_tasks_and_how_loose_it_is(bench: Bench):
    verdict = check(ALL["theorem-1"], bench)
    assert len(bench.evidence(ALL["theorem-1"].experiment)) >= 10
    assert any("times as fast as guaranteed" in part.reason for part in verdict.parts)


def witness_task(witness: Witness) -> Task:
    c = float(witness.c)
    tokens = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    return Task(tokens, np.array([[c, -c, c / 2], [0.0, 0.0, 0.0]]), 2, 0.5, "witness")


@pytest.mark.parametrize("numbers", [(120, 2), (100, 15), (3, 1)])
def test_the_curvature_of_the_witness_is_what_differentiation_gives(numbers: tuple[int, int]):
    witness = Witness(*numbers)
    task = witness_task(witness)
    system = system_of(task, 1)
    w = jnp.full((1, 3), float(witness.alpha))

    def loss(x: jax.Array) -> jax.Array:
        Q = jnp.zeros((2, 1, 2)).at[0, 0, 0].set(x)
        attention = system.attention(Q)
        return system.error(attention.combine(w))[0]

    curvature = jax.grad(jax.grad(loss))(jnp.zeros(()))
    assert float(curvature) == pytest.approx(float(witness.curvature), rel=1e-9)


@pytest.mark.parametrize("numbers", [(120, 2), (100, 15)])
def test_the_rational_bounds_of_the_witness_are_above_the_printed_constants(
    numbers: tuple[int, int],
):
    witness = Witness(*numbers)
    task = witness_task(witness)
    weights = from_heads(np.zeros((1, 2, 2)), np.full((1, 3), float(witness.alpha)))
    c = constants_of(task, weights, zeta=float("nan"))
    printed = theory.smoothness(c, 1.0, float(witness.alpha))
    assert printed**2 <= float(witness.printed)
    assert c.target <= float(witness.target_bound)


def test_two_opposite_tokens_break_lemma_10_by_a_secant():
    """Two weights next to each other whose gradients differ by more than L times their distance."""
    witness = Witness(100, 15)
    task = witness_task(witness)
    w = np.full((1, 3), 15.0)
    step = 1e-6
    slopes = []
    for x in (0.0, step):
        Q = np.zeros((1, 2, 2))
        Q[0, 0, 0] = x
        slopes.append(evaluate(system_of(task, 1), from_heads(Q, w)).gradient)
    change = float(np.sqrt(sum(float(jnp.sum((a - b) ** 2)) for a, b in zip(*slopes, strict=True))))
    L = theory.smoothness(constants_of(task, from_heads(Q, w), zeta=float("nan")), 1.0, 15.0)
    repaired = theory.smoothness_repaired(
        constants_of(task, from_heads(Q, w), zeta=float("nan")), 1.0, 15.0
    )
    assert L * step < change < repaired * step


def unit_tokens() -> np.ndarray:
    tokens = np.random.default_rng(3).standard_normal((5, 12))
    return tokens / np.linalg.norm(tokens, axis=0)


def features(tokens: np.ndarray) -> np.ndarray:
    return represent(tokens, lambda v: np.array([v[0], v[1] * v[2], np.sin(3 * v[3])]))


def plan(N: int = 4, tau: float = 0.1, heads: int = 8, times: float = 1.0, **change) -> Plan:
    tokens = change.pop("tokens", unit_tokens())
    return Plan(Task(times * tokens, features(tokens), N, tau, "mine"), heads)


def on(own: Plan, name: str) -> Verdict:
    return check(ALL[name], Bench(seed=0, instances=[own]))


def repeated() -> np.ndarray:
    tokens = unit_tokens()
    tokens[:, 1] = tokens[:, 0]
    return tokens


@pytest.mark.parametrize(
    ("own", "name", "assumption"),
    [
        (plan(times=2.0), "lemma-7", "unit tokens"),
        (plan(times=2.0), "theorem-1", "unit tokens"),
        (plan(tau=0.0), "theorem-1", "tau > 0"),
        (plan(tau=0.0), "lemma-5", "tau > 0"),
        (plan(N=6, heads=3), "theorem-1", "Assumption 2"),
        (plan(N=6, heads=3), "proposition-1", "H >= N"),
        (plan(tokens=repeated()), "theorem-2", "Assumption 2"),
        (plan(tokens=repeated()), "proposition-1", "Assumption 3"),
    ],
)
def test_unmet_hypotheses_are_named(own: Plan, name: str, assumption: str):
    verdict = on(own, name)
    assert verdict.status is Status.INAPPLICABLE
    assert assumption in verdict.reason


def test_an_ordinary_plan_is_judged_on_its_own():
    own = Bench(seed=0, instances=[plan()])
    verdicts = {name: check(claim, own) for name, claim in ALL.items()}
    assert verdicts["theorem-1"].status is Status.HOLDS
    assert verdicts["theorem-2"].status is Status.HOLDS
    assert verdicts["lemma-5"].status is Status.FAILS
    assert verdicts["lemma-5/repaired"].status is Status.HOLDS
    assert verdicts["figure-4/few-heads"].status is Status.INAPPLICABLE
    undecided = [name for name, v in verdicts.items() if v.status is Status.UNDECIDED]
    assert len(undecided) <= 2, undecided
    for verdict in verdicts.values():
        if verdict.witness and "dataset" in verdict.witness:
            assert "mine" in verdict.witness["dataset"]


@pytest.mark.parametrize(
    "own",
    [
        plan(tau=0.0),
        plan(tokens=repeated()),
        plan(times=60.0),
        Plan(Task(np.ones((1, 1)), np.ones((1, 1)), 1, 0.1, "one token"), 1),
        Plan(Task(unit_tokens(), np.zeros((2, 12)), 12, 0.1, "nothing to learn"), 12),
    ],
    ids=lambda own: own.name if own.name != "mine" else own.task.problems[0].code,
)
def test_odd_plans_are_answered_and_not_with_an_exception(own: Plan):
    bench = Bench(seed=0, instances=[own])
    for claim in ALL.values():
        assert check(claim, bench).reason


def test_a_plan_without_heads_is_refused():
    from lemmata._errors import InputError

    with pytest.raises(InputError, match="at least one head"):
        plan(heads=0)


def test_weights_come_back_head_by_head():
    Q = np.arange(12.0).reshape(3, 2, 2)
    weights = from_heads(Q, np.zeros((3, 4)))
    assert isinstance(weights, Weights)
    np.testing.assert_array_equal(np.asarray(weights.Q)[:, 1, :], Q[1])

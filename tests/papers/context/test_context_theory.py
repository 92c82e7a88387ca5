"""The constants of the theorems, against the printed formulas in many digits."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import in_context as oracle
from oracles.in_context import FACTS, GOLDEN
from scipy.optimize import brentq
from scipy.stats import chi2

from lemmata.papers.context.setting import (
    Plan,
    Task,
    constants_of,
    draw_task,
    draw_weights,
    from_heads,
)
from lemmata.papers.context.theory import (
    Constants,
    best_rate,
    label_bound,
    least_gamma,
    radius,
    smoothness,
    smoothness_needed,
    smoothness_repaired,
    smoothness_simplified,
    smoothness_simplified_repaired,
    steps_for_inference,
    theory_rates,
)

FIELDS = ("ridge", "zeta", "gap", "spectral", "largest_column", "target", "cross")


def by_hand(c: Constants) -> oracle.Printed:
    return oracle.printed(c.N, c.K, c.H, **{name: getattr(c, name) for name in FIELDS})


def compare(c: Constants, rel: float = 1e-12) -> None:
    """All constants with the printed formulas."""
    gamma = least_gamma(c)
    with mp.workdps(40):
        expected = by_hand(c)
    found = (
        gamma,
        radius(c, gamma),
        smoothness(c, gamma),
        smoothness_repaired(c, gamma),
        smoothness_simplified(c, gamma),
        best_rate(c),
    )
    for name, value, right in zip(oracle.Printed._fields, found, expected, strict=True):
        assert abs(value / right - 1) < rel, name


positive = st.floats(0.1, 20)


@st.composite
def constants(draw_from: st.DrawFn) -> Constants:
    """Numbers with the relations of real ones: f-max <= ||Z-bar||, and the bound on ||A||."""
    spectral, cross, ridge = (draw_from(positive) for _ in range(3))
    return Constants(
        N=draw_from(st.integers(1, 40)),
        K=draw_from(st.integers(1, 300)),
        H=draw_from(st.integers(1, 80)),
        ridge=ridge,
        zeta=10 ** draw_from(st.floats(-8, 0.5)),
        gap=draw_from(positive),
        spectral=spectral,
        largest_column=draw_from(st.floats(0.1, 1)) * spectral,
        target=draw_from(st.floats(0.1, 1)) * (1 + cross / ridge),
        cross=cross,
    )


@given(constants())
def test_constants_as_printed(c):
    compare(c)


@given(constants(), st.floats(-3, 6))
def test_the_smoothness_at_any_gamma_and_alpha(c, power):
    """(61) term by term; with the repair where its prefactor makes it larger, and only there."""
    gamma, alpha = 10.0**power, 10.0 ** (power / 3)
    reach = gamma * c.H * alpha
    first = 2 * gamma * c.spectral**2 * (2 * reach + c.target)
    in_alpha = 2 * first**2 / c.K + 2 * (gamma**2 * c.H * c.spectral**2 / c.K) ** 2
    in_Q = max(1.0, 4 * c.K * alpha**2) * (reach**2 + 4 * c.N * (reach + c.target) ** 2)
    prefactor = 8 * gamma * c.largest_column * c.spectral
    printed, repaired = smoothness(c, gamma, alpha), smoothness_repaired(c, gamma, alpha)
    assert printed == pytest.approx(math.sqrt(in_alpha + prefactor * in_Q), rel=1e-12)
    squared = prefactor**2 / (4 * c.K)
    assert repaired == pytest.approx(math.sqrt(in_alpha + squared * in_Q), rel=1e-12)
    larger = prefactor > 4 * c.K
    assert repaired >= printed * (1 - 1e-15) if larger else repaired <= printed * (1 + 1e-15)


@given(constants())
def test_the_repaired_short_form_bounds_the_long_one(c):
    gamma = least_gamma(c)
    assert smoothness_simplified_repaired(c, gamma) >= smoothness_repaired(c, gamma) * (1 - 1e-12)


def repaired_short_form(c: Constants) -> mpf:
    """The repaired (61) with f-max <= ||Z-bar||, ||A|| <= 1 + ||Z'Z-hat|| / (m tau), and
    gamma H alpha + ||A|| <= 2 gamma H alpha + ||A||, in that order."""
    gamma, alpha = by_hand(c)[:2]
    size, reach = mpf(c.spectral), gamma * c.H * alpha
    bracket = 2 * reach + 1 + mpf(c.cross) / mpf(c.ridge)
    in_alpha = 2 * (
        (2 * gamma * size**2 * bracket) ** 2 / c.K
        + (gamma * size) ** 4 * mpf(c.H) ** 2 / mpf(c.K) ** 2
    )
    branch = max(mpf(1), 4 * c.K * alpha**2)
    in_Q = 16 * gamma**2 * size**4 / c.K * branch * (reach**2 + 4 * c.N * bracket**2)
    return mp.sqrt(in_alpha + in_Q)


@given(constants())
@example(
    Constants(2, 1, 80, ridge=1, zeta=1, gap=1, spectral=20, largest_column=20, target=1, cross=1)
)
def test_the_repaired_short_form_in_many_digits(c):
    """In the example 4K alpha^2 is 0.002, so that the other branch counts."""
    with mp.workdps(40):
        expected = repaired_short_form(c)
    assert abs(smoothness_simplified_repaired(c, least_gamma(c)) / expected - 1) < 1e-12


def rational() -> Constants:
    """Numbers with which every formula but (15) is a fraction: alpha = 96 / gamma."""
    return Constants(
        N=2,
        K=2,
        H=3,
        ridge=0.5,
        zeta=0.25,
        gap=2.25,
        spectral=2.0,
        largest_column=1.5,
        target=1.25,
        cross=7.0,
    )


def test_the_constants_by_hand():
    """At gamma = 96, where alpha = 1 and 4 K alpha^2 = 8, and at 960, where it is 2/25."""
    c = rational()
    assert radius(c, 96.0) == 1.0
    assert radius(c, 960.0) == pytest.approx(0.1, rel=1e-15)
    for gamma, alpha, largest in ((96, Fraction(1), Fraction(8)), (960, Fraction(1, 10), 1)):
        reach = gamma * 3 * alpha
        first = 2 * (2 * gamma * 4 * (2 * reach + Fraction(5, 4))) ** 2 / 2
        in_alpha = first + 2 * Fraction(gamma**2 * 3 * 4, 2) ** 2
        in_Q = largest * (reach**2 + 8 * (reach + Fraction(5, 4)) ** 2)
        printed, repaired = (
            in_alpha + prefactor * in_Q for prefactor in (24 * gamma, 72 * gamma**2)
        )
        assert smoothness(c, float(gamma)) ** 2 == pytest.approx(float(printed), rel=1e-14)
        assert smoothness_repaired(c, float(gamma)) ** 2 == pytest.approx(
            float(repaired), rel=1e-14
        )


def test_the_short_forms_by_hand():
    """8 sqrt(2) H sqrt(K) ||Z-bar||^p sqrt(Delta) / zeta = 288 * 2^p, and cross / ridge = 14."""
    c = rational()
    for gamma, alpha, largest in ((96, Fraction(1), 8), (960, Fraction(1, 10), 1)):
        first, late = (
            Fraction(2 * 4096 * 4 * 9 * 16, 4 * gamma),
            Fraction(2**17 * 81 * 4 * 16, gamma),
        )
        printed = 1167**2 * 16 * (4 * gamma**2 + first)
        printed += 2 * 9 * 16 * (Fraction(gamma**4, 4) + late)
        repaired = 591**2 * 16 * 4 * gamma**2 * (1 + 16 * largest)
        repaired += 2 * 9 * 16 * Fraction(gamma**4, 4) * (1 + 16 * alpha**2 * largest)
        for bound, square in (
            (smoothness_simplified, printed),
            (smoothness_simplified_repaired, repaired),
        ):
            assert bound(c, float(gamma)) ** 2 == pytest.approx(float(square), rel=1e-14)


def test_the_least_gamma_and_the_best_rate_by_hand():
    c = rational()
    with mp.workdps(40):
        factor = 128 * mp.sqrt(2) / (mp.sqrt(2) - 1)
        square = factor * 4 * mp.sqrt(3) * mpf("1.5") * mp.sqrt(8) * mpf("2.25") * mpf(4) ** 2.5
        assert least_gamma(c) == pytest.approx(float(mp.sqrt(square)), rel=1e-14)
        assert best_rate(c) == pytest.approx(float(1 / (96 * mp.sqrt(2))), rel=1e-14)


def test_the_printed_short_form_does_not():
    rows = FACTS["eq17_scale_test"]["rows"]
    for row in rows:
        scale = float(row["scale"])
        usual = draw_task(3, 8, 4, 2, 0.1, seed=0)
        task = Task(usual.tokens, scale * usual.representations, 3, 0.1 * scale**2)
        c = constants_of(task, draw_weights(task, 6, seed=10))
        long, short = (
            theory_rates(c, bound=bound).guaranteed for bound in (smoothness, smoothness_simplified)
        )
        assert long == pytest.approx(row["rate_L61"], rel=1e-6)
        assert short == pytest.approx(row["rate_L17"], rel=1e-6)
        gamma = least_gamma(c)
        ratio = smoothness_simplified(c, gamma) / smoothness(c, gamma)
        assert ratio == pytest.approx(row["L17_over_L61"], rel=1e-6)
        assert smoothness_simplified_repaired(c, gamma) >= smoothness_repaired(c, gamma)
    assert rows[0]["L17_over_L61"] < 1


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_golden_constants(name):
    instance, Q, w = oracle.stored(name)
    facts = GOLDEN[name]["constants"]
    task = Task(*instance)
    c = constants_of(task, from_heads(Q, w))
    Z = instance.representations
    assert all(getattr(c, key) == GOLDEN[name][key] for key in "NKH")
    assert c.ridge == pytest.approx(instance.m * instance.tau, rel=1e-15)
    assert c.cross == pytest.approx(np.linalg.norm(Z[:, : c.N].T @ Z, 2), rel=1e-12)
    gamma = least_gamma(c)
    printed, repaired, short = (
        theory_rates(c, bound=bound)
        for bound in (smoothness, smoothness_repaired, smoothness_simplified)
    )
    found = {
        "zeta0": c.zeta,
        "Delta0": c.gap,
        "Zbar2": c.spectral,
        "fmax": c.largest_column,
        "A2": c.target,
        "gamma_min": gamma,
        "alpha": radius(c, gamma),
        "L61": smoothness(c, gamma),
        "L61_corrected": smoothness_repaired(c, gamma),
        "L17": smoothness_simplified(c, gamma),
        "etaQ_L61": printed.Q,
        "etaw_L61": printed.w,
        "rate_L61": printed.guaranteed,
        "etaQ_L61_corrected": repaired.Q,
        "etaw_L61_corrected": repaired.w,
        "rate_L61_corrected": repaired.guaranteed,
        "etaQ_L17": short.Q,
        "etaw_L17": short.w,
        "rate_L17": short.guaranteed,
        "rate_sup": best_rate(c),
    }
    for key, value in found.items():
        assert value == pytest.approx(facts[key], rel=1e-6), key
    compare(c)


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_golden_number_of_steps(name):
    instance, Q, w = oracle.stored(name)
    task = Task(*instance)
    c = constants_of(task, from_heads(Q, w))
    labels = label_bound(c, signal=task.sizes[0], tau=task.tau, delta=0.1, bound=math.sqrt(task.m))
    found = steps_for_inference(c, theory_rates(c).guaranteed, labels=labels, epsilon=0.01)
    assert float(found) == pytest.approx(GOLDEN[name]["T21_eps0.01_delta0.1_B_sqrtm"], rel=1e-6)


def test_rates_are_those_of_16():
    c = constants_of(*planned(2, 5, 4, 3, 0.2, heads=4))
    for gamma in (None, 12.0):
        rates = theory_rates(c, gamma=gamma)
        chosen = least_gamma(c) if gamma is None else gamma
        assert rates.gamma == chosen
        assert rates.Q * smoothness(c, chosen) == pytest.approx(1, rel=1e-15)
        assert math.sqrt(rates.w / rates.Q) == pytest.approx(chosen, rel=1e-14)
        assert rates.guaranteed == pytest.approx(rates.w * c.zeta / (2 * c.K), rel=1e-14)


def planned(*sizes: float, heads: int) -> tuple:
    task = draw_task(*sizes, seed=3)
    return task, draw_weights(task, heads, seed=4)


def test_the_best_rate_is_approached_from_below():
    c = constants_of(*planned(2, 5, 4, 3, 0.2, heads=4))
    rates = [theory_rates(c, gamma=gamma).guaranteed for gamma in (1e2, 1e4, 1e8, 1e12)]
    assert rates == sorted(rates)
    assert rates[-1] < best_rate(c) * (1 + 1e-12)
    assert rates[-1] == pytest.approx(best_rate(c), rel=1e-6)


@pytest.mark.parametrize("zeta", ["1e-140", "1e-600"])
def test_eigenvalues_that_are_hardly_there(zeta):
    """gamma^4 is no float any more, and the number of steps hardly one."""
    c = constants_of(*planned(2, 5, 4, 3, 0.2, heads=4), zeta=mpf(zeta))
    compare(c)
    rates = theory_rates(c)
    with mp.workdps(40):
        expected = by_hand(c)
        guaranteed = expected.gamma**2 / expected.L * c.zeta / (2 * c.K)
        steps = mp.log(mpf(9) * c.gap / (c.ridge * mpf("0.01"))) / guaranteed
    assert abs(rates.guaranteed / guaranteed - 1) < 1e-12
    found = steps_for_inference(c, rates.guaranteed, labels=3.0, epsilon=0.01)
    assert abs(found / steps - 1) < 1e-12
    assert found > mpf(10) ** (130 if zeta == "1e-140" else 590)


def test_the_number_of_steps_as_printed():
    """(21) with its numbers put in one by one, and what it promises when they are taken."""
    task, weights = planned(3, 7, 4, 2, 0.3, heads=5)
    c, delta, B, epsilon = constants_of(task, weights), 0.05, 1.7, 1e-3
    log = math.log(1 / delta)
    norm = np.linalg.norm(task.Z, 2)
    inner = norm + math.sqrt(0.3) * math.sqrt(2 * math.sqrt(3 * log) + 2 * log + 3)
    labels = label_bound(c, signal=norm, tau=0.3, delta=delta, bound=B)
    assert float(labels) == pytest.approx(B * inner, rel=1e-13)
    argument = B**2 * c.gap * inner**2 / (2 * 0.3 * epsilon)
    found = steps_for_inference(c, 0.02, labels=labels, epsilon=epsilon)
    assert float(found) == pytest.approx(math.log(argument) / math.log(1 / 0.98), rel=1e-12)
    left = c.gap * 0.98 ** float(found) * float(labels) ** 2 / c.ridge
    assert left == pytest.approx(epsilon, rel=1e-10)
    assert steps_for_inference(c, 0.02, labels=1e-6, epsilon=1.0) == 0


def test_labels_stay_below_their_bound():
    """A chi-square variable with N degrees of freedom is where (69) takes its noise from."""
    plan = Plan(draw_task(5, 9, 4, 3, 0.4, seed=1), 6, delta=0.1)
    c = plan.constants
    assert plan.label_bound == pytest.approx(
        float(label_bound(c, signal=plan.task.sizes[0], tau=0.4, delta=0.1, bound=math.sqrt(3))),
        rel=1e-14,
    )
    assert replace(plan, bound=1.0).label_bound == pytest.approx(
        plan.label_bound / math.sqrt(3), rel=1e-14
    )
    chance = label_bound(replace(c, N=5), signal=0.0, tau=1.0, delta=0.1, bound=1.0)
    assert chi2.sf(float(chance) ** 2, 5) < 0.1
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(5_000, 3))
    coefficients = math.sqrt(3) * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    instance = oracle.Instance(plan.task.tokens, plan.task.representations, 5, 0.4)
    labels = oracle.sampled_prompts(instance, coefficients, rng)[:, :5]
    above = np.mean(np.linalg.norm(labels, axis=1) > plan.label_bound)
    assert above < 0.1


@partial(jax.jit, static_argnames=("N", "H"))
def second_derivative(
    tokens: jax.Array, labels: jax.Array, at: jax.Array, gamma: jax.Array, *, N: int, H: int
) -> jax.Array:
    """Of the literal loss in (Q, alpha), where w = gamma alpha."""
    d, K = tokens.shape

    def loss(flat: jax.Array) -> jax.Array:
        Q, alpha = flat[: H * d * d].reshape(H, d, d), flat[H * d * d :].reshape(H, K)
        return oracle.literal_loss(tokens, labels, N, Q, gamma * alpha)

    return jax.hessian(loss)(at)


def curvature(instance: oracle.Instance, Q: np.ndarray, alpha: np.ndarray, gamma: float) -> float:
    """The largest eigenvalue in size of the second derivative."""
    given = (
        instance.tokens,
        oracle.prompts(instance),
        np.concatenate([Q.ravel(), alpha.ravel()]),
        np.array(gamma),
    )
    found = second_derivative(*map(jnp.asarray, given), N=instance.N, H=len(Q))
    return float(np.abs(np.linalg.eigvalsh(found)).max())


def constants_from(instance: oracle.Instance, H: int) -> Constants:
    """What Lemma 10 uses, from numbers of our own."""
    root = np.linalg.eigvalsh(instance.gram)[-1] ** 0.5
    return Constants(
        N=instance.N,
        K=instance.K,
        H=H,
        ridge=instance.m * instance.tau,
        zeta=math.nan,
        gap=math.nan,
        spectral=root,
        largest_column=np.diag(instance.gram).max() ** 0.5,
        target=np.linalg.norm(oracle.target(instance), 2),
        cross=math.nan,
    )


@pytest.mark.parametrize("facts", FACTS["lemma10_counterexamples"], ids=["one head", "two heads"])
def test_lemma_10_fails_as_printed_and_holds_repaired(facts):
    """The second derivative is beyond the printed L and within the repaired one."""
    instance = oracle.Instance(np.array(facts["S"]), np.array(facts["Zhat"]), 2, facts["tau"])
    H, alpha = facts["H"], facts["alpha"]
    c = constants_from(instance, H)
    printed, repaired = smoothness(c, 1.0, alpha), smoothness_repaired(c, 1.0, alpha)
    assert printed == pytest.approx(facts["L_printed_61"], rel=1e-6)
    assert repaired == pytest.approx(facts["L_corrected"], rel=1e-6)
    found = curvature(instance, np.zeros((H, 3, 3)), np.full((H, 3), alpha), 1.0)
    assert found >= facts["secant"] * (1 - 1e-6)
    assert printed < found < repaired


def test_the_repaired_smoothness_bounds_the_curvature():
    instance, rng = oracle.draw(2, 3, 3, 2, 0.3, 11), np.random.default_rng(11)
    c = constants_from(instance, 2)
    for gamma, alpha in ((0.3, 2.0), (1.0, 0.1), (5.0, 1.0)):
        entries = alpha * rng.choice([-1.0, 1.0], size=(2, 3))
        found = curvature(instance, rng.normal(0, 0.5, (2, 3, 3)), entries, gamma)
        assert found <= smoothness_repaired(c, gamma, alpha)


@pytest.mark.parametrize("times", [1.0, 3.0, 1e3])
def test_the_ball_where_descent_stays_closes_its_own_proof(times: float):
    """With its e, q and alpha the steps of Appendix B give e, alpha and (18) again."""
    plan = Plan(draw_task(3, 8, 4, 2, 0.1, seed=0), 6)
    c = plan.constants
    gamma = times * least_gamma(c)
    least = (1 - 0.5**0.5) / (4 * times**2)
    e = float(brentq(lambda e: e - least / (1 - e) ** 4, 0.0, 0.15))
    q, eta = (1 - e) ** 2, 1e-3 / gamma**2
    fall = eta * c.zeta * gamma**2 / c.K * q
    roots = np.sqrt(c.gap) / (1 - np.sqrt(1 - fall))  # at most 2/fall, of which Step 3 makes use
    bound = 2 * np.sqrt(c.gap) / fall
    assert roots <= bound
    alpha = eta * c.spectral * gamma * np.sqrt(2 / c.K) * bound
    moved_Q = eta * 2 * np.sqrt(2) * gamma * alpha * c.largest_column * bound
    moved_B = 2 * c.spectral * np.sqrt(c.H) * moved_Q
    assert alpha == pytest.approx(radius(c, gamma) / (2 * q), rel=1e-12)
    assert moved_B == pytest.approx(e * np.sqrt(c.zeta), rel=1e-9)
    assert q > 0.5
    stated = smoothness_repaired(c, gamma, alpha)
    assert smoothness_needed(c, gamma) == pytest.approx(stated, rel=1e-9)

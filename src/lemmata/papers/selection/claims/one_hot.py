"""Section 3.1 and Appendix D: one-hot encodings, the two-scalar dynamics and its rate."""

from dataclasses import replace
from typing import Any

import numpy as np

from lemmata.old_claims import Cases, Judgement, Status, along, each, fact, same
from lemmata.papers.selection import theory
from lemmata.papers.selection.claims._terms import SMALL_LOSS, SMALL_STEP, SPARSE, claim, softmax
from lemmata.papers.selection.experiments.descents import ONE_HOT, Descent
from lemmata.papers.selection.experiments.matrices import (
    MATRICES,
    ONE_HOT_MATRICES,
    FullDescent,
    Matrices,
)

HYPOTHESES = (SPARSE, SMALL_LOSS, SMALL_STEP)

GRADIENT = 1e-12
"""Rounding of a gradient whose entries are sums of some thousand products of order one."""

WHOLE = 1e-12
"""Rounding of some hundred steps with whole matrices."""


def literal_gradient(case: Matrices, sign: float = -1.0) -> list[np.ndarray]:
    """The formulas of Lemma D.1, averaged over tokens, subsets and encodings one by one."""
    V, W = (np.asarray(matrix) for matrix in case.weights)
    d, T, q = case.task.d, case.task.T, case.task.q
    gradient_V, gradient_W = np.zeros_like(V), np.zeros_like(W)
    E_all, e_all = np.asarray(case.family.E), np.asarray(case.family.e_y)
    count = len(E_all) * len(case.y)
    for E, encodings in zip(E_all, e_all, strict=True):
        Z = np.concatenate([case.X, np.broadcast_to(E, (len(case.X), *E.shape))], axis=1)
        for y, e_y in zip(case.y, encodings, strict=True):
            query = np.concatenate([case.x_query, e_y])
            logits = np.einsum("nwt,w->nt", Z, W @ query)
            S = softmax(logits)
            ZS = np.einsum("nwt,nt->nw", Z, S)
            residual = case.X[:, :, y].sum(axis=2) / q - ZS @ V.T
            J = S[:, :, None] * (np.eye(T) - S[:, None, :])
            inner = np.einsum("nwt,ntu,nvu,dv,nd->nw", Z, J, Z, V, residual, optimize=True)
            gradient_W += np.einsum("n,nw,v->wv", case.chances, inner, query) / count
            gradient_V += np.einsum("n,nd,nw->dw", case.chances, residual, ZS) / count
    assert d == V.shape[0]
    return [sign * gradient_V, sign * gradient_W]


def _flat(matrices: list[Any]) -> np.ndarray:
    return np.concatenate([np.ravel(matrix) for matrix in matrices])


@claim(
    "lemma-d.1",
    "Appendix D.1",
    "The gradients of the loss (3) are -E[Z (diag S - S S') Z' V' r z_query'] in W and "
    "-E[r (Z S)'] in V, with r = XY/q - V Z S.",
    assumes=(),
    on=MATRICES,
    sharpened="they have the opposite sign",
)
def lemma_d1(evidence: Cases[Matrices], sharpened: bool) -> list[Judgement]:
    sign = 1.0 if sharpened else -1.0
    return [
        same(
            evidence,
            "gradient",
            lambda case: _flat(literal_gradient(case, sign)),
            lambda case: _flat(list(case.gradients["outside"])),
            GRADIENT,
        )
    ]


@claim(
    "lemma-d.5/recalled-gradients",
    "Appendix D.2, proof",
    "The same formulas as the proof of Lemma D.5 recalls them: without the minus signs.",
    assumes=(),
    on=MATRICES,
    sharpened="twice as large",
)
def recalled_gradients(evidence: Cases[Matrices], sharpened: bool) -> list[Judgement]:
    return [
        same(
            evidence,
            "gradient",
            lambda case: _flat(literal_gradient(case, 2.0 if sharpened else 1.0)),
            lambda case: _flat(list(case.gradients["outside"])),
            GRADIENT,
        )
    ]


@claim(
    "lemma-d.2",
    "Appendix D.1",
    "If V = alpha [I 0] and attention does not depend on the tokens, the loss is "
    "(d/2) E_y ||Y/q - alpha S_y||^2.",
    assumes=(),
    on=ONE_HOT_MATRICES,
    sharpened="without the factor d",
)
def lemma_d2(evidence: Cases[FullDescent], sharpened: bool) -> list[Judgement]:
    def formula(case: FullDescent) -> np.ndarray:
        task = case.task
        u = theory.missed(case.C, task.T, task.q)
        d = 1 if sharpened else task.d
        return np.asarray(theory.two_level_loss(case.alpha, u, task.T, task.q, d))

    return [same(evidence, "loss", lambda case: case.losses, formula, WHOLE)]


def stays_on_direction(evidence: Cases[FullDescent], scale: float) -> list[Judgement]:
    """Whether descent with every entry free stays on two directions, as the recursion says."""

    def distance(case: FullDescent, which: int) -> np.ndarray:
        target = case.direction if which else np.eye(case.task.d, len(case.direction))
        scalars = case.C if which else case.alpha
        return np.array(
            [
                np.abs(np.asarray(w[which]) - scale * c * target).max()
                for w, c in zip(case.weights, scalars, strict=True)
            ]
        )

    return [
        same(evidence, "W", lambda case: distance(case, 1), lambda case: 0.0, WHOLE),
        same(evidence, "V", lambda case: distance(case, 0), lambda case: 0.0, WHOLE),
        same(
            evidence,
            "loss",
            lambda case: case.losses,
            lambda case: scale * case.recursion_losses,
            WHOLE,
        ),
    ]


@claim(
    "lemma-3.2",
    "Section 3.1",
    "From zero, gradient descent keeps W = C(t) times the centring matrix in the position block "
    "and V = alpha(t) [I 0].",
    assumes=(),
    on=ONE_HOT_MATRICES,
    sharpened="with scalars 1 % larger than the recursion's",
)
def lemma_32(evidence: Cases[FullDescent], sharpened: bool) -> list[Judgement]:
    return stays_on_direction(evidence, 1.01 if sharpened else 1.0)


@claim(
    "lemma-d.5",
    "Appendix D.2",
    "From zero and with x_query = 0, gradient descent keeps W = C(t) times the centring matrix in "
    "the position block and V = alpha(t) [I 0].",
    assumes=(),
    on=ONE_HOT_MATRICES,
    sharpened="with scalars 1 % larger than the recursion's",
)
def lemma_d5(evidence: Cases[FullDescent], sharpened: bool) -> list[Judgement]:
    return stays_on_direction(evidence, 1.01 if sharpened else 1.0)


@claim(
    "own/query-token",
    "beside Theorem 3.1",
    "x_query = 0 is not needed: with any x_query that is independent of the tokens, descent stays "
    "on the same two directions.",
    assumes=(),
    on=ONE_HOT_MATRICES,
    sharpened="with scalars 1 % larger than the recursion's",
)
def query_token(evidence: Cases[FullDescent], sharpened: bool) -> list[Judgement]:
    queried = Cases(tuple(case for case in evidence if "x_query" in case.name))
    return stays_on_direction(queried, 1.01 if sharpened else 1.0)


@claim(
    "lemma-d.5/attention",
    "Appendix D.2, proof",
    "s_+ > s_- at every step: the attention on a chosen position exceeds that on any other.",
    assumes=(),
    on=ONE_HOT,
    sharpened="s_+ is at least twice s_-",
)
def attention_order(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    factor = 2.0 if sharpened else 1.0
    return [
        along(
            evidence,
            "log(s_+ / s_-) > 0",
            lambda case: case["C"],
            lambda case: np.full(len(case.steps), np.log(factor)),
            strict=True,
        )
    ]


@claim(
    "lemma-d.5/attention/repaired",
    "Appendix D.2, proof",
    "s_+ > s_- from the second step on, and s_+ = s_- before.",
    assumes=(SMALL_STEP,),
    on=ONE_HOT,
    sharpened="s_+ is at least twice s_- from the second step on",
)
def attention_order_repaired(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    factor = 2.0 if sharpened else 1.0
    late = {"from_step": np.full(len(evidence), 2.0), "strict": True}
    return [
        along(
            evidence,
            "from the second step on",
            lambda case: case["C"],
            lambda case: np.full(len(case.steps), np.log(factor)),
            **late,
        ),
        same(evidence, "before", lambda case: case["C"][:2], lambda case: 0.0, 0.0),
    ]


def printed_increments(case: Descent) -> tuple[np.ndarray, np.ndarray]:
    """The right-hand sides of Eq. (6) without eta, as printed."""
    T, q, d = case.task.T, case.task.q, case.task.d
    s, alpha = (1 - case["missed"]) / q, case["alpha"]
    grows = s * (1 - alpha * (T * q * s**2 - 2 * q * s + 1) / ((T - q) * s))
    turns = alpha * d / (T - 1) * s * (1 - q * s) * (1 + q * alpha / (T - q) * (1 - T * s))
    return grows, turns


@claim(
    "equation-6",
    "Section 3.1",
    "The step of gradient descent on the population loss is eta times the right-hand side of (6), "
    "exactly.",
    assumes=(),
    on=ONE_HOT,
    sharpened="with T in the place of T - 1 in the equation for C",
)
def equation_6(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    def step(case: Descent, which: str) -> np.ndarray:
        return (case[f"next_{which}"] - case[which]) / case.plan.rate

    def turns(case: Descent) -> np.ndarray:
        factor = (case.task.T - 1) / case.task.T if sharpened else 1.0
        return factor * printed_increments(case)[1]

    def rounding(case: Descent) -> float:
        largest = max(1.0, float(np.abs(case["C"]).max()))
        return 8 * np.finfo(float).eps * largest / case.plan.rate

    worst = max(rounding(case) for case in evidence)
    return [
        same(
            evidence,
            "alpha",
            lambda case: step(case, "alpha"),
            lambda case: printed_increments(case)[0],
            worst,
        ),
        same(evidence, "C", lambda case: step(case, "C"), turns, worst),
    ]


def euler_error(case: Descent, rate: float, horizon: float) -> float:
    """The distance of descent with this step size from the flow (6), at a time of order T."""
    import jax
    import jax.numpy as jnp
    from scipy.integrate import solve_ivp

    from lemmata.papers.selection.experiments.descents import one_hot_dynamics
    from lemmata.papers.selection.setting import Plan, Scalars, trajectory

    plan = Plan(case.name, case.task, rate, case.plan.epsilon)
    dynamics = one_hot_dynamics([plan])
    one = jax.tree.map(lambda leaf: leaf[0], dynamics)
    field = jax.jit(lambda a, c: jnp.stack(one.increments(Scalars(a, c))))
    flow = solve_ivp(
        lambda _, z: np.asarray(field(*z)), (0, horizon), np.zeros(2), rtol=1e-10, atol=1e-12
    )
    steps = round(horizon / rate)
    end = trajectory(dynamics, steps, steps)
    found = np.array([float(end.alpha[0, -1]), float(end.C[0, -1])])
    return float(np.abs(found - flow.y[:, -1]).max())


@claim(
    "equation-6/flow",
    "Section 3.1",
    "Gradient descent is approximated by the differential equation (6): its distance vanishes in "
    "proportion to the step size.",
    assumes=(),
    on=ONE_HOT,
    sharpened="in proportion to its square",
)
def equation_6_flow(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    small = [case for case in evidence if case.task.T <= 20][:3]
    if not small:
        reason = "the flow is compared for T up to 20, and every task here is longer"
        return [Judgement("order", Status.INAPPLICABLE, reason)]
    rates = []
    for case in small:
        horizon = 8.0 * case.task.T
        errors = [euler_error(case, rate, horizon) for rate in (0.2, 0.1)]
        rates.append(np.log2(errors[0] / errors[1]))
    order = np.array(rates)
    wanted = 2.0 if sharpened else 1.0
    reason = f"halving eta divides the distance by 2^{order.min():.3f} to 2^{order.max():.3f}"
    return [fact("order", bool(np.abs(order - wanted).max() < 0.1), reason)]


def within_bound(evidence: Cases[Descent], factor: float) -> list[Judgement]:
    """T^2 d / (eta epsilon) against the exact time to epsilon; constants and logarithms are 1."""

    def bound(case: Descent) -> float:
        task = case.task
        return task.T**2 * task.d / (case.plan.rate * case.plan.epsilon)

    never = [case.name for case in evidence if case.reached < 0]
    if never:
        reason = f"epsilon is not reached within the steps allowed on {', '.join(never)}"
        return [Judgement("time to epsilon", Status.UNDECIDED, reason)]
    shares = [case.reached / bound(case) for case in evidence]
    found = each(
        evidence,
        "share of the bound",
        lambda case: factor,
        lambda case: case.reached / bound(case),
    )
    note = f"; the exact time is {min(shares):.2g} to {max(shares):.2g} of the bound"
    return [replace(found, reason=found.reason + note)]


@claim(
    "theorem-3.1",
    "Section 3.1",
    "With one-hot encodings, joint training from zero reaches L <= epsilon within "
    "O~(T^2 d / (eta epsilon)) steps.",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="a hundred thousand times sooner",
)
def theorem_31(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    return within_bound(evidence, 1e-5 if sharpened else 1.0)


@claim(
    "theorem-d.4",
    "Appendix D.2",
    "With one-hot encodings, joint training from zero reaches L <= epsilon within "
    "O~(T^2 d / (eta epsilon)) steps.",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="a hundred thousand times sooner",
)
def theorem_d4(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    return within_bound(evidence, 1e-5 if sharpened else 1.0)

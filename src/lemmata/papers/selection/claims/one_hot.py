"""Section 3.1 and Appendix D: one-hot encodings, the two-scalar dynamics and its rate."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

from lemmata.claims import Comparison, Silence, at_least, at_most, equal, repaired, statements
from lemmata.settings import Evidence

from .. import theory
from ..experiments.descents import LONGER, ONE_HOT, Descent, orthogonal_dynamics
from ..experiments.matrices import ONE_HOT_MATRICES, FullDescent
from ..setting import FITS, SMALL_LOSS, SMALL_STEP, SPARSE, Scalars, trajectory
from ._exponents import grows_like, spans

claim = statements("selection", on=ONE_HOT_MATRICES, hypotheses=(FITS,))

HYPOTHESES = (SPARSE, SMALL_LOSS, SMALL_STEP)

WHOLE = 1e-12
"""Rounding of sums of some thousand products, or of some hundred steps with whole matrices."""


@claim(
    "lemma-d.2",
    "Appendix D.1",
    "If V = alpha [I 0] and attention does not depend on the tokens, the loss is "
    "(d/2) E_y ||Y/q - alpha S_y||^2.",
)
def lemma_d2(evidence: Evidence[FullDescent]) -> Comparison:
    def formula(case: FullDescent) -> Any:
        T, q, d = case.task.T, case.task.q, case.task.d
        return theory.two_level_loss(case.alpha, theory.missed(case.C, T, q), T, q, d)

    def size(case: FullDescent) -> np.ndarray:
        """A residual times its terms, which are as wrong as logits are large."""
        terms = case.task.d * (1 + case.alpha**2)
        return np.sqrt(case.losses * terms) * (1 + np.abs(case.C))

    losses = evidence.each(lambda case: case.losses)
    how: dict[str, Any] = {"rounding": WHOLE, "size": evidence.each(size)}
    return equal(losses, evidence.each(formula), part="loss", **how)


@claim(
    "own/query-token",
    "beside Theorem 3.1",
    "x_query = 0 is not needed: with any x_query that is independent of the tokens, descent stays "
    "on the same two directions.",
    queried=True,
)
@claim(
    "lemma-d.5",
    "Appendix D.2",
    "From zero and with x_query = 0, gradient descent keeps W = C(t) times the centring matrix in "
    "the position block and V = alpha(t) [I 0].",
    queried=False,
)
@claim(
    "lemma-3.2",
    "Section 3.1",
    "From zero, gradient descent keeps W = C(t) times the centring matrix in the position block "
    "and V = alpha(t) [I 0].",
)
def stays_on_directions(
    evidence: Evidence[FullDescent], queried: bool | None = None
) -> list[Comparison]:
    """No step with every entry free leaves the two directions, for any step size."""
    if queried is not None:
        evidence = evidence.where(lambda case: case.queried == queried)

    def entries(case: FullDescent, which: int) -> np.ndarray:
        return np.stack([np.asarray(weights[which]) for weights in case.after])

    def along(case: FullDescent, which: int) -> np.ndarray:
        target = case.direction if which else np.eye(case.task.d, len(case.direction))
        return (case.next_C if which else case.next_alpha)[:, None, None] * target

    def size(case: FullDescent, which: int) -> np.ndarray:
        return np.repeat(case.sizes[which], case.after[0][which].size)

    return [
        equal(
            evidence.each(lambda case, which=which: entries(case, which)),
            evidence.each(lambda case, which=which: along(case, which)),
            rounding=WHOLE,
            size=evidence.each(lambda case, which=which: size(case, which)),
            part=part,
            cases=evidence.cases,
        )
        for which, part in ((1, "W"), (0, "V"))
    ]


@claim(
    "lemma-d.5/attention",
    "Appendix D.2, proof",
    "s_+ > s_- at every step t >= 1: attention on a chosen position exceeds that on any other.",
    on=ONE_HOT,
    kind="misprint",
    first=1,
    versions=[
        repaired(
            "s_+ > s_- from the second step on, and s_+ = s_- before.",
            hypotheses=(SMALL_STEP,),
            first=2,
        )
    ],
    hypotheses=(),
)
def attention_order(evidence: Evidence[Descent], first: int) -> list[Comparison]:
    """C is log(s_+ / s_-); C(1) = C(0) = 0, as alpha(0) = 0, and the proof needs >= alone."""
    later = at_least(
        evidence.C, 0.0, strict=True, from_step=first, part=f"log(s_+ / s_-) > 0 from t = {first}"
    )
    if first == 1:
        return [later]
    before = evidence.C[:, :first]
    return [later, equal(before, 0.0, size=1.0, part="before", places=np.arange(first))]


@claim(
    "equation-6",
    "Section 3.1",
    "The step of gradient descent on the population loss is eta times the right-hand side of (6), "
    "exactly.",
)
def equation_6(evidence: Evidence[FullDescent]) -> list[Comparison]:
    """The right-hand sides as printed, against descent on whole matrices, entry by entry."""
    alpha, C = (
        evidence.each(lambda case, name=name: getattr(case, name)) for name in ("alpha", "C")
    )
    T, q, d, rate = (
        evidence.each(lambda case, name=name: getattr(case.task, name, case.rate))
        for name in ("T", "q", "d", "rate")
    )
    with np.errstate(over="ignore"):  # far below C = 0 nothing is left on the subset
        s = 1 / (q + (T - q) * np.exp(-C))
        grows = s * (1 - alpha * (T * q * s**2 - 2 * q * s + 1) / ((T - q) * s))
    turns = alpha * d / (T - 1) * s * (1 - q * s) * (1 + q * alpha / (T - q) * (1 - T * s))
    return [
        equal(
            evidence.each(
                lambda case, name=name: getattr(case, f"next_{name}") - getattr(case, name)
            ),
            rate * right,
            rounding=WHOLE,
            size=evidence.each(lambda case, which=which: case.sizes[which]),
            part=name,
            cases=evidence.cases,
            places=np.arange(alpha.shape[1]),
        )
        for which, (name, right) in enumerate((("alpha", grows), ("C", turns)))
    ]


def euler_error(case: Descent, rate: float, horizon: float) -> float:
    """The distance of descent with this step size from the flow (6), at a time of order T."""
    dynamics = orthogonal_dynamics([replace(case.plan, rate=rate)])
    single = jax.tree.map(lambda leaf: leaf[0], dynamics)
    field = jax.jit(lambda a, c: jnp.stack(single.increments(Scalars(a, c))))
    flow = solve_ivp(
        lambda _, z: np.asarray(field(*z)), (0, horizon), np.zeros(2), rtol=1e-10, atol=1e-12
    )
    steps = round(horizon / rate)
    end = trajectory(dynamics, steps, steps)
    reached = np.array([float(end.alpha[0, -1]), float(end.C[0, -1])])
    return float(np.abs(reached - flow.y[:, -1]).max())


LARGEST_FLOW, FLOWS = 20, 3
"""The flow is followed for a few tasks, whose T and d are no larger than this: C moves at a speed
that grows with d, and steps of 0.2 and 0.1 must be small for it."""

NEXT_ORDER = 0.1
"""What the next power of the step size may do to the order, at steps of 0.2 and 0.1."""


@claim(
    "equation-6/flow",
    "Section 3.1",
    "Gradient descent is approximated by the differential equation (6): its distance vanishes in "
    "proportion to the step size.",
    on=ONE_HOT,
    hypotheses=(),
)
def equation_6_flow(evidence: Evidence[Descent]) -> Comparison:
    """Halving the step size divides the distance by 2 to the order."""
    few = [c for c in evidence if max(c.task.T, c.task.d) <= LARGEST_FLOW][:FLOWS]
    if not few:
        reason = f"the flow is compared for T and d up to {LARGEST_FLOW}; every task here is larger"
        return Silence(reason, applies=False, part="order")
    errors = [[euler_error(case, rate, 8.0 * case.task.T) for rate in (0.2, 0.1)] for case in few]
    orders = np.log2([large / small for large, small in errors])
    return equal(orders[:, None], 1.0, rounding=NEXT_ORDER, part="order", cases=few)


def reached_by(evidence: Evidence[Descent], bound: np.ndarray) -> list[Comparison]:
    """L <= epsilon within so many steps, and at all later records.

    What did not come within the steps that were looked at breaks a smaller bound, and leaves a
    larger one open.
    """
    assert evidence.steps is not None
    searched, never = LONGER * evidence.steps[-1], np.asarray(evidence.reached < 0)
    still_open = never & (bound >= searched)
    time = np.where(never, np.where(still_open, np.nan, searched), evidence.reached)
    later = np.where(~never & (evidence.steps >= evidence.reached), evidence.loss, np.nan)
    compared: list[Comparison] = [at_most(time, bound, part="time to epsilon")]
    if not np.isnan(later).all():
        compared.append(at_most(later, evidence.epsilon, part="loss from then on"))
    if still_open.any():
        names = [case.name for case, row in zip(evidence, still_open, strict=True) if row.any()]
        reason = f"epsilon is not reached within the steps allowed on {', '.join(names)}"
        compared.append(Silence(reason, part="time to epsilon"))
    return compared


@claim(
    "theorem-d.4",
    "Appendix D.2",
    "With one-hot encodings, joint training from zero has L <= epsilon from "
    "O~(T^2 d / (eta epsilon)) steps on.",
    hypotheses=HYPOTHESES,
    on=ONE_HOT,
)
@claim(
    "theorem-3.1",
    "Section 3.1",
    "With one-hot encodings, joint training from zero has L <= epsilon from "
    "O~(T^2 d / (eta epsilon)) steps on.",
    hypotheses=HYPOTHESES,
    on=ONE_HOT,
)
def time_to_epsilon(evidence: Evidence[Descent]) -> list[Comparison]:
    """The exact time, with constants and logarithms 1; its powers; and all later records.

    The powers of T, d, 1/epsilon and 1/eta are fitted where plans reach over enough of each.
    """
    T, d, rate, epsilon, time = (
        evidence.columns[name] for name in ("T", "d", "rate", "epsilon", "reached")
    )
    compared = reached_by(evidence, T**2 * d / (rate * epsilon))
    powers = {
        "T": (T, 2.0),
        "d": (d, 1.0),
        "1/epsilon": (1 / epsilon, 1.0),
        "1/eta": (1 / rate, 1.0),
    }
    if (time > 0).all() and all(spans(column) for column, _ in powers.values()):
        compared.append(grows_like("growth of the time", time, powers, logs=True))
    return compared

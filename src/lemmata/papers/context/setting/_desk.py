"""Training the user's own plans. JSON-able answers."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from lemmata._errors import InputError
from lemmata.papers.context.setting._analysis import SETTING, problems_of
from lemmata.papers.context.setting._laws import label_moment, shifted_law
from lemmata.papers.context.setting._model import Weights, system_of
from lemmata.papers.context.setting._plan import Plan
from lemmata.papers.context.setting._training import (
    AdamState,
    AdamTraining,
    Descent,
    DescentState,
    Training,
)
from lemmata.training import AbstractDynamics, Recording, Store, log_spaced, record_steps, run

ALGORITHMS = ("gd", "adam")
USUAL_STEPS = {"gd": 10_000, "adam": 1_000}
USUAL_RATE = 1e-3
"""Of Adam, as usual; Section 4 has 1e-4."""

MOST_STEPS = 1_000_000_000
BLOWN_UP = 1e6
"""A gap so many times the first one means that training has diverged."""

Track = Callable[[str, int], Callable[[int], None]]


@dataclass(frozen=True)
class TrainingRequest:
    """What the user asked for; None means the usual choice."""

    algorithm: str = "gd"
    rate: float | str | None = None
    steps: int | None = None
    stage1_rate: float | str | None = None
    stage1_steps: int | None = None
    record: tuple[int, ...] | None = None
    loss: str | None = None
    head: str | None = None
    epsilon: float | None = None
    predict: tuple[str, ...] = ()

    def validate(self, plans: Sequence[Plan]) -> None:
        """Reject what cannot be run, before anything is computed or written."""
        for given, why in (
            (self.stage1_rate, "has one stage; leave out --stage1-lr"),
            (self.stage1_steps, "has one stage; leave out --stage1-steps"),
            (self.loss, "trains with the squared loss only; leave out --loss"),
            (self.head, "trains Q and w and has no head; leave out --head (H is in the plan)"),
            (
                self.epsilon,
                "does not normalize; leave out --epsilon (the error to reach is in the plan)",
            ),
            (self.predict or None, "has no vocabulary; leave out --predict"),
        ):
            if given is not None:
                raise InputError(f"the context setting {why}")
        if self.algorithm not in ALGORITHMS:
            raise InputError(f"unknown algorithm '{self.algorithm}'; use {', '.join(ALGORITHMS)}")
        if isinstance(self.rate, str):
            raise InputError(f"--lr takes a number here; got '{self.rate}'")
        if self.rate is not None and not (math.isfinite(self.rate) and self.rate > 0):
            raise InputError(f"the step size must be a positive number; got {self.rate}")
        self.recorded()
        for plan in plans:
            self.rates(plan)

    @property
    def total(self) -> int:
        """How many steps."""
        return USUAL_STEPS[self.algorithm] if self.steps is None else self.steps

    def recorded(self) -> Int[np.ndarray, "records"]:
        """The steps to record, the last one always."""
        if self.total > MOST_STEPS:
            raise InputError(f"{self.total:,} steps are too many (at most {MOST_STEPS:,})")
        if self.record is None and self.total >= 0:
            return log_spaced(self.total)
        return record_steps((*(self.record or ()), self.total), self.total)

    @property
    def by_theory(self) -> bool:
        """Whether the step sizes are those of (16)."""
        return self.algorithm == "gd" and self.rate is None

    def rates(self, plan: Plan) -> tuple[float, float]:
        """eta_Q and eta_w: --lr for both, or those of (16), or the usual one of Adam."""
        if not self.by_theory:
            rate = USUAL_RATE if self.rate is None else float(self.rate)
            return rate, rate
        codes = {problem.code for problem in plan.problems}
        for code, why in (
            ("no_noise", "tau = 0"),
            ("no_full_rank", "zeta_0 = 0"),
            ("zeta_unresolved", "zeta_0 is too small for float64"),
        ):
            if code in codes:
                raise InputError(
                    f"{plan.name}: the theory has no step size, as {why}; say one with --lr, or "
                    "use --algorithm adam"
                )
        return float(plan.rates.Q), float(plan.rates.w)


def train(
    plans: Sequence[Plan], request: TrainingRequest, *, store: Store | None, track: Track
) -> dict[str, Any]:
    """Train as planned and record the gap, and the errors in domain and out of it."""
    request.validate(plans)
    progress = track("training", len(plans) * request.total)
    return {
        "setting": SETTING,
        "rule": describe_rule(request, plans),
        "instances": [_train(plan, request, store, progress) for plan in plans],
    }


def describe_rule(request: TrainingRequest, plans: Sequence[Plan]) -> str:
    """What exactly is run, in one sentence."""
    rates = [request.rates(plan) for plan in plans]
    Q, w = (_span(sizes) for sizes in zip(*rates, strict=True))
    if request.algorithm == "adam":
        return f"Adam on Q and w, population loss, float32: {request.total:,} steps of size {w}"
    source = "the step sizes of (16)" if request.by_theory else "one step size for Q and w"
    return (
        f"gradient descent on Q and w, population loss: {request.total:,} steps, {source}, eta_Q = "
        f"{Q}, eta_w = {w}"
    )


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


class WatchedState(NamedTuple):
    """A state, the number of steps, and at which of them training diverged, or -1."""

    inner: DescentState | AdamState
    t: Int[Array, "*batch"]
    diverged: Int[Array, "*batch"]


class Watched(AbstractDynamics[WatchedState]):
    """Training that stays where it is once the gap blows up.

    Attributes:
        inner: gradient descent or Adam.
        elsewhere: E y y' of prompts out of domain.
        limit: the gap from which on it counts as blown up.
        lag: 1 if a state knows the gap before its last step only, as with Adam.
    """

    inner: Descent | AdamTraining
    elsewhere: Float[Array, "*batch N N"]
    limit: Float[Array, "*batch"]
    lag: int = eqx.field(static=True)

    def init(self) -> WatchedState:
        zero = jnp.zeros((), dtype=jnp.int64)
        return WatchedState(self.inner.init(), zero, zero - 1)

    def step(self, state: WatchedState) -> WatchedState:
        after = self.inner.step(state.inner)  # pyright: ignore[reportArgumentType]
        stopped = ~(after.gap <= self.limit) | (state.diverged >= 0)
        kept = jax.tree.map(lambda new, old: jnp.where(stopped, old, new), after, state.inner)
        at = jnp.where(state.diverged >= 0, state.diverged, state.t + 1 - self.lag)
        return WatchedState(kept, state.t + 1, jnp.where(stopped, at, state.diverged))

    def measure(self, state: WatchedState) -> dict[str, Float[Array, "..."]]:
        system, weights = self.inner.system, state.inner.weights
        combined = system.attention(weights.Q).combine(weights.w)
        gap, _ = system.error(combined)
        away = combined - system.target
        first = self.inner.start.Q
        moved = jnp.sum((weights.Q - first) ** 2) / jnp.sum(first**2)
        return {
            "gap": gap,
            "out_of_domain": jnp.sum(away * (self.elsewhere @ away)) / system.count,
            "moved_Q": jnp.sqrt(moved),
        }


def watched(plan: Plan, request: TrainingRequest) -> Watched:
    """The run of a plan as one instance, with a leading axis of length one."""
    task, rates = plan.task, request.rates(plan)
    seen = label_moment(task, shifted_law(task.m))
    if request.algorithm == "adam":
        inner, kind, lag = _adam(plan, rates[1]), jnp.float32, 1
    else:
        inner, kind, lag = _descent(plan, rates, request.by_theory), jnp.float64, 0
    limit = jnp.asarray([BLOWN_UP * task.initial_gap], dtype=kind)
    return Watched(inner, jnp.asarray(seen[None], dtype=kind), limit, lag)


def _adam(plan: Plan, rate: float) -> AdamTraining:
    usual = Training(plan.task, plan.heads, rate=rate).dynamics()
    start = Weights(*(leaf[None].astype(jnp.float32) for leaf in plan.start))
    return eqx.tree_at(lambda training: training.start, usual, start)


def _descent(plan: Plan, rates: tuple[float, float], by_theory: bool) -> Descent:
    guaranteed = float(plan.rates.guaranteed) if by_theory else 0.0
    one = Descent(
        system_of(plan.task, plan.heads), plan.start, jnp.asarray(rates), jnp.asarray(guaranteed)
    )
    return jax.tree.map(lambda leaf: leaf[None], one)


def _train(
    plan: Plan, request: TrainingRequest, store: Store | None, progress: Callable[[int], None]
) -> dict[str, Any]:
    steps = request.recorded()
    found = run(watched(plan, request), steps, store=store, progress=progress, group=1, chunk=1)
    series = {name: rows[0].astype(float) for name, rows in found.series.items()}
    at = _diverged(plan, found, series["gap"])
    eta_Q, eta_w = request.rates(plan)
    answer = {
        "name": plan.name,
        "trained": True,
        "problems": problems_of(plan),
        "eta_Q": eta_Q,
        "eta_w": eta_w,
        "diverged": at,
        "reason": None if at is None else _advice(plan, request, at),
        "steps": found.steps,
        "gap": series["gap"],
        "loss": series["gap"] + plan.task.minimum,
        "in_domain": 2 * series["gap"],
        "out_of_domain": series["out_of_domain"],
        "moved_Q": series["moved_Q"],
    }
    if request.by_theory:
        rate = float(plan.rates.guaranteed)
        answer["guarantee"] = plan.task.initial_gap * np.exp(found.steps * math.log1p(-rate))
    return answer


def _diverged(
    plan: Plan, found: Recording[WatchedState], gap: Float[np.ndarray, "records"]
) -> int | None:
    """The step at which the gap blew up, which may be the very last one."""
    at = int(np.asarray(found.final.diverged)[0])
    if at < 0 and not gap[-1] <= BLOWN_UP * plan.task.initial_gap:
        at = int(found.steps[-1])
    return None if at < 0 else at


def _advice(plan: Plan, request: TrainingRequest, step: int) -> str:
    rate = request.rates(plan)[1]
    text = f"diverged at step {step}: use a step size below {rate:g}"
    if request.algorithm == "adam":
        return f"{text} (1e-3 or less, as a rule)"
    stable = plan.frozen.largest_stable_rate
    return f"{text} (as attention starts, descent on w is stable below {stable:.4g})"

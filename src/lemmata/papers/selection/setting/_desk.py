"""Training the user's own plans. JSON-able answers."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from lemmata._errors import InputError
from lemmata.papers.selection.setting._analysis import SETTING, problems_of
from lemmata.papers.selection.setting._encodings import one_hot
from lemmata.papers.selection.setting._forecast import loss_elsewhere, two_scalars
from lemmata.papers.selection.setting._plan import Plan
from lemmata.papers.selection.setting._training import Training, TrainingRun
from lemmata.papers.selection.setting._two_scalars import Scalars, TwoScalars
from lemmata.training import AbstractDynamics, Store, log_spaced, record_steps, run

ALGORITHMS = ("gd", "sgd", "adam")
USUAL_STEPS = {"gd": 100_000, "sgd": 1_000, "adam": 1_000}
USUAL_RATES = {"sgd": 1.0, "adam": 1e-3}
"""Of Section 4, and of Adam."""

MOST_STEPS = 1_000_000_000
WIDEST = 5_000
"""Of a matrix W that is trained in full."""

MOST_NUMBERS = 50_000_000
"""Of tokens in a batch."""

SAFE_DIMENSIONS = 60
"""In so many dimensions no two random sign vectors will ever coincide."""

LARGEST_ALPHA = 1e6
"""Beyond this gradient descent has diverged."""

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
            (self.head, "trains V and W and has no head; leave out --head"),
            (
                self.epsilon,
                "does not normalize; leave out --epsilon (the loss to reach is eps in the plan)",
            ),
            (self.predict or None, "has no vocabulary; leave out --predict"),
        ):
            if given is not None:
                raise InputError(f"the selection setting {why}")
        if self.algorithm not in ALGORITHMS:
            raise InputError(f"unknown algorithm '{self.algorithm}'; use {', '.join(ALGORITHMS)}")
        if isinstance(self.rate, str):
            raise InputError(f"--lr takes a number here; got '{self.rate}'")
        if self.rate is not None and not (math.isfinite(self.rate) and self.rate > 0):
            raise InputError(f"the step size must be a positive number; got {self.rate}")
        self.recorded()
        for plan in plans:
            if self.algorithm == "gd":
                _check_descent(plan)
            else:
                self.online(plan)

    @property
    def total(self) -> int:
        """How many steps."""
        return USUAL_STEPS[self.algorithm] if self.steps is None else self.steps

    def step_size(self, plan: Plan) -> float:
        """The step size: --lr, or the plan's eta, or the usual one."""
        if self.rate is not None:
            return float(self.rate)
        if self.algorithm == "gd":
            return plan.rate
        stated = plan.training.rate if self.algorithm == "sgd" else None
        return USUAL_RATES[self.algorithm] if stated is None else stated

    def recorded(self) -> Int[np.ndarray, "records"]:
        """The steps to record, the last one always."""
        if self.total > MOST_STEPS:
            raise InputError(f"{self.total:,} steps are too many (at most {MOST_STEPS:,})")
        if self.record is None and self.total >= 0:
            return log_spaced(self.total)
        return record_steps((*(self.record or ()), self.total), self.total)

    def online(self, plan: Plan) -> Training:
        """Training on samples, as the plan has it."""
        how, task = plan.training, plan.task
        longest = max([task.T, *(T for T, _ in how.tests)])
        d_e = longest if plan.d_e is None else plan.d_e
        if task.d + d_e > WIDEST or how.samples * task.d * longest > MOST_NUMBERS:
            raise InputError(
                f"{plan.name}: training on samples with d + d_e = {task.d + d_e:,} (at most "
                f"{WIDEST:,}) and samples d T = {how.samples * task.d * longest:,} (at most "
                f"{MOST_NUMBERS:,}) is too large; use --algorithm gd, which needs no samples"
            )
        if plan.kind != "random" and how.encodings == "stochastic":
            raise InputError(
                f"{plan.name}: stochastic encodings are random ones; say d_e, and no encodings"
            )
        if plan.kind == "random" and plan.threshold >= 1 and d_e < SAFE_DIMENSIONS:
            raise InputError(
                f"{plan.name}: sign vectors in {d_e} dimensions coincide now and then, and then "
                "e_y does not exist; say a threshold below 1, or more dimensions"
            )
        if plan.encodings is not None and longest > task.T:
            raise InputError(
                f"{plan.name}: a test with T = {longest} needs encodings for {longest} positions; "
                f"there are {task.T}"
            )
        algorithm: Literal["sgd", "adam"] = "adam" if self.algorithm == "adam" else "sgd"
        usual = "stochastic" if plan.kind == "random" else "fixed"
        try:
            return Training(
                task=task,
                d_e=d_e,
                encodings=how.encodings or usual,
                threshold=plan.threshold,
                samples=how.samples,
                algorithm=algorithm,
                rate=self.step_size(plan),
                later_rate=how.later_rate,
                change=how.change,
                initial=how.initial,
                x_query=how.x_query,
                steps=self.total,
                record=tuple(int(t) for t in self.recorded()),
                tests=how.tests,
                seed=how.seed,
            )
        except InputError as error:
            raise InputError(f"{plan.name}: {error}") from error


def _check_descent(plan: Plan) -> None:
    """Gradient descent in two numbers starts at zero and averages over encodings."""
    how = plan.training
    if how.initial:
        raise InputError(
            f"{plan.name}: gradient descent in two numbers starts from zero, not from random "
            "weights; leave out initial, or use --algorithm sgd"
        )
    if how.encodings == "fixed" and plan.kind != "one-hot":
        raise InputError(
            f"{plan.name}: with fixed encodings gradient descent leaves the two directions; leave "
            'out "encodings": "fixed", or use --algorithm sgd'
        )


def train(
    plans: Sequence[Plan], request: TrainingRequest, *, store: Store | None, track: Track
) -> dict[str, Any]:
    """Train as planned and record the loss and the two numbers."""
    request.validate(plans)
    progress = track("training", len(plans) * request.total)
    work = _descend if request.algorithm == "gd" else _train_online
    return {
        "setting": SETTING,
        "rule": describe_rule(request, plans),
        "instances": [work(plan, request, store, progress) for plan in plans],
    }


def describe_rule(request: TrainingRequest, plans: Sequence[Plan]) -> str:
    """What exactly is run, in one sentence."""
    rates = sorted({request.step_size(plan) for plan in plans})
    size = f"{rates[0]:g}" if len(rates) == 1 else f"{rates[0]:g} to {rates[-1]:g}"
    names = {
        "gd": "gradient descent on the population loss, (3) or for random encodings (4), in the "
        "two numbers alpha and C that it comes down to",
        "sgd": "stochastic gradient descent on V and W, a fresh batch a step",
        "adam": "Adam on V and W, a fresh batch a step",
    }
    return f"{names[request.algorithm]}: {request.total:,} steps of size {size}"


class GuardedState(NamedTuple):
    """alpha and C, the number of steps, and at which of them descent diverged, or -1."""

    scalars: Scalars
    t: Int[Array, "*batch"]
    diverged: Int[Array, "*batch"]


class GuardedDescent(AbstractDynamics[GuardedState]):
    """The recursion, which stays where it is once alpha blows up."""

    inner: TwoScalars

    def init(self) -> GuardedState:
        zero = jnp.zeros((), dtype=jnp.int64)
        return GuardedState(self.inner.init(), zero, zero - 1)

    def step(self, state: GuardedState) -> GuardedState:
        after = self.inner.step(state.scalars)
        fine = (jnp.abs(after.alpha) <= LARGEST_ALPHA) & jnp.isfinite(after.C)
        stopped = ~fine | (state.diverged >= 0)
        kept = jax.tree.map(lambda new, old: jnp.where(stopped, old, new), after, state.scalars)
        first = stopped & (state.diverged < 0)
        return GuardedState(kept, state.t + 1, jnp.where(first, state.t + 1, state.diverged))

    def measure(self, state: GuardedState) -> dict[str, Float[Array, "..."]]:
        missed = self.inner.attention.moments(state.scalars.C).missed
        loss = self.inner.loss(state.scalars)
        return {**state.scalars._asdict(), "loss": loss, "missed": missed}


def _descend(
    plan: Plan, request: TrainingRequest, store: Store | None, progress: Callable[[int], None]
) -> dict[str, Any]:
    plan = replace(plan, rate=request.step_size(plan))
    dynamics = GuardedDescent(jax.tree.map(lambda leaf: leaf[:1], two_scalars(plan)))
    found = run(dynamics, request.recorded(), store=store, progress=progress)
    series = {name: rows[0] for name, rows in found.series.items()}
    at = int(np.asarray(found.final.diverged)[0])
    tests = {
        f"T={T} q={q}": loss_elsewhere(plan, series["alpha"], series["C"], T=T, q=q)
        for T, q in plan.training.tests
    }
    return _header(plan, None if at < 0 else at) | {
        "steps": found.steps,
        **series,
        "tests": {task: losses for task, losses in tests.items() if losses is not None},
    }


def _train_online(
    plan: Plan, request: TrainingRequest, store: Store | None, progress: Callable[[int], None]
) -> dict[str, Any]:
    how = request.online(plan)
    dynamics = how.dynamics()
    E = one_hot(how.d_e) if plan.kind == "one-hot" else plan.encodings
    if E is not None:
        given = jnp.asarray(E, dtype=jnp.float32)[None]
        dynamics = eqx.tree_at(lambda online: online.E, dynamics, given)
    steps = request.recorded()
    found = TrainingRun(how, run(dynamics, steps, store=store, progress=progress, group=1, chunk=1))
    # One-hot encodings give W along I - 11'/T of norm sqrt(T - 1), not along I.
    share = how.d_e / (plan.task.T - 1) if plan.kind == "one-hot" else 1.0
    return _header(replace(plan, rate=how.rate), found.diverged) | {
        "steps": found.steps,
        **{name: found[name] for name in ("loss", "alpha", "cosine_V")},
        "C": share * found["C"],
        "cosine_W": math.sqrt(share) * found["cosine_W"],
        "population": found.task("population", plan.task.T, plan.task.q),
        "tests": {f"T={T} q={q}": found.task("population", T, q) for T, q in how.tests},
        "validation": {f"T={T} q={q}": found.task("validation", T, q) for T, q in how.tests},
    }


def _header(plan: Plan, diverged: int | None) -> dict[str, Any]:
    limit = 2 * plan.task.q
    reason = (
        f"diverged at step {diverged}: use a step size below {plan.rate:g} (gradient descent is "
        f"stable below 2q = {limit})"
    )
    return {
        "name": plan.name,
        "trained": True,
        "problems": [
            {"code": p.code, "where": p.where, "message": p.message} for p in problems_of(plan)
        ],
        "rate": plan.rate,
        "encodings": plan.kind,
        "diverged": diverged,
        "reason": None if diverged is None else reason,
    }

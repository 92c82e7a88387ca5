"""Training plans as users ask for it: descent in two numbers, or SGD and Adam on samples."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.papers._plan_training import AbstractPlanTraining
from lemmata.settings import once_each
from lemmata.training import Guarded, Store, run

from ..theory import width_law
from ._descents import LANES, descents
from ._encodings import one_hot
from ._forecast import loss_elsewhere
from ._networks import least_loss
from ._plan import Plan, Query
from ._plan_checks import check_descent, check_net, check_online
from ._trained_networks import USUAL_RATE as NET_RATE
from ._trained_networks import NetTraining
from ._trained_plan import TrainedPlan
from ._training import Training, TrainingRun
from ._two_scalars import TwoScalars

ALGORITHMS = ("gd", "sgd", "adam")
USUAL_STEPS = {"gd": 100_000, "sgd": 1_000, "adam": 1_000}
USUAL_RATES = {"sgd": 1.0, "adam": 1e-3}
"""Of Section 4, and of Adam."""

LARGEST_ALPHA = 1e6
"""Beyond this gradient descent has diverged."""

FRESH = "a fresh batch a step"

RULES = {
    "gd": "gradient descent on the population loss, (3) or for random encodings (4), in the two "
    "numbers alpha and C that it comes down to",
    "sgd": f"stochastic gradient descent on V and W, {FRESH}",
    "adam": f"Adam on V and W, {FRESH}",
}

SMALLEST = {
    "seed": 0,
    "samples": 1,
    "initial": 0,
    "factors": 0,
    "queries": 1,
    "heads": 1,
    "width": 1,
}
"""What may be asked for."""

HEADS_HINT = (
    "No theorem of the paper covers several heads: one may subtract what another attends to in "
    "vain, and then the loss vanishes while all of them miss much of the subset"
)


@dataclass(frozen=True)
class PlanTraining(AbstractPlanTraining):
    """How plans are trained: ``gd`` on the population loss, ``sgd`` or ``adam`` on samples.

    Attributes:
        seed: everything random.
        samples, x_query, initial, factors, queries, heads: for training on samples, see
            ``Training``.
        width: trains a fully connected net in the place of the transformer, whose first layer has
            so many neurons.
    """

    usual_steps: ClassVar = USUAL_STEPS

    seed: int | None = None
    samples: int | None = None
    x_query: Query | None = None
    initial: float | None = None
    factors: int | None = None
    queries: int | None = None
    heads: int | None = None
    width: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in SMALLEST.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} must be at least {least}; got {value}")

    def step_size(self, plan: Plan) -> float:
        """The one asked for, or the plan's eta, or the usual one."""
        if self.rate is not None:
            return float(self.rate)
        if self.algorithm == "gd":
            return plan.rate
        if self.width is not None:
            return NET_RATE
        stated = plan.training.rate if self.algorithm == "sgd" else None
        return USUAL_RATES[self.algorithm] if stated is None else stated

    def rule(self, plans: Sequence[Plan]) -> str:
        """What exactly is run, in one sentence."""
        rates = sorted({self.step_size(plan) for plan in plans})
        size = f"{rates[0]:g}" if len(rates) == 1 else f"{rates[0]:g} to {rates[-1]:g}"
        rule = f"{self._rule(plans)}: {self.total:,} steps of size {size}"
        several = self.width is None and max(self._asked("heads", plans)) > 1
        return f"{rule}. {HEADS_HINT}" if several else rule

    def _rule(self, plans: Sequence[Plan]) -> str:
        if self.width is not None:
            neurons = f"{self.width} neuron{'s' if self.width > 1 else ''}"
            return f"Adam on a fully connected net with {neurons} in its first layer, {FRESH}"
        kinds = {
            "V, K and Q" if factors else "V and W" for factors in self._asked("factors", plans)
        }
        trained, heads = " or ".join(sorted(kinds)), sorted(set(self._asked("heads", plans)))
        if heads != [1]:
            trained += f" of {' or '.join(map(str, heads))} heads, whose outputs are added"
        return RULES[self.algorithm].replace("V and W", trained)

    def _asked(self, name: Literal["factors", "heads"], plans: Sequence[Plan]) -> list[int]:
        """A number of each plan, or the one that was asked for."""
        own = getattr(self, name)
        return [getattr(plan.training, name) if own is None else own for plan in plans]

    def of(self, plan: Plan) -> Plan:
        """The plan as it is trained; refused if it cannot be."""
        names = ("seed", "samples", "x_query", "initial", "factors", "queries", "heads")
        said = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        training = replace(plan.training, **said)
        changed = replace(plan, rate=self.step_size(plan), training=training)
        if self.width is not None:
            check_net(changed)
        elif self.algorithm == "gd":
            check_descent(changed)
        else:
            self.online(changed)
        return changed

    def online(self, plan: Plan) -> Training:
        """Training on samples, as the plan has it."""
        how, task = plan.training, plan.task
        longest = max([task.T, *(T for T, _ in how.tests)])
        d_e = longest if plan.d_e is None else plan.d_e
        check_online(plan, longest, d_e)
        try:
            return Training.of(
                plan,
                d_e=d_e,
                encodings=how.encodings or ("stochastic" if plan.kind == "random" else "fixed"),
                algorithm=self.algorithm,
                rate=self.step_size(plan),
                steps=self.total,
                record=tuple(int(t) for t in self.recorded),
            )
        except InputError as error:
            raise InputError(f"{plan.name}: {error}") from error

    def run(
        self, plans: Sequence[Plan], *, store: Store | None, progress: Callable[[int], None]
    ) -> list[TrainedPlan]:
        """Train the plans."""
        chosen = once_each(self.of, plans, lambda: None)
        if self.width is not None or self.algorithm != "gd":
            return once_each(
                lambda plan: self._train_alone(plan, store, progress),
                chosen,
                lambda: progress(self.total),
            )
        trained: list[TrainedPlan | None] = [None] * len(chosen)
        for places, dynamics in descents(chosen):
            plans_here = [chosen[i] for i in places]
            found = self._descend(plans_here, dynamics, store, progress)
            for i, one in zip(places, found, strict=True):
                trained[i] = one
        return [one for one in trained if one is not None]

    def _descend(
        self,
        plans: Sequence[Plan],
        batch: TwoScalars,
        store: Store | None,
        progress: Callable[[int], None],
    ) -> Iterator[TrainedPlan]:
        """Plans whose recursions have the same shape, side by side."""
        many, lanes = len(plans), len(batch.rate)
        dynamics = Guarded(batch, jax.device_put(np.full(lanes, LARGEST_ALPHA)))
        recording = run(
            dynamics,
            self.recorded,
            store=store,
            progress=lambda done: progress(done * many // lanes),
            group=LANES[-1],
        )
        diverged = np.asarray(recording.final.diverged)
        for i, plan in enumerate(plans):
            series = {name: recording.series[name][i] for name in ("alpha", "C", "loss", "missed")}
            elsewhere = {
                f"T={T} q={q}": loss_elsewhere(plan, series["alpha"], series["C"], T=T, q=q)
                for T, q in plan.training.tests
            }
            tests = {task: losses for task, losses in elsewhere.items() if losses is not None}
            stopped = None if diverged[i] < 0 else int(diverged[i])
            yield TrainedPlan(plan, series, stopped, {"tests": tests})

    def _train_alone(
        self, plan: Plan, store: Store | None, progress: Callable[[int], None]
    ) -> TrainedPlan:
        """A net, or a transformer on samples."""
        if self.width is not None:
            return self._train_net(plan, self.width, store, progress)
        return self._train_online(plan, store, progress)

    def _train_online(
        self, plan: Plan, store: Store | None, progress: Callable[[int], None]
    ) -> TrainedPlan:
        training = self.online(plan)
        dynamics = training.dynamics()
        E = one_hot(training.d_e) if plan.kind == "one-hot" else plan.encodings
        if E is not None:
            given = jax.device_put(E.astype(np.float32)[None])
            dynamics = eqx.tree_at(lambda online: online.E, dynamics, given)
        recording = run(dynamics, self.recorded, store=store, progress=progress, group=1, chunk=1)
        trained = TrainingRun(training, recording)
        names = {f"T={T} q={q}": (T, q) for T, q in training.tests}
        losses = {
            "tests": {name: trained.task("population", *task) for name, task in names.items()},
            "validation": {name: trained.task("validation", *task) for name, task in names.items()},
        }
        columns = _along_theory(plan, trained)
        if training.heads > 1:
            losses["heads"] = {**columns, "missed": trained.of_heads("missed")}
            columns = _over_heads(losses["heads"])
        population = trained.task("population", plan.task.T, plan.task.q)
        series = {"loss": trained["loss"], **columns, "population": population}
        return TrainedPlan(plan, series, trained.diverged, losses, trained)

    def _train_net(
        self, plan: Plan, width: int, store: Store | None, progress: Callable[[int], None]
    ) -> TrainedPlan:
        """Half the squared error on fresh samples, as of the transformer."""
        how = plan.training
        training = NetTraining.of(
            plan.task,
            [width],
            steps=self.total,
            samples=how.samples,
            rate=self.step_size(plan),
            seed=how.seed,
        )
        recording = run(training, self.recorded, store=store, progress=progress, group=1, chunk=1)
        first = np.asarray(recording.final.weights.first, dtype=float)[0]
        net = {
            "width": width,
            "standard_error": 0.5 * float(recording.series["error"][0, -1]),
            "least_of_width": 0.5 * float(width_law(plan.T, plan.q, plan.d, width)),
            "least_with_first_layer": 0.5 * least_loss(plan.task, first[:, : plan.T * plan.d]),
        }
        loss = 0.5 * recording.series["loss"][0].astype(float)
        series = {"loss": loss, "least": np.full(len(loss), net["least_of_width"])}
        weights = recording.final.weights._asdict()
        layers = {name: np.asarray(leaf[0], dtype=float) for name, leaf in weights.items()}
        return TrainedPlan(plan, series, None, {"net": net}, net=layers)


def _along_theory(plan: Plan, trained: TrainingRun) -> dict[str, Float[np.ndarray, "..."]]:
    """alpha, C and the cosines of one head; of several, with one row a head."""
    read = trained.of_heads if trained.how.heads > 1 else trained.__getitem__
    # One-hot encodings give W along I - 11'/T of norm sqrt(T - 1), not along I.
    share = trained.how.d_e / (plan.task.T - 1) if plan.kind == "one-hot" else 1.0
    return {
        "alpha": read("alpha"),
        "C": share * read("C"),
        "cosine_V": read("cosine_V"),
        "cosine_W": math.sqrt(share) * read("cosine_W"),
    }


def _over_heads(
    numbers: dict[str, Float[np.ndarray, "heads records"]],
) -> dict[str, Float[np.ndarray, "records"]]:
    """What is recorded of several heads together, at each record over all of them."""
    missed, alpha = numbers["missed"], numbers["alpha"]
    return {
        "least_missed": missed.min(axis=0),
        "most_missed": missed.max(axis=0),
        "least_alpha": alpha.min(axis=0),
    }

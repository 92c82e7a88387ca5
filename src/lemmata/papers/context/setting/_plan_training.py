"""Training plans as users ask for it, with a stop where it blows up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import jax
import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.papers._plan_training import AbstractPlanTraining
from lemmata.settings import Matrices
from lemmata.training import Guarded, GuardedState, Recording, Store, run

from ._batches import POINTS, Size, batches_of, group_of, shape_of
from ._deep import NORMS, PROMPTS, DeepRun, DeepTraining
from ._frozen import attention_of
from ._laws import label_root, shifted_law
from ._model import Weights, pad_systems, pad_weights, single, stack_padded
from ._path import Path, PlanDescent
from ._plan import Plan
from ._training import Training, side_by_side

ALGORITHMS = ("gd", "adam")
USUAL_STEPS = {"gd": 10_000, "adam": 1_000}
USUAL_RATE = 1e-3
"""Of Adam, as usual; Section 4 has 1e-4."""

USUAL_BATCH = 256
"""As in Section 4."""

USUAL_WIDTHS = {"d_model": 64, "d_ff": 128}
"""Of an encoder; Section 4 has four times as much, which takes an hour for what these do in two
minutes."""

BLOWN_UP = 1e6
"""A gap so many times the first one means that training has diverged."""

NO_STEP_SIZE = {
    "no_noise": "tau = 0",
    "no_full_rank": "zeta_0 = 0",
    "zeta_unresolved": "zeta_0 is too small for float64",
}
"""Problems with which (16) says nothing."""


@dataclass(frozen=True)
class PlanTraining(AbstractPlanTraining):
    """How plans are trained; None means the usual choice.

    ``adam`` is in float32. One step size is for Q and w; ``gd`` has those of (16) unless it is
    given.

    Attributes:
        sample: train on batches from so many prompts; 0 for the population loss.
        batch: prompts in a batch.
        frozen: keep Q where it starts.
        seed: of the first weights and the sample, in the place of the plan's.
        layers: 1 for the transformer of Section 2; with more, an encoder as in Section 4.
        norm, d_model, d_ff: of that encoder, see ``DeepTraining``.
    """

    usual_steps: ClassVar = USUAL_STEPS

    sample: int = 0
    batch: int = USUAL_BATCH
    frozen: bool = False
    seed: int | None = None
    layers: int = 1
    norm: str = NORMS[0]
    d_model: int = USUAL_WIDTHS["d_model"]
    d_ff: int = USUAL_WIDTHS["d_ff"]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sample < 0 or self.batch < 1:
            raise InputError(
                f"sample and batch are numbers of prompts; got {self.sample} and {self.batch}"
            )
        if self.seed is not None and not 0 <= self.seed < 2**32:
            raise InputError(f"seed must be a whole number from 0 to 2^32 - 1; got {self.seed}")
        if self.layers < 1:
            raise InputError(f"layers must be a positive number; got {self.layers}")

    def seeded(self, plan: Plan) -> Plan:
        """The plan, with the seed that was asked for."""
        return plan if self.seed is None else replace(plan, seed=self.seed)

    @property
    def by_theory(self) -> bool:
        """Whether the step sizes are those of (16)."""
        return self.algorithm == "gd" and self.rate is None

    def rates(self, plan: Plan) -> tuple[float, float]:
        """eta_Q and eta_w: the one asked for, or those of (16), or the usual one of Adam."""
        if not self.by_theory:
            rate = USUAL_RATE if self.rate is None else float(self.rate)
            return rate, rate
        refusal = self.refusal(plan)
        if refusal is not None:
            raise InputError(refusal)
        return float(plan.rates.Q), float(plan.rates.w)

    def refusal(self, plan: Plan) -> str | None:
        """Why a plan cannot be trained like this, if it cannot."""
        if self.layers > 1 and self.d_model % plan.heads:
            return (
                f"{plan.name}: the heads share d_model = {self.d_model} evenly, so that H = "
                f"{plan.heads} must divide it; say another one with --d-model"
            )
        codes = {problem.code for problem in plan.problems} if self.by_theory else {}
        for code, why in NO_STEP_SIZE.items():
            if code in codes:
                return (
                    f"{plan.name}: the theory has no step size, as {why}; say one with --lr, or "
                    "use --algorithm adam"
                )
        return None

    def rule(self, plans: Sequence[Plan]) -> str:
        """What exactly is run, in one sentence."""
        rates = [self.rates(plan) for plan in plans]
        Q, w = (_span(sizes) for sizes in zip(*rates, strict=True))
        if self.layers > 1:
            return (
                f"Adam on {self.layers} layers ({self.norm}-norm, d_model = {self.d_model}, d_ff = "
                f"{self.d_ff}), batches of {self.batch:,} from {self.prompts:,} prompts, float32: "
                f"{self.total:,} steps of size {w}"
            )
        if self.algorithm == "adam":
            loss = "population loss"
            if self.sample:
                loss = f"batches of {self.batch:,} from {self.sample:,} prompts"
            trained = "w with Q frozen" if self.frozen else "Q and w"
            return f"Adam on {trained}, {loss}, float32: {self.total:,} steps of size {w}"
        source = "the step sizes of (16)" if self.by_theory else "one step size for Q and w"
        return (
            f"gradient descent on Q and w, population loss: {self.total:,} steps, {source}, eta_Q "
            f"= {Q}, eta_w = {w}"
        )

    @property
    def prompts(self) -> int:
        """Of the sample of an encoder, which has no population loss that could be computed."""
        return self.sample or PROMPTS

    def deep(self, plan: Plan) -> DeepTraining:
        """The run of one plan with an encoder."""
        return DeepTraining(
            plan.task,
            self.d_model,
            self.d_ff,
            plan.heads,
            self.layers,
            self.norm,
            sample=self.prompts,
            batch=self.batch,
            rate=self.rates(plan)[1],
            steps=self.total,
            record=tuple(self.recorded.tolist()),
            seed=plan.seed,
        )

    def dynamics(self, plans: Sequence[Plan]) -> Guarded:
        """The runs of several plans, padded to the largest of them, with a leading axis."""
        limit = np.array([BLOWN_UP * plan.task.initial_gap for plan in plans])
        shape = None if self.sample else shape_of(_sizes(plans))
        if self.algorithm == "adam":
            together = side_by_side([self._training(plan) for plan in plans], shape)
            return Guarded(together, single(limit), lag=1)
        tasks = [plan.task for plan in plans]
        system = pad_systems(tasks, [plan.heads for plan in plans], shape)
        elsewhere = [label_root(task, shifted_law(task.m)) for task in tasks]
        start = pad_weights([plan.start for plan in plans], system)
        path = Path(system, start, jax.device_put(np.array([self.rates(plan) for plan in plans])))
        descent = PlanDescent(path, stack_padded(elsewhere, system.root.shape[1:]))
        return Guarded(descent, jax.device_put(limit))

    def _training(self, plan: Plan) -> Training:
        """The run of one plan with Adam."""
        return Training(
            plan.task,
            plan.heads,
            rate=self.rates(plan)[1],
            sample=self.sample,
            batch=self.batch,
            frozen=self.frozen,
            seed=plan.seed,
            scale=plan.scale,
        )

    def run(
        self, plans: Sequence[Plan], *, store: Store | None, progress: Callable[[int], None]
    ) -> "list[TrainedPlan] | list[DeepRun]":
        """Train all plans, those of similar size side by side."""
        if self.layers > 1:
            return [self.deep(plan).run(store=store, progress=progress) for plan in plans]
        trained: dict[int, TrainedPlan] = {}
        alone = [[i] for i in range(len(plans))]
        for members in alone if self.sample else batches_of(_sizes(plans)):
            chosen = [plans[i] for i in members]
            recording = self._together(chosen, store, progress)
            for row, i in enumerate(members):
                trained[i] = _trained(plans[i], recording, row)
        return [trained[i] for i in range(len(plans))]

    def _together(
        self, plans: Sequence[Plan], store: Store | None, progress: Callable[[int], None]
    ) -> Recording[GuardedState]:
        """Plans of one batch, small ones filled up to a number for which a program is compiled."""
        group = None if self.sample else group_of(_sizes(plans))
        filled = [*plans, *[plans[-1]] * (-len(plans) % (group or 1))]
        return run(
            self.dynamics(filled),
            self.recorded,
            store=store,
            progress=lambda done: progress(done * len(plans) // len(filled)),
            group=group or 1,
            chunk=POINTS if group else 1,
        )

    def advice(self, plan: Plan, trained: "TrainedPlan | DeepRun") -> str | None:
        """What to do about a run that diverged."""
        if trained.diverged is None:
            return None
        text = f"diverged at step {trained.diverged}: use a step size below {self.rates(plan)[1]:g}"
        if self.algorithm == "adam":
            return f"{text} (1e-3 or less, as a rule)"
        stable = plan.frozen.largest_stable_rate
        return f"{text} (as attention starts, descent on w is stable below {stable:.4g})"


def _sizes(plans: Sequence[Plan]) -> list[Size]:
    return [(plan.task.d, plan.task.N, plan.task.K, plan.heads) for plan in plans]


def training_of(options: Mapping[str, Any]) -> PlanTraining:
    """The training that a user's options ask for."""
    said = {name: value for name, value in options.items() if value is not None}
    if "rate" in said:
        _expect(said["rate"], (int, float), "rate must be a number")
        said["rate"] = float(said["rate"])
    for name in ("steps", "sample", "batch", "seed", "layers", "d_model", "d_ff"):
        if name in said:
            _expect(said[name], int, f"{name} must be a whole number")
    deep = said.get("layers", 1) > 1
    if "batch" in said and "sample" not in said and not deep:
        raise InputError("batch (--batch) has no effect without sample (--sample)")
    for name in ("norm", "d_model", "d_ff"):
        if name in said and not deep:
            flag = f"--{name.replace('_', '-')}"
            raise InputError(f"{name} ({flag}) has no effect with one layer; see --layers")
    if deep and "frozen" in said:
        raise InputError("frozen (--frozen) has no effect with several layers, which have no Q")
    if not isinstance(said.get("frozen", False), bool):
        raise InputError(f"frozen must be true or false; got {said['frozen']!r}")
    if "record" in said:
        said["record"] = tuple(said["record"])
        for step in said["record"]:
            _expect(step, int, "record must be whole numbers", options["record"])
    return PlanTraining(**said)


def _expect(value: Any, kind: type | tuple[type, ...], text: str, shown: Any = None) -> None:
    if isinstance(value, bool) or not isinstance(value, kind):
        raise InputError(f"{text}; got {(value if shown is None else shown)!r}")


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


@dataclass(frozen=True, eq=False, repr=False)
class TrainedPlan:
    """A plan that was trained.

    Attributes:
        plan: the plan.
        weights: Q and w at the end.
        series: ``gap``, ``out_of_domain`` and ``moved_Q`` at the recorded steps; with Adam also
            ``increases``, and ``sample_loss`` if there was a sample.
        diverged: the step at which the gap blew up, which may be the last one; None if it did not.
        moments: the same as if training had ended at each record; none unless it was filmed.
    """

    plan: Plan
    weights: Weights
    series: dict[str, Float[np.ndarray, "records"]]
    diverged: int | None
    moments: "tuple[TrainedPlan, ...]" = ()

    def __repr__(self) -> str:
        ended = "" if self.diverged is None else f", diverged at step {self.diverged}"
        return f"<TrainedPlan {self.plan.name}: {', '.join(self.series)}{ended}>"

    @property
    def matrices(self) -> Matrices:
        """Q and w at the end; the first axis is that of the heads."""
        Q, w = np.asarray(self.weights.Q), np.asarray(self.weights.w)
        return {"Q": Q.transpose(1, 0, 2), "w": w}

    @property
    def combined(self) -> Float[np.ndarray, "N K"]:
        """A-hat, which takes the labels of a prompt to the predictions for all tokens."""
        attention = attention_of(self.plan.task, np.asarray(self.weights.Q))
        return np.einsum("nhk,hk->nk", attention, np.asarray(self.weights.w))

    def predict(self, labels: Float[np.ndarray, "... N"]) -> Float[np.ndarray, "... K"]:
        """The predictions from the labels of a prompt."""
        return np.asarray(labels) @ self.combined


def _trained(plan: Plan, recording: Recording[GuardedState], row: int) -> TrainedPlan:
    """What became of one plan of a batch."""
    series = {name: rows[row].astype(float) for name, rows in recording.series.items()}
    at = int(np.asarray(recording.final.diverged)[row])
    if at < 0 and not series["gap"][-1] <= BLOWN_UP * plan.task.initial_gap:
        at = int(recording.steps[-1])
    Q, w = (np.asarray(leaf[row], dtype=float) for leaf in recording.final.inner.weights)
    d, H, K = plan.task.d, plan.heads, plan.task.K
    weights = Weights(*jax.device_put((Q[:d, :H, :d], w[:H, :K])))
    filmed = range(0 if recording.states is None else len(recording.steps))
    moments = tuple(_trained(plan, recording.moment(record), row) for record in filmed)
    return TrainedPlan(plan, weights, series, None if at < 0 else at, moments)

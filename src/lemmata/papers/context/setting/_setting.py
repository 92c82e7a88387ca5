"""The context setting: plans read, drawn, analysed and trained."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.settings import (
    RECORD,
    AbstractSetting,
    Column,
    Evidence,
    Forecast,
    Hypothesis,
    Look,
    Option,
    Picture,
    Run,
    Slider,
    Track,
    TrainedWeights,
    check_options,
    in_places,
    silent,
    whole_number,
)
from lemmata.training import Store

from ._analysis import Analysis, analyze_plan
from ._deep import NORMS, DeepRun
from ._forecasts import forecasts, looks
from ._hypotheses import CONVERGENCE, HYPOTHESES
from ._making import PARAMETERS, make
from ._path import LEAST_GAP
from ._pictures import pictures
from ._plan import Plan
from ._plan_file import read_plans
from ._plan_training import (
    ALGORITHMS,
    USUAL_BATCH,
    USUAL_RATE,
    USUAL_STEPS,
    USUAL_WIDTHS,
    PlanTraining,
    TrainedPlan,
    training_of,
)
from ._sliders import sliders
from ._space import PlanSpace
from ._task import draw_task

LONGEST_PROMPT = 5
"""Of a plan that is drawn."""

LEAST_GAPS = {"gd": LEAST_GAP, "adam": 1e-10}
"""Below this part of the first gap few of its digits are right: it underflows, or is rounding."""


def _yes_or_no(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError(text)
    return text == "yes"


ABOUT = (
    "A prompt shows N tokens with their labels, which come from an unknown task with m hidden "
    "features and some noise. The transformer has to predict the labels of all K tokens. The best "
    "it can do is ridge regression in features that it never sees; training finds it, at a rate "
    "that theory promises."
)


class ContextSetting(AbstractSetting[Plan]):
    """Plans of in-context learning with representations."""

    key: ClassVar[str] = "context"
    instance_type: ClassVar[type] = Plan
    parameters: ClassVar = PARAMETERS
    space: ClassVar = PlanSpace()
    about: ClassVar = ABOUT
    hypotheses: ClassVar[tuple[Hypothesis, ...]] = HYPOTHESES
    columns: ClassVar[tuple[Column, ...]] = (
        Column("loss", "loss", "the population loss (9)"),
        Column("gap", "loss - L*", "the loss above the least one, unless rounding made it"),
        Column("guarantee", "at most (18)", "Theorem 1's bound on the gap, at its step sizes"),
        Column("in_domain", "error in domain", "E ||y-hat - y*||^2 / K, which is twice the gap"),
        Column("out_of_domain", "out of domain", "the same under lambda ~ N(1, 4 I)"),
        Column("moved_Q", "Q moved by", "how far Q is from its start, relative to its norm there"),
        Column("sample_loss", "sample loss", "on all prompts of the sample; of an encoder on some"),
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "algorithm",
            "--algorithm",
            "gradient descent on the population loss, or Adam in float32",
            expects="gd or adam",
            choices=ALGORITHMS,
        ),
        Option(
            "rate",
            "--lr",
            f"the step size of Q and w; usually those of (16), and {USUAL_RATE:g} for adam",
            parse=float,
            expects="a positive number",
        ),
        whole_number(
            "steps",
            f"how many; usually {USUAL_STEPS['gd']:,}, and {USUAL_STEPS['adam']:,} for adam",
            usual=USUAL_STEPS,
        ),
        RECORD,
        whole_number(
            "sample",
            "train on batches from so many prompts; usually on the population loss",
            "adam",
        ),
        whole_number("batch", f"prompts in a batch of a sample; usually {USUAL_BATCH}", "adam"),
        Option(
            "frozen",
            "--frozen",
            "keep Q where it starts; usually no",
            parse=_yes_or_no,
            expects="yes or no",
            algorithms=("adam",),
        ),
        whole_number("seed", "of Q and w at the start, and of the sample; usually the plan's"),
        whole_number(
            "layers", "1 for the paper's one layer; with more, an encoder as in Section 4", "adam"
        ),
        Option(
            "norm",
            "--norm",
            "layer norms of an encoder after its parts or before them; usually post",
            expects="post or pre",
            algorithms=("adam",),
            choices=NORMS,
        ),
        *(
            whole_number(name, f"a width of an encoder; usually {usual}", "adam")
            for name, usual in USUAL_WIDTHS.items()
        ),
    )

    def read(self, file: Path, embeddings: Path | None = None) -> list[Plan]:
        return read_plans(file, embeddings)

    def draw(self, count: int, seed: int = 0) -> list[Plan]:
        """Plans of many sizes that meet the hypotheses of Theorem 1."""
        return [_draw_plan(seed, number) for number in range(count)]

    def make(self, sizes: Mapping[str, Any], seed: int = 0) -> Plan:
        return make(sizes, seed)

    def analyze(self, instance: Plan) -> Analysis:
        return analyze_plan(instance)

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that do not exist, and values that cannot be."""
        check_options(self.key, self.options, options)
        training_of(options)

    def train(
        self,
        instances: Sequence[Plan],
        options: Mapping[str, Any],
        *,
        store: Store | None = None,
        track: Track = silent,
    ) -> Run:
        self.check(options)
        if not instances:
            raise InputError("there is no plan to train")
        training = training_of(options)
        instances = [training.seeded(plan) for plan in instances]
        refused = [training.refusal(plan) for plan in instances]
        ready = [i for i, refusal in enumerate(refused) if refusal is None]
        if not ready:
            raise InputError(str(refused[0]))
        chosen = [instances[i] for i in ready]
        progress = track("training", len(chosen) * training.total)
        trained = training.run(chosen, store=store, progress=progress)
        columns = _measured(training, trained)
        runs = dict(zip(ready, trained, strict=True))
        return Run(
            setting=self.key,
            rule=training.rule(chosen),
            instances=tuple(instances),
            evidence=Evidence(
                tuple(instances),
                training.recorded,
                {name: in_places(rows, ready, len(instances)) for name, rows in columns.items()},
            ),
            reasons=tuple(
                training.advice(instances[i], runs[i]) if i in runs else why
                for i, why in enumerate(refused)
            ),
            trained=tuple(why is None for why in refused),
            diverged=tuple(runs[i].diverged if i in runs else None for i in range(len(refused))),
            extras=tuple(_extras(training, plan, runs.get(i)) for i, plan in enumerate(instances)),
            model=tuple(runs.get(i) for i in range(len(refused))),
            options=dict(options),
            weights=TrainedWeights(instances, refused, lambda i: runs[i].matrices),
        )

    def forecasts(self, run: Run, i: int) -> Sequence[Forecast]:
        return forecasts(run, i)

    def looks(self, run: Run, i: int) -> Sequence[Look]:
        return looks(run, i)

    def pictures(self, run: Run, i: int) -> Sequence[Picture]:
        return pictures(run, i)

    def sliders(self, instance: Plan) -> Sequence[Slider]:
        return sliders(instance)


LARGEST_MATRIX = 100_000
"""Numbers of A-hat that are written to a file."""


def _extras(
    training: PlanTraining, plan: Plan, trained: TrainedPlan | DeepRun | None
) -> dict[str, Any]:
    """The step sizes, and A-hat where there is one that is not too large to write."""
    eta_Q, eta_w = (None, None) if training.refusal(plan) else training.rates(plan)
    said: dict[str, Any] = {"eta_Q": eta_Q, "eta_w": eta_w}
    if isinstance(trained, TrainedPlan) and plan.task.N * plan.task.K <= LARGEST_MATRIX:
        said["A_hat"] = trained.combined.tolist()
    return said


def _measured(
    training: PlanTraining, trained: Sequence[TrainedPlan] | Sequence[DeepRun]
) -> dict[str, np.ndarray]:
    """What was recorded, one row a plan; of an encoder the losses on prompts alone."""
    if training.layers == 1:
        return _columns(training, [one for one in trained if isinstance(one, TrainedPlan)])
    names = {"in_domain": "in_domain", "out_of_domain": "out_of_domain", "sample_loss": "training"}
    runs = [one for one in trained if isinstance(one, DeepRun)]
    return {name: np.stack([run[own] for run in runs]) for name, own in names.items()}


def _columns(training: PlanTraining, trained: Sequence[TrainedPlan]) -> dict[str, np.ndarray]:
    """What was recorded, one row a plan; and ``rate``, the step size of w.

    A gap that rounding may have made is not given: no statement can be judged by it.
    """
    series = {name: np.stack([one.series[name] for one in trained]) for name in trained[0].series}
    first = np.array([[one.plan.task.initial_gap] for one in trained])
    known = ~(series["gap"] <= LEAST_GAPS[training.algorithm] * first)
    gap = np.where(known, series["gap"], np.nan)
    columns = {
        "loss": series["gap"] + np.array([[one.plan.task.minimum] for one in trained]),
        "gap": gap,
        "guarantee": _guarantee(training, trained),
        "in_domain": 2 * gap,
        "out_of_domain": np.where(known, series["out_of_domain"], np.nan),
        "moved_Q": series["moved_Q"],
        "rate": np.array([[training.rates(one.plan)[1]] for one in trained]),
    }
    if training.sample:
        columns["sample_loss"] = series["sample_loss"]
    return columns


def _guarantee(
    training: PlanTraining, trained: Sequence[TrainedPlan]
) -> Float[np.ndarray, "plans records"]:
    """The bound (18) at the recorded steps; NaN with other step sizes, where nothing is said."""
    steps = training.recorded
    if not training.by_theory:
        return np.full((len(trained), len(steps)), np.nan)
    decay = np.array([[math.log1p(-float(one.plan.rates.guaranteed))] for one in trained])
    first = np.array([[one.plan.task.initial_gap] for one in trained])
    return first * np.exp(steps * decay)


def _draw_plan(seed: int, number: int) -> Plan:
    """A plan of random size; one that breaks a hypothesis of Theorem 1 is drawn again."""
    rng = np.random.default_rng([seed, number])
    while True:
        N, more, d, m = (int(n) for n in rng.integers(1, [LONGEST_PROMPT + 1, 9, 9, 7]))
        heads = int(rng.integers(N, 3 * N + 1))
        tau = float(np.round(10 ** rng.uniform(-1.5, 0.0), 3))
        K, d = N + more, d + 1
        name = f"drawn {number}: N={N} K={K} d={d} m={m} tau={tau:g} H={heads}"
        task = draw_task(N, K, d, m, tau, seed=int(rng.integers(2**31)), name=name)
        plan = Plan(task, heads, seed=int(rng.integers(2**31)))
        if not any(hypothesis.broken(plan.problems) for hypothesis in CONVERGENCE):
            return plan


SETTING = ContextSetting()

"""The selection setting: plans read, drawn, analysed and trained."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, get_args

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
    real_number,
    silent,
    whole_number,
)
from lemmata.training import Store

from ._analysis import Analysis, analyze_plan
from ._encodings import walsh
from ._forecasts import forecasts, looks
from ._hypotheses import CONVERGES, ISOMETRY, SMALL_LOSS, SMALL_STEP, SPARSE, STOCHASTIC_STEP
from ._making import PARAMETERS, make
from ._pictures import pictures
from ._plan import Plan, Query, largest_epsilon, largest_rate
from ._plan_file import read_plans
from ._plan_training import ALGORITHMS, USUAL_RATES, USUAL_STEPS, PlanTraining
from ._sliders import sliders
from ._space import PlanSpace
from ._task import Task
from ._trained_plan import TrainedPlan

ON_SAMPLES = ("sgd", "adam")


ABOUT = (
    "Of T tokens, a query names q; the layer should return their mean. One attention layer can do "
    "that with any length, if its weights learn that positions match themselves. Gradient descent "
    "needs only two numbers for it: alpha, the size of the output, and C, how sharp attention is."
)


class SelectionSetting(AbstractSetting[Plan]):
    """Plans of sparse token selection."""

    key: ClassVar[str] = "selection"
    instance_type: ClassVar[type] = Plan
    parameters: ClassVar = PARAMETERS
    space: ClassVar = PlanSpace()
    about: ClassVar = ABOUT
    hypotheses: ClassVar[tuple[Hypothesis, ...]] = (
        SPARSE,
        SMALL_LOSS,
        SMALL_STEP,
        STOCHASTIC_STEP,
        ISOMETRY,
        CONVERGES,
    )
    columns: ClassVar[tuple[Column, ...]] = (
        Column("loss", "loss", "the population loss; on samples, of the last 300 batches"),
        Column("alpha", "alpha", "V = alpha [I 0]"),
        Column("C", "C", "W = C times a fixed direction between positions"),
        Column("missed", "attention missed", "1 - q s_+, the attention off the subset"),
        Column("cosine_V", "cosine of V", "with its direction in theory, on samples"),
        Column("cosine_W", "cosine of W", "with its direction in theory, on samples"),
        Column("population", "population loss", "over 1,024 subsets, when training on samples"),
        Column(
            "least_missed",
            "best head misses",
            "of several heads, the least attention off the subset, on 128 samples",
        ),
        Column(
            "most_missed",
            "worst head misses",
            "of several heads, the most attention off the subset, on 128 samples",
        ),
        Column("least_alpha", "least alpha", "of several heads; below 0 a head subtracts"),
        Column("least", "least of its width", "what no fully connected net of its width is below"),
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "algorithm",
            "--algorithm",
            "gradient descent on the population loss, or SGD or Adam on samples",
            expects="gd, sgd or adam",
            choices=ALGORITHMS,
        ),
        Option(
            "rate",
            "--lr",
            "the step size; usually the plan's eta, or on samples "
            f"{USUAL_RATES['sgd']:g} (sgd) and {USUAL_RATES['adam']:g} (adam)",
            parse=float,
            expects="a positive number",
        ),
        whole_number(
            "steps",
            f"how many; usually {USUAL_STEPS['gd']:,}, and {USUAL_STEPS['sgd']:,} on samples",
            usual=USUAL_STEPS,
        ),
        RECORD,
        whole_number("seed", "of random encodings and samples; usually the plan's"),
        whole_number(
            "samples",
            "the batch size; usually the plan's",
            *ON_SAMPLES,
            expects="a positive whole number",
        ),
        Option(
            "x_query",
            "--x-query",
            "the token part of the query; usually the plan's",
            expects="zero, fixed or random",
            algorithms=ON_SAMPLES,
            choices=get_args(Query),
        ),
        real_number(
            "initial",
            "the size of Gaussian first weights; usually the plan's, 0",
            *ON_SAMPLES,
            expects="a number that is not negative",
        ),
        whole_number(
            "factors",
            "train K and Q apart, with so many rows each, in the place of W = K'Q; needs --initial",
            *ON_SAMPLES,
            expects="a positive whole number",
        ),
        whole_number(
            "queries",
            "subsets that are asked for in each sequence, whose losses are added: T in the "
            "original task (Appendix A.2); usually 1",
            *ON_SAMPLES,
            expects="a positive whole number",
        ),
        whole_number(
            "heads",
            "how many, whose outputs are added, each with V and W of its own; usually 1. Several "
            "need --initial",
            *ON_SAMPLES,
            expects="a positive whole number",
        ),
        whole_number(
            "width",
            "train a fully connected net, whose first layer has so many neurons, in the place of "
            "the transformer",
            "adam",
            expects="a positive whole number",
        ),
    )

    def read(self, file: Path, embeddings: Path | None = None) -> list[Plan]:
        return read_plans(file, embeddings)

    def draw(self, count: int, seed: int = 0) -> list[Plan]:
        """Plans of many sizes within the hypotheses of Theorem 3.1, every fourth of Theorem 3.3."""
        return [_draw_plan(seed, number) for number in range(count)]

    def make(self, sizes: Mapping[str, Any], seed: int = 0) -> Plan:
        return make(sizes, seed)

    def analyze(self, instance: Plan) -> Analysis:
        return analyze_plan(instance)

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
        training = PlanTraining(**{name: v for name, v in options.items() if v is not None})
        rule = training.rule(instances)
        progress = track("training", len(instances) * training.total)
        trained = training.run(instances, store=store, progress=progress)
        columns = _columns(trained, [column.name for column in self.columns])
        columns["rate"] = np.array([[plan.plan.rate] for plan in trained])
        return Run(
            setting=self.key,
            rule=rule,
            instances=tuple(plan.plan for plan in trained),
            evidence=Evidence(tuple(trained), training.recorded, columns),
            reasons=tuple(plan.advice for plan in trained),
            trained=(True,) * len(trained),
            diverged=tuple(plan.diverged for plan in trained),
            extras=tuple(plan.extras for plan in trained),
            model=tuple(trained),
            options=dict(options),
            weights=TrainedWeights(instances, [None] * len(trained), lambda i: trained[i].weights),
        )

    def forecasts(self, run: Run, i: int) -> Sequence[Forecast]:
        return forecasts(run, i)

    def looks(self, run: Run, i: int) -> Sequence[Look]:
        return looks(run, i)

    def pictures(self, run: Run, i: int) -> Sequence[Picture]:
        return pictures(run, i)

    def sliders(self, instance: Plan) -> Sequence[Slider]:
        return sliders(instance)


def _columns(
    trained: Sequence[TrainedPlan], names: Sequence[str]
) -> dict[str, Float[np.ndarray, "plans records"]]:
    """What any plan recorded; unknown of plans with one head what those with several have."""
    unknown = np.full(len(trained[0].series["loss"]), np.nan)
    return {
        name: np.stack([plan.series.get(name, unknown) for plan in trained])
        for name in names
        if any(name in plan.series for plan in trained)
    }


def _draw_plan(seed: int, number: int) -> Plan:
    """A plan of random size, with one-hot encodings or with orthogonal signs."""
    draw = np.random.default_rng([seed, number])
    orthogonal = number % 4 == 3
    q, d = int(draw.integers(2, 4 if orthogonal else 8)), int(draw.integers(1, 6))
    T = int(draw.integers(4 * q + 1, 33 if orthogonal else 40 * q))
    task, encodings, d_e = Task(T, q, d), None, None
    if orthogonal:
        signs = np.tile(walsh(5)[:, :T], (int(draw.integers(1, 5)), 1))
        d_e, encodings = len(signs), signs / np.sqrt(len(signs))
    most = min(largest_rate(task, d_e), q / 2)
    rate = float(f"{most * 10 ** draw.uniform(-1.0, 0.0):.2e}")
    epsilon = float(f"{largest_epsilon(task) * 10 ** draw.uniform(-1.5, -0.1):.2e}")
    name = f"drawn {number}: T={T} q={q} d={task.d}" + ("" if d_e is None else f" d_e={d_e}")
    return Plan(name, task, min(rate, most), epsilon, d_e, encodings=encodings)


SETTING = SelectionSetting()

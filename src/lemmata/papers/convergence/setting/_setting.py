"""The setting: how datasets are read, drawn, analysed and trained."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lemmata.margin import Status
from lemmata.settings import (
    AbstractSetting,
    Column,
    Evidence,
    Forecast,
    Grid,
    Look,
    Picture,
    Prediction,
    Run,
    Track,
    TrainedWeights,
    in_places,
    silent,
)
from lemmata.tokens import read_token_files
from lemmata.training import Store

from ._analysis import ConvergenceAnalysis
from ._dataset import Dataset
from ._factored import Factored, FactoredRun
from ._forecasts import forecasts, looks
from ._generators import Realizable, generate
from ._hypotheses import HYPOTHESES
from ._making import PARAMETERS, make
from ._options import OPTIONS, Request, request_of
from ._pictures import pictures
from ._space import SentenceSpace
from ._two_stage import Joint, JointRun, TwoStage, TwoStageRun

ALWAYS = (
    Column("log_loss", "log loss", "the logarithm of the loss"),
    Column("norm", "norm", "||W_kq||"),
    Column("correlation", "correlation", "the cosine between W_kq and W_kq*"),
    Column("one_minus_correlation", "1 - correlation", "accurate where it is tiny"),
    Column("log_gradient_norm", "", "the logarithm of the norm of the gradient"),
)
"""What every algorithm records; columns without a title are too many for a terminal."""

IN_STAGES = (
    Column("smallest_weight", "", "the smallest attention on an optimal token"),
    Column(
        "smallest_log_odds",
        "",
        "the least log-odds of optimal tokens against others",
    ),
    Column("smallest_margin", "", "the least lead in logits of a token over one that it beats"),
)
OF_FACTORS = (Column("factor_norm", "", "the norm of W_k and W_q together, over all heads"),)
JOINTLY = (
    Column("value_norm", "", "||W_ov||"),
    Column("value_one_minus_correlation", "", "1 - cos(W_ov, W_ov*)"),
)

Series = dict[str, Grid]


ABOUT = (
    "A layer learns which word follows which (the first two words of each sentence say it), and "
    "an attention layer learns, for longer sentences, at which word to look so that its follower "
    "is the answer. Every beginning of a sentence is an input. For each last word, the words to "
    "look at must beat all others."
)


class ConvergenceSetting(AbstractSetting[Dataset]):
    """One attention layer and one linear layer: sentences, of which each prefix is an input."""

    key: ClassVar = "convergence"
    instance_type: ClassVar[type] = Dataset
    hypotheses: ClassVar = HYPOTHESES
    columns: ClassVar = (*ALWAYS, *IN_STAGES, *OF_FACTORS, *JOINTLY)
    options: ClassVar = OPTIONS
    parameters: ClassVar = PARAMETERS
    space: ClassVar = SentenceSpace()
    about: ClassVar = ABOUT

    def read(self, file: Path, embeddings: Path | None = None) -> list[Dataset]:
        """A text sentence contributes all of its prefixes."""
        instances = read_token_files(
            file, embeddings, prefixes=True, log_frequencies=True, initial_values=True
        )
        many = len(instances) > 1
        return [
            Dataset.from_instance(instance.name or (f"instance {i}" if many else "data"), instance)
            for i, instance in enumerate(instances)
        ]

    def draw(self, count: int, seed: int = 0) -> list[Dataset]:
        """Realizable datasets like those of Figure 2."""
        return generate(Realizable(), count, seed)

    def make(self, sizes: Mapping[str, Any], seed: int = 0) -> Dataset:
        return make(sizes, seed)

    def analyze(self, instance: Dataset) -> ConvergenceAnalysis:
        return ConvergenceAnalysis.of(instance)

    def prepare(
        self, instances: Sequence[Dataset], options: Mapping[str, Any]
    ) -> tuple[Request, list[list[list[int]]]]:
        """The options as values, and the inputs to predict; refuses what cannot be run."""
        self.check(options)
        request = request_of(options)
        return request, [[d.encode(text) for text in request.predict] for d in instances]

    def train(
        self,
        instances: Sequence[Dataset],
        options: Mapping[str, Any],
        *,
        store: Store | None = None,
        track: Track = silent,
    ) -> Run:
        request, inputs = self.prepare(instances, options)
        if request.stage1_start is not None:
            instances = [d.starting_from(request.stage1_start) for d in instances]
        ready = [i for i, dataset in enumerate(instances) if dataset.has_collocation]
        datasets = [instances[i] for i in ready]
        series, extras, model = _train(datasets, request, store, track)
        answers = dict(zip(ready, extras, strict=True))
        predictions = {
            i: _predictions(model, row, request.predict, inputs[i]) for row, i in enumerate(ready)
        }
        return Run(
            self.key,
            request.training.says,
            tuple(instances),
            Evidence(
                tuple(instances),
                request.recorded,
                {name: in_places(rows, ready, len(instances)) for name, rows in series.items()},
            ),
            tuple(None if d.has_collocation else _reason(d) for d in instances),
            tuple(dataset.has_collocation for dataset in instances),
            diverged=(None,) * len(instances),
            extras=tuple(answers.get(i, {"cyclic_distance": None}) for i in range(len(instances))),
            predictions=tuple(predictions.get(i, ()) for i in range(len(instances))),
            model=model,
            options=dict(options),
            weights=TrainedWeights(
                instances,
                [None if d.has_collocation else _reason(d) for d in instances],
                lambda i: model.matrices(ready.index(i)) if model else {},
            ),
        )

    def forecasts(self, run: Run, i: int) -> Sequence[Forecast]:
        return forecasts(run, i)

    def looks(self, run: Run, i: int) -> Sequence[Look]:
        return looks(run, i)

    def pictures(self, run: Run, i: int) -> Sequence[Picture]:
        return pictures(run, i)


def _train(
    datasets: list[Dataset], request: Request, store: Store | None, track: Track
) -> tuple[Series, list[dict[str, Any]], TwoStageRun | FactoredRun | JointRun | None]:
    """Columns, further answers about each dataset, and the run."""
    training = request.training
    if not datasets:
        return dict.fromkeys(_names(training), np.zeros((0, len(request.recorded)))), [], None
    first = training.stage1_steps if isinstance(training, TwoStage) else 0
    progress = track("training", len(datasets) * (training.steps + first))
    run = training.run(datasets, store=store, progress=progress)
    if isinstance(run, JointRun):
        recorded = {n: rows[:, request.recorded] for n, rows in run.recording.series.items()}
        rate, extras = run.rate, [{"cyclic_distance": None} for _ in datasets]
    else:
        recorded, rate = run.stage2.series, run.rate_kq
        extras = [_about_stage_1(run, i) for i in range(len(datasets))]
    known = np.array([[dataset.attention_status is Status.SOLVED] for dataset in datasets])
    gap = np.where(known, recorded["one_minus_correlation"], np.nan)
    recorded = {**recorded, "one_minus_correlation": gap, "correlation": 1 - gap}
    series = {name: recorded[name] for name in _names(training)}
    return {**series, "rate": rate[:, None]}, extras, run


def _names(training: TwoStage | Factored | Joint) -> list[str]:
    """The columns that an algorithm records."""
    more = {TwoStage: IN_STAGES, Factored: OF_FACTORS, Joint: JOINTLY}[type(training)]
    return [column.name for column in (*ALWAYS, *more)]


def _about_stage_1(run: TwoStageRun | FactoredRun, i: int) -> dict[str, Any]:
    gap = run.stage1.series["one_minus_correlation"][i]
    names = ("log_loss", "log_gradient_norm", "norm")
    curves = {name: run.stage1.series[name][i] for name in names}
    return {
        "stage1_rate": float(run.rate_ov[i]),
        "cyclic_distance": None,
        "stage1": {
            "steps": run.stage1.steps,
            **curves,
            "correlation": 1 - gap,
            "one_minus_correlation": gap,
        },
    }


def _predictions(
    model: Any, row: int, texts: Sequence[str], inputs: Sequence[list[int]]
) -> tuple[Prediction, ...]:
    predictions = []
    for text, tokens in zip(texts, inputs, strict=True):
        chances, attention = model.predict(row, tokens), model.attention(row, tokens)
        words = model.datasets[row].data.vocabulary
        predictions.append(Prediction.of(text, words, chances, attention))
    return tuple(predictions)


def _reason(dataset: Dataset) -> str:
    problem = dataset.broken("collocation_conflict", "collocation_missing")[0]
    return f"stage 1 needs the next token of every token: {problem.message}"


SETTING = ConvergenceSetting()

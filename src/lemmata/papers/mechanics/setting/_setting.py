"""The setting: how datasets are read, drawn, analysed and trained."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lemmata._errors import InputError
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
from lemmata.tokens import Instance, read_token_files
from lemmata.training import Store

from ._analysis import MechanicsAnalysis
from ._batch import Matrix
from ._dataset import Dataset
from ._forecasts import forecasts, looks
from ._generators import ACYCLIC, CYCLIC, equicorrelated
from ._hypotheses import HYPOTHESES
from ._making import PARAMETERS, make
from ._options import CURVES, OPTIONS, Request, check_seed, request_of
from ._paths import flow, follow, path
from ._pictures import pictures
from ._pseudo import pseudo_limits
from ._space import TokenSpace
from ._training import Heads, attend, expect

PREFIXES = False
"""A text sentence is one sample: its last token is the label of the rest."""

COLUMNS = (
    Column("log_loss", "log loss", "the logarithm of the loss"),
    Column("norm", "norm", "||W||"),
    Column("correlation", "correlation", "the cosine between W and W^mm"),
    Column("one_minus_correlation", "1 - correlation", "accurate where it is tiny"),
    Column("cyclic_distance", "distance to W^cyc", "that of the part of W in the span of ties"),
    Column("log_gradient_norm", "", "the logarithm of the norm of the gradient"),
    Column("log_missed", "", "the logarithm of the mean attention that is not on the label"),
    Column("midpoint_distance", "", "the distance to W^cyc midway to the next step"),
    Column("free_norm", "", "the norm of the part of W outside the span of ties"),
    Column("descent_on_target", "", "the cosine between the descent direction and W^mm"),
    Column("descent_on_weights", "", "the cosine between the descent direction and W"),
    Column("local_correlation", "local correlation", "with W^mm of the tokens that it selects"),
    Column("local_distance", "", "the distance to W^cyc of the tokens it selects"),
    Column("nuclear_norm", "", "||W||_*, of W = K Q^T"),
    Column(
        "nuclear_shortfall",
        "nuclear shortfall",
        "what the least margin of W / ||W||_* lacks of the most it can be, relative to that",
    ),
    Column("one_minus_nuclear_correlation", "", "1 - cos(W, a solution of least nuclear norm)"),
    Column("worst_head", "worst head", "of several: the largest 1 - correlation of a head"),
)
"""What is recorded; columns without a title are too many for a terminal."""

ABOUT = (
    "One attention layer sees a sentence without its last word and has to guess that word: the "
    "answer is among the words that it sees, and it must attend to it. The last word that it sees "
    "asks: after it, the right words must get more attention than others, that is, beat them. Who "
    "beats whom decides where training goes."
)

FEW = 100
"""Runs of no more datasets are compared with their local limits, too."""

UNTRAINED = "no label occurs in its sequence, so no sample has a gradient"


def name_instances(instances: Sequence[Instance]) -> list[Dataset]:
    """The instances of a token file as datasets."""
    many = len(instances) > 1
    return [
        Dataset.from_instance(f"instance {i}" if many else "data", instance)
        for i, instance in enumerate(instances)
    ]


class MechanicsSetting(AbstractSetting[Dataset]):
    """One attention layer under a fixed head: token sequences with labels."""

    key: ClassVar = "mechanics"
    instance_type: ClassVar[type] = Dataset
    hypotheses: ClassVar = HYPOTHESES
    columns: ClassVar = COLUMNS
    options: ClassVar = OPTIONS
    parameters: ClassVar = PARAMETERS
    space: ClassVar = TokenSpace()
    about: ClassVar = ABOUT

    def check(self, options: Mapping[str, Any]) -> None:
        super().check(options)
        check_seed(options)

    def read(self, file: Path, embeddings: Path | None = None) -> list[Dataset]:
        """``embeddings`` may also be ``rho=0.5``: unit vectors with that correlation."""
        rho = _correlation(embeddings)
        rows = embeddings if rho is None else None
        instances = read_token_files(file, rows, prefixes=PREFIXES, log_frequencies=True)
        read = name_instances(instances)
        return read if rho is None else [_correlated(dataset, rho) for dataset in read]

    def draw(self, count: int, seed: int = 0) -> list[Dataset]:
        """As the authors draw them: those of Figure 3, without ties, and of Figure 4 in turn.

        They start at W(0) = 0, as data from a file does.
        """
        recipes = (ACYCLIC, CYCLIC)
        drawn = [
            recipes[i % 2].draw(
                f"{recipes[i % 2].kind}-{seed}.{i}", np.random.default_rng([seed, i])
            )
            for i in range(count)
        ]
        return [replace(dataset, initial_weights=None) for dataset in drawn]

    def make(self, sizes: Mapping[str, Any], seed: int = 0) -> Dataset:
        return make(sizes, seed)

    def analyze(self, instance: Dataset) -> MechanicsAnalysis:
        return MechanicsAnalysis(instance)

    def prepare(
        self, instances: Sequence[Dataset], options: Mapping[str, Any]
    ) -> tuple[Request, list[list[list[int]]]]:
        """The options as values, and the inputs to predict; refuses what cannot be run."""
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
        request, asked = self.prepare(instances, options)
        instances = [request.begin(dataset) for dataset in instances]
        every = not request.training.identity
        ready = [i for i, dataset in enumerate(instances) if every or dataset.realizable.samples]
        chosen = [instances[i] for i in ready]
        if not chosen:
            series, weights, model = _nothing(request), [], None
        elif request.algorithm in CURVES:
            series, weights, model = _follow(chosen, request, track)
        else:
            series, weights, model = _descend(chosen, request, store, track)
        trained = [i in ready for i in range(len(instances))]
        final = dict(zip(ready, weights, strict=True))
        return Run(
            self.key,
            request.rule,
            tuple(instances),
            Evidence(
                tuple(instances),
                request.training.recorded,
                {name: in_places(rows, ready, len(instances)) for name, rows in series.items()},
            ),
            tuple(None if done else UNTRAINED for done in trained),
            tuple(trained),
            diverged=(None,) * len(instances),
            extras=tuple(
                _target(dataset) if done else {}
                for dataset, done in zip(instances, trained, strict=True)
            ),
            predictions=tuple(
                tuple(
                    _predict(dataset, request, final[i], tokens, text)
                    for tokens, text in zip(asked[i], request.predict, strict=True)
                )
                if i in final
                else ()
                for i, dataset in enumerate(instances)
            ),
            model=model,
            options=dict(options),
            weights=TrainedWeights(
                instances,
                [None if done else UNTRAINED for done in trained],
                lambda i: {"W": final[i]},
            ),
        )

    def forecasts(self, run: Run, i: int) -> Sequence[Forecast]:
        return forecasts(run, i)

    def looks(self, run: Run, i: int) -> Sequence[Look]:
        return looks(run, i)

    def pictures(self, run: Run, i: int) -> Sequence[Picture]:
        return pictures(run, i)


def _descend(
    datasets: list[Dataset], request: Request, store: Store | None, track: Track
) -> tuple[dict[str, Grid], list[Matrix | Heads], Any]:
    training = request.training
    progress = track("training", len(datasets) * training.steps)
    run = training.run(datasets, store=store, progress=progress)
    series = dict(run.recording.series)
    series["correlation"] = 1 - series["one_minus_correlation"]
    series["rate"] = run.rate[:, None]
    weights = [run.weights(i) for i in range(len(datasets))]
    if not training.is_global and isinstance(training.loss, str) and len(datasets) <= FEW:
        limits = [found.limit for found in pseudo_limits(datasets, weights, training, "selected")]
        local = training.run(datasets, limits=limits)
        series["local_correlation"] = 1 - local["one_minus_correlation"]
        series["local_distance"] = local["cyclic_distance"]
    return series, weights, run


def _follow(
    datasets: list[Dataset], request: Request, track: Track
) -> tuple[dict[str, Grid], list[Matrix], Any]:
    """Gradient flow by time, or the regularization path by -log ridge."""
    curve_of = flow if request.algorithm == "flow" else path
    progress = track("training", len(datasets))
    curves, series = follow(curve_of, datasets, request.training.recorded, progress)
    series["correlation"] = 1 - series["one_minus_correlation"]
    return series, [curve.weights[-1] for curve in curves], tuple(curves)


def _correlation(embeddings: Path | None) -> float | None:
    """rho of ``rho=0.5``, if that is what was asked for."""
    if embeddings is None or not str(embeddings).startswith("rho="):
        return None
    try:
        return float(str(embeddings)[4:])
    except ValueError as error:
        raise InputError(f"--embeddings rho= takes a number; got '{embeddings}'") from error


def _correlated(dataset: Dataset, rho: float) -> Dataset:
    """The dataset with equi-correlated embeddings; 0 stays an orthonormal family."""
    if dataset.embeddings is not None:
        raise InputError(f"{dataset.name} has embeddings of its own; rho would have no effect")
    return replace(dataset, embeddings=equicorrelated(dataset.K, rho)) if rho else dataset


def _nothing(request: Request) -> dict[str, Grid]:
    """The columns of no instance."""
    records = len(request.training.recorded)
    return {column.name: np.zeros((0, records)) for column in COLUMNS} | {"rate": np.zeros((0, 1))}


def _target(dataset: Dataset) -> dict[str, Any]:
    """What the weights are compared with."""
    return {
        "target": "W^mm" if dataset.feasible else "generalized direction",
        "target_status": dataset.margin.status.value,
        "target_norm": dataset.norm if dataset.margin.status is Status.SOLVED else None,
    }


def _predict(
    dataset: Dataset, request: Request, weights: Matrix | Heads, tokens: Sequence[int], text: str
) -> Prediction:
    attention = attend(dataset, weights, tokens)
    chances = expect(dataset, request.training, tokens, attention)
    best = int(np.argmax(chances))
    return Prediction(text, dataset.data.vocabulary[best], float(chances[best]), attention)


SETTING = MechanicsSetting()

"""What is measured: structures, the two stages of Algorithm 1, and what trained models do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence, as_rows
from lemmata.tokens import Problem, Role

from .. import theory
from ..setting import Dataset, JointRun, TwoStage, TwoStageRun, far_ahead
from ._instances import Part

MOST_STEPS = 3_000
"""A run that would have to be longer is cut here."""


def structures(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """Collocations, orders and max-margin solutions; nothing is trained."""
    return Evidence(tuple(instances))


def algorithm_1(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> TwoStageRun | None:
    """Both stages of Algorithm 1; datasets without a collocation cannot be trained."""
    training: TwoStage = experiment.training
    if isinstance(experiment.instances, Part):
        whole = replace(experiment, instances=experiment.instances.whole, own=False)
        run = bench.evidence(whole)
        rows = {dataset.name: i for i, dataset in enumerate(run.datasets)}
        return run.select([rows[dataset.name] for dataset in instances])
    ready = [dataset for dataset in instances if dataset.has_collocation]
    if not ready:
        return None
    total = len(ready) * (training.stage1_steps + training.steps)
    return training.run(ready, store=bench.store, progress=bench.track("Algorithm 1", total))


def stage_1(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """Stage 1 of Algorithm 1 along its steps."""
    return _stage(_run(experiment, bench), 1, instances)


def stage_2(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """Stage 2 of Algorithm 1 along its steps."""
    return _stage(_run(experiment, bench), 2, instances)


def stage_2_and_rays(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """Stage 2 of Algorithm 1 along its steps, and far beyond them where it keeps its direction."""
    return _with_rays(_run(experiment, bench), instances)


def _with_rays(run: TwoStageRun | None, instances: Sequence[Dataset]) -> Evidence[Dataset]:
    evidence = _stage(run, 2, instances)
    if run is None:
        return evidence
    rays = far_ahead(run.datasets, run.values, run.rate_kq)
    return replace(evidence, columns={**evidence.columns, **rays})


def _run(experiment: Experiment[Any], bench: Bench) -> TwoStageRun | None:
    """The run behind an experiment, shared by all that look at it."""
    return bench.evidence(replace(experiment, measure=algorithm_1, free=()))


def _stage(run: TwoStageRun | None, number: int, instances: Sequence[Dataset]) -> Evidence[Dataset]:
    """A stage as grids: what was recorded, and the constants of each dataset.

    The step size of stage 1 has a name of its own, so that nobody takes one stage for the other.
    """
    if run is None:
        return Evidence((), skipped=tuple(instances))
    recording = run.stage1 if number == 1 else run.stage2
    rate = run.rate_ov if number == 1 else run.rate_kq
    columns = recording.series | {
        "value_rate" if number == 1 else "rate": rate[:, None],
        "stage1_rate": run.rate_ov[:, None],
        "stage1_steps": np.full((len(rate), 1), float(run.algorithm.stage1_steps)),
    }
    constants = {"K": "K", "N": "N", "L": "L_max", "norm_ov": "norm_ov", "norm_kq": "norm_kq"}
    for name, attribute in constants.items():
        columns[name] = as_rows([getattr(dataset, attribute) for dataset in run.datasets])
    untrained = tuple(dataset for dataset in instances if not dataset.has_collocation)
    return Evidence(run.datasets, recording.steps, columns, untrained)


STARTS = (0.01, 0.1, 0.5, 1.0)
"""Sizes of W_ov(0)."""


@dataclass(frozen=True)
class Started:
    """A dataset whose first stage starts somewhere."""

    instance: Dataset
    scale: float

    @property
    def name(self) -> str:
        return f"{self.instance.name} from W_ov(0) of size {self.scale:g}"

    @property
    def problems(self) -> Sequence[Problem]:
        return self.instance.problems


def from_anywhere(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Started]:
    """Stage 1 of Algorithm 1 from random starts of several sizes."""
    fits = [d.has_collocation and d.embeddings is None for d in instances]
    ready = [d for d, good in zip(instances, fits, strict=True) if good]
    skipped = tuple(Started(d, 0.0) for d, good in zip(instances, fits, strict=True) if not good)
    if not ready:
        return Evidence((), skipped=skipped)
    training: TwoStage = experiment.training
    cases = tuple(case for dataset in ready for case in _starts(dataset, experiment.seed))
    stage = training.first_stage([case.instance for case in cases], bench.store)
    columns = {
        "norm": stage.series["norm"],
        "one_minus_correlation": stage.series["one_minus_correlation"],
        "K": as_rows([case.instance.K for case in cases]),
        "value_rate": as_rows([training.rates(case.instance)[0] for case in cases]),
        "norm_ov": as_rows([case.instance.norm_ov for case in cases]),
    }
    return Evidence(cases, stage.steps, columns, skipped)


def _starts(dataset: Dataset, seed: int) -> Iterator[Started]:
    """From the start that the data names; else from random ones of several sizes."""
    if dataset.initial_values is not None:
        yield Started(dataset, float(np.linalg.norm(dataset.initial_values)))
        return
    for number, scale in enumerate(STARTS):
        draw = np.random.default_rng([seed, number, dataset.K])
        start = scale * draw.standard_normal((dataset.K, dataset.K))
        yield Started(replace(dataset, initial_values=start), scale)


def followed(dataset: Dataset, training: TwoStage) -> Evidence[Dataset]:
    """Stage 2 on one dataset, apart from all experiments."""
    return _with_rays(training.run([dataset]), ())


def past_lemma_7(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """Stage 2 of Algorithm 1, its steps counted from the last t_0 of Lemma 7 on."""
    training: TwoStage = experiment.training
    starts = [
        theory.lemma_7_start(training.rates(dataset)[1], dataset.norm_kq, dataset.L_max)
        for dataset in instances
        if dataset.has_collocation and dataset.norm_kq > 0
    ]
    steps = int(min(max([*starts, 1.0]) + training.steps, MOST_STEPS))
    longer = replace(training, steps=steps)
    run = algorithm_1(replace(experiment, training=longer), instances, bench)
    return _stage(run, 2, instances)


def trained_models(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """Stage 2 of Algorithm 1, and the trained models on inputs seen and unseen."""
    run = _run(experiment, bench)
    if run is None:
        return Evidence((), skipped=tuple(instances))
    evidence = _stage(run, 2, instances)
    chances = [_chances(run, i, list(unseen_inputs(d))) for i, d in enumerate(run.datasets)]
    weights = [_smallest_optimal_weight(run, i) for i in range(len(run.datasets))]
    names = ("unseen_chance", "unseen_rival", "unseen_log_odds", "unseen_attention")
    columns = {
        **{name: as_rows([rows[:, k] for rows in chances]) for k, name in enumerate(names)},
        "final_smallest_weight": as_rows(weights),
    }
    return replace(evidence, columns={**evidence.columns, **columns})


def unseen_inputs(dataset: Dataset) -> Iterator[tuple[list[int], int]]:
    """Inputs of a non-comparable token x0 and non-optimal ones, the query among them, and n(x0)."""
    for query in dataset.orders.graphs:
        if dataset.orders.role(query, query) == Role.NON_OPTIMAL:
            others = [x for x in dataset.orders.having(query, Role.NON_OPTIMAL) if x != query]
            for token in dataset.orders.having(query, Role.NON_COMPARABLE):
                for rest in ([query], [query] * 2, [*others, *others, query, query]):
                    yield [token, *rest], dataset.collocation.following[token]


def _chances(run: TwoStageRun, i: int, inputs: Sequence[tuple[list[int], int]]) -> np.ndarray:
    """One row an input: the probability of a token, of the likeliest other one, its log-odds
    against all others, and the attention on the first token.
    """
    rows = []
    for tokens, expected in inputs:
        chances, attention = run.predict(i, tokens), run.attention(i, tokens)
        others = np.delete(chances, expected)
        with np.errstate(divide="ignore"):
            odds = np.log(chances[expected]) - np.log(others.sum())
        rows.append([chances[expected], others.max(), odds, attention[0]])
    return np.array(rows).reshape(-1, 4)


def _smallest_optimal_weight(run: TwoStageRun, i: int) -> float:
    """The smallest attention weight of an optimal token at the end, by Eq. (9) as it stands."""
    dataset, W = run.datasets[i], run.key_query(i)
    smallest = np.inf
    for sample in dataset.data.samples:
        tokens = np.array(sample.tokens)
        weights = np.exp(W[tokens, sample.query] - W[tokens, sample.query].max())
        chosen = np.isin(tokens, list(dataset.orders.selected(sample)))
        smallest = min(smallest, *(weights[chosen] / weights.sum()), np.inf)
    return float(smallest)


EXPECTED = {"S P": "V", "O S P": "P", "V P": "O", "O V P": "P"}
"""Example 2: what should follow some inputs that Example 1 does not contain."""


@dataclass(frozen=True)
class Question:
    """An input of words, and the word that should follow."""

    instance: Dataset
    words: str
    expected: str

    @property
    def name(self) -> str:
        return f"{self.words} → {self.expected}"

    @property
    def problems(self) -> Sequence[Problem]:
        return self.instance.problems


def asked(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Question]:
    """The trained model on the inputs of Example 2."""
    run = _run(experiment, bench)
    assert run is not None
    (dataset,) = run.datasets
    questions = tuple(Question(dataset, words, word) for words, word in EXPECTED.items())
    inputs = [
        (dataset.encode(question.words.split()), dataset.encode([question.expected])[0])
        for question in questions
    ]
    chances = _chances(run, 0, inputs)
    return Evidence(questions, columns={"chance": chances[:, :1], "rival": chances[:, 1:2]})


def joint_training(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> JointRun:
    """Both layers in one stage."""
    progress = bench.track("joint training", len(instances) * experiment.training.steps)
    return experiment.training.run(list(instances), store=bench.store, progress=progress)

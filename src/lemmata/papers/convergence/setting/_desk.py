"""The user's own data: what it means, and what training it gives. JSON-able answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lemmata._errors import InputError
from lemmata.margin import MaxMargin, Status
from lemmata.papers.convergence.setting._dataset import Dataset
from lemmata.papers.convergence.setting._two_stage import Joint, Rate, TwoStage, TwoStageRun
from lemmata.tokens import Instance, Problem, Role
from lemmata.training import Recording, Store, log_spaced, record_steps

SETTING = "convergence"

PREFIXES = True
"""A text sentence contributes all of its prefixes."""

ASSUMPTIONS = {
    "assumption_1_collocation": (
        "collocation_conflict",
        "collocation_missing",
        "collocation_not_injective",
    ),
    "assumption_1_orders": ("ambiguous_label", "order_not_well_defined", "confused_token"),
    "assumption_2": ("embeddings_not_orthonormal",),
    "assumption_3": ("assumption_3",),
    "prefix_closed": ("not_prefix_closed",),
    "preimage_in_sentence": ("preimage_not_in_sentence",),
    "zero_initialization": ("initial_weights_not_zero",),
    "attention_has_a_choice": ("single_token", "nothing_to_attend"),
}


def analyze(instances: Sequence[Instance]) -> dict[str, Any]:
    """What the data means to the paper; several instances are listed under ``instances``."""
    answers = [_analyze(dataset) for dataset in _datasets(instances)]
    if len(answers) == 1:
        return {"setting": SETTING} | answers[0]
    return {"setting": SETTING, "instances": answers}


def _datasets(instances: Sequence[Instance]) -> list[Dataset]:
    many = len(instances) > 1
    return [
        Dataset.from_instance(f"instance {i}" if many else "data", instance)
        for i, instance in enumerate(instances)
    ]


def _analyze(dataset: Dataset) -> dict[str, Any]:
    data, orders = dataset.data, dataset.orders
    words = data.vocabulary
    realizable = not dataset.broken(
        *ASSUMPTIONS["assumption_1_collocation"],
        *ASSUMPTIONS["assumption_1_orders"],
        *ASSUMPTIONS["preimage_in_sentence"],
    )
    return {
        "vocabulary": list(words),
        "samples": data.total,
        "distinct_inputs": dataset.N,
        "longest_sentence": dataset.L_max,
        "realizable": realizable,
        "acyclic": all(graph.acyclic for graph in orders.graphs.values()),
        "problems": [
            {"code": p.code, "where": p.where, "message": p.message} for p in dataset.problems
        ],
        "assumptions": {
            name: {"holds": not (found := dataset.broken(*codes)), "problems": _codes(found)}
            for name, codes in ASSUMPTIONS.items()
        },
        "collocation": {
            data.name(x): words[after] for x, after in dataset.collocation.following.items()
        },
        "queries": {
            data.name(query): {
                "edges": [[words[a], words[b]] for a, b in graph.edges],
                "components": [[words[x] for x in component] for component in graph.components],
            }
            for query, graph in orders.graphs.items()
        },
        "roles": {
            data.name(query): {
                role.value: [words[x] for x in orders.having(query, role)] for role in Role
            }
            for query in orders.graphs
        },
        "max_margin": _margin(dataset, dataset.attention_margin),
        "max_margin_ov": _summary(dataset.value_margin),
        "cyclic_correction": None,
    }


def _codes(problems: list[Problem]) -> list[str]:
    return list(dict.fromkeys(problem.code for problem in problems))


def _summary(solution: MaxMargin) -> dict[str, Any]:
    return {
        "status": solution.status.value,
        "norm": solution.norm,
        "norm_squared_exact": None
        if solution.norm_squared_exact is None
        else str(solution.norm_squared_exact),
        "error_bound": None if solution.status is Status.INFEASIBLE else solution.error_bound,
    }


def _margin(dataset: Dataset, solution: MaxMargin) -> dict[str, Any]:
    """The solution with its entries, and the multipliers that certify it."""
    words = dataset.data.vocabulary
    answer = _summary(solution)
    certificate = [
        {"query": words[q], "winner": words[a], "loser": words[b], "multiplier": str(value)}
        for q, table in solution.multipliers.items()
        for (a, b), value in table.items()
    ]
    if solution.status is Status.INFEASIBLE:
        return answer | {"infeasibility": certificate}
    entries = [
        {"token": words[t], "query": words[q], "value": str(value)}
        for (t, q), value in solution.entries.items()
    ]
    return answer | {"entries": entries, "multipliers": certificate}


@dataclass(frozen=True)
class TrainingRequest:
    """What the user asked for; None means the paper's own choice."""

    algorithm: str = "ngd"
    rate: float | str | None = None
    steps: int | None = None
    stage1_rate: float | str | None = None
    stage1_steps: int | None = None
    record: tuple[int, ...] | None = None
    loss: str | None = None
    head: str | None = None
    epsilon: float | None = None
    predict: tuple[str, ...] = ()

    def validate(self, instances: Sequence[Instance]) -> None:
        """Reject what cannot be run, before anything is computed or written."""
        if self.algorithm not in ("ngd", "gd", "joint"):
            raise InputError(f"unknown algorithm '{self.algorithm}'; use ngd, gd or joint")
        if self.loss not in (None, "cross-entropy"):
            raise InputError("the convergence setting trains with cross-entropy only")
        if self.epsilon is not None:
            raise InputError("the convergence setting normalizes exactly; leave out --epsilon")
        if self.head is not None:
            raise InputError("the convergence setting trains its own head; leave out --head")
        self.two_stage()
        for dataset in _datasets(instances):
            for text in self.predict:
                dataset.encode(text.split())

    def two_stage(self) -> TwoStage:
        """Algorithm 1 as asked for."""
        steps = 900 if self.steps is None else self.steps
        if self.record and max(self.record) > steps:
            raise InputError(f"cannot record step {max(self.record)}: stage 2 has {steps} steps")
        if self.record and min(self.record) < 0:
            raise InputError(f"cannot record step {min(self.record)}: steps count from 0")
        return TwoStage(
            stage1_steps=900 if self.stage1_steps is None else self.stage1_steps,
            stage1_rate=_or_paper(self.stage1_rate),
            steps=steps,
            rate=_or_paper(self.rate),
            record=self.record or "log",
            rule="gd" if self.algorithm == "gd" else "ngd",
        )


def _show_rate(rate: Rate, constant: float) -> str:
    return f"{constant}/sqrt(|V|)" if rate == "paper" else f"{rate}"


def _or_paper(rate: float | str | None) -> Rate:
    if rate is None or rate == "paper":
        return "paper"
    if rate == "largest":
        return "largest"
    if isinstance(rate, str):
        raise InputError(f"a step size is a number, 'paper' or 'largest'; got '{rate}'")
    return rate


def train(
    instances: Sequence[Instance],
    request: TrainingRequest,
    *,
    store: Store | None,
    track: Callable[[str, int], Callable[[int], None]],
) -> dict[str, Any]:
    """Train the user's data and record how it approaches the max-margin direction."""
    request.validate(instances)
    datasets = _datasets(instances)
    ready = [dataset for dataset in datasets if dataset.has_collocation]
    inputs = [[dataset.encode(text.split()) for text in request.predict] for dataset in ready]
    if request.algorithm == "joint":
        rule, found = _train_jointly(ready, request, store, track)
    else:
        rule, found = _train_in_stages(ready, request, inputs, store, track)
    answers = iter(found)
    return {
        "setting": SETTING,
        "rule": rule,
        "instances": [
            next(answers) if dataset.has_collocation else _untrained(dataset)
            for dataset in datasets
        ],
    }


def _problems(dataset: Dataset) -> list[dict[str, str]]:
    return [{"code": p.code, "where": p.where, "message": p.message} for p in dataset.problems]


def _untrained(dataset: Dataset) -> dict[str, Any]:
    problem = dataset.broken("collocation_conflict", "collocation_missing")[0]
    return {
        "name": dataset.name,
        "trained": False,
        "reason": f"stage 1 needs the next token of every token: {problem.message}",
        "problems": _problems(dataset),
        "steps": [],
        "log_loss": [],
        "norm": [],
        "correlation": [],
        "one_minus_correlation": [],
        "cyclic_distance": None,
    }


def _train_in_stages(
    datasets: list[Dataset],
    request: TrainingRequest,
    inputs: list[list[list[int]]],
    store: Store | None,
    track: Callable[[str, int], Callable[[int], None]],
) -> tuple[str, list[dict[str, Any]]]:
    how = request.two_stage()
    name = "normalized gradient descent" if how.rule == "ngd" else "gradient descent"
    rule = (
        f"{name} in two stages: {how.stage1_steps} steps of size "
        f"{_show_rate(how.stage1_rate, 0.2)} on W_ov with the collocation, then {how.steps} "
        f"steps of size {_show_rate(how.rate, 0.05)} on W_kq with the whole data"
    )
    if not datasets:
        return rule, []
    total = len(datasets) * (how.stage1_steps + how.steps)
    run = how.run(datasets, store=store, progress=track("training", total))
    return rule, [_trained(run, i, request.predict, inputs[i]) for i in range(len(datasets))]


def _trained(
    run: TwoStageRun, i: int, texts: tuple[str, ...], inputs: list[list[int]]
) -> dict[str, Any]:
    dataset = run.datasets[i]
    predictions = []
    for text, tokens in zip(texts, inputs, strict=True):
        chances = run.predict(i, tokens)
        predictions.append(
            {
                "input": text,
                "next": dataset.data.vocabulary[int(np.argmax(chances))],
                "probability": float(chances.max()),
                "attention": run.attention(i, tokens),
            }
        )
    return {
        "name": dataset.name,
        "trained": True,
        "problems": _problems(dataset),
        "stage1_rate": float(run.rate_ov[i]),
        "rate": float(run.rate_kq[i]),
        **_series(run.stage2, i, dataset.attention_status is Status.SOLVED),
        "cyclic_distance": None,
        "stage1": _series(run.stage1, i, True),
        "predictions": predictions,
    }


def _series(recording: Recording[Any], i: int, has_target: bool) -> dict[str, Any]:
    gap = recording.series["one_minus_correlation"][i]
    gap = gap if has_target else np.full_like(gap, np.nan)
    return {
        "steps": recording.steps,
        "log_loss": recording.series["log_loss"][i],
        "log_gradient_norm": recording.series["log_gradient_norm"][i],
        "norm": recording.series["norm"][i],
        "correlation": 1 - gap,
        "one_minus_correlation": gap,
    }


def _train_jointly(
    datasets: list[Dataset],
    request: TrainingRequest,
    store: Store | None,
    track: Callable[[str, int], Callable[[int], None]],
) -> tuple[str, list[dict[str, Any]]]:
    how = Joint(900 if request.steps is None else request.steps, _or_paper(request.rate))
    rule = (
        f"normalized gradient descent on W_ov and W_kq together: {how.steps} steps of size "
        f"{_show_rate(how.rate, 0.2)}"
    )
    if not datasets:
        return rule, []
    progress = track("joint training", len(datasets) * how.steps)
    run = how.run(datasets, store=store, progress=progress)
    columns = record_steps(request.record, how.steps) if request.record else log_spaced(how.steps)
    recording = Recording(
        columns,
        {name: rows[:, columns] for name, rows in run.recording.series.items()},
        run.recording.final,
    )
    return rule, [
        {
            "name": dataset.name,
            "trained": True,
            "problems": _problems(dataset),
            "rate": float(run.rate[i]),
            **_series(recording, i, dataset.attention_status is Status.SOLVED),
            "value_norm": recording.series["value_norm"][i],
            "value_one_minus_correlation": recording.series["value_one_minus_correlation"][i],
            "cyclic_distance": None,
        }
        for i, dataset in enumerate(datasets)
    ]

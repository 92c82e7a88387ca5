"""Training the user's own sequences. JSON-able answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lemmata._errors import InputError
from lemmata.margin import Status
from lemmata.papers.mechanics.setting._analysis import SETTING, datasets_of
from lemmata.papers.mechanics.setting._dataset import Dataset
from lemmata.papers.mechanics.setting._paths import flow, path
from lemmata.papers.mechanics.setting._training import Head, Rate, Training, TrainingRun
from lemmata.tokens import Instance, read_embeddings
from lemmata.training import Store

ALGORITHMS = ("ngd", "gd", "block", "factored", "flow", "path")
LOSSES = ("log", "squared", "softmax-squared", "cross-entropy")

Track = Callable[[str, int], Callable[[int], None]]


@dataclass(frozen=True)
class TrainingRequest:
    """What the user asked for; None means the usual choice."""

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
        if self.stage1_rate is not None or self.stage1_steps is not None:
            raise InputError(
                "the mechanics setting has one stage; leave out --stage1-lr and -steps"
            )
        if self.algorithm not in ALGORITHMS:
            raise InputError(f"unknown algorithm '{self.algorithm}'; use {', '.join(ALGORITHMS)}")
        if self.loss is not None and self.loss not in LOSSES:
            raise InputError(f"unknown loss '{self.loss}'; use {', '.join(LOSSES)}")
        if self.algorithm in ("flow", "path") and (self.loss or self.head):
            raise InputError(f"{self.algorithm} is for the log loss with the identity head")
        self.training()
        for dataset in datasets_of(instances):
            for text in self.predict:
                encode(dataset, text)

    def training(self) -> Training:
        """The algorithm as asked for."""
        steps = 4_000 if self.steps is None else self.steps
        if self.record and not 0 <= min(self.record) <= max(self.record) <= steps:
            raise InputError(
                f"can only record steps 0 to {steps}; got {min(self.record)} to {max(self.record)}"
            )
        usual: Rate = "tight" if self.algorithm == "gd" else 0.01
        algorithm: Any = self.algorithm if self.algorithm not in ("flow", "path") else "gd"
        loss: Any = self.loss or "log"
        return Training(
            algorithm=algorithm,
            rate=usual if self.rate is None else _rate(self.rate),
            steps=steps,
            record=self.record or "log",
            loss=loss,
            head=_head(self.head),
            epsilon=self.epsilon or 0.0,
        )


def _rate(rate: float | str) -> Rate:
    if rate == "paper":
        return "paper"
    if rate == "tight":
        return "tight"
    if isinstance(rate, str):
        raise InputError(f"--lr takes a number, 'paper' (1/L) or 'tight' (1/L_tight); got '{rate}'")
    return rate


def _head(head: str | None) -> Head:
    if head in (None, "identity"):
        return "identity"
    if head == "embedding":
        return "embedding"
    if not head.endswith((".npy", ".json")):
        raise InputError(f"--head takes identity, embedding, or a .npy or .json file; got '{head}'")
    return read_embeddings(Path(head))


def encode(dataset: Dataset, text: str) -> list[int]:
    """Tokens by name, for a prediction."""
    index = {dataset.data.name(i): i for i in range(dataset.K)}
    words = text.split()
    unknown = [word for word in words if word not in index]
    if unknown or not words:
        known = " ".join(list(index)[:20])
        raise InputError(
            f"cannot predict {text!r}: unknown token "
            f"{', '.join(map(repr, unknown)) or '(none given)'}; known: {known}"
        )
    return [index[word] for word in words]


def train(
    instances: Sequence[Instance],
    request: TrainingRequest,
    *,
    store: Store | None,
    track: Track,
) -> dict[str, Any]:
    """Train the user's data and record how it approaches the predicted limits."""
    request.validate(instances)
    datasets = datasets_of(instances)
    how = request.training()

    def can_train(dataset: Dataset) -> bool:
        return bool(dataset.realizable.samples) or not how.identity

    ready = [d for d in datasets if can_train(d)]
    if request.algorithm in ("flow", "path"):
        found = _follow(ready, request, how)
    else:
        found = _descend(ready, request, how, store, track)
    answers = iter(found)
    return {
        "setting": SETTING,
        "rule": describe_rule(request.algorithm, how),
        "instances": [next(answers) if can_train(d) else _untrained(d) for d in datasets],
    }


def describe_rule(algorithm: str, how: Training) -> str:
    """What exactly is run, in one sentence."""
    size = {"paper": "1/L with L of Eq. (23)", "tight": "1/L with the tight Lipschitz constant"}
    rate = size[how.rate] if isinstance(how.rate, str) else f"{how.rate}"
    loss = how.loss if isinstance(how.loss, str) else how.loss.name
    head = how.head if isinstance(how.head, str) else "given"
    what = f"the {loss} loss with the {head} head"
    if algorithm == "flow":
        return f"gradient flow on {what}, to time {how.steps}"
    if algorithm == "path":
        return f"the regularization path of {what}, to a ridge of exp(-{how.steps})"
    epsilon = f" and {how.epsilon:g} added to the norm of the gradient" if how.epsilon else ""
    names = {
        "ngd": "normalized gradient descent on W",
        "gd": "gradient descent on W",
        "block": "gradient descent inside S_cyc and normalized gradient descent outside",
        "factored": "normalized gradient descent on K and Q, W = K Q^T",
    }
    return f"{names[algorithm]}: {how.steps} steps of size {rate} on {what}{epsilon}"


def _descend(
    datasets: list[Dataset],
    request: TrainingRequest,
    how: Training,
    store: Store | None,
    track: Track,
) -> list[dict[str, Any]]:
    if not datasets:
        return []
    progress = track("training", len(datasets) * how.steps)
    run = how.run(datasets, store=store, progress=progress)
    return [_trained(run, i, request.predict) for i in range(len(datasets))]


def _trained(run: TrainingRun, i: int, texts: tuple[str, ...]) -> dict[str, Any]:
    dataset = run.datasets[i]
    gap = run["one_minus_correlation"][i]
    return _header(dataset) | {
        "rate": float(run.rate[i]),
        "steps": run.steps,
        "log_loss": run["log_loss"][i],
        "log_gradient_norm": run["log_gradient_norm"][i],
        "norm": run["norm"][i],
        "correlation": 1 - gap,
        "one_minus_correlation": gap,
        "cyclic_distance": run["cyclic_distance"][i],
        "midpoint_distance": run["midpoint_distance"][i],
        "predictions": [_predict(run, i, text) for text in texts],
    }


def _predict(run: TrainingRun, i: int, text: str) -> dict[str, Any]:
    """With the identity head the prediction is the attention on each token."""
    dataset = run.datasets[i]
    tokens = encode(dataset, text)
    attention = run.attention(i, tokens)
    chances: dict[int, float] = {}
    for token, share in zip(tokens, attention, strict=True):
        chances[token] = chances.get(token, 0.0) + float(share)
    best = max(chances, key=lambda token: chances[token])
    return {
        "input": text,
        "next": dataset.data.vocabulary[best],
        "probability": chances[best],
        "attention": attention,
    }


def _follow(
    datasets: list[Dataset], request: TrainingRequest, how: Training
) -> list[dict[str, Any]]:
    """Gradient flow by time, or the regularization path by -log ridge."""
    answers = []
    for dataset in datasets:
        curve = (flow if request.algorithm == "flow" else path)(dataset, how.recorded)
        answers.append(
            _header(dataset)
            | {
                "steps": how.recorded,
                "log_loss": curve.log_loss,
                "norm": curve.norm,
                "correlation": 1 - curve.one_minus_correlation,
                "one_minus_correlation": curve.one_minus_correlation,
                "cyclic_distance": curve.cyclic_distance,
                "predictions": [],
            }
        )
    return answers


def _header(dataset: Dataset) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "trained": True,
        "problems": _problems(dataset),
        "target": "W^mm" if dataset.feasible else "generalized direction",
        "target_status": dataset.margin.status.value,
        "target_norm": dataset.norm if dataset.margin.status is Status.SOLVED else None,
    }


def _problems(dataset: Dataset) -> list[dict[str, str]]:
    return [{"code": p.code, "where": p.where, "message": p.message} for p in dataset.problems]


def _untrained(dataset: Dataset) -> dict[str, Any]:
    empty: list[float] = []
    return {
        "name": dataset.name,
        "trained": False,
        "reason": "no label occurs in its sequence, so no sample has a gradient",
        "problems": _problems(dataset),
        "steps": empty,
        "log_loss": empty,
        "norm": np.array(empty),
        "correlation": empty,
        "one_minus_correlation": empty,
        "cyclic_distance": empty,
    }

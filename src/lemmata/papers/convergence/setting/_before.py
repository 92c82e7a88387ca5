"""Reading, analysing and training as functions, for the command line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lemmata.papers.convergence.setting._analysis import ConvergenceAnalysis, problems_document
from lemmata.papers.convergence.setting._dataset import Dataset
from lemmata.papers.convergence.setting._setting import SETTING
from lemmata.settings import Run, Track
from lemmata.training import Store

_analyses: list[ConvergenceAnalysis] = []
"""Of the last call, so that they can be told in words."""

read = SETTING.read


def analyze(datasets: Sequence[Dataset]) -> dict[str, Any]:
    """What the data means to the paper; several datasets are listed under ``instances``."""
    _analyses[:] = [SETTING.analyze(dataset) for dataset in datasets]
    answers = [analysis.document() for analysis in _analyses]
    if len(answers) == 1:
        return {"setting": SETTING.key} | answers[0]
    return {"setting": SETTING.key, "instances": answers}


def describe(answer: dict[str, Any]) -> Iterator[Any]:
    """An answer in words."""
    keys = ("vocabulary", "samples", "problems", "queries", "roles")
    for analysis in _analyses:
        document = analysis.document()
        if all(document[key] == answer[key] for key in keys):
            return analysis.describe()
    raise LookupError("this was not analysed last")


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

    @property
    def options(self) -> dict[str, Any]:
        """What was said."""
        return {name: value for name, value in vars(self).items() if value not in (None, ())}

    def validate(self, datasets: Sequence[Dataset]) -> None:
        """Reject what cannot be run, before anything is computed or written."""
        SETTING.prepare(datasets, self.options)


def train(
    datasets: Sequence[Dataset], request: TrainingRequest, *, store: Store | None, track: Track
) -> dict[str, Any]:
    """Train the user's data and record how it approaches the max-margin direction."""
    run = SETTING.train(datasets, request.options, store=store, track=track)
    return {
        "setting": run.setting,
        "rule": run.rule,
        "instances": [_instance(run, i) for i in range(len(run.instances))],
    }


def _instance(run: Run, i: int) -> dict[str, Any]:
    dataset, done = run.instances[i], run.trained[i]
    names = [name for name in run.names if name != "rate"]
    return {
        "name": dataset.name,
        "trained": done,
        **({} if done else {"reason": run.reasons[i]}),
        "problems": problems_document(dataset.problems),
        **({"rate": float(run["rate"][i, 0])} if done else {}),
        "steps": run.steps if done else [],
        **{name: run[name][i] if done else [] for name in names},
        **run.extras[i],
        "predictions": list(run.predictions[i]),
    }

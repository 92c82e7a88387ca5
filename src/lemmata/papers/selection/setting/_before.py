"""Reading, analysing and training as functions, for the command line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmata.papers.selection.setting._analysis import Analysis
from lemmata.papers.selection.setting._plan import Plan
from lemmata.papers.selection.setting._plan_training import PlanTraining
from lemmata.papers.selection.setting._setting import SETTING
from lemmata.settings import Track
from lemmata.training import Store

_analyses: dict[str, Analysis] = {}
"""Of the last call, by name, so that they can be told in words."""


def read(file: Path, embeddings: Path | None = None) -> list[Plan]:
    """The plans of a file."""
    return SETTING.read(file, embeddings)


def analyze(plans: Sequence[Plan]) -> dict[str, Any]:
    """What the paper says about the plans; several are listed under ``instances``."""
    analyses = [SETTING.analyze(plan) for plan in plans]
    _analyses.clear()
    _analyses.update({analysis.plan.name: analysis for analysis in analyses})
    answers = [analysis.document() for analysis in analyses]
    if len(answers) == 1:
        return {"setting": SETTING.key} | answers[0]
    return {"setting": SETTING.key, "instances": answers}


def describe(answer: dict[str, Any]) -> Iterator[Any]:
    """An answer in words."""
    return _analyses[answer["name"]].describe()


@dataclass(frozen=True)
class TrainingRequest:
    """What the user asked for; None means the usual choice."""

    algorithm: str = "gd"
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

    def validate(self, plans: Sequence[Plan]) -> None:
        """Reject what cannot be run, before anything is computed or written."""
        SETTING.check(self.options)
        training = PlanTraining(**self.options)
        for plan in plans:
            training.of(plan)


def train(
    plans: Sequence[Plan], request: TrainingRequest, *, store: Store | None, track: Track
) -> dict[str, Any]:
    """Train as planned and record the loss and the two numbers."""
    run = SETTING.train(plans, request.options, store=store, track=track)
    names = [name for name in run.names if name != "rate"]
    return {
        "setting": run.setting,
        "rule": run.rule,
        "instances": [
            {
                "name": plan.name,
                "trained": run.trained[i],
                "diverged": run.diverged[i],
                "reason": run.reasons[i],
                "steps": run.steps,
                **{name: run[name][i] for name in names},
                **run.extras[i],
            }
            for i, plan in enumerate(run.instances)
        ],
    }

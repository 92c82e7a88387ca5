"""The functions that the command line calls; each hands over to the setting."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from lemmata.papers.mechanics.setting._document import problems_document
from lemmata.papers.mechanics.setting._setting import PREFIXES, SETTING, name_instances
from lemmata.settings import Run, Track
from lemmata.tokens import Instance, read_token_files
from lemmata.training import Store

read = partial(read_token_files, prefixes=PREFIXES)


def analyze(instances: Sequence[Instance]) -> dict[str, Any]:
    """What the data means to the paper; several instances are listed under ``instances``."""
    answers = [SETTING.analyze(dataset).document() for dataset in name_instances(instances)]
    if len(answers) == 1:
        return {"setting": SETTING.key} | answers[0]
    return {"setting": SETTING.key, "instances": answers}


@dataclass(frozen=True)
class TrainingRequest:
    """What the user asked for; None means the usual choice."""

    algorithm: str | None = None
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
        """What was given."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in given.items() if value not in (None, ())}

    def validate(self, instances: Sequence[Instance]) -> None:
        """Reject what cannot be run, before anything is computed or written."""
        SETTING.check(self.options)
        SETTING.prepare(name_instances(instances), self.options)


def train(
    instances: Sequence[Instance],
    request: TrainingRequest,
    *,
    store: Store | None,
    track: Track,
) -> dict[str, Any]:
    """Train the user's data and record how it approaches the predicted limits."""
    request.validate(instances)
    run = SETTING.train(name_instances(instances), request.options, store=store, track=track)
    return {
        "setting": run.setting,
        "rule": run.rule,
        "instances": [_instance(run, i) for i in range(len(run.instances))],
    }


def _instance(run: Run, i: int) -> dict[str, Any]:
    dataset, done = run.instances[i], run.trained[i]
    header = {
        "name": dataset.name,
        "trained": done,
        "problems": problems_document(dataset.problems),
    }
    names = [column.name for column in SETTING.columns if column.name in run.names]
    if not done:
        return header | {"reason": run.reasons[i], "steps": [], **{name: [] for name in names}}
    rate = {"rate": float(run["rate"][i, 0])} if "rate" in run.names else {}
    return {
        **header,
        **run.extras[i],
        **rate,
        "steps": run.steps,
        **{name: run[name][i] for name in names},
        "predictions": list(run.predictions[i]),
    }

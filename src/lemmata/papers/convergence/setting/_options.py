"""What can be said about training, on the command line and in Python."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from jaxtyping import Int

from lemmata.settings import RECORD, Option, number_or
from lemmata.training import log_spaced, record_steps

from ._two_stage import STAGE_1_CONSTANT, STAGE_2_CONSTANT, Joint, NamedRate, TwoStage

IN_STAGES = ("ngd", "gd")
"""Algorithms that train one layer after the other."""

A_RATE = "a number, 'paper' or 'largest' (||W*||/e)"


OPTIONS = (
    Option(
        "algorithm",
        "--algorithm",
        "ngd (the default) and gd train in two stages, joint trains both layers together",
        choices=(*IN_STAGES, "joint"),
    ),
    Option(
        "rate",
        "--lr",
        f"the step size of stage 2, or of joint training: {A_RATE}; usually 'paper', "
        f"{STAGE_2_CONSTANT}/sqrt(|V|), jointly {STAGE_1_CONSTANT}/sqrt(|V|)",
        number_or(*get_args(NamedRate)),
        A_RATE,
    ),
    Option(
        "steps",
        "--steps",
        f"how many of stage 2, or of joint training; usually {TwoStage.steps}",
        int,
        "a whole number",
    ),
    Option(
        "stage1_rate",
        "--stage1-lr",
        f"the step size of stage 1: {A_RATE}; usually 'paper', {STAGE_1_CONSTANT}/sqrt(|V|)",
        number_or(*get_args(NamedRate)),
        A_RATE,
        IN_STAGES,
    ),
    Option(
        "stage1_steps",
        "--stage1-steps",
        f"how many of stage 1; usually {TwoStage.stage1_steps}",
        int,
        "a whole number",
        IN_STAGES,
    ),
    RECORD,
    Option(
        "predict",
        "--predict",
        "inputs to continue after training, words with spaces between them",
        expects="words with spaces between them",
        algorithms=IN_STAGES,
        many=True,
    ),
)


@dataclass(frozen=True)
class Request:
    """What the user asked for, as values."""

    training: TwoStage | Joint
    recorded: Int[np.ndarray, "records"]
    predict: tuple[str, ...]


def request_of(options: Mapping[str, Any]) -> Request:
    """The options as values; refuses what cannot be run."""
    given = {name: value for name, value in options.items() if value is not None}
    algorithm, predict = given.pop("algorithm", "ngd"), given.pop("predict", ())
    record = tuple(given.pop("record", ()))
    if algorithm == "joint":
        training, last = Joint(**given), []
    else:
        training = TwoStage(**given, record=record or "log", rule=algorithm)
        last = [training.steps]
    steps = training.steps
    wanted = record_steps(record, steps) if record else log_spaced(steps)
    recorded = np.union1d(wanted, last).astype(np.int64)
    return Request(training, recorded, (predict,) if isinstance(predict, str) else tuple(predict))

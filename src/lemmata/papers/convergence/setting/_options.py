"""What can be said about training, on the command line and in Python."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from lemmata.settings import RECORD, Option, number_or, real_number, whole_number
from lemmata.tokens import read_embeddings
from lemmata.training import log_spaced, record_steps

from ._factored import Factored
from ._two_stage import STAGE_1_CONSTANT, STAGE_2_CONSTANT, Joint, NamedRate, TwoStage

IN_STAGES = ("ngd", "gd", "factored")
"""Algorithms that train one layer after the other."""

OF_PRODUCTS = ("ngd", "gd")
"""Those that train W_ov and W_kq themselves, from where one likes."""

FACTORED = ("factored",)

A_RATE = "a number, 'paper' or 'largest' (||W*||/e)"


OPTIONS = (
    Option(
        "algorithm",
        "--algorithm",
        "ngd (the default) and gd train in two stages, factored does so with separate W_k, W_q, "
        "W_v and W_o, joint trains both layers together",
        choices=(*IN_STAGES, "joint"),
    ),
    Option(
        "rate",
        "--lr",
        f"the step size of stage 2, or of joint training: {A_RATE}; usually 'paper', "
        f"{STAGE_2_CONSTANT}/sqrt(|V|), jointly {STAGE_1_CONSTANT}/sqrt(|V|)",
        number_or(*get_args(NamedRate)),
        A_RATE,
        words=get_args(NamedRate),
        usual="paper",
    ),
    whole_number(
        "steps",
        f"how many of stage 2, or of joint training; usually {TwoStage.steps}",
        usual=TwoStage.steps,
    ),
    Option(
        "stage1_rate",
        "--stage1-lr",
        f"the step size of stage 1: {A_RATE}; usually 'paper', {STAGE_1_CONSTANT}/sqrt(|V|)",
        number_or(*get_args(NamedRate)),
        A_RATE,
        IN_STAGES,
        words=get_args(NamedRate),
        usual="paper",
    ),
    whole_number(
        "stage1_steps",
        f"how many of stage 1; usually {TwoStage.stage1_steps}",
        *IN_STAGES,
        usual=TwoStage.stage1_steps,
    ),
    RECORD,
    Option(
        "predict",
        "--predict",
        "inputs to continue after training, words with spaces between them",
        expects="words with spaces between them",
        many=True,
    ),
    Option(
        "stage1_start",
        "--stage1-start",
        "a .npy or .json file with W_ov before stage 1, |V| rows and d columns; usually zero",
        expects="a .npy or .json file",
        algorithms=OF_PRODUCTS,
        file=True,
    ),
    whole_number("heads", "how many heads, whose outputs are added; usually 1", *FACTORED),
    whole_number("width", "the inner dimension of W_k W_q and of W_o W_v; usually |V|", *FACTORED),
    real_number(
        "start",
        f"the size of the random factors that training starts from; usually {Factored.start}",
        *FACTORED,
    ),
    whole_number("seed", "for these factors; usually 0", *FACTORED),
)


@dataclass(frozen=True)
class Request:
    """What the user asked for, as values."""

    training: TwoStage | Factored | Joint
    recorded: Int[np.ndarray, "records"]
    predict: tuple[str, ...]
    stage1_start: Float[np.ndarray, "vocabulary dimension"] | None = None


def request_of(options: Mapping[str, Any]) -> Request:
    """The options as values; refuses what cannot be run."""
    given = {name: value for name, value in options.items() if value is not None}
    algorithm, predict = given.pop("algorithm", "ngd"), given.pop("predict", ())
    record, start = tuple(given.pop("record", ())), given.pop("stage1_start", None)
    training, last = _training(algorithm, given, record)
    steps = training.steps
    wanted = record_steps(record, steps) if record else log_spaced(steps)
    recorded = np.union1d(wanted, last).astype(np.int64)
    asked = (predict,) if isinstance(predict, str) else tuple(predict)
    if isinstance(start, str | Path):
        start = read_embeddings(Path(start))
    return Request(training, recorded, asked, None if start is None else np.asarray(start, float))


def _training(
    algorithm: Literal["ngd", "gd", "factored", "joint"],
    given: Mapping[str, Any],
    record: tuple[int, ...],
) -> tuple[TwoStage | Factored | Joint, list[int]]:
    """What is run, and the step that is recorded whatever is asked."""
    if algorithm == "joint":
        return Joint(**given), []
    if algorithm != "factored":
        training = TwoStage(**given, record=record or "log", rule=algorithm)
        return training, [training.steps]
    factors = {name: given[name] for name in ("heads", "width", "start", "seed") if name in given}
    plan = {name: value for name, value in given.items() if name not in factors}
    stages = TwoStage(**plan, record=record or "log")
    return Factored(stages, **factors), [stages.steps]

"""What can be said about training, on the command line and in Python."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.settings import RECORD, Option, number_or, real_number, whole_number
from lemmata.tokens import check_start, read_embeddings

from ._dataset import Dataset
from ._heads import HEADS, LOSSES, OTHER_NAMES, Head
from ._training import ALGORITHMS, RATES, USUAL_RATE, Algorithm, Training

STEPS = Training.steps

CURVES = ("flow", "path")
"""Algorithms without steps: points on a curve."""

WITH_LOSSES = ("ngd", "gd", "sgd", "adam", "factored")

LOCAL_HINT = (
    "Beyond the log loss with the identity head descent may go elsewhere than to W^mm (Section 6): "
    "the local columns compare it with the limits of what it selects"
)

HEADS_HINT = (
    "No theorem covers several heads: the risk is not convex, and tied tokens may be shared out "
    "among the heads. The columns compare all of them with W^mm and W^cyc"
)

STARTS = ("zero", "random")

Start = str | Float[np.ndarray, "dimension dimension"] | None
"""W(0): one of STARTS, a matrix, or what the data says."""

OPTIONS = (
    Option(
        "algorithm",
        "--algorithm",
        "ngd (the default), gd, sgd, adam, block, factored, flow or path; in Python also an optax "
        "optimizer",
        choices=(*ALGORITHMS, *CURVES),
    ),
    Option(
        "rate",
        "--lr",
        "the step size: a number, 'paper' (1/L) or 'tight' (1/L_tight); usually "
        f"{USUAL_RATE}, and 'tight' for gd and sgd",
        number_or(*RATES),
        "a number, 'paper' (1/L) or 'tight' (1/L_tight)",
        ALGORITHMS,
        words=RATES,
        usual={name: "tight" if name in ("gd", "sgd") else USUAL_RATE for name in ALGORITHMS},
    ),
    whole_number(
        "steps",
        f"how many, usually {STEPS:,}; the time for flow, and -log of the last ridge for path",
        usual=STEPS,
    ),
    RECORD,
    Option(
        "loss",
        "--loss",
        f"one of {', '.join(LOSSES)}, mse (squared) or corr (linear); usually log",
        algorithms=WITH_LOSSES,
        choices=(*LOSSES, *OTHER_NAMES),
        usual=Training.loss,
    ),
    Option(
        "head",
        "--head",
        "identity (usual), embedding, or a .npy or .json file with the matrix C",
        expects="identity, embedding, or a .npy or .json file",
        algorithms=WITH_LOSSES,
        words=HEADS,
        file=True,
        usual=Training.head,
    ),
    real_number(
        "epsilon", "added to the gradient norm that ngd divides by; usually 0", "ngd", usual=0.0
    ),
    Option(
        "start",
        "--start",
        "W(0): zero, random (uniform in ±1/√d, as the authors draw it), or a .npy or .json file; "
        "usually that of the data, or zero",
        expects="zero, random, or a .npy or .json file",
        algorithms=("ngd", "gd", "sgd", "adam", "block", "flow"),
        words=STARTS,
        file=True,
    ),
    whole_number("seed", "for factored, sgd, several heads and a random start; usually 0", usual=0),
    whole_number("batch", "samples that sgd draws for a step; usually 1", "sgd", usual=1),
    whole_number("width", "of the factors K and Q; usually the dimension", "factored"),
    real_number(
        "decay",
        "weight decay on K and Q: the factor of (‖K‖² + ‖Q‖²)/2 in the loss; usually 0",
        "factored",
        usual=0.0,
    ),
    whole_number(
        "heads",
        "how many, with their attention averaged; usually 1. Several start at random (--seed)",
        "ngd",
        "gd",
    ),
    Option(
        "predict",
        "--predict",
        "inputs of which to predict the next token, such as 'a b'",
        expects="tokens with blanks between them",
        many=True,
    ),
)


@dataclass(frozen=True)
class Request:
    """What was asked for, checked.

    Attributes:
        algorithm: as asked.
        training: the descent; of a curve, only its records count.
        predict: inputs of which to predict the next token.
        start: W(0), if it is not that of the data.
    """

    algorithm: Algorithm
    training: Training
    predict: tuple[str, ...]
    start: Start = None

    def begin(self, dataset: Dataset) -> Dataset:
        """The dataset with the start that was asked for."""
        d = dataset.E.shape[1]
        if self.start is None:
            return dataset
        if isinstance(self.start, str):
            draw = np.random.default_rng(self.training.seed)
            drawn = draw.uniform(-1, 1, (d, d)) / np.sqrt(d)
            return replace(dataset, initial_weights=drawn if self.start == "random" else None)
        if self.start.shape != (d, d):
            raise InputError(
                f"{dataset.name}: W(0) has shape {self.start.shape}; it needs that of W, {(d, d)}"
            )
        check_start(self.start, f"{dataset.name}: W(0)")
        return replace(dataset, initial_weights=self.start)

    @property
    def rule(self) -> str:
        """What exactly is run, in one sentence."""
        training = self.training
        what = training.objective
        if self.algorithm == "flow":
            return f"gradient flow on {what}, to time {training.steps}"
        if self.algorithm == "path":
            return f"the regularization path of {what}, to a ridge of exp(-{training.steps})"
        if not isinstance(self.algorithm, str):
            return f"an optax optimizer on W: {training.steps} steps on {what}"
        size = {"paper": "1/L with L of Eq. (23)", "tight": "1/L with the tight Lipschitz constant"}
        rate = training.step_size
        step = size[rate] if isinstance(rate, str) else f"{rate}"
        epsilon = f" and {training.epsilon:g} added to the norm of the gradient"
        text = (
            f"{training.what}: {training.steps} steps of size {step} on "
            f"{what}{epsilon if training.epsilon else ''}"
        )
        if training.heads > 1:
            return f"{text}. {HEADS_HINT}"
        return text if training.is_global else f"{text}. {LOCAL_HINT}"


def check_seed(options: Mapping[str, Any]) -> None:
    """Refuse a seed where nothing is drawn."""
    algorithm, start = options.get("algorithm", ALGORITHMS[0]), options.get("start")
    named = algorithm if isinstance(algorithm, str) else "an optimizer of optax"
    several = (options.get("heads") or 1) > 1
    if several and start is not None:
        raise InputError(
            "--start (start) has no effect with several heads, which start at random: equal ones "
            "would stay equal for ever"
        )
    drawn = named in ("factored", "sgd") or (isinstance(start, str) and start == "random")
    if options.get("seed") is not None and not (drawn or several):
        raise InputError(
            f"--seed (seed) has no effect with algorithm {named}; it is for factored, sgd, several "
            "heads and --start random"
        )


def request_of(options: Mapping[str, Any]) -> Request:
    """Options as typed values; what cannot be run is refused."""
    given = {name: value for name, value in options.items() if value is not None}
    predict = given.pop("predict", ())
    start = _start(given.pop("start", None))
    algorithm: Any = given.pop("algorithm", ALGORITHMS[0])
    if "head" in given:
        given["head"] = _head(given["head"])
    if "record" in given:
        given["record"] = _records(given["record"], given.get("steps", STEPS))
    curve = isinstance(algorithm, str) and algorithm in CURVES
    training = Training(**given if curve else {**given, "algorithm": algorithm})
    texts = (predict,) if isinstance(predict, str) else tuple(predict)
    return Request(algorithm, training, texts, start)


def _head(head: Any) -> Head:
    if not isinstance(head, str) or head in HEADS:
        return head
    if not head.endswith((".npy", ".json")):
        raise InputError(f"--head takes identity, embedding, or a .npy or .json file; got '{head}'")
    return read_embeddings(Path(head))


def _start(start: Any) -> Start:
    if not isinstance(start, str) or start in STARTS:
        return start
    if not start.endswith((".npy", ".json")):
        raise InputError(f"--start takes zero, random, or a .npy or .json file; got '{start}'")
    return read_embeddings(Path(start))


def _records(record: Sequence[int], steps: int) -> Any:
    """The steps to record, if they are steps of the run."""
    if isinstance(record, str):
        return record
    if record and not 0 <= min(record) <= max(record) <= steps:
        raise InputError(f"can only record steps 0 to {steps}; got {min(record)} to {max(record)}")
    return tuple(record) or "log"

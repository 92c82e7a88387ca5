"""What can be said about training, on the command line and in Python."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmata._errors import InputError
from lemmata.settings import RECORD, Option, number_or
from lemmata.tokens import read_embeddings

from ._heads import HEADS, LOSSES, Head
from ._training import ALGORITHMS, RATES, USUAL_RATE, Algorithm, Training

STEPS = Training.steps

CURVES = ("flow", "path")
"""Algorithms without steps: points on a curve."""

WITH_LOSSES = ("ngd", "gd", "factored")


OPTIONS = (
    Option(
        "algorithm",
        "--algorithm",
        "ngd (the default), gd, block, factored, flow or path; in Python also an optax optimizer",
        choices=(*ALGORITHMS, *CURVES),
    ),
    Option(
        "rate",
        "--lr",
        "the step size: a number, 'paper' (1/L) or 'tight' (1/L_tight); usually "
        f"{USUAL_RATE}, and 'tight' for gd",
        number_or(*RATES),
        "a number, 'paper' (1/L) or 'tight' (1/L_tight)",
        ALGORITHMS,
    ),
    Option(
        "steps",
        "--steps",
        f"how many, usually {STEPS:,}; the time for flow, and -log of the last ridge for path",
        int,
        "a whole number",
    ),
    RECORD,
    Option(
        "loss",
        "--loss",
        f"one of {', '.join(LOSSES)}; usually log",
        algorithms=WITH_LOSSES,
        choices=LOSSES,
    ),
    Option(
        "head",
        "--head",
        "identity (usual), embedding, or a .npy or .json file with the matrix C",
        expects="identity, embedding, or a .npy or .json file",
        algorithms=WITH_LOSSES,
    ),
    Option(
        "epsilon",
        "--epsilon",
        "added to the gradient norm that ngd divides by; usually 0",
        float,
        "a number",
        ("ngd",),
    ),
    Option(
        "seed",
        "--seed",
        "for the factors that training starts from; usually 0",
        int,
        "a whole number",
        ("factored",),
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
    """

    algorithm: Algorithm
    training: Training
    predict: tuple[str, ...]

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
        names = {
            "ngd": "normalized gradient descent on W",
            "gd": "gradient descent on W",
            "block": "gradient descent inside S_cyc and normalized gradient descent outside",
            "factored": "normalized gradient descent on K and Q, W = K Q^T",
        }
        return (
            f"{names[self.algorithm]}: {training.steps} steps of size {step} on "
            f"{what}{epsilon if training.epsilon else ''}"
        )


def request_of(options: Mapping[str, Any]) -> Request:
    """Options as typed values; what cannot be run is refused."""
    given = {name: value for name, value in options.items() if value is not None}
    predict = given.pop("predict", ())
    algorithm: Any = given.pop("algorithm", ALGORITHMS[0])
    if "head" in given:
        given["head"] = _head(given["head"])
    if "record" in given:
        given["record"] = _records(given["record"], given.get("steps", STEPS))
    curve = isinstance(algorithm, str) and algorithm in CURVES
    training = Training(**given if curve else {**given, "algorithm": algorithm})
    return Request(algorithm, training, (predict,) if isinstance(predict, str) else tuple(predict))


def _head(head: Any) -> Head:
    if not isinstance(head, str) or head in HEADS:
        return head
    if not head.endswith((".npy", ".json")):
        raise InputError(f"--head takes identity, embedding, or a .npy or .json file; got '{head}'")
    return read_embeddings(Path(head))


def _records(record: Sequence[int], steps: int) -> Any:
    """The steps to record, if they are steps of the run."""
    if isinstance(record, str):
        return record
    if record and not 0 <= min(record) <= max(record) <= steps:
        raise InputError(f"can only record steps 0 to {steps}; got {min(record)} to {max(record)}")
    return tuple(record) or "log"

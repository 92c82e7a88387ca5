"""What a page can show of a run at every record: attention, matrices, planes and charts."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._plain import plain

Frames = Float[np.ndarray, "records points"]


@dataclass(frozen=True)
class Attention:
    """How a model attends to one input.

    Attributes:
        title: what asks, or what should be selected.
        tokens: the input, position by position.
        weights: the attention on each position, at every record.
        goal: the positions on which it should end.
    """

    title: str
    tokens: tuple[str, ...]
    weights: Float[np.ndarray, "records positions"]
    goal: tuple[int, ...] = ()


@dataclass(frozen=True)
class Heat:
    """A matrix, and what theory says that it becomes.

    Attributes:
        title: what the matrix is.
        says: how to read it, in a sentence or two.
        rows, columns: what they stand for; no names if there are too many.
        values: the matrix at every record.
        goal: what it goes to, on the same scale; None if nothing is said.
        goal_title: what that is.
    """

    title: str
    says: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Float[np.ndarray, "records rows columns"]
    goal: Float[np.ndarray, "rows columns"] | None = None
    goal_title: str = ""


@dataclass(frozen=True)
class Phase:
    """A stretch of a path, by its first and its last record."""

    name: str
    first: int
    last: int


@dataclass(frozen=True)
class Plane:
    """Two numbers of a run against each other: its path, and where theory sends it.

    Attributes:
        title: what is seen.
        says: how to read it.
        x_title, y_title: the two numbers.
        x, y: at every record.
        phases: stretches of the path that theory tells apart.
        lines: curves to compare with, by what they are: pairs of x and y.
    """

    title: str
    says: str
    x_title: str
    y_title: str
    x: Float[np.ndarray, "records"]
    y: Float[np.ndarray, "records"]
    phases: tuple[Phase, ...] = ()
    lines: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)


@dataclass(frozen=True)
class Chart:
    """Curves over something else than steps, at every record.

    Attributes:
        title: what is seen.
        says: how to read it.
        x_title, y_title: the axes.
        x: where the curves have points: numbers, or names.
        curves: what training gives, at every record.
        fixed: what does not change while training, to compare with.
        log_x, log_y: whether an axis is logarithmic.
        dots: points rather than lines.
    """

    title: str
    says: str
    x_title: str
    y_title: str
    x: tuple[float | int | str, ...]
    curves: Mapping[str, Frames]
    fixed: Mapping[str, Float[np.ndarray, "points"]] = field(default_factory=dict)
    log_x: bool = False
    log_y: bool = False
    dots: bool = False


Picture = Attention | Heat | Plane | Chart
"""Whatever a page can show of a run."""


@dataclass(frozen=True)
class Slider:
    """A number of an instance that can be moved.

    Attributes:
        name: its key in a file of the setting.
        says: what it is.
        value: as it is.
        least, most: where it can be moved to.
        whole: whether it is a whole number.
        ranges: what theory asks for or says there: from, to, and in words.
    """

    name: str
    says: str
    value: float | int
    least: float | int
    most: float | int
    whole: bool = False
    ranges: tuple[tuple[float | int, float | int, str], ...] = ()


@dataclass(frozen=True)
class Example:
    """Data to begin with.

    Attributes:
        title: a few words.
        says: what there is to see, in a sentence.
        text: what a file would hold.
        suffix: of that file.
    """

    title: str
    says: str
    text: str
    suffix: str = ".txt"

    @classmethod
    def of(cls, title: str, says: str, document: Mapping[str, Any]) -> "Example":
        """Data that a JSON file holds."""
        text = json.dumps(plain(document), indent=1)
        return cls(title, says, re.sub(r"\[[^][{}]*\]", _in_one_line, text), ".json")


def _in_one_line(innermost: re.Match[str]) -> str:
    """A list without lists, as JSON, which breaks lines between words only."""
    tight = re.sub(r"(?<=\[)\n\s*|\n\s*(?=\])", "", innermost[0])
    return re.sub(r"\n\s*", " ", tight)


def first_letters(sentences: Sequence[Sequence[int]]) -> str:
    """Sentences of numbers as lines of letters: 0 is a, 1 is b."""
    return "\n".join(" ".join(chr(ord("a") + token) for token in line) for line in sentences)

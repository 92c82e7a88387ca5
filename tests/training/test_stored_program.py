"""A result is stored under its program: comments do not count, a changed step does."""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from lemmata.training import AbstractDynamics, Store, run

SOURCE = '''
from jaxtyping import Array, Float

from lemmata.training import AbstractDynamics


class Shrinking(AbstractDynamics):
    """{docstring}"""

    start: Float[Array, "..."]

    def init(self):
        return {first}

    def step(self, state):
        # {docstring}
        return {factor} * state

    def measure(self, state):
        return {{"size": {measured}}}
'''


def shrinking(
    docstring: str, factor: float = 0.5, measured: str = "state", first: str = "self.start"
) -> Any:
    names: dict[str, Any] = {}
    exec(SOURCE.format(docstring=docstring, factor=factor, measured=measured, first=first), names)
    return names["Shrinking"](jnp.ones(2))


def sizes(dynamics: AbstractDynamics[Any], folder: Path) -> tuple[list[float], int]:
    """What was recorded, and in how many pieces it was computed."""
    pieces: list[int] = []
    recording = run(dynamics, np.array([0, 1, 2]), store=Store(folder), progress=pieces.append)
    return recording.series["size"][0].tolist(), len(pieces)


def test_another_docstring_recomputes_nothing(tmp_path: Path) -> None:
    assert sizes(shrinking("halves"), tmp_path) == ([1.0, 0.5, 0.25], 1)
    again, pieces = sizes(shrinking("it halves in every step"), tmp_path)
    assert again == [1.0, 0.5, 0.25]
    assert len(list(tmp_path.iterdir())) == 1
    assert pieces == 1, "the stored steps are reported at once"


def test_another_step_or_measurement_is_computed_anew(tmp_path: Path) -> None:
    sizes(shrinking("halves"), tmp_path)
    assert sizes(shrinking("halves", factor=0.25), tmp_path)[0] == [1.0, 0.25, 0.0625]
    assert sizes(shrinking("halves", measured="2 * state"), tmp_path)[0] == [2.0, 1.0, 0.5]
    assert sizes(shrinking("halves", first="3 * self.start"), tmp_path)[0] == [3.0, 1.5, 0.75]
    assert len(list(tmp_path.iterdir())) == 4


def test_where_a_result_came_from_stands_beside_it(tmp_path: Path) -> None:
    sizes(shrinking("halves"), tmp_path)
    (file,) = tmp_path.iterdir()
    origin = Store(tmp_path).origin(file.stem)
    assert {"lemmata", "jax", "jaxlib", "numpy", "python", "processor", "threads"} == origin.keys()

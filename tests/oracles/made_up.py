"""Evidence with known answers, made up for the judge."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lemmata.settings import Evidence
from lemmata.tokens import Problem


@dataclass(frozen=True)
class Thing:
    """A case with a name, and perhaps with problems."""

    name: str
    problems: tuple[Problem, ...] = ()

    def document(self) -> dict[str, Any]:
        return {"name": self.name}


def evidence(rows: int = 1, steps: Any = None, **columns: Any) -> Evidence[Thing]:
    """Cases a, b, c, ... with columns."""
    return Evidence(
        tuple(Thing("abcdefgh"[i]) for i in range(rows)),
        None if steps is None else np.asarray(steps),
        {name: np.asarray(grid, dtype=float) for name, grid in columns.items()},
    )

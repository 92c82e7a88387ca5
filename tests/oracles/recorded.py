"""The stored numbers of the mechanics paper, and the authors' own instances."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lemmata.papers.mechanics.setting import Dataset

DATA = Path(__file__).parent.parent / "data"


def _read(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"mechanics_{name}.json").read_text())


MECHANICS = _read("golden")
AUTHORS = {kind: _read(kind) for kind in ("acyclic", "cyclic")}
FACTS: dict[str, dict[str, Any]] = {facts["name"]: facts for facts in MECHANICS["cases"]}


@dataclass(frozen=True)
class Recorded:
    """One stored dataset, twice: as its file says, and without its (orthonormal) embeddings."""

    facts: dict[str, Any]
    dataset: Dataset
    bare: Dataset | None


@cache
def recorded(name: str) -> Recorded:
    """A dataset of the golden file."""
    facts = FACTS[name]
    E = np.array(facts["embeddings"], dtype=float)
    start = facts.get("initial_weights")
    rows = (facts["sequences"], facts["labels"])
    whole = Dataset.from_samples(name, *rows, E, None if start is None else np.array(start))
    identity = E.shape[0] == E.shape[1] and np.array_equal(E, np.eye(len(E)))
    if not identity:
        return Recorded(facts, whole, None)
    # tokens keep their numbers because the vocabulary is stated
    return Recorded(facts, whole, Dataset(f"{name}, bare", whole.data))


def bare(name: str) -> Dataset:
    """A dataset of the golden file without its embeddings, which are unit vectors."""
    found = recorded(name).bare
    assert found is not None
    return found


@cache
def authors_instances(kind: str) -> list[Dataset]:
    """The authors' random instances of Figure 3 (acyclic) or Figure 4 (cyclic)."""
    return [
        Dataset.from_samples(
            f"{kind} {number}",
            instance["sequences"],
            instance["labels"],
            np.array(instance["embeddings"]),
            np.array(instance["initial_weights"]),
        )
        for number, instance in enumerate(AUTHORS[kind]["instances"])
    ]

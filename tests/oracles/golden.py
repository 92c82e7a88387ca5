"""The stored reference numbers, and the datasets they belong to."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lemmata.tokens import TokenData

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "data" / "convergence_golden.json").read_text()
)


@dataclass(frozen=True)
class Case:
    """One dataset of the file with everything that is recorded about it."""

    name: str
    facts: dict[str, Any]

    @property
    def data(self) -> TokenData:
        """The recorded inputs, tokens numbered as the file numbers them."""
        rows = [(r["X"].split(), r["next"], r["count"], r["X"]) for r in self.facts["inputs"]]
        return TokenData.from_samples(rows, self.facts["vocabulary"])

    @property
    def from_sentences(self) -> TokenData | None:
        """The recorded sentences, tokens numbered by first appearance; None for bare samples."""
        sentences = self.facts["sentences"]
        return sentences and TokenData.from_sentences([s.split() for s in sentences])


@cache
def cases() -> dict[str, Case]:
    """All datasets with a structure and an exact solution."""
    found = {
        "example1": GOLDEN["example1"],
        "lemma7_witness": GOLDEN["lemma7_witness"],
        "random_K6": GOLDEN["random_realizable"]["K6"],
        **GOLDEN["proposition2_counterexamples"]["cases"],
    }
    return {name: Case(name, facts) for name, facts in found.items()}

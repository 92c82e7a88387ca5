"""What a paper says, item by item, and what covers it: data that is read without loading papers."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PAPERS = Path(__file__).parent / "papers"
"""Inventories are read by their place, because asking the package for them would load it."""

KINDS = (
    *("definition", "assumption", "lemma", "proposition", "theorem", "corollary", "fact"),
    *("algorithm", "example", "equation", "display", "remark", "text", "footnote"),
    *("figure", "table", "experiment", "number"),
)


@dataclass(frozen=True)
class Item:
    """One thing that a paper defines, asserts, draws or reports.

    Attributes:
        item: what the paper calls it, or its place.
        kind: one of ``KINDS``.
        where: the section.
        about: what it says, in our words.
        claims, figures: what would notice if it were false, by names within the paper.
        code: what it defines, by dotted names within the paper's package.
        because: why it cannot be checked.
        missing: what a claim would check, if there is none yet.
    """

    item: str
    kind: str
    where: str
    about: str
    claims: Sequence[str] = ()
    figures: Sequence[str] = ()
    code: Sequence[str] = ()
    because: str = ""
    missing: str = ""

    @property
    def covered(self) -> bool:
        """Whether something is said about it."""
        return bool(self.claims or self.figures or self.code or self.because)

    @property
    def by(self) -> str:
        """What covers it, in words."""
        parts = [*self.claims, *(f"figure {name}" for name in self.figures), *self.code]
        if parts:
            return ", ".join(parts)
        return f"cannot be checked: {self.because}" if self.because else f"missing: {self.missing}"

    def document(self) -> dict[str, Any]:
        """As values that can be written as JSON."""
        return {**asdict(self), "covered": self.covered}


def inventory_of(key: str) -> list[Item] | None:
    """The items of a paper in its own order; None if nobody has listed them."""
    file = PAPERS / key / "inventory.json"
    if not file.is_file():
        return None
    return [Item(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))["items"]]


def summary(items: Sequence[Item]) -> list[tuple[str, int, int]]:
    """Each kind with the number of its items and how many are covered."""
    total = Counter(item.kind for item in items)
    covered = Counter(item.kind for item in items if item.covered)
    return [(kind, total[kind], covered[kind]) for kind in KINDS if total[kind]]


def claims_beside(figure: str) -> list[str]:
    """The claims about the same items of a paper as a figure, all by their whole names."""
    key, _, name = figure.partition("/")
    items = [item for item in inventory_of(key) or () if name in item.figures]
    return [f"{key}/{claim}" for claim in dict.fromkeys(c for item in items for c in item.claims)]

"""Claims of both generations on benches of their own, until the last paper has moved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lemmata import claims, old_claims
from lemmata.papers import Figure


@dataclass
class Benches:
    """A bench for each generation of claims."""

    seed: int = 0
    paper_scale: bool = False
    store: Any = None
    track: Callable[[str, int], Callable[[int], None]] = lambda title, total: lambda done: None
    instances: Sequence[Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shared = (self.store, self.track, self.instances, self.options)
        self.old = old_claims.Bench(self.seed, self.paper_scale, *shared)
        self.new = claims.Bench(self.seed, "paper" if self.paper_scale else "quick", *shared)

    def check(self, claim: Any) -> Any:
        """The verdict, by the judge that the claim is written for."""
        if isinstance(claim, claims.Claim):
            return claims.check(claim, self.new)
        return old_claims.check(claim, self.old)

    def draw(self, figure: Figure) -> Any:
        """A figure, on the bench that its paper is written for."""
        bench: Any = self.new if figure.name.split("/")[0] in MOVED else self.old
        return figure.draw(bench)


MOVED: frozenset[str] = frozenset({"selection"})
"""Papers that have moved."""

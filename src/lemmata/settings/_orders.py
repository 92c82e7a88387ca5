"""Orders among tokens, as a page shows them: what an analysis of token sequences may offer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from lemmata.margin import MaxMargin, Pair
from lemmata.tokens import PriorityGraph, Problem, Sample, Token

from ._hypothesis import Hypothesis

CONTRADICTION = (
    "The embeddings contradict these orders, so attention cannot follow all of them: a winner "
    "below may have to share. See where the weights go."
)
"""A caution for orders that no weights can satisfy together."""


@dataclass(frozen=True)
class Selection:
    """What attention selects from a sample in the end: some tokens, in their shares."""

    sample: Sample
    tokens: tuple[int, ...]
    shares: Float[np.ndarray, "tokens"]


@dataclass(frozen=True)
class LimitView:
    """Something that training goes to.

    Attributes:
        title: such as ``The direction, W^mm``.
        says: what it is, for a person; a paragraph each.
        margin: the max-margin solution that it is, with its certificate.
        facts: names with numbers or texts; None is left out.
        pairs: (query, (winner, loser)) under a title each, such as pairs that stay apart.
        axes: what a row and a column of the margin's matrix stand for.
    """

    title: str
    says: tuple[str, ...] = ()
    margin: MaxMargin | None = None
    facts: tuple[tuple[str, float | int | str | None], ...] = ()
    pairs: Mapping[str, tuple[Pair, ...]] = field(default_factory=dict)
    axes: tuple[str, str] = ("token", "last token")


@dataclass(frozen=True)
class OrdersView:
    """The orders under each last token, and all that is said about them.

    Tokens are numbers, as in the graphs; ``vocabulary`` has them as written.

    Attributes:
        vocabulary: the tokens as written.
        graphs: by last token.
        facts: short answers about the data, shown under their names.
        samples: how many there are, by last token; empty if they are not counted.
        unreachable: labels that do not occur in their sequences, by last token.
        shares: the attention that tied tokens get in the end, by last token.
        collocation: which token follows which.
        predictions: what will be selected from each sample; None if that is not said.
        limits: where training goes.
        assumptions: each with the problems that break it.
        asks: what each of these asks, in words.
        theorems: each with the hypotheses that the data does not meet.
        problems: all that is wrong with the data.
        winner: what beats the other tokens of a sequence, in words.
        ties: what happens among tied tokens, in words.
        caution: what to keep in mind when reading the orders.
        glossary: words of the setting.
    """

    vocabulary: tuple[Token, ...]
    graphs: Mapping[int, PriorityGraph]
    facts: Mapping[str, str | int] = field(default_factory=dict)
    samples: Mapping[int, int] = field(default_factory=dict)
    unreachable: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    shares: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    collocation: Mapping[int, int] = field(default_factory=dict)
    predictions: tuple[Selection, ...] | None = None
    limits: tuple[LimitView, ...] = ()
    assumptions: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    asks: Mapping[str, str] = field(default_factory=dict)
    theorems: Mapping[str, tuple[Hypothesis, ...]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    winner: str = "the label"
    ties: str = "They share the attention."
    caution: str | None = None
    glossary: Mapping[str, str] = field(default_factory=dict)

    @property
    def queries(self) -> list[int]:
        """Every last token."""
        return sorted({*self.graphs, *self.unreachable, *self.samples})


def certificate_of(margin: MaxMargin) -> Iterator[tuple[int, int, int, object]]:
    """The multipliers that are not 0, as (query, winner, loser, weight)."""
    for query, table in margin.multipliers.items():
        for (winner, loser), weight in table.items():
            if weight:
                yield query, winner, loser, weight

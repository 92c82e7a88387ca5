"""The analysis of a dataset for a page: what its parts mean, in the words of the paper."""

from collections.abc import Mapping, Sequence

from lemmata.margin import Status
from lemmata.settings import CONTRADICTION, LimitView, OrdersView
from lemmata.tokens import Problem

from ._dataset import Dataset

WINNER = "the token that the collocation sends to the label"

ATTENTION = (
    "The smallest weights of attention that put every winner ahead of each token it beats by a "
    "margin of at least 1."
)
VALUES = (
    "The smallest weights of the linear layer under which the token that follows each token leads "
    "all others by 1."
)
GROWTH = "As training goes on, the weights grow without end and turn into this direction."

GLOSSARY = {
    "collocation": "which token follows which at the start of a sentence: n(x) follows x",
    "W_kq*": "the max-margin solution that the weights of attention turn into",
    "W_ov*": "the max-margin solution that the weights of the linear layer turn into",
}


def orders_view(
    dataset: Dataset,
    facts: Mapping[str, str | int],
    assumptions: Mapping[str, Sequence[Problem]],
    asks: Mapping[str, str],
) -> OrdersView:
    """Everything that a page shows."""
    contradicted = dataset.attention_status is Status.INFEASIBLE
    return OrdersView(
        dataset.data.vocabulary,
        dataset.orders.graphs,
        facts=facts,
        collocation=dataset.collocation.following,
        limits=_limits(dataset),
        assumptions={name: tuple(broken) for name, broken in assumptions.items()},
        asks=asks,
        problems=dataset.problems,
        winner=WINNER,
        caution=CONTRADICTION if contradicted else None,
        glossary=GLOSSARY,
    )


def _limits(dataset: Dataset) -> tuple[LimitView, ...]:
    margins = (
        (
            "The direction of attention, W_kq*",
            ATTENTION,
            dataset.attention_margin,
            ("token", "last token"),
        ),
        (
            "The direction of the linear layer, W_ov*",
            VALUES,
            dataset.value_margin,
            ("next token", "token"),
        ),
    )
    return tuple(
        LimitView(title, (f"{says} {GROWTH}" if m.status is Status.SOLVED else says,), m, axes=axes)
        for title, says, m, axes in margins
    )

"""The analysis of a dataset for a page: what its parts mean, in the words of the paper."""

from collections.abc import Mapping, Sequence

from lemmata.margin import Status
from lemmata.papers.convergence.setting._dataset import Dataset
from lemmata.settings import CONTRADICTION, LimitView, OrdersView
from lemmata.tokens import Problem

WINNER = "the token that the collocation sends to the label"

GLOSSARY = {
    "collocation": "which token follows which when a sentence is read from that token on",
    "W_kq*": "the max-margin solution: the direction in which the weights of attention grow. The "
    "harder they grow, the closer attention comes to selecting one token only",
    "W_ov*": "the same for the feed-forward layer, which predicts the token that follows the "
    "selected one",
}

DIRECTION = (
    "The smallest weights that put every winner ahead of each token it beats by a margin of at "
    "least 1."
)
GROWTH = "As training goes on, the weights grow without end and turn into this direction."
HEAD = (
    "The smallest weights that put the token that follows ahead of every other token by a margin "
    "of at least 1: the direction of stage 1."
)


def orders_view(
    dataset: Dataset,
    facts: Mapping[str, int | str],
    assumptions: Mapping[str, Sequence[Problem]],
) -> OrdersView:
    """Everything that a page shows."""
    margin = dataset.attention_margin
    says = f"{DIRECTION} {GROWTH}" if margin.status is Status.SOLVED else DIRECTION
    return OrdersView(
        dataset.data.vocabulary,
        dataset.orders.graphs,
        facts=facts,
        collocation=dataset.collocation.following,
        limits=(
            LimitView("The direction of attention, W_kq*", (says,), margin),
            LimitView("The direction of the head, W_ov*", (HEAD,), dataset.value_margin),
        ),
        assumptions={name: tuple(problems) for name, problems in assumptions.items()},
        problems=dataset.problems,
        winner=WINNER,
        caution=CONTRADICTION if margin.status is Status.INFEASIBLE else None,
        glossary=GLOSSARY,
    )

"""The analysis of a dataset for a page: what its parts mean, in the words of the paper."""

from lemmata.margin import Status
from lemmata.settings import CONTRADICTION, LimitView, OrdersView

from ._dataset import Dataset
from ._reading import ASSUMPTIONS, Reading

TIES = (
    "They share the attention. The shares do not depend on chance: they are given by a matrix "
    "W^cyc that the samples determine."
)

GLOSSARY = {
    "W^mm": "the max-margin solution: the direction in which the weights of attention grow. The "
    "harder they grow, the closer attention comes to selecting one token only",
    "W^cyc": "the finite part of the weights, which decides among tied tokens",
}

DIRECTION = (
    "The smallest weights that put every winner ahead of each token it beats by a margin of at "
    "least 1."
)
GROWTH = "As training goes on, the weights grow without end and turn into this direction."

INSTEAD = (
    "Some pairs can still be separated for good: the weights grow without end along a direction "
    "that does so. On the other pairs the samples pull against each other, the weights settle, and "
    "attention stays shared. The predictions say how."
)

CORRECTION = (
    "Among tied tokens no direction wins. Their part of the weights settles at a finite value, "
    "W^cyc, and its softmax gives the shares of the attention. A norm of 0 means that all tied "
    "tokens get equal shares, or that there are none."
)


def orders_view(reading: Reading) -> OrdersView:
    """Everything that a page shows."""
    dataset, queries = reading.dataset, reading.queries
    return OrdersView(
        dataset.data.vocabulary,
        {number: query.graph for number, query in queries.items()},
        facts={"setting": "mechanics", **reading.facts},
        samples={number: query.samples for number, query in queries.items()},
        unreachable={n: query.unreachable for n, query in queries.items() if query.unreachable},
        shares={number: query.shares for number, query in queries.items()},
        predictions=reading.predictions,
        limits=_limits(dataset),
        assumptions=reading.broken,
        asks={name: hypothesis.says for name, hypothesis in ASSUMPTIONS.items()},
        problems=dataset.problems,
        ties=TIES,
        caution=None if dataset.feasible else CONTRADICTION,
        glossary=GLOSSARY,
    )


def _limits(dataset: Dataset) -> tuple[LimitView, ...]:
    grows = dataset.margin.status is Status.SOLVED
    direction = LimitView(
        "The direction, W^mm",
        (f"{DIRECTION} {GROWTH}" if grows else DIRECTION,),
        dataset.margin,
    )
    correction = LimitView(
        "What decides ties, W^cyc",
        (CORRECTION,),
        facts=(
            ("Norm", dataset.correction.norm),
            ("Gradient left there", dataset.correction.gradient_norm),
            ("Samples with a tie", dataset.cyclic.total),
        ),
    )
    return (direction, *([] if dataset.feasible else [_instead(dataset)]), correction)


def _instead(dataset: Dataset) -> LimitView:
    """What training does when Graph-SVM is infeasible."""
    generalized, finite = dataset.generalized, dataset.finite_part
    return LimitView(
        "What training does instead",
        (INSTEAD,),
        facts=(
            ("Norm of the direction", generalized.margin.norm),
            ("Norm of the finite part", finite.norm),
            ("Gradient left there", finite.gradient_norm),
        ),
        pairs={
            "Separated for good": generalized.separable,
            "Settled at finite weights": generalized.bound,
        },
    )

"""Section 6 and Appendix D: the form of W_kq*, and predictions on inputs never seen."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from lemmata.claims import Bench, Comparison, at_least, equal, statements, tends_to
from lemmata.margin import Status
from lemmata.settings import Evidence
from lemmata.tokens import Role

from .. import theory
from ..counterexamples import confused
from ..experiments import EXAMPLE, STRUCTURES, TRAINED_MODELS
from ..setting import (
    ASSUMPTION_2,
    CHOICE,
    PREFIXES,
    SINGLE_VALUED,
    STANDING,
    ZERO_START,
    Dataset,
)
from ._facts import Fault, no_fault, on_its_own

claim = statements("convergence")

_FORM = (
    "Under q with k optimal and m non-optimal tokens, W_kq* gives m/(k+m) to the optimal ones, "
    "−k/(k+m) to the non-optimal ones and 0 to the others."
)


def wrong_columns(dataset: Dataset) -> Iterator[tuple[int, dict[str, str]]]:
    """The queries whose exact column differs from the form of Proposition 2."""
    exact = dataset.attention_margin.entries
    for query, graph in dataset.orders.graphs.items():
        if not graph.evidence:
            continue
        optimal = dataset.orders.having(query, Role.OPTIMAL)
        others = dataset.orders.having(query, Role.NON_OPTIMAL)
        up, down = theory.proposition_2_column(len(optimal), len(others))
        stated = dict.fromkeys(optimal, up) | dict.fromkeys(others, down)
        column = {x: exact.get((x, query), Fraction(0)) for x in range(dataset.K)}
        if any(column[x] != stated.get(x, Fraction(0)) for x in column):
            name = dataset.data.name
            yield query, {name(x): f"{column[x]}, not {stated[x]}" for x in stated}


def stated_norm_squared(dataset: Dataset) -> Fraction:
    """||W_kq*||^2 if Proposition 2 were right: sum of k m/(k + m) over queries."""
    total = Fraction(0)
    for query, graph in dataset.orders.graphs.items():
        k = len(dataset.orders.having(query, Role.OPTIMAL))
        m = len(dataset.orders.having(query, Role.NON_OPTIMAL))
        if graph.evidence:
            total += Fraction(k * m, k + m)
    return total


def _with_a_confused_token(bench: Bench) -> list[Comparison]:
    """As printed, it does not ask for Assumption 1."""
    alone = Evidence((confused(),))
    return on_its_own(alone, proposition_2(alone))


@claim(
    "proposition-4",
    "Appendix D.1",
    _FORM + " Only Assumption 2 is asked for.",
    hypotheses=(SINGLE_VALUED, PREFIXES, ASSUMPTION_2),
    on=STRUCTURES,
    kind="hypothesis",
    counterexample=_with_a_confused_token,
)
@claim(
    "proposition-2",
    "Section 6",
    _FORM,
    hypotheses=(*STANDING, ASSUMPTION_2),
    on=STRUCTURES,
)
@no_fault("form")
def proposition_2(dataset: Dataset) -> Iterator[Fault]:
    """In rational numbers, where Eq. (3) has a solution.

    In the setting of Section 4.1, where the loss can vanish, every query has one optimal token, and
    that saves it: the proof sets a gradient to zero and forgets that multipliers are ≥ 0.
    """
    if dataset.attention_status is Status.INFEASIBLE:
        return
    for query, columns in wrong_columns(dataset):
        yield (
            f"under query {dataset.data.name(query)} the solution of Eq. (3) is {columns}",
            {
                "query": dataset.data.name(query),
                "column": columns,
                "norm_squared": str(dataset.attention_margin.norm_squared_exact),
                "norm_squared_stated": str(stated_norm_squared(dataset)),
            },
        )


@claim(
    "theorem-3",
    "Section 6",
    "There is C₀ > 0 with (x_* − x₀)ᵀW_kq(t)x_q ≥ C₀t and (x₀ − x)ᵀW_kq(t)x_q ≥ C₀t for large t; "
    "then an input of a non-comparable x₀ and non-optimal tokens is predicted as n(x₀).",
    hypotheses=(*STANDING, ASSUMPTION_2, CHOICE, ZERO_START),
    on=TRAINED_MODELS,
    unbreakable="it speaks of all large t, which no finite run can refute",
)
def theorem_3(evidence: Evidence[Dataset]) -> list[Comparison]:
    """C₀ is what W_kq*/‖W_kq*‖ gives: logits over tη have limits that are not 0.

    The predictions are those at the end, with one copy of x₀, one or two of the query and none or
    two of every other non-optimal token. As printed it does not ask for Assumption 3, although
    Theorem 1, which it rests on, does.
    """
    steps = np.maximum(evidence.records, 1)
    reach, trend = steps * evidence.rate, 1 / steps
    above, below = evidence.each(_least_entries)[:, :2, None].transpose(1, 0, 2)
    ordered: list[Comparison] = [
        tends_to(
            evidence.smallest_optimal / reach, above, part="x_* above x₀, over tη", trend=trend
        ),
        tends_to(
            -evidence.largest_non_optimal / reach, below, part="x₀ above x, over tη", trend=trend
        ),
        equal(evidence.largest_idle, 0.0, part="x₀ stays at 0", size=evidence.norm),
    ]
    asked = [i for i, row in enumerate(evidence.unseen_chance) if not np.isnan(row).all()]
    if not asked:
        return ordered
    spoken = evidence.select(asked)
    prediction = at_least(
        spoken.unseen_chance,
        spoken.unseen_rival,
        part="n(x₀) is likelier than any other token",
        strict=True,
        cases=spoken.cases,
        places=np.arange(spoken.unseen_chance.shape[1]),
    )
    return [*ordered, prediction]


def _least_entries(dataset: Dataset) -> list[float]:
    """The smallest positive entry of W_kq*/‖W_kq*‖, and the smallest size of a negative one."""
    entries = [float(value) for value in dataset.attention_margin.entries.values()]
    ends = [min(x for x in entries if x > 0), min(-x for x in entries if x < 0)]
    return [end / dataset.norm_kq for end in ends]


@claim(
    "example-2",
    "Section 6, Example 2",
    "Trained on Example 1, the model predicts V after SP and P after OSP.",
    on=EXAMPLE,
)
def example_2(evidence: Evidence[Dataset]) -> Comparison:
    """Also O after VP and P after OVP: each is likelier than any other token."""
    return at_least(evidence.chance, evidence.rival, part="prediction", strict=True)

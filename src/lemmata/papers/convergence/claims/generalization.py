"""Section 6 and Appendix D: the form of W_kq*, and predictions on inputs never seen."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from lemmata.old_claims import Bench, Judgement, Status, fact
from lemmata.papers.convergence import theory
from lemmata.papers.convergence.claims._terms import (
    ASSUMPTION_2,
    CHOICE,
    COLLOCATION,
    ORDERS,
    PREFIXES,
    REALIZABLE,
    ZERO_START,
    claim,
    in_stage_2,
)
from lemmata.papers.convergence.experiments import (
    EXAMPLE,
    STRUCTURES,
    TRAINING,
    Structures,
    Trained,
    witness,
)
from lemmata.tokens._orders import Role

if TYPE_CHECKING:
    from lemmata.papers.convergence.setting import Dataset, TwoStageRun


def proposition_2_faults(
    dataset: "Dataset", sharpened: bool = False
) -> Iterator[tuple[int, dict[str, str]]]:
    """The queries whose exact column differs from the form of Proposition 2.

    The sharpened form gives 1 to the optimal tokens.
    """
    exact = dataset.attention_margin.entries
    for query, graph in dataset.orders.graphs.items():
        optimal = dataset.orders.having(query, Role.OPTIMAL)
        others = dataset.orders.having(query, Role.NON_OPTIMAL)
        if not graph.evidence:
            continue
        up, down = theory.proposition_2_column(len(optimal), len(others))
        up = Fraction(1) if sharpened else up
        stated = dict.fromkeys(optimal, up) | dict.fromkeys(others, down)
        found = {x: exact.get((x, query), Fraction(0)) for x in range(dataset.K)}
        if any(found[x] != stated.get(x, Fraction(0)) for x in found):
            name = dataset.data.name
            yield query, {name(x): f"{found[x]}, not {stated.get(x, 0)}" for x in stated}


def _form(evidence: Structures, sharpened: bool) -> list[Judgement]:
    """Compare every column with the stated form, in rational numbers."""
    for dataset in evidence.datasets:
        for query, columns in proposition_2_faults(dataset, sharpened):
            square = dataset.attention_margin.norm_squared_exact
            return [
                fact(
                    "form",
                    False,
                    f"under query {dataset.data.name(query)} the solution of Eq. (3) is {columns}",
                    witness(
                        dataset,
                        query=dataset.data.name(query),
                        column=columns,
                        norm_squared=str(square),
                        norm_squared_stated=str(stated_norm_squared(dataset)),
                    ),
                )
            ]
    count = len(evidence.datasets)
    return [fact("form", True, f"every column of {count} exact solutions has the stated form")]


def stated_norm_squared(dataset: "Dataset") -> Fraction:
    """||W_kq*||^2 if Proposition 2 were right: sum of k m/(k + m) over queries."""
    total = Fraction(0)
    for query, graph in dataset.orders.graphs.items():
        k = len(dataset.orders.having(query, Role.OPTIMAL))
        m = len(dataset.orders.having(query, Role.NON_OPTIMAL))
        if graph.evidence:
            total += Fraction(k * m, k + m)
    return total


def _out_of_reach(bench: Bench) -> Sequence[Judgement]:
    from lemmata.papers.convergence._counterexamples import label_out_of_reach

    return _form(Structures((label_out_of_reach(),)), False)


_FORM = (
    "Under q with k optimal and m non-optimal tokens, W_kq* gives m/(k+m) to the optimal ones, "
    "−k/(k+m) to the non-optimal ones and 0 to the others."
)


@claim(
    "proposition-2",
    "Section 6",
    _FORM,
    assumes=(COLLOCATION, ORDERS, PREFIXES, ASSUMPTION_2),
    on=STRUCTURES,
    sharpened="optimal tokens get 1",
    counterexample=_out_of_reach,
)
def proposition_2(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """As printed, Assumption 1 lets inputs lack the preimage of their next token."""
    return _form(evidence, sharpened)


@claim(
    "proposition-2/repaired",
    "Section 6, repaired",
    _FORM + " Every input contains the preimage of its next token.",
    assumes=(*REALIZABLE, ASSUMPTION_2),
    on=STRUCTURES,
    sharpened="optimal tokens get 1",
)
def proposition_2_repaired(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Then every query has one optimal token, and the form is right."""
    return _form(evidence, sharpened)


@claim(
    "proposition-4",
    "Appendix D.1",
    _FORM + " Only Assumption 2 is asked for.",
    assumes=(COLLOCATION, ORDERS, PREFIXES, ASSUMPTION_2),
    on=STRUCTURES,
    sharpened="optimal tokens get 1",
    counterexample=_out_of_reach,
)
def proposition_4(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The restatement; its proof sets a gradient to zero and forgets that multipliers are ≥ 0."""
    return _form(evidence, sharpened)


def unseen_inputs(dataset: "Dataset") -> Iterator[tuple[list[int], int]]:
    """Inputs [x0, q] of a non-comparable and a non-optimal token, with n(x0)."""
    for query in dataset.orders.graphs:
        if dataset.orders.role(query, query) == Role.NON_OPTIMAL:
            for token in dataset.orders.having(query, Role.NON_COMPARABLE):
                yield [token, query], dataset.collocation.following[token]


def _predictions(run: "TwoStageRun", sharpened: bool) -> Judgement:
    """The share of unseen inputs for which the likeliest token is n(x0)."""
    right = total = 0
    least, wrong = 1.0, None
    for i, dataset in enumerate(run.datasets):
        for tokens, label in unseen_inputs(dataset):
            chances = run.predict(i, tokens)
            total += 1
            if sharpened:
                label = dataset.collocation.following[tokens[-1]]
            if int(np.argmax(chances)) == label:
                right += 1
                least = min(least, float(chances[label]))
            elif wrong is None:
                words = [dataset.data.name(x) for x in tokens]
                wrong = witness(dataset, input=words, probability=float(chances[label]))
    if not total:
        return Judgement("prediction", Status.HOLDS, "there is no such input to predict")
    reason = f"n(x₀) is the likeliest token on {right} of {total} unseen inputs"
    if wrong is None:
        reason += f", with probability at least {least:.3f}"
    return fact("prediction", wrong is None, reason, wrong)


@claim(
    "theorem-3",
    "Section 6",
    "There is C₀ > 0 with (x_* − x₀)ᵀW_kq(t)x_q ≥ C₀t and (x₀ − x)ᵀW_kq(t)x_q ≥ C₀t; an input of a "
    "non-comparable x₀ and non-optimal tokens is predicted as n(x₀).",
    assumes=(*REALIZABLE, ASSUMPTION_2, CHOICE, ZERO_START),
    on=TRAINING,
    sharpened="C₀ = η, and the prediction is n(x_q)",
)
def theorem_3(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """C₀ is the smallest slope in the second half of the run; one copy of each token.

    As printed it does not ask for Assumption 3, although Theorem 1, which it rests on, does.
    """
    steps = np.maximum(evidence.steps2, 1)
    late = evidence.steps2 >= evidence.steps2[-1] / 2
    bound = np.where(late, evidence.eta * sharpened, np.nan)
    above = evidence.stage2("smallest_optimal") / steps
    below = -evidence.stage2("largest_non_optimal") / steps
    idle = evidence.stage2("largest_idle")
    return [
        in_stage_2(evidence, "x_* above x₀", above, bound, strict=True),
        in_stage_2(evidence, "x₀ above x", below, bound, strict=True),
        in_stage_2(evidence, "x₀ stays at 0", -idle, np.zeros_like(idle)),
        _predictions(evidence.trained, sharpened),
    ]


@claim(
    "example-2",
    "Section 6, Example 2",
    "Trained on Example 1, the model predicts V after SP and P after OSP.",
    assumes=(),
    on=EXAMPLE,
    sharpened="it predicts S after SP",
)
def example_2(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """T = T₁ = 900, η₀ = 0.1, η = 0.025."""
    run = evidence.trained
    dataset = run.datasets[0]
    cases = {"S P": "S" if sharpened else "V", "O S P": "P", "V P": "O", "O V P": "P"}
    judgements = []
    for text, expected in cases.items():
        tokens = dataset.encode(text.split())
        chances = run.predict(0, tokens)
        found = dataset.data.name(int(np.argmax(chances)))
        weights = [float(w) for w in run.attention(0, tokens)]
        judgements.append(
            fact(
                text,
                found == expected,
                f"{text} → {found} with probability {chances.max():.4f}",
                {"input": text, "next": found, "attention": weights},
            )
        )
    return judgements

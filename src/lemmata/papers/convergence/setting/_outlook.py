"""What theory says of a dataset before anything is trained: floors, start times, the true rate."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text
from scipy.optimize import linprog

from lemmata.margin import Status

from .. import theory
from ._dataset import Dataset
from ._hypotheses import STAGE_1, STAGE_2
from ._two_stage import TwoStage

Edge = tuple[int, int, int]
"""Query, winner and loser of a constraint."""

MOST_INPUTS = 40
"""More are not printed; the document has them all."""

SECTION_7 = TwoStage()

POSITIVE = 1e-9
"""Multipliers of W_kq* are fractions of small numbers; a larger one is not rounding."""


@dataclass(frozen=True)
class Degeneracy:
    """Constraints of W_kq* that do not pull like the others.

    Attributes:
        slack: with a margin above 1; their pull vanishes.
        zero: tight, with the multiplier 0 in every certificate.
        dependent: tight, and their multipliers are not unique.
    """

    slack: tuple[Edge, ...] = ()
    zero: tuple[Edge, ...] = ()
    dependent: tuple[Edge, ...] = ()

    @classmethod
    def of(cls, dataset: Dataset) -> "Degeneracy":
        """Every query's own program; in the coordinates of tokens."""
        entries = dataset.attention_margin.entries
        slack, zero, dependent = [], [], []
        for query, graph in dataset.orders.graphs.items():
            edges = sorted(graph.evidence)
            value = {x: entries.get((x, query), 0) for edge in edges for x in edge}
            slack += [(query, a, b) for a, b in edges if value[a] - value[b] > 1]
            tight = [(a, b) for a, b in edges if value[a] - value[b] == 1]
            for (a, b), (least, most) in zip(tight, _ranges(tight, value), strict=True):
                zero += [(query, a, b)] if most <= POSITIVE else []
                dependent += [(query, a, b)] if most - least > POSITIVE else []
        return cls(tuple(slack), tuple(zero), tuple(dependent))

    @property
    def rate(self) -> str:
        """What it does to the rate of 1 − cos(W_kq(t), W_kq*)."""
        if self.zero:
            return (
                "1 - cos falls like log(t)^2/t^2, not like 1/t^2: a tight constraint without a "
                "multiplier must get ahead of the others, which takes it log t"
            )
        if self.dependent:
            return (
                "1 - cos falls like 1/t^2; its constant depends on which of the multipliers "
                "training picks"
            )
        return "1 - cos falls like 1/t^2"


def _ranges(
    edges: list[tuple[int, int]], value: Mapping[int, Any]
) -> Iterator[tuple[float, float]]:
    """The least and the largest multiplier of each tight constraint, over all certificates."""
    tokens = sorted({x for edge in edges for x in edge})
    flows = np.array([[(x == a) - (x == b) for a, b in edges] for x in tokens], dtype=float)
    totals = [float(value[x]) for x in tokens]
    for place in range(len(edges)):
        cost = np.eye(len(edges))[place]
        ends = [linprog(sign * cost, A_eq=flows, b_eq=totals).fun for sign in (1, -1)]
        yield ends[0], -ends[1]


@dataclass(frozen=True)
class Outlook:
    """At given steps and step sizes; those of Section 7 unless it says otherwise."""

    dataset: Dataset
    training: TwoStage = SECTION_7

    @cached_property
    def degeneracy(self) -> Degeneracy | None:
        """None where W_kq* has no exact entries."""
        fits = self.dataset.orthonormal and self.dataset.attention_status is Status.SOLVED
        return Degeneracy.of(self.dataset) if fits else None

    @cached_property
    def numbers(self) -> dict[str, float | None]:
        """None where the hypotheses behind a number are not met."""
        dataset, T = self.dataset, self.training.stage1_steps
        eta0, eta = self.training.rates(dataset)
        K, N, L = dataset.K, dataset.N, dataset.L_max
        first = not any(h.broken(dataset.problems) for h in STAGE_1)
        both = not any(h.broken(dataset.problems) for h in STAGE_2)
        floor = theory.loss_floor(T, eta0, K) if first else None
        ov, kq = dataset.norm_ov, dataset.norm_kq
        return {
            "stage1_rate": eta0,
            "rate": eta if dataset.norm_kq > 0 else None,
            "stage1_steps": T,
            "log_stage1_loss": None if floor is None else floor + float(np.log(K)),
            "log_loss_floor": floor if both else None,
            "c_infinity": theory.limit_constant(dataset.orders, dataset.frequencies)
            if both and dataset.frequencies.min() > 0
            else None,
            "proposition_1_from": theory.value_bound_starts(eta0, ov, K, 5) if first else None,
            "theorem_2_needs_T": theory.corollary_1_steps(eta0, ov, K) if first else None,
            "lemma_7_t0": float(theory.lemma_7_start(eta, kq, L)) if both else None,
            "theorem_1_from": theory.attention_bound_starts(eta, kq, N, L) if both else None,
            "theorem_2_from": theory.theorem_2_steps(eta, kq, N, L) if both else None,
        }

    def document(self) -> dict[str, Any]:
        """As values that can be written as JSON."""
        data, degeneracy = self.dataset.data, self.degeneracy
        shares = [
            {"input": [data.name(x) for x in s.tokens], "next": data.name(s.label), "log_pi": p}
            for s, p in zip(data.samples, self.dataset.log_pi.tolist(), strict=True)
        ]
        return {
            "frequencies": [entry | {"pi": float(np.exp(entry["log_pi"]))} for entry in shares],
            "outlook": self.numbers,
            "degeneracy": None
            if degeneracy is None
            else {
                "slack": self._named(degeneracy.slack),
                "zero_multipliers": self._named(degeneracy.zero),
                "dependent_multipliers": self._named(degeneracy.dependent),
                "rate": degeneracy.rate,
            },
        }

    def _named(self, edges: tuple[Edge, ...]) -> list[dict[str, str]]:
        name = self.dataset.data.name
        return [{"query": name(q), "winner": name(a), "loser": name(b)} for q, a, b in edges]

    def describe(self) -> Iterator[Text | Table]:
        """The same for a person."""
        yield self._shares()
        known = {key: value for key, value in self.numbers.items() if value is not None}
        for sentence in _sentences(known):
            yield Text(sentence)
        if self.degeneracy is None:
            return
        for title, edges in (
            ("slack, no part in the rate", self.degeneracy.slack),
            ("tight with multiplier 0", self.degeneracy.zero),
            ("multipliers not unique", self.degeneracy.dependent),
        ):
            shown = [f"{e['winner']} > {e['loser']} under {e['query']}" for e in self._named(edges)]
            yield Text(f"constraints of W_kq*, {title}: {', '.join(shown) or 'none'}")
        yield Text(f"rate: {self.degeneracy.rate}")

    def _shares(self) -> Table:
        data = self.dataset.data
        table = Table("input", "next", "π", box=None)
        rows = list(zip(data.samples, self.dataset.log_pi, strict=True))
        for sample, log_pi in rows[:MOST_INPUTS]:
            share = f"{np.exp(log_pi):.6g}" if log_pi > -700 else f"e^{log_pi:.6g}"
            words = " ".join(data.name(x) for x in sample.tokens)
            table.add_row(Text(words), Text(data.name(sample.label)), share)
        if len(rows) > MOST_INPUTS:
            table.add_row(f"and {len(rows) - MOST_INPUTS} more", "", "")
        return table


def _sentences(known: Mapping[str, float]) -> Iterator[str]:
    """What the numbers say, those that are known."""
    yield (
        f"with T = {known['stage1_steps']:g} steps of size {known['stage1_rate']:.6g}"
        + (f" and steps of size {known['rate']:.6g}" if "rate" in known else "")
        + " (Section 7):"
    )
    texts = {
        "log_stage1_loss": "stage 1 ends with log L₀ = {:.6g}",
        "log_loss_floor": "the loss of stage 2 stays above its infimum, whose log is {:.6g}",
        "c_infinity": "(tη)²(1 − cos(W_kq, W_kq*)) → c_∞ = {:.6g}",
        "proposition_1_from": "Proposition 1 bounds the cosine by more than 0 from t = {:.6g} on",
        "theorem_2_needs_T": "Corollary 1 and Theorem 2 ask for T ≥ {:.6g}",
        "lemma_7_t0": "Lemma 7 speaks from t₀ = {:.6g} on",
        "theorem_1_from": "Theorem 1 bounds the cosine by more than 0 from t = {:.6g} on",
        "theorem_2_from": "Theorem 2 speaks from t = {:.6g} on",
    }
    for key, text in texts.items():
        if key in known:
            yield "  " + text.format(known[key])

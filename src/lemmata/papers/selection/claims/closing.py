"""How the proofs of Theorems D.4 and E.6 end, from attention to the loss, and their corollaries.

All of it is about u = 1 - q s_+ at most kappa, and about alpha inside (IH1), (IH2) or the interval
of Corollary E.8. The two proofs have the same lines, with mean attention in the second.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from lemmata.claims import Comparison, Silence, at_least, at_most, equal, repaired, statements
from lemmata.settings import Evidence

from .. import theory
from ..experiments.descents import STOCHASTIC, Descent
from ..experiments.encodings import ENCODINGS, Ensemble
from ..experiments.settled import SETTLED, Settled
from ..setting import SMALL_LOSS, SPARSE, FamilyAttention
from . import phases, stochastic
from ._exponents import grows_like, spans

claim = statements("selection", hypotheses=(SPARSE, SMALL_LOSS), on=SETTLED)

SHARES = np.geomspace(1, 1e-6, 60)
"""Of kappa, for u."""

WIDTHS = np.array([0.0, 0.1, 1.0, 4.0, 8.0])
"""d_e/(Td): the upper end of (IH2) is (1 + (1 - d_e/(8Td)) r) alpha*."""


class Ending:
    """u up to kappa, and what the last lines of the proofs are about.

    Attributes:
        T, q, d, epsilon, kappa, u: of the plans, and a row of u.
        best, r: alpha* and r at u.
        low, top: the ends of (IH1).
    """

    def __init__(self, evidence: Evidence[Settled], wider: Any = 1.0) -> None:
        """With the losses to reach multiplied by ``wider``."""
        self.T, self.q, self.d = evidence.T, evidence.q, evidence.d
        self.epsilon = wider * evidence.epsilon
        self.kappa = theory.kappa(self.T, self.q, self.d, self.epsilon)
        self.u = self.kappa * SHARES
        self.best = theory.best_alpha(self.u, self.T, self.q)
        self.r = theory.overshoot(self.u, self.T, self.q)
        self.low = 1 - 0.1 * self.kappa
        self.top = (1 + (1 - 1 / (8 * self.d)) * self.r) * self.best

    def loss(self, alpha: Any) -> Any:
        """At u."""
        return theory.two_level_loss(alpha, self.u, self.T, self.q, self.d)


@claim(
    "theorem-d.4/largest-at-an-end",
    phases.PROOF,
    "Over the interval of (IH1) the loss is largest at one of its ends.",
)
def largest_at_an_end(evidence: Evidence[Settled]) -> list[Comparison]:
    at = Ending(evidence)
    most = np.maximum(at.loss(at.low), at.loss(at.top))
    return [
        at_most(at.loss(at.low + share * (at.top - at.low)), most, part=f"{share:g} of the way")
        for share in (0.1, 0.5, 0.9)
    ]


@claim(
    "theorem-d.4/loss-at-lower-end",
    phases.PROOF,
    "At the lower end (q alpha s_+ - 1)^2 <= (q s_+ - 1 + 0.1 q s_+ kappa)^2.",
    kind="misprint",
    sign=1.0,
    versions=[
        repaired("The same with - 0.1 q s_+ kappa, with which the next lines hold.", sign=-1.0)
    ],
)
def loss_at_lower_end(evidence: Evidence[Settled], sign: float) -> list[Comparison]:
    """As printed the square is too small; the lines after it, down to epsilon, with the sign."""
    at = Ending(evidence)
    third = np.abs(at.u - sign * 0.1 * (1 - at.u) * at.kappa)
    fourth = at.u**2 + 0.2 * at.kappa * at.u + 0.01 * at.kappa**2
    rest = at.d * at.T * at.u**2 / (2 * at.q * (at.T - at.q)) + 0.21 * at.epsilon
    return [
        at_most(1 - at.low * (1 - at.u), third, size=1.0, part="third line, before the square"),
        at_most(third**2, fourth, part="fourth line"),
        at_most(at.loss(at.low), rest, part="last line"),
        at_most(rest, at.epsilon, part="epsilon"),
    ]


@claim(
    "theorem-d.4/distance-of-upper-end",
    phases.PROOF,
    "(alpha_2 - alpha*) s_+ <= 2 kappa alpha*/T at the upper end alpha_2, also of (IH2).",
)
def distance_of_upper_end(evidence: Evidence[Settled]) -> Comparison:
    """With a share of 1 for 1 - 1/(8d) and 1 - d_e/(8Td)."""
    at = Ending(evidence)
    return at_most(
        at.r * at.best * theory.chosen(at.u, at.q), 2 * at.kappa * at.best / at.T, part="distance"
    )


@claim(
    "theorem-d.4/bound-on-best-alpha",
    f"{phases.PROOF}; again in the proofs of Theorem E.6 and Corollary E.8",
    "alpha* <= 1/(q s_+) <= 1/(1 - kappa) <= 1 + 6 kappa/5 <= 28/25.",
)
def bound_on_best_alpha(evidence: Evidence[Settled]) -> list[Comparison]:
    at = Ending(evidence)
    chain = (at.best, 1 / (1 - at.u), 1 / (1 - at.kappa), 1 + 6 * at.kappa / 5, 28 / 25)
    return [
        at_most(np.asarray(left), right, part=f"step {number}")
        for number, (left, right) in enumerate(pairwise(chain), start=1)
    ]


@claim(
    "theorem-d.4/loss-at-upper-end",
    phases.PROOF,
    "The loss at the upper end is what it becomes with 2 kappa alpha*/T for (alpha_2 - alpha*) s_+ "
    "and for alpha_2 - alpha*.",
    kind="misprint",
    compare=equal,
    versions=[repaired("It is at most that.", compare=at_most)],
)
def loss_at_upper_end(
    evidence: Evidence[Settled], compare: Callable[..., Comparison]
) -> Comparison:
    """A bound goes in with both signs and as an equality; the sum of all terms is a bound still."""
    at = Ending(evidence)
    T, q, u, best, step = at.T, at.q, at.u, at.best, 2 * at.kappa * at.best / at.T
    more = (T - q) * (q * step**2 - 2 * step * (1 - (1 - u) * best)) + (
        2 * best + step
    ) * step * u**2
    return compare(at.loss(at.top), at.loss(best) + at.d * more / (2 * (T - q)), part="loss")


@claim(
    "theorem-e.6/final-loss",
    stochastic.PROOF,
    "If s >= (1 - kappa)/q and alpha is in the interval of (IH2), then L <= epsilon, for d_e up to "
    "8Td.",
)
def final_loss(evidence: Evidence[Settled]) -> list[Comparison]:
    """At the upper end; the lower one is that of (IH1)."""
    at = Ending(evidence)
    return [
        at_most(
            at.loss((1 + (1 - width / 8) * at.r) * at.best),
            at.epsilon,
            part=f"d_e = {width:g} Td",
            places=SHARES,
        )
        for width in WIDTHS
    ]


@claim(
    "theorem-3.3/range-of-epsilon",
    "Section 3.2",
    "The last step of the proof, L <= epsilon where s >= (1 - kappa)/q and alpha is in the "
    "interval of (IH2), for epsilon up to dT/(100 (T-q)).",
    kind="hypothesis",
    whole=True,
    versions=[
        repaired("The same for epsilon up to dT/(100 (T-q) q), as Theorem E.6 has it.", whole=False)
    ],
)
def range_of_epsilon(evidence: Evidence[Settled], whole: bool) -> Comparison:
    """At the upper end with d_e far below Td; kappa reaches sqrt(q)/10, beyond s = 1/sqrt(Tq)."""
    at = Ending(evidence, evidence.q if whole else 1.0)
    inside = (at.u < 1) & (at.T * (1 - at.u) > at.q)
    return at_most(np.where(inside, at.loss((1 + at.r) * at.best), np.nan), at.epsilon, part="loss")


@claim(
    "corollary-e.8/interval",
    "Appendix E.3, proof of Corollary E.8",
    "r <= q kappa/(T-q), so that the upper end of (IH2) is at most (1 + 6 kappa/5)"
    "(1 + q kappa/(T-q)) <= 1 + 8 kappa/5.",
    kind="constant",
    bound=lambda at: at.q * at.kappa / (at.T - at.q),
    end=lambda at: (1 + 1.2 * at.kappa) * (1 + at.q * at.kappa / (at.T - at.q)),
    versions=[
        repaired(
            "r <= kappa/((1 - kappa)(T (1 - kappa)/q - 1)). With it the product may exceed "
            "1 + 8 kappa/5, but the upper end of (IH2) does not.",
            bound=lambda at: at.kappa / ((1 - at.kappa) * (at.T * (1 - at.kappa) / at.q - 1)),
            end=lambda at: (1 + at.r) * at.best,
        )
    ],
)
def interval(
    evidence: Evidence[Settled], bound: Callable[[Ending], Any], end: Callable[[Ending], Any]
) -> list[Comparison]:
    at = Ending(evidence)
    return [
        at_most(at.r, bound(at), part="r"),
        at_most(end(at), 1 + 1.6 * at.kappa, part="upper end"),
    ]


@claim(
    "corollary-e.9/expansion",
    "Appendix E.4, proof",
    "The loss at T2 and q2 is at most the four terms in Delta alpha = alpha - 1 and "
    "u' = 1 - q2 s' of the third line, for Delta alpha of either sign (printed with q for q2).",
)
def expansion(evidence: Evidence[Settled]) -> list[Comparison]:
    """At alpha in the interval of Corollary E.8, and C from its threshold on."""
    T1, q1, d = evidence.T, evidence.q, evidence.d
    kappa, T2 = theory.kappa(T1, q1, d, evidence.epsilon), 2 * T1
    compared: list[Comparison] = []
    for more, share in ((1, -0.1), (1, 1.6), (2, -0.1), (2, 1.6)):
        q2, change = more * q1, share * kappa
        u = theory.missed(np.log((T1 - q1) / (q1 * kappa)) + np.linspace(0, 10, 30), T2, q2)
        terms = T2 * u**2 / (2 * (T2 - q2) * q2) - change * (1 - u) * u / q2
        terms = terms + change**2 * (1 - u) ** 2 / q2
        terms = terms + (2 * change + change**2) * u**2 / (2 * (T2 - q2))
        loss = theory.two_level_loss(1 + change, u, T2, q2, d)
        part = f"q2 = {more} q1, Delta alpha = {share:g} kappa"
        compared.append(at_most(loss, d * terms, part=part))
    return compared


@claim(
    "corollary-e.9/encodings",
    "Appendix E.4",
    "From the state of Corollary E.8 at T1 and q1 on, the loss (4) at T2 >= T1 and q2 >= q1 is at "
    "most 1.3 (T2/T1)^2 epsilon, over encodings that have the RIP at T2 and q2, delta > 0.",
    hypotheses=stochastic.HYPOTHESES,
    on=STOCHASTIC,
)
def longer_encodings(evidence: Evidence[Descent]) -> Comparison:
    """The plans' lengths are T2; T1 goes from 4 q1 + 1 to T2, q1 from 2 to q2."""
    rows = [np.array(list(constants(case))) for case in evidence]
    if not any(len(row) for row in rows):
        return Silence("no shorter length has q < T/4", applies=False, part="constant")
    most = np.array([[row.max() if len(row) else np.nan] for row in rows])
    return at_most(most, 1.3, part="constant")


def constants(case: Descent) -> Any:
    """The largest loss at T2, over (T2/T1)^2 epsilon, for every T1 and q1."""
    T2, q2, d = case.task.T, case.task.q, case.task.d
    for q1 in range(2, q2 + 1):
        for T1 in range(4 * q1 + 1, T2 + 1):
            epsilon = 0.99 * d * T1 / (100 * (T1 - q1) * q1)
            kappa = theory.kappa(T1, q1, d, epsilon)
            least = theory.concentration_reached(T1, q1, d, epsilon, case.delta)
            for C in least + np.array([0.0, 1.0, 4.0]):
                others = np.exp(-C * case.gaps).sum(axis=1)
                u = (others / (q2 + others)).mean()
                alpha = 1 + kappa * np.linspace(-0.1, 1.6, 18)
                loss = np.max(theory.two_level_loss(alpha, u, T2, q2, d))
                yield loss / ((T2 / T1) ** 2 * epsilon)


POINTS = ((1.0, 1.0), (1.1, 3.0), (1.0, 6.0))
"""alpha and C at which the loss of one encoding is looked at."""


@claim(
    "corollary-e.16/two-level",
    "Appendix E.6, proof",
    "The loss (3) with one encoding and subset depends on attention through s_+ alone, as in the "
    "proof of Theorem E.6: (d/2)((1 - q alpha s_+)^2/q + alpha^2 (1 - q s_+)^2/(T-q)).",
    hypotheses=(),
    on=ENCODINGS,
    kind="substance",
    compare=equal,
    versions=[
        repaired(
            "It is at least that, with equality if attention off the subset is even.",
            compare=at_least,
        )
    ],
)
def two_level(evidence: Evidence[Ensemble], compare: Callable[..., Comparison]) -> Comparison:
    """For some hundred subsets of the first encoding of each size."""

    def losses(case: Ensemble) -> np.ndarray:
        T, q, d = case.task.T, case.task.q, case.task.d
        gaps = np.asarray(FamilyAttention.of(case.E[:1], case.task.all_subsets()[:200]).gaps)
        found = []
        for alpha, C in POINTS:
            weights = np.exp(-C * gaps)
            total = q + weights.sum(axis=1)
            u = weights.sum(axis=1) / total
            squares = (weights**2).sum(axis=1) / total**2
            exact = 0.5 * d * ((1 - alpha + alpha * u) ** 2 / q + alpha**2 * squares)
            found.append([exact, np.asarray(theory.two_level_loss(alpha, u, T, q, d))])
        return np.concatenate(found, axis=1)

    exact, formula = (evidence.each(lambda case, k=k: losses(case)[k]) for k in (0, 1))
    return compare(exact, formula, part="loss")


def width_over_log(evidence: Evidence[Settled]) -> np.ndarray:
    """(d + q log T)/log(Td)."""
    T, q, d = evidence.T, evidence.q, evidence.d
    return (d + q * np.log(T)) / np.log(T * d)


def bounded(evidence: Evidence[Settled]) -> Comparison:
    """It grows with no power of d, q or T."""
    sizes = {name: evidence.columns[name] for name in ("d", "q", "T")}
    if not all(map(spans, sizes.values())):
        return Silence("a few sizes cannot tell how widths grow", part="growth")
    level = {name: (column, 0.0) for name, column in sizes.items()}
    return grows_like("growth", width_over_log(evidence), level)


@claim(
    "section-1.1/exponential",
    "Sections 1 and 1.1",
    "Td neurons are exponentially more than a width of d + q log T: (d + q log T)/log(Td) stays "
    "bounded.",
    hypotheses=(SPARSE,),
    on=SETTLED,
    kind="hypothesis",
    unbreakable="it is about how widths grow",
    compare=bounded,
    versions=[
        repaired(
            "For fixed d and q: it is at most d + q, whatever T is. If d grows as well, the widths "
            "differ by a factor of at most T.",
            compare=lambda evidence: at_most(
                width_over_log(evidence), evidence.d + evidence.q, part="width over log(Td)"
            ),
        )
    ],
)
def exponential(
    evidence: Evidence[Settled], compare: Callable[[Evidence[Settled]], Comparison]
) -> Comparison:
    return compare(evidence)

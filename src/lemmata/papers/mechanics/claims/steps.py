"""Appendix B.4: the steps of the proofs of Lemma 4 and Theorem 2."""

from dataclasses import replace

import numpy as np

from lemmata.claims import (
    Bench,
    Comparisons,
    Version,
    at_least,
    at_most,
    equal,
    statements,
    tends_to,
)
from lemmata.settings import Evidence

from ..counterexamples import frozen_below
from ..experiments import (
    FROZEN_PARTS,
    PATHS,
    SAMPLE,
    At,
    Followed,
    Frozen,
    frozen_row,
    log_tied_risk,
    other_direction,
    project,
    random_weights,
    tied_weights,
    worst_margin,
)
from ..setting import Dataset
from ._shared import GLOBAL, SEPARABLE, Numbers, at_points, optimum_error

claim = statements("mechanics", on=FROZEN_PARTS, hypotheses=GLOBAL)

RADII = np.array([1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 400.0])


@claim(
    "theorem-1/missed-margin",
    "Appendix B.2, a violated margin",
    "W' with ‖W'‖ ≤ ‖W^mm‖ and ‖W' − W^mm‖ ≥ δ misses a margin by ε(δ) = δ²/(2‖W^mm‖²).",
    hypotheses=SEPARABLE,
    on=SAMPLE,
)
@claim(
    "lemma-4/missed-margin",
    "Appendix B.4, proof of Lemma 4, step 3",
    "The same for W' orthogonal to S_cyc, with ties.",
    on=SAMPLE,
)
@at_points(at_most, "size", "rounding", part="worst margin of W'")
def missed_margin(dataset: Dataset) -> Numbers:
    """⟨W', W^mm⟩ would be at least (1 − ε)‖W^mm‖² otherwise; the paper only says that ε exists."""
    for number in range(8):
        other = other_direction(dataset, number, dataset.free_basis)
        delta = float(np.linalg.norm(other - dataset.target))
        bound = 1 - delta**2 / (2 * dataset.norm**2)
        yield worst_margin(dataset, other)[0], bound, 1.0, optimum_error(dataset)


@claim(
    "lemma-4/where-attention-goes",
    "Appendix B.4, proof of Lemma 4, before step 1",
    "The optimal risk gives no attention to the tokens of R_i.",
    on=SAMPLE,
    kind="misprint",
    versions=[
        Version(
            "repaired",
            where="ours: the tokens outside R_i",
            statement="The optimal risk gives no attention to the tokens outside R_i, as R W^mm + "
            "W^∥ shows when R grows.",
            parameters={"inside": False},
        )
    ],
)
def where_attention_goes(evidence: Evidence[Dataset], inside: bool = True) -> Comparisons:
    """The largest attention of a sample on its R_i, or on the rest, for one frozen W^∥."""

    def masses(dataset: Dataset) -> list[float]:
        frozen = Frozen(dataset, tied_weights(dataset))
        odds = [frozen.log_outside(R * dataset.target) - frozen.log_d for R in RADII]
        return [float(np.exp(-np.logaddexp(0, x if inside else -x)).max()) for x in odds]

    part = "attention on R_i" if inside else "attention outside R_i"
    return tends_to(evidence.each(masses), 0.0, places=RADII, part=part)


@claim(
    "lemma-4/step-1",
    "Appendix B.4, proof of Lemma 4, step 1",
    "At R W^mm + W^∥ every t ∈ R_i has s*_it ≥ e^b / (Σ_{R_i} e^b + Σ_{R̄_i} e^{b − R}).",
)
def step_1(evidence: Evidence[Dataset]) -> Comparisons:
    """As a bound on what the tokens outside R_i add to the denominator."""
    bound = np.where(np.isfinite(evidence.outside_best), evidence.outside_best_middle, np.nan)
    return at_most(evidence.outside_best, bound, size=evidence.size, part="log of the sum outside")


@claim(
    "lemma-4/step-2",
    "Appendix B.4, proof of Lemma 4, step 2",
    "Finite W have γ_i^W ≤ γ_i^max, the label's share within R_i, with equality only if R_i is all "
    "of the sequence.",
    on=SAMPLE,
)
@at_points(at_most, "size", part="log γ")
def step_2(dataset: Dataset) -> Numbers:
    """At random W; strictly below where something is outside R_i, which the second side tells."""
    for W in random_weights(dataset):
        frozen = Frozen(dataset, project(dataset.tied_basis, W))
        at, risk = At(dataset, W), dataset.risk
        own = risk.log_masses(at.logits)[risk.label]
        outside = frozen.log_outside(W - frozen.inside)
        most = frozen.log_c - frozen.log_d
        yield from zip(own, most, 1 + np.abs(most) + at.rounding, strict=True)
        yield from (
            (not np.isfinite(x), whole, 1.0)
            for x, whole in zip(outside, _whole(dataset), strict=True)
        )


def _whole(dataset: Dataset) -> list[bool]:
    """Whether R_i is all of the sequence."""
    pairs = zip(dataset.tied_tokens, dataset.realizable.samples, strict=True)
    return [set(sample.tokens) <= tied | {sample.label} for tied, sample in pairs]


@claim(
    "lemma-4/step-2-risk",
    "Appendix B.4, proof of Lemma 4, step 2",
    "L(W) > (|Ī|/n) l(1) + (|I|/n) L̄(Π_cyc W) at every finite W.",
    on=SAMPLE,
)
def step_2_risk(evidence: Evidence[Dataset]) -> Comparisons:
    """The difference as a sum of positive terms: −log of the attention on R_i, for the log loss."""
    return [_difference(evidence), _positive(evidence)]


def _excess(dataset: Dataset, W: np.ndarray) -> np.ndarray:
    """log(−log(1 − attention outside R_i)) with the weight of each sample."""
    frozen = Frozen(dataset, project(dataset.bound_basis, W))
    odds = frozen.log_outside(W - frozen.inside) - frozen.log_d
    with np.errstate(divide="ignore"):
        small = np.log(np.log1p(np.exp(np.maximum(odds, -30.0))))
    return np.where(odds < -30, odds, small) + dataset.risk.log_weight


@at_points(equal, "size", "rounding", part="L(W), and the tied risk plus the terms")
def _difference(dataset: Dataset) -> Numbers:
    for W in random_weights(dataset)[:6]:
        inside, at = project(dataset.bound_basis, W), At(dataset, W)
        tied = np.exp(log_tied_risk(dataset, inside))
        yield at.risk, tied + np.exp(_excess(dataset, W)).sum(), 1 + at.risk, at.rounding


@at_points(at_least, strict=True, part="the terms, relative to the largest")
def _positive(dataset: Dataset) -> Numbers:
    for W in random_weights(dataset)[:6]:
        terms = _excess(dataset, W)
        yield np.exp(terms - max(terms.max(), -1e300)).sum(), 0.0


@claim(
    "theorem-2/step-1",
    "Appendix B.4, proof of Theorem 2, step 1",
    "Along the path Σ_{O_i} s^R ≤ Σ_{O_i} e^b / Σ_{R_i} e^b, and the risk is at least the mean of "
    "l of the right sides.",
    on=PATHS,
)
def theorem_2_step_1(evidence: Evidence[Followed]) -> Comparisons:
    """As for step 2 of Lemma 4, where W̄_R is."""

    def sides(case: Followed) -> list[float]:
        terms = [_excess(case.instance, W) for W in case.weights]
        return [float(np.exp(each - each.max()).sum()) for each in terms if each.max() > -np.inf]

    def risks(case: Followed) -> list[tuple[float, float]]:
        dataset = case.instance
        inside = [project(dataset.bound_basis, W) for W in case.weights]
        return [
            (dataset.risk.log_value(At(dataset, W).logits), log_tied_risk(dataset, part))
            for W, part in zip(case.weights, inside, strict=True)
        ]

    both = np.stack([risks(case) for case in evidence])
    return [
        at_least(evidence.each(sides), 0.0, strict=True, part="Σ of what is off R_i"),
        at_least(both[:, :, 0], both[:, :, 1], size=1 + np.abs(both[:, :, 0]), part="log risk"),
    ]


def _lifted(sign: float) -> Evidence[Dataset]:
    """W^∥ lifts (or lowers) a token that is tied with nothing, and W' loses its margin alone."""
    dataset, inside = frozen_below()
    lone = np.outer(np.linalg.solve(dataset.E, np.eye(7)[3]), np.eye(7)[4])
    other = dataset.target + 0.5 * lone
    other *= dataset.norm / np.linalg.norm(other)
    row = frozen_row(Frozen(dataset, 2 * sign * inside), other, 60.0)
    return Evidence((dataset,), None, {name: np.array([[value]]) for name, value in row.items()})


def display(
    evidence: Evidence[Dataset],
    left: str = "",
    right: str = "",
    middle: str = "",
    over: str = "ties",
) -> Comparisons:
    """A display of Step 3, with b̄ over the positions of R_i as printed (ties), or over all.

    The middle expression gives every token outside R_i the worst margin.
    """
    compare = at_most if "best" in left else at_least
    columns, size = evidence.columns, evidence.size
    parts = [compare(columns[left], columns[f"{right}_{over}"], size=size, part="ends")]
    if middle:
        parts.append(compare(columns[left], columns[middle], size=size, part="middle"))
    return [replace(part, cases=tuple(evidence.cases)) for part in parts]


def _display(
    name: str, where: str, statement: str, mended: str, sign: float, **columns: str
) -> None:
    """Declare one of the displays of Step 3, as printed and repaired."""

    def broken(bench: Bench) -> Comparisons:
        return display(_lifted(sign), **{**columns, "middle": ""})

    claim(
        name,
        f"Appendix B.4, proof of Lemma 4, step 3: {where}",
        statement,
        kind="constant",
        counterexample=broken,
        versions=[
            Version(
                "repaired",
                where="ours: with b̄ over all positions",
                statement=mended,
                parameters={**columns, "over": "all", "middle": ""},
            )
        ],
        **columns,
    )(display)


_display(
    "lemma-4/attention-other",
    "attention at R W'",
    "Some sample has Σ_{O_i} s^R ≤ c/(d + Σ_{R̄_i} e^{b − (1−ε)R}) ≤ c/(d + e^{−(1−ε)R − b̄}), b̄ "
    "over R_i.",
    "Some sample has Σ_{O_i} s^R ≤ c/(d + e^{−(1−ε)R − b̄}), b̄ over all positions.",
    -1.0,
    left="outside_other",
    right="outside_other",
    middle="outside_other_middle",
)
_display(
    "lemma-4/attention-best",
    "attention at R W^mm",
    "Every sample has Σ_{O_i} s* ≥ c/(d + T e^{−R + b̄}), b̄ over R_i.",
    "Every sample has Σ_{O_i} s* ≥ c/(d + T e^{−R + b̄}), b̄ over all positions.",
    1.0,
    left="outside_best_most",
    right="outside_best",
)
_display(
    "lemma-4/excess-other",
    "excess at R W'",
    "L(R W' + W^∥) − L* ≥ (c_dn c_i / (n d_i)) (1 − 1/(1 + e^{−(1−ε)R − b̄}/d_i)), b̄ over R_i.",
    "The same for l(u) = −u with b̄ over all positions.",
    -1.0,
    left="excess_other",
    right="excess_other",
)
_display(
    "lemma-4/excess-best",
    "excess at R W^mm",
    "L(R W^mm + W^∥) − L* ≤ c_up (c_j / d_j²) T e^{−R + b̄}, b̄ over R_i.",
    "The same for l(u) = −u with b̄ over all positions.",
    1.0,
    left="excess_best",
    right="excess_best",
)

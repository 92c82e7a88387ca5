"""Section 2 and Appendix A: the task, its encodings, and restricted isometry."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import jax
import numpy as np
from scipy.special import softmax

from lemmata.claims import Bench, Comparison, Inequality, at_most, equal, statements
from lemmata.settings import Evidence

from ..counterexamples import ExactEncodings, Signs, plan_of, three_vectors
from ..experiments.encodings import DRAWS, ENCODINGS, Ensemble, draw_encodings
from ..experiments.matrices import ENUMERATION, MATRICES, Enumeration, Matrices
from ..experiments.plans import SIGNS, UNIT
from ..setting import (
    FITS,
    Batch,
    Plan,
    Weights,
    inner_products,
    losses,
    measure_isometry,
    one_hot,
    population,
    subset_encodings,
)

claim = statements("selection", on=ENCODINGS)

SOLVED = 64 * float(np.finfo(float).eps)
"""Rounding of a solution of a small system, times its condition number."""

AVERAGED = 1e-12
"""Relative rounding of averages over some hundred thousand terms of one sign."""


@claim(
    "definition-2.1",
    "Section 2.1 (and Definition A.4)",
    "The target is the mean of the q chosen tokens; with Gaussian tokens its squared length is d/q "
    "on average, so predicting zero costs d/(2q).",
    hypotheses=(FITS,),
    on=MATRICES,
)
def definition_21(evidence: Evidence[Matrices]) -> Comparison:
    def cost(case: Matrices) -> float:
        targets = np.stack([case.X[:, :, y].mean(axis=2) for y in case.y])
        return 0.5 * float(np.einsum("n,snd->", case.chances, targets**2)) / len(case.y)

    return equal(
        evidence.each(cost),
        evidence.each(lambda case: case.task.zero_loss),
        part="cost of zero",
    )


@claim(
    "definition-2.2",
    "Section 2.2 (and Definition D.3)",
    "With one-hot encodings, e_y = E_y (E_y'E_y)^-1 1 is the sum of the chosen encodings, and has "
    "inner product 1 with the chosen and 0 with the other encodings.",
    hypotheses=(FITS,),
    on=MATRICES,
)
def definition_22(evidence: Evidence[Matrices]) -> list[Comparison]:
    def of_subsets(function) -> np.ndarray:
        return evidence.each(lambda case: function(one_hot(case.task.T), case.y))

    chosen = evidence.each(lambda case: np.asarray(case.family.Y))
    return [
        equal(of_subsets(subset_encodings), chosen, size=1.0, part="e_y"),
        equal(of_subsets(inner_products), chosen, size=1.0, part="<e_i, e_y>"),
    ]


def subsets_of(case: Ensemble) -> np.ndarray:
    """All subsets, or some thousand random ones."""
    return case.task.some_subsets(5_000, np.random.default_rng(0))


@claim("lemma-a.3/subset", "Appendix A.1", "<e_i, e_y> = 1 for i in y.")
@claim(
    "definition-2.3",
    "Section 2.2",
    "With encodings of unit length, e_y = E_y (E_y'E_y)^-1 1 has inner product 1 with every chosen "
    "encoding.",
)
def one_on_the_subset(evidence: Evidence[Ensemble]) -> Comparison:
    """For every encoding and subset."""

    def on_subset(case: Ensemble) -> np.ndarray:
        y = subsets_of(case)
        return np.stack([np.take_along_axis(inner_products(E, y), y, axis=1) for E in case.E])

    def rounding(case: Ensemble) -> np.ndarray:
        y = subsets_of(case)
        grams = np.stack([(E.T @ E)[y[:, :, None], y[:, None, :]] for E in case.E])
        return SOLVED * np.repeat(np.linalg.cond(grams), y.shape[1])

    return equal(evidence.each(on_subset), 1.0, rounding=evidence.each(rounding), part="<e_i, e_y>")


def ensemble_of(name: str, signs: Signs, q: int) -> Ensemble:
    """One sign matrix as encodings, measured."""
    plan = plan_of(name, signs, q)
    assert plan.encodings is not None
    return Ensemble(plan, plan.encodings[None], (measure_isometry(plan.encodings, q),))


def pairwise_witness(bench: Bench) -> Comparison:
    """Three sign vectors in 20 dimensions with inner products 0, 1/10, 1/10."""
    case = ensemble_of("three sign vectors in 20 dimensions", three_vectors(20), 2)
    return replace(separation(Evidence((case,))), cases=(case,), part="pairwise")


def separation_in_fractions(plan: Plan, options: Mapping[str, Any]) -> list[Comparison]:
    """The same in fractions, for sign vectors, which rounding has not left."""
    compared: list[Comparison] = []
    for E in draw_encodings(plan, DRAWS, 0):
        exact = ExactEncodings(np.sign(E).astype(int), plan.q)
        mu = exact.coherence
        if 2 * mu < 1 and plan.task.subset_count <= EXACTLY:
            compared.append(at_most(list(exact.off_subset()), mu / (1 - 2 * mu)))
    return compared


EXACTLY = 500
"""So many subsets are gone through in fractions."""


@claim(
    "definition-2.3/separation",
    "Section 2.2",
    "For sign vectors, if all |<e_i, e_j>| <= delta < 1/2, then |<e_i, e_y>| <= "
    "delta/(1 - 2 delta) for i outside y.",
    hypotheses=(SIGNS,),
    kind="constant",
    counterexample=pairwise_witness,
    exact=separation_in_fractions,
)
def separation(evidence: Evidence[Ensemble]) -> Inequality:
    mu = coherences(evidence)
    bound = np.divide(mu, 1 - 2 * mu, out=np.full_like(mu, np.nan), where=mu < 0.5)
    return at_most(
        off_subset(evidence), bound, rounding=SOLVED * (1 + bound), size=1.0, part="off the subset"
    )


def off_subset(evidence: Evidence[Ensemble]) -> np.ndarray:
    """The largest |<e_i, e_y>| off y, encoding by encoding."""
    return evidence.each(lambda case: [isometry.off_subset for isometry in case.isometries])


def coherences(evidence: Evidence[Ensemble]) -> np.ndarray:
    """The largest |<e_i, e_j>|, encoding by encoding."""
    return evidence.each(lambda case: [isometry.coherence for isometry in case.isometries])


@claim(
    "own/coherence",
    "beside Definition 2.3",
    "If encodings have unit length and all |<e_i, e_j>| <= mu with (q-1) mu < 1, then "
    "|<e_i, e_y>| <= q mu / (1 - (q-1) mu) off the subset.",
    hypotheses=(UNIT,),
)
def coherence(evidence: Evidence[Ensemble]) -> Comparison:
    mu, q = coherences(evidence), evidence.each(lambda case: case.plan.task.q)
    rest = np.where((q - 1) * mu < 1, 1 - (q - 1) * mu, np.nan)
    return at_most(
        off_subset(evidence),
        q * mu / rest,
        rounding=SOLVED * (1 + q * mu / rest) / rest,
        size=1.0,
        part="off the subset",
    )


@claim(
    "definition-2.4",
    "Section 2.3, Eqs. (1) and (2)",
    "f = V Z softmax(Z'W z_query) with columns [x_i; e_i] and z_query = [x_query; e_y]: the way "
    "training computes it (through the kernel E'W E, with Z never formed) gives the same.",
    hypotheses=(FITS,),
    on=MATRICES,
)
def definition_24(evidence: Evidence[Matrices]) -> Comparison:
    few = evidence.select(range(min(len(evidence), 2)))

    def samples(case: Matrices) -> tuple[np.ndarray, np.ndarray]:
        X = case.X[:8]
        return X, np.resize(case.y, (len(X), case.task.q))

    def fast(case: Matrices) -> np.ndarray:
        X, y = samples(case)
        query = np.broadcast_to(case.x_query, (len(X), case.task.d))
        batch = Batch(*jax.device_put((X, y, np.asarray(case.family.E[0]), query)))
        return np.asarray(jax.jit(losses)(case.weights, batch))

    def literal(case: Matrices) -> list[tuple[float, float]]:
        """The loss of each sample, and how large it is if nothing cancels in the error."""
        V, W = (np.asarray(matrix) for matrix in case.weights)
        E = np.asarray(case.family.E[0])
        X, y = samples(case)
        by_definition = []
        for x, chosen, e_y in zip(X, y, subset_encodings(E, y), strict=True):
            Z = np.concatenate([x, E])
            logits = Z.T @ W @ np.concatenate([case.x_query, e_y])
            wanted, given = x[:, chosen].mean(axis=1), V @ Z @ softmax(logits)
            sums = [np.sum((wanted - given) ** 2), np.sum((abs(wanted) + abs(given)) ** 2)]
            by_definition.append((0.5 * float(sums[0]), 0.5 * float(sums[1])))
        return by_definition

    found = [np.array(literal(case)).T for case in few]
    return equal(
        few.each(fast),
        np.array([loss for loss, _ in found]),
        size=np.array([size for _, size in found]),
        cases=few.cases,
        part="loss of a sample",
    )


@claim(
    "definition-2.5",
    "Section 2.4, Eq. (4) (and Definition E.1, Eq. 12)",
    "The stochastic architecture averages the model's output over all encodings allowed; its loss "
    "is that of the averaged output.",
    hypotheses=(FITS,),
    on=ENUMERATION,
)
def definition_25(evidence: Evidence[Enumeration]) -> Comparison:
    def closed_form(case: Enumeration) -> float:
        weights = aligned(case, 1.3, 2.0)
        return population(case.family, weights, np.zeros(case.task.d), "inside").loss

    def averaged(case: Enumeration) -> float:
        S, Y = mean_attention(case, 2.0), np.asarray(case.family.Y)
        return 0.5 * case.task.d * float(((Y / case.task.q - 1.3 * S) ** 2).sum(axis=1).mean())

    return equal(
        evidence.each(closed_form), evidence.each(averaged), rounding=AVERAGED, part="loss"
    )


def aligned(case: Enumeration, alpha: float, C: float) -> Weights:
    """V = alpha [I 0] and W = C on the position block."""
    d, d_e = case.task.d, case.E.shape[1]
    W = np.zeros((d + d_e, d + d_e))
    W[d:, d:] = C * np.eye(d_e)
    return Weights(alpha * np.eye(d, d + d_e), W)


def attention(case: Enumeration, C: float) -> np.ndarray:
    """softmax(C E'e_y) for every encoding and subset, from the definitions."""
    return softmax(C * np.einsum("met,mse->mst", case.E, np.asarray(case.family.e_y)), axis=-1)


def mean_attention(case: Enumeration, C: float) -> np.ndarray:
    """The average over encodings."""
    return attention(case, C).mean(axis=0)

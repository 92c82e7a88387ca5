"""Section 2 and Appendix A: the task, its encodings, and restricted isometry."""

from fractions import Fraction

import numpy as np

from lemmata.old_claims import Bench, Cases, Judgement, each, fact, same
from lemmata.papers.selection._witnesses import (
    ExactEncodings,
    three_vectors,
)
from lemmata.papers.selection.claims._terms import claim, softmax
from lemmata.papers.selection.experiments.descents import ENCODINGS, Ensemble
from lemmata.papers.selection.experiments.matrices import (
    ENUMERATION,
    MATRICES,
    Enumeration,
    Matrices,
)

ROUNDING = 1e-12
"""Rounding of inner products and of solutions of small well-conditioned systems."""


@claim(
    "definition-2.1",
    "Section 2.1 (and Definition A.4)",
    "The target is the mean of the q chosen tokens; with Gaussian tokens its squared length is d/q "
    "on average, so predicting zero costs d/(2q).",
    assumes=(),
    on=MATRICES,
    sharpened="d/q^2 (it costs d/(2 q^2))",
)
def definition_21(evidence: Cases[Matrices], sharpened: bool) -> list[Judgement]:
    def cost(case: Matrices) -> float:
        targets = np.stack([case.X[:, :, y].mean(axis=2) for y in case.y])
        return 0.5 * float(np.einsum("n,snd->", case.chances, targets**2)) / len(case.y)

    def formula(case: Matrices) -> float:
        return case.task.zero_loss / (case.task.q + 1 if sharpened else 1)

    return [same(evidence, "cost of zero", cost, formula, ROUNDING)]


@claim(
    "definition-2.2",
    "Section 2.2 (and Definition D.3)",
    "With one-hot encodings, e_y = E_y (E_y'E_y)^-1 1 is the sum of the chosen encodings, and has "
    "inner product 1 with the chosen and 0 with the other encodings.",
    assumes=(),
    on=MATRICES,
    sharpened="1/q with the chosen ones",
)
def definition_22(evidence: Cases[Matrices], sharpened: bool) -> list[Judgement]:
    from lemmata.papers.selection.setting import inner_products, one_hot, subset_encodings

    def wanted(case: Matrices) -> np.ndarray:
        return np.asarray(case.family.Y) / (case.task.q + 1 if sharpened else 1)

    return [
        same(
            evidence,
            "e_y",
            lambda case: subset_encodings(one_hot(case.task.T), case.y),
            wanted,
            ROUNDING,
        ),
        same(
            evidence,
            "<e_i, e_y>",
            lambda case: inner_products(one_hot(case.task.T), case.y),
            wanted,
            ROUNDING,
        ),
    ]


def on_subset(case: Ensemble) -> np.ndarray:
    """<e_i, e_y> on y, for every encoding and subset."""
    from lemmata.papers.selection.setting import inner_products

    y = subsets_of(case)
    return np.stack([np.take_along_axis(inner_products(E, y), y, axis=1) for E in case.E])


def subsets_of(case: Ensemble) -> np.ndarray:
    """All subsets, or some thousand random ones."""
    task = case.plan.task
    if task.subset_count <= 5_000:
        return task.all_subsets()
    return task.draw_subsets(5_000, np.random.default_rng(0))


@claim(
    "definition-2.3",
    "Section 2.2",
    "With encodings of unit length, e_y = E_y (E_y'E_y)^-1 1 has inner product 1 with every chosen "
    "encoding.",
    assumes=(),
    on=ENCODINGS,
    sharpened="1.001",
)
def definition_23(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    value = 1.001 if sharpened else 1.0
    return [same(evidence, "<e_i, e_y>", on_subset, lambda case: value, ROUNDING)]


def pairwise_witness(bench: Bench) -> list[Judgement]:
    """Three sign vectors in 20 dimensions with inner products 0, 1/10, 1/10."""
    found = ExactEncodings(three_vectors(20), 2)
    g, delta = found.inner(2, (0, 1)), Fraction(1, 10)
    bound = delta / (1 - 2 * delta)
    reason = f"three sign vectors in 20 dimensions, inner products 0, 1/10, 1/10: <e_3, e_y> = {g} "
    reason += f"for y = (1, 2), which exceeds delta/(1 - 2 delta) = {bound}"
    witness = {"signs": found.signs.T.tolist(), "y": [1, 2], "left": str(g), "right": str(bound)}
    return [fact("pairwise", bool(g <= bound), reason, witness)]


@claim(
    "definition-2.3/separation",
    "Section 2.2",
    "If all |<e_i, e_j>| <= delta, then |<e_i, e_y>| <= delta/(1 - 2 delta) for i outside y.",
    assumes=(),
    on=ENCODINGS,
    sharpened="a quarter of that",
    counterexample=pairwise_witness,
)
def separation(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    def bound(case: Ensemble) -> list[float]:
        mu = [isometry.coherence for isometry in case.isometries]
        return [(0.25 if sharpened else 1) * m / (1 - 2 * m) if m < 0.5 else np.nan for m in mu]

    return [each(evidence, "off the subset", bound, off_subset)]


def off_subset(case: Ensemble) -> list[float]:
    """The largest |<e_i, e_y>| off y, encoding by encoding."""
    return [isometry.off_subset for isometry in case.isometries]


@claim(
    "own/coherence",
    "beside Definition 2.3",
    "If all |<e_i, e_j>| <= mu with (q-1) mu < 1, then |<e_i, e_y>| <= q mu / (1 - (q-1) mu) off "
    "the subset.",
    assumes=(),
    on=ENCODINGS,
    sharpened="a tenth of that",
)
def coherence(evidence: Cases[Ensemble], sharpened: bool) -> list[Judgement]:
    def bound(case: Ensemble) -> list[float]:
        q = case.plan.task.q
        mu = [isometry.coherence for isometry in case.isometries]
        factor = 0.1 if sharpened else 1.0
        return [factor * q * m / (1 - (q - 1) * m) if (q - 1) * m < 1 else np.nan for m in mu]

    return [each(evidence, "off the subset", bound, off_subset, tolerance=ROUNDING)]


@claim(
    "definition-2.4",
    "Section 2.3, Eqs. (1) and (2)",
    "f = V Z softmax(Z'W z_query) with columns [x_i; e_i] and z_query = [x_query; e_y]: the way "
    "training computes it (through the kernel E'W E, with Z never formed) gives the same.",
    assumes=(),
    on=MATRICES,
    sharpened="without x_query",
)
def definition_24(evidence: Cases[Matrices], sharpened: bool) -> list[Judgement]:
    import jax.numpy as jnp

    from lemmata.papers.selection.setting import Batch, losses

    def fast(case: Matrices) -> np.ndarray:
        X, y = case.X[:8], np.resize(case.y, (min(8, len(case.X)), case.task.q))
        x_query = np.broadcast_to(case.x_query, (len(X), case.task.d))
        query = None if sharpened else jnp.asarray(x_query)
        batch = Batch(jnp.asarray(X), jnp.asarray(y), case.family.E[0], query)
        return np.asarray(losses(case.weights, batch))

    def literal(case: Matrices) -> np.ndarray:
        from lemmata.papers.selection.setting import subset_encodings

        V, W = (np.asarray(matrix) for matrix in case.weights)
        E = np.asarray(case.family.E[0])
        X, y = case.X[:8], np.resize(case.y, (min(8, len(case.X)), case.task.q))
        found = []
        for x, chosen, e_y in zip(X, y, subset_encodings(E, y), strict=True):
            Z = np.concatenate([x, E])
            logits = Z.T @ W @ np.concatenate([case.x_query, e_y])
            error = x[:, chosen].mean(axis=1) - V @ Z @ softmax(logits)
            found.append(0.5 * np.sum(error**2))
        return np.array(found)

    few = Cases(evidence.cases[:2])
    return [same(few, "loss of a sample", fast, literal, ROUNDING)]


@claim(
    "definition-2.5",
    "Section 2.4, Eq. (4) (and Definition E.1, Eq. 12)",
    "The stochastic architecture averages the model's output over all encodings allowed; its loss "
    "is that of the averaged output.",
    assumes=(),
    on=ENUMERATION,
    sharpened="its loss is the average of the losses",
)
def definition_25(evidence: Cases[Enumeration], sharpened: bool) -> list[Judgement]:
    import jax.numpy as jnp

    from lemmata.papers.selection.setting import population

    def closed_form(case: Enumeration) -> float:
        weights = aligned(case, 1.3, 2.0)
        how = "outside" if sharpened else "inside"
        return float(population(case.family, weights, jnp.zeros(case.task.d), how).loss)

    def averaged(case: Enumeration) -> float:
        S = mean_attention(case, 2.0)
        Y = np.asarray(case.family.Y)
        return 0.5 * case.task.d * float(((Y / case.task.q - 1.3 * S) ** 2).sum(axis=1).mean())

    return [same(evidence, "loss", closed_form, averaged, ROUNDING)]


def aligned(case: Enumeration, alpha: float, C: float):
    """V = alpha [I 0] and W = C on the position block."""
    import jax.numpy as jnp

    from lemmata.papers.selection.setting import Weights

    d, d_e = case.task.d, case.E.shape[1]
    W = np.zeros((d + d_e, d + d_e))
    W[d:, d:] = C * np.eye(d_e)
    return Weights(jnp.asarray(alpha * np.eye(d, d + d_e)), jnp.asarray(W))


def attention(case: Enumeration, C: float) -> np.ndarray:
    """softmax(C E'e_y) for every encoding and subset, from the definitions."""
    return softmax(C * np.einsum("met,mse->mst", case.E, np.asarray(case.family.e_y)))


def mean_attention(case: Enumeration, C: float) -> np.ndarray:
    """The average over encodings."""
    return attention(case, C).mean(axis=0)

"""The paper's assumptions, and a short way to state a claim."""

import numpy as np
from jaxtyping import Float

from lemmata.old_claims import Assumption, statements

claim = statements("selection")

SPARSE = Assumption("2 <= q < T/4", "the subset is small", frozenset({"q_out_of_range"}))
SMALL_LOSS = Assumption(
    "epsilon in (0, dT / (100 (T-q) q))", "the loss to reach is small", frozenset({"large_epsilon"})
)
SMALL_STEP = Assumption("eta <= 1 / (20 d^2)", "the step size is small", frozenset({"large_step"}))
STOCHASTIC_STEP = Assumption(
    "eta <= d_e^2 / (40 d^2 T)", "the step size is small", frozenset({"large_stochastic_step"})
)
RESTRICTED = Assumption(
    "(q, delta)-RIP with delta < 1/10",
    "the encodings are nearly orthonormal, as Definition A.1 has it",
    frozenset({"no_isometry"}),
)
CONVERGES = Assumption(
    "training does not diverge", "the loss stays finite", frozenset({"diverged"})
)


def softmax(logits: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """Along the last axis; with NumPy alone, so that listing claims does not load SciPy."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)

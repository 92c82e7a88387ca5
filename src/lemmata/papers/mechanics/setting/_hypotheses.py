"""What the paper's statements take for granted of the data."""

from lemmata.settings import Hypothesis

REALIZABLE = Hypothesis(
    "realizable",
    "Assumption 2",
    "every label occurs in its sequence",
    frozenset({"label_not_in_sequence"}),
)
INDEPENDENT = Hypothesis(
    "independent",
    "Assumption 4",
    "some head has C E^T = I: the embeddings are linearly independent",
    frozenset({"embeddings_dependent"}),
)
ACYCLIC_DATA = Hypothesis(
    "acyclic",
    "acyclic data (Definition 2)",
    "no tokens beat each other",
    frozenset({"cyclic"}),
)
FEASIBLE = Hypothesis(
    "feasible", "feasibility", "Graph-SVM has a solution", frozenset({"infeasible"})
)
NONZERO = Hypothesis(
    "nonzero",
    "W^mm is not 0",
    "some token strictly beats another",
    frozenset({"max_margin_zero"}),
)
ORTHONORMAL = Hypothesis(
    "orthonormal",
    "orthonormal embeddings",
    "the embeddings are orthonormal",
    frozenset({"embeddings_not_orthonormal"}),
)
ZERO_START = Hypothesis(
    "zero_start", "zero start", "W starts at zero", frozenset({"nonzero_start"})
)

HYPOTHESES = (REALIZABLE, INDEPENDENT, ACYCLIC_DATA, FEASIBLE, NONZERO, ORTHONORMAL, ZERO_START)
"""All of them, by the names that users type."""

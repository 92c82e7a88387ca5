"""What the paper's statements take for granted of the data."""

from lemmata.settings import hypothesis

REALIZABLE = hypothesis(
    "realizable", "Assumption 2", "every label occurs in its sequence", "label_not_in_sequence"
)
INDEPENDENT = hypothesis(
    "independent",
    "Assumption 4",
    "some head has C E^T = I: the embeddings are linearly independent",
    "embeddings_dependent",
)
ACYCLIC_DATA = hypothesis(
    "acyclic", "acyclic data (Definition 2)", "no tokens beat each other", "cyclic"
)
FEASIBLE = hypothesis("feasible", "feasibility", "Graph-SVM has a solution", "infeasible")
NONZERO = hypothesis(
    "nonzero", "W^mm is not 0", "some token strictly beats another", "max_margin_zero"
)
ORTHONORMAL = hypothesis(
    "orthonormal",
    "orthonormal embeddings",
    "the embeddings are orthonormal",
    "embeddings_not_orthonormal",
)
ZERO_START = hypothesis("zero_start", "zero start", "W starts at zero", "nonzero_start")

HYPOTHESES = (REALIZABLE, INDEPENDENT, ACYCLIC_DATA, FEASIBLE, NONZERO, ORTHONORMAL, ZERO_START)
"""All of them, by the names that users type."""

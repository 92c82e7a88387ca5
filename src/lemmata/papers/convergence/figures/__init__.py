"""The paper's figures, and three of ours, each as an experiment."""

from lemmata.papers._paper import Figure

_HERE = "lemmata.papers.convergence.figures"

FIGURES = (
    Figure(
        "convergence/1", "Example 1: collocation and query-dependent orders", f"{_HERE}._orders"
    ),
    Figure("convergence/2", "Both training stages at the paper's settings", f"{_HERE}._training"),
    Figure(
        "convergence/generalization",
        "Predictions on inputs that were never seen (Theorem 3, Example 2)",
        f"{_HERE}._generalization",
    ),
    Figure("convergence/joint", "Two-stage training against joint training", f"{_HERE}._joint"),
    Figure(
        "convergence/phases",
        "How long a rare input waits: skew against the margin of stage 1",
        f"{_HERE}._phases",
    ),
)

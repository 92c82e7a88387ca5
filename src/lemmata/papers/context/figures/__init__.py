"""The paper's figures, and two of ours."""

from lemmata.papers._paper import Figure

_HERE = "lemmata.papers.context.figures"

FIGURES = (
    Figure("context/2a", "Losses of the one-layer transformer", f"{_HERE}._losses"),
    Figure("context/2b", "Losses of a 4-layer transformer", f"{_HERE}._deep"),
    Figure("context/3", "Ridge regression against the number of examples", f"{_HERE}._distance"),
    Figure("context/4", "Heads of the one-layer transformer", f"{_HERE}._heads"),
    Figure("context/5", "Heads of a 4-layer transformer", f"{_HERE}._deep_heads"),
    Figure("context/guarantee", "What Theorem 1 gives away", f"{_HERE}._guarantee"),
    Figure(
        "context/phases",
        "What Theorem 1 promises: heads against the size of the logits",
        f"{_HERE}._phases",
    ),
)

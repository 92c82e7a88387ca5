"""The paper's figures, and two of ours, each as an experiment."""

from lemmata.papers._paper import Figure

_HERE = "lemmata.papers.mechanics.figures"

FIGURES = (
    Figure("mechanics/2", "Token-priority graphs and the cyclic subdata", f"{_HERE}._graphs"),
    Figure("mechanics/3", "Training on acyclic data", f"{_HERE}._acyclic"),
    Figure("mechanics/4", "Training on cyclic data", f"{_HERE}._cyclic"),
    Figure(
        "mechanics/4-limit",
        "The data of Figure 4, trained up to the limit by a scheme of two parts",
        f"{_HERE}._limit",
    ),
    Figure(
        "mechanics/4-parts",
        "Besides Figures 3 and 4: the part outside the ties, attention, norms and components",
        f"{_HERE}._parts",
    ),
    Figure("mechanics/5", "Local convergence under a squared loss", f"{_HERE}._squared"),
    Figure("mechanics/6", "Local convergence under cross-entropy", f"{_HERE}._cross_entropy"),
    Figure(
        "mechanics/phases",
        "Plain descent on a tie: step size against the shares of the labels",
        f"{_HERE}._phases",
    ),
)

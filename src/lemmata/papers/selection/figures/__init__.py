"""The paper's figures, and two of ours, each as an experiment."""

from lemmata.papers._paper import Figure

_HERE = "lemmata.papers.selection.figures"

FIGURES = (
    Figure("selection/1", "Training loss, its inverse, and the directions", f"{_HERE}._loss"),
    Figure("selection/2", "Longer sequences: stochastic and fixed encodings", f"{_HERE}._lengths"),
    Figure("selection/3", "W and V before and after training", f"{_HERE}._heat:draw_ends"),
    Figure(
        "selection/4",
        "Longer sequences and larger subsets, SGD from zero",
        f"{_HERE}._generalization:draw_sgd",
    ),
    Figure("selection/5", "The same with Adam", f"{_HERE}._generalization:draw_adam"),
    Figure(
        "selection/6",
        "The same with SGD from random weights",
        f"{_HERE}._generalization:draw_sgd_random",
    ),
    Figure(
        "selection/7",
        "The same with Adam from random weights",
        f"{_HERE}._generalization:draw_adam_random",
    ),
    Figure("selection/8", "W and V through training", f"{_HERE}._heat:draw_steps"),
    Figure(
        "selection/expressivity",
        "The width that fully connected nets need",
        f"{_HERE}._expressivity",
    ),
    Figure(
        "selection/phases",
        "How long sequences may get: length against the dimension of encodings",
        f"{_HERE}._phases",
    ),
)

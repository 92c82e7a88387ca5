"""Huang, Liang, Yang 2024: training for next-token prediction, with finite-time rates."""

from lemmata.papers import Paper

PAPER = Paper(
    key="convergence",
    title="Non-asymptotic Convergence of Training Transformers for Next-token Prediction",
    authors="Huang, Liang, Yang",
    year=2024,
    contents=__name__,
)

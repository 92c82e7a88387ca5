"""The paper's figures, and one of ours, each as an experiment."""

from lemmata.papers._paper import Figure

FIGURES: tuple[Figure, ...] = ()

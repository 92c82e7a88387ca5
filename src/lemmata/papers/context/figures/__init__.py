"""The paper's figures."""

from lemmata.papers._paper import Figure

FIGURES: tuple[Figure, ...] = ()

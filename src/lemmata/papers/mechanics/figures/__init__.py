"""Every figure."""

from lemmata.papers._paper import Figure

FIGURES: tuple[Figure, ...] = ()

"""Li, Huang, Ildiz, Rawat, Oymak 2024: what one attention layer learns from next tokens."""

from lemmata.papers import Paper

PAPER = Paper(
    key="mechanics",
    title="Mechanics of Next Token Prediction with Self-Attention",
    authors="Li, Huang, Ildiz, Rawat, Oymak",
    year=2024,
    contents=__name__,
)

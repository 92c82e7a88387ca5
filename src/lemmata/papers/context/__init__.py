"""Yang, Huang, Liang, Chi 2024: in-context learning with representations."""

from lemmata.papers import Paper

PAPER = Paper(
    key="context",
    title="In-Context Learning with Representations: "
    "Contextual Generalization of Trained Transformers",
    authors="Yang, Huang, Liang, Chi",
    year=2024,
    contents=__name__,
)

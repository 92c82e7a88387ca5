"""Wang, Wei, Hsu, Lee 2024: transformers learn to select a sparse set of tokens."""

from lemmata.papers import Paper

PAPER = Paper(
    key="selection",
    title="Transformers Provably Learn Sparse Token Selection While Fully-Connected Nets Cannot",
    authors="Wang, Wei, Hsu, Lee",
    year=2024,
    contents=__name__,
)

"""What statements of the paper take for granted."""

from lemmata.settings import Hypothesis

SPARSE = Hypothesis("sparse", "2 <= q < T/4", "the subset is small", frozenset({"q_out_of_range"}))
SMALL_LOSS = Hypothesis(
    "small_loss",
    "epsilon in (0, dT / (100 (T-q) q))",
    "the loss to reach is small",
    frozenset({"large_epsilon"}),
)
SMALL_STEP = Hypothesis(
    "small_step", "eta <= 1 / (20 d^2)", "the step size is small", frozenset({"large_step"})
)
STOCHASTIC_STEP = Hypothesis(
    "stochastic_step",
    "eta <= d_e^2 / (40 d^2 T)",
    "the step size is small for random encodings",
    frozenset({"large_stochastic_step"}),
)
RESTRICTED = Hypothesis(
    "isometry",
    "(q, delta)-RIP with delta < 1/10",
    "the encodings are nearly orthonormal, as Definition A.1 has it",
    frozenset({"no_isometry"}),
)
CONVERGES = Hypothesis(
    "converges", "training does not diverge", "the loss stays finite", frozenset({"diverged"})
)
FITS = Hypothesis(
    "fits",
    "a workable size",
    "what is looked at fits into memory",
    frozenset({"too_large"}),
)
POSITIONS = Hypothesis(
    "positions", "T >= 2", "there is more than one position", frozenset({"one_position"})
)
PROPER = Hypothesis("proper", "q < T", "some position is not chosen", frozenset({"all_chosen"}))
SEPARATED = Hypothesis(
    "separated",
    "|<e_i, e_y>| <= 1/2 off y",
    "the encodings that the proof of Theorem C.3 picks",
    frozenset({"encodings_too_close"}),
)
GUIDING = Hypothesis(
    "guiding",
    "|<e_i, e_y>| < 1 off y",
    "no position looks more chosen than the chosen ones",
    frozenset({"encodings_mislead"}),
)
NARROWER = Hypothesis(
    "narrower",
    "d + d_e < T d",
    "the transformer is narrower than the tokens",
    frozenset({"no_narrower"}),
)

HYPOTHESES = (
    SPARSE,
    SMALL_LOSS,
    SMALL_STEP,
    STOCHASTIC_STEP,
    RESTRICTED,
    CONVERGES,
    FITS,
    POSITIONS,
    PROPER,
    SEPARATED,
    GUIDING,
    NARROWER,
)

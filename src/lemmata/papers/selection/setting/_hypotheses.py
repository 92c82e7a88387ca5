"""What statements of the paper take for granted."""

from lemmata.settings import Subject, hypothesis

from ._plan import Plan

SPARSE = hypothesis("sparse", "2 <= q < T/4", "the subset is small", "q_out_of_range")
SMALL_LOSS = hypothesis(
    "small_loss",
    "epsilon in (0, dT / (100 (T-q) q))",
    "the loss to reach is small",
    "large_epsilon",
)
SMALL_STEP = hypothesis("small_step", "eta <= 1 / (20 d^2)", "the step size is small", "large_step")
STOCHASTIC_STEP = hypothesis(
    "stochastic_step",
    "eta <= d_e^2 / (40 d^2 T)",
    "the step size is small for random encodings",
    "large_stochastic_step",
)
RESTRICTED = hypothesis(
    "isometry",
    "(q, delta)-RIP with delta < 1/10",
    "the encodings are nearly orthonormal, as Definition A.1 has it",
    "no_isometry",
)
ISOMETRY = hypothesis(
    RESTRICTED.name, RESTRICTED.title, RESTRICTED.says, "no_isometry", "isometry_not_certain"
)
"""The same of a plan alone, whose encodings may be drawn later."""

CONVERGES = hypothesis(
    "converges", "training does not diverge", "the loss stays finite", "diverged"
)
FITS = hypothesis("fits", "a workable size", "what is looked at fits into memory", "too_large")
POSITIONS = hypothesis("positions", "T >= 2", "there is more than one position", "one_position")
PROPER = hypothesis("proper", "q < T", "some position is not chosen", "all_chosen")
SEPARATED = hypothesis(
    "separated",
    "|<e_i, e_y>| <= 1/2 off y",
    "the encodings that the proof of Theorem C.3 picks",
    "encodings_too_close",
)
GUIDING = hypothesis(
    "guiding",
    "|<e_i, e_y>| < 1 off y",
    "no position looks more chosen than the chosen ones",
    "encodings_mislead",
)
NARROWER = hypothesis(
    "narrower", "d + d_e < T d", "the transformer is narrower than the tokens", "no_narrower"
)


def _some_are_left(plan: Plan) -> bool:
    return plan.task.q < plan.task.T


ONE_HOT_PLANS = Subject(
    "one_hot",
    "encodings are one-hot, and q < T",
    lambda plan: plan.d_e is None and _some_are_left(plan),
)
"""What Theorem 3.1 is about."""

ENCODED_PLANS = Subject(
    "not_one_hot",
    "encodings are not one-hot, and q < T",
    lambda plan: plan.d_e is not None and _some_are_left(plan),
)
"""What Theorem 3.3 is about."""

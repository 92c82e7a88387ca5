"""Plans that cannot be trained as asked for, refused in words before anything runs."""

from lemmata._errors import InputError

from ._plan import Plan
from ._trained_plan import WIDEST

MOST_NUMBERS = 50_000_000
"""Of tokens in a batch."""

SAFE_DIMENSIONS = 60
"""In so many dimensions no two random sign vectors will ever coincide."""


def check_net(plan: Plan) -> None:
    """A fully connected net gets the subset as a q-hot vector, and has no attention."""
    if plan.kind != "one-hot":
        raise InputError(
            f"{plan.name}: a fully connected net sees no encodings; leave out d_e and encodings"
        )
    inputs = plan.T * (plan.d + 1)
    if inputs > WIDEST:
        raise InputError(
            f"{plan.name}: a net with {inputs:,} inputs is too large (at most {WIDEST:,})"
        )
    said = set(plan.training.document()) - {"samples", "seed"}
    if said:
        raise InputError(
            f"{plan.name}: {', '.join(sorted(said))} would have no effect on a fully connected "
            "net; leave it out"
        )


def check_descent(plan: Plan) -> None:
    """Gradient descent in two numbers starts at zero and averages over encodings."""
    how = plan.training
    more = {"factors": how.factors > 0, "queries": how.queries > 1, "heads": how.heads > 1}
    said = [name for name, several in more.items() if several]
    if said:
        raise InputError(
            f"{plan.name}: gradient descent in two numbers is for one head, one W and one query a "
            f"sequence; leave out {', '.join(said)}, or use --algorithm sgd"
        )
    if how.initial:
        raise InputError(
            f"{plan.name}: gradient descent in two numbers starts from zero, not from random "
            "weights; leave out initial, or use --algorithm sgd"
        )
    if how.encodings == "fixed" and plan.kind != "one-hot":
        raise InputError(
            f"{plan.name}: with fixed encodings gradient descent leaves the two directions; leave "
            'out "encodings": "fixed", or use --algorithm sgd'
        )


def check_online(plan: Plan, longest: int, d_e: int) -> None:
    """Refuse what is too large to train on samples, or has no encodings."""
    how, task = plan.training, plan.task
    numbers = how.samples * how.queries * task.d * longest
    entries = how.heads * (task.d + d_e) ** 2
    if how.heads > 1 and max(entries / WIDEST**2, how.heads * numbers / MOST_NUMBERS) > 1:
        raise InputError(
            f"{plan.name}: {how.heads} heads with heads (d + d_e)^2 = {entries:,} (at most "
            f"{WIDEST**2:,}) and heads samples queries d T = {how.heads * numbers:,} (at most "
            f"{MOST_NUMBERS:,}) are too many; ask for fewer"
        )
    if task.d + d_e > WIDEST or numbers > MOST_NUMBERS:
        raise InputError(
            f"{plan.name}: training on samples with d + d_e = {task.d + d_e:,} (at most "
            f"{WIDEST:,}) and samples queries d T = {numbers:,} (at most "
            f"{MOST_NUMBERS:,}) is too large; use --algorithm gd, which needs no samples"
        )
    if plan.kind != "random" and how.encodings == "stochastic":
        raise InputError(
            f"{plan.name}: stochastic encodings are random ones; say d_e, and no encodings"
        )
    if plan.kind == "random" and plan.threshold >= 1 and d_e < SAFE_DIMENSIONS:
        raise InputError(
            f"{plan.name}: sign vectors in {d_e} dimensions coincide now and then, and then "
            "e_y does not exist; say a threshold below 1, or more dimensions"
        )
    if plan.encodings is not None and longest > task.T:
        raise InputError(
            f"{plan.name}: a test with T = {longest} needs encodings for {longest} positions; "
            f"there are {task.T}"
        )

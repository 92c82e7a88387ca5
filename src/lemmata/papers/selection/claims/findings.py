"""Other sentences about the experiments that can be checked, and what we found beside them."""

import numpy as np

from lemmata.claims import Comparison, Fact, Silence, at_least, at_most, equal, statements
from lemmata.settings import Evidence, hypothesis

from ..experiments.endings import clock, decay, lengths, over, power
from ..experiments.ensembles import ACCEPTED, JENSEN, RIVALS, Accepted, JensenPoint, Rivals
from ..experiments.mean_fields import MEAN_FIELD, Followed
from ..experiments.runs import ADAM, PAPER, SGD, Pair
from ..experiments.switched_encodings import ADAM_SWITCHED, SWITCHED, Switched
from ..setting import CONVERGES, FITS
from ._over_seeds import mean_at_least, mean_at_most, vanishes

SEEDS = "it is about means over the seeds of an experiment"

claim = statements("selection", hypotheses=(CONVERGES,), unbreakable=SEEDS)

TIGHT = hypothesis(
    "tight", "threshold <= 0.3", "rejection is as strict as in the experiments", "large_threshold"
)


@claim(
    "appendix-f/in-distribution",
    "Appendix F",
    "With fixed and with fresh encodings the loss of the training task goes to 0.",
    on=SGD,
)
def in_distribution(pairs: Evidence[Pair]) -> list[Comparison]:
    """The two differ on other tasks only."""
    task = pairs.cases[0].task
    return [vanishes(pairs, arm, [(task.T, task.q)]) for arm in ("stochastic", "fixed")]


@claim(
    "appendix-f/isometry",
    "Appendix F",
    "Encodings that rejection accepts for their small inner products have the restricted isometry "
    "and orthogonality property, with a delta below 1/2, as every statement about it supposes.",
    hypotheses=(FITS, TIGHT),
    on=ACCEPTED,
    kind="substance",
    unbreakable=None,
)
def isometry(accepted: Evidence[Accepted]) -> Comparison:
    """A pair of sparse vectors, found by climbing, bounds delta from below."""
    delta = accepted.each(lambda case: case.measured.delta)
    return at_most(delta, 0.5, strict=True, part="delta")


@claim(
    "appendix-e/switching",
    "Appendix E, introduction",
    "Weights trained on fixed encodings do badly, by a factor of 10 or more, under other encodings "
    "of the same kind; weights trained on fresh ones do not.",
    on=SWITCHED,
)
def switching(switched: Evidence[Switched]) -> list[Comparison]:
    """At the training length."""
    worse = [case.fresh / case.own for case in switched]
    better = [case.stochastic / case.fresh for case in switched]
    return [
        mean_at_least("fixed, under fresh encodings over own", {"loss": worse}, 10.0),
        mean_at_most("under fresh encodings, stochastic over fixed", {"loss": better}, 0.2),
    ]


@claim(
    "own/untrained-positions",
    "beside Figure 2",
    "With fixed encodings longer lengths fail where a subset has a position that was not trained: "
    "on the other subsets the loss is at most a fifth.",
    on=SWITCHED,
)
def untrained_positions(switched: Evidence[Switched]) -> Comparison:
    """The sequence is long in both cases; what matters is whom the query asks for."""
    rows = {
        f"T = {T}": [case.trained[T] / case.untrained[T] for case in switched]
        for T in switched.cases[0].trained
    }
    return mean_at_most("trained over other subsets", rows, 0.2)


@claim(
    "own/trained-advantage/adam",
    "beside Figure 5",
    "The same with Adam.",
    on=ADAM_SWITCHED,
)
@claim(
    "own/trained-advantage",
    "beside Figure 2",
    "With fixed encodings most of the loss at longer lengths is due to the advantage of trained "
    "positions, whose e_i'W e_i is larger than that of others: with the others raised as much, "
    "less than half is left.",
    on=SWITCHED,
)
def trained_advantage(switched: Evidence[Switched]) -> Comparison:
    """A chosen position that was trained draws e^advantage times the attention of one that was
    not, however large C is."""
    rows = {
        f"T = {T}": [case.level[T] / case.longer[T][0] for case in switched]
        for T in switched.cases[0].level
    }
    return mean_at_most("loss without the advantage, over the loss", rows, 0.5)


@claim(
    "own/adam-forgets",
    "beside Figures 5 and 7",
    "Adam goes on where SGD stalls: in the second half of the paper's 100,000 steps the advantage "
    "of trained positions falls, and the loss at longer lengths falls with it.",
    on=ADAM,
)
def adam_forgets(pairs: Evidence[Pair]) -> Comparison | list[Comparison]:
    """Powers of the time, from a quarter of it to the end."""
    how = pairs.cases[0].fixed.how
    if how.steps < PAPER.steps:
        return Silence(
            f"at d_e = {how.d_e}, with {how.steps:,} steps, W does not come near a multiple of the "
            "identity; it is said of the paper's size",
            part="advantage",
        )
    falls = {"fixed": [decay(pair.fixed, pair.fixed["advantage"]) for pair in pairs]}
    losses = over(pairs, lengths(pairs), lambda pair, T, q: power(pair, "fixed", T, q))
    return [
        mean_at_least("advantage: power of 1/t", falls, 0.0),
        mean_at_least("loss: power of 1/t", losses, 0.0),
    ]


@claim(
    "own/rivals",
    "beside Figure 4",
    "A subset with an encoding outside that has <e_i, e_y> >= 1 cannot be selected: no alpha and "
    "C >= 0 bring its loss below d/(2q(q+1)). At T = 200, d_e = 170 there are such subsets with "
    "q = 8, and with q = 3 none was found.",
    on=RIVALS,
    unbreakable="it is about a sample of subsets",
    hypotheses=(),
)
def rivals(evidence: Evidence[Rivals]) -> list[Comparison]:
    """The best alpha for every C of a grid, on one subset of each size that has any."""
    smallest, largest = evidence.cases[0], evidence.cases[-1]
    reason = (
        f"{largest.found} of {largest.looked} subsets with {largest.name} have a rival, and "
        f"{smallest.found} with {smallest.name}"
    )
    seen = Fact(largest.found > 0 == smallest.found, reason, witness=largest.first, part="rivals")
    rivalled = evidence.where(lambda case: case.inner is not None)
    if not len(rivalled):
        return [seen]
    floor = rivalled.each(lambda case: case.d / (2 * case.q * (case.q + 1)))
    least = rivalled.each(least_loss)
    return [seen, at_least(least, floor, part="least loss", cases=rivalled.cases)]


def least_loss(case: Rivals) -> float:
    """Over all alpha, and C from 0 to 100, of one subset; alpha is a least-squares problem."""
    outside, q, d = case.inner, case.q, case.d
    assert outside is not None
    losses = []
    for C in np.linspace(0.0, 100.0, 2001):
        weights = np.exp(C * (outside - outside.max()))
        chosen = np.exp(C * (1 - outside.max()))
        total = q * chosen + weights.sum()
        overlap, length = chosen / total, (q * chosen**2 + np.sum(weights**2)) / total**2
        losses.append(0.5 * d * (1 / q - overlap**2 / length))
    return min(losses)


@claim(
    "own/mean-field",
    "beside Figure 1",
    "SGD with fresh encodings follows the two-scalar recursion of the loss averaged over encodings "
    "from outside: over the second half of the time C is within 1 % and alpha within 2 % of it.",
    on=MEAN_FIELD,
)
def mean_field(followed: Evidence[Followed]) -> list[Comparison]:
    """Means over the second half, so that the fluctuations of a step do not count."""

    def apart(case: Followed, name: str) -> float:
        time = clock(case.run)
        half = time >= time[-1] / 2
        return abs(float(np.mean(case.run[name][half] / getattr(case.outside, name)[half])) - 1)

    return [
        mean_at_most(
            f"{name}, relative distance",
            {"second half": [apart(case, name) for case in followed]},
            within,
        )
        for name, within in (("C", 0.01), ("alpha", 0.02))
    ]


@claim(
    "own/jensen",
    "beside Definition 2.5 and Section 4",
    "The loss averaged over encodings from outside, which the experiments descend, exceeds the "
    "loss (4) of the theorems by (d/2) alpha² times the mean trace of the covariance of S_y.",
    hypotheses=(FITS,),
    on=JENSEN,
    unbreakable=None,
)
def jensen(points: Evidence[JensenPoint]) -> list[Comparison]:
    """An identity of second moments, hence an inequality."""
    inside, outside, between = (
        points.each(lambda point, name=name: getattr(point, name))
        for name in ("inside", "outside", "between")
    )
    # Each loss is a mean of some hundred numbers of its own size.
    noise = 512 * np.finfo(float).eps * outside / between
    return [
        at_least(outside, inside, part="outside"),
        equal(outside - inside, between, rounding=noise, part="difference"),
    ]

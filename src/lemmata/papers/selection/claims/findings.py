"""Other sentences about the experiments that can be checked, and what we found beside them."""

from collections.abc import Sequence

import numpy as np

from lemmata.old_claims import Cases, Judgement, at_least, equal, fact
from lemmata.papers.selection.claims._spread import lengths, less, more, vanishes
from lemmata.papers.selection.claims._terms import CONVERGES, claim
from lemmata.papers.selection.experiments.ensembles import (
    ACCEPTED,
    JENSEN,
    RIVALS,
    SWITCHED,
    Accepted,
    JensenPoint,
    Rivals,
    Switched,
)
from lemmata.papers.selection.experiments.runs import MEAN_FIELD, SGD, Followed, Pair, clock
from lemmata.papers.selection.theory import NEEDED_DELTA


@claim(
    "appendix-f/in-distribution",
    "Appendix F",
    "With fixed and with fresh encodings the loss of the training task goes to 0.",
    assumes=(CONVERGES,),
    on=SGD,
    sharpened="so does that of longer lengths",
)
def in_distribution(pairs: Cases[Pair], sharpened: bool) -> Sequence[Judgement]:
    """The two differ on other tasks only."""
    task = pairs.cases[0].fixed.how.task
    tasks = lengths(pairs) if sharpened else [(task.T, task.q)]
    return [*vanishes(pairs, "stochastic", tasks), *vanishes(pairs, "fixed", tasks)]


@claim(
    "appendix-f/isometry",
    "Appendix F",
    "Encodings that rejection accepts for their small inner products have the restricted isometry "
    "and orthogonality property, with the delta below 1/10 that Theorem 3.3 needs.",
    assumes=(),
    on=ACCEPTED,
    sharpened="with a delta below 1/100",
)
def isometry(accepted: Cases[Accepted], sharpened: bool) -> Sequence[Judgement]:
    """A pair of sparse vectors, found by climbing, bounds delta from below."""
    limit = NEEDED_DELTA / 10 if sharpened else NEEDED_DELTA
    found = []
    for one in accepted:
        measured = one.measured
        reason = (
            f"delta is at least {measured.delta:.3f} on {one.name}: inner products are within "
            f"{measured.coherence:.3f}, but two unit vectors on {len(measured.sets[0])} and "
            f"{len(measured.sets[1])} other positions have one of {measured.orthogonality:.3f}"
        )
        witness = {
            "encodings": one.name,
            "seed": one.seed,
            "sets": measured.sets,
            "isometry": measured.isometry,
            "orthogonality": measured.orthogonality,
        }
        found.append(fact("delta", measured.delta < limit, reason, witness, limit - measured.delta))
    return found


@claim(
    "appendix-e/switching",
    "Appendix E, introduction",
    "Weights trained on fixed encodings do badly, by a factor of 10 or more, under other encodings "
    "of the same kind; weights trained on fresh ones do not.",
    assumes=(CONVERGES,),
    on=SWITCHED,
    sharpened="by a factor of 1,000 or more",
)
def switching(switched: Cases[Switched], sharpened: bool) -> Sequence[Judgement]:
    """At the training length, over 20 fresh encodings."""
    worse = [one.fresh / one.own for one in switched]
    better = [one.stochastic / one.fresh for one in switched]
    return [
        more("fixed, under fresh encodings over own", {"loss": worse}, 1e3 if sharpened else 10.0),
        less("under fresh encodings, stochastic over fixed", {"loss": better}, 0.2),
    ]


@claim(
    "own/untrained-positions",
    "beside Figure 2",
    "With fixed encodings longer lengths fail where a subset has a position that was not trained: "
    "on the other subsets the loss is at most a fifth.",
    assumes=(CONVERGES,),
    on=SWITCHED,
    sharpened="at most a thousandth",
)
def untrained_positions(switched: Cases[Switched], sharpened: bool) -> Sequence[Judgement]:
    """The sequence is long in both cases; what matters is whom the query asks for."""
    rows = {
        f"T = {T}": [one.trained[T] / one.untrained[T] for one in switched]
        for T in switched.cases[0].trained
    }
    return [less("trained over other subsets", rows, 1e-3 if sharpened else 0.2)]


@claim(
    "own/rivals",
    "beside Figure 4",
    "A subset with an encoding outside that has <e_i, e_y> >= 1 cannot be selected: no alpha and "
    "C >= 0 bring its loss below d/(2q(q+1)). At T = 200, d_e = 170 there are such subsets with "
    "q = 8, and with q = 3 none was found.",
    assumes=(),
    on=RIVALS,
    sharpened="no alpha and C bring it below ten times that",
)
def rivals(found: Cases[Rivals], sharpened: bool) -> Sequence[Judgement]:
    """The best alpha for every C of a grid, on one subset of each size that has any."""
    least, floors, names = [], [], []
    for one in found:
        if one.inner is not None:
            least.append([_least_loss(one.inner, one.q, one.d)])
            floors.append([one.d / (2 * one.q * (one.q + 1)) * (10 if sharpened else 1)])
            names.append(one.name)
    smallest, largest = found.cases[0], found.cases[-1]
    reason = (
        f"{largest.found} of {largest.looked} subsets with {largest.name} have a rival, and "
        f"{smallest.found} with {smallest.name}"
    )
    judged = [fact("rivals", largest.found > 0 == smallest.found, reason, largest.first)]
    if names:
        steps = np.zeros(1)
        judged.append(
            at_least("least loss", np.array(least), np.array(floors), steps=steps, names=names)
        )
    return judged


def _least_loss(outside: np.ndarray, q: int, d: int) -> float:
    """Over all alpha, and C from 0 to 100, of one subset; alpha is a least-squares problem."""
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
    assumes=(CONVERGES,),
    on=MEAN_FIELD,
    sharpened="it follows that of the loss (4), with the expectation inside",
)
def mean_field(followed: Cases[Followed], sharpened: bool) -> Sequence[Judgement]:
    """Means over the second half, so that the fluctuations of a step do not count."""
    found = []
    for name, within in (("C", 0.01), ("alpha", 0.02)):
        apart = []
        for one in followed:
            time = clock(one.run)
            half = time >= time[-1] / 2
            curve = getattr(one.inside if sharpened else one.outside, name)
            apart.append(abs(float(np.mean(one.run[name][half] / curve[half])) - 1))
        found.append(less(f"{name}, relative distance", {"second half": apart}, within))
    return found


@claim(
    "own/jensen",
    "beside Definition 2.5 and Section 4",
    "The loss averaged over encodings from outside, which the experiments descend, exceeds the "
    "loss (4) of the theorems by (d/2) alpha² times the mean trace of the covariance of S_y.",
    assumes=(),
    on=JENSEN,
    sharpened="by that and a millionth of it more",
)
def jensen(points: Cases[JensenPoint], sharpened: bool) -> Sequence[Judgement]:
    """An identity of second moments, hence an inequality."""
    inside, outside, between = (
        np.array([[getattr(point, name)] for point in points])
        for name in ("inside", "outside", "between")
    )
    factor = 1 + 1e-6 if sharpened else 1.0
    steps, names = np.zeros(1), points.names
    # Each loss is a mean of 432 numbers of order 1.
    rounding = 1e-13
    return [
        at_least("outside", outside, inside, steps=steps, names=names, tolerance=rounding),
        equal(
            "difference",
            outside - inside,
            factor * between,
            steps=steps,
            names=names,
            tolerance=rounding,
        ),
    ]

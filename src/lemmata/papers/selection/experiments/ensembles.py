"""Experiments on encodings alone.

What rejection accepts, which subsets an encoding outside rivals, and the two places of the
expectation over encodings.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import softmax

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from ..setting import (
    Family,
    Isometry,
    Plan,
    Weights,
    inner_products,
    measure_isometry,
    near_orthogonal,
    near_orthogonal_family,
    orthogonality_floor,
    population,
)
from .networks import SECTION_4 as PAPER_SIZE
from .plans import AbstractOfPlan, AbstractPlanned, Drawn, Plans, Size, Trial, looked_at
from .runs import PAPER

SUBSETS = 2_000
"""From which the climb to a large delta starts."""


@dataclass(frozen=True)
class Accepted(AbstractOfPlan):
    """Encodings that rejection accepted, measured as Definition A.1 asks."""

    seed: int
    measured: Isometry


def _accepted(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Accepted]:
    """The delta of encodings that rejection accepts, from below."""
    cases, seed = [], experiment.seed
    seen, unseen = looked_at(plans, experiment.fits)
    for plan in seen:
        assert plan.d_e is not None
        E = near_orthogonal(plan.d_e, plan.task.T, plan.threshold, seed)
        measured = measure_isometry(E, plan.task.q, subsets=SUBSETS, seed=seed)
        name = f"T = {plan.task.T}, d_e = {plan.d_e}, threshold {plan.threshold:g}"
        loose = Problem("large_threshold", name, f"the threshold {plan.threshold:g} is above 0.3")
        problems = (loose,) if plan.threshold > PAPER_SIZE.threshold else ()
        cases.append(Accepted(name, plan, seed, measured, problems=problems))
    return Evidence(tuple(cases), skipped=unseen)


ACCEPTED = Experiment(
    Plans(tuple(PAPER_SIZE._replace(threshold=threshold) for threshold in (0.2, 0.3))),
    _accepted,
    fits=lambda plan: plan.kind == "random",
)
"""Below a threshold of 0.2 rejection would need thousands of draws."""


@dataclass(frozen=True)
class Floor(AbstractPlanned):
    """The least delta that encodings of unit length can have, by the mean squared inner product."""

    plan: Plan
    problems: Sequence[Problem] = ()

    @property
    def least(self) -> float:
        assert self.plan.d_e is not None
        return orthogonality_floor(self.plan.d_e, self.task.T, self.task.q)


def _floors(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Floor]:
    """A bound on delta for any encodings of unit length, from these numbers alone."""
    return Evidence(tuple(Floor(plan) for plan in plans))


LONGER = Experiment(
    Plans(tuple(PAPER_SIZE._replace(T=T) for T in PAPER.lengths)), _floors, own=True
)
"""The lengths at which the paper tests, in the dimension in which it trains."""


@dataclass(frozen=True)
class ThirdVectors(AbstractPlanned):
    """For each second sign vector that fits the first, how many third ones fit both."""

    plan: Plan
    counts: Int[np.ndarray, "seconds"]
    problems: Sequence[Problem] = ()


def _third_vectors(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[ThirdVectors]:
    """All sign vectors, gone through three at a time."""
    return Evidence(tuple(ThirdVectors(plan, _fitting(plan)) for plan in plans))


def _fitting(plan: Plan) -> Int[np.ndarray, "seconds"]:
    assert plan.d_e is not None
    vectors = np.array(list(product((1, -1), repeat=plan.d_e)))
    fits = np.abs(vectors @ vectors.T) <= plan.threshold * plan.d_e + 0.5
    return np.array([(fits[0] & fits[j]).sum() for j in np.flatnonzero(fits[0])])


THREE_SIGNS = Experiment(Plans((Size(3, 1, 1, 6, threshold=1 / 3),)), _third_vectors, own=True)

RIVAL_MEMBERS, RIVAL_SUBSETS = 20, 500


@dataclass(frozen=True)
class Rivals(AbstractPlanned):
    """How often some encoding outside a subset has <e_i, e_y> >= 1.

    Attributes:
        plan: the task and the threshold.
        looked: pairs of an encoding and a subset that were looked at.
        found: of which have a rival.
        first: one of them.
        inner: its <e_i, e_y> for the positions outside.
    """

    plan: Plan
    looked: int
    found: int
    first: dict[str, Any] | None
    inner: Float[np.ndarray, "others"] | None
    problems: Sequence[Problem] = ()

    @property
    def name(self) -> str:
        """The size of the subsets."""
        return f"q = {self.q}"

    @property
    def q(self) -> int:
        """The size of the subsets."""
        return self.task.q

    @property
    def d(self) -> int:
        """The dimension of a token."""
        return self.task.d

    @property
    def share(self) -> float:
        """The share of subsets with a rival."""
        return self.found / self.looked

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(np.sqrt(self.share * (1 - self.share) / self.looked))

    @property
    def floor(self) -> float:
        """What the loss is at least, for every alpha and every C >= 0.

        With a rival, attention outside is at least that on a chosen position; then the error is at
        least d/2 times the least of q (1/q - x)^2 + x^2, which is 1 / (q (q + 1)).
        """
        return self.share * self.d / (2 * self.q * (self.q + 1))

    @property
    def limit(self) -> float:
        """Where the loss goes as C grows and alpha goes to 1: all attention is on the rival."""
        return self.share * 0.5 * self.d * (1 + 1 / self.q)


def _rivals(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Rivals]:
    """How often an encoding outside a random subset looks as chosen as those inside."""
    first, seed = plans[0], experiment.seed
    assert first.d_e is not None
    E = near_orthogonal_family(RIVAL_MEMBERS, first.d_e, first.task.T, first.threshold, seed)
    return Evidence(tuple(_count_rivals(plan, E, seed) for plan in plans))


def _count_rivals(plan: Plan, E: Float[np.ndarray, "members d_e T"], seed: int) -> Rivals:
    draw = np.random.default_rng(seed)
    count, first, inner = 0, None, None
    for member, encodings in enumerate(E):
        y = plan.task.draw_subsets(RIVAL_SUBSETS, draw)
        g = inner_products(encodings, y)
        np.put_along_axis(g, y, -np.inf, axis=1)
        rivals = np.flatnonzero(g.max(axis=1) >= 1)
        count += len(rivals)
        if first is None and len(rivals):
            row = int(rivals[0])
            inner = g[row][np.isfinite(g[row])]
            first = {
                "encodings": f"near_orthogonal_family({RIVAL_MEMBERS}, {plan.d_e}, "
                f"{plan.task.T}, {plan.threshold:g}, {seed})[{member}]",
                "y": y[row].tolist(),
                "i": int(g[row].argmax()),
                "<e_i, e_y>": float(g[row].max()),
            }
    return Rivals(plan, len(E) * RIVAL_SUBSETS, count, first, inner)


RIVALS = Experiment(
    Plans(tuple(PAPER_SIZE._replace(q=q) for q in (PAPER.q, *PAPER.subset_sizes))),
    _rivals,
    own=True,
)


@dataclass(frozen=True)
class JensenPoint(AbstractOfPlan):
    """A loss with the expectation over encodings inside and outside, at one alpha and C.

    ``between`` is (d/2) alpha^2 times the mean over y of the trace of the covariance of S_y.
    """

    inside: float
    outside: float
    between: float


def _jensen(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[JensenPoint]:
    """The exact losses over random encodings and all subsets, at four pairs of alpha and C."""
    seen, unseen = looked_at(plans, experiment.fits)
    points = [point for plan in seen for point in _points(plan, experiment.seed)]
    return Evidence(tuple(points), skipped=unseen)


FEW_SUBSETS = 200


def _points(plan: Plan, seed: int) -> Iterator[JensenPoint]:
    task, d_e = plan.task, plan.d_e
    assert d_e is not None
    E = near_orthogonal_family(12, d_e, task.T, plan.threshold, seed)
    y = task.all_subsets()
    family = Family.of(E, y)
    g = np.stack([inner_products(member, y) for member in E])
    for alpha, C in ((0.3, 0.5), (1.0, 2.0), (1.6, 4.0), (1.2, 8.0)):
        on_positions = np.concatenate([np.zeros(task.d), np.ones(d_e)])
        weights = Weights(alpha * np.eye(task.d, task.d + d_e), C * np.diag(on_positions))
        inside, outside = (
            population(family, weights, np.zeros(task.d), average).loss
            for average in ("inside", "outside")
        )
        S = softmax(C * g, axis=2)
        between = 0.5 * task.d * alpha**2 * float(S.var(axis=0).sum(axis=1).mean())
        yield JensenPoint(f"alpha = {alpha:g}, C = {C:g}", plan, inside, outside, between)


JENSEN = Experiment(
    Plans((Size(9, 2, 3, 16, threshold=0.5),)),
    _jensen,
    fits=lambda plan: plan.kind == "random" and plan.task.subset_count <= FEW_SUBSETS,
)

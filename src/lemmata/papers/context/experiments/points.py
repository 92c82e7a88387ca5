"""Random weights, two sets of them a case, and all that statements say about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Float

from lemmata.claims import AbstractInstances, Bench, Experiment, Scale, Several
from lemmata.settings import Evidence

from ..counterexamples import near_the_bounds
from ..setting import (
    Plan,
    Task,
    Weights,
    attention_of,
    constants_of,
    evaluate,
    from_heads,
    pad_systems,
    pad_weights,
)
from ..theory import Constants
from .plans import GAUSSIAN_PLANS, PLANS, OfPlan


class Kind(NamedTuple):
    """How the two sets of weights of a point are drawn.

    Attributes:
        distance: how far apart the two matrices Q_h are, in Frobenius norm.
        size: of the entries of w.
        gamma: the ratio of step sizes.
        special: with ``turn`` and ``flip`` Q is zero and the entries of w are equal, and one of the
            two moves: Q, or w to -w. With ``one-hot`` attention is close to one token.
    """

    distance: float
    size: float
    gamma: float
    special: Literal["turn", "flip", "one-hot"] | None = None


KINDS = (
    Kind(1e-3, 1.0, 1.0),
    Kind(0.1, 0.1, 20.0),
    Kind(0.5, 30.0, 0.1),
    Kind(1e-3, 2.0, 1.0, "turn"),
    Kind(1e-3, 30.0, 1.0, "turn"),
    Kind(1e-9, 1e-4, 1.0, "flip"),
    Kind(1e-9, 0.5, 1e4, "flip"),
    Kind(1e-3, 0.5, 1.0, "one-hot"),
)
"""Of the points of a plan."""

SATURATED = 8.0
"""The size of Q_h where attention is close to one token."""


@dataclass(frozen=True, eq=False)
class Parameters:
    """Weights of one transformer, and the loss there.

    Attributes:
        Q, w: the weights, one matrix Q_h a head.
        attention: s^h_k.
        combined: A-hat.
        gap: L - L*.
        query_slope, value_slope: the gradient of the loss.
    """

    task: Task
    Q: Float[np.ndarray, "H d d"]
    w: Float[np.ndarray, "H K"]
    attention: Float[np.ndarray, "N H K"]
    combined: Float[np.ndarray, "N K"]
    gap: float
    query_slope: Float[np.ndarray, "H d d"]
    value_slope: Float[np.ndarray, "H K"]

    @cached_property
    def delta(self) -> Float[np.ndarray, "N K"]:
        """A-hat - A (33)."""
        return self.combined - self.task.target

    @cached_property
    def B(self) -> Float[np.ndarray, "N H K"]:
        """B_k for all k (13)."""
        return np.einsum("ij,jhk->ihk", self.task.root, self.attention)

    @cached_property
    def logit_size(self) -> float:
        """The largest logit, or 1: what a rounding of logits does to attention, in roundings."""
        logits = np.einsum("an,hab,bk->nhk", self.task.prompt, self.Q, self.task.tokens)
        return max(1.0, float(np.abs(logits).max()))

    @property
    def weighted(self) -> Float[np.ndarray, "N K"]:
        """Z-bar delta_k for all k."""
        return self.task.root @ self.delta


@dataclass(frozen=True, eq=False)
class Point(OfPlan):
    """Two sets of weights for one plan, and a ratio gamma of step sizes."""

    plan: Plan
    number: int
    here: Parameters
    there: Parameters
    gamma: float

    @property
    def name(self) -> str:
        """The plan's name, and which of its points this is."""
        return f"{self.plan.name}, point {self.number}"

    @property
    def H(self) -> int:
        """The number of heads."""
        return self.plan.heads

    @cached_property
    def alpha(self) -> float:
        """The largest |alpha_{h,k}| of both."""
        return float(max(np.abs(self.here.w).max(), np.abs(self.there.w).max())) / self.gamma

    @cached_property
    def constants(self) -> Constants:
        """What bounds on a ball of radius alpha need; zeta_0 does not enter them."""
        return constants_of(self.task, self.plan.start, zeta=float("nan"))

    @cached_property
    def target_norm(self) -> float:
        """The spectral norm of A."""
        return float(np.linalg.norm(self.task.target, 2))

    @cached_property
    def moved_Q(self) -> Float[np.ndarray, "H"]:
        """||Q_h - Q'_h||_F."""
        return np.linalg.norm(self.here.Q - self.there.Q, axis=(1, 2))

    @cached_property
    def moved_alpha(self) -> Float[np.ndarray, "H K"]:
        """alpha - alpha'."""
        return (self.here.w - self.there.w) / self.gamma

    @property
    def distance(self) -> float:
        """||xi - xi'||."""
        return float(np.sqrt(np.sum(self.moved_Q**2) + np.sum(self.moved_alpha**2)))

    @property
    def change_Q(self) -> Float[np.ndarray, "H d d"]:
        """By how much the gradients in Q differ."""
        return self.here.query_slope - self.there.query_slope

    @property
    def change_alpha(self) -> Float[np.ndarray, "H K"]:
        """By how much the gradients in alpha differ."""
        return self.gamma * (self.here.value_slope - self.there.value_slope)


def draw_points(
    experiment: Experiment[Evidence[Point]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Point]:
    """Loss and gradients at pairs of weights that come with a plan, close to each other and apart.

    They depend on the plan alone, so that a plan that breaks a statement does so again.
    """
    owners = [plan for plan in plans for _ in KINDS]
    pairs = [weights for plan in plans for weights in weights_of(plan)]
    return pair_points(owners, pairs, [kind.gamma for kind in KINDS])


def weights_of(plan: Plan) -> list[tuple[Weights, Weights]]:
    """The pairs of weights at which statements are looked at, one of each kind."""
    rng, (H, K, d) = np.random.default_rng([plan.seed, 5]), (plan.heads, plan.task.K, plan.task.d)
    pairs = []
    for distance, size, _, special in KINDS:
        Q, w = rng.standard_normal((H, d, d)) / plan.task.norms.max(), rng.standard_normal((H, K))
        step, other = _directions(plan, rng), size * w + distance * rng.standard_normal((H, K))
        if special is not None:
            Q, w = (SATURATED if special == "one-hot" else 0.0) * step, np.ones((H, K))
            other = -size * w if special == "flip" else size * w
        pairs.append((from_heads(Q, size * w), from_heads(Q + distance * step, other)))
    return pairs


def pair_points(
    owners: Sequence[Plan], pairs: Sequence[tuple[Weights, Weights]], ratios: Sequence[float]
) -> Evidence[Point]:
    """A point for each pair of weights, the ratios gamma in turn."""
    here, there = (evaluate_points(owners, [pair[i] for pair in pairs]) for i in (0, 1))
    return Evidence(
        tuple(
            Point(plan, i % len(ratios), first, second, ratios[i % len(ratios)])
            for i, (plan, first, second) in enumerate(zip(owners, here, there, strict=True))
        )
    )


def _directions(plan: Plan, rng: np.random.Generator) -> Float[np.ndarray, "H d d"]:
    """Unit matrices: for the first head one that moves a logit difference of most tokens, then
    random ones."""
    task = plan.task
    steps = rng.standard_normal((plan.heads, task.d, task.d))
    most = np.linalg.svd(task.tokens)[0][:, 0]
    apart = np.outer(task.tokens[:, 0] - task.tokens[:, min(1, task.N - 1)], most)
    if apart.any():
        steps[0] = apart
    return steps / np.linalg.norm(steps, axis=(1, 2), keepdims=True)


def evaluate_points(owners: Sequence[Plan], weights: Sequence[Weights]) -> list[Parameters]:
    """Loss and gradient for all weights in one compiled call."""
    system = pad_systems([plan.task for plan in owners], [plan.heads for plan in owners])
    found = eqx.filter_jit(eqx.filter_vmap(evaluate))(system, pad_weights(weights, system))
    gaps, query_slopes, value_slopes = (np.asarray(leaf) for leaf in (found.gap, *found.gradient))
    parameters = []
    for i, (plan, own) in enumerate(zip(owners, weights, strict=True)):
        d, H, K = plan.task.d, plan.heads, plan.task.K
        Q, w = np.asarray(own.Q), np.asarray(own.w)
        attention = attention_of(plan.task, Q)
        parameters.append(
            Parameters(
                task=plan.task,
                Q=Q.transpose(1, 0, 2),
                w=w,
                attention=attention,
                combined=np.einsum("nhk,hk->nk", attention, w),
                gap=float(gaps[i]),
                query_slope=query_slopes[i, :d, :H, :d].transpose(1, 0, 2),
                value_slope=value_slopes[i, :H, :K],
            )
        )
    return parameters


@dataclass(frozen=True)
class NearTheBounds(AbstractInstances):
    """Hand-made plans that come close to the bounds of Appendix B."""

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        return near_the_bounds()

    @property
    def says(self) -> str:
        return "three plans close to bounds"


POINTS = Experiment(Several((PLANS, NearTheBounds())), draw_points)
GAUSSIAN_POINTS = Experiment(GAUSSIAN_PLANS, draw_points)

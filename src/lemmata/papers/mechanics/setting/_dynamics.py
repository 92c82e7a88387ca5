"""Training dynamics of attention alone, under a fixed head.

What these measure is where the weights go: their direction against a target, and their part in
the space of ties against the finite limit that it should have.
"""

import abc
from typing import ClassVar, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.scipy.special import logsumexp
from jaxtyping import Array, Bool, Float, Int

from lemmata.attention import (
    AbstractLoss,
    CellCoordinates,
    Inputs,
    LogLoss,
    LogScaled,
    cosine_gap,
    split_mass,
)
from lemmata.training import (
    AbstractDynamics,
    Measurements,
    Rule,
    TrainingState,
    common_measurements,
    descend,
    fold,
    stream,
    words,
)

StateT = TypeVar("StateT")


class TiedSpace(eqx.Module):
    """The span of the differences between tied tokens, S_cyc.

    Attributes:
        basis: orthonormal matrices that span it, in the space of general embeddings.
        group: for orthonormal embeddings, the component of each cell; untied cells are alone.
        members: how many cells a group has.
    """

    basis: Float[Array, "*batch rank dimension dimension"] | None = None
    group: Int[Array, "*batch cells"] | None = None
    members: Float[Array, "*batch cells"] | None = None

    def project(self, weights: Float[Array, "..."]) -> Float[Array, "..."]:
        """The part of the weights inside the space."""
        if self.basis is not None:
            return jnp.einsum("rij,r->ij", self.basis, jnp.einsum("rij,ij->r", self.basis, weights))
        assert self.group is not None
        assert self.members is not None
        sums = jnp.zeros_like(weights).at[self.group].add(weights)
        return weights - (sums / self.members)[self.group]


def measure_ties(
    ties: TiedSpace,
    correction: Float[Array, "..."],
    weights: Float[Array, "..."],
    following: Float[Array, "..."],
) -> Measurements:
    """How far the tied part is from its limit, now and midway to the next iterate.

    Normalized descent with a fixed step ends on a period-two orbit around the limit: the iterates
    stay half a step away, and the midpoint converges.
    """
    inside = ties.project(weights)
    midway = (inside + ties.project(following)) / 2
    return {
        "cyclic_distance": jnp.sqrt(jnp.sum((inside - correction) ** 2)),
        "midpoint_distance": jnp.sqrt(jnp.sum((midway - correction) ** 2)),
        "free_norm": jnp.sqrt(jnp.sum((weights - inside) ** 2)),
    }


class TiedDynamics(AbstractDynamics[StateT]):
    """What all algorithms share: a loss of the attention logits, and what to compare with.

    Attributes:
        target: the direction to compare with.
        correction: the finite limit in the space of ties.
        rate: the step size.
    """

    inputs: Inputs
    loss: AbstractLoss
    target: Float[Array, "..."]
    correction: Float[Array, "..."]
    ties: TiedSpace
    rate: Float[Array, "*batch"]
    coordinates: CellCoordinates

    def evaluate(self, weights: Float[Array, "..."]) -> TrainingState:
        """Loss and gradient at the weights."""
        found = self.loss(self.inputs, self.coordinates.logits(weights))
        return TrainingState(weights, found.log_loss, self.coordinates.pull_back(found.gradient))

    def compare(self, state: TrainingState, following: Float[Array, "..."]) -> Measurements:
        """The weights and those of the next step against both limits."""
        return (
            common_measurements(state, self.target)
            | measure_ties(self.ties, self.correction, state.weights, following)
            | {"log_missed": self.log_missed(self.coordinates.logits(state.weights))}
        )

    def log_missed(self, logits: Float[Array, "cells"]) -> Float[Array, ""]:
        """The logarithm of the mean attention that is not on the label."""
        label = self.inputs.tokens == self.inputs.label[:, None]
        right, wrong = split_mass(self.inputs, logits, label)
        return logsumexp(self.inputs.log_frequency + wrong - jnp.logaddexp(right, wrong))


class AbstractDescent(TiedDynamics[TrainingState]):
    """Algorithms that remember nothing but the weights."""

    compiles_briefly: ClassVar[bool] = True

    start: Float[Array, "..."]

    def init(self) -> TrainingState:
        return self.evaluate(self.start)

    def step(self, state: TrainingState) -> TrainingState:
        return self.evaluate(self.following(state))

    def measure(self, state: TrainingState) -> Measurements:
        return self.compare(state, self.following(state))

    @abc.abstractmethod
    def following(self, state: TrainingState) -> Float[Array, "..."]:
        """The weights after the next step."""


class SelectionTraining(AbstractDescent):
    """The key-query weights under any loss, by gradient descent.

    Attributes:
        epsilon: added to the norm of the gradient; 0 for the algorithm itself.
    """

    rule: Rule = eqx.field(static=True, default="ngd")
    epsilon: float = eqx.field(static=True, default=0.0)

    def following(self, state: TrainingState) -> Float[Array, "..."]:
        return descend(self.rule, self.rate, state.weights, state.gradient, self.epsilon)


class BlockTraining(AbstractDescent):
    """Plain descent inside the space of ties, normalized descent outside.

    Either part goes at its own pace, so the pair reaches the limit that gradient descent would
    take e^t steps for. The normalized part only sees the masses of tokens that are not tied with
    the label, which is the same gradient but does not drown in the other.
    """

    untied: Bool[Array, "*batch inputs slots"]
    tied_rate: Float[Array, "*batch"]

    def following(self, state: TrainingState) -> Float[Array, "..."]:
        assert isinstance(self.loss, LogLoss)
        logits = self.coordinates.logits(state.weights)
        free = self.loss.gradient(self.inputs, logits, self.untied)
        free = self.coordinates.pull_back(free)
        free = LogScaled.from_parts(free.unit - self.ties.project(free.unit), free.log_norm)
        tied = self.ties.project(jnp.exp(state.gradient.log_norm) * state.gradient.unit)
        return state.weights - self.rate * free.unit - self.tied_rate * tied


class OptimizerState(eqx.Module):
    """Weights with loss and gradient there, and what the optimizer remembers."""

    here: TrainingState
    memory: optax.OptState

    @property
    def weights(self) -> Float[Array, "..."]:
        """W, also of a batch of states."""
        return jnp.asarray(self.here.weights)


class OptaxTraining(TiedDynamics[OptimizerState]):
    """The key-query weights under any loss, by an optimizer of optax, in double precision.

    The optimizer sees the gradient itself, which rounds to 0 where the exact rules of this room
    still see its direction. It has its own step size, which ``stretch`` multiplies; ``rate`` is
    only kept beside the run.
    """

    start: Float[Array, "..."]
    stretch: Float[Array, "*batch"]
    optimizer: optax.GradientTransformation = eqx.field(static=True)

    def init(self) -> OptimizerState:
        # Optimizers mix their own constants into the weights' type.
        with jax.numpy_dtype_promotion("standard"):
            return OptimizerState(self.evaluate(self.start), self.optimizer.init(self.start))

    def step(self, state: OptimizerState) -> OptimizerState:
        following, memory = self._next(state)
        return OptimizerState(self.evaluate(following), memory)

    def measure(self, state: OptimizerState) -> Measurements:
        return self.compare(state.here, self._next(state)[0])

    def _next(self, state: OptimizerState) -> tuple[Float[Array, "..."], optax.OptState]:
        here = state.here
        gradient = jnp.exp(here.gradient.log_norm) * here.gradient.unit
        with jax.numpy_dtype_promotion("standard"):
            change, memory = self.optimizer.update(gradient, state.memory, here.weights)
            following = optax.apply_updates(here.weights, self.stretch * jnp.asarray(change))
        return jnp.asarray(following), memory


class SampledState(eqx.Module):
    """Weights, and how many steps led to them."""

    weights: Float[Array, "..."]
    number: Int[Array, "*batch"]


class SampledTraining(TiedDynamics[SampledState]):
    """Stochastic gradient descent: the gradient of a few samples, drawn as often as they occur.

    What is measured is the whole risk.

    Attributes:
        batch: how many samples are drawn at each step, with replacement.
        seed: where they are drawn from; every instance draws the same random numbers.
    """

    start: Float[Array, "..."]
    batch: int = eqx.field(static=True)
    seed: int = eqx.field(static=True)

    def init(self) -> SampledState:
        return SampledState(self.start, jnp.zeros((), dtype=jnp.int64))

    def step(self, state: SampledState) -> SampledState:
        source = fold(stream(self.seed), state.number.astype(jnp.uint32))
        uniform = (words(source, self.batch).astype(jnp.float64) + 0.5) * 2.0**-32
        reached = jnp.cumsum(jnp.exp(self.inputs.log_frequency))
        drawn = jnp.searchsorted(reached / reached[-1], uniform)
        counts = jnp.zeros_like(reached).at[drawn].add(1.0)
        inputs = eqx.tree_at(lambda x: x.log_frequency, self.inputs, jnp.log(counts / self.batch))
        slope = self.loss(inputs, self.coordinates.logits(state.weights)).gradient
        back = self.coordinates.pull_back(slope)
        following = descend("gd", self.rate, state.weights, back)
        return SampledState(following, state.number + 1)

    def measure(self, state: SampledState) -> Measurements:
        return self.compare(self.evaluate(state.weights), self.step(state).weights)


class FactoredState(eqx.Module):
    """The factors of W = K Q^T, and loss and gradient there."""

    keys: Float[Array, "*batch dimension rank"]
    queries: Float[Array, "*batch dimension rank"]
    log_loss: Float[Array, "*batch"]
    key_direction: Float[Array, "*batch dimension rank"]
    query_direction: Float[Array, "*batch dimension rank"]
    log_gradient_norm: Float[Array, "*batch"]

    @property
    def weights(self) -> Float[Array, "*batch dimension dimension"]:
        """W, also of a batch of states."""
        return jnp.asarray(self.keys) @ jnp.asarray(self.queries).mT


class FactoredTraining(TiedDynamics[FactoredState]):
    """Normalized descent on the factors K and Q of W = K Q^T, as transformers are trained.

    Attributes:
        decay: the loss is L(K Q^T) + decay (||K||^2 + ||Q||^2) / 2.
        winner, loser: the cells of the strict pairs, whose least margin is measured.
        nuclear: a W with margins of 1 and the least nuclear norm.
    """

    start_keys: Float[Array, "*batch dimension rank"]
    start_queries: Float[Array, "*batch dimension rank"]
    winner: Int[Array, "*batch pairs"]
    loser: Int[Array, "*batch pairs"]
    nuclear: Float[Array, "*batch dimension dimension"]
    decay: float = eqx.field(static=True, default=0.0)

    def init(self) -> FactoredState:
        return self._at(self.start_keys, self.start_queries)

    def step(self, state: FactoredState) -> FactoredState:
        return self._at(
            state.keys - self.rate * state.key_direction,
            state.queries - self.rate * state.query_direction,
        )

    def measure(self, state: FactoredState) -> Measurements:
        W = state.weights
        after = self.step(state).weights
        logits = self.coordinates.logits(W)
        margin = jnp.min(logits[self.winner] - logits[self.loser], initial=jnp.inf)
        nuclear, least = (jnp.sum(jnp.linalg.svd(M, compute_uv=False)) for M in (W, self.nuclear))
        return {
            "log_loss": state.log_loss,
            "log_gradient_norm": state.log_gradient_norm,
            "norm": jnp.sqrt(jnp.sum(W**2)),
            "nuclear_norm": nuclear,
            "nuclear_shortfall": 1 - margin * least / nuclear,
            "one_minus_correlation": cosine_gap(W, self.target),
            "one_minus_nuclear_correlation": cosine_gap(W, self.nuclear),
        } | measure_ties(self.ties, self.correction, W, after)

    def _at(
        self, keys: Float[Array, "dimension rank"], queries: Float[Array, "dimension rank"]
    ) -> FactoredState:
        here = self.evaluate(keys @ queries.T)
        slope = here.gradient
        pull = jnp.stack([slope.unit @ queries, slope.unit.T @ keys])
        if self.decay:
            pull = jnp.exp(slope.log_norm) * pull + self.decay * jnp.stack([keys, queries])
        both = LogScaled.from_parts(pull, jnp.zeros(()) if self.decay else slope.log_norm)
        return FactoredState(
            keys, queries, here.log_loss, both.unit[0], both.unit[1], both.log_norm
        )

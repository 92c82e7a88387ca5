"""Gradient descent from zero in two numbers: V = alpha [I 0] and W = C times a fixed direction.

Lemma D.5 (one-hot encodings) and Lemma E.7 (random ones) say that descent on the population loss
never leaves these directions. What remains is descent on a loss L(alpha, C), where alpha moves by
1/d and C by 1/(T-1) or 1/d_e of the partial derivative. Attention is a function of C alone, and
enters by three moments of u = 1 - q s_+, the attention that misses the subset. Whatever goes to
zero is computed as such, not as a difference.
"""

import abc
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int

from lemmata.training import AbstractGuardable, compiled_briefly, compiled_once

from ._encodings import gaps_outside, inner_products
from ._population import Average
from ._task import Task

Scalar = Float[Array, "*batch"]


class Moments(NamedTuple):
    """Attention at C, and how it changes with C.

    Attributes:
        missed: U = E[u].
        variance: E[(u - U)^2] over encodings and subsets; 0 where the expectation stands inside.
        squares: E of the sum of squared attention outside the subset.
        d_missed, d_variance, d_squares: their derivatives in C.
        found: 1 - U, which is small at first if T is large.
    """

    missed: Scalar
    variance: Scalar
    squares: Scalar
    d_missed: Scalar
    d_variance: Scalar
    d_squares: Scalar
    found: Scalar


class AbstractAttention(eqx.Module):
    """Attention as a function of C."""

    @abc.abstractmethod
    def moments(self, C: Scalar) -> Moments:
        """The moments at C."""


class OneHotAttention(AbstractAttention):
    """One-hot encodings: s_+ = 1 / (q + (T-q) e^-C) for every subset (Lemma 3.2)."""

    T: Scalar
    q: Scalar

    def moments(self, C: Scalar) -> Moments:
        less = jnp.exp(-jnp.abs(C))
        others = (self.T - self.q) * jnp.where(C < 0, 1.0, less)
        chosen = self.q * jnp.where(C < 0, less, 1.0)
        return two_level(others / (chosen + others), chosen / (chosen + others), self.T - self.q)


class FamilyAttention(AbstractAttention):
    """Random encodings, as a finite family with equal chances.

    ``gaps`` has 1 - <e_i, e_y> for the positions outside y, one row for each pair of an encoding
    and a subset.
    """

    gaps: Float[Array, "*batch pairs others"]
    q: Scalar
    average: Average = eqx.field(static=True, default="outside")

    def moments(self, C: Scalar) -> Moments:
        weights = jnp.exp(-C * self.gaps)
        total = self.q + jnp.sum(weights, axis=1)
        S = weights / total[:, None]
        u = jnp.sum(S, axis=1)
        lag = jnp.sum(S * self.gaps, axis=1)
        slope = -(self.q / total) * lag
        missed, d_missed, found = jnp.mean(u), jnp.mean(slope), jnp.mean(self.q / total)
        if self.average == "inside":
            return two_level(missed, found, jnp.asarray(1.0 * self.gaps.shape[1]), d_missed)
        return Moments(
            missed,
            jnp.mean((u - missed) ** 2),
            jnp.mean(jnp.sum(S**2, axis=1)),
            d_missed,
            2 * jnp.mean((u - missed) * (slope - d_missed)),
            2 * jnp.mean(jnp.sum(S**2 * (lag[:, None] - self.gaps), axis=1)),
            found,
        )

    @classmethod
    def of(
        cls,
        E: Float[np.ndarray, "members d_e T"],
        y: Int[np.ndarray, "subsets q"],
        average: Average = "outside",
    ) -> "FamilyAttention":
        """Every subset under every encoding."""
        rows = [inner_products(member, y) for member in E]
        return cls.from_inner(np.concatenate(rows), np.tile(y, (len(E), 1)), average)

    @classmethod
    def from_inner(
        cls,
        g: Float[np.ndarray, "pairs T"],
        y: Int[np.ndarray, "pairs q"],
        average: Average = "outside",
    ) -> "FamilyAttention":
        """From the inner products of pairs of an encoding and a subset."""
        return cls(*jax.device_put((gaps_outside(g, y), 1.0 * y.shape[1])), average=average)


class TabulatedAttention(AbstractAttention):
    """Moments on a grid of C, with Hermite cubics in between.

    A large family costs as much as a small one then. Beyond the grid the last values stay.
    """

    first: Scalar
    spacing: Scalar
    values: Float[Array, "*batch points 3"]
    slopes: Float[Array, "*batch points 3"]

    def moments(self, C: Scalar) -> Moments:
        last = self.values.shape[-2] - 2
        along = (C - self.first) / self.spacing
        whole = jnp.clip(jnp.floor(along), 0, last)
        at, s = whole.astype(jnp.int32), jnp.clip(along - whole, 0.0, 1.0)
        v0, v1 = self.values[at], self.values[at + 1]
        m0, m1 = self.slopes[at] * self.spacing, self.slopes[at + 1] * self.spacing
        curve = v1 - v0 - m0
        bend = m1 - m0 - 2 * curve
        value = v0 + s * (m0 + s * (curve + (s - 1) * bend))
        slope = (m0 + s * (2 * curve + (3 * s - 2) * bend)) / self.spacing
        return Moments(*value, *slope, found=1 - value[0])

    @classmethod
    def of(
        cls, exact: AbstractAttention, highest: float, points: int = 400
    ) -> "TabulatedAttention":
        """Tabulate from C = 0 to the highest."""
        grid = jnp.linspace(0.0, highest, points)
        found = _along(exact, grid)
        values, slopes = jnp.stack(found[:3], axis=1), jnp.stack(found[3:6], axis=1)
        return cls(grid[0], grid[1] - grid[0], values, slopes)


@compiled_briefly
def _along(exact: AbstractAttention, grid: Float[Array, "points"]) -> Moments:
    return lax.map(exact.moments, grid)


def two_level(
    missed: Scalar, found: Scalar, others: Scalar, slope: Scalar | None = None
) -> Moments:
    """The moments of attention that is the same on all positions outside the subset.

    ``slope`` is that of ``missed``; for one subset alone, whose logits differ by C, -u (1 - u).
    """
    slope = -missed * found if slope is None else slope
    zero = jnp.zeros_like(missed)
    squares, d_squares = missed**2 / others, 2 * missed * slope / others
    return Moments(missed, zero, squares, slope, zero, d_squares, found)


class Scalars(NamedTuple):
    """alpha and C."""

    alpha: Scalar
    C: Scalar


class TwoScalars(AbstractGuardable[Scalars]):
    """The recursion for alpha and C.

    Attributes:
        attention: its moments at C.
        d, q: the task.
        inertia: T - 1 for one-hot encodings, d_e for random ones.
        rate: the step size.
        start: where to start; zero if absent.
    """

    attention: AbstractAttention
    d: Scalar
    q: Scalar
    inertia: Scalar
    rate: Scalar
    start: Scalars | None = None

    @classmethod
    def of(
        cls,
        attention: AbstractAttention,
        task: Task,
        inertia: int | float,
        rate: int | float,
        start: Scalars | None = None,
    ) -> "TwoScalars":
        """One problem, from plain numbers."""
        d, q, mass, step = jax.device_put([float(x) for x in (task.d, task.q, inertia, rate)])
        return cls(attention, d, q, mass, step, start)

    @property
    def alone(self) -> "TwoScalars":
        """One problem as a batch of one."""
        return jax.device_put(jax.tree.map(lambda leaf: np.asarray(leaf)[None], self))

    def init(self) -> Scalars:
        if self.start is not None:
            return self.start
        return Scalars(jnp.zeros_like(self.rate), jnp.zeros_like(self.rate))

    def step(self, state: Scalars) -> Scalars:
        alpha, C = self.increments(state)
        return Scalars(state.alpha + self.rate * alpha, state.C + self.rate * C)

    def increments(self, state: Scalars) -> Scalars:
        """The right-hand sides of Eq. (6): the update of alpha and C per step size."""
        at, alpha = self.attention.moments(state.C), state.alpha
        short = 1 - alpha + alpha * at.missed
        up = (at.found * short - alpha * at.variance) / self.q - alpha * at.squares
        steeper = (2 * short * at.d_missed + alpha * at.d_variance) / self.q
        return Scalars(up, -0.5 * self.d * alpha * (steeper + alpha * at.d_squares) / self.inertia)

    def loss(self, state: Scalars) -> Scalar:
        """Lemmas D.2 and E.3, and the same with the expectation outside."""
        at, alpha = self.attention.moments(state.C), state.alpha
        short = 1 - alpha + alpha * at.missed
        inside = (short**2 + alpha**2 * at.variance) / self.q
        return 0.5 * self.d * (inside + alpha**2 * at.squares)

    @compiled_once
    def losses(self, path: Scalars) -> Float[Array, "records"]:
        """The loss at every alpha and C."""
        return lax.map(self.loss, path)

    def size(self, state: Scalars) -> Scalar:
        return jnp.where(jnp.isfinite(state.C), jnp.abs(state.alpha), jnp.inf)

    def measure(self, state: Scalars) -> dict[str, Float[Array, "..."]]:
        after = self.step(state)
        return {
            "alpha": state.alpha,
            "C": state.C,
            "loss": self.loss(state),
            "missed": self.attention.moments(state.C).missed,
            "next_alpha": after.alpha,
            "next_C": after.C,
            "next_missed": self.attention.moments(after.C).missed,
        }


class FirstTimes(NamedTuple):
    """When something first happened; -1 if it did not within the steps allowed."""

    loss: Int[np.ndarray, "problems"]
    alpha: Int[np.ndarray, "problems"]
    missed: Int[np.ndarray, "problems"]


def first_times(
    dynamics: TwoScalars,
    *,
    loss: Float[np.ndarray, "problems"],
    alpha: Float[np.ndarray, "problems"],
    missed: Float[np.ndarray, "problems"],
    most: int,
) -> FirstTimes:
    """The first steps with L <= loss, with alpha >= alpha, and with U <= missed, exactly."""
    found = _first_times(dynamics, *jax.device_put((loss, alpha, missed)), most=most)
    return FirstTimes(*(np.asarray(times) for times in found))


@compiled_briefly
def _first_times(
    dynamics: TwoScalars,
    loss: Float[Array, "problems"],
    alpha: Float[Array, "problems"],
    missed: Float[Array, "problems"],
    most: int,
) -> tuple[Int[Array, "problems"], ...]:
    def one(problem: TwoScalars, *wanted: Scalar) -> tuple[Int[Array, ""], ...]:
        def note(
            t: Int[Array, ""], state: Scalars, found: tuple[Int[Array, ""], ...]
        ) -> tuple[Int[Array, ""], ...]:
            met = (
                problem.loss(state) <= wanted[0],
                state.alpha >= wanted[1],
                problem.attention.moments(state.C).missed <= wanted[2],
            )
            return tuple(
                jnp.where((when < 0) & now, t, when) for when, now in zip(found, met, strict=True)
            )

        def going(carry: tuple[Int[Array, ""], Scalars, tuple[Int[Array, ""], ...]]) -> Array:
            t, _, found = carry
            return (t < most) & (jnp.minimum(jnp.minimum(*found[:2]), found[2]) < 0)

        def advance(
            carry: tuple[Int[Array, ""], Scalars, tuple[Int[Array, ""], ...]],
        ) -> tuple[Int[Array, ""], Scalars, tuple[Int[Array, ""], ...]]:
            t, state, found = carry
            state = problem.step(state)
            return t + 1, state, note(t + 1, state, found)

        zero, never = jnp.zeros((), dtype=jnp.int64), jnp.full((), -1, dtype=jnp.int64)
        state = problem.init()
        start = (zero, state, note(zero, state, (never, never, never)))
        return lax.while_loop(going, advance, start)[2]

    return eqx.filter_vmap(one)(dynamics, loss, alpha, missed)


@compiled_briefly
def trajectory(dynamics: TwoScalars, steps: int, every: int = 1) -> Scalars:
    """alpha and C of every problem at t = 0, every, 2 every, ..., steps."""

    def one(problem: TwoScalars) -> Scalars:
        def point(state: Scalars, _: None) -> tuple[Scalars, Scalars]:
            after = lax.fori_loop(0, every, lambda _, at: problem.step(at), state)
            return after, state

        last, path = lax.scan(point, problem.init(), length=steps // every)
        return jax.tree.map(lambda rows, end: jnp.concatenate([rows, end[None]]), path, last)

    return eqx.filter_vmap(one)(dynamics)

"""A plan: a task with the numbers that the theorems speak of."""

import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError, unknown_name
from lemmata.papers._plans import LONGEST_NAME
from lemmata.settings import Shown
from lemmata.tokens import Problem

from ..theory import NEEDED_DELTA
from ._encodings import walsh_encodings
from ._isometry import measure_isometry
from ._task import Task

MEASURED = 40
"""Up to this T restricted isometry is measured where no bound tells."""

Kind = Literal["one-hot", "random", "given"]
"""Where encodings come from: the identity, random signs by rejection, or the user."""

WALSH = "walsh"
"""What a plan file calls orthogonal sign vectors, instead of a row a position."""

Positions = Literal["stochastic", "fixed"]
"""Encodings that are drawn for every step, or once."""

Query = Literal["zero", "fixed", "random"]
"""x_query: zero, one Gaussian vector for ever, or a fresh one for every sample."""


MOST_HEADS = 100
"""Of a model: each is looked at by itself, and has columns of its own."""


def check_word(what: str, word: str | None, known: Any) -> None:
    """Refuse a word that is not one of those of a literal type."""
    if word is not None and word not in get_args(known):
        raise InputError(unknown_name(what, word, get_args(known)))


@dataclass(frozen=True)
class OnlineChoices:
    """How a plan is trained on samples, in the words of ``Training``.

    Attributes:
        encodings: ``stochastic`` or ``fixed``; None for what suits the plan.
        rate: the step size, if the plan states one.
        samples, later_rate, change, initial, x_query, tests, seed, factors, queries, heads: see
            ``Training``.
    """

    encodings: Positions | None = None
    rate: float | None = None
    later_rate: float | None = None
    change: int = 50_000
    samples: int = 256
    initial: float = 0.0
    x_query: Query = "zero"
    tests: tuple[tuple[int, int], ...] = ()
    seed: int = 0
    factors: int = 0
    queries: int = 1
    heads: int = 1

    def __post_init__(self) -> None:
        check_word("encodings", self.encodings, Positions)
        check_word("x_query", self.x_query, Query)

    def document(self) -> dict[str, Any]:
        """What differs from the usual, as a plan file says it; the step size is the plan's."""
        said = {
            choice.name: getattr(self, choice.name)
            for choice in fields(self)
            if choice.name != "rate" and getattr(self, choice.name) != choice.default
        }
        return said | ({"tests": [list(test) for test in self.tests]} if self.tests else {})


@dataclass(frozen=True, repr=False)
class Plan(Shown):
    """A task, how it is trained, and how small the loss should become.

    Attributes:
        name: how verdicts call it.
        task: T, q, d.
        rate: the step size eta.
        epsilon: the loss to reach.
        d_e: dimensions of a random encoding; None for one-hot encodings.
        threshold: the largest inner product of two encodings, for rejection sampling.
        encodings: encodings of the user's own, one column a position.
        training: what training on samples needs beyond this.
    """

    name: str
    task: Task
    rate: float
    epsilon: float
    d_e: int | None = None
    threshold: float = 1.0
    encodings: Float[np.ndarray, "d_e T"] | None = None
    training: OnlineChoices = field(default_factory=OnlineChoices)

    def __post_init__(self) -> None:
        for label, value in (("eta", self.rate), ("eps", self.epsilon)):
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"{self.name}: {label} must be a positive number; got {value!r}")
        if self.encodings is not None and self.encodings.shape != (self.d_e, self.task.T):
            rows, columns = self.encodings.shape
            raise InputError(
                f"{self.name}: the encodings are for {columns} positions in {rows} dimensions; "
                f"expected T = {self.task.T} and d_e = {self.d_e}"
            )

    def document(self) -> dict[str, Any]:
        """The plan as a plan file has it; encodings have one row a position, or a name.

        A step size that is the usual one is left out, unless the plan states it for samples too.
        """
        said: dict[str, Any] = {
            "name": self.name[:LONGEST_NAME],
            **{name: getattr(self.task, name) for name in ("T", "q", "d")},
            "eps": self.epsilon,
        }
        if self.training.rate is not None or self.rate != usual_rate(self.task, self.d_e):
            said["eta"] = self.rate
        if self.encodings is not None and self._has_walsh_encodings:
            said |= {"d_e": self.d_e, "encodings": WALSH}
        elif self.encodings is not None:
            said["encodings"] = self.encodings.T.tolist()
        elif self.d_e is not None:
            said |= {"d_e": self.d_e, "threshold": self.threshold}
        training = self.training.document()
        return said | ({"training": training} if training else {})

    @property
    def _has_walsh_encodings(self) -> bool:
        assert self.encodings is not None
        usual = walsh_encodings(*self.encodings.shape)
        return usual is not None and np.array_equal(self.encodings, usual)

    @property
    def summary(self) -> str:
        """Its sizes, in a line."""
        said = {"T": self.T, "q": self.q, "d": self.d, "d_e": self.d_e, "eta": self.rate}
        said["eps"] = self.epsilon
        return ", ".join(f"{name} = {x:g}" for name, x in said.items() if x is not None)

    @property
    def T(self) -> int:
        """How many positions."""
        return self.task.T

    @property
    def q(self) -> int:
        """How many of them are chosen."""
        return self.task.q

    @property
    def d(self) -> int:
        """The dimension of a token."""
        return self.task.d

    @property
    def kind(self) -> Kind:
        """Where its encodings come from."""
        if self.encodings is not None:
            return "given"
        return "one-hot" if self.d_e is None else "random"

    @property
    def inertia(self) -> int:
        """What slows C down: T - 1 for one-hot encodings, d_e for others (Lemmas D.5, E.7)."""
        return self.task.T - 1 if self.d_e is None else self.d_e

    @property
    def width(self) -> int:
        """d + d_e, the size of the matrix W."""
        return self.task.d + (self.task.T if self.d_e is None else self.d_e)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The hypotheses of Theorems 3.1 and 3.3 on q, epsilon and eta that it does not meet."""
        T, q = self.task.T, self.task.q
        found = []
        if not 2 <= q < T / 4:
            found.append(("q_out_of_range", f"q = {q} is not in [2, T/4) with T = {T}"))
        limit = largest_epsilon(self.task)
        if not self.epsilon < limit:
            found.append(("large_epsilon", f"epsilon = {self.epsilon:g} is not below {limit:g}"))
        limit = largest_rate(self.task, None)
        if self.rate > limit:
            found.append(("large_step", f"eta = {self.rate:g} is larger than {limit:g}"))
        limit = largest_rate(self.task, self.d_e)
        if self.d_e is not None and self.rate > limit:
            found.append(("large_stochastic_step", f"eta = {self.rate:g} is larger than {limit:g}"))
        if self._largest_delta >= NEEDED_DELTA:
            text = f"delta may be {self._largest_delta:.4g}, which is not below {NEEDED_DELTA:g}"
            found.append(("isometry_not_certain", text))
        return tuple(Problem(code, self.name, message) for code, message in found)

    @cached_property
    def _largest_delta(self) -> float:
        """A bound on the delta of Definition A.1, for any encodings that the plan allows.

        With inner products of at most mu, a set of q has an isometry within (q-1) mu of the
        lengths', and sets of q and 2q an orthogonality of at most sqrt(2) q mu. It is measured
        where this bound is too large and delta is not plainly so: it is mu at least.
        """
        q, E = self.task.q, self.encodings
        if self.d_e is None:
            return 0.0
        if E is None:
            return math.sqrt(2) * q * self.threshold
        gram = E.T @ E
        lengths = np.diag(gram)
        mu = float(np.abs(gram - np.diag(lengths)).max(initial=0.0))
        stretch = float(np.abs(lengths - 1).max())
        bound = max(stretch + (q - 1) * mu, math.sqrt(2) * q * mu)
        if bound < NEEDED_DELTA or max(stretch, mu) >= NEEDED_DELTA or self.task.T > MEASURED:
            return bound
        measured = measure_isometry(E, q)
        return measured.delta if measured.exact else bound


def largest_epsilon(task: Task) -> float:
    """dT / (100 (T-q) q), below which the theorems speak."""
    return task.d * task.T / (100 * (task.T - task.q) * task.q) if task.q < task.T else 0.0


def largest_rate(task: Task, d_e: int | None) -> float:
    """The largest eta of Theorem 3.1, or of Theorem 3.3 if encodings have d_e dimensions."""
    if d_e is None:
        return 1 / (20 * task.d**2)
    return d_e**2 / (40 * task.d**2 * task.T)


def usual_rate(task: Task, d_e: int | None) -> float:
    """The largest eta that a theorem allows; Section 4's eta = 1 if that is smaller."""
    return min(1.0, largest_rate(task, d_e))

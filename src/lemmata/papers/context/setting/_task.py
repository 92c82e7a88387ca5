"""The task: a dictionary of tokens, their representations, and the ridge regression behind it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from lemmata._errors import InputError
from lemmata.tokens import Problem

UNIT = 1e-9
"""How far the norm of a unit token may be from 1."""

ADVICE = "the theory is for unit tokens: divide each by its norm, and keep its representation"

RANK = 1e-14
"""Singular values below this part of the largest count as zero."""


def _matrix(what: str, numbers: Any) -> Float[np.ndarray, "rows columns"]:
    """Numbers in rows, as an array or as lists."""
    try:
        matrix = np.asarray(numbers, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} are a matrix of numbers, one column a token: {error}") from error
    if matrix.ndim != 2:
        raise InputError(
            f"{what} are a matrix with one column a token; got something of shape {matrix.shape}"
        )
    return matrix


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """Labels y_k = lambda'(z_k + noise) for K tokens, those of the first N in the prompt (Eq. 1).

    Attributes:
        tokens: the dictionary, one column a token.
        representations: z_k = f(v_k), one column a token.
        N: the number of examples in a prompt.
        tau: the variance of each entry of the noise.
        name: how verdicts call it.
    """

    tokens: Float[np.ndarray, "d K"]
    representations: Float[np.ndarray, "m K"]
    N: int
    tau: float
    name: str = "task"

    def __post_init__(self) -> None:
        for label in ("tokens", "representations"):
            matrix = _matrix(f"{self.name}: the {label}", getattr(self, label))
            object.__setattr__(self, label, matrix)
            if 0 in matrix.shape:
                raise InputError(f"{self.name}: there are no {label}")
            if not np.isfinite(matrix).all():
                raise InputError(f"{self.name}: the {label} must be finite numbers")
        if self.representations.shape[1] != self.K:
            raise InputError(
                f"{self.name}: {self.K} tokens but {self.representations.shape[1]} representations;"
                " every token needs one"
            )
        if not (isinstance(self.N, int | np.integer) and 1 <= self.N <= self.K):
            raise InputError(
                f"{self.name}: a prompt has N = {self.N} examples, which must be at least 1 and at "
                f"most K = {self.K}, the size of the dictionary, and whole"
            )
        real = isinstance(self.tau, Real)
        if not (real and math.isfinite(self.tau) and self.tau >= 0):
            raise InputError(f"{self.name}: tau is a variance and not {self.tau!r}")

    def __repr__(self) -> str:
        sizes = f"N = {self.N}, K = {self.K}, d = {self.d}, m = {self.m}, tau = {self.tau:g}"
        return f"<Task {self.name}: {sizes}>"

    @property
    def d(self) -> int:
        """The dimension of a token."""
        return self.tokens.shape[0]

    @property
    def K(self) -> int:
        """The size of the dictionary."""
        return self.tokens.shape[1]

    @property
    def m(self) -> int:
        """The number of basic tasks."""
        return self.representations.shape[0]

    @property
    def ridge(self) -> float:
        """m tau, the regularizer of (20)."""
        return self.m * self.tau

    @property
    def prompt(self) -> Float[np.ndarray, "d N"]:
        """V, the tokens with labels (Eq. 3)."""
        return self.tokens[:, : self.N]

    @property
    def Z(self) -> Float[np.ndarray, "m N"]:
        """The representations of the prompt (Eq. 12)."""
        return self.representations[:, : self.N]

    @property
    def Z_query(self) -> Float[np.ndarray, "m queries"]:
        """The representations of the other tokens (Eq. 19)."""
        return self.representations[:, self.N :]

    @cached_property
    def _svd(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Z = U diag(sizes) W', with U and W orthogonal; what is rounding error in sizes is 0."""
        U, sizes, W = np.linalg.svd(self.Z)
        return U, np.where(sizes > RANK * sizes[0], sizes, 0.0), W

    @property
    def sizes(self) -> Float[np.ndarray, "min_m_N"]:
        """The singular values of Z."""
        return self._svd[1]

    @property
    def gram(self) -> Float[np.ndarray, "N N"]:
        """Z'Z + m tau I."""
        return self.Z.T @ self.Z + self.ridge * np.eye(self.N)

    @cached_property
    def root(self) -> Float[np.ndarray, "N N"]:
        """Z-bar, the symmetric square root of Z'Z + m tau I (Eq. 12)."""
        W = self._svd[2]
        squares = np.zeros(self.N)
        squares[: len(self.sizes)] = self.sizes**2
        return (W.T * np.sqrt(squares + self.ridge)) @ W

    @property
    def spectral(self) -> float:
        """The spectral norm of Z-bar."""
        return math.hypot(float(self.sizes[0]), math.sqrt(self.ridge))

    @property
    def largest_column(self) -> float:
        """f-max, the largest norm of a column of Z-bar: (Z-bar)^2 has ||z_i||^2 + m tau there."""
        return math.sqrt(float(np.sum(self.Z**2, axis=0).max()) + self.ridge)

    def ridge_map(self, regularizer: float) -> Float[np.ndarray, "N m"]:
        """Z'(r I + Z Z')^-1, which takes a representation to the labels' coefficients."""
        U, sizes, W = self._svd
        damped = np.zeros_like(sizes)
        np.divide(sizes, sizes**2 + regularizer, out=damped, where=sizes > 0)
        return (W[: len(sizes)].T * damped) @ U[:, : len(sizes)].T

    @cached_property
    def target(self) -> Float[np.ndarray, "N K"]:
        """A, what the transformer learns, in the form (66).

        Without noise it is the limit for tau to 0, (I, Z^+ Z_query).
        """
        return np.hstack([np.eye(self.N), self.ridge_map(self.ridge) @ self.Z_query])

    @cached_property
    def minimum(self) -> float:
        """L*, the least loss that a map linear in the labels can have.

        The noise in the queries' own labels counts: the constant printed below (36) leaves it out.
        """
        return (float(self.query_risks(self.ridge).sum()) + self._query_noise) / (2 * self.K)

    @property
    def _query_noise(self) -> float:
        return (self.K - self.N) * self.ridge

    @cached_property
    def _query_parts(self) -> Float[np.ndarray, "m queries"]:
        """The squares of the queries' parts along the left singular vectors of Z."""
        return (self._svd[0].T @ self.Z_query) ** 2

    def query_risks(self, regularizer: float) -> Float[np.ndarray, "queries"]:
        """E(prediction - lambda' z_k)^2 of ridge regression with a regularizer, query by query.

        Expectation over lambda with E lambda lambda' = I, and over the noise in the prompt.
        """
        squares = np.zeros(self.m)
        squares[: len(self.sizes)] = self.sizes**2
        total = squares + regularizer
        weight = np.ones(self.m)
        np.divide(regularizer**2 + self.ridge * squares, total**2, out=weight, where=total > 0)
        return weight @ self._query_parts

    def gap(self, combined: Float[np.ndarray, "... N K"]) -> Float[np.ndarray, "..."] | float:
        """L - L* at A-hat, which is ||Z-bar (A-hat - A)||_F^2 / (2K) (Lemma 5)."""
        away = combined - self.target
        fitted = np.sum((self.Z @ away) ** 2, axis=(-2, -1))
        return (fitted + self.ridge * np.sum(away**2, axis=(-2, -1))) / (2 * self.K)

    def loss(self, combined: Float[np.ndarray, "... N K"]) -> Float[np.ndarray, "..."] | float:
        """The population loss (9) at A-hat, for coefficients with E lambda lambda' = I."""
        return self.gap(combined) + self.minimum

    @cached_property
    def initial_gap(self) -> float:
        """Delta^(0): the gap where all w are zero."""
        return float(self.gap(np.zeros((self.N, self.K))))

    @property
    def norms(self) -> Float[np.ndarray, "K"]:
        """The norms of the tokens."""
        return np.linalg.norm(self.tokens, axis=0)

    @property
    def equal_prompt_tokens(self) -> Bool[np.ndarray, "N N"]:
        """Which prompt tokens are the same vector; a token is not compared with itself."""
        V = self.prompt
        same = (V[:, :, None] == V[:, None, :]).all(axis=0)
        return same & ~np.eye(self.N, dtype=bool)

    @property
    def has_distinct_row(self) -> bool:
        """Assumption 3: some coordinate tells all prompt tokens apart."""
        return any(len(np.unique(row)) == self.N for row in self.prompt)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The hypotheses on the task that are not met."""
        found = []
        away = float(np.abs(self.norms - 1).max())
        if away > UNIT:
            found.append(
                ("not_unit", f"the norm of a token differs from 1 by {away:.3g}; {ADVICE}")
            )
        if self.tau == 0:
            found.append(("no_noise", "tau = 0, where the paper takes tau > 0"))
            if self.sizes[-1] <= 1e-12 * self.sizes[0] or self.m < self.N:
                found.append(("singular", "Z'Z + m tau I is singular"))
        first, second = (np.argwhere(self.equal_prompt_tokens).tolist() or [(None, None)])[0]
        if first is not None:
            found.append(("repeated_token", f"prompt tokens {first} and {second} are the same"))
        if not self.has_distinct_row:
            found.append(("no_distinct_row", "no coordinate tells all prompt tokens apart"))
        return tuple(Problem(code, self.name, message) for code, message in found)


def draw_task(
    N: int,
    K: int,
    d: int,
    m: int,
    tau: float,
    *,
    seed: int,
    unit: bool = True,
    name: str | None = None,
) -> Task:
    """Gaussian tokens, scaled to norm 1 as the theory asks or not, and Gaussian representations."""
    for label, size in (("N", N), ("K", K), ("d", d), ("m", m)):
        if size < 1:
            raise InputError(f"{label} must be a positive whole number; got {size}")
    rng = np.random.default_rng(seed)
    tokens = rng.standard_normal((d, K))
    if unit:
        tokens /= np.linalg.norm(tokens, axis=0)
    representations = rng.standard_normal((m, K))
    kind = "unit" if unit else "Gaussian"
    usual = f"{kind} tokens, N={N} K={K} d={d} m={m} tau={tau:g}, seed {seed}"
    return Task(tokens, representations, N, tau, usual if name is None else name)


def represent(
    tokens: Float[np.ndarray, "d K"],
    function: Callable[[Float[np.ndarray, "d"]], Float[np.ndarray, "m"]],
) -> Float[np.ndarray, "m K"]:
    """A user's representation f applied to every token."""
    columns = [np.atleast_1d(np.asarray(function(token), dtype=float)) for token in tokens.T]
    if any(column.shape != columns[0].shape or column.ndim != 1 for column in columns):
        raise InputError("the representation must map every token to a vector of the same length")
    return np.stack(columns, axis=1)

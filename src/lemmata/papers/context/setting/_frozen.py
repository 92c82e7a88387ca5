"""Attention held fixed: what is then least squares, and can be said exactly for every t.

With Q fixed, Z-bar delta_k evolves on its own for every token k: a step multiplies its part along
a left singular vector of B_k = Z-bar C_k by 1 - eta_w sigma^2 / K. The theory's step sizes freeze
Q in all but name, so that these formulas say what gradient descent does there.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
from jaxtyping import Float
from scipy.special import softmax

from ..theory import Constants, Real
from ._model import Weights
from ._task import Task

RESOLUTION = 1e-12
"""Singular values below this part of the largest are rounding error in float64."""

DIGITS = (60, 120, 240, 480, 960)
"""Precisions tried in turn for an eigenvalue that float64 cannot tell from zero."""


PATIENCE, NEAR_THE_EDGE = 1e9, 0.98
"""Steps that somebody may wait for, and their size relative to the largest stable one."""

DOUBLINGS = np.append(0.0, 2.0 ** np.arange(997))
"""Steps that a search looks at first; beyond the last, 6.7e299, it does not go."""

AT_ONCE = 32
"""Steps that a search looks at together."""


def attention_of(task: Task, Q: Float[np.ndarray, "d H d"]) -> Float[np.ndarray, "N H K"]:
    """softmax(V' Q_h v_k), in NumPy and float64."""
    logits = np.einsum("an,ahb,bk->nhk", task.prompt, Q, task.tokens, optimize=True)
    return softmax(logits, axis=0)


@dataclass(frozen=True, eq=False)
class FrozenAttention:
    """A task with attention that does not move."""

    task: Task
    Q: Float[np.ndarray, "d H d"]

    @cached_property
    def attention(self) -> Float[np.ndarray, "N H K"]:
        """s^h_k."""
        return attention_of(self.task, np.asarray(self.Q, dtype=float))

    @property
    def scores(self) -> Float[np.ndarray, "K N H"]:
        """B_k = Z-bar C_k for every token k (13)."""
        return np.einsum("ij,jhk->kih", self.task.root, self.attention)

    @cached_property
    def _svd(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """B_k = U diag(sigma) W' for every token k."""
        B = self.scores
        return np.linalg.svd(B, full_matrices=B.shape[2] < self.task.N)

    @cached_property
    def sizes(self) -> Float[np.ndarray, "K N"]:
        """The singular values of every B_k, with zeros where there are fewer heads than tokens."""
        sigma = self._svd[1]
        sizes = np.zeros((self.task.K, self.task.N))
        sizes[:, : min(sigma.shape[1], self.task.N)] = sigma[:, : self.task.N]
        return sizes

    @property
    def zeta(self) -> float:
        """zeta_0 = min over k of lambda_min(B_k B_k') (14), by singular values."""
        return float(self.sizes[:, -1].min()) ** 2

    @property
    def resolved(self) -> bool:
        """Whether float64 can tell zeta_0 from zero."""
        return bool((self.sizes[:, -1] > RESOLUTION * self.sizes[:, 0]).all())

    @property
    def largest_stable_rate(self) -> float:
        """2K / max lambda_max(B_k B_k'): with a larger eta_w descent on w diverges."""
        return 2 * self.task.K / float(self.sizes.max()) ** 2

    @property
    def condition(self) -> float:
        """The largest condition of a B_k, by which the rounding of zeta_0 is multiplied."""
        return float((self.sizes[:, 0] / self.sizes[:, -1]).max())

    @cached_property
    def parts(self) -> Float[np.ndarray, "K N"]:
        """What w = 0 leaves to learn: Z-bar A_k along the left singular vectors."""
        wanted = self.task.root @ self.task.target
        return np.einsum("kij,ik->kj", self._svd[0], wanted)

    @property
    def _rank(self) -> int:
        """The largest rank a B_k can have: heads, distinct prompt tokens and Z-bar bound it."""
        distinct = np.unique(self.task.prompt, axis=1).shape[1]
        features = self.task.N if self.task.tau else int(np.sum(self.task.sizes > 0))
        return min(self.Q.shape[1], distinct, features)

    @property
    def floor(self) -> float | None:
        """The least L - L* that any w reaches: 0 if every B_k has full row rank.

        None where float64 cannot tell the rank of some B_k. With Gaussian Q that is N for H >= N
        distinct tokens (Proposition 1), and the floor is 0, but only very large w come near it.
        """
        rank = self._rank
        if rank and not (self.sizes[:, rank - 1] > RESOLUTION * self.sizes[:, 0]).all():
            return None
        return float(np.sum(self.parts[:, rank:] ** 2)) / (2 * self.task.K)

    @property
    def left_in_practice(self) -> float:
        """L - L* after a billion steps on w alone, two per cent below the largest stable size.

        Singular values that float64 cannot tell from zero have not moved by then.
        """
        logs = self.log_gap(np.array([PATIENCE]), NEAR_THE_EDGE * self.largest_stable_rate)
        return float(np.exp(logs[0]))

    def log_gap(
        self, steps: Float[np.ndarray, "records"], rate: float
    ) -> Float[np.ndarray, "records"]:
        """log(L - L*) after t steps of size eta_w from w = 0, for any t."""
        shrink = _log_factor(rate * self.sizes**2 / self.task.K)
        with np.errstate(divide="ignore"):
            part = np.log(np.abs(self.parts))
        logs = 2 * (part + _times(steps[:, None, None], shrink))
        total = np.logaddexp.reduce(logs.reshape(len(steps), -1), axis=1)
        return total - math.log(2 * self.task.K)

    def weights_after(self, step: float, rate: float) -> Float[np.ndarray, "H K"]:
        """w after t steps of size eta_w from w = 0."""
        _, sigma, W = self._svd
        count = sigma.shape[1]
        scaled = rate * sigma**2 / self.task.K
        logs = _times(step, _log_factor(scaled))
        sign = np.where((scaled > 1) & (step % 2 == 1), -1.0, 1.0)
        learned = np.where(scaled > 1, 1 - sign * np.exp(logs), -np.expm1(logs))
        solution = np.divide(
            learned * self.parts[:, :count], sigma, out=np.zeros_like(sigma), where=sigma > 0
        )
        return np.einsum("kjh,kj->hk", W[:, :count], solution)


def _log_factor(scaled: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """log |1 - x|, exact also where x is far below the precision of 1 - x."""
    with np.errstate(divide="ignore"):
        return np.where(scaled < 1, np.log1p(-np.minimum(scaled, 1)), np.log(np.abs(scaled - 1)))


def _times(steps: Float[np.ndarray, "..."] | float, logs: Float[np.ndarray, "..."]) -> np.ndarray:
    """t log(x), where 0 log(0) is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(np.asarray(steps) == 0, 0.0, steps * logs)


def frozen(task: Task, weights: Weights) -> FrozenAttention:
    """Attention held at these weights."""
    return FrozenAttention(task, np.asarray(weights.Q, dtype=float))


def constants_of(task: Task, weights: Weights, zeta: Real | None = None) -> Constants:
    """What Theorem 1 needs to know; zeta_0 by singular values unless given."""
    return Constants(
        N=task.N,
        K=task.K,
        H=weights.Q.shape[1],
        ridge=task.ridge,
        zeta=frozen(task, weights).zeta if zeta is None else zeta,
        gap=task.initial_gap,
        spectral=task.spectral,
        largest_column=task.largest_column,
        target=float(np.linalg.norm(task.target, 2)),
        cross=float(np.linalg.norm(task.Z.T @ task.representations, 2)),
    )


def first_step(frozen: FrozenAttention, rate: float, gap: float) -> float | None:
    """The first t with L - L* <= gap, to twelve digits; None if there is none before 1e300."""

    def first(steps: Float[np.ndarray, "steps"]) -> int | None:
        """Which of these is the first that reaches it."""
        reached = frozen.log_gap(steps, rate) <= math.log(gap)
        return int(np.argmax(reached)) if reached.any() else None

    for start in range(0, len(DOUBLINGS), AT_ONCE):
        found = first(DOUBLINGS[start : start + AT_ONCE])
        if found is not None:
            break
    else:
        return None
    if start + found == 0:
        return 0.0
    low, high = DOUBLINGS[start + found - 1 : start + found + 1]
    while high - low > max(1.0, 1e-12 * high):
        steps = np.floor(np.linspace(low, high, AT_ONCE))
        found = first(steps)
        assert found, "the last one reaches it, and the first one does not"
        low, high = steps[found - 1 : found + 1]
    return float(high)


def exact_eigenvalue(task: Task, Q: Float[np.ndarray, "d H d"], k: int) -> tuple[Real, Real]:
    """lambda_min and lambda_max of B_k B_k' in as many digits as it takes.

    The tokens, Q, representations and tau are taken as the exact numbers that they are in float64.
    If the most digits do not tell the least eigenvalue from zero, zero is returned for it.
    """
    largest = mpmath.mpf(0)
    logits, exponent = _exact_logits(task, Q, k)
    for digits in DIGITS:
        with mpmath.workdps(digits):
            values = mpmath.eigsy(_precise_square(task, logits, exponent), eigvals_only=True)
            least, largest = values[0], values[task.N - 1]
            if least > largest * mpmath.mpf(10) ** (-digits // 2):
                return +least, +largest
    return mpmath.mpf(0), largest


def exact_zeta(task: Task, weights: Weights, tokens: list[int]) -> Real:
    """The least eigenvalue over these tokens alone, in as many digits as it takes."""
    Q = np.asarray(weights.Q, dtype=float)
    return min(exact_eigenvalue(task, Q, k)[0] for k in tokens)


def _exact_logits(task: Task, Q: Float[np.ndarray, "d H d"], k: int) -> tuple[list[list[int]], int]:
    """V'Q_h v_k exactly, one row a head: whole numbers, and the power of two they come with."""
    (V, of_V), (heads, of_Q), (token, of_token) = map(
        _in_whole_numbers, (task.prompt, Q.transpose(1, 0, 2), task.tokens[:, k])
    )
    return [(V.T @ (head @ token)).tolist() for head in heads], of_V + of_Q + of_token


def _in_whole_numbers(array: Float[np.ndarray, "..."]) -> tuple[np.ndarray, int]:
    """Python integers and an e with array = integers * 2^e, exactly."""
    mantissa, exponent = np.frexp(array)
    least = int(np.min(exponent, where=mantissa != 0, initial=exponent.max()))
    shift = np.where(mantissa != 0, exponent - least, 0).astype(object)
    return (mantissa * 2.0**53).astype(np.int64).astype(object) << shift, least - 53


def _precise_square(task: Task, logits: list[list[int]], exponent: int) -> Any:
    """L'C_k C_k'L with Z'Z + m tau I = L L', which has the eigenvalues of B_k B_k'.

    A Cholesky factor does for the square root Z-bar.
    """
    Z = np.vectorize(mpmath.mpf, otypes=[object])(task.Z)
    columns = []
    for head in logits:
        top = max(head)
        powers = [mpmath.exp(mpmath.ldexp(mpmath.mpf(x - top), exponent)) for x in head]
        total = mpmath.fsum(powers)
        columns.append([p / total for p in powers])
    C = mpmath.matrix(columns).T
    gram = mpmath.matrix((Z.T @ Z).tolist())
    ridge = task.m * mpmath.mpf(task.tau)
    for i in range(task.N):
        gram[i, i] += ridge
    factor = mpmath.cholesky(gram)
    return factor.T * C * C.T * factor

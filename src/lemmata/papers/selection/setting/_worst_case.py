"""Theorem C.2: inputs on which a narrow first layer must be wrong, whatever follows it."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float, Int

from lemmata._errors import InputError

from ._networks import TokenPart, kernel
from ._task import Task


def visible_share(v: Float[np.ndarray, "inputs"], T: int, q: int) -> float:
    """How much of kernel tokens v with max ||v_i|| = 1 some subset sees, at least: a norm.

    The tokens are looked at along the longest one, v_j: among all means of q numbers <v_i, v_j>
    the extreme ones are those of the q largest and of the q smallest.
    """
    tokens = v.reshape(T, -1)
    sizes = np.linalg.norm(tokens, axis=1)
    along = np.sort(tokens @ tokens[np.argmax(sizes)]) / sizes.max() ** 2
    return float(max(abs(along[-q:].mean()), abs(along[:q].mean())))


def lopsided_layer(task: Task) -> TokenPart:
    """Td - 1 rows that miss only (1, -1/(2q-1), ..., -1/(2q-1)) in the first coordinate."""
    v = np.zeros((task.T, task.d))
    v[:, 0] = -1 / (2 * task.q - 1)
    v[0, 0] = 1.0
    return kernel(v.reshape(1, -1))


@dataclass(frozen=True)
class BlindPair:
    """Theorem C.2 in whole numbers: tokens u that a first layer cannot tell from -u.

    Attributes:
        task: T, q, d.
        layer: W_1 with its Td + q columns.
        tokens: u, one row a position; zero at the first q - 1 positions.
    """

    task: Task
    layer: Int[np.ndarray, "width columns"]
    tokens: Int[np.ndarray, "T d"]

    @property
    def y(self) -> Int[np.ndarray, "q"]:
        """The first q - 1 positions, which hold nothing, and that of the longest token; from 1."""
        longest = int((self.tokens**2).sum(axis=1).argmax())
        return np.array([*range(1, self.task.q), longest + 1])

    @property
    def alike(self) -> bool:
        """Whether the first layer gives the same for u and -u, exactly."""
        inputs = [np.concatenate([sign * self.tokens.ravel(), self.y]) for sign in (1, -1)]
        return bool((self.layer @ inputs[0] == self.layer @ inputs[1]).all())

    def forced(self, longest: Fraction) -> Fraction:
        """Half the distance of the two targets, squared, if u is scaled.

        The net answers alike, so on one of the two its squared error is at least this.

        Args:
            longest: the squared length of the longest token after scaling.
        """
        largest = int((self.tokens**2).sum(axis=1).max())
        seen = int((self.tokens[self.y - 1].sum(axis=0) ** 2).sum())
        return longest * Fraction(seen, largest * self.task.q**2)


def blind_pair(task: Task, width: int, draw: np.random.Generator) -> BlindPair:
    """A random integer first layer of at most (T-q+1) d - 1 neurons, and tokens it is blind to.

    On the last T - q + 1 tokens it is L [I, -C] with a triangular L; so it misses (C z, z).
    """
    T, q, d = task.T, task.q, task.d
    late = (T - q + 1) * d
    if not 1 <= width < late:
        raise InputError(f"the width must be between 1 and (T-q+1) d - 1 = {late - 1}; got {width}")
    C = draw.integers(-2, 3, (width, late - width))
    L = np.tril(draw.integers(-2, 3, (width, width)), -1) + np.eye(width, dtype=int)
    early, subset = (draw.integers(-2, 3, (width, size)) for size in (T * d - late, q))
    z = draw.integers(-2, 3, late - width)
    z[-1] = 1
    u = np.concatenate([np.zeros(T * d - late, dtype=int), C @ z, z])
    # Whole numbers of this size are exact as floats, and products of those are fast.
    last = (L.astype(float) @ C.astype(float)).astype(int)
    return BlindPair(task, np.concatenate([early, L, -last, subset], axis=1), u.reshape(T, d))

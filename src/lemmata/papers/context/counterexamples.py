"""Hand-made plans that break a statement, or attain its bound."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .setting import Plan, Task, Weights, from_heads


def at_zero(plan: Plan, w: float) -> Weights:
    """Q = 0, so that all tokens are attended alike, and every w the same."""
    d, H = plan.task.d, plan.heads
    return from_heads(np.zeros((H, d, d)), np.full((H, plan.task.K), w))


def opposite_unit_tokens() -> Plan:
    """The tokens 1 and -1: a logit of x moves attention by tanh(x), at most x and close to it."""
    task = Task(np.array([[1.0, -1.0]]), np.ones((1, 2)), 2, 0.1, "tokens 1, -1")
    return Plan(task, heads=1)


def opposite_long_tokens() -> Plan:
    """Two tokens of norm 10 that point apart: with Q = 0 (42) fails by their squared norm."""
    tokens = 10.0 * np.array([[1.0, -1.0, 1.0]])
    task = Task(tokens, np.array([[1.0, -1.0, 0.5]]), 2, 0.1, "tokens 10, -10, 10; Q = 0, w = 1")
    return Plan(task, heads=1)


def near_the_bounds() -> tuple[list[Plan], list[tuple[Weights, Weights]], list[float]]:
    """Plans, pairs of weights and gammas that come close to the bounds of Appendix B.

    Two opposite tokens with opposite representations, where the slope in Q is half of (42) and
    scores move by 1/sqrt(8) of (46), with small alpha of both signs, and saturated; a single
    token, with nothing but alpha changed; and the two opposite tokens that break (59) as printed.
    """
    opposite = Plan(Task(np.array([[1.0, -1.0]]), np.array([[1.0, -1.0]]), 2, 1e-8, "1, -1"), 1)
    alone = Plan(Task(np.ones((1, 1)), np.ones((1, 1)), 1, 1e-8, "one token"), 1)
    bent, w = OppositeTokens(120, 2), np.full((1, 3), 2.0)
    moved = np.array([[[2.0**-12, 0.0], [0.0, 0.0]]])
    pairs = [
        (at_zero(opposite, 1.0), from_heads(np.full((1, 1, 1), 2.0**-12), np.ones((1, 2)))),
        (at_zero(opposite, 1e-4), at_zero(opposite, -1e-4)),
        tuple(from_heads(np.full((1, 1, 1), q), np.ones((1, 2))) for q in (8.0, 8.0 + 2.0**-12)),
        (at_zero(alone, 0.0), at_zero(alone, 1.0)),
        (at_zero(bent.plan, 2.0), from_heads(moved, w)),
    ]
    return [*3 * [opposite], alone, bent.plan], pairs, [1.0, 1.0, 1.0, 1e4, 1.0]


def one_example_one_query() -> Plan:
    """z = 1 twice and tau = 1, where L* printed below (36) lacks the noise of the query.

    With w = 0 both labels have variance 2, so that L = 1. The gap is 5/8 and the printed L* is 1/8.
    """
    task = Task(np.array([[1.0, -1.0]]), np.ones((1, 2)), 1, 1.0, "z = (1, 1), tau = 1, w = 0")
    return Plan(task, heads=1)


def one_hot_tokens(seed: int) -> Plan:
    """Distinct tokens that no single coordinate tells apart, against Assumption 3."""
    return _in_six_directions(np.eye(6), "one-hot tokens", seed)


def two_equal_tokens(seed: int) -> Plan:
    """One-hot tokens, the second prompt token being the first again."""
    return _in_six_directions(np.eye(6)[:, [0, 0, 1, 2, 3, 4]], "two equal tokens", seed)


def _in_six_directions(tokens: np.ndarray, name: str, seed: int) -> Plan:
    representations = np.cos(np.arange(18.0)).reshape(3, 6)
    task = Task(tokens, representations, 4, 0.1, f"{name}, seed {seed}")
    return Plan(task, heads=8, seed=seed)


@dataclass(frozen=True)
class OppositeTokens:
    """Two opposite tokens and one across, with Q = 0 and all alpha equal, in rational numbers.

    v_1 = e_1, v_2 = -e_1, v_3 = e_2; z = (c, -c, c/2), tau = 1/2 and m = 2, the second row of Z
    being zero; one head, gamma = 1. Attention is (1/2, 1/2), and along Q_11 the loss has the second
    derivative alpha^2 (2 c^2 + m tau) / K exactly.
    """

    c: int
    alpha: int
    K = 3
    N = 2

    @property
    def plan(self) -> Plan:
        """The plan in float64."""
        tokens = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
        z = float(self.c) * np.array([[1.0, -1.0, 0.5], [0.0, 0.0, 0.0]])
        name = f"two opposite tokens, c = {self.c}, alpha = {self.alpha}"
        return Plan(Task(tokens, z, self.N, 0.5, name), heads=1)

    @property
    def spectral_square(self) -> Fraction:
        """||Z-bar||^2 = 2 c^2 + m tau."""
        return Fraction(2 * self.c**2 + 1)

    @property
    def target_bound(self) -> Fraction:
        """A is (I, a (1, -1)') with a below 1/4, so that ||A|| is below 1 + 1/2."""
        return Fraction(3, 2)

    @property
    def curvature(self) -> Fraction:
        """The second derivative of the loss along Q_11, which two of three tokens feel."""
        return self.alpha**2 * self.spectral_square / self.K

    @property
    def in_Q(self) -> Fraction:
        """The square of the printed constant (59), bounded from above: f_max <= ||Z-bar||."""
        bracket = self.alpha**2 + 4 * self.N * (self.alpha + self.target_bound) ** 2
        return 8 * self.spectral_square * max(1, 4 * self.K * self.alpha**2) * bracket

    @property
    def printed(self) -> Fraction:
        """The square of L as printed in (61), bounded from above."""
        mixed = 2 * self.spectral_square * (2 * self.alpha + self.target_bound)
        own = (self.spectral_square / self.K) ** 2
        return 2 * (mixed**2 / self.K + own) + self.in_Q

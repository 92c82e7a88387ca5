"""Hand-made plans that break a statement, or attain its bound."""

import numpy as np

from lemmata.settings import Example

from .setting import Plan, Task, Weights, from_heads


def at_zero(plan: Plan, w: float) -> Weights:
    """Q = 0, so that all tokens are attended alike, and every w the same."""
    d, H = plan.task.d, plan.heads
    return from_heads(np.zeros((H, d, d)), np.full((H, plan.task.K), w))


def opposite_long_tokens() -> Plan:
    """Two tokens of norm 10 that point apart: with Q = 0 (42) fails by their squared norm."""
    tokens = 10.0 * np.array([[1.0, -1.0, 1.0]])
    task = Task(tokens, np.array([[1.0, -1.0, 0.5]]), 2, 0.1, "tokens 10, -10, 10; Q = 0, w = 1")
    return Plan(task, heads=1)


def near_the_bounds() -> list[Plan]:
    """Plans that come close to the bounds of Appendix B.

    Two opposite tokens with opposite representations, where a logit of x moves attention by
    tanh(x), and the slope in Q is half of (42); a single token; and the two opposite tokens that
    break (59) as printed.
    """
    opposite = Task(np.array([[1.0, -1.0]]), np.array([[1.0, -1.0]]), 2, 1e-8, "1, -1")
    alone = Task(np.ones((1, 1)), np.ones((1, 1)), 1, 1e-8, "one token")
    return [Plan(opposite, 1), Plan(alone, 1), opposite_tokens(120)]


def one_example_one_query() -> Plan:
    """z = 1 twice and tau = 1, where L* printed below (36) lacks the noise of the query.

    With w = 0 both labels have variance 2, so that L = 1. The gap is 5/8 and the printed L* is 1/8.
    """
    task = Task(np.array([[1.0, -1.0]]), np.ones((1, 2)), 1, 1.0, "z = (1, 1), tau = 1, w = 0")
    return Plan(task, heads=1)


def nothing_shown() -> Plan:
    """N = m = 1, and the only example has the feature 0: its label says nothing about lambda, which
    without noise is the label of the query."""
    task = Task(np.array([[1.0, -1.0]]), np.array([[0.0, 1.0]]), 1, 0.0, "z = (0, 1)")
    return Plan(task, heads=1)


def faster_with_a_token_more() -> Plan:
    """Without the third token the least gamma of (15) is smaller, and with it the rate by (17)."""
    tokens = np.array([[-0.6, -1.0, 1.0], [-0.8, 0.0, 0.0]])
    z = np.array([[-2.0, 0.0, 0.0], [0.0, 1.0, -2.0]])
    return Plan(Task(tokens, z, 2, 1e-4, "z = (-2, 0), (0, 1), (0, -2)"), heads=2, seed=0)


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


def opposite_tokens(c: int) -> Plan:
    """Two opposite tokens and one across, v = e_1, -e_1, e_2 with z = (c, -c, c/2) and m tau = 1.

    The second row of Z is zero. With Q = 0 and all w = alpha attention is (1/2, 1/2), and along
    Q_11 the loss has the second derivative alpha^2 (2 c^2 + 1) / 3 exactly, which for large c and
    alpha is more than (59) and (61) allow.
    """
    tokens = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    z = c * np.array([[1.0, -1.0, 0.5], [0.0, 0.0, 0.0]])
    return Plan(Task(tokens, z, 2, 0.5, f"two opposite tokens, c = {c}"), heads=1)


EXAMPLES = (
    Example.of(
        "four examples, twelve tokens",
        "A prompt shows the labels of 4 tokens; those of the other 8 are to be predicted.",
        {"N": 4, "tau": 0.1, "H": 8, "K": 12, "d": 6, "m": 3, "seed": 0},
    ),
    Example.of(
        "few heads",
        "Fewer heads than the prompt has tokens: attention cannot tell them apart at the start.",
        {"N": 4, "tau": 0.1, "H": 2, "K": 10, "d": 6, "m": 3, "seed": 0},
    ),
    Example.of(
        "hardly any noise",
        "With small tau the ridge mτ is small, and the promised rate is slow.",
        {"N": 3, "tau": 0.01, "H": 6, "K": 8, "d": 5, "m": 2, "seed": 0},
    ),
    Example.of(
        "two tokens that point apart",
        "At Q = 0 the bound (42) fails by their squared norm.",
        opposite_long_tokens().document(),
    ),
    Example.of(
        "faster with a token more",
        "Without the third token the promised rate is smaller.",
        faster_with_a_token_more().document(),
    ),
)
"""Plans to begin with, and some that break statements."""

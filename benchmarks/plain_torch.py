"""A trial of Figure 4 as one would write it: PyTorch, autograd, a loop over steps.

W^mm comes from CVXPY at its default tolerances, W^cyc from normalized gradient descent on the
cyclic subdata, and the correlation and the distance to W^cyc are computed after every step.
PyTorch is imported only here, and only when this runs.
"""

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from lemmata.margin import Pair, pair_rows
from lemmata.papers.mechanics.setting import Dataset
from lemmata.tokens import TokenData

EPSILON = 2.220446049250313e-16
"""What keeps a researcher's division from failing."""


@dataclass(frozen=True)
class Trial:
    """What is drawn in Figure 4, at every step."""

    correlation: list[float]
    distance: list[float]


def train(dataset: Dataset, steps: int, rate: float) -> Trial:
    """Both limits, then the run."""
    import torch  # pyright: ignore[reportMissingImports]

    direction = torch.from_numpy(max_margin(dataset))
    direction = direction / direction.norm()
    zero = np.zeros_like(dataset.target)
    ties = torch.from_numpy(
        np.array(pair_rows(dataset.tied_pairs, dataset.E)).reshape(-1, *zero.shape)
    )
    finite, _ = _descend(dataset, dataset.cyclic, zero, steps, rate, direction, None, ties)
    start = zero if dataset.initial_weights is None else dataset.initial_weights
    return _descend(dataset, dataset.realizable, start, steps, rate, direction, finite, ties)[1]


def max_margin(dataset: Dataset) -> np.ndarray:
    """Graph-SVM as a quadratic program."""
    shape = dataset.target.shape
    W = cp.Variable(shape[0] * shape[1])

    def margins(pairs: list[Pair]) -> Any:
        return pair_rows(pairs, dataset.E) @ W

    constraints = [margins(dataset.strict_pairs) >= 1, margins(dataset.tied_pairs) == 0]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(W)), constraints)
    problem.solve()
    assert W.value is not None, problem.status
    return W.value.reshape(shape)


def _descend(
    dataset: Dataset,
    data: TokenData,
    start: np.ndarray,
    steps: int,
    rate: float,
    direction: Any,
    finite: Any,
    ties: Any,
) -> tuple[Any, Trial]:
    """Normalized gradient descent on the log loss; shorter sequences are padded and masked."""
    import torch  # pyright: ignore[reportMissingImports]

    longest = data.longest_input
    tokens = [[*s.tokens, *[s.tokens[-1]] * (longest - len(s.tokens))] for s in data.samples]
    X = torch.from_numpy(dataset.E[tokens])
    last = torch.from_numpy(dataset.E[[s.query for s in data.samples]])
    label = torch.tensor(
        [[x == s.label for x in row] for s, row in zip(data.samples, tokens, strict=True)]
    )
    real = torch.tensor([[t < len(s.tokens) for t in range(longest)] for s in data.samples])
    share = torch.from_numpy(data.frequencies)
    projector = torch.linalg.pinv(ties.flatten(1)) @ ties.flatten(1)
    W = torch.nn.Parameter(torch.from_numpy(start.copy()))
    found = Trial([], [])
    for _ in range(steps):
        logits = torch.einsum("ntd,de,ne->nt", X, W, last)
        attention = torch.softmax(logits.masked_fill(~real, -torch.inf), dim=1)
        mass = (attention * (label & real)).sum(dim=1)
        loss = -(share * torch.log(mass + EPSILON)).sum()
        W.grad = None
        loss.backward()
        with torch.no_grad():
            assert W.grad is not None
            W -= rate * W.grad / (W.grad.norm() + EPSILON)
            if finite is not None:
                found.correlation.append(float((W * direction).sum() / W.norm()))
                inside = projector @ (W - finite).flatten()
                found.distance.append(float(inside.norm()))
    return W.detach(), found

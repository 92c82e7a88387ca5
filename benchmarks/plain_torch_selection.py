"""A training step of Section 4 as one would write it: PyTorch, autograd, Z = [X; E] in full.

PyTorch is imported only here, and only when this runs.
"""

import math
from typing import Any

import numpy as np

from lemmata.papers.selection.setting import Training


class Learner:
    """The model, its optimizer, and what it draws for a step."""

    def __init__(self, how: Training, seed: int = 0) -> None:
        import torch  # pyright: ignore[reportMissingImports]

        torch.manual_seed(seed)
        self.how = how
        d, width = how.task.d, how.task.d + how.d_e
        self.V = torch.nn.Parameter(torch.zeros(d, width))
        self.W = torch.nn.Parameter(torch.zeros(width, width))
        self.optimizer = torch.optim.SGD([self.V, self.W], lr=how.rate)

    def step(self) -> float:
        """Draw a batch and descend."""
        self.optimizer.zero_grad()
        loss = self.loss(*self.draw())
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def draw(self) -> tuple[Any, Any, Any]:
        """Tokens, subsets, and encodings by rejection."""
        import torch  # pyright: ignore[reportMissingImports]

        T, q, d = self.how.task.T, self.how.task.q, self.how.task.d
        X = torch.randn(self.how.samples, d, T)
        y = torch.stack([torch.randperm(T)[:q] for _ in range(self.how.samples)])
        return X, y, self._encodings()

    def loss(self, X: Any, y: Any, E: Any) -> Any:
        """Half the squared error, averaged over the batch."""
        import torch  # pyright: ignore[reportMissingImports]

        chosen = E[:, y].movedim(1, 0)
        gram = chosen.mT @ chosen
        e_y = (chosen @ torch.linalg.solve(gram, torch.ones(len(y), y.shape[1], 1)))[:, :, 0]
        Z = torch.cat([X, E.expand(len(X), -1, -1)], dim=1)
        z = torch.cat([torch.zeros(len(X), X.shape[1]), e_y], dim=1)
        attention = torch.softmax(Z.mT @ (z @ self.W.T)[:, :, None], dim=1)
        output = (Z @ attention)[:, :, 0] @ self.V.T
        target = X.gather(2, y[:, None, :].expand(-1, X.shape[1], -1)).mean(dim=2)
        return 0.5 * ((target - output) ** 2).sum(dim=1).mean()

    def gradient(
        self, V: np.ndarray, W: np.ndarray, X: np.ndarray, y: np.ndarray, E: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The gradient on a given batch, for comparison."""
        import torch  # pyright: ignore[reportMissingImports]

        with torch.no_grad():
            self.V.copy_(torch.tensor(V))
            self.W.copy_(torch.tensor(W))
        self.optimizer.zero_grad()
        self.loss(torch.tensor(X), torch.tensor(y).long(), torch.tensor(E)).backward()
        assert self.V.grad is not None
        assert self.W.grad is not None
        return self.V.grad.numpy(), self.W.grad.numpy()

    def _encodings(self) -> Any:
        """Sign vectors; those that clash with one before them are drawn again."""
        import torch  # pyright: ignore[reportMissingImports]

        T, d_e = self.how.task.T, self.how.d_e
        E = torch.randint(0, 2, (d_e, T)) * 2.0 - 1
        while True:
            clash = ((E.T @ E).abs() > self.how.threshold * d_e).triu(1).any(dim=0)
            if not clash.any():
                return E / math.sqrt(d_e)
            E[:, clash] = torch.randint(0, 2, (d_e, int(clash.sum()))) * 2.0 - 1

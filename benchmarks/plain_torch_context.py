"""A training step of the one-layer transformer as one would write it: PyTorch, einsum, autograd.

PyTorch is imported only here, and only when this runs.
"""

import numpy as np

from lemmata.papers.context.setting import Training, draw_weights


class Learner:
    """The weights, the population loss, and Adam."""

    def __init__(self, how: Training) -> None:
        import torch  # pyright: ignore[reportMissingImports]

        task = how.task
        start = draw_weights(task, how.heads, seed=how.seed)
        heads = np.asarray(start.Q, dtype=np.float32).transpose(1, 0, 2).copy()
        self.Q = torch.nn.Parameter(torch.tensor(heads))
        self.w = torch.nn.Parameter(torch.zeros(how.heads, task.K))
        self.prompt, self.tokens, self.root, self.target = (
            torch.tensor(np.asarray(matrix, dtype=np.float32))
            for matrix in (task.prompt, task.tokens, task.root, task.target)
        )
        self.optimizer = torch.optim.Adam([self.Q, self.w], lr=how.rate)

    def step(self) -> float:
        """Descend, and return L - L* before that."""
        import torch  # pyright: ignore[reportMissingImports]

        self.optimizer.zero_grad()
        logits = torch.einsum("an,hab,bk->hnk", self.prompt, self.Q, self.tokens)
        attention = torch.softmax(logits, dim=1)
        combined = torch.einsum("hk,hnk->nk", self.w, attention)
        gap = ((self.root @ (combined - self.target)) ** 2).sum() / (2 * self.tokens.shape[1])
        gap.backward()
        self.optimizer.step()
        return gap.item()

"""The experiments behind Section 3.3: transformers next to fully connected nets."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.selection.experiments.construction import ENCODED, Encoded, encode
from lemmata.papers.selection.experiments.networks import Unseen
from lemmata.papers.selection.theory import _networks as theory
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.selection.setting import Task


@dataclass(frozen=True)
class Separation:
    """A transformer and fully connected nets of the same width.

    Attributes:
        width: d + d_e, the size of the transformer's W.
        loss, error: of the transformer with V = [I 0] and W = C diag(0, I), C as good as any on
            a grid; mean over subsets, exact over tokens, with its standard error.
        C: that C.
    """

    name: str
    task: "Task"
    width: int
    loss: float
    error: float
    C: float
    problems: tuple[Problem, ...]

    def floor(self, width: int) -> float:
        """The least loss of a fully connected net."""
        return float(theory.width_law(self.task.T, self.task.q, self.task.d, width))


def separate(found: Encoded) -> Separation:
    """The best transformer of this form, by trying."""
    T, d = found.task.T, found.task.d
    width = d + len(found.E)
    scales = np.geomspace(1, 100, 9)
    means = [float(found.attention(float(C)).mean_square(d).mean()) for C in scales]
    best = int(np.argmin(means))
    losses = found.attention(float(scales[best])).mean_square(d)
    all_seen = len(losses) == found.task.subset_count
    error = 0.0 if all_seen else float(losses.std() / np.sqrt(len(losses)))
    problems = [problem for problem in found.problems if problem.code == "all_chosen"]
    if width >= T * d:
        text = f"the transformer's width {width} is not below T d = {T * d}"
        problems.append(Problem("no_narrower", found.name, text))
    C = float(scales[best])
    return Separation(found.name, found.task, width, means[best], error, C, tuple(problems))


def _separations(bench: Bench) -> Cases[Separation | Unseen]:
    from lemmata.papers.selection.setting import Task, near_orthogonal, one_hot

    if bench.instances is not None:
        cases = bench.evidence(ENCODED)
        return Cases(tuple(case if isinstance(case, Unseen) else separate(case) for case in cases))
    sizes = (("T=40 q=2 d=3 d_e=40", (40, 2, 3), 40, 0.6), ("Section 4", (200, 3, 5), 170, 0.3))
    found = [encode("one-hot, T=20 q=3 d=2", Task(20, 3, 2), one_hot(20))]
    for name, size, d_e, threshold in sizes:
        E = near_orthogonal(d_e, size[0], threshold, bench.seed)
        found.append(encode(name, Task(*size), E, seed=bench.seed))
    return Cases(tuple(separate(case) for case in found))


SEPARATIONS: Experiment[Cases[Separation | Unseen]] = Experiment(
    "equal-widths",
    "transformers with one-hot encodings (T=20, q=3, d=2), with T=40, q=2, d=3, d_e=40 and with "
    "the paper's T=200, q=3, d=5, d_e=170, and the least loss of nets as wide as they are",
    _separations,
)


@dataclass(frozen=True)
class TrainedTransformer:
    """A transformer at the end of its training, in two numbers; its loss has no 1/2."""

    name: str
    task: "Task"
    width: int
    alpha: float
    C: float
    loss: float
    problems: tuple[Problem, ...] = ()

    def floor(self, width: int) -> float:
        """The least loss of a fully connected net."""
        return float(theory.width_law(self.task.T, self.task.q, self.task.d, width))

    @property
    def narrowest_better(self) -> int:
        """The least width at which some fully connected net does better."""
        size = self.task.T * self.task.d
        return min(width for width in range(size + 1) if self.floor(width) < self.loss)


PAPER_STEPS = 66_667
"""50,000 steps of size 1 and 50,000 of size 1/3, as steps of size 1."""


def _trained_transformer(bench: Bench) -> Cases[TrainedTransformer]:
    """Lemma E.7 with one fresh encoding a step; on users' plans other statements look at this."""
    import jax
    import jax.numpy as jnp

    from lemmata.papers.selection.setting import (
        FamilyAttention,
        Scalars,
        TabulatedAttention,
        Task,
        TwoScalars,
        near_orthogonal_family,
        trajectory,
    )

    if bench.instances is not None:
        return Cases(())
    task, d_e = Task(200, 3, 5), 170
    E = near_orthogonal_family(MEMBERS, d_e, task.T, 0.3, bench.seed)
    y = task.draw_subsets(SUBSETS, np.random.default_rng([bench.seed, 4]))
    table = TabulatedAttention.of(FamilyAttention.of(E, y), 12.0, points=200)
    d, q, inertia, rate = (jnp.asarray(float(number)) for number in (task.d, task.q, d_e, 1))
    dynamics = TwoScalars(table, d, q, inertia, rate)
    batch = jax.tree.map(lambda leaf: leaf[None], dynamics)
    path = trajectory(batch, PAPER_STEPS, PAPER_STEPS)
    end = Scalars(path.alpha[0, -1], path.C[0, -1])
    loss = 2 * float(dynamics.loss(end))
    case = TrainedTransformer("Section 4", task, task.d + d_e, float(end.alpha), float(end.C), loss)
    return Cases((case,))


MEMBERS, SUBSETS = 4, 200
"""Encodings, and subsets of each, that stand for all."""

TRAINED_TRANSFORMER: Experiment[Cases[TrainedTransformer]] = Experiment(
    "trained-transformer",
    "T=200, q=3, d=5, d_e=170; the two-number recursion of a fresh encoding a step over the "
    "100,000 steps of Section 4",
    _trained_transformer,
)

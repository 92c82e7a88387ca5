"""Experiments on encodings and trained weights that need no training of their own.

What rejection accepts, which subsets an encoding outside rivals, the two places of the expectation
over encodings, and what fixed encodings have taught the weights.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.selection.experiments import runs
from lemmata.papers.selection.experiments.runs import Pair
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.selection.setting import Isometry, TrainingRun

THRESHOLDS = (0.2, 0.3)
"""Of the rejection, at the paper's T and d_e; below 0.2 it would need thousands of draws."""


@dataclass(frozen=True)
class Accepted:
    """Encodings that rejection accepted, measured as Definition A.1 asks."""

    name: str
    seed: int
    threshold: float
    measured: "Isometry"
    problems: Sequence[Problem] = ()


def _accepted(bench: Bench) -> Cases[Accepted]:
    from lemmata.papers.selection.setting import measure_isometry, near_orthogonal

    if bench.instances is not None:
        return Cases(())
    size = runs.PAPER
    found = []
    for threshold in THRESHOLDS:
        E = near_orthogonal(size.d_e, size.T, threshold, bench.seed)
        measured = measure_isometry(E, size.q, subsets=2_000, seed=bench.seed)
        name = f"T = {size.T}, d_e = {size.d_e}, threshold {threshold:g}"
        found.append(Accepted(name, bench.seed, threshold, measured))
    return Cases(tuple(found))


ACCEPTED: Experiment[Cases[Accepted]] = Experiment(
    "accepted-encodings",
    "encodings at T = 200, d_e = 170 that rejection with threshold 0.2 or 0.3 accepts, with q = 3",
    _accepted,
)

RIVAL_MEMBERS, RIVAL_SUBSETS = 20, 500


@dataclass(frozen=True)
class Rivals:
    """How often some encoding outside a subset has <e_i, e_y> >= 1.

    Attributes:
        q, d: the task.
        looked: pairs of an encoding and a subset that were looked at.
        found: of which have a rival.
        first: one of them.
        inner: its <e_i, e_y> for the positions outside.
    """

    name: str
    q: int
    d: int
    looked: int
    found: int
    first: dict[str, Any] | None
    inner: Float[np.ndarray, "others"] | None
    problems: Sequence[Problem] = ()

    @property
    def share(self) -> float:
        """The share of subsets with a rival."""
        return self.found / self.looked

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(np.sqrt(self.share * (1 - self.share) / self.looked))

    @property
    def floor(self) -> float:
        """What the loss is at least, for every alpha and every C >= 0.

        With a rival, attention outside is at least that on a chosen position; then the error is at
        least d/2 times the least of q (1/q - x)^2 + x^2, which is 1 / (q (q + 1)).
        """
        return self.share * self.d / (2 * self.q * (self.q + 1))

    @property
    def limit(self) -> float:
        """Where the loss goes as C grows and alpha goes to 1: all attention is on the rival."""
        return self.share * 0.5 * self.d * (1 + 1 / self.q)


def _rivals(bench: Bench) -> Cases[Rivals]:
    from lemmata.papers.selection.setting import Task, inner_products, near_orthogonal_family

    if bench.instances is not None:
        return Cases(())
    size = runs.PAPER
    E = near_orthogonal_family(RIVAL_MEMBERS, size.d_e, size.T, size.threshold, bench.seed)
    found = []
    for q in (size.q, *size.subset_sizes):
        draw, task = np.random.default_rng(bench.seed), Task(size.T, q, size.d)
        count, first, inner = 0, None, None
        for member, encodings in enumerate(E):
            y = task.draw_subsets(RIVAL_SUBSETS, draw)
            g = inner_products(encodings, y)
            np.put_along_axis(g, y, -np.inf, axis=1)
            rivals = np.flatnonzero(g.max(axis=1) >= 1)
            count += len(rivals)
            if first is None and len(rivals):
                row = int(rivals[0])
                inner = g[row][np.isfinite(g[row])]
                first = {
                    "encodings": f"near_orthogonal_family({RIVAL_MEMBERS}, {size.d_e}, {size.T}, "
                    f"{size.threshold:g}, {bench.seed})[{member}]",
                    "y": y[row].tolist(),
                    "i": int(g[row].argmax()),
                    "<e_i, e_y>": float(g[row].max()),
                }
        looked = RIVAL_MEMBERS * RIVAL_SUBSETS
        found.append(Rivals(f"q = {q}", q, size.d, looked, count, first, inner))
    return Cases(tuple(found))


RIVALS: Experiment[Cases[Rivals]] = Experiment(
    "rivals",
    "20 encodings with T = 200, d_e = 170, threshold 0.3, and 500 subsets of each of the sizes 3, "
    "5, 6, 7, 8",
    _rivals,
)


@dataclass(frozen=True)
class JensenPoint:
    """A loss with the expectation over encodings inside and outside, at one alpha and C.

    ``between`` is (d/2) alpha^2 times the mean over y of the trace of the covariance of S_y.
    """

    name: str
    inside: float
    outside: float
    between: float
    problems: Sequence[Problem] = ()


def _jensen(bench: Bench) -> Cases[JensenPoint]:
    import jax.numpy as jnp

    from lemmata.papers.selection.setting import (
        Family,
        Task,
        Weights,
        inner_products,
        near_orthogonal_family,
        population,
    )

    if bench.instances is not None:
        return Cases(())
    task, d_e = Task(9, 2, 3), 16
    E = near_orthogonal_family(12, d_e, task.T, 0.5, bench.seed)
    y = task.all_subsets()
    family = Family.of(E, y)
    g = np.stack([inner_products(member, y) for member in E])
    found = []
    for alpha, C in ((0.3, 0.5), (1.0, 2.0), (1.6, 4.0), (1.2, 8.0)):
        V = jnp.concatenate([alpha * jnp.eye(task.d), jnp.zeros((task.d, d_e))], axis=1)
        on_positions = jnp.concatenate([jnp.zeros(task.d), jnp.ones(d_e)])
        weights = Weights(V, C * jnp.diag(on_positions))
        inside, outside = (
            float(population(family, weights, jnp.zeros(task.d), average).loss)
            for average in ("inside", "outside")
        )
        S = np.exp(C * (g - 1))
        S /= S.sum(axis=2, keepdims=True)
        between = 0.5 * task.d * alpha**2 * float(S.var(axis=0).sum(axis=1).mean())
        found.append(JensenPoint(f"alpha = {alpha:g}, C = {C:g}", inside, outside, between))
    return Cases(tuple(found))


JENSEN: Experiment[Cases[JensenPoint]] = Experiment(
    "two-expectations",
    "12 random encodings with T = 9, q = 2, d = 3, d_e = 16, threshold 0.5, all subsets: the exact "
    "losses at four pairs of alpha and C",
    _jensen,
)

FRESH = 20
"""Fresh encodings under which trained weights are looked at again."""

SUBSETS = 10_000
"""Subsets at which they are looked at, under their own encodings."""


@dataclass(frozen=True)
class Switched:
    """Weights of one seed under other encodings than those they were trained with.

    Attributes:
        own: the loss of weights trained on fixed encodings, under these.
        fresh: their loss under fresh encodings of the same kind.
        stochastic: the loss under fresh encodings of weights trained that way.
        longer: the loss of fixed encodings at each tested length, with its standard error.
        trained: that on subsets of the positions that were trained.
        untrained: that on all other subsets.
        zero_loss: that of the zero predictor.
    """

    name: str
    own: float
    fresh: float
    stochastic: float
    longer: dict[int, tuple[float, float]]
    trained: dict[int, float]
    untrained: dict[int, float]
    zero_loss: float
    problems: Sequence[Problem] = ()


def _switched(bench: Bench) -> Cases[Switched]:
    pairs = bench.evidence(runs.SGD)
    return Cases(tuple(_switch(pair, bench.seed) for pair in pairs))


def _switch(pair: Pair, seed: int) -> Switched:
    from lemmata.papers.selection.setting import near_orthogonal_family

    how = pair.fixed.how
    T = how.task.T
    E = np.asarray(how.dynamics().E, dtype=float)
    others = near_orthogonal_family(FRESH, how.d_e, T, how.threshold, seed + 1)
    few = SUBSETS // FRESH
    fresh, stochastic = (
        float(_token_free(run, others, few, seed)[1].mean())
        for run in (pair.fixed, pair.stochastic)
    )
    longer, trained, untrained = {}, {}, {}
    for length in (T for T, q in how.tests if q == how.task.q):
        y, losses = _token_free(pair.fixed, E[:, :, :length], SUBSETS, seed)
        inside = (y < T).all(axis=1)
        longer[length] = float(losses.mean()), float(losses.std() / np.sqrt(SUBSETS))
        trained[length] = float(losses[0, inside].mean())
        untrained[length] = float(losses[0, ~inside].mean())
    own = float(_token_free(pair.fixed, E[:, :, :T], SUBSETS, seed)[1].mean())
    return Switched(
        pair.name,
        own,
        fresh,
        stochastic,
        longer,
        trained,
        untrained,
        how.task.zero_loss,
        pair.problems,
    )


def _token_free(
    run: "TrainingRun", E: Float[np.ndarray, "members d_e T"], count: int, seed: int
) -> tuple[Int[np.ndarray, "subsets q"], Float[np.ndarray, "members subsets"]]:
    """Subsets, and the loss of each averaged over tokens, at the end of a run."""
    import jax.numpy as jnp

    from lemmata.papers.selection.setting import Task

    task = Task(E.shape[2], run.how.task.q, run.how.task.d)
    y = task.draw_subsets(count, np.random.default_rng(seed))
    return y, np.asarray(_compiled()(run.weights, jnp.asarray(y), jnp.asarray(E)))


@cache
def _compiled() -> Callable[..., Any]:
    """The losses of subsets under several encodings, compiled once for each shape."""
    import jax

    from lemmata.papers.selection.setting import token_free_losses

    return jax.jit(jax.vmap(token_free_losses, in_axes=(None, None, 0)))


SWITCHED: Experiment[Cases[Switched]] = Experiment(
    "switched-encodings",
    "the weights of online SGD at the end: 10,000 subsets under their own encodings, at other "
    "lengths, and under 20 fresh encodings",
    _switched,
)

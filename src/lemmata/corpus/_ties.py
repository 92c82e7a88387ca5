"""W^cyc for many last tokens at once: how tied tokens share the attention.

A sample with ties around its label keeps the tied tokens alone, with how often each occurs. The
risk of all of these falls apart into one convex problem a component. Components of few tokens
are solved side by side by Newton's method, large ones one by one.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from lemmata.attention import Risk, minimise_logits

from ._counting import numbered
from ._orders import Orders
from ._windows import Samples

FEW_CELLS = 32
"""Components with no more tokens are solved side by side."""

MOST_ENTRIES = 500_000
"""Components whose samples have more are left for when somebody asks for them."""

MOST_STEPS, LONGEST_STEP, SETTLED = 200, 3.0, 1e-10
"""As in Newton's method for one component."""

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class TiedEntries:
    """The cyclic subdata: one entry a sample and tied token, sorted by sample.

    Attributes:
        sample: numbered from 0, those of one component together.
        node: the token, as a node of the orders.
        times: how often it occurs in the window.
        label: whether it is the label.
        component: of each sample.
    """

    sample: Int[np.ndarray, "entries"]
    node: Int[np.ndarray, "entries"]
    times: Int[np.ndarray, "entries"]
    label: np.ndarray
    component: Int[np.ndarray, "samples"]

    def of(self, components: np.ndarray) -> "TiedEntries":
        """The part of some components, given as flags by component."""
        kept = components[self.component]
        entries = kept[self.sample]
        number = np.cumsum(kept) - 1
        return TiedEntries(
            number[self.sample[entries]],
            self.node[entries],
            self.times[entries],
            self.label[entries],
            self.component[kept],
        )


@dataclass(frozen=True)
class Ties:
    """W^cyc where it was solved.

    Attributes:
        logit: of each node; centred in each component, 0 for tokens without ties, NaN where
            there was too much to solve.
        gradient: what is left of the gradient, by component, if its samples had weight 1 in all.
        samples: with ties, by component.
    """

    logit: Float[np.ndarray, "nodes"]
    gradient: Float[np.ndarray, "components"]
    samples: Int[np.ndarray, "components"]


def tied_entries(
    batches: Iterable[Samples], found: Orders, size: int, most: int = MOST_ENTRIES
) -> tuple[TiedEntries, Int[np.ndarray, "components"]]:
    """The cyclic subdata of samples, whose last tokens the orders know.

    Also how many samples each component has; one with more entries than ``most`` keeps none.
    """
    keys = found.query * size + found.token
    count = len(found.sizes)
    held, samples = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    parts = []
    for batch in batches:
        inside = batch.select(batch.reached)
        sample, token, times = inside.entries()
        query = inside.query.astype(np.int64)
        node = np.searchsorted(keys, query[sample] * size + token)
        own = found.component[np.searchsorted(keys, query * size + inside.label)]
        tied = found.component[node] == own[sample]
        choice = np.bincount(sample[tied], minlength=len(own)) > 1
        tied &= choice[sample]
        samples += np.bincount(own[choice], minlength=count)
        held += np.bincount(own[sample[tied]], minlength=count)
        choice &= held[own] <= most
        tied &= choice[sample]
        number = np.cumsum(choice) - 1
        label = token[tied] == inside.label[sample[tied]]
        small = (number[sample[tied]], node[tied], times[tied])
        parts.append((*(row.astype(np.int32) for row in small), label, own[choice]))
    return _joined(parts).of(held <= most), samples


def _joined(parts: list[tuple[np.ndarray, ...]]) -> TiedEntries:
    """Samples of all batches, those of one component together."""
    before = np.cumsum([0, *(len(part[4]) for part in parts)])
    none = [np.zeros(0, dtype=np.int32)]
    sample = np.concatenate(
        none + [part[0] + start for part, start in zip(parts, before[:-1], strict=True)]
    )
    node, times, label, component = (
        np.concatenate(none + [part[i] for part in parts]) for i in range(1, 5)
    )
    rank = np.empty(len(component), dtype=np.int64)
    order = np.argsort(component, kind="stable")
    rank[order] = np.arange(len(component))
    place = np.argsort(rank[sample], kind="stable")
    return TiedEntries(
        rank[sample][place], node[place], times[place], label[place].astype(bool), component[order]
    )


def ties(entries: TiedEntries, samples: Int[np.ndarray, "components"], found: Orders) -> Ties:
    """Solve every component that has entries; one that has samples alone was too large."""
    count = len(found.sizes)
    logit = np.zeros(len(found.token))
    gradient = np.zeros(count)
    large = (samples > 0) & (np.bincount(entries.component, minlength=count) == 0)
    logit[large[found.component]] = np.nan
    for width in (2, 4, 8, 16, FEW_CELLS):
        chosen = (samples > 0) & ~large & (found.sizes <= width) & (found.sizes > width // 2)
        if chosen.any():
            _side_by_side(entries.of(chosen), found, logit, gradient)
    for component in np.flatnonzero((samples > 0) & ~large & (found.sizes > FEW_CELLS)):
        part = entries.of(np.arange(count) == component)
        nodes, cell = np.unique(part.node, return_inverse=True)
        everyone = np.ones(len(cell), dtype=bool)
        weight = np.full(len(part.component), -np.log(len(part.component)))
        risk = Risk(part.sample, cell, np.log(part.times), part.label, everyone, weight, len(nodes))
        solution = minimise_logits(risk)
        logit[nodes], gradient[component] = solution.point, solution.gradient_norm
    return Ties(logit, gradient, samples)


def _side_by_side(
    entries: TiedEntries, found: Orders, logit: np.ndarray, gradient: np.ndarray
) -> None:
    """Newton's method on many small components; writes the logits and gradients."""
    problem = _Problem(entries, found)
    groups = len(problem.groups)
    point = np.zeros((groups, problem.width))
    best, least, left = point.copy(), np.full(groups, np.inf), np.full(groups, np.inf)
    open_ = np.ones(groups, dtype=bool)
    for _ in range(MOST_STEPS):
        slope, terms, hessian = problem.curvature(point)
        size = np.linalg.norm(slope, axis=1)
        stuck = (size >= least) & (left < SETTLED)
        better = open_ & (size < least)
        best[better], least[better] = point[better], size[better]
        left[better] = (size / np.maximum(terms, 1e-300))[better]
        open_ &= ~stuck & (size > EPS * terms / 4)
        if not open_.any():
            break
        step = np.linalg.solve(hessian, -slope[..., None])[..., 0]
        step *= problem.there
        step -= step.sum(1, keepdims=True) / problem.there.sum(1, keepdims=True) * problem.there
        reach = np.ptp(step, axis=1)
        step *= np.minimum(1.0, LONGEST_STEP / np.maximum(reach, 1e-300))[:, None]
        step[~open_] = 0.0
        point = problem.descend(point, step, np.sum(slope * step, axis=1))
    logit[problem.nodes[problem.there]] = best[problem.there]
    gradient[problem.groups] = least


class _Problem:
    """Small components of about the same size, as arrays with a place for every token."""

    def __init__(self, entries: TiedEntries, found: Orders) -> None:
        self.groups, of_sample = numbered(entries.component)
        inside = np.zeros(len(found.sizes), dtype=bool)
        inside[self.groups] = True
        nodes = np.flatnonzero(inside[found.component])
        nodes = nodes[np.argsort(found.component[nodes], kind="stable")]
        sizes = found.sizes[self.groups]
        self.width = int(sizes.max())
        first = np.cumsum(sizes) - sizes
        column = np.arange(len(nodes)) - np.repeat(first, sizes)
        row = np.repeat(np.arange(len(sizes)), sizes)
        self.nodes = np.zeros((len(sizes), self.width), dtype=np.int64)
        self.nodes[row, column] = nodes
        self.there = np.arange(self.width)[None] < sizes[:, None]
        place = np.zeros(len(found.token), dtype=np.int64)
        place[nodes] = row * self.width + column
        samples = len(entries.component)
        start = np.searchsorted(entries.sample, np.arange(samples))
        slot = np.arange(len(entries.sample)) - start[entries.sample]
        self.shape = (samples, int(slot.max()) + 1)
        self.cell = np.zeros(self.shape, dtype=np.int64)
        self.log_times = np.full(self.shape, -np.inf)
        self.label = np.zeros(self.shape, dtype=bool)
        self.cell[entries.sample, slot] = place[entries.node]
        self.log_times[entries.sample, slot] = np.log(entries.times)
        self.label[entries.sample, slot] = entries.label
        self.owner = of_sample
        self.weight = 1 / np.bincount(of_sample)[of_sample]

    def _log_odds(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slots = self.log_times + point.ravel()[self.cell]
        return slots, slots[self.label][:, None]

    def value(self, point: np.ndarray) -> Float[np.ndarray, "groups"]:
        """The mean of -log of the mass on the label, a component."""
        slots, label = self._log_odds(point)
        losses = np.logaddexp.reduce(slots - label, axis=1)
        return np.bincount(self.owner, self.weight * losses, len(self.groups))

    def curvature(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The gradient, the size of its terms, and the Hessian, which is made regular."""
        slots, _ = self._log_odds(point)
        mass = np.exp(slots - np.logaddexp.reduce(slots, axis=1)[:, None])
        wrong = np.where(self.label, 0.0, mass) * self.weight[:, None]
        missed = wrong.sum(axis=1)[:, None]
        cells = len(self.groups) * self.width
        slope = np.bincount(
            self.cell.ravel(), np.where(self.label, -missed, wrong).ravel(), cells
        ).reshape(-1, self.width)
        terms = np.bincount(
            self.cell.ravel(), np.where(self.label, missed, wrong).ravel(), cells
        ).reshape(-1, self.width)
        pairs = mass[:, :, None] * (mass * self.weight[:, None])[:, None, :]
        column = self.cell % self.width
        at = (self.owner[:, None, None] * self.width + column[:, :, None]) * self.width
        flat = np.bincount(
            (at + column[:, None, :]).ravel(), pairs.ravel(), cells * self.width
        ).reshape(-1, self.width, self.width)
        i = np.arange(self.width)
        flat[:, i, i] = 0.0
        hessian = -flat
        hessian[:, i, i] = flat.sum(axis=2)
        # A constant shift has no curvature; it gets some, and so do places without a token.
        mean = hessian[:, i, i].sum(axis=1) / self.there.sum(axis=1)
        both = self.there[:, :, None] & self.there[:, None, :]
        hessian += np.where(both, (mean / self.there.sum(axis=1))[:, None, None], 0.0)
        hessian[:, i, i] += np.where(self.there, 0.0, 1.0)
        return slope, np.linalg.norm(terms, axis=1), hessian

    def descend(self, point: np.ndarray, step: np.ndarray, promised: np.ndarray) -> np.ndarray:
        """Shorten the steps of components whose risk would not fall."""
        here = self.value(point)
        length = np.ones(len(here))
        for _ in range(40):
            there = self.value(point + length[:, None] * step)
            rising = there > here + 1e-4 * length * promised
            rising &= np.abs(length * promised) > 1e-14 * (1 + np.abs(here))
            if not rising.any():
                break
            length[rising] /= 2
        return point + length[:, None] * step

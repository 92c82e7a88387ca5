"""The experiments of Appendix C that are done in whole numbers and fractions."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.selection.experiments.networks import (
    Unseen,
    looked_at,
    task_problems,
    tasks_of,
)
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.selection.setting import Task
    from lemmata.papers.selection.setting._worst_case import BlindPair


@dataclass(frozen=True)
class KernelVector:
    """Whole tokens v, and E_y ||STS_q(v, y)||^2 by going through all subsets, in fractions."""

    name: str
    task: "Task"
    tokens: Int[np.ndarray, "T d"]
    cost: Fraction
    problems: tuple[Problem, ...]

    @property
    def size(self) -> int:
        """||v||^2."""
        return int((self.tokens**2).sum())

    @property
    def sum_size(self) -> int:
        """||v^(1) + ... + v^(T)||^2."""
        return int((self.tokens.sum(axis=0) ** 2).sum())


def _kernel_vectors(bench: Bench) -> Cases[KernelVector]:
    from lemmata.papers.selection.setting._networks import EVERY_SUBSET

    draw = np.random.default_rng([bench.seed, 3])
    found = []
    for name, task in tasks_of(bench):
        problems = task_problems(name, task)
        if task.subset_count > EVERY_SUBSET:
            text = f"{task.subset_count} subsets are too many to go through"
            problems = (*problems, Problem("too_large", name, text))
        for kind in ("any", "zero sum"):
            v = draw.integers(-3, 4, (task.T, task.d))
            v[-1] = 1 - v[:-1].sum(axis=0) + draw.integers(1, 3)
            if kind == "zero sum":
                v[-1] -= v.sum(axis=0)
            skip = "too_large" in {problem.code for problem in problems}
            cost = Fraction(0) if skip else _subset_cost(task, v)
            found.append(KernelVector(f"{name}, {kind}", task, v, cost, problems))
    return Cases(tuple(found))


def _subset_cost(task: "Task", v: Int[np.ndarray, "T d"]) -> Fraction:
    y = task.all_subsets()
    total = int((v[y].sum(axis=1) ** 2).sum())
    return Fraction(total, len(y) * task.q**2)


KERNEL_VECTORS: Experiment[Cases[KernelVector]] = Experiment(
    "kernel-vectors",
    "whole-number tokens for six tasks up to T=20, q=3, d=5, and all subsets, in fractions",
    _kernel_vectors,
)


@dataclass(frozen=True)
class Blind:
    """A pair of inputs that a first layer cannot tell apart."""

    name: str
    pair: "BlindPair"
    problems: tuple[Problem, ...]

    @property
    def q(self) -> int:
        """The size of the subset."""
        return self.pair.task.q


def _blind(bench: Bench) -> Cases[Blind | Unseen]:
    from lemmata.papers.selection.setting._worst_case import blind_pair

    draw = np.random.default_rng([bench.seed, 2])
    seen, unseen = looked_at(bench)
    found = []
    for name, task in seen:
        widest = (task.T - task.q + 1) * task.d - 1
        for width in sorted({1, -(-widest // 2), widest} - {0}):
            pair = blind_pair(task, width, draw)
            found.append(Blind(f"{name}, width {width}", pair, task_problems(name, task)))
    return Cases((*found, *unseen))


BLIND: Experiment[Cases[Blind | Unseen]] = Experiment(
    "blind-pairs",
    "six tasks up to T=20, q=3, d=5; whole-number first layers of up to (T-q+1)d-1 neurons, and "
    "the pair of inputs of Theorem C.2's proof, in fractions",
    _blind,
)

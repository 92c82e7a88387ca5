"""The experiments of Appendix C that are done in whole numbers and fractions."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Int

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from ..setting import EVERY_SUBSET, BlindPair, Task, blind_pair
from .networks import TASKS, speakable, task_problems
from .plans import AbstractOfPlan, Drawn, Trial, tabulate


@dataclass(frozen=True)
class KernelVector(AbstractOfPlan):
    """Whole tokens v, and E_y ||STS_q(v, y)||^2 by going through all subsets, in fractions."""

    tokens: Int[np.ndarray, "T d"]
    cost: Fraction

    @property
    def size(self) -> int:
        """||v||^2."""
        return int((self.tokens**2).sum())

    @property
    def sum_size(self) -> int:
        """||v^(1) + ... + v^(T)||^2."""
        return int((self.tokens.sum(axis=0) ** 2).sum())


def _kernel_vectors(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[KernelVector]:
    """Whole-number tokens, and all subsets, in fractions."""
    draw = np.random.default_rng([experiment.seed, 3])
    vectors = []
    for plan in plans:
        task, problems = plan.task, task_problems(plan)
        if task.subset_count > EVERY_SUBSET:
            text = f"with T = {task.T}, q = {task.q} there are too many subsets to go through"
            problems = (*problems, Problem("too_large", plan.name, text))
        skip = "too_large" in {problem.code for problem in problems}
        for kind in ("any", "zero sum"):
            v = draw.integers(-3, 4, (1, 1) if skip else (task.T, task.d))
            v[-1] = 1 - v[:-1].sum(axis=0) + draw.integers(1, 3)
            if kind == "zero sum":
                v[-1] -= v.sum(axis=0)
            cost = Fraction(0) if skip else _subset_cost(task, v)
            name = f"{plan.name}, {kind}"
            vectors.append(KernelVector(name, plan, v, cost, problems=problems))
    return tabulate(vectors, "cost")


def _subset_cost(task: Task, v: Int[np.ndarray, "T d"]) -> Fraction:
    y = task.all_subsets()
    total = int((v[y].sum(axis=1) ** 2).sum())
    return Fraction(total, len(y) * task.q**2)


KERNEL_VECTORS = Experiment(TASKS, _kernel_vectors)


@dataclass(frozen=True)
class Blind(AbstractOfPlan):
    """A pair of inputs that a first layer cannot tell apart."""

    pair: BlindPair

    @property
    def q(self) -> int:
        """The size of the subset."""
        return self.pair.task.q


def _blind(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Blind]:
    """Whole-number first layers of up to (T-q+1)d-1 neurons, and Theorem C.2's pair of inputs."""
    draw = np.random.default_rng([experiment.seed, 2])
    seen, unseen = speakable(plans)
    pairs = []
    for plan in seen:
        task = plan.task
        widest = (task.T - task.q + 1) * task.d - 1
        for width in sorted({1, -(-widest // 2), widest} - {0}):
            name = f"{plan.name}, width {width}"
            pair = blind_pair(task, width, draw)
            pairs.append(Blind(name, plan, pair, problems=task_problems(plan)))
    return Evidence(tuple(pairs), skipped=unseen)


BLIND = Experiment(TASKS, _blind)

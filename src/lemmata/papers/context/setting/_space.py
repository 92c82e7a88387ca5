"""How plans vary: what an adversary goes through, climbs over and shrinks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from lemmata.settings import AbstractSpace, Balls, Scope

from ._parts import (
    REPRESENTATIONS,
    TOKENS,
    Parts,
    digits_of,
    is_unit,
    plain_features,
    plain_representations,
    plain_tokens,
    renormalized,
    snapped,
)
from ._plan import Plan
from ._plan_training import training_of
from ._replay import replay
from ._task import Task

EPS = float(np.finfo(float).eps)

RATES = (1e-3, 0.1, 1.0, 10.0, 100.0)
"""Step sizes from far below to far beyond the stable range."""

MOST_HEADS = 80
"""Up to which a climb doubles their number."""

NOISES = (1.0, 0.01)
"""Of plans in a scope."""

EXTREMES: Mapping[str, tuple[Any, ...]] = {
    "tau": (0.0, 1e-9, 1e-4, 10.0, 1e4),
    "H": (1, 3, 4, 40),
    "N": (1, 3),
    "K": (3, 8),
    "d": (1, 4),
    "m": (1, 6, 16),
    "tokens": TOKENS[1:],
    "representations": REPRESENTATIONS[1:],
    "token_scale": (1e-4, 0.1, 3.0, 10.0, 1e4),
    "scale": (1e-4, 1e4),
    "query_scale": (1e-4, 1e4),
    "beta": (1e-4, 0.1, 10.0, 1e3),
    "seed": (2, 3),
}
"""What a plan is made of away from the usual (``Parts``), tried alone and in pairs."""


class PlanSpace(AbstractSpace[Plan]):
    """Tokens, representations, noise, heads and the start of Q."""

    limits: ClassVar = {"N": 2, "K": 3, "d": 2, "m": 2, "H": 2}

    def scopes(self, limits: Mapping[str, int]) -> Sequence[Scope[Plan]]:
        most = {name: limits.get(name, self.limits[name]) for name in self.limits}
        others = ", ".join(f"{name} <= {most[name]}" for name in ("N", "d", "m", "H"))
        return [
            Scope(
                f"K = {K}, {others}, plain vectors, tau in {{{', '.join(map(str, NOISES))}}}",
                {**most, "K": K},
                lambda K=K: _all_plans(most, K),
            )
            for K in range(2, most["K"] + 1)
        ]

    def extremes(self) -> Iterator[Plan]:
        single = [{name: value} for name, values in EXTREMES.items() for value in values]
        pairs = [a | b for a, b in combinations(single, 2) if a.keys() != b.keys()]
        for number, changed in enumerate([{}, *single, *pairs], start=1):
            says = " ".join(f"{name}={value}" for name, value in changed.items())
            yield Parts(**changed).plan(f"extreme {number}: {says or 'none'}", number)

    def draw(self, generator: np.random.Generator) -> Plan:
        N = int(generator.integers(1, 4))
        parts = Parts(
            N=N,
            K=N + int(generator.integers(1, 4)),
            d=int(generator.integers(1, 4)),
            m=int(generator.integers(1, 4)) if generator.random() < 0.8 else 16,
            H=int(generator.integers(max(N - 1, 1), 5)),
            tau=_rounded(10 ** generator.uniform(-4, 1)),
            tokens=str(generator.choice(TOKENS, p=_mostly_first(len(TOKENS)))),
            representations=str(generator.choice(REPRESENTATIONS)),
            token_scale=_rounded(10 ** generator.uniform(-1, 1))
            if generator.random() < 0.2
            else 1.0,
            scale=float(10.0 ** int(generator.integers(-1, 2))),
            beta=_rounded(10 ** generator.uniform(-1, 1)),
            seed=int(generator.integers(100)),
        )
        return parts.plan("drawn", int(generator.integers(2**31)))

    def vary(self, instance: Plan, generator: np.random.Generator) -> Plan:
        task, how = instance.task, int(generator.integers(7))
        if how == 0:
            tau = task.tau * 10 ** generator.normal(0, 0.5)
            return replace(instance, task=replace(task, tau=_rounded(tau)))
        if how == 1:
            return replace(instance, seed=int(generator.integers(1000)))
        if how == 2:
            more = int(generator.choice([-1, 1, min(instance.heads, MOST_HEADS - instance.heads)]))
            return replace(instance, heads=max(1, instance.heads + more))
        if how == 3:
            scale = _rounded(instance.scale * 10 ** generator.normal(0, 0.5))
            return replace(instance, scale=scale)
        if how == 4:
            smaller = list(_fewer(instance))
            return smaller[int(generator.integers(len(smaller)))] if smaller else instance
        step = 10 ** generator.uniform(-2, 0)
        if how == 5:
            moved = task.representations + step * generator.standard_normal(
                task.representations.shape
            ) * np.abs(task.representations).max(initial=1e-9)
            return replace(instance, task=replace(task, representations=moved))
        tokens = task.tokens + step * generator.standard_normal(task.tokens.shape)
        if is_unit(task.tokens):
            tokens = renormalized(tokens)
        return replace(instance, task=replace(task, tokens=tokens))

    def simpler(self, instance: Plan) -> Iterator[Plan]:
        yield from _far_fewer(instance)
        yield from _fewer(instance)
        yield from _plainer(instance)

    def size(self, instance: Plan) -> tuple[float | int, ...]:
        """The sum of N, K, d, m and H; and the digits that there are to type."""
        task = instance.task
        total = task.N + task.K + task.d + task.m + instance.heads
        typed = np.concatenate([task.tokens.ravel(), task.representations.ravel()])
        others = np.array([task.tau, instance.scale, float(instance.seed)])
        return (total, digits_of(typed) + digits_of(others))

    def degenerate(self, instance: Plan) -> str | None:
        if instance.task.N == instance.task.K:
            return "every token has its label in the prompt"
        if len(np.unique(instance.task.tokens, axis=1).T) < instance.task.K:
            return "two tokens are the same"
        if not instance.task.representations.any():
            return "labels are noise alone"
        return None

    def doubt(self, instance: Plan) -> float:
        """What the conditioning of Z-bar, and of B_k of full row rank, does to rounding."""
        task = instance.task
        worst = float(np.linalg.cond(task.root))
        if instance.heads >= task.N and instance.frozen.resolved:
            sizes = instance.frozen.sizes
            worst = max(worst, float((sizes[:, 0] / sizes[:, -1]).max()))
        return min(1.0, EPS * worst) if np.isfinite(worst) else EPS

    def equivalents(self, instance: Plan) -> Iterator[Plan]:
        """Tasks, examples and queries in the opposite order."""
        task = instance.task
        order = [*range(task.N)[::-1], *range(task.N, task.K)[::-1]]
        yield _with(instance, task.tokens, task.representations[::-1].copy(), task.N)
        yield _with(instance, task.tokens[:, order], task.representations[:, order], task.N)

    def changes(self, instance: Plan) -> Iterator[tuple[str, Plan]]:
        task = instance.task
        yield "the seed of Q", replace(instance, seed=instance.seed + 1)
        yield "the size of Q", replace(instance, scale=2 * instance.scale)
        yield "the noise", replace(instance, task=replace(task, tau=2 * task.tau))
        yield "the number of heads", replace(instance, heads=instance.heads + 1)
        scaled = replace(task, representations=10 * task.representations)
        yield "the size of the representations", replace(instance, task=scaled)

    def trainings(self) -> Sequence[Mapping[str, Any]]:
        """Step sizes and numbers of steps; the algorithm is part of a statement."""
        return ({}, *({"rate": rate} for rate in RATES), {"steps": 10}, {"steps": 100_000})

    def replay(
        self, instance: Plan, options: Mapping[str, Any], steps: Int[np.ndarray, "records"]
    ) -> Balls | None:
        return replay(instance, training_of(options), steps)


def _all_plans(most: Mapping[str, int], K: int) -> Iterator[Plan]:
    """All plans with K plain tokens, up to the order of prompt tokens and of queries."""
    number = 0
    sizes = product(*(range(1, most[name] + 1) for name in ("N", "d", "m", "H")))
    for N, d, m, H in sorted(sizes, key=sum):
        if N >= K:
            continue
        for tokens, features, tau in product(
            _dictionaries(plain_tokens(d), N, K), product(plain_features(m), repeat=K), NOISES
        ):
            number += 1
            task = Task(np.array(tokens).T, np.array(features).T, N, tau, f"plan {number}")
            yield Plan(task, H)


def _dictionaries(
    family: Sequence[tuple[float, ...]], N: int, K: int
) -> Iterator[tuple[tuple[float, ...], ...]]:
    """Distinct tokens: N for the prompt, the others as queries."""
    for prompt in combinations(family, N):
        rest = [token for token in family if token not in prompt]
        for queries in combinations(rest, K - N):
            yield (*prompt, *queries)


def _far_fewer(plan: Plan) -> Iterator[Plan]:
    """The first example or two, the last query, and as few heads, coordinates and tasks."""
    task = plan.task
    for few in (1, 2):
        if few < task.N and task.N < task.K:
            kept = [*range(few), task.K - 1]
            heads = max(1, plan.heads - task.N + few)
            for d, m in ((few, 1), (few, task.m), (task.d, task.m)):
                tokens, features = task.tokens[:d, kept], task.representations[:m, kept]
                if is_unit(task.tokens) and tokens.any(axis=0).all():
                    tokens = renormalized(tokens)
                yield replace(_with(plan, tokens, features, few), heads=heads)


def _fewer(plan: Plan) -> Iterator[Plan]:
    """Without a token, a head, a coordinate, or a task."""
    task = plan.task
    for k in range(task.K):
        N = task.N - 1 if k < task.N else task.N
        if N and N < task.K - 1:
            yield _with(
                plan, np.delete(task.tokens, k, 1), np.delete(task.representations, k, 1), N
            )
    if plan.heads > 3:
        yield replace(plan, heads=plan.heads // 2)
    if plan.heads > 1:
        yield replace(plan, heads=plan.heads - 1)
    if task.d > 1:
        for row in range(task.d):
            tokens = np.delete(task.tokens, row, 0)
            if is_unit(task.tokens) and (np.abs(tokens).max(axis=0) > 0).all():
                tokens = renormalized(tokens)
            yield _with(plan, tokens, task.representations, task.N)
    if task.m > 1:
        for row in range(task.m):
            yield _with(plan, task.tokens, np.delete(task.representations, row, 0), task.N)


def _plainer(plan: Plan) -> Iterator[Plan]:
    """With rounder numbers."""
    task = plan.task
    for change in ({"seed": 0}, {"seed": 1}, {"scale": 1.0}, {"scale": _rounded(plan.scale)}):
        yield replace(plan, **change)
    for tau in (1.0, 0.1, 0.01, _rounded(task.tau)):
        yield replace(plan, task=replace(task, tau=tau))
    for column in (None, *range(task.K)):
        for features in plain_representations(task.representations, column):
            yield _with(plan, task.tokens, features, task.N)
        yield _with(plan, snapped(task.tokens, column), task.representations, task.N)


def _with(
    plan: Plan,
    tokens: Float[np.ndarray, "d K"],
    representations: Float[np.ndarray, "m K"],
    N: int,
) -> Plan:
    return replace(plan, task=Task(tokens, representations, N, plan.task.tau, plan.name))


def _rounded(value: float) -> float:
    """To two digits."""
    return float(f"{value:.2g}")


def _mostly_first(count: int) -> list[float]:
    """Probabilities: one half for the first."""
    return [0.5] + [0.5 / (count - 1)] * (count - 1)

"""A corpus by brute force: samples one by one, edges in dictionaries, limits by other solvers."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

Edge = tuple[str, str]
Row = dict[int, Fraction]


def samples(
    documents: Sequence[Sequence[str]], window: int, kept: set[str] | None = None
) -> Iterator[tuple[list[str], str]]:
    """Every position with the window up to it, without tokens that are not kept, and the next."""
    for words in documents:
        for i in range(len(words) - 1):
            if kept is not None and not {words[i], words[i + 1]} <= kept:
                continue
            inside = words[max(0, i - window + 1) : i + 1]
            yield [word for word in inside if kept is None or word in kept], words[i + 1]


def edges(
    documents: Sequence[Sequence[str]], window: int, kept: set[str] | None = None
) -> dict[str, Counter[Edge]]:
    """Who beats whom after which token, and how often."""
    found: dict[str, Counter[Edge]] = defaultdict(Counter)
    for words, label in samples(documents, window, kept):
        if label in words:
            for other in set(words) - {label}:
                found[words[-1]][label, other] += 1
    return dict(found)


def least_norm(edges: Sequence[tuple[int, int]], weights: Sequence[int]) -> list[Fraction]:
    """min sum m u^2 / 2 with u_a - u_b >= 1 on every edge, by an active-set method in fractions.

    The dual method of Goldfarb and Idnani: start at 0, add the most violated constraint, take
    steps in the dual until it holds. Written from the textbook, with plain Gaussian elimination.
    """
    rows = [{a: Fraction(1), b: Fraction(-1)} for a, b in edges]
    u = [Fraction(0)] * len(weights)
    active: list[int] = []
    multiplier: dict[int, Fraction] = {}
    while True:
        slack = {i: u[a] - u[b] - 1 for i, (a, b) in enumerate(edges) if i not in active}
        worst = min(slack, key=lambda i: slack[i], default=None)
        if worst is None or slack[worst] >= 0:
            return u
        own = Fraction(0)
        while True:
            table = [[_inner(rows[i], rows[j], weights) for j in active] for i in active]
            right = [_inner(rows[i], rows[worst], weights) for i in active]
            pull = _solve(table, right)
            direction = dict(rows[worst])
            for share, i in zip(pull, active, strict=True):
                for node, sign in rows[i].items():
                    direction[node] = direction.get(node, Fraction(0)) - share * sign
            move = {node: value / weights[node] for node, value in direction.items() if value}
            gain = sum(
                (move.get(node, 0) * sign for node, sign in rows[worst].items()), Fraction(0)
            )
            limits = [
                (multiplier[i] / share, i)
                for share, i in zip(pull, active, strict=True)
                if share > 0
            ]
            limit = min(limits, default=None)
            a, b = edges[worst]
            full = (1 - u[a] + u[b]) / gain if gain else None
            assert limit is not None or full is not None, "infeasible"
            step = full if limit is None or (full is not None and full <= limit[0]) else limit[0]
            assert step is not None
            for node, value in move.items():
                u[node] += step * value
            for share, i in zip(pull, active, strict=True):
                multiplier[i] -= step * share
            own += step
            if step == full:
                active.append(worst)
                multiplier[worst] = own
                break
            assert limit is not None
            active.remove(limit[1])


def _inner(
    one: dict[int, Fraction], other: dict[int, Fraction], weights: Sequence[int]
) -> Fraction:
    return sum(
        (value * other[node] / weights[node] for node, value in one.items() if node in other),
        Fraction(0),
    )


def _solve(table: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    rows = [[*row, value] for row, value in zip(table, right, strict=True)]
    size = len(rows)
    for i in range(size):
        pivot = next(j for j in range(i, size) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(size):
            if j != i and rows[j][i]:
                factor = rows[j][i]
                rows[j] = [x - factor * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


def zipfian(words: int, vocabulary: int, seed: int, again: float = 0.3) -> list[str]:
    """Words by Zipf's law, some of which repeat one of the twenty before."""
    draw = np.random.default_rng(seed)
    chance = 1 / np.arange(1, vocabulary + 1)
    found: list[int] = []
    for fresh in draw.choice(vocabulary, words, p=chance / chance.sum()).tolist():
        near = draw.random() < again and len(found) > 20
        found.append(found[-int(draw.integers(1, 20))] if near else fresh)
    return [f"w{number}" for number in found]

"""Plan files of this paper.

A plan says N, tau and H; its tokens, one row a token, or K and d for random ones; and its
representations, one row a token, or m for Gaussian ones. What else it may say is in ``KEYS``.
"""

from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.papers._plans import Entry, check_size, choice, made_at, number, read_entries, whole
from lemmata.tokens import as_matrix, read_embeddings

from ._plan import Plan
from ._task import Task

Rows = Float[np.ndarray, "K dimension"]

KEYS = (
    *("N", "tau", "H", "tokens", "K", "d", "token_law", "representations", "m"),
    *("name", "beta", "seed", "epsilon", "delta", "B"),
)
TOKEN_LAWS = ("unit", "gaussian")

SHAPE = (
    'expected {"N": ..., "tau": ..., "H": ..., "K": ..., "d": ..., "m": ...} with "tokens" in '
    'place of "K" and "d" and "representations" in place of "m" if they are given, or '
    '{"plans": [...]} of such objects'
)

LARGEST = 10_000
"""The largest N, K, d, m or H: more is a slip of the pen."""

MOST_NUMBERS = 20_000_000
"""The largest array: of attention, of all Q_h, of the B_k."""

EXTREME = 1e30
"""No number may be larger, nor smaller than one over it unless it is 0: products would overflow."""

LARGEST_SEED = 2**32 - 1

TOKENS, REPRESENTATIONS = 1, 2
"""Random tokens, representations and Q_h come from streams of their own."""


def read_plans(file: Path, embeddings: Path | None = None) -> list[Plan]:
    """The plans of a file, with tokens from a file of their own if given."""
    entries = read_entries(file, setting="context", shape=SHAPE, keys=KEYS)
    if embeddings is None:
        return [_plan(entry, None) for entry in entries]
    rows = read_embeddings(embeddings)
    return [_plan(entry, (rows, str(embeddings))) for entry in entries]


def _plan(entry: Entry, given: tuple[Rows, str] | None) -> Plan:
    said, where = entry.said, entry.where
    N = whole(entry.require("N", SHAPE), "N", where)
    entry.require("tau", SHAPE)
    tau = _moderate(entry, "tau")
    heads = whole(entry.require("H", SHAPE), "H", where)
    check_size(heads, "H", where, LARGEST)
    seed = whole(said.get("seed", 0), "seed", where, zero=True)
    check_size(seed, "seed", where, LARGEST_SEED)
    tokens = _tokens(entry, seed, given)
    _check_prompt(N, len(tokens), where)
    representations = _representations(entry, seed, len(tokens))
    _check_sizes(N, heads, tokens, representations, where)
    task = made_at(where, Task, tokens.T, representations.T, N, tau, entry.name)
    return _with_choices(entry, task, heads, seed)


def _with_choices(entry: Entry, task: Task, heads: int, seed: int) -> Plan:
    """The plan, with what was said about the start and about Theorem 2."""
    names = {"beta": "scale", "epsilon": "epsilon", "delta": "delta", "B": "bound"}
    said: dict[str, Any] = {
        name: _moderate(entry, key) for key, name in names.items() if key in entry.said
    }
    if said.get("delta", 0.5) >= 1:
        raise InputError(f"{entry.where}: delta is a probability below 1; got {said['delta']:g}")
    return Plan(task, heads, seed=seed, **said)


def _moderate(entry: Entry, key: str) -> float:
    """A number of a sensible size; only tau may be 0."""
    found = number(entry.said[key], key, entry.where, zero=key == "tau")
    if found != 0 and not 1 / EXTREME <= found <= EXTREME:
        raise InputError(
            f"{entry.where}: {key} = {found:g} is extreme; use a number between {1 / EXTREME:g} "
            f"and {EXTREME:g}"
        )
    return found


def _matrix(rows: object, where: str) -> Rows:
    """Rows of numbers of a sensible size."""
    found = as_matrix(rows, where)
    if np.abs(found).max() > EXTREME:
        raise InputError(f"{where}: an entry is larger than {EXTREME:g}")
    return found


def _tokens(entry: Entry, seed: int, given: tuple[Rows, str] | None) -> Rows:
    said, where = entry.said, entry.where
    if given is None and "tokens" not in said:
        law = choice(said.get("token_law", "unit"), "token_law", where, TOKEN_LAWS)
        rows = _gaussian(entry, seed, TOKENS, _size(entry, "K"), "d")
        return rows / np.linalg.norm(rows, axis=1, keepdims=True) if law == "unit" else rows
    if given is not None and "tokens" in said:
        raise InputError(f"{given[1]}: the plan '{entry.name}' has tokens of its own; drop one")
    for key in ("K", "d", "token_law"):
        if key in said:
            raise InputError(f'{where}: "{key}" is for random tokens, but the tokens are given')
    return _matrix(said["tokens"], f"{where}, tokens") if given is None else _matrix(*given)


def _representations(entry: Entry, seed: int, K: int) -> Rows:
    said, where = entry.said, entry.where
    if "representations" not in said:
        return _gaussian(entry, seed, REPRESENTATIONS, K, "m")
    if "m" in said:
        raise InputError(f'{where}: "m" is for random representations, but they are given')
    rows = _matrix(said["representations"], f"{where}, representations")
    if len(rows) != K:
        raise InputError(
            f"{where}: {len(rows)} representations, but there are K = {K} tokens; token i owns "
            "row i"
        )
    return rows


def _size(entry: Entry, key: str) -> int:
    size = whole(entry.require(key, SHAPE), key, entry.where)
    check_size(size, key, entry.where, LARGEST)
    return size


def _gaussian(entry: Entry, seed: int, stream: int, K: int, key: str) -> Rows:
    """K rows of so many standard normal numbers as the plan says under a key."""
    size = _size(entry, key)
    check_size(K * size, f"K {key}", entry.where, MOST_NUMBERS)
    return np.random.default_rng([seed, stream]).standard_normal((K, size))


def _check_prompt(N: int, K: int, where: str) -> None:
    if N > K:
        raise InputError(
            f"{where}: N = {N:,} examples, but the dictionary has only K = {K:,} tokens; use more "
            "tokens or a smaller N"
        )


def _check_sizes(
    N: int,
    H: int,
    tokens: Float[np.ndarray, "K d"],
    representations: Float[np.ndarray, "K m"],
    where: str,
) -> None:
    (K, d), m = tokens.shape, representations.shape[1]
    for name, size in (("K", K), ("d", d), ("m", m)):
        check_size(size, name, where, LARGEST)
    for name, size in (
        ("N H K", N * H * K),
        ("N N K", N * N * K),
        ("H d d", H * d * d),
        ("m m", m * m),
    ):
        check_size(size, name, where, MOST_NUMBERS)

"""Datasets within a statement's literal hypotheses that break it."""

from dataclasses import replace

import numpy as np

from lemmata.settings import Example

from .setting import Dataset

SHARED = ("y q q", "z q q", "w x q q", "q x", "x q")
OUT_OF_REACH = ("2 1 1", "4 3 0 1 0", "0 0", "1 2", "3 4")


def shared_next_token() -> Dataset:
    """Three tokens share a next token, and the loss vanishes all the same."""
    return Dataset.from_sentences("shared-next-token", [s.split() for s in SHARED])


def shared_by_two() -> Dataset:
    """Two tokens share a next token, and the loss vanishes all the same."""
    return Dataset.from_sentences("aa, baa", ["aa", "baa"])


def confused() -> Dataset:
    """Under b, a beats b and b beats c: b is confused, against Assumption 1."""
    return Dataset.from_sentences("abb, bc, cbc", ["abb", "bc", "cbc"])


def label_out_of_reach() -> Dataset:
    """Assumption 1 as printed holds, but two inputs lack the preimage of their next token.

    Definition 1 assigns nothing to them, so it does not notice; the order under 1 then has two
    optimal tokens of different reach.
    """
    return Dataset.from_sentences("label-out-of-reach", [s.split() for s in OUT_OF_REACH])


def without_preimage() -> tuple[Dataset, np.ndarray]:
    """[a b] lacks the preimage of c, and along these (W_ov x)_v the loss vanishes all the same."""
    dataset = Dataset.from_sentences("abc, ba, cc", ["abc", "ba", "cc"])
    return dataset, np.array([[0.0, 3.0, 2.9], [3.0, 0.0, 2.9], [0.0, 0.0, 3.0]])


def bag_decides() -> Dataset:
    """Under a, a and b beat each other: how often they occur decides, and the loss can vanish."""
    return Dataset.from_sentences("ab, baab", ["ab", "baab"])


def stuck() -> Dataset:
    """W_kq(0) prefers two tokens under c that are not optimal: attention swings between them."""
    plain = Dataset.from_sentences("abca, bc, ca from another start", ["abca", "bc", "ca"])
    start = np.zeros((3, 3))
    a, b, c = (plain.data.vocabulary.index(word) for word in "abc")
    start[a, c], start[b, c] = 20.0, 20.3
    return replace(plain, embeddings=np.eye(3), initial_weights=start)


def skewed(log_pi: float) -> Dataset:
    """The sentences aba and bab, where log π of [b a] is given, but for log 3."""
    name = f"aba, bab with log π([b a]) = {log_pi:g}"
    plain = Dataset.from_sentences(name, ["aba", "bab"])
    rare = [[plain.data.name(x) for x in s.tokens] == ["b", "a"] for s in plain.data.samples]
    return replace(plain, log_frequency=np.where(rare, log_pi, 0.0))


EXAMPLES = (
    Example(
        "a collocation and two sentences",
        "The first two words of a sentence say what follows what; attention has to find, in longer "
        "sentences, the word whose follower comes next.",
        "the cat\ncat sat\nsat the\nsat the cat sat\ncat sat the cat",
    ),
    Example(
        "three words before one",
        "Three tokens share a next token, against Assumption 1; the loss vanishes all the same.",
        "\n".join(SHARED),
    ),
    Example(
        "a confused word",
        "Under b, a beats b and b beats c: b is neither right nor wrong.",
        "a b b\nb c\nc b c",
    ),
    Example(
        "an answer out of reach",
        "Two inputs lack the word that should be selected.",
        "\n".join(OUT_OF_REACH),
    ),
    Example(
        "how often decides",
        "Under a, a and b beat each other: how often each occurs decides.",
        "a b\nb a a b",
    ),
)
"""Data to begin with, and what breaks statements."""

"""Checking: all claims of a paper against one plain training run."""

from collections import Counter

from benchmarks._rows import Row, timed
from benchmarks.training import Seconds
from lemmata.claims import Bench, check
from lemmata.papers import papers


def all_claims(seed: int, training: Seconds) -> Row:
    """Every claim on a fresh bench, which trains more than the one batch compared with."""
    claims = papers()["convergence"].claims
    bench = Bench(seed=seed)
    seconds, verdicts = timed(lambda: [check(claim, bench) for claim in claims])
    count = Counter(verdict.status.value for verdict in verdicts)
    note = ", ".join(f"{number} {status}" for status, number in sorted(count.items()))
    many = f"{training.datasets} datasets, warm"
    return Row(many, training.warm_all, f"all {len(claims)} claims checked", seconds, note)

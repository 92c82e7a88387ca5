"""Checking: all claims of a paper on many datasets against one."""

from collections import Counter
from collections.abc import Sequence

from benchmarks._rows import Row, timed
from lemmata.claims import Bench, Verdict, check
from lemmata.papers import papers
from lemmata.papers.convergence.setting import Dataset


def all_claims(datasets: Sequence[Dataset]) -> Row:
    """Every claim, everything trained for it included, each on a fresh bench."""
    one, _ = timed(lambda: _verdicts(datasets[:1]))
    many, verdicts = timed(lambda: _verdicts(datasets))
    count = Counter(verdict.status.value for verdict in verdicts)
    note = ", ".join(f"{number} {status}" for status, number in sorted(count.items()))
    names = (f"{len(verdicts)} claims, one dataset", f"{len(datasets)} datasets")
    return Row(names[0], one, names[1], many, note)


def _verdicts(datasets: Sequence[Dataset]) -> list[Verdict]:
    bench = Bench(instances=datasets)
    return [check(claim, bench) for claim in papers()["convergence"].claims]

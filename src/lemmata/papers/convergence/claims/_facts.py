"""Facts about structures that are true or false as a whole, with the first dataset at fault."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

from lemmata.claims import Comparison, Fact
from lemmata.settings import Evidence

from ..setting import Dataset

Fault = tuple[str, dict[str, Any]]
"""What is wrong, in words, and the numbers or names that matter."""


def no_fault(
    part: str, says: str
) -> Callable[[Callable[[Dataset], Iterator[Fault]]], Callable[[Evidence[Dataset]], Fact]]:
    """A check out of a search for faults of one dataset.

    Fails with the first fault; holds if no dataset has any, which is said with their number in
    the place of ``{}``.
    """

    def wrap(faults: Callable[[Dataset], Iterator[Fault]]) -> Callable[[Evidence[Dataset]], Fact]:
        @wraps(faults)
        def check(evidence: Evidence[Dataset]) -> Fact:
            for i, dataset in enumerate(evidence):
                for text, details in faults(dataset):
                    samples = [dataset.data.show(sample) for sample in dataset.data.samples]
                    witness = {"dataset": dataset.name, "samples": samples, **details}
                    return Fact(False, f"{part}: {text}", part=part, witness=witness, case=i)
            count = len(evidence)
            return Fact(True, f"{part}: {says.format(count)}", part=part, checked=count)

        return check

    return wrap


def on_its_own(
    evidence: Evidence[Any], comparisons: Comparison | Sequence[Comparison]
) -> list[Comparison]:
    """Comparisons on instances of their own, as a counterexample gives them."""
    listed = [comparisons] if isinstance(comparisons, Comparison) else comparisons
    return [replace(each, cases=evidence.cases, places=evidence.steps) for each in listed]

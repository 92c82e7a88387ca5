"""Facts about structures: how many faults each dataset has, and the first one in words."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any

from lemmata.claims import Comparison, Comparisons, Fact, as_list, at_most
from lemmata.settings import Evidence

from ..setting import Dataset

Fault = tuple[str, dict[str, Any]]
"""What is wrong, in words, and the numbers or names that matter."""


def no_fault(
    part: str,
) -> Callable[
    [Callable[[Dataset], Iterator[Fault]]], Callable[[Evidence[Dataset]], list[Comparison]]
]:
    """A check out of a search for faults of one dataset: none has any; the first one is told."""

    def wrap(
        faults: Callable[[Dataset], Iterator[Fault]],
    ) -> Callable[[Evidence[Dataset]], list[Comparison]]:
        @wraps(faults)
        def check(evidence: Evidence[Dataset]) -> list[Comparison]:
            known = [list(faults(dataset)) for dataset in evidence]
            numbers = [float(len(each)) for each in known]
            comparisons: list[Comparison] = [at_most(numbers, 0.0, part=f"faults, {part}")]
            for i, (dataset, each) in enumerate(zip(evidence, known, strict=True)):
                for text, details in each[:1]:
                    samples = [dataset.data.show(sample) for sample in dataset.data.samples]
                    witness = {"dataset": dataset.name, "samples": samples, **details}
                    fault = Fact(False, f"{part}: {text}", part=part, witness=witness, case=i)
                    return [fault, *comparisons]
            return comparisons

        return check

    return wrap


def on_its_own(evidence: Evidence[Any], comparisons: Comparisons) -> list[Comparison]:
    """Comparisons on instances of their own, as a counterexample gives them."""
    return [
        replace(
            each,
            cases=evidence.cases,
            places=evidence.steps if each.places is None else each.places,
        )
        for each in as_list(comparisons)
    ]

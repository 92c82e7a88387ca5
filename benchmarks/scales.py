"""Verdicts with features of other sizes: ``benchmarks.scales [PAPER...] [--only TEXT...]``.

Every claim is checked on its own instances, and on the same with features that are 10^4 times as
long and as short: embeddings in the token settings, with W(0) and step sizes so that all logits
stay the same, and representations with their noise in the context setting. Selection plans have
encodings of length one and nothing to scale. Prints every claim whose status changes, unless it
does not apply there.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from lemmata._errors import InputError
from lemmata.claims import Bench, Claim, check
from lemmata.papers import papers

PAPERS = ("mechanics", "convergence", "context")
SCALES = (1e-4, 1e4)


def scaled(instance: Any, by: float) -> Any:
    """The instance with features of another size, and otherwise the same."""
    if hasattr(instance, "task"):
        task = instance.task
        task = replace(task, representations=by * task.representations, tau=by**2 * task.tau)
        return replace(instance, task=task)
    E = np.eye(instance.K) if instance.embeddings is None else instance.embeddings
    W = instance.initial_weights
    return replace(instance, embeddings=by * E, initial_weights=None if W is None else W / by**2)


POWERS = {"ngd": 2, "block": 2, "adam": 2, "factored": 1, "gd": 4, "sgd": 4}
"""Step sizes that are numbers fall with this power of the features: with W go steps of a given
length, with its factors half of them, and with W and its gradient plain ones."""


def rescaled(training: Any, by: float) -> dict[str, float]:
    """The step size that takes the same way; those that are relative to L do so by themselves."""
    rate = getattr(training, "step_size", None)
    algorithm = getattr(training, "algorithm", None)
    if not isinstance(rate, float) or algorithm not in POWERS:
        return {}
    return {"rate": rate * by ** -POWERS[algorithm]}


def statuses(claim: Claim, seed: int) -> Iterator[tuple[str, str]]:
    """The size and the status: as it is, smaller and larger."""
    for by in (None, *SCALES):
        instances, options = claim.experiment.instances.draw(seed, "quick"), {}
        if by is not None:
            instances = [scaled(instance, by) for instance in instances]
            options = rescaled(claim.experiment.training, by)
        bench = Bench(seed=seed, instances=instances, options=options)
        try:
            status = check(claim, bench).status.value
        except InputError as error:
            status = f"refused: {error}"
        yield "as it is" if by is None else f"{by:g}", status


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", nargs="*", default=PAPERS)
    parser.add_argument("--only", default=[""], nargs="*", help="claims whose name contains one")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for paper in asked.papers:
        claims = [claim for claim in papers()[paper].claims if not claim.experiment.own]
        turned = 0
        for claim in (claim for claim in claims if any(text in claim.name for text in asked.only)):
            seen = dict(statuses(claim, asked.seed))
            if len(set(seen.values()) - {"inapplicable"}) > 1:
                turned += 1
                says = "; ".join(f"{size}: {status}" for size, status in seen.items())
                print(f"{claim.name}: {says}", flush=True)
        print(f"{paper}: {turned} of {len(claims)} claims turn with the size", flush=True)


if __name__ == "__main__":
    main()

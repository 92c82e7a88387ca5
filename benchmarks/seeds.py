"""Verdicts with other seeds: ``python -m benchmarks.seeds [PAPER...] [--seeds N]``.

Prints every claim whose status is not the same with all of them; ``undecided`` may go either way.
"""

import argparse
from collections import defaultdict

import lemmata as lm

PAPERS = ("mechanics", "convergence", "selection", "context")


def statuses(paper: str, seeds: int) -> dict[str, dict[str, list[int]]]:
    """For each claim, which seeds give which status."""
    seen: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for seed in range(seeds):
        for verdict in lm.check(paper, seed=seed):
            seen[verdict.claim][verdict.status.value].append(seed)
        print(f"{paper}: seed {seed} done", flush=True)
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", nargs="*", default=PAPERS)
    parser.add_argument("--seeds", type=int, default=10)
    asked = parser.parse_args()
    for paper in asked.papers:
        found = statuses(paper, asked.seeds)
        turned = {name: by for name, by in found.items() if len(by) > 1}
        print(f"{paper}: {len(turned)} of {len(found)} claims turn with the seed")
        for name, by in turned.items():
            print(f"  {name}: " + "; ".join(f"{status} {on}" for status, on in by.items()))


if __name__ == "__main__":
    main()

"""Long synthetic texts, and what it takes to analyse them whole: three sizes, measured.

python -m benchmarks.texts 1e6 3e6 1e7
"""

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lemmata.corpus import Corpus, Reading, build

REPEATED, REACH = 0.25, 64
"""How often a word is taken from those before it, and from how far."""

BLOCK = 1 << 20


def write_text(path: Path, words: int, vocabulary: int, seed: int) -> Path:
    """Words by Zipf's law, of which some repeat what stands shortly before, as in real text."""
    draw = np.random.default_rng(seed)
    chance = 1 / np.arange(1, vocabulary + 1) ** 1.05
    names = np.array([f"w{number}" for number in range(vocabulary)])
    with path.open("w", encoding="utf-8") as stream:
        for start in range(0, words, BLOCK):
            count = min(BLOCK, words - start)
            fresh = draw.choice(vocabulary, count, p=chance / chance.sum())
            source = np.arange(count) - draw.integers(1, REACH, count)
            again = (draw.random(count) < REPEATED) & (source >= 0)
            fresh[again] = fresh[source[again]]
            stream.write(" ".join(names[fresh]) + "\n")
    return path


def measure(words: int, vocabulary: int = 20_000, window: int = 32, workers: int = 2) -> Corpus:
    """Analyse a text of this length, and print seconds of processors and of the clock."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_text(Path(folder) / "text.txt", words, vocabulary, seed=0)
        start, before = time.monotonic(), _processor()
        store = build(path, Path(folder) / "store", Reading(window=window), workers=workers)
        _wait_for_children()
        corpus = Corpus(store)
        size = sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
        print(
            f"{words:>11,} words: {_processor() - before:7.1f} s of processors, "
            f"{time.monotonic() - start:7.1f} s on the clock, largest process "
            f"{_largest() / 1e6:.2f} GB, store {size / 1e6:,.0f} MB, {corpus.edges:,} edges, "
            f"{corpus.reached / corpus.samples:.1%} in reach, {corpus.tied_samples:,} samples with "
            f"ties, {corpus.unsolved} unsolved",
            flush=True,
        )
        return corpus


def _wait_for_children() -> None:
    """Only those that have ended are counted."""
    for child in multiprocessing.active_children():
        child.join()


def _processor() -> float:
    """Seconds of processors, of this process and of those that have ended."""
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


def _largest() -> float:
    """Kilobytes of the largest process."""
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return max(use.ru_maxrss for use in uses)


if __name__ == "__main__":
    for size in sys.argv[1:] or ("3e5", "1e6", "3e6"):
        measure(int(float(size)))

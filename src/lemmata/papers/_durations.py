"""How long figures and claims take at the paper's scale, as data that ``reproduce`` reads.

``python -m lemmata.papers durations [PART...]`` measures them anew: processor seconds, beside those
of a fixed piece of work, by which another machine is compared with this one. A part is a figure,
or all claims of a paper, as ``selection/claims``.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from lemmata._files import write_json
from lemmata.training import Store, fingerprint

from ._paper import papers

PLACE = Path(__file__).parent / "durations.json"
CLAIMS = "claims"


def all_parts() -> list[str]:
    """Every figure, and the claims of every paper."""
    return [
        part
        for key, paper in papers().items()
        for part in (*(figure.name for figure in paper.figures), f"{key}/{CLAIMS}")
    ]


def expected_seconds(parts: Iterable[str], store: Store, seed: int) -> dict[str, float | None]:
    """Processor seconds of each part on this machine at the paper's scale.

    0 for one that was finished before, which the store has; None for one that nobody measured.
    What several share counts for the first of them.
    """
    known = json.loads(PLACE.read_text())
    slower = fixed_work() / known["fixed_work"]
    done = {part for part in all_parts() if store.load(_key(part, seed)) is not None}
    expected: dict[str, float | None] = {}
    for part in parts:
        needed = {part, *known["shares"].get(part, ())} - done
        seconds = [known["seconds"].get(name) for name in needed]
        expected[part] = None if None in seconds else slower * sum(filter(None, seconds))
        if part in done:
            expected[part] = 0.0
        done |= needed
    return expected


def note_finished(part: str, store: Store, seed: int) -> None:
    """Remember that the store has a part at the paper's scale."""
    store.save(_key(part, seed), {})


def _key(part: str, seed: int) -> str:
    return fingerprint({"finished": part, "seed": seed, "lemmata": version("lemmata")})


def fixed_work() -> float:
    """Processor seconds of a piece of work that is the same everywhere: the least of three."""

    def once() -> float:
        start = time.process_time()
        numbers = np.linspace(-1.0, 1.0, 20_000)
        for _ in range(1_500):
            numbers = np.tanh(np.exp(numbers) - 1)
        return time.process_time() - start

    return min(once() for _ in range(3))


def measure_durations(parts: Sequence[str], tell: Callable[[str], None]) -> None:
    """Reproduce each part at the paper's scale, in a process of its own, and write its time."""
    document = json.loads(PLACE.read_text())
    slower = fixed_work() / document["fixed_work"]
    with tempfile.TemporaryDirectory() as out:
        for part in parts or all_parts():
            names = [part]
            if part.endswith(f"/{CLAIMS}"):
                names = papers()[part.removesuffix(f"/{CLAIMS}")].claims.names
            words = ["reproduce", *names, "--scale", "paper", "--out", out, "--json"]
            program = f"from lemmata.cli import main; main({words!r})"
            before = sum(os.times()[2:4])
            subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
            document["seconds"][part] = round((sum(os.times()[2:4]) - before) / slower, 1)
            write_json(PLACE, document)
            tell(f"{part}: {document['seconds'][part]:,} processor seconds")

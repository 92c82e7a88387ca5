"""Sweeps: what they cost beyond their tasks, and whether killed workers change a number.

    python -m benchmarks.sweeps --tasks 2000 --kills 20

Tasks train small datasets of the mechanics setting. The first table is that of two local
processes, the second of a Dask cluster whose workers are killed at random; they must agree to the
last bit. Then tasks that do nothing but wait, to see what a sweep itself costs.
"""

import argparse
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import lemmata as lm
from benchmarks._rows import Row, timed

WAITING = """
import time
from dataclasses import dataclass
import numpy as np
import lemmata as lm

@dataclass(frozen=True)
class Pause:
    name: str
    problems: tuple = ()
    def document(self):
        return {}

class Waiting(lm.AbstractSetting[Pause]):
    key = "waiting"
    instance_type = Pause
    columns = (lm.Column("slept", "slept"),)
    parameters = (lm.Parameter("number", "of the task", 0),)
    def read(self, file, embeddings=None):
        return []
    def draw(self, count, seed=0):
        return []
    def make(self, sizes, seed=0):
        return Pause(f"{sizes} {seed}")
    def analyze(self, instance):
        raise NotImplementedError
    def train(self, instances, options, *, store=None, track=None):
        time.sleep(SECONDS * len(instances))
        column = np.full((len(instances), 1), SECONDS)
        evidence = lm.Evidence(tuple(instances), np.array([0]), {"slept": column})
        done = (True,) * len(instances)
        return lm.Run(self.key, "", tuple(instances), evidence, (None,) * len(instances), done)

SETTING = Waiting()
"""


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweeps", description=__doc__)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        _agreement(options.tasks, options.kills, Path(place))
        _overhead(Path(place))


def against_loops(points: int = 30) -> list[Row]:
    """A sweep in this process against the loop that one would write, programs compiled before."""
    over = {"K": [4, 5, 6], "rate": np.geomspace(0.001, 0.1, points // 3).tolist()}
    with tempfile.TemporaryDirectory() as place:
        _loop(over)
        loop, norms = timed(lambda: _loop(over))
        sweep, table = timed(lambda: lm.sweep("mechanics", over, measure=["norm"]))
        out = Path(place) / "kept"
        kept, _ = timed(lambda: lm.sweep("mechanics", over, measure=["norm"], out=out))
        again, _ = timed(lambda: lm.sweep("mechanics", over, measure=["norm"], out=out))
    note = f"same numbers: {table.norm.tolist() == norms}"
    name = f"a loop over {len(norms)} runs"
    return [
        Row(name, loop, "the same as a sweep", sweep, note),
        Row(name, loop, "a sweep that keeps its results", kept, "one Parquet file a point"),
        Row(name, loop, "the same sweep again", again, "nothing is run twice"),
    ]


def _loop(over: dict[str, Any]) -> list[float]:
    setting = lm.papers["mechanics"].setting
    return [
        float(lm.train(setting.make({"K": K}, 0), rate=rate).norm[0, -1])
        for K in over["K"]
        for rate in over["rate"]
    ]


def _agreement(tasks: int, kills: int, place: Path) -> None:
    from distributed import LocalCluster

    over = {"K": [4, 5, 6, 7], "T": [3, 4], "steps": [50, 100, 200, 400, 800]}
    seeds = tasks // 40
    first, local = timed(
        lambda: lm.sweep("mechanics", over, seeds=seeds, workers=2, out=place / "local")
    )
    print(f"{len(local)} tasks on two processes: {first:.1f} s")
    cluster: Any = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster:
        killer = threading.Thread(target=_kill, args=(cluster, kills), daemon=True)
        killer.start()
        address = cluster.scheduler_address
        second, remote = timed(
            lambda: lm.sweep("mechanics", over, seeds=seeds, scheduler=address, out=place / "dask")
        )
    same = local.document() == remote.document()
    print(
        f"on a Dask cluster with up to {kills} killed workers: {second:.1f} s; same table: {same}"
    )


def _kill(cluster: Any, kills: int) -> None:
    """Kill a random worker now and then; never one that is still being started anew.

    Dask's nannies give up on a process that dies while it starts.
    """
    draw = random.Random(0)
    while kills:
        time.sleep(draw.uniform(1.0, 3.0))
        nannies = [nanny for nanny in cluster.workers.values() if nanny.pid]
        if len(cluster.scheduler.workers) == len(cluster.workers) == len(nannies):
            os.kill(draw.choice(nannies).pid, signal.SIGKILL)
            kills -= 1


def _overhead(place: Path) -> None:
    """Tasks of two seconds on two processes, against the seconds that they sleep."""
    file = place / "waiting.py"
    file.write_text(WAITING.replace("SECONDS", "2.0"))
    seconds, table = timed(
        lambda: lm.sweep(str(file), {"number": list(range(150))}, workers=2, out=place / "slept")
    )
    slept = 2.0 * len(table) / 2
    share = seconds / slept - 1
    print(
        f"{len(table)} tasks of 2 s on two processes: {seconds:.1f} s, {share:.1%} more than that"
    )


if __name__ == "__main__":
    main()

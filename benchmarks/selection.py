"""The selection paper: a step of online training at the sizes of Section 4.

``python -m benchmarks.selection ours`` and ``... theirs`` print the megabytes that training takes.
"""

import importlib.util
import math
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from benchmarks._rows import Row, timed
from benchmarks.plain_torch_selection import Learner
from lemmata.papers.selection.setting import (
    Task,
    Training,
    Weights,
    draw_batch,
    loss_and_gradient,
    near_orthogonal,
)
from lemmata.papers.selection.setting._online import OnlineState
from lemmata.training import stream

HOW = Training(Task(200, 3, 5), d_e=170, threshold=0.3, samples=256, rate=1.0)
PAPER_STEPS = 100_000
ROUNDS = 7
OUR_STEPS = 60
THEIR_STEPS = 6


def training_step(seed: int) -> list[Row]:
    """Ours against PyTorch's, in turn, best block of several; encodings are fresh every step."""
    name = "a step of Section 4, T=200, d_e=170, n=256"
    ours = our_steps(seed)
    if importlib.util.find_spec("torch") is None:
        note = "not measured: PyTorch is not installed (pip install 'lemmata[bench]')"
        mine = min(timed(lambda: ours(OUR_STEPS))[0] for _ in range(ROUNDS)) / OUR_STEPS
        return [Row(name, mine, "PyTorch, Z in full, autograd", float("nan"), note)]
    import torch  # pyright: ignore[reportMissingImports]

    theirs = their_steps(seed)
    threads = torch.get_num_threads()
    times: dict[int, tuple[list[float], list[float]]] = {}
    for count in sorted({1, threads}):
        torch.set_num_threads(count)
        times[count] = _in_turn(ours, theirs)
    torch.set_num_threads(threads)
    memory = f"{training_memory('ours'):.0f} MB against {training_memory('theirs'):.0f} MB"
    apart = f"gradients differ by {disagreement(seed):.0e}"
    return [
        Row(
            name,
            min(mine),
            f"PyTorch, Z in full, autograd, {count} thread{'s' if count > 1 else ''}",
            min(others),
            f"medians {_milliseconds(mine, others)}; {PAPER_STEPS:,} steps: "
            f"{min(mine) * PAPER_STEPS / 60:.1f} min against {min(others) * PAPER_STEPS / 60:.0f} "
            f"min; memory {memory}; {apart}",
        )
        for count, (mine, others) in times.items()
    ]


def our_steps(seed: int) -> Callable[[int], object]:
    """A function that goes on training for some steps, compiled."""
    dynamics = jax.tree.map(lambda leaf: leaf[0], replace(HOW, seed=seed).dynamics())
    state = dynamics.init()

    @jax.jit
    def advance(state: OnlineState, steps: Array) -> OnlineState:
        return lax.fori_loop(0, steps, lambda _, at: dynamics.step(at), state)

    compiled = advance.lower(state, jnp.asarray(1)).compile()

    def go_on(steps: int) -> object:
        nonlocal state
        state = jax.block_until_ready(compiled(state, jnp.asarray(steps)))
        return state

    return go_on


def their_steps(seed: int) -> Callable[[int], object]:
    """The same with PyTorch."""
    learner = Learner(HOW, seed)
    return lambda steps: [learner.step() for _ in range(steps)]


def _in_turn(
    ours: Callable[[int], object], theirs: Callable[[int], object]
) -> tuple[list[float], list[float]]:
    """Seconds a step in alternating blocks, so that both meet the same disturbances."""
    ours(1)
    theirs(1)
    mine, others = [], []
    for _ in range(ROUNDS):
        others.append(timed(lambda: theirs(THEIR_STEPS))[0] / THEIR_STEPS)
        mine.append(timed(lambda: ours(OUR_STEPS))[0] / OUR_STEPS)
    return mine, others


def _milliseconds(*blocks: list[float]) -> str:
    return " and ".join(f"{1e3 * statistics.median(block):.3g} ms" for block in blocks)


def disagreement(seed: int) -> float:
    """How far the gradients of both on one batch are apart, relative to the largest entry."""
    draw = np.random.default_rng(seed)
    task, width = HOW.task, HOW.task.d + HOW.d_e
    E = jnp.asarray(near_orthogonal(HOW.d_e, task.T, HOW.threshold, seed), dtype=jnp.float32)
    batch = draw_batch(stream(seed), HOW.samples, task.q, task.d, E, None)
    V, W = (draw.standard_normal((n, width)).astype(np.float32) for n in (task.d, width))
    _, found = loss_and_gradient(Weights(jnp.asarray(V), jnp.asarray(W)), batch)
    theirs = Learner(HOW).gradient(V, W, *map(np.asarray, batch[:3]))
    pairs = [(np.asarray(a), b) for a, b in zip(found, theirs, strict=True)]
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


def training_memory(side: str) -> float:
    """Megabytes that training takes in a fresh process, beyond what it has before it starts."""
    command = [sys.executable, "-m", "benchmarks.selection", side]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _training_memory(side: str) -> float:
    """The same in this process, compiling left out; Linux tells, other systems do not."""
    if not Path("/proc/self/clear_refs").exists():
        return math.nan
    steps = our_steps(0) if side == "ours" else their_steps(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _kilobytes("VmRSS")
    steps(THEIR_STEPS)
    return (_kilobytes("VmHWM") - before) / 1024


def _kilobytes(name: str) -> int:
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith(name))


if __name__ == "__main__":
    print(_training_memory(sys.argv[1]))

"""The in-context paper: a step of Adam at the size of Section 4, and what it is spent on."""

import glob
import gzip
import importlib.util
import json
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from benchmarks._rows import Row, timed
from benchmarks.plain_torch_context import Learner
from lemmata.papers.context.setting import Plan, Training, descend, draw_task
from lemmata.papers.context.setting._training import AdamState

HOW = Training(draw_task(30, 200, 100, 20, 0.01, seed=0), heads=64, rate=1e-4)
ROUNDS = 12
OUR_STEPS = 40
THEIR_STEPS = 4
TRACED_STEPS = 40
COMPARED_STEPS = 60

SMALL = (4, 10, 6, 3, 0.1)
SMALL_HEADS = 8
SMALL_STEPS = 4_000
MANY = 26

Work = tuple[Callable[[int], object], int]
"""What goes on for some steps, and how many make a block."""


@dataclass(frozen=True)
class Times:
    """Seconds a step, block by block: on the wall clock, and of the processor in all threads."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        """On the wall clock, in the block that was disturbed least."""
        return min(self.wall)


def training_step(seed: int) -> list[Row]:
    """Ours against PyTorch's, and against its own matrix products, in turn, best of several."""
    name = "a step of Section 4, N=30, K=200, d=100, H=64, Adam"
    how = replace(HOW, seed=seed + 1_000)
    ours = OurSteps(how)
    works: dict[str, Work] = {
        "ours": (ours, OUR_STEPS),
        "products": (matrix_products(how), OUR_STEPS),
    }
    torch_is_there = importlib.util.find_spec("torch") is not None
    if torch_is_there:
        works |= {f"torch {count}": (their_steps(how, count), THEIR_STEPS) for count in (1, 2)}
    times = in_turn(works)
    mine = times["ours"]
    share = ours.share_of_products()
    products = Row(
        name,
        mine.best,
        "its four matrix multiplications alone",
        times["products"].best,
        f"{_compared(mine, times['products'])}; {share:.0%} of the time in the trace "
        "goes to kernels with a matrix multiplication in them",
    )
    theirs = "PyTorch, einsum, autograd"
    if not torch_is_there:
        note = "not measured: PyTorch is not installed (pip install 'lemmata[bench]')"
        return [Row(name, mine.best, theirs, float("nan"), note), products]
    apart = f"the gap after {COMPARED_STEPS} steps differs by {disagreement(how):.0e}"
    return [
        *(
            Row(
                name,
                mine.best,
                f"{theirs}, {count} thread{'s' if count > 1 else ''}",
                times[f"torch {count}"].best,
                f"{_compared(mine, times[f'torch {count}'])}; {apart}",
            )
            for count in (1, 2)
        ),
        products,
    ]


def in_turn(works: Mapping[str, Work]) -> dict[str, Times]:
    """Alternating blocks, so that all meet the same disturbances."""
    times = {name: Times() for name in works}
    for work, _ in works.values():
        work(1)
    for _ in range(ROUNDS):
        for name, (work, steps) in works.items():
            before = time.process_time()
            wall = timed(lambda work=work, steps=steps: work(steps))[0]
            times[name].wall.append(wall / steps)
            times[name].processor.append((time.process_time() - before) / steps)
    return times


def _compared(*times: Times) -> str:
    """The medians, and what of the processor it takes, which other processes disturb less."""
    medians = [statistics.median(one.wall) for one in times]
    least = [min(one.processor) for one in times]
    return f"medians {_milliseconds(medians)}, processor time {_milliseconds(least)}"


def _milliseconds(seconds: list[float]) -> str:
    return " and ".join(f"{1e3 * one:.3g}" for one in seconds) + " ms"


class OurSteps:
    """Training that goes on for some steps at a time, compiled."""

    def __init__(self, how: Training) -> None:
        dynamics = jax.tree.map(lambda leaf: leaf[0], how.dynamics())

        @jax.jit
        def advance(state: AdamState, steps: Array) -> AdamState:
            return lax.fori_loop(0, steps, lambda _, at: dynamics.step(at), state)

        self.state: AdamState = dynamics.init()
        self.compiled = advance.lower(self.state, jnp.asarray(1)).compile()

    def __call__(self, steps: int) -> None:
        self.state = jax.block_until_ready(self.compiled(self.state, jnp.asarray(steps)))

    def share_of_products(self) -> float:
        """What part of the time goes to kernels that are or contain a matrix multiplication."""
        text = self.compiled.as_text()
        assert text is not None
        kernels = with_products(text)
        spent = self._trace()
        return sum(spent[name] for name in kernels & set(spent)) / sum(spent.values())

    def _trace(self) -> dict[str, float]:
        """Microseconds by kernel, as the profiler sees them."""
        spent: dict[str, float] = {}
        with tempfile.TemporaryDirectory() as folder:
            with jax.profiler.trace(folder, create_perfetto_trace=True):
                self(TRACED_STEPS)
            (file,) = glob.glob(f"{folder}/**/perfetto_trace.json.gz", recursive=True)
            with gzip.open(file) as content:
                events = json.load(content)["traceEvents"]
        for event in events:
            kernel = event.get("args", {}).get("hlo_op")
            if kernel is not None and not kernel.startswith("while"):
                spent[kernel] = spent.get(kernel, 0.0) + event["dur"]
        return spent


def with_products(text: str) -> set[str]:
    """The instructions of a compiled program that multiply matrices, alone or within a fusion.

    The program lists its computations, each an opening line, its instructions, and a brace.
    """
    inside: set[str] = set()
    current = ""
    for line in text.splitlines():
        opening = re.match(r"(?:ENTRY )?%?([\w.\-]+) .*\{$", line)
        if opening:
            current = opening[1]
        elif re.search(r"[\]})] dot\(", line):
            inside.add(current)
    found = re.findall(r"%([\w.\-]+) = [^\n]*? dot\(", text)
    calls = re.findall(r"%([\w.\-]+) = [^\n]*? fusion\([^\n]*?calls=%([\w.\-]+)", text)
    return {*found, *(name for name, called in calls if called in inside)}


def matrix_products(how: Training) -> Callable[[int], object]:
    """The four large products of a step and nothing else.

    A little of the last result goes into the tokens of the next step, so that nothing can be
    computed once and for all.
    """
    d, N, H = how.task.d, how.task.N, how.heads
    dynamics = jax.tree.map(lambda leaf: leaf[0], how.dynamics())
    first = dynamics.system.tokens
    Q = dynamics.start.Q.reshape(d, H * d)

    def step(_: Array, at: tuple[Array, Array]) -> tuple[Array, Array]:
        tokens, before = at
        tokens = tokens + jnp.float32(1e-12) * before[:, : tokens.shape[1]]
        keyed = (tokens[:, :N].T @ Q).reshape(N * H, d)
        logits = keyed @ tokens
        back = (logits @ tokens.T).reshape(N, H * d)
        return tokens, tokens[:, :N] @ back

    @jax.jit
    def advance(steps: Array) -> tuple[Array, Array]:
        return lax.fori_loop(0, steps, step, (first, jnp.zeros_like(Q)))

    return lambda steps: jax.block_until_ready(advance(jnp.asarray(steps)))


def their_steps(how: Training, threads: int) -> Callable[[int], object]:
    """The same training with PyTorch."""
    import torch  # pyright: ignore[reportMissingImports]

    learner = Learner(how)

    def go_on(steps: int) -> object:
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        found = [learner.step() for _ in range(steps)]
        torch.set_num_threads(before)
        return found

    return go_on


def disagreement(how: Training) -> float:
    """How far the gaps of both are apart after some steps, relative to the gap."""
    ours = OurSteps(how)
    ours(COMPARED_STEPS + 1)
    learner = Learner(how)
    theirs = [learner.step() for _ in range(COMPARED_STEPS + 1)][-1]
    return abs(float(ours.state.gap) - theirs) / theirs


def side_by_side(seed: int) -> Row:
    """Many small instances in one run against one of them."""
    plans = [
        Plan(draw_task(*SMALL, seed=seed + i), SMALL_HEADS, seed=seed + 1_000 + i)
        for i in range(MANY)
    ]
    one, all_ = (_descent(plans[:count]) for count in (1, MANY))
    one()
    all_()
    times = [(timed(one)[0], timed(all_)[0]) for _ in range(3)]
    first, second = (min(column) for column in zip(*times, strict=True))
    return Row(
        f"descent on one small task, {SMALL_STEPS:,} steps",
        first,
        f"on {MANY} of them side by side",
        second,
        f"{SMALL_STEPS / first:,.0f} and {MANY * SMALL_STEPS / second:,.0f} steps a second",
    )


def _descent(plans: list[Plan]) -> Callable[[], object]:
    rates = np.array([[float(plan.rates.Q), float(plan.rates.w)] for plan in plans])
    guaranteed = np.array([float(plan.rates.guaranteed) for plan in plans])
    tasks, starts = [plan.task for plan in plans], [plan.start for plan in plans]
    steps = np.array([0, SMALL_STEPS])
    return lambda: descend(tasks, starts, rates, guaranteed, steps)

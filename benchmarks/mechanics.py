"""The mechanics paper: Figure 4 end to end, large exact limits, and how analysis scales."""

import importlib.util
from typing import Any

import cvxpy as cp
import jax
import numpy as np

from benchmarks import plain_torch
from benchmarks._rows import Row, timed
from benchmarks.corpora import corpus
from lemmata.margin import max_margin
from lemmata.papers.mechanics.experiments import FIGURE_STEPS
from lemmata.papers.mechanics.setting import (
    CYCLIC,
    SETTING,
    Dataset,
    Training,
    TrainingRun,
    generate,
)
from lemmata.tokens import PriorityGraph

STEPS = 4_000
RATE = 0.01
SAMPLE_TRIALS = 2
COLUMNS = 5


def figure_4(trials: int, seed: int) -> list[Row]:
    """Data, exact limits, training and what the figure records; PyTorch on a few trials."""
    jax.clear_caches()
    cold, run = timed(lambda: _trials(trials, seed))
    warm, _ = timed(lambda: _trials(trials, seed))
    ours = f"Figure 4, {trials} trials"
    records = f"data, limits, {len(FIGURE_STEPS)} records a trial"
    rows = [Row(f"{ours}, warm", warm, f"{ours}, cold", cold, records)]
    if importlib.util.find_spec("torch") is None:
        note = "not measured: PyTorch is not installed (pip install 'lemmata[bench]')"
        return [*rows, Row(f"{ours}, warm", warm, "PyTorch loop", float("nan"), note)]
    total, note = _torch_seconds(run, trials)
    return [
        *rows,
        Row(f"{ours}, cold", cold, "PyTorch loop", total, note),
        Row(f"{ours}, warm", warm, "PyTorch loop", total, note),
    ]


def _trials(count: int, seed: int) -> TrainingRun:
    datasets = generate(CYCLIC, count, seed)
    return Training(rate=RATE, steps=STEPS, record=FIGURE_STEPS).run(datasets)


def _torch_seconds(run: TrainingRun, trials: int) -> tuple[float, str]:
    """A few trials, extrapolated linearly. One thread is faster for matrices this small."""
    import torch  # pyright: ignore[reportMissingImports]

    torch.set_num_threads(1)
    few = run.datasets[:SAMPLE_TRIALS]
    plain_torch.train(few[0], 10, RATE)
    seconds, found = timed(lambda: [plain_torch.train(d, STEPS, RATE) for d in few])
    ours = 1 - run["one_minus_correlation"][: len(found), -1]
    apart = max(abs(trial.correlation[-1] - x) for trial, x in zip(found, ours, strict=True))
    note = f"extrapolated from {len(few)} trials; final correlations differ by up to {apart:.0e}"
    return seconds * trials / len(few), note


def large_program(seed: int, vocabulary: int = 2_000, sequences: int = 40_000) -> Row:
    """W^mm of a large corpus, and the columns with the most edges against CVXPY."""
    dataset = corpus(vocabulary, sequences, seed)
    graphs = dataset.graphs
    everything, _ = timed(lambda: max_margin(graphs, vocabulary, ties=True))
    largest = sorted(graphs.values(), key=lambda graph: len(graph.edges))[-COLUMNS:]
    some = {graph.query: graph for graph in largest}
    ours, exact = timed(lambda: max_margin(some, vocabulary, ties=True))
    theirs, found = timed(lambda: [_column(graph) for graph in largest])
    errors = [
        max(abs(float(exact.entries.get((token, graph.query), 0)) - x) for token, x in column)
        for graph, column in zip(largest, found, strict=True)
    ]
    edges = sum(len(graph.edges) for graph in graphs.values())
    note = (
        f"{sum(len(graph.edges) for graph in largest):,} edges; its error is up to "
        f"{max(errors):.0e}. All {len(graphs):,} columns with {edges:,} edges: {everything:.3g} s"
    )
    names = (f"the {COLUMNS} largest columns of a corpus, exact", "CVXPY with Clarabel")
    return Row(names[0], ours, names[1], theirs, note)


def _column(graph: PriorityGraph) -> list[tuple[int, float]]:
    """One column of W^mm as a quadratic program; the graph has no ties."""
    rank = {token: i for i, token in enumerate(graph.nodes)}
    u = cp.Variable(len(rank))
    winner = np.array([rank[a] for a, _ in graph.edges])
    loser = np.array([rank[b] for _, b in graph.edges])
    margins: Any = u[winner] - u[loser]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(u)), [margins >= 1])
    problem.solve(solver=cp.CLARABEL)
    assert u.value is not None, problem.status
    return list(zip(graph.nodes, u.value.tolist(), strict=True))


def scaling(seed: int, vocabulary: int = 5_000) -> list[Row]:
    """Analysis of ever larger corpora, from the token sequences to the certified limits."""
    rows, previous = [], None
    for sequences in (25_000, 50_000, 100_000):
        data: Dataset = corpus(vocabulary, sequences, seed)
        seconds, answer = timed(lambda data=data: SETTING.analyze(data).document())
        name = f"analysis of {sequences:,} sequences"
        note = f"{vocabulary:,} tokens, norm {answer['max_margin']['norm']:.6g}"
        if previous is not None:
            rows.append(Row(*previous, name, seconds, note))
        previous = (name, seconds)
    return rows

"""The experiments behind the claims and figures.

Everything that needs arrays on a device is imported when an experiment runs, so that claims can
be listed at once.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lemmata._errors import InputError
from lemmata.old_claims import Bench, Experiment
from lemmata.papers.mechanics.evidence import (
    Balls,
    Curves,
    Local,
    Steps,
    Structures,
    Trained,
)

if TYPE_CHECKING:
    from lemmata.papers.mechanics.setting import (
        Dataset,
        Training,
    )

TRIALS = 100
"""Random datasets of each figure, at any scale."""

MOST_TOKENS = 200
"""Claims on a user's data use dense matrices."""

AUTHORS_EPSILON = 2.220446049250313e-16
"""What the authors' program adds to the norm of the gradient."""


def user_datasets(bench: Bench) -> "list[Dataset] | None":
    """The user's data, if the bench has any."""
    from lemmata.papers.mechanics.setting import Dataset

    if bench.instances is None:
        return None
    many = len(bench.instances) > 1
    return [
        Dataset.from_instance(f"data[{i}]" if many else "data", instance)
        for i, instance in enumerate(bench.instances)
    ]


def trained(bench: Bench, title: str, datasets: "Sequence[Dataset]", how: "Training") -> Trained:
    """Train what can be trained, with a progress bar."""
    ready, skipped = split(datasets)
    if not ready:
        return Trained(None, skipped)
    progress = bench.track(title, len(ready) * how.steps)
    return Trained(how.run(ready, store=bench.store, progress=progress), skipped)


def split(
    datasets: "Sequence[Dataset]", fit: "Callable[[Dataset], bool]" = lambda dataset: True
) -> "tuple[list[Dataset], tuple[Dataset, ...]]":
    """The datasets with a realizable sample that fit, and the others."""
    fits = [bool(d.realizable.samples) and fit(d) for d in datasets]
    ready = [d for d, good in zip(datasets, fits, strict=True) if good]
    return ready, tuple(d for d, good in zip(datasets, fits, strict=True) if not good)


FIGURE_STEPS = (*range(0, 100, 5), *range(100, 4_001, 20))


def _figure_run(bench: Bench, kind: str) -> Trained:
    """Nothing on a user's data: what a figure reports is about its own datasets."""
    from lemmata.papers.mechanics.setting import ACYCLIC, CYCLIC, Training, generate

    if bench.instances is not None:
        return Trained(None)
    recipe = ACYCLIC if kind == "acyclic" else CYCLIC
    datasets = generate(recipe, TRIALS, bench.seed)
    return trained(bench, f"100 {kind} datasets", datasets, Training(record=FIGURE_STEPS))


def _local(bench: Bench, loss: str) -> Any:
    """``Local`` evidence; nothing on a user's data, again."""
    from lemmata.papers.mechanics.setting import LOCAL, Training, generate, pseudo_limits

    if bench.instances is not None:
        return Structures(())
    datasets = generate(LOCAL, TRIALS, bench.seed)
    steps = (*range(0, 100, 5), *range(100, 2_001, 20))
    settings: dict[str, Any] = {"loss": loss, "head": "embedding", "epsilon": AUTHORS_EPSILON}
    how = Training(rate=0.1, steps=2_000, record=steps, **settings)
    title = f"100 datasets, {loss}"
    run = trained(bench, title, datasets, how).run
    weights = [run.weights(i) for i in range(len(datasets))]
    authors = pseudo_limits(datasets, weights, how, "authors")
    selected = pseudo_limits(datasets, weights, how, "selected")
    again = [
        how.run(
            datasets,
            limits=[pseudo.limit for pseudo in pseudos],
            store=bench.store,
            progress=bench.track(f"{title}, local limits", TRIALS * how.steps),
        )
        for pseudos in (authors, selected)
    ]
    return Local(run, again[0], again[1], (authors, selected))


ACYCLIC_RUN: Experiment[Trained] = Experiment(
    "acyclic-run",
    "100 random acyclic datasets, K = d = 8, n = 4, T = 6: 4,000 normalized steps of 0.01 from a "
    "random start (Figure 3)",
    lambda bench: _figure_run(bench, "acyclic"),
)
CYCLIC_RUN: Experiment[Trained] = Experiment(
    "cyclic-run",
    "100 random cyclic datasets, K = 6, d = 8, n = 6, T = 4: 4,000 normalized steps of 0.01 from a "
    "random start (Figure 4)",
    lambda bench: _figure_run(bench, "cyclic"),
)
SQUARED_RUN: Experiment[Local] = Experiment(
    "squared-run",
    "100 random cyclic datasets, K = d = 8, n = 4, T = 6, C = E: 2,000 normalized steps of 0.1 on "
    "(1 - softmax(C X's)_y)^2, the authors' epsilon (Figure 5)",
    lambda bench: _local(bench, "softmax-squared"),
)
LITERAL_SQUARED_RUN: Experiment[Local] = Experiment(
    "literal-squared-run",
    "the same with (1 - u)^2 as the text has it",
    lambda bench: _local(bench, "squared"),
)
CROSS_ENTROPY_RUN: Experiment[Local] = Experiment(
    "cross-entropy-run",
    "the same with cross-entropy (Figure 6)",
    lambda bench: _local(bench, "cross-entropy"),
)


def _small(dataset: "Dataset") -> "Dataset":
    if dataset.K > MOST_TOKENS:
        raise InputError(
            f"{dataset.name} has {dataset.K} tokens; claims are checked with dense matrices, for "
            f"at most {MOST_TOKENS} (`lemmata analyze` has no such limit)"
        )
    return dataset


def _examples() -> "list[Dataset]":
    from lemmata.papers.mechanics import _counterexamples as examples

    return [
        examples.figure_2(),
        examples.chain(),
        examples.cycle_above_last(),
        examples.purely_cyclic(),
    ]


def _repeated(count: int, seed: int) -> "list[Dataset]":
    """Sequences in which tokens occur several times."""
    from lemmata.papers.mechanics.setting import Dataset

    found = []
    for i in range(count):
        draw = np.random.default_rng([seed, i, 7])
        embeddings = draw.standard_normal((5, 6))
        sequences = draw.integers(0, 5, (6, 6)).tolist()
        labels = [sequence[int(draw.integers(6))] for sequence in sequences]
        found.append(Dataset.from_samples(f"repeated-{seed}.{i}", sequences, labels, embeddings))
    return found


def tied_datasets(bench: Bench, count: int) -> "list[Dataset]":
    """Cyclic datasets whose W^cyc is not 0: a balanced tie would test nothing."""
    from lemmata.papers.mechanics.setting import CYCLIC, generate

    found = generate(CYCLIC, 6 * count, bench.seed)
    return [dataset for dataset in found if dataset.correction.norm > 1e-6][:count]


def acyclic_datasets(bench: Bench, count: int) -> "list[Dataset]":
    """The first datasets of Figure 3."""
    from lemmata.papers.mechanics.setting import ACYCLIC, generate

    return generate(ACYCLIC, count, bench.seed)


def _structures(bench: Bench) -> Structures:
    from lemmata.papers.mechanics.setting import ACYCLIC, CYCLIC, generate

    own = user_datasets(bench)
    if own is not None:
        return Structures(tuple(map(_small, own)))
    drawn = [*generate(ACYCLIC, TRIALS, bench.seed), *generate(CYCLIC, TRIALS, bench.seed)]
    return Structures((*_examples(), *_repeated(10, bench.seed), *drawn))


def _sample(bench: Bench) -> Structures:
    own = user_datasets(bench)
    if own is not None:
        return Structures(tuple(map(_small, own)))
    drawn = [*acyclic_datasets(bench, 6), *tied_datasets(bench, 8)]
    return Structures((*_examples(), *_repeated(4, bench.seed), *drawn))


def _mixture(bench: Bench, tied: int, acyclic: int) -> "list[Dataset]":
    own = user_datasets(bench)
    if own is not None:
        return list(map(_small, own))
    return [*tied_datasets(bench, tied), *acyclic_datasets(bench, acyclic)]


DEPTHS = np.unique(np.concatenate([np.geomspace(1, 8_000, 28), [20.0, 40.0, 80.0]]))


def _paths(bench: Bench) -> Curves:
    from lemmata.papers.mechanics.setting import path

    datasets, skipped = split(_mixture(bench, 10, 6))
    done = bench.track("regularization paths", len(datasets))
    curves = []
    for dataset in datasets:
        curves.append(path(dataset, DEPTHS))
        done(1)
    return Curves(tuple(datasets), tuple(curves), DEPTHS, skipped)


def _balls(bench: Bench) -> Balls:
    from lemmata.attention import LINEAR
    from lemmata.papers.mechanics._regularized import linear_head
    from lemmata.papers.mechanics.setting import Training, ball_paths

    own = user_datasets(bench)
    drawn = acyclic_datasets(bench, 3) if own is None else list(map(_small, own))
    datasets, skipped = split(drawn, lambda d: d.acyclic and d.margin.status == "solved")
    head = "embedding" if all(linear_head(d) is d.E for d in datasets) else "identity"
    losses = {"linear": LINEAR, "squared": "squared"}
    done = bench.track("paths of other losses", len(losses))
    found = {}
    for name, loss in losses.items():
        how = Training(loss=loss, head=head)  # pyright: ignore[reportArgumentType]
        found[name] = ball_paths(datasets, how, [20.0, 80.0, 320.0]) if datasets else []
        done(1)
    return Balls(tuple(datasets), found, skipped)


def _flows(bench: Bench) -> Curves:
    from lemmata.papers.mechanics.setting import flow

    datasets, skipped = split(_mixture(bench, 3, 2))
    times = np.concatenate([[0.0], np.geomspace(1, 1e6, 25)])
    return Curves(tuple(datasets), tuple(flow(d, times) for d in datasets), times, skipped)


def _descent(bench: Bench) -> Trained:
    from lemmata.papers.mechanics.setting import Training

    how = Training(algorithm="gd", rate="paper", steps=400, record=tuple(range(401)))
    return trained(bench, "gradient descent, 1/L", _mixture(bench, 8, 4), how)


def _steps(bench: Bench) -> Steps:
    from lemmata.papers.mechanics._points import At

    datasets, skipped = split(_mixture(bench, 4, 2))
    weights, risks = [], []
    for dataset in datasets:
        start = dataset.initial_weights
        W = np.zeros_like(dataset.target) if start is None else start
        path, values = [W], [At(dataset, W).risk]
        for _ in range(200):
            W = W - At(dataset, W).gradient() / dataset.lipschitz
            path.append(W)
            values.append(At(dataset, W).risk)
        weights.append(np.stack(path))
        risks.append(values)
    eta = np.array([1 / dataset.lipschitz for dataset in datasets])
    return Steps(tuple(datasets), eta, tuple(weights), np.array(risks), skipped)


def _long_descent(bench: Bench) -> Trained:
    from lemmata.papers.mechanics.setting import Training

    steps = 1_000_000 if bench.paper_scale else 100_000
    how = Training(algorithm="gd", rate="tight", steps=steps)
    return trained(bench, "gradient descent, tight 1/L", _mixture(bench, 6, 4), how)


def _long_normalized(bench: Bench) -> Trained:
    from lemmata.papers.mechanics.setting import Training

    own = user_datasets(bench)
    datasets = acyclic_datasets(bench, 10) if own is None else own
    how = Training(rate=1.0, steps=20_000)
    return trained(bench, "normalized descent, acyclic", datasets, how)


def _orbit(bench: Bench) -> Trained:
    from lemmata.papers.mechanics.setting import Training

    own = user_datasets(bench)
    datasets = tied_datasets(bench, 12) if own is None else own
    how = Training(rate=0.01, steps=400_000 if bench.paper_scale else 80_000)
    return trained(bench, "normalized descent, cyclic", datasets, how)


def _block(bench: Bench) -> Trained:
    from lemmata.papers.mechanics.setting import Training

    how = Training(algorithm="block", rate=1.0, steps=20_000)
    return trained(bench, "block scheme", _mixture(bench, 12, 8), how)


def _factored(bench: Bench) -> Trained:
    from lemmata.papers.mechanics.setting import Training

    own = user_datasets(bench)
    datasets = acyclic_datasets(bench, 10) if own is None else own
    how = Training(algorithm="factored", rate=0.01, steps=20_000)
    return trained(bench, "factored weights", datasets, how)


def infeasible_datasets(bench: Bench, count: int) -> "list[Dataset]":
    """Eight tokens in four dimensions, where Graph-SVM is infeasible."""
    from lemmata.papers.mechanics.setting import Recipe, generate

    drawn = generate(Recipe(8, 4, 10, 6, "any"), 4 * count, bench.seed)
    return [dataset for dataset in drawn if not dataset.feasible][:count]


def _infeasible(bench: Bench) -> Trained:
    from lemmata.papers.mechanics.setting import Training

    own = user_datasets(bench)
    datasets = infeasible_datasets(bench, 12) if own is None else own
    how = Training(algorithm="block", rate=0.2, steps=20_000)
    return trained(bench, "infeasible Graph-SVM", datasets, how)


STRUCTURES: Experiment[Structures] = Experiment(
    "structures",
    "4 examples, 10 datasets with repeated tokens, 100 acyclic and 100 cyclic",
    _structures,
)
SAMPLE: Experiment[Structures] = Experiment(
    "sample",
    "4 examples, 4 datasets with repeated tokens, 6 acyclic and 8 cyclic ones; at 12 random W "
    "each, of four scales, where the statement speaks of all W",
    _sample,
)
PATHS: Experiment[Curves] = Experiment(
    "paths",
    "the regularization path of the log loss on 10 cyclic and 6 acyclic datasets, ridges e^-1 to "
    "e^-8000",
    _paths,
)
BALLS: Experiment[Balls] = Experiment(
    "balls",
    "minimisers on spheres of radius 20, 80 and 320 for l(u) = -u and (1 - u)^2 with C = E, on 3 "
    "acyclic datasets",
    _balls,
)
FLOWS: Experiment[Curves] = Experiment(
    "flows", "gradient flow on 3 cyclic and 2 acyclic datasets, to time 10^6", _flows
)
DESCENT: Experiment[Trained] = Experiment(
    "descent",
    "400 steps of gradient descent, eta = 1/L, on 8 cyclic and 4 acyclic datasets",
    _descent,
)
STEPS: Experiment[Steps] = Experiment(
    "steps", "200 steps of gradient descent, eta = 1/L, on 4 cyclic and 2 acyclic datasets", _steps
)
LONG_DESCENT: Experiment[Trained] = Experiment(
    "long-descent",
    "100,000 steps of gradient descent with the tight 1/L on 6 cyclic and 4 acyclic datasets "
    "(a million at paper scale)",
    _long_descent,
)
LONG_NORMALIZED: Experiment[Trained] = Experiment(
    "long-normalized", "20,000 normalized steps of 1 on 10 acyclic datasets", _long_normalized
)
ORBIT: Experiment[Trained] = Experiment(
    "orbit",
    "80,000 normalized steps of 0.01 on 12 cyclic datasets with W^cyc != 0 (400,000 at paper "
    "scale)",
    _orbit,
)
BLOCK: Experiment[Trained] = Experiment(
    "block",
    "20,000 steps of the block scheme (plain in S_cyc, normalized of size 1 outside) on 12 cyclic "
    "and 8 acyclic datasets",
    _block,
)
FACTORED: Experiment[Trained] = Experiment(
    "factored",
    "20,000 normalized steps of 0.01 on K and Q from small random factors, 10 acyclic datasets",
    _factored,
)
INFEASIBLE: Experiment[Trained] = Experiment(
    "infeasible",
    "the block scheme on 12 datasets with 8 tokens in 4 dimensions, where Graph-SVM is infeasible",
    _infeasible,
)


def witness(dataset: "Dataset", **numbers: Any) -> dict[str, Any]:
    """A dataset that a reader can type in, with the numbers that matter."""
    samples = [dataset.data.show(sample) for sample in dataset.data.samples]
    return {"dataset": dataset.name, "samples": samples, **numbers}

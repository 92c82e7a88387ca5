"""The quantities of the proofs of Lemmas 5 to 7, input by input, in plain NumPy.

W_ov has equal margins Δ, as stage 1 leaves it. Everything is a function of W_kq: at points of a run
from zero, or at random ones. Differences are taken before they are weighed, so that weights close
to 0 and 1 lose nothing. One column of the evidence is one input at one point; inputs without a
choice, whose gradient is 0, are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence, as_rows
from lemmata.tokens import Role

from .. import theory
from ..setting import Dataset, TwoStage

MOST_STEPS = 4_000
SIZES = (0.3, 1.0, 3.0, 10.0, 30.0)
"""Of random W_kq."""


@dataclass(frozen=True)
class Layer:
    """The inputs of a dataset that have a choice, one slot a distinct token.

    Attributes:
        tokens, counts: the distinct tokens of each input, and how often they occur; 0 for padding.
        chosen: which of them the label selects.
        query, label: of each input.
        log_pi: log π of each input.
        delta: the margin of W_ov.
    """

    dataset: Dataset
    tokens: Int[np.ndarray, "inputs slots"]
    counts: Float[np.ndarray, "inputs slots"]
    chosen: Bool[np.ndarray, "inputs slots"]
    query: Int[np.ndarray, "inputs"]
    label: Int[np.ndarray, "inputs"]
    log_pi: Float[np.ndarray, "inputs"]
    delta: float

    @classmethod
    def of(cls, dataset: Dataset, delta: float) -> "Layer":
        rows = [
            (sample, log_pi)
            for sample, log_pi in zip(dataset.data.samples, dataset.log_pi, strict=True)
            if len(set(sample.tokens)) > 1
        ]
        slots = max(len(set(sample.tokens)) for sample, _ in rows)
        tokens = np.zeros((len(rows), slots), dtype=np.int64)
        counts, chosen = np.zeros(tokens.shape), np.zeros(tokens.shape, dtype=bool)
        for i, (sample, _) in enumerate(rows):
            distinct, selected = sorted(set(sample.tokens)), dataset.orders.selected(sample)
            tokens[i, : len(distinct)] = distinct
            counts[i, : len(distinct)] = [sample.tokens.count(x) for x in distinct]
            chosen[i, : len(distinct)] = [x in selected for x in distinct]
        logs = np.array([log_pi for _, log_pi in rows])
        query, label = np.array([[s.query, s.label] for s, _ in rows]).T
        return cls(dataset, tokens, counts, chosen, query, label, logs, delta)

    @cached_property
    def share(self) -> Float[np.ndarray, "inputs"]:
        """π of each input, in units of the largest."""
        return np.exp(self.log_pi - self.log_pi.max())

    @cached_property
    def target(self) -> Float[np.ndarray, "tokens queries"]:
        """W_kq*."""
        weights = self.dataset.attention_margin.weights
        assert weights is not None
        return weights

    @cached_property
    def next_tokens(self) -> Int[np.ndarray, "inputs slots"]:
        after = np.array([self.dataset.collocation.following[x] for x in range(self.dataset.K)])
        return after[self.tokens]

    def logits(self, W: Float[np.ndarray, "tokens queries"]) -> Float[np.ndarray, "inputs slots"]:
        """x^T W x_q of each slot."""
        return W[self.tokens, self.query[:, None]]


def attend(layer: Layer, W: Float[np.ndarray, "tokens queries"]) -> dict[str, np.ndarray]:
    """Attention M, the probability that the label is missed, and that of each slot's successor."""
    logits = np.where(layer.counts > 0, layer.logits(W), -np.inf)
    powers = layer.counts * np.exp(logits - logits.max(axis=1, keepdims=True))
    mass = powers / powers.sum(axis=1, keepdims=True)
    values = np.zeros((len(mass), layer.dataset.K))
    np.add.at(values, (np.arange(len(mass))[:, None], layer.next_tokens), layer.delta * mass)
    wrong = np.exp(values - values[np.arange(len(mass)), layer.label][:, None])
    wrong[np.arange(len(mass)), layer.label] = 0.0
    total = wrong.sum(axis=1)
    right = 1 / (1 + total)
    successor = np.take_along_axis(wrong, layer.next_tokens, axis=1) * right[:, None]
    return {
        "mass": mass,
        "miss": total * right,
        "successor": np.where(layer.counts > 0, successor, 0.0),
        "loss": np.log1p(total),
    }


def gradient(layer: Layer, state: dict[str, np.ndarray]) -> Float[np.ndarray, "tokens queries"]:
    """∇L in the units of ``share``: Lemma 4, a slot at a time."""
    mass, pull = state["mass"], layer.delta * _pull(layer, state)
    slots = mass * ((pull[:, :, None] - pull[:, None, :]) * mass[:, None, :]).sum(axis=2)
    matrix = np.zeros((layer.dataset.K, layer.dataset.K))
    where = layer.tokens, np.broadcast_to(layer.query[:, None], layer.tokens.shape)
    np.add.at(matrix, where, layer.share[:, None] * slots)
    return matrix


def _pull(layer: Layer, state: dict[str, np.ndarray]) -> np.ndarray:
    """T_y − 1 at chosen slots, and T of the successor at the others."""
    return np.where(layer.chosen, -state["miss"][:, None], state["successor"])


def quantities(layer: Layer, W: Float[np.ndarray, "tokens queries"]) -> dict[str, np.ndarray]:
    """Everything that the proofs speak of, one number an input (or the same for all inputs)."""
    dataset, state = layer.dataset, attend(layer, W)
    mass, norm, n, L = state["mass"], float(np.linalg.norm(W)), dataset.norm_kq, dataset.L_max
    slope = gradient(layer, state)
    plus = np.where(layer.chosen, mass, 0.0).sum(axis=1)
    minus = np.where(layer.chosen, 0.0, mass).sum(axis=1)
    spread = (np.where(layer.chosen, 0.0, state["successor"]) * mass).sum(axis=1)
    roles = {role: _cells(dataset, role) for role in (Role.OPTIMAL, Role.NON_OPTIMAL)}
    size = _norm(slope)
    row: dict[str, Any] = {
        "point_norm": norm,
        "phi_plus": plus,
        "phi_minus": minus,
        "miss": state["miss"],
        "input_loss": state["loss"],
        "spread": spread,
        "lead": _least_lead(layer, layer.logits(W)),
        "gain": _least_lead(layer, -layer.logits(slope)) / size,
        "slope_optimal": max(slope[cell] for cell in roles[Role.OPTIMAL]) / size,
        "slope_other": min(slope[cell] for cell in roles[Role.NON_OPTIMAL]) / size,
        "slope_single": max(slope[x, x] for x in range(dataset.K)) / size,
        "projection": float((slope * layer.target).sum()),
        "gradient_norm": size,
        "missed": layer.delta * (layer.share * (state["miss"] * plus * minus)).sum(),
        "missed_plus": layer.delta * (layer.share * plus * spread).sum(),
        "missed_all": layer.delta * (layer.share * spread).sum(),
        "log_pi": layer.log_pi,
        "beta": theory.lemma_7_beta(norm, n, L) if norm > 0 else np.nan,
    }
    row |= _parts(layer, state, layer.logits(W), "t")
    row |= _parts(layer, state, layer.logits(layer.target) * norm / n, "star")
    return {name: np.broadcast_to(value, plus.shape) for name, value in row.items()}


def _parts(
    layer: Layer, state: dict[str, np.ndarray], logits: np.ndarray, name: str
) -> dict[str, np.ndarray]:
    """A, B₊ and B₋ of the proof of Lemma 7, under these logits."""
    mass = state["mass"]
    apart = (logits[:, :, None] - logits[:, None, :]) * mass[:, None, :]
    above = np.where(layer.chosen[:, None, :], apart, 0.0).sum(axis=2)
    rest = np.where(layer.chosen[:, None, :], 0.0, apart).sum(axis=2)
    chosen = np.where(layer.chosen, mass, 0.0)
    others = np.where(layer.chosen, 0.0, state["successor"] * mass)
    return {
        f"A_{name}": -state["miss"] * (chosen * rest).sum(axis=1),
        f"B_plus_{name}": (others * above).sum(axis=1),
        f"B_minus_{name}": (others * rest).sum(axis=1),
    }


def _least_lead(layer: Layer, values: np.ndarray) -> np.ndarray:
    """The least of the chosen slots of each input, minus the largest of its others."""
    chosen, others = layer.chosen, ~layer.chosen & (layer.counts > 0)
    least = np.where(chosen, values, np.inf).min(axis=1)
    return least - np.where(others, values, -np.inf).max(axis=1)


def _norm(matrix: Float[np.ndarray, "rows columns"]) -> float:
    """Of entries whose squares may underflow."""
    top = float(np.abs(matrix).max())
    return top * float(np.linalg.norm(matrix / top))


def _cells(dataset: Dataset, role: Role) -> list[tuple[int, int]]:
    return [(x, q) for q in dataset.orders.graphs for x in dataset.orders.having(q, role)]


def walk(
    layer: Layer, rate: float, records: Sequence[int]
) -> Iterator[Float[np.ndarray, "tokens queries"]]:
    """Stage 2 from zero, at the recorded steps."""
    W = np.zeros((layer.dataset.K, layer.dataset.K))
    for step in range(records[-1] + 1):
        if step in records:
            yield W
        slope = gradient(layer, attend(layer, W))
        W = W - rate * slope / _norm(slope)


def along_runs(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """The proofs' quantities along stage 2 from zero: at the start, and from t₀ of Lemma 7 on."""
    training: TwoStage = experiment.training

    def points(layer: Layer) -> Iterator[tuple[int, np.ndarray]]:
        dataset = layer.dataset
        rate = training.rates(dataset)[1]
        first = int(theory.lemma_7_start(rate, dataset.norm_kq, dataset.L_max))
        steps = sorted(
            {0, 1, 3, 10, *(t for t in (first, first + training.steps) if t <= MOST_STEPS)}
        )
        return zip(steps, walk(layer, rate, steps), strict=True)

    return _evidence(experiment, instances, points)


def at_start(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """The proofs' quantities before the first step of stage 2."""
    return _evidence(
        experiment, instances, lambda layer: [(0, np.zeros((layer.dataset.K, layer.dataset.K)))]
    )


def anywhere(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """The proofs' quantities at random W_kq of several sizes."""

    def points(layer: Layer) -> Iterator[tuple[int, np.ndarray]]:
        draw = np.random.default_rng([experiment.seed, layer.dataset.K])
        K = layer.dataset.K
        return ((0, size * draw.standard_normal((K, K))) for size in SIZES)

    return _evidence(experiment, instances, points)


def _evidence(experiment: Experiment[Any], instances: Sequence[Dataset], points) -> Evidence:
    """One row a dataset, one column an input at a point."""
    training: TwoStage = experiment.training or TwoStage()
    fits = [d.has_collocation and d.norm_kq > 0 and d.orthonormal for d in instances]
    ready = tuple(d for d, good in zip(instances, fits, strict=True) if good)
    skipped = tuple(d for d, good in zip(instances, fits, strict=True) if not good)
    rows: list[dict[str, np.ndarray]] = []
    for dataset in ready:
        reach = training.stage1_steps * training.rates(dataset)[0]
        layer = Layer.of(dataset, reach / dataset.norm_ov)
        with np.errstate(invalid="ignore", divide="ignore"):
            table = [
                quantities(layer, W)
                | {
                    name: np.full(len(layer.query), float(value))
                    for name, value in (("t", t), ("point", number))
                }
                for number, (t, W) in enumerate(points(layer))
            ]
        rows.append({name: np.concatenate([each[name] for each in table]) for name in table[0]})
    columns = {name: as_rows([row[name] for row in rows]) for name in (rows[0] if rows else ())}
    for name, attribute in {"K": "K", "N": "N", "L": "L_max", "norm_kq": "norm_kq"}.items():
        columns[name] = as_rows([getattr(dataset, attribute) for dataset in ready])
    columns["rate"] = as_rows([training.rates(dataset)[1] for dataset in ready])
    columns["delta"] = as_rows(
        [training.stage1_steps * training.rates(d)[0] / d.norm_ov for d in ready]
    )
    return Evidence(ready, None, columns, skipped)

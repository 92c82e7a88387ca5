"""Algorithm 1 again, in ball arithmetic: sample by sample, as the paper writes it.

It shares no code with training. Every number is a ball that contains the true value, so that what
it says of the sign of a difference is proved.
"""

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from flint import arb, arb_mat
from jaxtyping import Int

from lemmata.settings import Balls, as_balls, dot
from lemmata.tokens import Role

from ._dataset import Dataset
from ._rays import FAR, enclosed, frequencies
from ._two_stage import Joint, TwoStage

UNKNOWN = arb("nan")


@dataclass(frozen=True)
class Asked:
    """An input: its distinct tokens with their numbers, which are optimal, and what should follow.

    Attributes:
        values: W_ov of each token, next token minus right one, for all wrong next tokens.
    """

    counts: dict[int, int]
    chosen: frozenset[int]
    query: int
    length: int
    weight: arb
    values: dict[int, list[arb]]
    label: int


def replay(dataset: Dataset, training: TwoStage, steps: Int[np.ndarray, "records"]) -> Balls:
    """What stage 2 records, and the constants of the dataset, at the recorded steps."""
    rates = [arb(rate) for rate in training.rates(dataset)]
    E = None if dataset.embeddings is None else as_balls(dataset.embeddings)
    inputs = _inputs(dataset, _values(dataset, training, rates[0], E))
    size = dataset.K if E is None else E.ncols()
    W = arb_mat(size, size)
    if dataset.initial_weights is not None:
        W = as_balls(dataset.initial_weights)
    target, records, wanted = _target(dataset), [], set(steps.tolist())
    for step in range(int(steps[-1]) + 1):
        logits = _across(W, E)
        if not all(logit.is_finite() for logit in logits.entries()):
            break
        loss, slope = _evaluate(logits, inputs, dataset.K)
        gradient = slope if E is None else E.transpose() * slope * E
        length = _norm(gradient)
        after = W
        if not length.is_zero():
            after = W - gradient * (rates[1] / length if training.rule == "ngd" else rates[1])
        if step in wanted:
            row = _common(W, gradient, loss, target)
            records.append(row | _roles(dataset, inputs, logits, _across(after, E)))
        W = after
    return {
        **_columns(records, len(steps)),
        **_constants(dataset, training, rates),
        **_far_ahead(dataset, training, inputs, rates),
    }


def _far_ahead(
    dataset: Dataset, training: TwoStage, inputs: list[Asked], rates: list[arb]
) -> Balls:
    """The same at steps that no training reaches, where that is proved."""
    matrices = None
    if training.rule == "ngd":
        matrices = enclosed(dataset, training.stage1_steps * rates[0], rates[1])
    rows = [] if matrices is None else [_on_a_ray(dataset, inputs, W) for W in matrices]
    names = ("ray_gap", "ray_log_odds", "ray_log_loss")
    rows = rows or [(UNKNOWN,) * len(names)] * len(FAR)
    return {
        name: np.array(c, dtype=object)
        for name, c in zip(names, zip(*rows, strict=True), strict=True)
    }


def _on_a_ray(dataset: Dataset, inputs: list[Asked], W: arb_mat) -> tuple[arb, arb, arb]:
    loss, gradient = _evaluate(W, inputs, dataset.K)
    gap = _common(W, gradient, loss, _target(dataset))["one_minus_correlation"]
    odds = [_log_odds(asked, W) for asked in inputs if set(asked.counts) - asked.chosen]
    return gap, _smallest(odds), loss.log()


def replay_joint(dataset: Dataset, training: Joint, steps: Int[np.ndarray, "records"]) -> Balls:
    """What joint training of both layers records, with the usual embeddings and from zero."""
    K, rate = dataset.K, arb(training.step_size(dataset))
    values, W = arb_mat(K, K), arb_mat(K, K)
    records, wanted = [], set(steps.tolist())
    for step in range(int(steps[-1]) + 1):
        inputs = _inputs(dataset, values)
        loss, slope = _evaluate(W, inputs, K)
        value_slope = _value_slope(W, inputs, dataset)
        length = (dot(slope, slope) + dot(value_slope, value_slope)).sqrt()
        if not length.is_finite():
            break
        if step in wanted:
            attention = _common(W, slope, loss, _target(dataset))
            value = _common(values, value_slope, loss, _value_target(dataset))
            names = ("norm", "one_minus_correlation")
            beside = {f"value_{name}": value[name] for name in names}
            records.append(attention | beside | {"log_gradient_norm": length.log()})
        if not length.is_zero():
            values, W = values - value_slope * (rate / length), W - slope * (rate / length)
    return {**_columns(records, len(steps)), "rate": np.array([rate], dtype=object)}


def _value_slope(W: arb_mat, inputs: list[Asked], dataset: Dataset) -> arb_mat:
    """The gradient of the loss in (W_ov x)_v."""
    slope = arb_mat(dataset.K, dataset.K)
    for asked in inputs:
        mass = _mass(asked, W)
        others = [v for v in range(dataset.K) if v != asked.label]
        wrong = _wrong(asked, mass)
        total = sum(wrong, arb(0))
        for x, part in mass.items():
            for v, power in zip(others, wrong, strict=True):
                slope[x, v] += asked.weight * part * power / (1 + total)
            slope[x, asked.label] -= asked.weight * part * total / (1 + total)
    return slope


def _columns(records: list[dict[str, arb]], count: int) -> Balls:
    """Rows as columns, unknown where there are none."""
    rows = records + [dict.fromkeys(records[0], UNKNOWN)] * (count - len(records))
    return {name: np.array([row[name] for row in rows], dtype=object) for name in rows[0]}


def _constants(dataset: Dataset, training: TwoStage, rates: list[arb]) -> Balls:
    numbers = {
        "rate": rates[1],
        "stage1_rate": rates[0],
        "stage1_steps": arb(training.stage1_steps),
        "K": arb(dataset.K),
        "N": arb(dataset.N),
        "L": arb(dataset.L_max),
        "norm_kq": UNKNOWN if np.isnan(dataset.norm_kq) else _norm(_target(dataset)),
        "norm_ov": arb(dataset.K - 1).sqrt(),
    }
    return {name: np.array([number], dtype=object) for name, number in numbers.items()}


def _value_target(dataset: Dataset) -> arb_mat:
    """W_ov*: at each x, e_n(x) − 1/|V|."""
    K, after = dataset.K, dataset.collocation.following
    matrix = arb_mat(K, K)
    for x in range(K):
        for v in range(K):
            matrix[x, v] = arb(int(after[x] == v)) - arb(1) / K
    return matrix


def _values(dataset: Dataset, training: TwoStage, rate: arb, E: arb_mat | None) -> arb_mat:
    """(W_ov x)_v after stage 1, one row a token x.

    With the usual embeddings every step of normalized descent from zero goes along W_ov*.
    """
    K, after = dataset.K, dataset.collocation.following
    start = dataset.initial_values
    if E is None and start is None and training.rule == "ngd":
        return _value_target(dataset) * (
            rate * training.stage1_steps / max(arb(K - 1).sqrt(), arb(1))
        )
    W = arb_mat(K if E is None else E.ncols(), K) if start is None else as_balls(start.T)
    for _ in range(training.stage1_steps):
        slope = arb_mat(K, K)
        values = W if E is None else E * W
        for x in range(K):
            wrong = {v: (values[x, v] - values[x, after[x]]).exp() for v in range(K)}
            del wrong[after[x]]
            total = sum(wrong.values(), arb(0))
            for v, power in wrong.items():
                slope[x, v] = power / (1 + total)
            slope[x, after[x]] = -total / (1 + total)
        gradient = slope if E is None else E.transpose() * slope
        length = _norm(gradient)
        if not length.is_finite():
            break
        if not length.is_zero():
            W = W - gradient * (rate / length if training.rule == "ngd" else rate)
    return W if E is None else E * W


def _inputs(dataset: Dataset, values: arb_mat) -> list[Asked]:
    return [
        Asked(
            {token: s.tokens.count(token) for token in sorted(set(s.tokens))},
            dataset.orders.selected(s),
            s.query,
            len(s.tokens),
            weight,
            {
                token: [
                    values[token, v] - values[token, s.label]
                    for v in range(dataset.K)
                    if v != s.label
                ]
                for token in set(s.tokens)
            },
            s.label,
        )
        for s, weight in zip(dataset.data.samples, frequencies(dataset), strict=True)
    ]


def _evaluate(logits: arb_mat, inputs: list[Asked], K: int) -> tuple[arb, arb_mat]:
    """The loss, and its gradient in x^T W_kq x_q."""
    loss, slope = arb(0), arb_mat(K, K)
    for asked in inputs:
        mass = _mass(asked, logits)
        wrong = _wrong(asked, mass)
        total = sum(wrong, arb(0))
        loss += asked.weight * total.log1p()
        pull = {
            x: sum((w * gap for w, gap in zip(wrong, asked.values[x], strict=True)), arb(0))
            for x in mass
        }
        for x in mass:
            rest = sum((mass[y] * (pull[x] - pull[y]) for y in mass if y != x), arb(0))
            slope[x, asked.query] += asked.weight * mass[x] * rest / (1 + total)
    return loss, slope


def _wrong(asked: Asked, mass: dict[int, arb]) -> list[arb]:
    """How likely the wrong next tokens are, in units of the right one."""
    return [
        sum((mass[x] * gap for x, gap in zip(asked.values, gaps, strict=True)), arb(0)).exp()
        for gaps in zip(*asked.values.values(), strict=True)
    ]


def _mass(asked: Asked, logits: arb_mat) -> dict[int, arb]:
    """The attention on each distinct token."""
    powers = {x: count * logits[x, asked.query].exp() for x, count in asked.counts.items()}
    total = sum(powers.values(), arb(0))
    return {x: power / total for x, power in powers.items()}


def _common(W: arb_mat, gradient: arb_mat, loss: arb, target: arb_mat | None) -> dict[str, arb]:
    size, length = _norm(W), _norm(gradient)
    row = {
        "log_loss": loss.log(),
        "norm": size,
        "log_gradient_norm": length.log(),
        "descent_on_weights": -dot(gradient, W) / (length * size),
    }
    names = ("correlation", "one_minus_correlation", "descent_on_target")
    if target is None:
        return row | dict.fromkeys(names, UNKNOWN)
    norm = _norm(target)
    apart = W * (1 / size) - target * (1 / norm)
    gap = dot(apart, apart) / 2
    along = -dot(gradient, target) / (length * norm)
    return row | dict(zip(names, (1 - gap, gap, along), strict=True))


def _roles(
    dataset: Dataset, inputs: list[Asked], logits: arb_mat, after: arb_mat
) -> dict[str, arb]:
    """Attention on the optimal tokens, and the logits of each role."""
    cells = {(x, asked.query) for asked in inputs for x in asked.counts}
    role = {(x, q): dataset.orders.role(q, x) for x, q in cells}
    by_role = {
        name: [logits[cell] for cell in cells if role[cell] == name]
        for name in (Role.OPTIMAL, Role.NON_OPTIMAL)
    }
    idle = [abs(logits[cell]) for cell in cells if role[cell] not in by_role]
    spoken = [asked for asked in inputs if asked.chosen]
    mixed = [asked for asked in spoken if set(asked.counts) - asked.chosen]
    weights = [
        (asked, _mass(asked, logits)[x] / asked.counts[x]) for asked in spoken for x in asked.chosen
    ]
    margins = [
        logits[a, q] - logits[b, q]
        for q, graph in dataset.orders.graphs.items()
        for a, b in graph.edges
    ]
    odds = [_log_odds(asked, logits) for asked in mixed]
    gains = [_log_odds(asked, after) - now for asked, now in zip(mixed, odds, strict=True)]
    return {
        "smallest_log_odds": _smallest(odds, of_nothing="nan"),
        "smallest_gain": _smallest(gains),
        "smallest_weight": _smallest([weight for _, weight in weights], of_nothing="nan"),
        "smallest_growth": _smallest([(w * asked.length).log() for asked, w in weights]),
        "smallest_margin": _smallest(margins, of_nothing="nan"),
        "smallest_optimal": _smallest(by_role[Role.OPTIMAL]),
        "largest_non_optimal": -_smallest([-logit for logit in by_role[Role.NON_OPTIMAL]]),
        "largest_idle": -_smallest([-size for size in idle]) if idle else arb(0),
    }


def _log_odds(asked: Asked, logits: arb_mat) -> arb:
    mass = _mass(asked, logits)
    inside = sum((mass[x] for x in mass if x in asked.chosen), arb(0))
    return (inside / sum((mass[x] for x in mass if x not in asked.chosen), arb(0))).log()


def _smallest(balls: list[arb], of_nothing: str = "inf") -> arb:
    """A ball that contains the least value; what is said of nothing."""
    return reduce(lambda a, b: a.min(b), balls) if balls else arb(of_nothing)


def _across(W: arb_mat, E: arb_mat | None) -> arb_mat:
    """x^T W x_q for all tokens x and x_q."""
    return W if E is None else E * W * E.transpose()


def _target(dataset: Dataset) -> Any:
    """W_kq*, from exact fractions where there are some; None if there is no such matrix."""
    solution = dataset.attention_margin
    if solution.weights is None:
        return None
    if not dataset.orthonormal:
        return as_balls(solution.weights)
    matrix = arb_mat(dataset.K, dataset.K)
    for cell, value in solution.entries.items():
        matrix[cell] = arb(value.numerator) / value.denominator
    if dataset.embeddings is None:
        return matrix
    E = as_balls(dataset.embeddings)
    return E.transpose() * matrix * E


def _norm(matrix: arb_mat) -> arb:
    return dot(matrix, matrix).sqrt()

"""Lemmas 1, 2, 7, 8 and 9 and the equations around them: gradients, and how fast they change."""

from collections.abc import Sequence

import numpy as np

from lemmata.old_claims import Bench, Cases, Judgement, Status, at_most, fact, same
from lemmata.papers.context.claims._terms import ROUNDING, UNIT, claim
from lemmata.papers.context.experiments.points import GAUSSIAN_POINTS, POINTS, Point


@claim(
    "lemma-1",
    "Appendix A.2, Lemma 1, (29)",
    "d s_j / d Q = s_j sum_i s_i (v_j - v_i) v_k' for attention s to N tokens.",
    assumes=(),
    on=POINTS,
    sharpened="the factor s_i is left out",
)
def lemma_1(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """Against the derivative that differentiation in a direction gives, by complex steps."""

    def literal(point: Point) -> np.ndarray:
        s, V = point.here.attention[:, 0, -1], point.task.prompt
        weight = np.ones_like(s) if sharpened else s
        inner = V * weight.sum() - (V @ weight)[:, None]
        direction = _direction(point)
        return s * (inner.T @ direction @ point.task.tokens[:, -1])

    return [same(evidence, "derivative", _complex_step, literal, 1e-13)]


def _direction(point: Point) -> np.ndarray:
    change = point.there.Q[0] - point.here.Q[0]
    return change / np.linalg.norm(change)


def _complex_step(point: Point) -> np.ndarray:
    """The derivative of softmax along a direction without subtraction."""
    tiny = 1e-100
    Q = point.here.Q[0] + 1j * tiny * _direction(point)
    logits = point.task.prompt.T @ Q @ point.task.tokens[:, -1]
    powers = np.exp(logits - logits.real.max())
    return (powers / powers.sum()).imag / tiny


def _smoothness_of_softmax(bench: Bench) -> Sequence[Judgement]:
    """Two tokens with logits +-x against equal ones, whose attentions differ by tanh(x)."""
    x = 2.0 ** -np.arange(1, 30)
    ratio = float((np.tanh(x) / x).max())
    return [
        fact(
            "how sharp",
            ratio <= 2,
            f"on two tokens the distance reaches {ratio:.9f} times the change of logits: the "
            "constant 2 could be 1",
            margin=2 - ratio,
        )
    ]


@claim(
    "lemma-2",
    "Appendix A.2, Lemma 2, (30)",
    "||softmax(x) - softmax(y)||_1 <= 2 ||x - y||_inf.",
    assumes=(),
    on=POINTS,
    sharpened="the constant is 1/4",
    counterexample=_smoothness_of_softmax,
)
def lemma_2(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    return [_softmax_bound(evidence, 2.0, 8.0 if sharpened else 1.0)]


@claim(
    "own/softmax-constant",
    "Lemma 2",
    "The constant in (30) is 1: ||softmax(x) - softmax(y)||_1 <= ||x - y||_inf.",
    assumes=(),
    on=POINTS,
    sharpened="the constant is 1/4",
)
def own_softmax_constant(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    return [_softmax_bound(evidence, 1.0, 4.0 if sharpened else 1.0)]


def _softmax_bound(evidence: Cases[Point], constant: float, sharper: float) -> Judgement:
    def moved(point: Point) -> np.ndarray:
        V, S = point.task.prompt, point.task.tokens
        logits = np.einsum("an,hab,bk->nhk", V, point.here.Q - point.there.Q, S, optimize=True)
        return constant * np.abs(logits).max(axis=0).ravel()

    return at_most(
        evidence,
        "distance of attentions",
        lambda p: np.abs(p.here.attention - p.there.attention).sum(axis=0).ravel(),
        moved,
        trivial=lambda _: 2.0,
        sharper=sharper,
        tolerance=1e-11,
    )


def _slope_bound(evidence: Cases[Point], sharper: float) -> list[Judgement]:
    """(42) for every head, at both weights of a point."""

    def bound(point: Point, which: str) -> float:
        at = getattr(point, which)
        alpha = np.abs(at.w).max() / point.gamma
        scale = 2 * np.sqrt(2) * point.gamma * alpha * point.task.largest_column
        return scale * np.sqrt(at.gap)

    return [
        at_most(
            evidence,
            f"slope in Q at the {name} weights",
            lambda p, which=which: np.linalg.norm(getattr(p, which).query_slope, axis=(1, 2)),
            lambda p, which=which: np.full(p.H, bound(p, which)),
            sharper=sharper,
            tolerance=ROUNDING,
        )
        for which, name in (("here", "first"), ("there", "second"))
    ]


@claim(
    "lemma-6",
    "Appendix B, Lemma 6, (39) to (41), (81)",
    "A step at the rates eta_Q and eta_w is one at the rate eta_Q in (Q, w / gamma).",
    assumes=(),
    on=POINTS,
    sharpened="it is one in (Q, w / (2 gamma^2))",
)
def lemma_6(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """w after the step both ways; the gradient in alpha is that of (45)."""
    rate = 0.01

    def two_rates(point: Point) -> np.ndarray:
        moved = rate * point.gamma**2 * point.here.value_slope
        return (point.here.w - moved).ravel() / _step_scale(point)

    def one_rate(point: Point) -> np.ndarray:
        unit = 2 * point.gamma**2 if sharpened else point.gamma
        slope = np.einsum("nhk,nk->hk", point.here.B, point.here.weighted) / point.task.K
        alpha = point.here.w / unit - rate * unit * slope
        return (unit * alpha).ravel() / _step_scale(point)

    def _step_scale(point: Point) -> float:
        largest = max(np.abs(point.here.w).max(), np.abs(point.here.value_slope).max())
        return max(1.0, point.gamma**2) * float(largest)

    return [same(evidence, "w after a step", two_rates, one_rate, ROUNDING)]


@claim(
    "lemma-7",
    "Appendix B, Lemma 7, (42)",
    "||d l / d Q_h||_F <= 2 sqrt(2) gamma alpha f_max sqrt(l - L*) while |alpha_{h,k}| <= alpha.",
    assumes=(UNIT,),
    on=POINTS,
    sharpened="a bound 100 times smaller",
)
def lemma_7(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    return _slope_bound(evidence, 100.0 if sharpened else 1.0)


def _saturated_slope(bench: Bench) -> Sequence[Judgement]:
    """Two long tokens that point apart, attention undecided: (42) fails by their squared norm."""
    from lemmata.papers.context.experiments.points import evaluate_points
    from lemmata.papers.context.setting import Plan, Task, from_heads

    tokens = 10.0 * np.array([[1.0, -1.0, 1.0]])
    task = Task(tokens, np.array([[1.0, -1.0, 0.5]]), 2, 0.1, "tokens 10, -10, 10; Q = 0, w = 1")
    weights = from_heads(np.zeros((1, 1, 1)), np.ones((1, 3)))
    at = evaluate_points([Plan(task, 1)], [weights])[0]
    slope = float(np.linalg.norm(at.query_slope))
    bound = float(2 * np.sqrt(2) * task.largest_column * np.sqrt(at.gap))
    return [
        fact(
            "two tokens",
            slope <= bound,
            f"{task.name}: ||d l / d Q|| = {slope:.6g} against {bound:.6g}",
            {"dataset": task.name, "left": slope, "right": bound},
            bound - slope,
        )
    ]


@claim(
    "lemma-7/gaussian",
    "Appendix B, Lemma 7, (42)",
    "The same for tokens of any norm, as the experiments draw them.",
    assumes=(),
    on=GAUSSIAN_POINTS,
    sharpened="a bound 1000 times smaller",
    counterexample=_saturated_slope,
)
def lemma_7_gaussian(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    return _slope_bound(evidence, 1000.0 if sharpened else 1.0)


@claim(
    "equation-45",
    "Appendix B, (45)",
    "d l / d alpha_k = (gamma / K) B_k' Z-bar delta_k.",
    assumes=(),
    on=POINTS,
    sharpened="the factor 1/K is 1/(K+1)",
)
def equation_45(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """Against the derivative of the loss itself, a quadratic in alpha: half a difference of two."""

    def literal(point: Point) -> np.ndarray:
        K = point.task.K + (1 if sharpened else 0)
        slope = np.einsum("nhk,nk->hk", point.here.B, point.here.weighted)
        return point.gamma / K * slope.ravel() / _slope_scale(point)

    def difference(point: Point) -> np.ndarray:
        task, at = point.task, point.here
        step = np.abs(at.w).max()
        slopes = np.empty_like(at.w)
        for h in range(point.H):
            moved = (at.delta + sign * step * at.attention[:, h] for sign in (1, -1))
            more, less = (np.sum((task.root @ delta) ** 2, axis=0) for delta in moved)
            slopes[h] = (more - less) / (2 * task.K)
        return (point.gamma * slopes / (2 * step)).ravel() / _slope_scale(point)

    return [same(evidence, "derivative", difference, literal, 1e-11)]


def _slope_scale(point: Point) -> float:
    return point.gamma * max(1.0, float(np.abs(point.here.value_slope).max()))


def _scores_bound(evidence: Cases[Point], sharper: float) -> Judgement:
    """||b - b'|| <= 2 ||Z-bar|| ||Q_h - Q'_h||_F for every head and token."""
    return at_most(
        evidence,
        "distance of scores",
        lambda p: np.linalg.norm(p.here.B - p.there.B, axis=0).ravel(),
        lambda p: np.repeat(2 * p.task.spectral * p.moved_Q, p.task.K),
        trivial=lambda p: np.sqrt(2) * p.task.spectral,
        sharper=sharper,
        tolerance=1e-11,
    )


@claim(
    "equation-46",
    "Appendix B, (46)",
    "||b^h_k - b'^h_k|| <= 2 ||Z-bar|| ||Q_h - Q'_h||_F.",
    assumes=(UNIT,),
    on=POINTS,
    sharpened="a bound 20 times smaller",
)
def equation_46(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    return [_scores_bound(evidence, 20.0 if sharpened else 1.0)]


@claim(
    "equation-46/gaussian",
    "Appendix B, (46)",
    "The same for tokens of any norm, as the experiments draw them.",
    assumes=(),
    on=GAUSSIAN_POINTS,
    sharpened="a bound 1000 times smaller",
)
def equation_46_gaussian(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    return [_scores_bound(evidence, 1000.0 if sharpened else 1.0)]


@claim(
    "lemma-8",
    "Appendix B, Lemma 8, (50), (51)",
    "b^h_k and delta_k are Lipschitz in Q and alpha while |alpha_{h,k}| <= alpha.",
    assumes=(UNIT,),
    on=POINTS,
    sharpened="bounds 20 times smaller",
)
def lemma_8(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def bound(point: Point) -> np.ndarray:
        moved = np.sqrt(np.sum(point.moved_Q**2))
        size = point.gamma * np.sqrt(point.H)
        by_alpha = np.linalg.norm(point.moved_alpha, axis=0)
        return 2 * size * point.alpha * moved + size * by_alpha

    sharper = 20.0 if sharpened else 1.0
    return [
        _scores_bound(evidence, sharper),
        at_most(
            evidence,
            "distance of delta",
            lambda p: np.linalg.norm(p.here.delta - p.there.delta, axis=0),
            bound,
            sharper=sharper,
            tolerance=1e-11,
        ),
    ]


@claim(
    "lemma-9",
    "Appendix B, Lemma 9, (52), (53)",
    "||b^h_k|| <= ||Z-bar|| and ||delta_k|| <= gamma H alpha + ||A|| while |alpha_{h,k}| <= alpha.",
    assumes=(),
    on=POINTS,
    sharpened="bounds 4 times smaller",
)
def lemma_9(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    sharper = 4.0 if sharpened else 1.0
    return [
        at_most(
            evidence,
            "scores",
            lambda p: np.linalg.norm(p.here.B, axis=0).ravel(),
            lambda p: np.full(p.H * p.task.K, p.task.spectral),
            sharper=sharper,
            tolerance=ROUNDING,
        ),
        at_most(
            evidence,
            "delta",
            lambda p: np.linalg.norm(p.here.delta, axis=0),
            lambda p: np.full(p.task.K, p.gamma * p.H * p.alpha + p.target_norm),
            sharper=sharper,
            tolerance=ROUNDING,
        ),
    ]


@claim(
    "equation-62",
    "Appendix B, Step 3, (62)",
    "||d l / d alpha_h|| <= ||Z-bar|| gamma sqrt(2 (l - L*) / K).",
    assumes=(),
    on=POINTS,
    sharpened="a bound 4 times smaller",
)
def equation_62(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    return [
        at_most(
            evidence,
            "slope in alpha",
            lambda p: p.gamma * np.linalg.norm(p.here.value_slope, axis=1),
            lambda p: np.full(p.H, p.task.spectral * p.gamma * np.sqrt(2 * p.here.gap / p.task.K)),
            sharper=4.0 if sharpened else 1.0,
            tolerance=ROUNDING,
        )
    ]


def _slope_in_Q(point: Point, columns: np.ndarray) -> np.ndarray:
    """The triple sum of (82) with these columns in the place of z-bar_j."""
    task, at = point.task, point.here
    pull = columns.T @ at.weighted
    weight = np.einsum("jk,hk,jhk->jhk", pull, at.w, at.attention)
    mean = np.einsum("an,nhk->ahk", task.prompt, at.attention)
    inner = np.einsum("jhk,aj->ahk", weight, task.prompt) - mean * weight.sum(axis=0)
    return np.einsum("ahk,bk->hab", inner, task.tokens) / task.K


@claim(
    "equation-82",
    "Appendix D.5, (82)",
    "d l / d Q_h is the sum over k and j of (Z-bar delta_k)' z-bar_j G^{h,jk} gamma / K.",
    assumes=(),
    on=POINTS,
    sharpened="z-bar_j belongs to the next token",
)
def equation_82(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """The sum as printed against derivatives of the loss along directions, by complex steps."""

    def literal(point: Point) -> np.ndarray:
        columns = np.roll(point.task.root, 1, axis=1) if sharpened else point.task.root
        return _projected(point, _slope_in_Q(point, columns))

    return [same(evidence, "derivative", _slope_by_complex_steps, literal, 1e-11)]


def _projected(point: Point, slope: np.ndarray) -> np.ndarray:
    change = point.there.Q - point.here.Q
    scale = max(1.0, float(np.abs(point.here.query_slope).max()))
    return np.einsum("hab,hab->h", slope, change) / point.moved_Q / scale


def _slope_by_complex_steps(point: Point) -> np.ndarray:
    task, at, tiny = point.task, point.here, 1e-100
    slopes = []
    for h in range(point.H):
        direction = (point.there.Q[h] - at.Q[h]) / point.moved_Q[h]
        logits = task.prompt.T @ (at.Q[h] + 1j * tiny * direction) @ task.tokens
        powers = np.exp(logits - logits.real.max(axis=0))
        change = (powers / powers.sum(axis=0)).imag / tiny
        slopes.append(np.sum((task.root @ (at.w[h] * change)) * at.weighted) / task.K)
    scale = max(1.0, float(np.abs(at.query_slope).max()))
    return np.array(slopes) / scale


@claim(
    "equation-56",
    "Appendix B, (56)",
    "The same sum with z_j, a vector of m entries, in the place of z-bar_j.",
    assumes=(),
    on=POINTS,
    sharpened="it is multiplied by two",
)
def equation_56(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """(Z-bar delta)' z_j has a meaning only where m = N; judged there, and it is another number."""
    square = evidence.select([i for i, p in enumerate(evidence) if p.task.m == p.task.N > 1])
    if not len(square):
        return [no_square("(56)")]

    def literal(point: Point) -> np.ndarray:
        return _projected(point, (2 if sharpened else 1) * _slope_in_Q(point, point.task.Z))

    return [same(square, "derivative", _slope_by_complex_steps, literal, 1e-11)]


def no_square(what: str) -> Judgement:
    """What is said of a product that exists for m = N only, where no task has that."""
    return Judgement("shapes", Status.INAPPLICABLE, f"{what} multiplies vectors of m and N entries")


@claim(
    "equation-83",
    "Appendix D.5, (83)",
    "||G^{h,jk}||_F <= 2 alpha s^h_{jk}.",
    assumes=(UNIT,),
    on=POINTS,
    sharpened="a bound 8 times smaller",
)
def equation_83(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def sizes(point: Point) -> np.ndarray:
        task, at = point.task, point.here
        sizes = np.empty(at.attention.shape)
        for h in range(point.H):
            away = task.prompt[:, :, None] - (task.prompt @ at.attention[:, h])[:, None, :]
            sizes[:, h] = np.linalg.norm(away, axis=0) * np.abs(at.w[h]) / point.gamma * task.norms
        return sizes

    return [
        at_most(
            evidence,
            "size of G over s",
            lambda p: sizes(p).ravel(),
            lambda p: np.full(p.task.N * p.H * p.task.K, 2 * p.alpha),
            sharper=8.0 if sharpened else 1.0,
            tolerance=ROUNDING,
        )
    ]


@claim(
    "equation-84",
    "Appendix D.5, (84)",
    "||d l / d Q_h|| <= (2 gamma f_max alpha / K) sum_k ||Z-bar delta_k||, and that is at most "
    "(2 gamma f_max alpha / sqrt(K)) sqrt(sum_k ||Z-bar delta_k||^2).",
    assumes=(UNIT,),
    on=POINTS,
    sharpened="bounds 100 times smaller",
)
def equation_84(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def scale(point: Point) -> float:
        return 2 * point.gamma * point.task.largest_column * point.alpha

    sharper = 100.0 if sharpened else 1.0
    return [
        at_most(
            evidence,
            "sum over tokens",
            lambda p: np.linalg.norm(p.here.query_slope, axis=(1, 2)),
            lambda p: np.full(
                p.H, scale(p) / p.task.K * np.linalg.norm(p.here.weighted, axis=0).sum()
            ),
            sharper=sharper,
            tolerance=ROUNDING,
        ),
        at_most(
            evidence,
            "Cauchy-Schwarz",
            lambda p: np.linalg.norm(p.here.weighted, axis=0).sum() / np.sqrt(p.task.K),
            lambda p: np.linalg.norm(p.here.weighted),
            sharper=sharper,
            tolerance=ROUNDING,
        ),
    ]


@claim(
    "own/smaller-parameters",
    "Section 2, (10)",
    "Descent on Q_h is descent on the N x d matrix V'Q_h with the preconditioner V'V: attention "
    "depends on nothing else.",
    assumes=(),
    on=POINTS,
    sharpened="without the preconditioner",
)
def own_smaller_parameters(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    """V' times the gradient in Q_h, and V'V times the gradient in V'Q_h."""

    def smaller(point: Point) -> np.ndarray:
        task, at = point.task, point.here
        slope = task.root @ at.weighted / task.K
        mean = np.einsum("nhk,nk->hk", at.attention, slope)
        logits = at.w * at.attention * (slope[:, None, :] - mean)
        found = np.einsum("nhk,bk->hnb", logits, task.tokens)
        gram = np.eye(task.N) if sharpened else task.prompt.T @ task.prompt
        return np.einsum("nm,hmb->hnb", gram, found).ravel() / _query_scale(point)

    def larger(point: Point) -> np.ndarray:
        pulled = np.einsum("an,hab->hnb", point.task.prompt, point.here.query_slope)
        return pulled.ravel() / _query_scale(point)

    return [same(evidence, "change of V'Q_h", larger, smaller, ROUNDING)]


def _query_scale(point: Point) -> float:
    return max(1.0, float(np.abs(point.here.query_slope).max()))

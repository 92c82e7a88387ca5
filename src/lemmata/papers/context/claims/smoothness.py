"""(54) to (61) and Lemma 10: the smoothness of the loss, where one factor was not squared."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from lemmata.old_claims import Bench, Cases, Judgement, at_most, fact
from lemmata.papers.context import theory
from lemmata.papers.context.claims._terms import UNIT, claim, constants
from lemmata.papers.context.experiments.points import POINTS, Point

STEP_2 = "Appendix B, Step 2"
ROUNDING = 1e-11
"""Of differences of gradients at weights 0.001 apart."""


@claim(
    "equation-54",
    f"{STEP_2}, (54)",
    "How much the gradient in alpha_k changes with Q and alpha_k.",
    assumes=(UNIT,),
    on=POINTS,
    sharpened="a bound 1000 times smaller",
)
def equation_54(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def bound(point: Point) -> np.ndarray:
        size = point.gamma / point.task.K * point.task.spectral**2
        moved = np.sqrt(np.sum(point.moved_Q**2))
        radius = 2 * point.gamma * point.H * point.alpha + point.target_norm
        by_alpha = np.linalg.norm(point.moved_alpha, axis=0)
        return 2 * size * radius * moved + size * point.gamma * point.H * by_alpha

    return [
        at_most(
            evidence,
            "change of the gradient in alpha_k",
            lambda p: np.linalg.norm(p.change_alpha, axis=0),
            bound,
            sharper=1e3 if sharpened else 1.0,
            tolerance=ROUNDING,
        )
    ]


@claim(
    "equation-55",
    f"{STEP_2}, (55)",
    "The gradient in alpha is Lipschitz in all parameters.",
    assumes=(UNIT,),
    on=POINTS,
    sharpened="a constant 1000 times smaller",
)
def equation_55(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def bound(point: Point) -> float:
        mixed = 2 * point.gamma * point.task.spectral**2
        mixed *= 2 * point.gamma * point.H * point.alpha + point.target_norm
        own = point.gamma**2 * point.H * point.task.spectral**2 / point.task.K
        return np.sqrt(2 * (mixed**2 / point.task.K + own**2)) * point.distance

    return [
        at_most(
            evidence,
            "change of the gradient in alpha",
            lambda p: np.linalg.norm(p.change_alpha),
            bound,
            sharper=1e3 if sharpened else 1.0,
            tolerance=ROUNDING,
        )
    ]


def _by_tokens(point: Point) -> np.ndarray:
    """The right side of (57), head by head."""
    delta = np.linalg.norm(point.there.delta, axis=0)
    moved = np.linalg.norm(point.here.delta - point.there.delta, axis=0)
    attention = np.linalg.norm(point.here.attention - point.there.attention, axis=0)
    inner = (
        point.alpha * moved
        + delta * np.abs(point.moved_alpha)
        + 2 * delta * point.alpha * np.sqrt(point.task.N) * attention
    )
    return _prefactor(point) * inner.sum(axis=1)


def _prefactor(point: Point) -> float:
    task = point.task
    return 2 * point.gamma * task.largest_column * task.spectral / task.K


def _by_norms(point: Point) -> np.ndarray:
    """The right side of (58), head by head."""
    K, H, N, alpha = point.task.K, point.H, point.task.N, point.alpha
    radius = point.gamma * H * alpha + point.target_norm
    total_Q = np.sqrt(np.sum(point.moved_Q**2))
    total_alpha = np.linalg.norm(point.moved_alpha)
    common = 2 * K * alpha * total_Q + np.sqrt(K) * total_alpha
    own = np.sqrt(K) * np.linalg.norm(point.moved_alpha, axis=1)
    own = own + 4 * alpha * np.sqrt(N) * K * point.moved_Q
    return _prefactor(point) * (alpha * point.gamma * np.sqrt(H) * common + radius * own)


def _head_by_head(bound: Callable[[Point], np.ndarray]) -> Callable[..., Sequence[Judgement]]:
    def check(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
        return [
            at_most(
                evidence,
                "change of the gradient in Q_h",
                lambda p: np.linalg.norm(p.change_Q, axis=(1, 2)),
                bound,
                sharper=1000.0 if sharpened else 1.0,
                tolerance=ROUNDING,
            )
        ]

    return check


EQUATION_57 = claim(
    "equation-57",
    f"{STEP_2}, (57)",
    "How much the gradient in Q_h changes, by the changes of delta, alpha and attention.",
    assumes=(UNIT,),
    on=POINTS,
    sharpened="a bound 1000 times smaller",
)(_head_by_head(_by_tokens))

EQUATION_58 = claim(
    "equation-58",
    f"{STEP_2}, (58)",
    "The same by the changes of Q and alpha.",
    assumes=(UNIT,),
    on=POINTS,
    sharpened="a bound 1000 times smaller",
)(_head_by_head(_by_norms))


def _bracket(point: Point) -> float:
    moved = point.alpha * point.gamma * point.H
    inner = moved**2 + 4 * point.task.N * (moved + point.target_norm) ** 2
    return max(1.0, 4 * point.task.K * point.alpha**2) * inner


def _summed(evidence: Cases[Point], prefactor: Callable[[Point], float], sharper: float):
    return at_most(
        evidence,
        "change of the gradient in Q",
        lambda p: np.linalg.norm(p.change_Q),
        lambda p: np.sqrt(prefactor(p) * _bracket(p)) * p.distance,
        sharper=sharper,
        tolerance=ROUNDING,
    )


class Witness:
    """Two opposite tokens and one across, with Q = 0 and all alpha equal, in rational numbers.

    v_1 = e_1, v_2 = -e_1, v_3 = e_2; z = (c, -c, c/2), tau = 1/2 and m = 2, the second row of Z
    being zero; one head, gamma = 1. Attention is (1/2, 1/2), and along Q_11 the loss has the second
    derivative alpha^2 (2 c^2 + m tau) / K exactly.
    """

    K, N, H, gamma = 3, 2, 1, 1

    def __init__(self, c: int, alpha: int) -> None:
        self.c, self.alpha = Fraction(c), Fraction(alpha)

    @property
    def name(self) -> str:
        return f"two opposite tokens, c = {self.c}, alpha = {self.alpha}"

    @property
    def spectral_square(self) -> Fraction:
        """||Z-bar||^2 = 2 c^2 + m tau."""
        return 2 * self.c**2 + 1

    @property
    def target_bound(self) -> Fraction:
        """A is (I, a (1, -1)') with a below 1/4, so that ||A|| is below 1 + 1/2."""
        return Fraction(3, 2)

    @property
    def curvature(self) -> Fraction:
        """The second derivative of the loss along Q_11, which two of three tokens feel."""
        return self.alpha**2 * self.spectral_square / self.K

    @property
    def in_Q(self) -> Fraction:
        """The square of the printed constant (59), bounded from above: f_max <= ||Z-bar||."""
        moved = self.alpha * self.H
        bracket = moved**2 + 4 * self.N * (moved + self.target_bound) ** 2
        return 8 * self.spectral_square * max(Fraction(1), 4 * self.K * self.alpha**2) * bracket

    @property
    def printed(self) -> Fraction:
        """The square of L as printed in (61), bounded from above."""
        mixed = 2 * self.spectral_square * (2 * self.H * self.alpha + self.target_bound)
        own = self.spectral_square**2 * self.H**2 / Fraction(self.K) ** 2
        return 2 * (mixed**2 / self.K + own) + self.in_Q


def _curved(
    witness: Witness, bound: Callable[[Witness], Fraction], name: str
) -> Callable[[Bench], list[Judgement]]:
    def judge(bench: Bench) -> list[Judgement]:
        curvature, square = witness.curvature, bound(witness)
        return [
            fact(
                "two opposite tokens",
                curvature**2 <= square,
                f"{witness.name}: the loss curves by {float(curvature):.6g} along Q_11, more than "
                f"{name} = {float(square) ** 0.5:.6g} (compared as fractions)",
                {
                    "dataset": witness.name,
                    "left": float(curvature),
                    "right": float(square) ** 0.5,
                },
                float(square) ** 0.5 - float(curvature),
            )
        ]

    return judge


@claim(
    "equation-59",
    f"{STEP_2}, (59)",
    "sum_h ||grad_Q_h l - grad_Q_h l'||^2 <= 8 gamma f_max ||Z-bar|| max{1, 4 K alpha^2} [...] "
    "||xi - xi'||^2.",
    assumes=(UNIT,),
    on=POINTS,
    sharpened="a constant a million times smaller",
    counterexample=_curved(Witness(120, 2), lambda w: w.in_Q, "the constant of (59)"),
)
def equation_59(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def prefactor(point: Point) -> float:
        return 8 * point.gamma * point.task.largest_column * point.task.spectral

    return [_summed(evidence, prefactor, 1e6 if sharpened else 1.0)]


@claim(
    "equation-59/repaired",
    f"{STEP_2}, (59)",
    "The same with the square of (58)'s factor: 16 (gamma f_max ||Z-bar||)^2 / K.",
    assumes=(UNIT,),
    on=POINTS,
    sharpened="a constant ten million times smaller",
)
def equation_59_repaired(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    def prefactor(point: Point) -> float:
        return (
            16
            * (point.gamma * point.task.largest_column * point.task.spectral) ** 2
            / (point.task.K)
        )

    return [_summed(evidence, prefactor, 1e7 if sharpened else 1.0)]


def _lipschitz(
    evidence: Cases[Point], bound: Callable[[theory.Constants, float, float], float], sharper: float
) -> Judgement:
    def change(point: Point) -> float:
        return float(np.sqrt(np.sum(point.change_Q**2) + np.sum(point.change_alpha**2)))

    return at_most(
        evidence,
        "change of the gradient",
        change,
        lambda p: bound(constants(p), p.gamma, p.alpha) * p.distance,
        sharper=sharper,
        tolerance=ROUNDING,
    )


@claim(
    "lemma-10",
    "Appendix B, Lemma 10, (60), (61)",
    "The gradient of l is Lipschitz with the constant L of (61) while |alpha_{h,k}| <= alpha.",
    assumes=(UNIT,),
    on=POINTS,
    sharpened="a constant 100,000 times smaller",
    counterexample=_curved(Witness(100, 15), lambda w: w.printed, "L of (61)"),
)
def lemma_10(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    return [_lipschitz(evidence, theory.smoothness, 1e5 if sharpened else 1.0)]


@claim(
    "lemma-10/repaired",
    "Appendix B, Lemma 10, (60), (61)",
    "The same with the repaired constant of (59).",
    assumes=(UNIT,),
    on=POINTS,
    sharpened="a constant a million times smaller",
)
def lemma_10_repaired(evidence: Cases[Point], sharpened: bool) -> Sequence[Judgement]:
    return [_lipschitz(evidence, theory.smoothness_repaired, 1e6 if sharpened else 1.0)]

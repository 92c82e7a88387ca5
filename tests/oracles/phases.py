"""The phase diagrams' points computed again, in plain loops."""

import cmath
import math

import mpmath
import numpy as np


def tie_orbit(share: float, rate: float, steps: int, kept: int) -> list[float]:
    """Logit a minus logit b along the last steps of descent on the samples a b k -> a, b."""
    a = b = k = 0.0
    last = []
    for step in range(steps + kept):
        top = max(a, b, k)
        parts = [math.exp(x - top) for x in (a, b, k)]
        total = sum(parts)
        a, b, k = (
            a + rate * (share - parts[0] / total),
            b + rate * (1 - share - parts[1] / total),
            k - rate * parts[2] / total,
        )
        if step >= steps:
            last.append(a - b)
    return last


def least_period(orbit: list[float], longest: int, tolerance: float) -> int:
    """The least period of a sequence; 0 for none."""
    size = max(map(abs, orbit)) + 1
    for length in range(1, longest + 1):
        moved = (abs(x - y) for x, y in zip(orbit, orbit[length:], strict=False))
        if max(moved) < tolerance * size:
            return length
    return 0


def waiting_steps(power: float, margin: float, rate: float, level: float, most: int) -> int | None:
    """Steps of normalized descent until both inputs of {aba, bab} have the level.

    Two columns of W_kq, one an input; the logits of both next tokens differ by margin (2s - 1).
    """
    with mpmath.workdps(90):  # one minus an attention goes down to 1e-60
        exp = mpmath.exp
        shares = [mpmath.mpf(1), mpmath.mpf(10) ** -power]
        columns = [[mpmath.mpf(0), mpmath.mpf(0)] for _ in shares]
        for step in range(most + 1):
            s = [1 / (1 + exp(low - high)) for high, low in columns]
            if min(s) >= level:
                return step
            slopes = [
                share * 2 * margin * x * (1 - x) / (1 + exp(margin * (2 * x - 1)))
                for share, x in zip(shares, s, strict=True)
            ]
            norm = mpmath.sqrt(2) * mpmath.hypot(*slopes)
            for column, slope in zip(columns, slopes, strict=True):
                column[0] += rate * slope / norm
                column[1] -= rate * slope / norm
    return None


def selection_loss(gaps: np.ndarray, q: int, d: int, alpha: complex, C: complex) -> complex:
    """Half the squared error with Gaussian tokens, averaged over the rows of ``gaps``."""
    weights = np.exp(-C * gaps)
    total = q + weights.sum(axis=1)
    chosen = q * (alpha / total - 1 / q) ** 2
    others = ((alpha * weights / total[:, None]) ** 2).sum(axis=1)
    return complex(0.5 * d * (chosen + others).mean())


def selection_scale(gaps: np.ndarray, q: int, d: int, d_e: int, rate: float, steps: int) -> float:
    """C after so many steps of descent on that loss, by complex steps."""
    alpha = C = 0.0
    tiny = 1e-30
    for _ in range(steps):
        slope_alpha = selection_loss(gaps, q, d, alpha + 1j * tiny, C).imag / tiny
        slope_C = selection_loss(gaps, q, d, alpha, C + 1j * tiny).imag / tiny
        alpha, C = alpha - rate * slope_alpha / d, C - rate * slope_C / d_e
    return C


def missed_attention(d_e: int, C: float, length: int, q: int, seed: int) -> float:
    """The attention outside a subset, on one sequence with encodings of its own."""
    draw = np.random.default_rng(seed)
    E = draw.choice([-1.0, 1.0], (d_e, length)) / np.sqrt(d_e)
    e_y = np.linalg.pinv(E[:, :q].T) @ np.ones(q)
    logits = [C * float(E[:, i] @ e_y) for i in range(length)]
    top = max(logits)
    weights = [cmath.exp(x - top).real for x in logits]
    return sum(weights[q:]) / sum(weights)


def frozen_steps(plan, rate: float, part: float, most: int) -> int | None:
    """Steps of descent on w until the gap is this part of the first, with attention as it starts.

    From the formulas of the model: softmax, the combined matrix and the squared distance.
    """
    task, Q = plan.task, np.asarray(plan.start.Q)
    N, K, H = task.N, task.K, Q.shape[1]
    attention = np.zeros((N, H, K))
    for h in range(H):
        for k in range(K):
            logits = task.tokens[:, :N].T @ Q[:, h, :] @ task.tokens[:, k]
            weights = np.exp(logits - logits.max())
            attention[:, h, k] = weights / weights.sum()
    Z = task.representations[:, :N]
    gram = Z.T @ Z + task.m * task.tau * np.eye(N)
    noise = task.m * task.tau * np.eye(N, K)
    target = np.linalg.solve(gram, Z.T @ task.representations + noise)
    w = np.zeros((H, K))
    first = None
    for step in range(most + 1):
        distance = np.einsum("nhk,hk->nk", attention, w) - target
        gap = float(np.sum(distance * (gram @ distance))) / (2 * K)
        first = gap if first is None else first
        if gap <= part * first:
            return step
        w = w - rate * np.einsum("nhk,nk->hk", attention, gram @ distance) / K
    return None


def polynomial_rank(points: np.ndarray, degree: int) -> int:
    """How many of these points polynomials of a degree can tell apart."""
    return int(np.linalg.matrix_rank((1 + points @ points.T) ** degree, tol=1e-9))

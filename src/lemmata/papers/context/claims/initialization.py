"""Assumption 2, Proposition 1, and what the text says of the guaranteed rate."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lemmata.old_claims import Cases, Judgement, Status, at_most, each, fact, same
from lemmata.papers.context import theory
from lemmata.papers.context.claims._chance import mean_is
from lemmata.papers.context.claims._terms import (
    DISTINCT_ROW,
    ENOUGH_HEADS,
    FULL_RANK,
    HYPOTHESES,
    NOISE,
    RESOLVED,
    claim,
)
from lemmata.papers.context.experiments.descents import DESCENTS, Run
from lemmata.papers.context.experiments.initialization import (
    FAMILIES,
    STARTS,
    Family,
    Start,
)

if TYPE_CHECKING:
    from lemmata.papers.context.setting import Plan


def _full_rank(plan: "Plan") -> bool:
    """Whether every B_k has rank N, by NumPy's count of singular values."""
    return bool((np.linalg.matrix_rank(plan.frozen.scores) == plan.task.N).all())


@claim(
    "assumption-2",
    "Section 3.1, Assumption 2, (14)",
    "Assumption 2 means zeta_0 > 0, and needs H >= N.",
    assumes=(NOISE, RESOLVED),
    on=STARTS,
    sharpened="it holds with H = N - 1 too",
)
def assumption_2(evidence: Cases[Start], sharpened: bool) -> Sequence[Judgement]:
    """Ranks of all B_k, with the plan's heads and with one fewer than examples."""
    clear = [s.plan for s in evidence if s.plan.frozen.resolved or s.plan.frozen.zeta == 0]
    agree = [_full_rank(plan) == (plan.frozen.zeta > 0) for plan in clear]
    full = [_full_rank(start.few_heads) for start in evidence if start.plan.task.N > 1]
    return [
        fact(
            "full rank and zeta_0 > 0",
            all(agree),
            f"they come together on {sum(agree)} of {len(agree)} tasks",
        ),
        fact(
            "one head fewer than examples",
            all(full) if sharpened else not any(full),
            f"with H = N - 1 all B_k have full row rank on {sum(full)} of {len(full)} tasks",
        ),
    ]


@claim(
    "equation-11",
    "Section 3.1, (11); end of Appendix B",
    "L* is the infimum of the loss: under Assumption 2 some w reaches it with attention as it is.",
    assumes=(NOISE, FULL_RANK),
    on=STARTS,
    sharpened="also with H = N - 1",
)
def equation_11(evidence: Cases[Start], sharpened: bool) -> Sequence[Judgement]:
    """The gap of the best w by least squares, token by token, over the first gap."""

    def gap(start: Start) -> float:
        plan = start.few_heads if sharpened else start.plan
        wanted = plan.task.root @ plan.task.target
        left = [
            B @ np.linalg.lstsq(B, wanted[:, k], rcond=1e-15)[0] - wanted[:, k]
            for k, B in enumerate(plan.frozen.scores)
        ]
        return float(np.sum(np.square(left)) / np.sum(wanted**2))

    resolved = [start for start in evidence if start.plan.frozen.resolved]
    return [at_most(resolved, "gap over the first", gap, lambda _: 1e-15)]


@claim(
    "proposition-1",
    "Section 3.1, Proposition 1",
    "With Gaussian Q and H >= N, zeta_0 > 0 with probability 1.",
    assumes=(DISTINCT_ROW, ENOUGH_HEADS, NOISE, RESOLVED),
    on=STARTS,
    sharpened="zeta_0 is more than a tenth of the largest eigenvalue",
)
def proposition_1(evidence: Cases[Start], sharpened: bool) -> Sequence[Judgement]:
    """In high precision where float64 cannot tell: true, but it may be far below 1e-16."""
    logs = [_log_ratio(start) for start in evidence]
    least, name = min(zip(logs, evidence.names, strict=True))
    bound = -1.0 if sharpened else -np.inf
    return [
        fact(
            "least eigenvalue",
            least > bound,
            f"zeta_0 over the largest eigenvalue is 10^{least:.1f} on {name}, the least of "
            f"{len(logs)} tasks",
            {"dataset": name, "log10": least},
        )
    ]


def _log_ratio(start: Start) -> float:
    import mpmath

    least, largest = start.eigenvalues
    return float(mpmath.log10(least / largest)) if least > 0 else -np.inf


@claim(
    "equation-71",
    "Appendix D.1, (71)",
    "V'Q_h v_k has independent copies as h varies, normal with covariance beta^2 ||v_k||^2 V'V.",
    assumes=(),
    on=STARTS,
    sharpened="with covariance beta^2 V'V / 2",
)
def equation_71(evidence: Cases[Start], sharpened: bool) -> Sequence[Judgement]:
    """Second moments over drawn heads."""

    def rows():
        for start in evidence:
            task, scale = start.plan.task, start.plan.scale
            rng = np.random.default_rng([start.plan.seed, 17])
            count = max(50, min(2_000, 20_000_000 // task.d**2))
            heads = (scale * rng.standard_normal((task.d, task.d)) for _ in range(count))
            logits = np.array([task.prompt.T @ (Q @ task.tokens[:, -1]) for Q in heads])
            size = scale**2 * (0.5 if sharpened else float(task.norms[-1] ** 2))
            stated = size * task.prompt.T @ task.prompt
            yield start.name, logits[:, :, None] * logits[:, None, :], stated

    return [mean_is("second moments", rows())]


@claim(
    "equation-72",
    "Appendix D.1, after (72)",
    "sum_i y_i exp(q v_i) has finitely many zeros in q: no more than y has changes of sign.",
    assumes=(DISTINCT_ROW,),
    on=STARTS,
    sharpened="no more than half of these",
)
def equation_72(evidence: Cases[Start], sharpened: bool) -> Sequence[Judgement]:
    """Sign changes on a fine grid of q, for coefficients with zeros at N - 1 chosen places."""

    def count(start: Start) -> tuple[int, int]:
        row = np.sort(next(r for r in start.plan.task.prompt if len(np.unique(r)) == len(r)))
        zeros = np.linspace(-1, 1, len(row) + 1)[1:-1] / max(np.abs(row).max(), 1e-300)
        _, _, null = np.linalg.svd(np.exp(np.outer(zeros, row))) if len(row) > 1 else (0, 0, [[1]])
        y = np.asarray(null[-1])
        q = np.linspace(-3, 3, 20_001) / max(np.abs(row).max(), 1e-300)
        values = np.exp(np.outer(q, row)) @ y
        return _changes(values), _changes(y)

    counts = {start.name: count(start) for start in evidence if start.plan.task.N <= MOST_TERMS}
    if not counts:
        return [Judgement("zeros", Status.INAPPLICABLE, "too many terms for float64")]
    share = 0.5 if sharpened else 1.0
    bad = [name for name, (zeros, most) in counts.items() if zeros > share * most]
    most = max(zeros for zeros, _ in counts.values())
    return [
        fact(
            "zeros",
            not bad,
            f"up to {most} zeros, never more than changes of sign, on {len(counts)} tasks",
            {"dataset": bad[0]} if bad else None,
        )
    ]


MOST_TERMS = 8
"""More exponentials than these are linearly dependent in float64."""


def _changes(values: np.ndarray) -> int:
    signs = np.sign(values[values != 0])
    return int(np.sum(signs[1:] != signs[:-1]))


@claim(
    "own/distinct-tokens",
    "Assumption 3",
    "Distinct prompt tokens are enough for zeta_0 > 0: one-hot tokens break Assumption 3 and have "
    "it; two equal prompt tokens do not.",
    assumes=(),
    on=FAMILIES,
    sharpened="two equal tokens do too",
)
def own_distinct_tokens(evidence: Cases[Family], sharpened: bool) -> Sequence[Judgement]:
    """One-hot tokens for 20 seeds; then the second prompt token is made equal to the first."""
    from lemmata.papers.context.setting import Plan, Task

    N, K = 4, 6
    z = np.cos(np.arange(3 * K)).reshape(3, K)
    one_hot = Task(np.eye(K), z, N, 0.1, "one-hot tokens")
    repeated = Task(np.eye(K)[:, [0, 0, 1, 2, 3, 4]], z, N, 0.1, "two equal tokens")
    least = min(Plan(one_hot, 2 * N, seed=seed).frozen.zeta for seed in range(20))
    most = max(Plan(repeated, 2 * N, seed=seed).frozen.zeta for seed in range(20))
    return [
        fact(
            "one-hot tokens",
            least > 1e-9 and not one_hot.has_distinct_row,
            f"Assumption 3 is broken, and zeta_0 is at least {least:.3g} for 20 seeds",
        ),
        fact(
            "two equal tokens",
            (most > 1e-9) if sharpened else (most < 1e-20),
            f"zeta_0 is at most {most:.1g} for 20 seeds",
        ),
    ]


def _rising(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean change of log rate from one value to the next, and its standard error."""
    change = np.diff(np.log(values), axis=1)
    return change.mean(axis=0), change.std(axis=0, ddof=1) / np.sqrt(len(values))


def _slower(family: Family, values: np.ndarray, sharpened: bool) -> Judgement:
    """Judge that log rates fall from one value to the next, up to five standard errors."""
    mean, error = _rising(values)
    falls = mean + (np.log(4) if sharpened else 0.0)
    worst = int(np.argmax(falls / error))
    low, high = family.values[worst], family.values[worst + 1]
    factor = float(np.exp(mean[worst]))
    text = (
        f"from {low} to {high} {family.name} the rate changes by the factor {factor:.4g} "
        f"({mean[worst] / error[worst]:+.1f} standard errors of its logarithm)"
    )
    broken = falls[worst] > 5 * error[worst]
    decided = bool((falls < -5 * error).all()) or broken
    status = Status.FAILS if broken else Status.HOLDS if decided else Status.UNDECIDED
    return Judgement("rate", status, text, witness={"dataset": family.name, "factor": factor})


@claim(
    "section-3.1/heads",
    "Section 3.1, after Theorem 1; Section 3.3",
    "The guaranteed convergence (18) is slower with more heads.",
    assumes=(),
    on=FAMILIES,
    sharpened="by a factor of four at each doubling",
)
def section_31_heads(evidence: Cases[Family], sharpened: bool) -> Sequence[Judgement]:
    """zeta_0 grows faster with H than the step size shrinks."""
    family = evidence.cases[0]
    return [_slower(family, family.rates, sharpened)]


@claim(
    "section-3.1/dictionary",
    "Section 3.1, after Theorem 1",
    "The guaranteed convergence is slower for a larger dictionary.",
    assumes=(),
    on=FAMILIES,
    sharpened="by half at each step",
)
def section_31_dictionary(evidence: Cases[Family], sharpened: bool) -> Sequence[Judgement]:
    """Rates for nested dictionaries, pair by pair; zeta_0 is a minimum over tokens."""
    family = evidence.cases[1]
    ratio = family.rates[:, 1:] / family.rates[:, :-1]
    bound = 0.5 if sharpened else 1.0
    total = family.rates[:, -1] / family.rates[:, 0]
    return [
        fact(
            "guaranteed rate",
            bool((ratio <= bound + 1e-12).all()),
            f"from {family.values[0]} to {family.values[-1]} tokens the guaranteed rate becomes "
            f"{total.min():.3g} to {total.max():.3g} of what it was",
            margin=float(bound - ratio.max()),
        )
    ]


@claim(
    "own/rate-sup",
    "Theorem 1",
    "Over all gamma that (15) allows the guaranteed rate stays below "
    "zeta_0 / (2 sqrt(2) H ||Z-bar||^2), and comes as near to it as one likes.",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="it stays below half of that",
)
def own_rate_sup(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    factors = np.array([1.0, 10.0, 1e3, 1e6])

    def shares(run: Run) -> np.ndarray:
        c = run.plan.constants
        rates = [theory.theory_rates(c, gamma=f * theory.least_gamma(c)) for f in factors]
        return np.array([float(r.guaranteed / theory.best_rate(c)) for r in rates])

    return [
        at_most(
            evidence,
            "rate",
            shares,
            lambda _: np.ones(len(factors)),
            sharper=2.0 if sharpened else 1.0,
            tolerance=1e-12,
        ),
        each(evidence, "rate for large gamma", lambda run: shares(run)[-1], lambda _: 0.999),
    ]


@claim(
    "own/late-rate",
    "Theorem 1",
    "Late, with attention where it started, the gap falls at four times the guaranteed rate: "
    "2 log(1 - 2r) / log(1 - r) times exactly, for the guaranteed rate r.",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="at three times the guaranteed rate",
)
def own_late_rate(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    """By the exact curve, where every other direction has died out."""

    def measured(run: Run) -> float:
        r = float(run.used.guaranteed)
        ratios = run.plan.frozen.sizes.ravel() ** 2 / run.plan.constants.zeta - 1
        late = 40 / (r * float(min(ratios[ratios > 1e-9], default=1.0)))
        logs = run.plan.frozen.log_gap(np.array([late, 2 * late]), float(run.used.w))
        return float((logs[1] - logs[0]) / (late * np.log1p(-r)))

    def stated(run: Run) -> float:
        r = float(run.used.guaranteed)
        return 3.0 if sharpened else float(2 * np.log1p(-2 * r) / np.log1p(-r))

    def descended(run: Run) -> float:
        known = np.flatnonzero(run.judged)[-2:]
        fallen = np.diff(np.log(run["gap"][known])) / np.diff(run.steps[known])
        return float(fallen[0] / np.log1p(-float(run.used.guaranteed)))

    late = [run for run in evidence if run["gap"].min() < 1e-12 * run.plan.constants.gap]
    judged = [same(evidence, "by the exact curve", measured, stated, 1e-6)]
    if late:
        judged.append(same(late, "by descent, where it got so far", descended, stated, 0.05))
    return judged


@claim(
    "own/frozen-curve",
    "Theorem 1",
    "At the theory's rates descent is what it would be with attention frozen at the start: the "
    "gaps agree to a thousandth at every recorded step.",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="also if eta_w were one part in twenty larger",
)
def own_frozen_curve(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    def away(run: Run) -> np.ndarray:
        rate = float(run.used.w) * (1.05 if sharpened else 1.0)
        curve = run.plan.frozen.log_gap(run.steps.astype(float), rate)
        found = np.abs(np.exp(curve - np.log(run["gap"])) - 1)
        return np.where(run["gap"] > 1e-18 * run.plan.constants.gap, found, np.nan)

    return [
        at_most(evidence, "difference of gaps", away, lambda run: np.full(len(run.steps), 1e-3))
    ]


@claim(
    "own/scale-free",
    "(17), (61)",
    "Z a hundred times as large and tau 10,000 times change nothing in training. The rate by the "
    "repaired (61) does not change either; by (17) it falls by more than a tenth.",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="by (17) it does not change",
)
def own_scale_free(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    from lemmata.papers.context.experiments.plans import rescaled

    def ratio(run: Run, bound: Callable[..., Any]) -> float:
        pair = (run.plan, rescaled(run.plan, 100.0))
        rates = [theory.theory_rates(plan.constants, bound=bound) for plan in pair]
        return float(rates[1].guaranteed / rates[0].guaranteed)

    simplified = theory.smoothness_simplified
    judged = simplified if sharpened else theory.smoothness_repaired
    return [
        same(evidence, "rate", lambda run: ratio(run, judged), lambda _: 1.0, 1e-9),
        at_most(evidence, "rate by (17)", lambda run: ratio(run, simplified), lambda _: 0.9),
    ]

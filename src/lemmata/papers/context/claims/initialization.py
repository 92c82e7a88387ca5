"""Assumption 2, Proposition 1, and what the text says of the guaranteed rate."""

from collections.abc import Sequence

import numpy as np

from lemmata.claims import Cases, Judgement, Status, at_most, each, fact, same
from lemmata.papers.context import theory
from lemmata.papers.context.claims._chance import mean_is
from lemmata.papers.context.claims._terms import (
    DISTINCT_ROW,
    ENOUGH_HEADS,
    FULL_RANK,
    NOISE,
    UNIT,
    claim,
)
from lemmata.papers.context.experiments.descents import DESCENTS, Run
from lemmata.papers.context.experiments.initialization import (
    FAMILIES,
    STARTS,
    Family,
    Start,
)

HYPOTHESES = (UNIT, NOISE, FULL_RANK)


@claim(
    "assumption-2",
    "Section 3.1, Assumption 2, (14)",
    "Assumption 2 means zeta_0 > 0, and needs H >= N.",
    assumes=(NOISE,),
    on=STARTS,
    sharpened="it holds with H = N - 1 too",
)
def assumption_2(evidence: Cases[Start], sharpened: bool) -> Sequence[Judgement]:
    """With one head fewer than examples every zeta_0 is zero."""
    several = [start for start in evidence if start.plan.task.N > 1]
    if not several:
        return [Judgement("heads", Status.INAPPLICABLE, "one example needs one head only")]
    zero = all(start.few_heads.frozen.zeta == 0 for start in several)
    return [
        fact(
            "fewer heads than examples",
            zero != sharpened,
            f"zeta_0 = 0 on all {len(several)} tasks with H = N - 1 heads",
        )
    ]


@claim(
    "proposition-1",
    "Section 3.1, Proposition 1",
    "With Gaussian Q and H >= N, zeta_0 > 0 with probability 1.",
    assumes=(DISTINCT_ROW, ENOUGH_HEADS, NOISE),
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
            heads = scale * rng.standard_normal((count, task.d, task.d))
            logits = np.einsum("an,hab,b->hn", task.prompt, heads, task.tokens[:, -1])
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
    good = not one_hot.has_distinct_row and least > 1e-9
    return [
        fact(
            "one-hot tokens",
            (most if sharpened else least) > 1e-9 and good,
            f"Assumption 3 is broken, and zeta_0 is at least {least:.3g} for 20 seeds; with two "
            f"equal tokens it is at most {most:.1g}",
        )
    ]


def _rising(family: Family, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean change of log rate from one value to the next, and its standard error."""
    change = np.diff(np.log(values), axis=1)
    return change.mean(axis=0), change.std(axis=0, ddof=1) / np.sqrt(len(values))


def _slower(family: Family, values: np.ndarray, sharpened: bool) -> Judgement:
    """Judge that log rates fall from one value to the next, up to five standard errors."""
    mean, error = _rising(family, values)
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
    "The guaranteed convergence is slower for a larger dictionary: the best rate that (18) can "
    "have does not rise when tokens are added.",
    assumes=(),
    on=FAMILIES,
    sharpened="it falls by half at each step",
)
def section_31_dictionary(evidence: Cases[Family], sharpened: bool) -> Sequence[Judgement]:
    """K enters through the minimum over tokens in zeta_0 alone, so that it falls, but little."""
    family = evidence.cases[1]
    ratio = family.best_rates[:, 1:] / family.best_rates[:, :-1]
    bound = 0.5 if sharpened else 1.0
    total = np.exp(np.log(ratio).sum(axis=1))
    return [
        fact(
            "best rate",
            bool((ratio <= bound + 1e-12).all()),
            f"from {family.values[0]} to {family.values[-1]} tokens the best guaranteed rate "
            f"becomes {total.min():.3g} to {total.max():.3g} of what it was",
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

    return [same(evidence, "late rate over guaranteed", measured, stated, 1e-6)]


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
    "Measuring Z in other units leaves the guaranteed rate by the repaired (61) alone, to a tenth; "
    "by (17) it does not.",
    assumes=HYPOTHESES,
    on=DESCENTS,
    sharpened="by (17) too",
)
def own_scale_free(evidence: Cases[Run], sharpened: bool) -> Sequence[Judgement]:
    """Descent itself does not change when Z is scaled by c and tau by c^2."""
    from lemmata.papers.context.experiments.plans import rescaled

    bound = theory.smoothness_simplified if sharpened else theory.smoothness_repaired

    def ratio(run: Run) -> float:
        other = rescaled(run.plan, 100.0)
        rates = [theory.theory_rates(p.constants, bound=bound) for p in (run.plan, other)]
        return float(abs(np.log(rates[1].guaranteed / rates[0].guaranteed)))

    return [at_most(evidence, "log of the rates' ratio", ratio, lambda _: np.log(1.1))]

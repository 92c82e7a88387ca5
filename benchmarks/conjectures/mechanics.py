"""Lemmas about the mechanics setting for the adversary: true ones must survive, false ones break.

The reason why a lemma is true, or how it breaks, stands below it.
"""

import numpy as np

import lemmata as lm

SHORT = lm.experiment("mechanics", steps=200)
PLAIN = lm.experiment("mechanics", steps=200, algorithm="gd")


@lm.claim("W stays in the ball of the path around W(0)", setting="mechanics", on=SHORT)
def true_ball(run):
    """Each step of normalized descent has length eta, or 0 where the gradient vanishes."""
    return lm.at_most(run.norm - run.norm[:, :1], run.steps * run.rate, size=1 + run.norm)


@lm.claim("a record is reached from the one before", setting="mechanics", on=SHORT)
def true_lipschitz(run):
    """The triangle inequality between two records."""
    moved, steps = np.diff(run.norm, axis=1), np.diff(run.steps)
    return lm.at_most(moved, steps * run.rate, size=1 + run.norm[:, 1:])


@lm.claim("a cosine is at most 1", setting="mechanics", on=SHORT)
def true_cosine(run):
    """Cauchy and Schwarz."""
    return lm.at_least(run.one_minus_correlation, 0.0, size=1.0)


@lm.claim("and at least -1", setting="mechanics", on=SHORT)
def true_other_cosine(run):
    """Cauchy and Schwarz."""
    return lm.at_most(run.one_minus_correlation, 2.0)


@lm.claim("descent at 1/L_tight never raises the loss", setting="mechanics", on=PLAIN)
def true_descent(run):
    """L_tight bounds the Hessian, so each step falls by eta/2 times the squared gradient."""
    later, sooner = run.log_loss[:, 1:], run.log_loss[:, :-1]
    return lm.at_most(later, sooner, size=1 + np.abs(sooner))


@lm.claim("from W = 0 the loss starts below log T", setting="mechanics", on=SHORT)
def true_start(run):
    """At W = 0 attention is uniform over T positions; any other start is left out."""
    longest = run.each(lambda d: np.log(d.data.longest_input))
    at_zero = run.each(lambda d: 0.0 if d.initial_weights is None else np.nan)
    return lm.at_most(np.exp(run.log_loss[:, :1]) + at_zero, longest, size=1.0)


@lm.claim("ties need edges", setting="mechanics", on="instances")
def true_ties(data):
    """A component with m tokens is strongly connected, so it has at least m edges."""
    return lm.at_most(data.each(lambda d: len(d.tied_pairs)), data.each(lambda d: len(d.pairs)))


@lm.claim("strict pairs are pairs", setting="mechanics", on="instances")
def true_strict(data):
    """They are the edges between components."""
    return lm.at_most(data.each(lambda d: len(d.strict_pairs)), data.each(lambda d: len(d.pairs)))


@lm.claim("every pair has a query", setting="mechanics", on="instances")
def true_pairs(data):
    """K tokens have at most K (K - 1) ordered pairs under each of at most K last tokens."""
    return lm.at_most(
        data.each(lambda d: len(d.pairs)), data.each(lambda d: max(d.K**2 * (d.K - 1), 0))
    )


@lm.claim(
    "W^mm has a margin of 1",
    setting="mechanics",
    hypotheses=["feasible", "nonzero"],
    on="instances",
)
def true_margin(data):
    """It is a constraint of Graph-SVM; the solver's error is part of its certificate."""

    def worst(d):
        gaps = [(d.E[a] - d.E[b]) @ d.W_mm @ d.E[q] for q, (a, b) in d.strict_pairs]
        return min(gaps)

    def size(d):
        return 1e6 * np.abs(d.E).max() ** 2 * d.norm

    return lm.at_least(data.each(worst), 1.0, size=data.each(size))


@lm.claim(
    "W^mm is not shorter than one margin needs",
    setting="mechanics",
    on="instances",
    hypotheses=["feasible", "nonzero"],
)
def true_length(data):
    """1 <= (e_a - e_b)' W e_q <= |W| |e_a - e_b| |e_q| for every strict pair."""

    def needed(d):
        rows = [
            np.linalg.norm(d.E[a] - d.E[b]) * np.linalg.norm(d.E[q]) for q, (a, b) in d.strict_pairs
        ]
        return 1 / min(rows)

    return lm.at_least(data.each(lambda d: d.norm), data.each(needed), rounding=1e-9)


@lm.claim(
    "W^cyc is orthogonal to W^mm", setting="mechanics", hypotheses=["feasible"], on="instances"
)
def true_orthogonal(data):
    """W^mm has margin 0 on tied pairs, whose differences span S_cyc."""
    inner = data.each(lambda d: np.sum(d.W_mm * d.W_cyc))
    size = data.each(lambda d: 1e4 * (1 + np.linalg.norm(d.W_mm) * np.linalg.norm(d.W_cyc)))
    return lm.equal(inner, 0.0, size=size)


@lm.claim("acyclic data has no W^cyc", setting="mechanics", hypotheses=["acyclic"], on="instances")
def true_no_correction(data):
    """Without ties S_cyc is 0."""
    return lm.equal(data.each(lambda d: np.abs(d.W_cyc).max()), 0.0, size=1.0)


@lm.claim("the loss never rises", setting="mechanics", hypotheses=["realizable"], on=SHORT)
def false_normalized_descent(run):
    """Normalized descent oscillates where tokens are tied."""
    return lm.at_most(run.log_loss[:, 1:], run.log_loss[:, :-1])


@lm.claim("W grows half as fast as the path", setting="mechanics", hypotheses=["realizable"])
def false_half_speed(run):
    """Balanced ties: the gradient is 0."""
    return lm.at_least(run.norm, run.steps * run.rate / 2)


@lm.claim(
    "W turns towards W^mm at once", setting="mechanics", hypotheses=["acyclic", "nonzero"], on=SHORT
)
def false_half_way(run):
    """Frequencies and embeddings decide the first direction."""
    return lm.at_least(run.correlation[:, 1:], 0.6)


@lm.claim("W never shrinks", setting="mechanics", hypotheses=["acyclic"], on=SHORT)
def false_growth(run):
    """It does from another start."""
    return lm.at_least(run.norm[:, 1:], run.norm[:, :-1])


@lm.claim("W^mm^2 is at most the number of strict pairs", setting="mechanics", on="instances")
def false_pairs(data):
    """Close embeddings need long W."""
    return lm.at_most(data.each(lambda d: d.norm**2), data.each(lambda d: len(d.strict_pairs)))


@lm.claim(
    "W^mm is at least 1/2 long",
    setting="mechanics",
    hypotheses=["feasible", "nonzero"],
    on="instances",
)
def false_short(data):
    """Long embeddings have a short W^mm."""
    return lm.at_least(data.each(lambda d: d.norm), 0.5)


@lm.claim(
    "a tie is worth at most one unit",
    setting="mechanics",
    hypotheses=["realizable"],
    on="instances",
)
def false_small_correction(data):
    """Skewed counts pull tied tokens apart."""
    return lm.at_most(data.each(lambda d: np.abs(d.W_cyc).max()), 1.0)


@lm.claim(
    "plain descent with a step of 1 never raises the loss",
    setting="mechanics",
    hypotheses=["realizable"],
    on=lm.experiment("mechanics", algorithm="gd", rate=1.0, steps=60),
)
def false_unit_step(run):
    """Long embeddings have a large curvature."""
    return lm.at_most(run.log_loss[:, 1:], run.log_loss[:, :-1], rounding=1e-12)

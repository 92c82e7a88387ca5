"""Lemmas about the mechanics setting for the adversary: true ones must survive, false ones break.

The reason why a lemma is true, or how it breaks, stands below it.
"""

import numpy as np

import lemmata as lm

SHORT = lm.experiment("mechanics", steps=200)
PLAIN = lm.experiment("mechanics", steps=200, algorithm="gd")
TIGHT = lm.experiment("mechanics", steps=200, algorithm="gd", rate="tight")


@lm.claim("W stays in the ball of the path around W(0)", setting="mechanics", on=SHORT)
def true_ball(run):
    """Each step of normalized descent has length eta, or 0 where the gradient vanishes."""
    return lm.at_most(run.norm, run.norm[:, :1] + run.steps * run.rate)


@lm.claim(
    "no step is longer than the rate", setting="mechanics", hypotheses=["zero_start"], on=SHORT
)
def true_path(run):
    """Each step has length eta, or 0 where the gradient vanishes."""
    return lm.at_most(run.norm, run.steps * run.rate)


@lm.claim("a record is reached from the one before", setting="mechanics", on=SHORT)
def true_lipschitz(run):
    """The triangle inequality between two records."""
    before, after = run.norm[:, :-1], run.norm[:, 1:]
    return lm.at_most(after, before + np.diff(run.steps) * run.rate)


@lm.claim("a cosine is at most 1", setting="mechanics", on=SHORT)
def true_cosine(run):
    """Cauchy and Schwarz."""
    return lm.at_least(run.one_minus_correlation, 0.0)


@lm.claim("and at least -1", setting="mechanics", on=SHORT)
def true_other_cosine(run):
    """Cauchy and Schwarz."""
    return lm.at_most(run.one_minus_correlation, 2.0)


@lm.claim("descent at 1/L_tight never raises the loss", setting="mechanics", on=TIGHT)
def true_descent(run):
    """L_tight bounds the Hessian, so each step falls by eta/2 times the squared gradient."""
    return lm.at_most(run.log_loss[:, 1:], run.log_loss[:, :-1])


@lm.claim("from W = 0 the loss starts below log T", setting="mechanics", on=SHORT)
def true_start(run):
    """At W = 0 attention is uniform over T positions; any other start is left out."""
    longest = run.each(lambda d: np.log(d.data.longest_input))
    at_zero = run.each(lambda d: 0.0 if d.initial_weights is None else np.nan)
    return lm.at_most(np.exp(run.log_loss[:, :1]) + at_zero, longest)


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

    return lm.at_least(data.each(worst), 1.0)


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

    return lm.at_least(data.each(lambda d: d.norm), data.each(needed))


@lm.claim(
    "W^cyc is orthogonal to W^mm", setting="mechanics", hypotheses=["feasible"], on="instances"
)
def true_orthogonal(data):
    """W^mm has margin 0 on tied pairs, whose differences span S_cyc."""
    return lm.equal(data.each(lambda d: np.sum(d.W_mm * d.W_cyc)), 0.0)


@lm.claim("acyclic data has no W^cyc", setting="mechanics", hypotheses=["acyclic"], on="instances")
def true_no_correction(data):
    """Without ties S_cyc is 0."""
    return lm.equal(data.each(lambda d: np.abs(d.W_cyc).max()), 0.0)


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
    return lm.at_most(run.log_loss[:, 1:], run.log_loss[:, :-1])


@lm.claim(
    "W stays outside S_cyc on acyclic data",
    setting="mechanics",
    hypotheses=["acyclic", "feasible"],
    on=SHORT,
)
def true_no_ties(run):
    """Without ties S_cyc is 0."""
    return lm.equal(run.cyclic_distance, 0.0)


@lm.claim("the gradient is bounded", setting="mechanics", hypotheses=["orthonormal"], on=SHORT)
def true_gradient(run):
    """Each sample contributes a difference of two averages of unit vectors: at most sqrt 2."""
    return lm.at_most(run.log_gradient_norm, np.log(2) / 2)


@lm.claim("the midpoint is no farther than both ends", setting="mechanics", on=SHORT)
def true_midpoint(run):
    """The triangle inequality: the next iterate is at most eta away."""
    return lm.at_most(run.midpoint_distance, run.cyclic_distance + run.rate / 2)


@lm.claim("correlations add up", setting="mechanics", on=SHORT)
def true_complement(run):
    """By definition."""
    return lm.equal(run.correlation + run.one_minus_correlation, 1.0)


@lm.claim(
    "one strict pair: |W^mm| = 1/sqrt 2",
    setting="mechanics",
    hypotheses=["orthonormal", "nonzero"],
    on="instances",
)
def true_least_norm(data):
    """A margin of 1 needs a difference of entries of 1, which 1/2 and -1/2 have."""
    return lm.at_least(data.each(lambda d: d.norm**2), 0.5)


@lm.claim("descent brings W closer to W^cyc", setting="mechanics", on=PLAIN)
def false_closer(run):
    """The part outside S_cyc turns the gradient inside it."""
    return lm.at_most(run.cyclic_distance[:, 1:], run.cyclic_distance[:, :-1])


@lm.claim("the orbit around W^cyc is half a step wide", setting="mechanics", on=SHORT)
def false_orbit(run):
    """Only in the end, and from a start nearby."""
    return lm.at_most(run.cyclic_distance[:, -1:], run.rate / 2)


@lm.claim(
    "the correlation never falls",
    setting="mechanics",
    hypotheses=["acyclic", "nonzero", "zero_start", "orthonormal"],
    on=SHORT,
)
def false_correlation(run):
    """Frequent samples come first, the others later."""
    return lm.at_least(run.correlation[:, 2:], run.correlation[:, 1:-1])


@lm.claim(
    "|W^mm|^2 is at most K^2 with orthonormal embeddings",
    setting="mechanics",
    hypotheses=["orthonormal"],
    on="instances",
)
def false_norm(data):
    """A long chain under every last token needs more."""
    return lm.at_most(data.each(lambda d: d.norm**2), data.each(lambda d: d.K**2 / 8))


@lm.claim(
    "squared loss: W turns to W^mm",
    setting="mechanics",
    hypotheses=["acyclic", "nonzero"],
    on=lm.experiment("mechanics", loss="squared", steps=300),
)
def false_squared(run):
    """Skewed counts are slower than 300 steps."""
    return lm.at_least(run.correlation[:, -1:], 0.5)


@lm.claim(
    "cross-entropy falls below log K",
    setting="mechanics",
    on=lm.experiment("mechanics", loss="cross-entropy", head="embedding", steps=100),
)
def false_cross_entropy(run):
    """Embeddings that are long and close make a wrong label certain."""
    return lm.at_most(np.exp(run.log_loss[:, -1:]), run.each(lambda d: np.log(d.K) + 0.1))


@lm.claim(
    "a sample's epsilon never stops training",
    setting="mechanics",
    hypotheses=["acyclic", "nonzero", "zero_start"],
    on=lm.experiment("mechanics", epsilon=0.01, steps=100),
)
def false_epsilon(run):
    """Steps shrink once the gradient is as small as epsilon."""
    return lm.at_least(run.norm[:, -1:], 0.9 * run.rate * 100)


LINEAR = lm.experiment("mechanics", steps=100, loss="linear")
EXPONENTIAL = lm.experiment("mechanics", steps=100, loss="exponential")
FLAT = lm.experiment("mechanics", steps=100, loss="flat")
SQUARED = lm.experiment("mechanics", steps=100, loss="squared")
PAPER = lm.experiment("mechanics", steps=100, algorithm="gd", rate="paper")
FAST = lm.experiment("mechanics", steps=200, rate=1.0)


@lm.claim("the linear loss loses at most 1", setting="mechanics", on=LINEAR)
def true_linear(run):
    """It is the mass off the label."""
    return lm.at_most(run.log_loss, 0.0)


@lm.claim("e^-u is at most 1 - 1/e above its infimum", setting="mechanics", on=EXPONENTIAL)
def true_exponential(run):
    """The label's score is between 0 and 1."""
    return lm.at_most(run.log_loss, np.log1p(-np.exp(-1)))


@lm.claim("a flat slope", setting="mechanics", hypotheses=["orthonormal"], on=FLAT)
def true_flat_gradient(run):
    """|l'| is at most 1/2, and that of the label's mass in the logits at most sqrt 2 / 4."""
    return lm.at_most(run.log_gradient_norm, np.log(np.sqrt(2) / 8))


@lm.claim(
    "from zero, the squared loss has W on the side of W^mm",
    setting="mechanics",
    hypotheses=["realizable", "acyclic", "feasible", "nonzero", "zero_start"],
    on=SQUARED,
)
def true_same_side(run):
    """Every wrong token that loses mass has a margin of at least 1 under W^mm."""
    return lm.at_most(run.one_minus_correlation[:, 1:], 1.0)


@lm.claim(
    "descent at 1/L never raises the loss", setting="mechanics", hypotheses=["realizable"], on=PAPER
)
def true_paper_rate(run):
    """Lemma 5."""
    return lm.at_most(run.log_loss[:, 1:], run.log_loss[:, :-1])


@lm.claim("W^cyc is no farther than both are long", setting="mechanics", on=SHORT)
def true_triangle(run):
    """The triangle inequality; a projection makes nothing longer."""
    return lm.at_most(run.cyclic_distance, run.norm + run.each(lambda d: d.finite_part.norm))


@lm.claim(
    "every last token with a strict pair costs 1/2",
    setting="mechanics",
    hypotheses=["orthonormal"],
    on="instances",
)
def true_columns(data):
    """The columns of W^mm decouple, and a difference of 1 needs a squared norm of 1/2."""
    queries = data.each(lambda d: len({q for q, _ in d.strict_pairs}))
    return lm.at_least(data.each(lambda d: d.norm**2), queries / 2)


@lm.claim("the linear loss halves in 100 steps", setting="mechanics", on=LINEAR)
def false_halved(run):
    """A path of length 1 changes the odds by e^sqrt 2 at most."""
    return lm.at_most(run.log_loss[:, -1:], run.log_loss[:, :1] - np.log(2))


@lm.claim("gradients of e^-u never grow", setting="mechanics", on=EXPONENTIAL)
def false_falling_gradient(run):
    """They do where the label starts with little mass."""
    return lm.at_most(run.log_gradient_norm[:, 1:], run.log_gradient_norm[:, :-1])


@lm.claim("midway is no farther from W^cyc", setting="mechanics", on=SHORT)
def false_midway(run):
    """It is on the way out."""
    return lm.at_most(run.midpoint_distance, run.cyclic_distance)


@lm.claim("W^mm^2 is at most K", setting="mechanics", hypotheses=["orthonormal"], on="instances")
def false_vocabulary(data):
    """Long chains, or several of them."""
    return lm.at_most(data.each(lambda d: d.norm**2), data.each(lambda d: d.K))


@lm.claim(
    "W^cyc is at most 7 long", setting="mechanics", hypotheses=["orthonormal"], on="instances"
)
def false_bounded_ties(data):
    """One sample of a tie is rare."""
    return lm.at_most(data.each(lambda d: d.correction.norm), 7.0)


@lm.claim("200 long steps leave some loss", setting="mechanics", hypotheses=["acyclic"], on=FAST)
def false_lasting_loss(run):
    """The loss falls like e^-R."""
    return lm.at_least(run.log_loss, -20.0)


EVERY = lm.experiment("mechanics", steps=100, algorithm="gd", record=tuple(range(101)))
LEAP = lm.experiment("mechanics", steps=100, algorithm="gd", rate=10.0, loss="squared")
ADAM = lm.experiment("mechanics", steps=200, algorithm="adam")


@lm.claim("a step is as long as the gradient says", setting="mechanics", on=EVERY)
def true_step(run):
    """The triangle inequality for W - eta * gradient."""
    far = run.norm[:, :-1] + run.rate * np.exp(run.log_gradient_norm[:, :-1])
    return lm.at_most(run.norm[:, 1:], far)


@lm.claim("descent on the weights is a cosine", setting="mechanics", on=SHORT)
def true_descent_on_weights(run):
    """Cauchy and Schwarz."""
    return [lm.at_most(run.descent_on_weights, 1.0), lm.at_least(run.descent_on_weights, -1.0)]


@lm.claim("norm is that of W^mm", setting="mechanics", hypotheses=["feasible"], on="instances")
def true_norm(data):
    """By definition."""
    return lm.equal(data.each(lambda d: np.linalg.norm(d.W_mm)), data.each(lambda d: d.norm))


@lm.claim(
    "after 200 steps W has half of the direction",
    setting="mechanics",
    hypotheses=["acyclic", "nonzero"],
    on=SHORT,
)
def false_half(run):
    """Not if a sample is rare, or W(0) far off."""
    return lm.at_least(run.correlation[:, -1:], 0.5)


@lm.claim("Adam never raises the loss", setting="mechanics", hypotheses=["realizable"], on=ADAM)
def false_adam(run):
    """It swings around a tie."""
    return lm.at_most(run.log_loss[:, 1:], run.log_loss[:, :-1])


@lm.claim("Adam goes no farther", setting="mechanics", hypotheses=["zero_start"], on=ADAM)
def false_adam_path(run):
    """Its first step moves every entry by the step size."""
    return lm.at_most(run.norm, run.steps * run.rate)


@lm.claim(
    "the gradient is longest at the start",
    setting="mechanics",
    hypotheses=["realizable", "orthonormal"],
    on=SHORT,
)
def false_longest(run):
    """W(0) may be saturated in the wrong place."""
    return lm.at_most(run.log_gradient_norm[:, 1:], run.log_gradient_norm[:, :1])


@lm.claim(
    "W^mm is at most as long as there are samples",
    setting="mechanics",
    hypotheses=["feasible"],
    on="instances",
)
def false_samples(data):
    """Short embeddings make it long."""
    return lm.at_most(data.each(lambda d: d.norm), data.each(lambda d: len(d.data.samples)))


@lm.claim(
    "every pair costs one half",
    setting="mechanics",
    hypotheses=["feasible", "orthonormal", "acyclic"],
    on="instances",
)
def false_cost(data):
    """Pairs with one winner share: m of them cost m/(m + 1)."""
    return lm.at_least(data.each(lambda d: d.norm**2), data.each(lambda d: len(d.pairs) / 2))


@lm.claim("steps of 10 help", setting="mechanics", hypotheses=["realizable"], on=LEAP)
def false_leap(run):
    """Opposite labels make W swing."""
    return lm.at_most(run.log_loss[:, 1:], run.log_loss[:, :-1])


@lm.claim(
    "the loss is below e to the minus margin",
    setting="mechanics",
    hypotheses=["acyclic", "zero_start"],
    on=SHORT,
)
def false_margin(run):
    """A loser that occurs twice makes it log(1 + 2 e^-x)."""
    return lm.at_most(run.log_loss, -run.norm / run.each(lambda d: d.norm))


@lm.claim(
    "||W^mm||^2 is at most the number of strict pairs",
    setting="mechanics",
    hypotheses=["orthonormal", "acyclic"],
    on="instances",
)
def false_long_chains(data):
    """A chain of l tokens that all beat the last one: l (l+1) (l+2)/12 against 2l - 1."""
    return lm.at_most(data.each(lambda d: d.norm) ** 2, data.each(lambda d: len(d.strict_pairs)))


@lm.claim("||W^mm|| is at most K", setting="mechanics", hypotheses=["acyclic", "orthonormal"],
          on="instances")  # fmt: skip
def false_norm_by_tokens(data):
    """Chains of K tokens under K last tokens have norm^2 = K^2 (K^2 - 1)/12: more from K = 4 on."""
    return lm.at_most(data.each(lambda d: d.norm), data.each(lambda d: d.K))


@lm.claim("missed attention never rises on acyclic data", setting="mechanics",
          hypotheses=["acyclic"])  # fmt: skip
def false_missed_acyclic(run):
    """A long embedding makes the step of one sample large, and others pay for it."""
    return lm.at_most(np.diff(run.log_missed, axis=1), 0.0)


@lm.claim("all of W is outside the ties", setting="mechanics",
          hypotheses=["realizable", "zero_start"])  # fmt: skip
def false_all_free(run):
    """An identity that holds only without ties."""
    return lm.equal(run.free_norm, run.norm)


EVERY_TIGHT = lm.experiment("mechanics", algorithm="gd", rate="tight", steps=60, record=range(61))


@lm.claim(
    "the loss is at least the attention that is missed",
    setting="mechanics",
    hypotheses=["realizable"],
    on=SHORT,
)
def true_missed(run):
    """1 - u <= -log u, sample by sample."""
    return lm.at_most(run.log_missed, run.log_loss)


@lm.claim(
    "a step of 1/L_tight falls by half of what the slope says", setting="mechanics", on=EVERY_TIGHT
)
def true_descent_lemma(run):
    """The descent lemma."""
    loss = np.exp(run.log_loss)
    gained = run.rate / 2 * np.exp(2 * run.log_gradient_norm[:, :-1])
    return lm.at_most(loss[:, 1:], loss[:, :-1] - gained)


@lm.claim(
    "the loss is at most three times the attention that is missed",
    setting="mechanics",
    hypotheses=["realizable", "zero_start"],
    on=SHORT,
)
def false_three_times(run):
    """-log u <= 3 (1 - u) needs u >= 0.06: not with 18 positions."""
    return lm.at_most(run.log_loss, run.log_missed + np.log(3))


@lm.claim(
    "no logit of W^mm exceeds 1",
    setting="mechanics",
    hypotheses=["orthonormal", "acyclic"],
    on="instances",
)
def false_entries(data):
    """A chain of four has 3/2 at its ends."""
    return lm.at_most(data.each(lambda d: np.abs(d.E @ d.W_mm @ d.E.T).max()), 1.0)


def spread(d):
    """How far tied logits are apart; NaN if a token is repeated in a sequence."""
    if any(len(set(s.tokens)) < len(s.tokens) for s in d.data.samples):
        return np.nan
    logits = d.E @ d.W_cyc @ d.E.T
    apart = 0.0
    for q, graph in d.graphs.items():
        for component in graph.components:
            values = logits[list(component), q]
            apart = max(apart, values.max() - values.min())
    return apart


def skew(d):
    logs = (
        np.log([s.count for s in d.data.samples])
        if d.log_frequency is None
        else np.asarray(d.log_frequency)
    )
    return logs.max() - logs.min()


@lm.claim(
    "tied tokens differ by at most the logarithm of the largest ratio of counts",
    setting="mechanics",
    hypotheses=["realizable", "orthonormal"],
    on="instances",
)
def false_ratio(data):
    """Samples of one count add up, and so do ties in a row: a over b over c."""
    return lm.at_most(data.each(spread), data.each(skew), size=1.0)

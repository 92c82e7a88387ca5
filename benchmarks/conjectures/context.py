"""Lemmas about the context setting for the adversary: true ones must survive, false ones break.

The reason why a lemma is true, or how it breaks, stands below it. ``rate=None`` says the step sizes
of (16); where nothing is said of the rate, a lemma is about any.
"""

import numpy as np

import lemmata as lm

THEOREM = ["unit", "noise", "full_rank"]
SHORT = lm.experiment("context", steps=300)
THEORY = lm.experiment("context", steps=300, rate=None)


@lm.claim("the loss is at least L*", setting="context", on=SHORT)
def true_least(run):
    """L - L* is a squared norm (Lemma 5)."""
    return lm.at_least(run.loss, run.each(lambda plan: plan.task.minimum))


@lm.claim("the error in domain is twice the gap", setting="context", on=SHORT)
def true_twice(run):
    """Both are squares of Z-bar (A-hat - A), over K and over 2K."""
    return lm.equal(run.in_domain, 2 * run.gap)


@lm.claim("out of domain the error is more than four times as large", setting="context", on=SHORT)
def true_four_times(run):
    """E y y' is Z'(11' + 4I)Z + 5 m tau I there, which exceeds 4 (Z'Z + m tau I)."""
    return lm.at_least(run.out_of_domain, 4 * run.in_domain, rounding=1e-11)


@lm.claim("and at most m + 4 times as large", setting="context", on=SHORT)
def true_dimensions(run):
    """11' is at most m I, and 5 is at most m + 4."""
    most = run.each(lambda plan: plan.task.m + 4)
    return lm.at_most(run.out_of_domain, most * run.in_domain, rounding=1e-11)


@lm.claim("the gap obeys (18)", setting="context", hypotheses=THEOREM, on=THEORY)
def true_guarantee(run):
    """Theorem 1."""
    return lm.at_most(run.gap, run.guarantee, rounding=1e-9)


@lm.claim("the gap never rises", setting="context", hypotheses=THEOREM, on=THEORY)
def true_descent(run):
    """Each step of (16) lowers the loss (64)."""
    return lm.at_most(run.gap[:, 1:], run.gap[:, :-1], rounding=1e-9)


@lm.claim("Q waits for w", setting="context", on=SHORT)
def true_first_step(run):
    """The slope of Q has w as a factor, and w starts at 0."""
    return lm.at_most(run.moved_Q[:, :2], 0.0)


@lm.claim("with one example Q never moves", setting="context", on=SHORT)
def true_one_example(run):
    """Attention to a single token is 1 whatever Q is."""
    return lm.at_most(run.moved_Q, run.each(lambda plan: 0.0 if plan.task.N == 1 else np.inf))


@lm.claim("all runs start at the same loss", setting="context", on=SHORT)
def true_start(run):
    """With w = 0 every prediction is 0, whatever the heads are."""
    size = run.each(
        lambda plan: np.sum(plan.task.representations**2) + plan.task.K * plan.task.ridge
    )
    return lm.equal(run.loss[:, :1], size / (2 * run.each(lambda plan: plan.task.K)), rounding=1e-9)


@lm.claim("the theory's steps are stable", setting="context", hypotheses=THEOREM, on=THEORY)
def true_stable(run):
    """eta_w is at most gamma^2 / L, and L is at least sqrt(2) gamma^2 H |Z-bar|^2 / K."""
    return lm.at_most(run.rate, run.each(lambda plan: plan.frozen.largest_stable_rate))


@lm.claim("zeta_0 is at most H |Z-bar|^2", setting="context", on="instances")
def true_zeta(plans):
    """C_k has H columns of norm at most 1."""
    most = plans.each(lambda plan: plan.heads * plan.task.spectral**2)
    return lm.at_most(plans.each(lambda plan: plan.frozen.zeta), most)


@lm.claim("A is at least as long as a unit vector", setting="context", on="instances")
def true_copies(plans):
    """Its first N columns are those of the identity."""
    return lm.at_least(plans.each(lambda plan: np.linalg.norm(plan.task.target, 2)), 1.0)


@lm.claim("L* is at least the noise of the queries", setting="context", on="instances")
def true_noise(plans):
    """Their own noise cannot be predicted."""
    noise = plans.each(lambda p: (p.task.K - p.task.N) * p.task.ridge / (2 * p.task.K))
    return lm.at_least(plans.each(lambda plan: plan.task.minimum), noise)


@lm.claim(
    "L* is at most the loss of saying nothing about queries", setting="context", on="instances"
)
def true_silence(plans):
    """A = 0 is one of the maps over which L* is the least."""

    def silent(plan):
        task = plan.task
        return (np.sum(task.Z_query**2) + (task.K - task.N) * task.ridge) / (2 * task.K)

    return lm.at_most(plans.each(lambda plan: plan.task.minimum), plans.each(silent))


@lm.claim(
    "ridge regression cannot blow up a query",
    setting="context",
    hypotheses=["noise"],
    on="instances",
)
def true_ridge(plans):
    """s / (s^2 + r) is at most 1 / (2 sqrt(r)) for every singular value s of Z."""

    def longest(plan):
        task = plan.task
        columns = np.linalg.norm(task.target[:, task.N :], axis=0)
        sizes = np.linalg.norm(task.Z_query, axis=0) / (2 * np.sqrt(task.ridge))
        return np.max(columns - sizes, initial=-np.inf, where=sizes > 0)

    size = plans.each(lambda p: 1 + np.abs(p.task.representations).max() / np.sqrt(p.task.ridge))
    return lm.at_most(plans.each(longest), 0.0, size=size)


@lm.claim("what is left at the start includes the prompt", setting="context", on="instances")
def true_initial(plans):
    """The first N columns of A contribute |Z-bar|_F^2 to the gap at w = 0."""
    prompt = plans.each(lambda p: (np.sum(p.task.Z**2) + p.task.N * p.task.ridge) / (2 * p.task.K))
    return lm.at_least(plans.each(lambda plan: plan.task.initial_gap), prompt)


@lm.claim("the guarantee only falls", setting="context", hypotheses=THEOREM, on=THEORY)
def true_guarantee_falls(run):
    """The guaranteed rate lies between 0 and 1."""
    return lm.at_most(run.guarantee[:, 1:], run.guarantee[:, :-1])


@lm.claim("no loss exceeds the first", setting="context", hypotheses=THEOREM, on=THEORY)
def true_below_the_first(run):
    """Each step of (16) lowers the loss (64)."""
    return lm.at_most(run.loss, run.loss[:, :1], rounding=1e-9)


@lm.claim(
    "the theory's steps are K / (sqrt(2) H |Z-bar|^2) at most",
    setting="context",
    hypotheses=THEOREM,
    on=THEORY,
)
def true_largest_step(run):
    """L is at least sqrt(2) gamma^2 H |Z-bar|^2 / K, by its part in alpha alone."""
    most = run.each(lambda p: p.task.K / (2**0.5 * p.heads * p.task.spectral**2))
    return lm.at_most(run.rate, most, rounding=1e-9)


@lm.claim(
    "heads and tokens that can be told apart give full rank",
    setting="context",
    hypotheses=["unit", "noise", "enough_heads", "distinct_row", "resolved"],
    on="instances",
)
def true_positive(plans):
    """Proposition 1, with probability 1."""
    return lm.at_least(plans.each(lambda plan: plan.frozen.zeta), 0.0, strict=True)


@lm.claim("columns of Z-bar and its norm", setting="context", on="instances")
def true_columns(plans):
    """A column is the image of a unit vector; N of them make the Frobenius norm."""
    longest = plans.each(lambda plan: plan.task.largest_column)
    norm = plans.each(lambda plan: plan.task.spectral)
    count = plans.each(lambda plan: plan.task.N)
    return [
        lm.at_most(longest, norm, rounding=1e-12),
        lm.at_most(norm, np.sqrt(count) * longest, rounding=1e-12),
    ]


@lm.claim("w is stable below 2K / (H |Z-bar|^2)", setting="context", on="instances")
def true_stable_range(plans):
    """B_k has H columns no longer than |Z-bar|."""
    least = plans.each(lambda p: 2 * p.task.K / (p.heads * p.task.spectral**2))
    edge = plans.each(lambda p: p.frozen.largest_stable_rate)
    return lm.at_least(edge, least, rounding=1e-9)


@lm.claim("A is no longer than (17) says", setting="context", hypotheses=["noise"], on="instances")
def true_target(plans):
    """|A| <= 1 + |Z' Z-hat| / (m tau)."""
    norm = plans.each(lambda plan: np.linalg.norm(plan.task.target, 2))
    most = plans.each(lambda plan: 1 + plan.constants.cross / plan.constants.ridge)
    return lm.at_most(norm, most, rounding=1e-9)


@lm.claim("the loss never rises", setting="context", hypotheses=THEOREM, on=SHORT)
def false_any_step(run):
    """Not if the step is too long."""
    return lm.at_most(run.loss[:, 1:], run.loss[:, :-1])


@lm.claim("the gap halves every 100 steps", setting="context", hypotheses=THEOREM, on=THEORY)
def false_halves(run):
    """Almost equal columns of attention leave a part that hardly shrinks."""
    return lm.at_most(run.gap, run.gap[:, :1] * 0.5 ** (run.steps / 100))


@lm.claim(
    "a thousandth of the gap is left after 10,000 steps", setting="context", hypotheses=THEOREM
)
def false_converged(run):
    """The same, at the usual length."""
    late = np.where(run.steps >= 10_000, run.gap, np.nan)
    return lm.at_most(late, run.gap[:, :1] / 1000)


@lm.claim("Q moves", setting="context", hypotheses=THEOREM, on=THEORY)
def false_moves(run):
    """Not with one example."""
    return lm.at_least(run.moved_Q, np.where(run.steps >= 2, 1e-200, 0.0))


@lm.claim("training is lazy", setting="context", on=SHORT)
def false_lazy(run):
    """With one step size for Q and w, and a small start, Q more than doubles."""
    return lm.at_most(run.moved_Q, 1.0)


@lm.claim("out of domain is five times as hard", setting="context", hypotheses=["noise"], on=SHORT)
def false_five(run):
    """Two tasks whose representations point along (1, 1): six times."""
    return lm.at_most(run.out_of_domain, 5.2 * run.in_domain)


@lm.claim("(18) is tight", setting="context", hypotheses=THEOREM, on=THEORY)
def false_tight(run):
    """The rate of (18) is at most half of the slowest one, and others are faster."""
    return lm.at_least(run.gap, run.guarantee**2 / run.guarantee[:, :1] / 10)


@lm.claim("the theory takes steps of a tenth", setting="context", hypotheses=THEOREM, on=THEORY)
def false_steps(run):
    """Large representations have a large curvature."""
    return lm.at_least(run.rate, 0.1)


@lm.claim("out of domain nothing gets worse", setting="context", hypotheses=THEOREM, on=THEORY)
def false_elsewhere(run):
    """Descent sees another metric, and may pay with what it does not see."""
    return lm.at_most(run.out_of_domain[:, 1:], run.out_of_domain[:, :-1], rounding=1e-9)


@lm.claim("L* is label noise alone", setting="context", on="instances", hypotheses=["noise"])
def false_minimum(plans):
    """A query whose representation is orthogonal to the prompt cannot be predicted at all."""
    return lm.at_most(
        plans.each(lambda plan: plan.task.minimum), plans.each(lambda plan: plan.task.ridge)
    )


@lm.claim("queries are averages", setting="context", on="instances", hypotheses=["noise", "unit"])
def false_average(plans):
    """A query with twice the representation of an example has twice its label."""

    def longest(plan):
        return np.linalg.norm(plan.task.target[:, plan.task.N :], axis=0).max(initial=0.0)

    return lm.at_most(plans.each(longest), 1.0)


@lm.claim(
    "zeta_0 is of the size of the noise", setting="context", hypotheses=THEOREM, on="instances"
)
def false_zeta(plans):
    """Heads that attend alike make it small, however much noise there is."""
    return lm.at_least(
        plans.each(lambda plan: plan.frozen.zeta), plans.each(lambda p: p.task.ridge / 1e6)
    )


@lm.claim(
    "steps of a tenth are safe",
    setting="context",
    hypotheses=["unit", "noise"],
    on=lm.experiment("context", steps=50, rate=0.1),
)
def false_a_tenth(run):
    """Not for long representations."""
    return lm.at_most(run.gap[:, 1:], run.gap[:, :-1])


@lm.claim("Q never turns back", setting="context", on=SHORT)
def false_turns(run):
    """A long step goes too far."""
    return lm.at_least(run.moved_Q[:, 1:], run.moved_Q[:, :-1])


@lm.claim("out of domain is five times as hard", setting="context", hypotheses=["noise"], on=SHORT)
def false_at_least_five(run):
    """Four times, where representations point across (1, 1) and noise is small."""
    return lm.at_least(run.out_of_domain, 4.9 * run.in_domain)


@lm.claim(
    "every step helps less than the one before",
    setting="context",
    hypotheses=["unit", "noise"],
    on=lm.experiment("context", steps=6, record=(0, 1, 2, 3, 4, 5, 6), rate=0.5),
)
def false_convex(run):
    """With one step size for both, Q begins to help once w is there; and long steps swing."""
    helped = run.gap[:, :-1] - run.gap[:, 1:]
    return lm.at_most(helped[:, 1:], helped[:, :-1])


@lm.claim("A has no negative entries", setting="context", hypotheses=["noise"], on="instances")
def false_positive(plans):
    """A query that points away from an example."""
    return lm.at_least(plans.each(lambda plan: plan.task.target.min()), 0.0)


@lm.claim("half of the loss can be learned", setting="context", on="instances")
def false_half(plans):
    """Not that of queries that are noise alone."""
    least = plans.each(lambda plan: plan.task.minimum)
    return lm.at_least(plans.each(lambda plan: plan.task.initial_gap), least)


@lm.claim("the gap falls like 1/t", setting="context", hypotheses=THEOREM, on=THEORY)
def false_rate(run):
    """At the theory's rates the first step does not halve it."""
    return lm.at_most(run.gap, run.gap[:, :1] / (1 + run.steps))


@lm.claim("Q moves by at most its own size", setting="context", on=SHORT)
def false_far(run):
    """Not with long steps."""
    return lm.at_most(run.moved_Q, 1.0)


@lm.claim("L* is at most m tau", setting="context", hypotheses=["noise"], on="instances")
def false_noise(plans):
    """Representations outside the span of the prompt's cost more."""
    most = plans.each(lambda plan: plan.task.m * plan.task.tau)
    return lm.at_most(plans.each(lambda plan: plan.task.minimum), most)


@lm.claim(
    "the error in domain is at most the loss", setting="context", hypotheses=["noise"], on=SHORT
)
def false_domain(run):
    """It is twice the gap, which is most of the loss at first."""
    return lm.at_most(run.in_domain, run.loss)


@lm.claim("heads enough", setting="context", hypotheses=["full_rank"], on="instances")
def false_heads(plans):
    """N heads do, without those of the queries."""
    return lm.at_least(plans.each(lambda plan: plan.heads), plans.each(lambda plan: plan.task.K))


@lm.claim(
    "Adam never raises the gap",
    setting="context",
    on=lm.experiment("context", algorithm="adam", steps=300),
)
def false_adam(run):
    """Its steps do not get shorter where the minimum is near."""
    return lm.at_most(run.gap[:, 1:], run.gap[:, :-1])


@lm.claim(
    "with attention frozen Adam halves the gap in 300 steps",
    setting="context",
    hypotheses=THEOREM,
    on=lm.experiment("context", steps=300, algorithm="adam", frozen=True),
)
def false_frozen(run):
    """No entry of w moves by more than the rate in a step, and 0.3 may be little."""
    return lm.at_most(run.gap[:, -1:], run.gap[:, :1] / 2)


SMALL_ADAM = lm.experiment("context", algorithm="adam", rate=0.001, steps=100)


@lm.claim(
    "Adam with step size 0.001 does not raise the gap in its first 100 steps",
    setting="context",
    hypotheses=["unit", "noise", "enough_heads"],
    on=SMALL_ADAM,
)
def false_many_heads(run):
    """All heads move by 0.001 at once: with forty of them momentum overshoots."""
    return lm.at_most(run.gap[:, 1:], run.gap[:, :-1])


@lm.claim("zeta_0 is at most H times the largest column, over N", setting="context", on="instances")
def true_mean(plans):
    """The least of N eigenvalues is at most their mean, and attention averages columns."""
    most = plans.each(lambda p: p.heads * p.task.largest_column**2 / p.task.N)
    return lm.at_most(plans.each(lambda p: p.frozen.zeta), most, rounding=1e-9)


@lm.claim(
    "the largest stable step is at most 2 K N / (H m tau)",
    setting="context",
    hypotheses=["noise"],
    on="instances",
)
def true_stable_edge(plans):
    """|Z-bar s|^2 >= m tau / N for the mean s of all heads."""
    most = plans.each(lambda p: 2 * p.task.K * p.task.N / (p.heads * p.task.ridge))
    return lm.at_most(plans.each(lambda p: p.frozen.largest_stable_rate), most, rounding=1e-9)


@lm.claim(
    "Adam moves no entry by more than ten rates a step",
    setting="context",
    on=lm.experiment("context", algorithm="adam", steps=100),
)
def true_adam(run):
    """|m| / sqrt v is at most 7.3."""
    start = run.each(lambda p: np.sqrt(p.start.Q.size) / np.linalg.norm(p.start.Q))
    return lm.at_most(run.moved_Q, 10 * run.steps * run.rate * start, rounding=1e-6)


@lm.claim(
    "steps up to K / (H |Z-bar|^2) never raise the loss",
    setting="context",
    hypotheses=["noise"],
    on=SHORT,
)
def false_safe(run):
    """Q takes the same steps, and its slope has the length of the tokens in it."""
    most = run.each(lambda p: p.task.K / (p.heads * p.task.spectral**2))
    safe = np.where(run.rate <= most, 1.0, np.nan)
    return lm.at_most(safe * run.loss[:, 1:], safe * run.loss[:, :-1], rounding=1e-9)


@lm.claim(
    "out of domain no more than twice as much is left as in domain",
    setting="context",
    hypotheses=["noise"],
    on=SHORT,
)
def false_twice(run):
    """The ratio of both errors is between 4 and m + 4: true up to m = 4."""
    return lm.at_most(
        run.out_of_domain / run.out_of_domain[:, :1], 2 * run.in_domain / run.in_domain[:, :1]
    )


@lm.claim(
    "the largest stable step is at most 2 K / (H m tau)",
    setting="context",
    hypotheses=["noise"],
    on="instances",
)
def false_stable_edge(plans):
    """With even attention to N examples that are noise it is N times that."""
    most = plans.each(lambda p: 2 * p.task.K / (p.heads * p.task.ridge))
    return lm.at_most(plans.each(lambda p: p.frozen.largest_stable_rate), most, rounding=1e-9)

"""Lemmas about the selection setting for the adversary: true ones must survive, false ones break.

The reason why a lemma is true, or how it breaks, stands below it. u is the attention that misses
the subset, and u_0 = 1 - q/T what it is at first.
"""

import math

import numpy as np

import lemmata as lm

SHORT = lm.experiment("selection", steps=200)
LONG = lm.experiment("selection", steps=20_000)
SMALL = ["sparse", "small_step"]
NEARLY_ORTHOGONAL = [*SMALL, "stochastic_step", "isometry"]


def sizes(run):
    """T, q and d of each instance, as columns."""
    return (run.each(lambda plan, name=name: getattr(plan, name)) for name in ("T", "q", "d"))


def one_hot(run):
    """0 for one-hot encodings; NaN, about which nothing is said, for others."""
    return run.each(lambda plan: 0.0 if plan.kind == "one-hot" else np.nan)


def highest_alpha(T, q):
    """The largest alpha* over all u."""
    r = q / (T - q)
    return 1 / (2 * (np.sqrt(r * (1 + r)) - r))


@lm.claim("at first the loss is that of predicting zero", setting="selection", on=SHORT)
def true_start(run):
    """V = 0 predicts zero, and E|mean of q Gaussian tokens|^2 = d/q."""
    _, q, d = sizes(run)
    return lm.equal(run.loss[:, :1], d / (2 * q))


@lm.claim("at first attention is uniform", setting="selection", on=SHORT)
def true_uniform(run):
    """W = 0: each position has weight 1/T."""
    T, q, _ = sizes(run)
    return lm.equal(run.missed[:, :1], (T - q) / T)


@lm.claim("the first step is eta/T", setting="selection", hypotheses=["converges"], on=SHORT)
def true_first_step(run):
    """-dL/d alpha / d at zero is the mean product of Y/q and uniform attention: 1/T."""
    T, _, _ = sizes(run)
    return lm.equal(run.alpha[:, 1:2], run.rate / T)


@lm.claim("C waits for alpha", setting="selection", on=SHORT)
def true_wait(run):
    """The gradient in C has a factor alpha, which is zero at first."""
    return lm.equal(run.C[:, :2], 0.0, size=1.0)


@lm.claim("attention is attention", setting="selection", on=SHORT)
def true_share(run):
    """A softmax is between 0 and 1."""
    return [lm.at_least(run.missed, 0.0), lm.at_most(run.missed, 1.0)]


@lm.claim("what is missed costs", setting="selection", on=SHORT)
def true_cost(run):
    """The error off the subset alone: d/2 alpha^2 E|s|^2, and |s|^2 >= u^2 / (T - q)."""
    T, q, d = sizes(run)
    return lm.at_least(run.loss, d * (run.alpha * run.missed) ** 2 / (2 * (T - q)), rounding=1e-9)


@lm.claim("no alpha helps against missed attention", setting="selection", on=SHORT)
def true_floor(run):
    """The least over alpha of d/2 |Y/q - alpha S|^2 with uniform S on and off the subset."""
    T, q, d = sizes(run)
    u = run.missed
    floor = d * u**2 / (2 * ((T - q) * (1 - u) ** 2 + q * u**2))
    return lm.at_least(run.loss, floor, rounding=1e-9)


@lm.claim("two numbers tell the loss of one-hot encodings", setting="selection", on=SHORT)
def true_two_numbers(run):
    """Lemma D.2: attention has two levels."""
    T, q, d = sizes(run)
    alpha, u = run.alpha, run.missed
    short = 1 - alpha + alpha * u
    known = d * (short**2 / q + (alpha * u) ** 2 / (T - q)) / 2
    size = d * (1 + alpha**2)
    return lm.equal(run.loss + one_hot(run), known, size=size)


@lm.claim("C is a logit", setting="selection", on=SHORT)
def true_logit(run):
    """Lemma 3.2: the odds of a position off the subset are e^-C, for one-hot encodings."""
    T, q, _ = sizes(run)
    u, odds = run.missed, q * np.exp(-np.abs(run.C))
    chosen, others = (1 - u) * (T - q), u * q
    rises = run.C > 0
    left, right = np.where(rises, others, chosen), np.where(rises, chosen, others)
    return lm.equal(left + one_hot(run), right * odds / q, size=T * q)


@lm.claim("the loss never rises", setting="selection", hypotheses=NEARLY_ORTHOGONAL, on=SHORT)
def true_descent(run):
    """Steps of Theorems 3.1 and 3.3 are below 2 over the curvature."""
    return lm.at_most(run.loss[:, 1:], run.loss[:, :-1])


@lm.claim("C never falls", setting="selection", hypotheses=SMALL, on=LONG)
def true_growth(run):
    """C rises while alpha (1 - u/u_0) < 1, which alpha <= alpha* <= that keeps; one-hot only."""
    return lm.at_least(run.C[:, 1:] + one_hot(run), run.C[:, :-1], size=1.0)


@lm.claim("alpha stays below every alpha*", setting="selection", hypotheses=["small_step"], on=LONG)
def true_ceiling(run):
    """With eta <= 1 alpha never jumps over the minimum over alpha, which is alpha* or less."""
    T, q, _ = sizes(run)
    return lm.at_most(run.alpha, highest_alpha(T, q))


@lm.claim("alpha is never negative", setting="selection", hypotheses=["small_step"], on=LONG)
def true_sign(run):
    """For alpha = 0 it rises, and it does not jump over its minimum, which is positive."""
    return lm.at_least(run.alpha, 0.0, size=1.0)


@lm.claim("no step is longer than eta/q", setting="selection", hypotheses=["small_step"], on=SHORT)
def true_slow(run):
    """d alpha / eta = (1 - u) short / q - ..., at most 1/q while alpha >= 0."""
    _, q, _ = sizes(run)
    return lm.at_most(run.alpha, run.steps * run.rate / q)


@lm.claim("encodings have room for a subset", setting="selection", on="instances")
def true_room(plans):
    """e_y exists for independent encodings alone."""
    return lm.at_least(plans.each(lambda p: p.width - p.d), plans.each(lambda p: p.q))


@lm.claim("predicting zero costs at most d/2", setting="selection", on="instances")
def true_zero(plans):
    """d/(2q) with q >= 1."""
    return lm.at_most(plans.each(lambda p: p.task.zero_loss), plans.each(lambda p: p.d / 2))


@lm.claim("there are at least T subsets", setting="selection", on="instances")
def true_subsets(plans):
    """T choose q is least for q = 1 and q = T - 1."""

    def log_count(p):
        return math.lgamma(p.T + 1) - math.lgamma(p.q + 1) - math.lgamma(p.T - p.q + 1)

    size = plans.each(lambda p: 1e3 * (1 + math.lgamma(p.T + 1)))
    return lm.at_least(plans.each(log_count), plans.each(lambda p: math.log(p.T)), size=size)


@lm.claim("Welch", setting="selection", on="instances")
def true_welch(plans):
    """The sum of squares of all inner products is at least (sum of squared lengths)^2 / d_e."""

    def both(p):
        if p.encodings is None:
            return np.nan, np.nan
        gram = p.encodings.T @ p.encodings
        return (gram**2).sum(), np.trace(gram) ** 2 / p.d_e

    sides = plans.each(both)
    return lm.at_least(sides[:, :1], sides[:, 1:])


@lm.claim("the loss never rises, whatever the step", setting="selection", on=SHORT)
def false_descent(run):
    """It does beyond eta = 2q."""
    return lm.at_most(run.loss[:, 1:], run.loss[:, :-1])


@lm.claim("alpha never exceeds 1", setting="selection", hypotheses=["small_step"])
def false_one(run):
    """alpha* > 1 on the way."""
    return lm.at_most(run.alpha, 1.0)


@lm.claim("alpha never exceeds 2", setting="selection", hypotheses=SMALL)
def false_two(run):
    """alpha* grows like sqrt(T/q) / 2."""
    return lm.at_most(run.alpha, 2.0)


@lm.claim("alpha never falls", setting="selection", hypotheses=SMALL)
def false_rise(run):
    """It comes back to 1 from above."""
    return lm.at_least(run.alpha[:, 1:], run.alpha[:, :-1])


@lm.claim("C never falls, whatever the encodings", setting="selection", on=SHORT)
def false_growth(run):
    """Large steps make alpha jump over its minimum; misleading encodings pull C down."""
    return lm.at_least(run.C[:, 1:], run.C[:, :-1])


@lm.claim("C is never negative", setting="selection", hypotheses=["small_step"], on=SHORT)
def false_sign(run):
    """Encodings that look more chosen than those that are pull it down."""
    return lm.at_least(run.C, 0.0)


@lm.claim("the attention missed never grows", setting="selection", on=SHORT)
def false_missed(run):
    """It does with large steps."""
    return lm.at_most(run.missed[:, 1:], run.missed[:, :-1])


@lm.claim("after 1,000 steps the loss is halved", setting="selection", hypotheses=SMALL,
          on=lm.experiment("selection", steps=1_000))  # fmt: skip
def false_fast(run):
    """The plateau lasts about T^2 / (eta d) steps."""
    return lm.at_most(run.loss[:, -1:], run.loss[:, :1] / 2)


@lm.claim("half of the attention finds the subset", setting="selection", hypotheses=SMALL)
def false_half(run):
    """Not within 100,000 steps if T is large or eta small."""
    return lm.at_most(run.missed[:, -1:], 0.5)


@lm.claim("the loss is at most T / (eta t)", setting="selection", hypotheses=SMALL)
def false_law(run):
    """It is T^2 / (eta t) until attention leaves the plateau."""
    T, _, _ = sizes(run)
    return lm.at_most(run.loss[:, 1:], T / (run.rate * run.steps[1:]))


@lm.claim("C is at most log(1 + eta t)", setting="selection", hypotheses=["converges"], on=SHORT)
def false_logarithm(run):
    """A large d drives C faster than alpha."""
    return lm.at_most(run.C, np.log(1 + run.rate * run.steps))


@lm.claim("what is missed is at most the root of the loss", setting="selection", on=SHORT)
def false_root(run):
    """The loss is small next to q T."""
    return lm.at_most(run.missed, np.sqrt(run.loss))


@lm.claim("isometry is as good as one-hot", setting="selection", hypotheses=["isometry"], on=SHORT)
def false_two_numbers(run):
    """Attention off the subset is no longer even."""
    T, q, d = sizes(run)
    alpha, u = run.alpha, run.missed
    known = d * ((1 - alpha + alpha * u) ** 2 / q + (alpha * u) ** 2 / (T - q)) / 2
    return lm.equal(run.loss, known, size=d * (1 + alpha**2))


@lm.claim("attention is narrower than its tokens", setting="selection", on="instances")
def false_narrow(plans):
    """d + d_e < T d fails for d = 1."""
    return lm.at_most(plans.each(lambda p: p.width), plans.each(lambda p: p.T * p.d), strict=True)


@lm.claim("a step of 1 is small", setting="selection", hypotheses=["sparse"], on="instances")
def false_unit(plans):
    """Theorem 3.1 allows 1 / (20 d^2)."""
    problems = plans.each(lambda p: any(problem.code == "large_step" for problem in p.problems))
    rate = plans.each(lambda p: p.rate)
    return lm.at_most(np.where(rate <= 1, problems, np.nan), 0.0)


@lm.claim("encodings are not close", setting="selection", on="instances")
def false_coherent(plans):
    """Nothing keeps given ones apart."""

    def coherence(p):
        if p.encodings is None:
            return 0.0
        E = p.encodings / np.linalg.norm(p.encodings, axis=0)
        return np.abs(E.T @ E - np.eye(p.T)).max()

    return lm.at_most(plans.each(coherence), 0.5)


TWO = lm.experiment("selection", steps=2)
FIXED = lm.experiment("selection", steps=30, rate=0.5)
THOUSAND = lm.experiment("selection", steps=1_000)


def first_turn(run):
    """eta^2 d / (T^2 inertia), which C(2) would be if no position were chosen."""
    T, _, d = sizes(run)
    return run.rate**2 * d / (T**2 * run.each(lambda plan: plan.inertia))


@lm.claim("C(2) is known", setting="selection", on=TWO)
def true_second_step(run):
    """alpha = eta/T and u = 1 - q/T after a step, and the two terms add up to 1/q; one-hot only."""
    T, q, _ = sizes(run)
    return lm.equal(run.C[:, 2:] + one_hot(run), first_turn(run) * (1 - q / T))


@lm.claim("a small loss leaves little attention elsewhere", setting="selection", on=SHORT)
def true_attention(run):
    """The floor under the loss, with (T - q)(1 - u)^2 + q u^2 <= max(T - q, q)."""
    T, q, d = sizes(run)
    most = 2 * np.maximum(T - q, q) * run.loss / d
    return lm.at_most(run.missed**2, most, rounding=1e-9)


@lm.claim("a small loss fixes alpha", setting="selection", on=SHORT)
def true_alpha(run):
    """What the subset lacks costs d/(2q) times its square, on average over encodings at least."""
    _, q, d = sizes(run)
    short = 1 - run.alpha * (1 - run.missed)
    size = d * (1 + run.alpha**2)
    return lm.at_least(run.loss, d * short**2 / (2 * q), size=size, rounding=1e-9)


@lm.claim(
    "a run that converges stays bounded", setting="selection", hypotheses=["converges"], on=THOUSAND
)
def true_bounded(run):
    """Training is stopped beyond a million."""
    return lm.at_most(np.abs(run.alpha), 1e6)


@lm.claim(
    "small losses are below d/150",
    setting="selection",
    hypotheses=["sparse", "small_loss"],
    on="instances",
)
def true_epsilon(plans):
    """dT / (100 (T-q) q) with T/(T-q) < 4/3 and q >= 2."""
    return lm.at_most(plans.each(lambda p: p.epsilon), plans.each(lambda p: p.d / 150))


@lm.claim(
    "small steps are at most 1/20", setting="selection", hypotheses=["small_step"], on="instances"
)
def true_twentieth(plans):
    """1 / (20 d^2) with d >= 1."""
    return lm.at_most(plans.each(lambda p: p.rate), 1 / 20)


@lm.claim("a step of the setting's option is taken", setting="selection", on=FIXED)
def true_option(run):
    """The first step is eta/T with the eta that was asked for."""
    T, _, _ = sizes(run)
    return lm.equal(run.alpha[:, 1:2], 0.5 / T)


@lm.claim("C(2) forgets the subset", setting="selection", on=TWO)
def false_second_step(run):
    """The factor 1 - q/T is missing; one-hot only."""
    return lm.equal(run.C[:, 2:] + one_hot(run), first_turn(run))


@lm.claim(
    "a small loss leaves little attention elsewhere, whatever T", setting="selection", on=SHORT
)
def false_attention(run):
    """T - q stands in the floor, not q."""
    _, q, d = sizes(run)
    return lm.at_most(run.missed**2, 2 * q * run.loss / d)


@lm.claim("alpha is near 1 after 1,000 steps", setting="selection", hypotheses=SMALL, on=THOUSAND)
def false_near(run):
    """With eta = 1/20 and T = 9 it is above 1 by more; with a smaller eta below."""
    return lm.at_most(np.abs(run.alpha[:, -1:] - 1), 0.1)


@lm.claim(
    "small losses are below d/300",
    setting="selection",
    hypotheses=["sparse", "small_loss"],
    on="instances",
)
def false_epsilon(plans):
    """For q = 2 they may be nearly d/150."""
    return lm.at_most(plans.each(lambda p: p.epsilon), plans.each(lambda p: p.d / 300))


@lm.claim("alpha grows steadily at first", setting="selection", on=FIXED)
def false_steady(run):
    """It slows down from the second step on."""
    T, _, _ = sizes(run)
    return lm.at_least(run.alpha, run.steps * 0.5 / T)


@lm.claim("wide encodings slow C down", setting="selection", hypotheses=["isometry"], on=SHORT)
def false_slow(run):
    """d drives it: after 200 steps C is above eta t / inertia for large d."""
    inertia = run.each(lambda plan: plan.inertia)
    return lm.at_most(run.C, run.rate * run.steps / inertia)


@lm.claim("C stays below log T", setting="selection", hypotheses=["small_step"])
def false_bounded(run):
    """It grows for ever."""
    return lm.at_most(run.C, run.each(lambda plan: np.log(plan.T)))


@lm.claim("the loss falls no faster than eta t / T", setting="selection", on=SHORT)
def false_speed(run):
    """It falls by eta d / T^2 in the first step, which is more if T < 2q."""
    T, _, _ = sizes(run)
    return lm.at_least(run.loss, run.loss[:, :1] * (1 - run.rate * run.steps / T))


@lm.claim("inertia is at least T - 1", setting="selection", on="instances")
def false_inertia(plans):
    """It is d_e, which may be less."""
    return lm.at_least(plans.each(lambda p: p.inertia), plans.each(lambda p: p.T - 1))


@lm.claim("C is at most alpha", setting="selection", on=FIXED)
def false_order(run):
    """d drives C."""
    return lm.at_most(run.C, run.alpha)


@lm.claim("a loss is missed attention", setting="selection", hypotheses=["isometry"], on=SHORT)
def false_miss(run):
    """At first d/(2q) over d is 1/2 for q = 1, and half of the attention of two is missed."""
    _, _, d = sizes(run)
    return lm.at_least(run.missed, 4 * run.loss / d)


@lm.claim(
    "the loss to reach is at most a fortieth of that of predicting zero: eps <= d/(80 q)",
    setting="selection",
    hypotheses=["sparse", "small_loss"],
    on="instances",
)
def false_fortieth(plans):
    """eps < dT/(100 (T-q) q), and T/(T-q) comes up to 4/3: T < 5q with eps near its end."""
    return lm.at_most(plans.each(lambda p: p.epsilon), plans.each(lambda p: p.d / (80 * p.q)))


@lm.claim("missed attention never rises below eta = 2q", setting="selection")
def false_missed_stable(run):
    """With q > T/2, or large d, alpha jumps over 1 before C has grown, and C falls for a step."""
    stable = np.where(run.rate < 2 * run.each(lambda p: p.q), 1.0, np.nan)
    return lm.at_most(stable * run.missed[:, 1:], stable * run.missed[:, :-1])


@lm.claim("what is missed falls like e^-C at least", setting="selection", on=SHORT)
def true_exponential(run):
    """u = (T-q) e^-C / (q + (T-q) e^-C) with one-hot encodings."""
    T, q, _ = sizes(run)
    return lm.at_most(run.missed + one_hot(run), (T - q) / q * np.exp(-run.C))


@lm.claim("below eta = 4q the first step lowers the loss", setting="selection", on=SHORT)
def false_first(run):
    """It does below 2T, which is less if the subset is more than half."""
    _, q, _ = sizes(run)
    short = np.where(run.rate < 4 * q, 1.0, np.nan)
    return lm.at_most(short * run.loss[:, 1:2], short * run.loss[:, :1])


@lm.claim(
    "the subset never counts for more than 1 with steps up to 1", setting="selection", on=SHORT
)
def false_share(run):
    """With many dimensions attention moves faster than alpha comes down."""
    small = np.where(run.rate <= 1, 1.0, np.nan)
    return lm.at_most(small * run.alpha * (1 - run.missed), 1.0)


@lm.claim(
    "C(3) is at most three times C(2)", setting="selection", on=lm.experiment("selection", steps=3)
)
def false_thrice(run):
    """With large d its slope grows more, by the attention on the subset, than alpha slows down."""
    return lm.at_most(run.C[:, 3:4], 3 * run.C[:, 2:3])


@lm.claim(
    "with steps of 1 C never falls",
    setting="selection",
    on=lm.experiment("selection", rate=1.0, steps=100, record=tuple(range(101))),
)
def false_unit_steps(run):
    """With d far above T the subset comes to count for more than 1, and C back; one-hot only."""
    return lm.at_least(run.C[:, 1:] + one_hot(run), run.C[:, :-1], size=1.0)

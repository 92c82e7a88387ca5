"""Lemmas about the convergence setting for the adversary: true ones must survive, false ones break.

The reason why a lemma is true, or how it breaks, stands below it.
"""

import numpy as np

import lemmata as lm
from lemmata.tokens import Role

SHORT = lm.experiment("convergence", steps=200)
PLAIN = lm.experiment("convergence", steps=200, algorithm="gd", rate=0.01, stage1_rate=0.01)
SHALLOW = lm.experiment("convergence", steps=200, stage1_steps=50, stage1_rate=0.1)
JOINTLY = lm.experiment("convergence", algorithm="joint", steps=60)
REALIZABLE = ["realizable", "choice"]
PAPER = [*REALIZABLE, "prefix_closed", "orthonormal", "not_outnumbered", "zero_start"]


def stars(dataset):
    """The sum of m/(m + 1) over queries with m tokens below an optimal one."""
    below = [len(dataset.orders.having(q, Role.NON_OPTIMAL)) for q in dataset.orders.graphs]
    return sum(m / (m + 1) for m in below)


@lm.claim("W_kq stays in the ball of the path around W_kq(0)", setting="convergence", on=SHORT)
def true_ball(run):
    """Each step of normalized descent has length eta, or 0 where the gradient vanishes."""
    return lm.at_most(run.norm - run.norm[:, :1], run.steps * run.rate, size=1 + run.norm)


@lm.claim("a record is reached from the one before", setting="convergence", on=SHORT)
def true_lipschitz(run):
    """The triangle inequality between two records."""
    moved, steps = np.diff(run.norm, axis=1), np.diff(run.steps)
    return lm.at_most(moved, steps * run.rate, size=1 + run.norm[:, 1:])


@lm.claim("a cosine is at most 1 and at least -1", setting="convergence", on=SHORT)
def true_cosine(run):
    """Cauchy and Schwarz."""
    gap = run.one_minus_correlation
    return [lm.at_least(gap, 0.0, size=1.0), lm.at_most(gap, 2.0)]


@lm.claim(
    "||W_kq(t)|| >= t eta / (sqrt 2 ||W_kq*||)", setting="convergence", hypotheses=PAPER, on=SHORT
)
def true_norm(run):
    """Each gradient is at most sqrt 2 times as long as what W_kq* takes of it."""
    norm = run.each(lambda d: d.norm_kq)
    return lm.at_least(run.norm, run.steps * run.rate / (np.sqrt(2) * norm))


@lm.claim("optimal tokens never fall back", setting="convergence", hypotheses=PAPER, on=SHORT)
def true_weight(run):
    """Under Assumption 3 the gradient pulls the optimal token of each input up."""
    return lm.at_least(run.smallest_weight, run.each(lambda d: 1 / (d.L_max - 1)))


@lm.claim("an optimal token is never behind", setting="convergence", hypotheses=PAPER, on=SHORT)
def true_margin(run):
    """From zero every column only ever gains on its optimal token."""
    return lm.at_least(run.smallest_margin, 0.0, size=1 + run.norm)


@lm.claim("a lead is no longer than W_kq allows", setting="convergence", on=SHORT)
def true_lead(run):
    """(x - x')' W x_q <= |W| |x - x'| |x_q|, for orthonormal embeddings sqrt 2 |W|."""

    def spread(d):
        E = np.eye(d.K) if d.embeddings is None else d.embeddings
        pairs = [np.linalg.norm(a - b) for a in E for b in E]
        return max(pairs) * max(np.linalg.norm(a) for a in E)

    known = np.where(np.isfinite(run.smallest_margin), run.smallest_margin, np.nan)
    return lm.at_most(known, run.each(spread) * run.norm, size=1 + run.norm * run.each(spread))


@lm.claim(
    "attention starts even",
    setting="convergence",
    hypotheses=[*REALIZABLE, "orthonormal", "zero_start"],
    on=SHORT,
)
def true_start(run):
    """At W_kq = 0 the odds of an optimal token are those of one position among all others."""
    others = run.each(lambda d: d.data.longest_input - 1)
    return lm.at_least(run.smallest_log_odds[:, :1], -np.log(others), size=1.0)


@lm.claim(
    "plain descent with short steps never raises the loss",
    setting="convergence",
    hypotheses=["orthonormal", "single_valued"],
    on=PLAIN,
)
def true_descent(run):
    """900 steps of 0.01 give margins below 9, so that the Hessian is far below 2 / 0.01."""
    later, sooner = run.log_loss[:, 1:], run.log_loss[:, :-1]
    return lm.at_most(later, sooner, size=1 + np.abs(sooner))


@lm.claim(
    "each query has one optimal token",
    setting="convergence",
    hypotheses=["realizable", "prefix_closed"],
    on="instances",
)
def true_one_optimal(data):
    """Tokens of inputs with one query are nested arcs of the collocation's cycle."""
    most = data.each(lambda d: max(len(d.orders.having(q, Role.OPTIMAL)) for q in range(d.K)))
    return lm.at_most(most, 1)


@lm.claim(
    "W_kq*^2 is at most the number of queries",
    setting="convergence",
    hypotheses=["realizable", "prefix_closed", "orthonormal"],
    on="instances",
)
def true_star(data):
    """Each column is a star, with m/(m + 1) < 1."""
    return lm.at_most(data.each(lambda d: d.norm_kq**2), data.each(lambda d: len(d.orders.graphs)))


@lm.claim(
    "W_ov*^2 is |V| - 1",
    setting="convergence",
    hypotheses=["single_valued", "two_tokens"],
    on="instances",
)
def true_value_norm(data):
    """Column x is e_n(x) - 1/|V|."""
    return lm.equal(data.each(lambda d: d.norm_ov**2), data.each(lambda d: d.K - 1))


@lm.claim(
    "W_kq* has a margin of 1",
    setting="convergence",
    hypotheses=["single_valued", "orders", "orthonormal", "choice"],
    on="instances",
)
def true_constraint(data):
    """It is a constraint of Eq. (3)."""

    def worst(d):
        W = d.attention_margin.weights
        edges = [(q, e) for q, g in d.orders.graphs.items() for e in g.edges]
        return min((W[a, q] - W[b, q] for q, (a, b) in edges), default=np.nan)

    return lm.at_least(data.each(worst), 1.0)


@lm.claim(
    "roles are disjoint and cover all tokens",
    setting="convergence",
    hypotheses=["single_valued"],
    on="instances",
)
def true_roles(data):
    """Each token has exactly one of four roles under a query."""
    counted = data.each(lambda d: sum(len(d.orders.having(0, role)) for role in Role))
    return lm.equal(counted, data.each(lambda d: d.K))


@lm.claim(
    "both layers together are no longer than the path",
    setting="convergence",
    hypotheses=["single_valued"],
    on=JOINTLY,
)
def true_joint_path(run):
    """A step of joint training has length eta over both layers."""
    return lm.at_most(np.sqrt(run.norm**2 + run.value_norm**2), run.steps * run.rate)


@lm.claim(
    "the loss stays above what W_ov allows",
    setting="convergence",
    hypotheses=["single_valued", "orthonormal", "two_tokens"],
    on=SHALLOW,
)
def true_floor(run):
    """No input gives its label a lead of more than the margin 5/sqrt(|V| - 1) of W_ov."""
    others = run.each(lambda d: d.K - 1)
    floor = np.log(np.log1p(others * np.exp(-5 / np.sqrt(others))))
    return lm.at_least(run.log_loss, floor, size=1 + np.abs(floor))


@lm.claim(
    "the gradient is at most four margins long",
    setting="convergence",
    hypotheses=[*REALIZABLE, "orthonormal"],
    on=SHALLOW,
)
def true_gradient(run):
    """An input moves its logits by at most the margin times what attention may shift."""
    return lm.at_most(run.log_gradient_norm, np.log(20 / np.sqrt(run.each(lambda d: d.K - 1))))


@lm.claim("no lead is ever lost", setting="convergence", hypotheses=PAPER, on=SHORT)
def true_leads_grow(run):
    """Every step raises the optimal token of a query and lowers the others."""
    gained = np.diff(run.smallest_margin, axis=1)
    return lm.at_least(gained, 0.0, size=1 + run.norm[:, 1:])


@lm.claim("log-odds follow the leads", setting="convergence", hypotheses=PAPER, on=SHORT)
def true_odds_follow(run):
    """At worst the optimal token stands alone among all others, each behind by the least lead."""
    others = run.each(lambda d: d.data.longest_input - 1)
    size = 1 + np.abs(run.smallest_margin)
    return lm.at_least(run.smallest_log_odds, run.smallest_margin - np.log(others), size=size)


@lm.claim(
    "attention starts at one over the longest input",
    setting="convergence",
    hypotheses=["realizable", "zero_start"],
    on=SHORT,
)
def true_even(run):
    """At W_kq = 0 all positions of an input weigh the same."""
    longest = run.each(lambda d: d.data.longest_input)
    return lm.equal(run.smallest_weight[:, :1], 1 / longest)


@lm.claim(
    "there are as many inputs as tokens",
    setting="convergence",
    hypotheses=["single_valued"],
    on="instances",
)
def true_inputs(data):
    """Each token alone is an input."""
    return lm.at_least(data.each(lambda d: d.N), data.each(lambda d: d.K))


@lm.claim(
    "W_kq*^2 adds up stars",
    setting="convergence",
    hypotheses=["realizable", "prefix_closed", "orthonormal"],
    on="instances",
)
def true_stars(data):
    """One optimal token above m others: m/(m + 1)."""
    return lm.equal(data.each(lambda d: d.norm_kq**2), data.each(stars), size=1.0)


@lm.claim("W_kq grows 3/4 as fast as the path", setting="convergence", hypotheses=PAPER, on=SHORT)
def false_speed(run):
    """Columns take turns with long steps, and the path is not straight."""
    return lm.at_least(run.norm, 0.75 * run.steps * run.rate)


@lm.claim("the loss never rises", setting="convergence", hypotheses=REALIZABLE, on=SHORT)
def false_descent(run):
    """Normalized descent swings where attention prefers wrong tokens at the start."""
    return lm.at_most(run.log_loss[:, 1:], run.log_loss[:, :-1], rounding=1e-12)


@lm.claim("W_kq starts towards W_kq*", setting="convergence", hypotheses=PAPER, on=SHORT)
def false_direction(run):
    """Skewed frequencies decide the first direction."""
    return lm.at_least(run.correlation[:, 1:], 0.8)


@lm.claim(
    "optimal weights keep above their start without Assumption 3",
    setting="convergence",
    hypotheses=["realizable", "choice", "orthonormal", "zero_start"],
    on=SHORT,
)
def false_weight(run):
    """One frequent input in which the optimal token is outnumbered spoils a rare one."""
    return lm.at_least(run.smallest_weight[:, 1:], run.smallest_weight[:, :1], rounding=1e-10)


@lm.claim("W_kq never shrinks", setting="convergence", hypotheses=REALIZABLE, on=SHORT)
def false_growth(run):
    """It does from another start."""
    return lm.at_least(run.norm[:, 1:], run.norm[:, :-1])


@lm.claim(
    "the cosine is 0.99 in the end",
    setting="convergence",
    hypotheses=PAPER,
    on=lm.experiment("convergence", steps=100),
)
def false_end(run):
    """Not after 100 short steps."""
    return lm.at_least(run.correlation[:, -1:], 0.99)


@lm.claim(
    "the log-odds of the optimal token grow like t eta / ||W_kq*||",
    setting="convergence",
    hypotheses=PAPER,
    on=SHORT,
)
def false_odds(run):
    """They start at -log(L_max - 2), and a rare input waits."""
    return lm.at_least(
        run.smallest_log_odds, run.steps * run.rate / run.each(lambda d: 2 * d.norm_kq) - 1
    )


@lm.claim(
    "each query has one optimal token, prefix-closed or not",
    setting="convergence",
    hypotheses=["realizable"],
    on="instances",
)
def false_one_optimal(data):
    """Two inputs with one query and different winners, neither of which contains the other's."""
    most = data.each(lambda d: max(len(d.orders.having(q, Role.OPTIMAL)) for q in range(d.K)))
    return lm.at_most(most, 1)


@lm.claim(
    "W_kq*^2 is at most |V| / 2",
    setting="convergence",
    hypotheses=["realizable", "prefix_closed"],
    on="instances",
)
def false_short(data):
    """Close embeddings need a long W_kq*; so do stars with many tokens below."""
    return lm.at_most(data.each(lambda d: d.norm_kq**2), data.each(lambda d: d.K / 2))


@lm.claim(
    "n is injective if every input has its preimage",
    setting="convergence",
    hypotheses=["single_valued", "orders", "preimage"],
    on="instances",
)
def false_injective(data):
    """Two tokens may share what follows them."""
    values = data.each(lambda d: len(set(d.collocation.following.values())))
    return lm.equal(values, data.each(lambda d: d.K))


@lm.claim(
    "the optimal token of a query is the query",
    setting="convergence",
    hypotheses=["realizable", "prefix_closed", "choice"],
    on="instances",
)
def false_own_optimal(data):
    """An earlier token can win."""

    def others(d):
        return sum(any(x != q for x in d.orders.having(q, Role.OPTIMAL)) for q in d.orders.graphs)

    return lm.equal(data.each(others), 0, size=1.0)


@lm.claim(
    "plain descent with a step of 1 never raises the loss",
    setting="convergence",
    hypotheses=REALIZABLE,
    on=lm.experiment("convergence", algorithm="gd", rate=1.0, steps=60),
)
def false_unit_step(run):
    """Long embeddings, or long stages, have a large curvature."""
    return lm.at_most(run.log_loss[:, 1:], run.log_loss[:, :-1], rounding=1e-12)


@lm.claim(
    "W_ov goes straight to W_ov* in joint training, too",
    setting="convergence",
    hypotheses=[*PAPER],
    on=JOINTLY,
)
def false_joint_direction(run):
    """Inputs of two tokens pull it aside."""
    return lm.at_most(run.value_one_minus_correlation[:, 1:], 1e-3)


@lm.claim(
    "the gradient never grows",
    setting="convergence",
    hypotheses=PAPER,
    on=lm.experiment("convergence", steps=200, stage1_steps=1, stage1_rate=0.01),
)
def false_gradient(run):
    """It does as attention leaves an even start among three tokens, if W_ov says little."""
    return lm.at_most(run.log_gradient_norm[:, 1:], run.log_gradient_norm[:, :-1])


@lm.claim("the path is straight", setting="convergence", hypotheses=PAPER, on=SHORT)
def false_straight(run):
    """Not if two queries share it unevenly."""
    return lm.equal(run.norm, run.steps * run.rate)


@lm.claim("every optimal token soon has half", setting="convergence", hypotheses=PAPER, on=SHORT)
def false_half(run):
    """A rare input waits."""
    return lm.at_least(run.smallest_weight[:, -1:], 0.5)


@lm.claim("a lead is no longer than W_kq", setting="convergence", hypotheses=PAPER, on=SHORT)
def false_lead(run):
    """It is up to sqrt 2 times as long."""
    return lm.at_most(run.smallest_margin, run.norm)


@lm.claim(
    "the loss halves every hundred steps",
    setting="convergence",
    hypotheses=PAPER,
    on=lm.experiment("convergence", steps=300, record=(0, 100, 200, 300)),
)
def false_halving(run):
    """Where W_ov is reached there is nothing left to win."""
    return lm.at_most(np.diff(run.log_loss, axis=1), -np.log(2))


@lm.claim(
    "there are no more inputs than tokens and edges",
    setting="convergence",
    hypotheses=["realizable", "prefix_closed", "choice"],
    on="instances",
)
def false_inputs(data):
    """Repeated tokens make inputs without edges."""
    edges = data.each(lambda d: sum(len(g.edges) for g in d.orders.graphs.values()))
    return lm.at_most(data.each(lambda d: d.N), data.each(lambda d: d.K) + edges)


@lm.claim(
    "W_kq*^2 adds up stars, prefix-closed or not",
    setting="convergence",
    hypotheses=["realizable", "orthonormal", "choice"],
    on="instances",
)
def false_stars(data):
    """Several optimal tokens are no star."""
    return lm.equal(data.each(lambda d: d.norm_kq**2), data.each(stars), size=1.0)


@lm.claim(
    "the smallest weight is at least that of one position in the longest input",
    setting="convergence",
    hypotheses=[*REALIZABLE, "prefix_closed", "orthonormal"],
    on=SHORT,
)
def false_position(run):
    """W_kq(0) may prefer other tokens."""
    return lm.at_least(run.smallest_weight, 1 / run.each(lambda dataset: dataset.L_max))


@lm.claim(
    "||W_kq*|| <= ||W_ov*|| wherever orders and collocation are well defined",
    setting="convergence",
    hypotheses=["collocation", "orders", "preimage", "orthonormal"],
    on="instances",
)
def false_halves(data):
    """K = 4, under each query each of two tokens beats the two others: 1 a query, 4 > 3."""
    return lm.at_most(data.each(lambda d: d.norm_kq), data.each(lambda d: d.norm_ov))


@lm.claim("stage 2 starts no worse than guessing", setting="convergence",
          hypotheses=["realizable", "zero_start"])  # fmt: skip
def false_start(run):
    """Not where the label's token is outnumbered and the gap of stage 1 is large."""
    return lm.at_most(run.log_loss[:, 0], np.log(np.log(run.each(lambda d: d.K)))[:, 0])


def busy(d):
    return sum(bool(graph.edges) for graph in d.orders.graphs.values())


@lm.claim(
    "attention needs no more than values",
    setting="convergence",
    hypotheses=["realizable", "prefix_closed", "orthonormal"],
    on="instances",
)
def true_shorter(data):
    """K stars of at most (K-1)/K each, against K - 1."""
    return lm.at_most(data.each(lambda d: d.norm_kq), data.each(lambda d: d.norm_ov))


@lm.claim(
    "no direction has a larger margin than W_kq*",
    setting="convergence",
    hypotheses=["realizable", "prefix_closed", "orthonormal", "choice"],
    on=SHORT,
)
def true_max_margin(run):
    """It is the max-margin direction."""
    return lm.at_most(
        run.smallest_margin, run.norm / run.each(lambda d: d.norm_kq), size=1 + run.norm
    )


@lm.claim(
    "W_kq never shrinks, and each step adds at least the square of its length",
    setting="convergence",
    hypotheses=PAPER,
    on=lm.experiment("convergence", steps=100, stage1_steps=100),
)
def true_grows(run):
    """From zero all steps have one pattern of signs, so no step points back."""
    return [
        lm.at_least(run.norm[:, 1:], run.norm[:, :-1]),
        lm.at_least(run.norm, run.rate * np.sqrt(run.steps)),
    ]


@lm.claim(
    "optimal tokens never fall back, whatever the embeddings",
    setting="convergence",
    hypotheses=[
        "realizable",
        "prefix_closed",
        "not_outnumbered",
        "choice",
        "values_from_zero",
        "zero_start",
    ],
    on=SHORT,
)
def false_any_embeddings(run):
    """Under close embeddings one query's step moves another's logits."""
    return lm.at_least(run.smallest_weight[:, 1:], run.smallest_weight[:, :1], rounding=1e-10)


@lm.claim(
    "a query has fewer edges than there are tokens",
    setting="convergence",
    hypotheses=["realizable", "choice"],
    on="instances",
)
def false_fewer_edges(data):
    """Without prefixes two optimal tokens may beat two others."""
    most = data.each(lambda d: max(len(graph.edges) for graph in d.orders.graphs.values()))
    return lm.at_most(most, data.each(lambda d: d.K - 1))


@lm.claim(
    "a query costs at most 2/3",
    setting="convergence",
    hypotheses=["realizable", "prefix_closed", "orthonormal"],
    on="instances",
)
def false_two_thirds(data):
    """Three tokens below an optimal one cost 3/4."""
    return lm.at_most(data.each(lambda d: d.norm_kq**2), data.each(lambda d: busy(d) * 2 / 3))

"""Lemmas for the adversary: some are true, some are not."""

import lemmata as lm

SHORT = lm.experiment("mechanics", steps=60)


@lm.claim("W never leaves the ball of the path", setting="mechanics", on=SHORT)
def true_path(run):
    """Each step has length eta; W(0) moves the centre of the ball."""
    return lm.at_most(run.norm - run.norm[:, :1], run.steps * run.rate, size=run.norm)


@lm.claim("the loss never rises", setting="mechanics", hypotheses=["realizable"], on=SHORT)
def false_descent(run):
    return lm.at_most(run.log_loss[:, 1:], run.log_loss[:, :-1])


@lm.claim("W^mm^2 is at most the number of strict pairs", setting="mechanics", on="instances")
def false_pairs(data):
    return lm.at_most(data.each(lambda d: d.norm**2), data.each(lambda d: len(d.strict_pairs)))


@lm.claim("a tie has an edge", setting="mechanics", on="instances")
def true_ties(data):
    return lm.at_most(
        data.each(lambda d: len(d.tied_pairs)), data.each(lambda d: len(d.pairs)), part="ties"
    )

"""Sections 5 and 6: what the paper reports about its experiments, and local convergence."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lemmata.old_claims import Judgement, Status, fact
from lemmata.papers.mechanics.claims._terms import (
    ACYCLIC,
    ASSUMPTION_2,
    ASSUMPTION_4,
    GLOBAL,
    NONZERO,
    claim,
)
from lemmata.papers.mechanics.evidence import Local, Trained
from lemmata.papers.mechanics.experiments import (
    ACYCLIC_RUN,
    CROSS_ENTROPY_RUN,
    CYCLIC_RUN,
    LITERAL_SQUARED_RUN,
    SQUARED_RUN,
)

if TYPE_CHECKING:
    from lemmata.papers.mechanics.setting import TrainingRun

CONFIDENCE = 3.0
"""Standard errors within which a mean is not told apart from a reported number."""


def mean_above(part: str, values: np.ndarray, bound: float) -> Judgement:
    """Judge that the mean over the trials exceeds a number, with its standard error."""
    mean = float(np.mean(values))
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.inf
    table = {
        "mean": mean,
        "standard error": error,
        "median": float(np.median(values)),
        "smallest": float(values.min()),
        "largest": float(values.max()),
        "trials": len(values),
    }
    reason = f"{part}: mean {mean:.4f} ± {error:.4f} over {len(values)} trials, against {bound:g}"
    if mean - CONFIDENCE * error > bound:
        return Judgement(part, Status.HOLDS, reason, mean - bound, witness=table)
    if mean + CONFIDENCE * error < bound:
        return Judgement(part, Status.FAILS, reason, mean - bound, witness=table)
    return Judgement(part, Status.UNDECIDED, reason, mean - bound, witness=table)


def _last(run: "TrainingRun", name: str) -> np.ndarray:
    return run[name][:, -1]


def _correlation(run: "TrainingRun") -> np.ndarray:
    return 1 - _last(run, "one_minus_correlation")


@claim(
    "figure-3",
    "Section 5, Figure 3",
    "On acyclic data the mean correlation with W^mm exceeds 0.99 after 4,000 normalized steps.",
    assumes=(ASSUMPTION_2, ACYCLIC, NONZERO),
    on=ACYCLIC_RUN,
    sharpened="it exceeds 0.999",
)
def figure_3(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """All trials counted."""
    return [mean_above("correlation", _correlation(evidence.run), 0.999 if sharpened else 0.99)]


@claim(
    "figure-4",
    "Section 5, Figure 4",
    "On cyclic data the mean correlation is about 0.987, and the mean distance to W^cyc below "
    "0.01.",
    assumes=GLOBAL,
    on=CYCLIC_RUN,
    sharpened="the correlation exceeds 0.999",
)
def figure_4(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """0.987 ± 0.001; the distance is to the exact W^cyc."""
    values = _correlation(evidence.run)
    mean = float(values.mean())
    near = mean > 0.999 if sharpened else abs(mean - 0.987) <= 1e-3
    reason = f"mean correlation {mean:.4f}, smallest {values.min():.4f}"
    return [
        fact("correlation", near, reason, {"mean": mean, "smallest": float(values.min())}),
        mean_above("−distance", -_last(evidence.run, "cyclic_distance"), -0.01),
    ]


@claim(
    "figure-5",
    "Section 6, Figure 5",
    "With the squared loss and C = E the mean correlation with the local W̃^mm exceeds 0.99, and "
    "the distance to the local W̃^cyc is 0: one token is selected per sequence.",
    assumes=(),
    on=SQUARED_RUN,
    sharpened="the correlation exceeds 0.999",
)
def figure_5(evidence: Local, sharpened: bool) -> Sequence[Judgement]:
    """With the loss of the authors' program, (1 − softmax(C X's)_y)²."""
    distance = _last(evidence.authors, "cyclic_distance")
    single = [len(s) == 1 for p in evidence.pseudo[0] for s in p.selected]
    share = f"{sum(single)} of {len(single)} samples select one token"
    return [
        mean_above(
            "local correlation", _correlation(evidence.authors), 0.999 if sharpened else 0.99
        ),
        fact(
            "local distance 0",
            bool((distance == 0).all()),
            f"largest {distance.max():.3g}; {share}",
        ),
    ]


@claim(
    "figure-5/literal",
    "Section 6, Figure 5 with l(u) = (1 − u)² as the text has it",
    "The same with the squared loss of the score itself.",
    assumes=(),
    on=LITERAL_SQUARED_RUN,
    sharpened="the correlation exceeds 0.999",
)
def figure_5_literal(evidence: Local, sharpened: bool) -> Sequence[Judgement]:
    """The authors' program squares a softmax of the scores; this is the loss they name."""
    values = _correlation(evidence.authors)
    return [mean_above("local correlation", values, 0.999 if sharpened else 0.99)]


@claim(
    "figure-6",
    "Section 6, Figure 6",
    "With cross-entropy and C = E the mean correlation with the local W̃^mm exceeds 0.99, and the "
    "weights are nearer to the local W̃^cyc than to W^cyc.",
    assumes=(),
    on=CROSS_ENTROPY_RUN,
    sharpened="the correlation exceeds 0.999",
)
def figure_6(evidence: Local, sharpened: bool) -> Sequence[Judgement]:
    """All trials counted; a few outliers dominate the mean distances."""
    nearer = _last(evidence.run, "cyclic_distance") - _last(evidence.authors, "cyclic_distance")
    return [
        mean_above(
            "local correlation", _correlation(evidence.authors), 0.999 if sharpened else 0.99
        ),
        mean_above("global minus local distance", nearer, 0.0),
    ]


@claim(
    "section-6/global",
    "Section 6",
    "With a general head the weights align more closely with the local W̃^mm than with W^mm.",
    assumes=(),
    on=CROSS_ENTROPY_RUN,
    sharpened="by more than 0.9",
)
def section_6_global(evidence: Local, sharpened: bool) -> Sequence[Judgement]:
    """The mean difference of the correlations."""
    values = _correlation(evidence.authors) - _correlation(evidence.run)
    return [mean_above("local minus global correlation", values, 0.9 if sharpened else 0.0)]


@claim(
    "section-6/pseudo-graph",
    "Section 6, item 2",
    "The pseudo graph, with an edge from x_t1 to every other token if s_t1 > 0, tells which tokens "
    "are selected.",
    assumes=(),
    on=CROSS_ENTROPY_RUN,
    sharpened="it has no edges",
)
def pseudo_graph(evidence: Local, sharpened: bool) -> Sequence[Judgement]:
    """Attention is never 0 at finite weights, so every token would be selected."""
    from lemmata.papers.mechanics.setting._pseudo import token_masses

    smallest, where = np.inf, ""
    for i, dataset in enumerate(evidence.run.datasets):
        W = evidence.run.weights(i)
        for sample in dataset.data.samples:
            for token, mass in token_masses(dataset, sample, W).items():
                if mass < smallest:
                    smallest, where = mass, f"{dataset.data.show(sample)}, token {token}"
    reason = (
        f"the smallest attention of all is {smallest:.3g} > 0, so all tokens are selected and all "
        "graphs are complete"
    )
    found: dict[str, Any] = {"attention": float(smallest), "where": where}
    return [fact("s_t > 0", bool(smallest <= 0) and not sharpened, reason, found)]


@claim(
    "own/local-limit",
    "ours; docs/mechanics.md",
    "With the reduced data made of the selected tokens, the tied part of the weights is within the "
    "orbit of normalized descent, η/2, of the nearest stationary point.",
    assumes=(ASSUMPTION_4,),
    on=CROSS_ENTROPY_RUN,
    sharpened="within η/20",
)
def local_limit(evidence: Local, sharpened: bool) -> Sequence[Judgement]:
    """On the runs whose pseudo graph has ties; the others have distance 0."""
    eta = evidence.run.rate
    distance = _last(evidence.selected, "cyclic_distance")
    tied = np.array([len(pseudo.tied) > 0 for pseudo in evidence.pseudo[1]])
    if not tied.any():
        return [Judgement("distance", Status.UNDECIDED, "no run has ties")]
    ratio = distance[tied] / (eta[tied] / 2)
    limit = 0.1 if sharpened else 1.3
    reason = (
        f"{int(tied.sum())} runs with ties: distance / (η/2) has mean {ratio.mean():.3f}, largest "
        f"{ratio.max():.3f}"
    )
    return [fact("distance", bool(ratio.max() <= limit), reason, {"largest": float(ratio.max())})]

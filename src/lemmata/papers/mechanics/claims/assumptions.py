"""Abstract and Sections 3.3 and 4.1: what losses, heads and trained weights are supposed to be."""

import numpy as np
from scipy.optimize import nnls
from scipy.special import log_softmax

from lemmata.claims import Bench, Comparisons, Version, at_least, at_most, equal, statements
from lemmata.margin import pair_rows
from lemmata.settings import Evidence

from ..counterexamples import crowd
from ..experiments import EPS, SAMPLE, STRUCTURES, UNREALIZABLE, random_points
from ..setting import FEASIBLE, INDEPENDENT, REALIZABLE, SCORE_DERIVATIVES, Dataset
from ._shared import Numbers, at_points, optimum_error, reaches

claim = statements("mechanics", on=STRUCTURES)

OWN_LOSSES = ("log", "squared")
"""Of Theorem 3 and of Figure 5; the third, cross-entropy, is no function of the label's score."""

SCORES = np.array([-1e3, -10.0, -1.0, -1e-3, 1e-6, 1e-3, 0.5, 1.0, 2.0, 10.0, 1e3])
STEEPEST = 10.0
"""A slope beyond this, at one of these scores, counts as unbounded."""

UNIT = 1e-9
"""Rows whose length is this close to 1 are unit vectors."""


@claim(
    "abstract/automaton",
    "Abstract",
    "On any input attention selects the component that reaches all others of it: W^mm gives x a "
    "margin of at least 1 over every token that x reaches and that does not reach x.",
    hypotheses=(FEASIBLE,),
)
@at_points(at_least, "size", "rounding", part="margins")
def automaton(dataset: Dataset) -> Numbers:
    """Along all ways of the graphs, not only their edges, so for inputs never seen; tokens that no
    way joins are ranked all the same, as the margins of others happen to fall.
    """
    for query, graph in dataset.graphs.items():
        reach, nodes = reaches(graph), graph.nodes
        pairs = [
            (query, (a, b))
            for i, a in enumerate(nodes)
            for j, b in enumerate(nodes)
            if reach[i, j] and not reach[j, i]
        ]
        rows, W = pair_rows(pairs, dataset.E), dataset.target.ravel()
        for row in rows:
            yield row @ W, 1.0, float(np.abs(row) @ np.abs(W)), optimum_error(dataset)


@claim(
    "assumption-1",
    "Section 3.3, Assumption 1",
    "The losses of the paper's theorems and figures, −log u and (1 − u)², decrease strictly with a "
    "bounded slope.",
    kind="hypothesis",
    unbreakable="it speaks of losses, not of data",
    losses=OWN_LOSSES,
    versions=[
        Version(
            "repaired",
            where="ours: losses that do",
            statement="−u and arctan(u − 1) − (u − 1) do.",
            parameters={"losses": ("linear", "flat")},
        )
    ],
)
def assumption_1(evidence: Evidence[Dataset], losses: tuple[str, ...]) -> Comparisons:
    """−l'(u) at scores of all sizes, positive ones for the logarithm."""
    parts = []
    for loss in losses:
        scores = SCORES[SCORES > 0] if loss == "log" else SCORES
        slopes = np.array([[-SCORE_DERIVATIVES[loss](float(u))[0] for u in scores]])
        parts += [
            at_least(slopes, 0.0, places=scores, part=f"−l', {loss}", cases=[loss]),
            at_most(abs(slopes), STEEPEST, places=scores, part=f"|l'|, {loss}", cases=[loss]),
        ]
    return parts


def _unit_rows(evidence: Evidence[Dataset]) -> Evidence[Dataset]:
    return evidence.where(lambda d: bool(np.all(abs(np.sum(d.E**2, axis=1) - 1) < UNIT)))


@claim(
    "assumption-3",
    "Section 4.1, Assumption 3",
    "With C = E of distinct unit rows every row of C scores its own token highest.",
)
@at_points(at_least, size=1.0, part="c_y^T e_y − c_y^T e_k, and ‖e_y − e_k‖²/2", only=_unit_rows)
def assumption_3(dataset: Dataset) -> Numbers:
    """The gap is half of the squared distance; rows of unequal length may fail."""
    table = dataset.E @ dataset.E.T
    for y in range(dataset.K):
        for k in set(range(dataset.K)) - {y}:
            yield table[y, y] - table[y, k], float(np.sum((dataset.E[y] - dataset.E[k]) ** 2)) / 2


def _crowd(bench: Bench) -> Comparisons:
    """Token 0 has five neighbours on one side; the token on the other side has only token 0."""
    return least_at_the_label(Evidence((crowd(),)), loss="cross-entropy")


@claim(
    "footnote-2",
    "Section 3, footnote 2",
    "ℓ(y, e_k) is least at k = y, for losses of the label's score with C = E of unit rows.",
    loss="score",
)
@claim(
    "footnote-2/cross-entropy",
    "Section 3, footnote 2, for Figure 6",
    "The same for cross-entropy with C = E of unit rows.",
    kind="hypothesis",
    counterexample=_crowd,
    loss="cross-entropy",
)
@at_points(at_least, size=1.0, part="ℓ(y, e_k), and ℓ(y, e_y)", only=_unit_rows)
def least_at_the_label(dataset: Dataset, loss: str) -> Numbers:
    """−u stands for every decreasing loss; cross-entropy also looks at the scores of the others."""
    table = dataset.E @ dataset.E.T
    losses = -table if loss == "score" else -log_softmax(table, axis=0)
    for y in range(dataset.K):
        for k in set(range(dataset.K)) - {y}:
            yield losses[y, k], losses[y, y]


@claim(
    "section-3.3/convex-hull",
    "Section 3.3, before Assumption 2",
    "With linearly independent embeddings the output is e_y only if y occurs in the input.",
    hypotheses=(INDEPENDENT,),
    on=UNREALIZABLE,
)
@at_points(at_least, "size", strict=True, part="distance of e_y to the convex hull of the input")
def convex_hull(dataset: Dataset) -> Numbers:
    """By non-negative least squares with a row that asks for a sum of 1."""
    scale = float(np.abs(dataset.E).max())
    for sample in dataset.data.samples:
        tokens = sorted(set(sample.tokens))
        columns = np.vstack([dataset.E[tokens].T, np.full(len(tokens), scale)])
        for y in set(range(dataset.K)) - set(tokens):
            _, apart = nnls(columns, np.append(dataset.E[y], scale))
            yield apart, 0.0, scale


@claim(
    "section-4.1/accuracy",
    "Section 4.1, after Lemma 1",
    "A correct prediction of k is possible only by outputting e_k.",
    hypotheses=(REALIZABLE, INDEPENDENT),
    on=SAMPLE,
    kind="substance",
)
@at_points(equal, "size", part="‖f_W(X) − e_y‖ where y scores highest")
def accuracy(dataset: Dataset) -> Numbers:
    """Under C E^T = I scores are attention: the label needs more than the others, not all."""
    risk, rounding = dataset.risk, 64 * EPS
    cells = [token for token, _ in dataset.cells]
    tokens = np.array([cells[cell] for cell in risk.cell])
    for at in random_points(dataset)[:4]:
        masses = at.masses
        outputs = np.add.reduceat(masses[:, None] * dataset.E[tokens], risk.start)
        labels = tokens[risk.label]
        best = np.maximum.reduceat(np.where(risk.label, 0.0, masses), risk.start)
        right = masses[risk.label] > best * (1 + rounding)
        for output, label in zip(outputs[right], labels[right], strict=True):
            goal = dataset.E[label]
            yield float(np.linalg.norm(output - goal)), 0.0, float(np.linalg.norm(goal))

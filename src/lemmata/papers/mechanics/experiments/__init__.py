"""The experiments behind the claims and figures."""

from typing import Any

from lemmata.claims import Experiment, Several
from lemmata.settings import Evidence

from ..counterexamples import idle_edge, unrealizable
from ..setting import ACYCLIC, CYCLIC, LOCAL, Dataset, Objective, Recipe, Training
from ._frozen import Frozen as Frozen
from ._frozen import frozen_row as frozen_row
from ._instances import EXAMPLES as EXAMPLES
from ._instances import Examples as Examples
from ._instances import Random as Random
from ._instances import Repeated as Repeated
from ._instances import Unreachable as Unreachable
from ._instances import mixture as mixture
from ._measures import FROZEN as FROZEN
from ._measures import TIMES as TIMES
from ._measures import Followed as Followed
from ._measures import (
    follow_any_loss,
    follow_flows,
    follow_paths,
    follow_restricted,
    follow_spheres,
    look,
    train_every_step,
    train_factors,
    train_locally,
    train_reduced,
)
from ._measures import train as train
from ._points import EPS as EPS
from ._points import EVEN as EVEN
from ._points import At as At
from ._points import generator_for as generator_for
from ._points import project as project
from ._points import pull_back as pull_back
from ._points import random_points as random_points
from ._points import random_weights as random_weights
from ._points import softmax_of as softmax_of
from ._points import tied_weights as tied_weights
from ._proofs import compare_directions, freeze, iterate
from ._restricted import linear_head as linear_head
from ._restricted import log_linear_excess as log_linear_excess
from ._restricted import log_odds_outside as log_odds_outside
from ._restricted import log_tied_risk as log_tied_risk
from ._restricted import other_direction as other_direction
from ._restricted import restricted_path as restricted_path
from ._restricted import worst_margin as worst_margin

Looked = Experiment[Evidence[Dataset]]
Tracked = Experiment[Evidence[Followed]]

TRIALS = 100
"""Random datasets of each figure, at any scale."""

FIGURE_STEPS = (*range(0, 100, 5), *range(100, 4_001, 20))
LOCAL_STEPS = tuple(step for step in FIGURE_STEPS if step <= 2_000)

AUTHORS_EPSILON = 2.220446049250313e-16
"""What the authors' program adds to the norm of the gradient."""

FIGURE_TRAINING = Training(record=FIGURE_STEPS)
"""Of Figures 3 and 4."""


def local_training(loss: str) -> Training:
    """Of Figures 5 and 6: C = E, and the epsilon of the authors' program."""
    return Training(
        rate=0.1,
        steps=LOCAL_STEPS[-1],
        record=LOCAL_STEPS,
        loss=loss,  # pyright: ignore[reportArgumentType]
        head="embedding",
        epsilon=AUTHORS_EPSILON,
    )


ACYCLIC_RUN: Looked = Experiment(Random(ACYCLIC, TRIALS), train, FIGURE_TRAINING, own=True)
"""Figure 3."""

CYCLIC_RUN: Looked = Experiment(Random(CYCLIC, TRIALS), train, FIGURE_TRAINING, own=True)
"""Figure 4."""

SQUARED_RUN: Tracked = Experiment(
    Random(LOCAL, TRIALS), train_locally, local_training("softmax-squared"), own=True
)
"""Figure 5, with the loss of the authors' program."""

LITERAL_SQUARED_RUN: Tracked = Experiment(
    Random(LOCAL, TRIALS), train_locally, local_training("squared"), own=True
)
"""Figure 5, with (1 - u)^2 as the text has it."""

CROSS_ENTROPY_RUN: Tracked = Experiment(
    Random(LOCAL, TRIALS), train_locally, local_training("cross-entropy"), own=True
)
"""Figure 6."""

SAMPLES = Several((EXAMPLES, Repeated(4), Random(ACYCLIC, 6), Random(CYCLIC, 8, "unbalanced")))

STRUCTURES: Looked = Experiment(
    Several((EXAMPLES, Repeated(10), Random(ACYCLIC, TRIALS), Random(CYCLIC, TRIALS))), look
)
SAMPLE: Looked = Experiment(SAMPLES, look)
UNREALIZABLE: Looked = Experiment(Several((SAMPLES, Examples((unrealizable,)))), look)
INDEPENDENT_OR_NOT: Looked = Experiment(
    Several((SAMPLES, Random(Recipe(8, 4, 10, 6, "any"), 6))), look
)
"""With eight embeddings in four dimensions, too."""

DIRECTIONS: Looked = Experiment(SAMPLES, compare_directions)
FROZEN_PARTS: Looked = Experiment(SAMPLES, freeze)
PATHS: Tracked = Experiment(mixture(10, 6), follow_paths)
FLOWS: Tracked = Experiment(mixture(3, 2), follow_flows)
SPHERES: Looked = Experiment(Random(ACYCLIC, 3), follow_spheres)
ANY_HEAD: Looked = Experiment(
    Random(ACYCLIC, 3), follow_spheres, Objective("linear", "embedding"), free=("loss", "head")
)
ANY_LOSS: Experiment[Evidence[Any]] = Experiment(
    mixture(10, 6), follow_any_loss, Objective(), free=("loss",)
)
ANY_FROZEN: Looked = Experiment(mixture(6, 3), follow_restricted, Objective(), free=("loss",))
"""Where a statement is for any loss, or any head."""

DESCENT: Looked = Experiment(
    mixture(8, 4), train_every_step, Training(algorithm="gd", rate="paper", steps=400)
)
STEPS: Looked = Experiment(
    mixture(4, 2), iterate, Training(algorithm="gd", rate="paper", steps=200)
)
LATE_STEPS: Looked = Experiment(
    mixture(4, 2), iterate, Training(algorithm="gd", rate="tight", steps=4_000)
)
"""Long enough for W to be large outside S_cyc."""

LONG_DESCENT: Looked = Experiment(
    mixture(6, 4),
    train,
    Training(algorithm="gd", rate="tight", steps=100_000),
    paper_training=Training(algorithm="gd", rate="tight", steps=1_000_000),
)
ANY_STEP: Looked = Experiment(
    mixture(6, 4), train, Training(algorithm="gd", rate="tight", steps=20_000), free=("rate",)
)
"""Where a statement is for any constant step size."""

LONG_NORMALIZED: Looked = Experiment(Random(ACYCLIC, 10), train, Training(rate=1.0, steps=20_000))
ORBIT: Looked = Experiment(
    Random(CYCLIC, 12, "unbalanced"),
    train,
    Training(rate=0.01, steps=80_000),
    paper_training=Training(rate=0.01, steps=400_000),
)
BLOCK: Looked = Experiment(
    mixture(12, 8), train, Training(algorithm="block", rate=1.0, steps=20_000)
)
FACTORED: Looked = Experiment(
    Random(ACYCLIC, 24), train_factors, Training(algorithm="factored", rate=0.01, steps=20_000)
)
INFEASIBLE: Looked = Experiment(
    Random(Recipe(8, 4, 10, 6, "any"), 12, "infeasible"),
    train,
    Training(algorithm="block", rate=0.2, steps=20_000),
)

IDLE: Tracked = Experiment(Examples((idle_edge,)), follow_paths, own=True)
"""A tight constraint whose multiplier is 0."""

SUBDATA: Looked = Experiment(Random(CYCLIC, 12, "unbalanced"), train_reduced, Training(), own=True)
"""W^cyc as the authors find it."""

UNREACHABLE: Tracked = Experiment(
    Unreachable(12),
    train_locally,
    Training(rate=0.1, steps=32_000, loss="linear", head="embedding"),
    own=True,
)
"""One sample whose label is not in its sequence, under C = E; two scores that are nearly equal take
long to be told apart."""

SQUARED_IDENTITY: Tracked = Experiment(
    Random(CYCLIC, 24, "unbalanced"),
    train_locally,
    Training(rate=0.05, steps=4_000, loss="squared"),
    own=True,
)
"""The squared loss under C E^T = I."""

LINEAR_IDENTITY: Looked = Experiment(
    Random(CYCLIC, 12, "unbalanced"), train, Training(rate=0.1, steps=4_000, loss="linear")
)
"""l(u) = -u under C E^T = I."""

"""What is trained: data, model, losses and algorithms; and how users are served."""

from lemmata.papers.mechanics.setting._analysis import MechanicsAnalysis as MechanicsAnalysis
from lemmata.papers.mechanics.setting._ball import BallPath as BallPath
from lemmata.papers.mechanics.setting._ball import ball_paths as ball_paths
from lemmata.papers.mechanics.setting._batch import Limit as Limit
from lemmata.papers.mechanics.setting._correction import Correction as Correction
from lemmata.papers.mechanics.setting._dataset import Dataset as Dataset
from lemmata.papers.mechanics.setting._generators import ACYCLIC as ACYCLIC
from lemmata.papers.mechanics.setting._generators import CYCLIC as CYCLIC
from lemmata.papers.mechanics.setting._generators import LOCAL as LOCAL
from lemmata.papers.mechanics.setting._generators import Recipe as Recipe
from lemmata.papers.mechanics.setting._generators import generate as generate
from lemmata.papers.mechanics.setting._heads import LOSSES as LOSSES
from lemmata.papers.mechanics.setting._hypotheses import ACYCLIC_DATA as ACYCLIC_DATA
from lemmata.papers.mechanics.setting._hypotheses import FEASIBLE as FEASIBLE
from lemmata.papers.mechanics.setting._hypotheses import HYPOTHESES as HYPOTHESES
from lemmata.papers.mechanics.setting._hypotheses import INDEPENDENT as INDEPENDENT
from lemmata.papers.mechanics.setting._hypotheses import NONZERO as NONZERO
from lemmata.papers.mechanics.setting._hypotheses import REALIZABLE as REALIZABLE
from lemmata.papers.mechanics.setting._paths import Curve as Curve
from lemmata.papers.mechanics.setting._paths import flow as flow
from lemmata.papers.mechanics.setting._paths import path as path
from lemmata.papers.mechanics.setting._pseudo import Pseudo as Pseudo
from lemmata.papers.mechanics.setting._pseudo import pseudo_limits as pseudo_limits
from lemmata.papers.mechanics.setting._pseudo import token_masses as token_masses
from lemmata.papers.mechanics.setting._regularization import PathPoint as PathPoint
from lemmata.papers.mechanics.setting._regularization import (
    regularization_path as regularization_path,
)
from lemmata.papers.mechanics.setting._risk import Risk as Risk
from lemmata.papers.mechanics.setting._setting import SETTING as SETTING
from lemmata.papers.mechanics.setting._setting import MechanicsSetting as MechanicsSetting
from lemmata.papers.mechanics.setting._training import Training as Training
from lemmata.papers.mechanics.setting._training import TrainingRun as TrainingRun

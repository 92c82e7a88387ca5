"""What is trained: data, model, losses and algorithms."""

from functools import partial as _partial

from lemmata.papers.mechanics.setting._analysis import PREFIXES as PREFIXES
from lemmata.papers.mechanics.setting._analysis import analyze as analyze
from lemmata.papers.mechanics.setting._ball import BallPath as BallPath
from lemmata.papers.mechanics.setting._ball import ball_paths as ball_paths
from lemmata.papers.mechanics.setting._dataset import Correction as Correction
from lemmata.papers.mechanics.setting._dataset import Dataset as Dataset
from lemmata.papers.mechanics.setting._desk import TrainingRequest as TrainingRequest
from lemmata.papers.mechanics.setting._desk import train as train
from lemmata.papers.mechanics.setting._generators import ACYCLIC as ACYCLIC
from lemmata.papers.mechanics.setting._generators import CYCLIC as CYCLIC
from lemmata.papers.mechanics.setting._generators import LOCAL as LOCAL
from lemmata.papers.mechanics.setting._generators import Recipe as Recipe
from lemmata.papers.mechanics.setting._generators import generate as generate
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
from lemmata.papers.mechanics.setting._training import Limit as Limit
from lemmata.papers.mechanics.setting._training import Training as Training
from lemmata.papers.mechanics.setting._training import TrainingRun as TrainingRun
from lemmata.papers.mechanics.setting._words import describe as describe
from lemmata.tokens._files import read_token_files as _read_token_files

read = _partial(_read_token_files, prefixes=PREFIXES)

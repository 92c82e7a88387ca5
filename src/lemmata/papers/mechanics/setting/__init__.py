"""What is trained: data, model, losses and algorithms."""

from lemmata.papers.mechanics.setting._dataset import Correction as Correction
from lemmata.papers.mechanics.setting._dataset import Dataset as Dataset
from lemmata.papers.mechanics.setting._generators import ACYCLIC as ACYCLIC
from lemmata.papers.mechanics.setting._generators import CYCLIC as CYCLIC
from lemmata.papers.mechanics.setting._generators import LOCAL as LOCAL
from lemmata.papers.mechanics.setting._generators import Recipe as Recipe
from lemmata.papers.mechanics.setting._generators import generate as generate
from lemmata.papers.mechanics.setting._training import Limit as Limit
from lemmata.papers.mechanics.setting._training import Training as Training
from lemmata.papers.mechanics.setting._training import TrainingRun as TrainingRun

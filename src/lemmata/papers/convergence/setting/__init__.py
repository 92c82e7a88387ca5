"""What is trained: datasets, their generators, and the two-stage algorithm."""

from functools import partial as _partial

from lemmata.papers.convergence.setting._dataset import Dataset as Dataset
from lemmata.papers.convergence.setting._dataset import example_1 as example_1
from lemmata.papers.convergence.setting._desk import TrainingRequest as TrainingRequest
from lemmata.papers.convergence.setting._desk import analyze as analyze
from lemmata.papers.convergence.setting._desk import train as train
from lemmata.papers.convergence.setting._generators import Generator as Generator
from lemmata.papers.convergence.setting._generators import Realizable as Realizable
from lemmata.papers.convergence.setting._generators import Rejection as Rejection
from lemmata.papers.convergence.setting._generators import Samples as Samples
from lemmata.papers.convergence.setting._generators import generate as generate
from lemmata.papers.convergence.setting._hypotheses import ASSUMPTION_2 as ASSUMPTION_2
from lemmata.papers.convergence.setting._hypotheses import ASSUMPTION_3 as ASSUMPTION_3
from lemmata.papers.convergence.setting._hypotheses import AT_POINTS as AT_POINTS
from lemmata.papers.convergence.setting._hypotheses import CHOICE as CHOICE
from lemmata.papers.convergence.setting._hypotheses import COLLOCATION as COLLOCATION
from lemmata.papers.convergence.setting._hypotheses import HYPOTHESES as HYPOTHESES
from lemmata.papers.convergence.setting._hypotheses import ORDERS as ORDERS
from lemmata.papers.convergence.setting._hypotheses import PREFIXES as PREFIXES
from lemmata.papers.convergence.setting._hypotheses import PREIMAGE as PREIMAGE
from lemmata.papers.convergence.setting._hypotheses import REALIZABLE as REALIZABLE
from lemmata.papers.convergence.setting._hypotheses import SINGLE_VALUED as SINGLE_VALUED
from lemmata.papers.convergence.setting._hypotheses import STAGE_1 as STAGE_1
from lemmata.papers.convergence.setting._hypotheses import STAGE_2 as STAGE_2
from lemmata.papers.convergence.setting._hypotheses import STANDING as STANDING
from lemmata.papers.convergence.setting._hypotheses import TWO_TOKENS as TWO_TOKENS
from lemmata.papers.convergence.setting._hypotheses import ZERO_START as ZERO_START
from lemmata.papers.convergence.setting._two_stage import Joint as Joint
from lemmata.papers.convergence.setting._two_stage import JointRun as JointRun
from lemmata.papers.convergence.setting._two_stage import TwoStage as TwoStage
from lemmata.papers.convergence.setting._two_stage import TwoStageRun as TwoStageRun
from lemmata.papers.convergence.setting._words import describe as describe
from lemmata.tokens._files import read_token_files as _read_token_files

read = _partial(_read_token_files, prefixes=True)

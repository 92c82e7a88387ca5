"""Algorithms and the run loop: compiled, batched, recorded, resumable."""

from lemmata.training._dynamics import AbstractDynamics as AbstractDynamics
from lemmata.training._dynamics import AbstractProbe as AbstractProbe
from lemmata.training._dynamics import AttentionTraining as AttentionTraining
from lemmata.training._dynamics import CollocationTraining as CollocationTraining
from lemmata.training._dynamics import JointTraining as JointTraining
from lemmata.training._dynamics import Rule as Rule
from lemmata.training._dynamics import TrainingState as TrainingState
from lemmata.training._minimise import Minimum as Minimum
from lemmata.training._minimise import minimise as minimise
from lemmata.training._minimise import minimise_logits as minimise_logits
from lemmata.training._path import PathPoint as PathPoint
from lemmata.training._path import gradient_flow as gradient_flow
from lemmata.training._path import regularization_path as regularization_path
from lemmata.training._risk import Risk as Risk
from lemmata.training._run import Recording as Recording
from lemmata.training._run import run as run
from lemmata.training._schedule import every as every
from lemmata.training._schedule import log_spaced as log_spaced
from lemmata.training._schedule import record_steps as record_steps
from lemmata.training._selection import BlockTraining as BlockTraining
from lemmata.training._selection import FactoredState as FactoredState
from lemmata.training._selection import FactoredTraining as FactoredTraining
from lemmata.training._selection import SelectionTraining as SelectionTraining
from lemmata.training._selection import TiedSpace as TiedSpace
from lemmata.training._store import Store as Store
from lemmata.training._store import fingerprint as fingerprint

"""Algorithms and the run loop: compiled, batched, recorded, resumable."""

from lemmata.training._dynamics import AbstractDynamics as AbstractDynamics
from lemmata.training._dynamics import Measurements as Measurements
from lemmata.training._dynamics import Rule as Rule
from lemmata.training._dynamics import TrainingState as TrainingState
from lemmata.training._dynamics import common_measurements as common_measurements
from lemmata.training._dynamics import descend as descend
from lemmata.training._guard import AbstractGuardable as AbstractGuardable
from lemmata.training._guard import Guarded as Guarded
from lemmata.training._guard import GuardedState as GuardedState
from lemmata.training._random import Stream as Stream
from lemmata.training._random import fold as fold
from lemmata.training._random import normals as normals
from lemmata.training._random import padded_subsets as padded_subsets
from lemmata.training._random import signs as signs
from lemmata.training._random import stream as stream
from lemmata.training._random import subsets as subsets
from lemmata.training._random import words as words
from lemmata.training._run import Recording as Recording
from lemmata.training._run import run as run
from lemmata.training._schedule import every as every
from lemmata.training._schedule import log_spaced as log_spaced
from lemmata.training._schedule import record_steps as record_steps
from lemmata.training._store import Store as Store
from lemmata.training._store import fingerprint as fingerprint

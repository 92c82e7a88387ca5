"""Algorithms and the run loop: compiled, batched, recorded, resumable."""

from ._dynamics import AbstractDynamics as AbstractDynamics
from ._dynamics import Measurements as Measurements
from ._dynamics import Rule as Rule
from ._dynamics import TrainingState as TrainingState
from ._dynamics import common_measurements as common_measurements
from ._dynamics import descend as descend
from ._guard import AbstractGuardable as AbstractGuardable
from ._guard import Guarded as Guarded
from ._guard import GuardedState as GuardedState
from ._random import Stream as Stream
from ._random import fold as fold
from ._random import normals as normals
from ._random import padded_subsets as padded_subsets
from ._random import signs as signs
from ._random import stream as stream
from ._random import subsets as subsets
from ._random import words as words
from ._run import Recording as Recording
from ._run import run as run
from ._schedule import every as every
from ._schedule import log_spaced as log_spaced
from ._schedule import record_steps as record_steps
from ._store import Film as Film
from ._store import Store as Store
from ._store import fingerprint as fingerprint

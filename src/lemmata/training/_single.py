"""What a run of one instance gives."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ._run import Recording


@dataclass(frozen=True)
class SingleRun:
    """What a run of one instance recorded, and how it was trained."""

    how: Any
    recording: Recording[Any]

    @property
    def steps(self) -> Int[np.ndarray, "records"]:
        """The recorded steps."""
        return self.recording.steps

    def __getitem__(self, name: str) -> Float[np.ndarray, "records"]:
        return self.recording.series[name][0].astype(float)

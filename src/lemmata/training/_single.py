"""What a run of one instance gives."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ._run import Recording


@dataclass(frozen=True, repr=False)
class SingleRun:
    """What a run of one instance recorded, and how it was trained."""

    how: Any
    recording: Recording[Any]

    def __repr__(self) -> str:
        names = ", ".join(self.recording.series)
        return f"<{type(self).__name__} to step {self.steps[-1]}: {names}>"

    @property
    def steps(self) -> Int[np.ndarray, "records"]:
        """The recorded steps."""
        return self.recording.steps

    def __getitem__(self, name: str) -> Float[np.ndarray, "records"]:
        return self.recording.series[name][0].astype(float)

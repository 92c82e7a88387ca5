"""Every numbered statement of the paper as a check, and our own findings beside them.

``networks`` has Section 3.3 and Appendix C; ``observations`` the experiments.
"""

from lemmata.claims import claims_of
from lemmata.papers.selection.claims import (
    networks,
    observations,
)

CLAIMS = claims_of([networks, observations])

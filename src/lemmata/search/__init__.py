"""The adversary: looks for an instance within its hypotheses that breaks a statement."""

from ._attack import attack as attack
from ._attack import unsearchable as unsearchable
from ._certify import Certificate as Certificate
from ._finding import MEANING as MEANING
from ._finding import Finding as Finding
from ._finding import Findings as Findings
from ._finding import Outcome as Outcome
from ._finding import Witness as Witness
from ._hunt import Watch as Watch
from ._proofs import read_back as read_back

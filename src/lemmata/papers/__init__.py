"""One folder a paper, and the registry: this is where the rooms are put together.

``lm.papers["mechanics"]`` is a paper; ``list(lm.papers())`` are their keys.
"""

import sys as _sys
from types import ModuleType as _ModuleType

from ._applies import Theorem as Theorem
from ._applies import theorems_about as theorems_about
from ._catalogue import catalogue_of as catalogue_of
from ._durations import CLAIMS as CLAIMS
from ._durations import expected_seconds as expected_seconds
from ._durations import note_finished as note_finished
from ._ledger import ledger_of as ledger_of
from ._ledger import with_ledger as with_ledger
from ._ledger import write_ledger as write_ledger
from ._lemma import claim as claim
from ._lemma import evidence_of as evidence_of
from ._lemma import experiment as experiment
from ._paper import Contents as Contents
from ._paper import Figure as Figure
from ._paper import Listed as Listed
from ._paper import Named as Named
from ._paper import Paper as Paper
from ._paper import papers as papers
from ._paper import settings as settings
from ._source import claims_in as claims_in
from ._source import find_setting as find_setting
from ._source import is_file as is_file
from ._source import load as load


class _Registry(_ModuleType):
    """This package can be asked for a paper, because that is what a user types."""

    def __call__(self) -> Named:
        return papers()

    def __getitem__(self, key: str) -> Paper:
        return papers()[key]


_sys.modules[__name__].__class__ = _Registry

"""One folder a paper, and the registry: this is where the rooms are put together.

``lm.papers["mechanics"]`` is a paper; ``list(lm.papers())`` are their keys.
"""

import sys as _sys
from types import ModuleType as _ModuleType

from lemmata.papers._applies import Theorem as Theorem
from lemmata.papers._applies import theorems_about as theorems_about
from lemmata.papers._catalogue import catalogue_of as catalogue_of
from lemmata.papers._lemma import claim as claim
from lemmata.papers._lemma import evidence_of as evidence_of
from lemmata.papers._lemma import experiment as experiment
from lemmata.papers._paper import Contents as Contents
from lemmata.papers._paper import Figure as Figure
from lemmata.papers._paper import Listed as Listed
from lemmata.papers._paper import Named as Named
from lemmata.papers._paper import Paper as Paper
from lemmata.papers._paper import papers as papers
from lemmata.papers._paper import settings as settings
from lemmata.papers._source import claims_in as claims_in
from lemmata.papers._source import find_setting as find_setting
from lemmata.papers._source import is_file as is_file
from lemmata.papers._source import load as load


class _Registry(_ModuleType):
    """This package can be asked for a paper, because that is what a user types."""

    def __call__(self) -> Named:
        return papers()

    def __getitem__(self, key: str) -> Paper:
        return papers()[key]


_sys.modules[__name__].__class__ = _Registry

"""A server for the tests of this room."""

from collections.abc import Iterator

import pytest
from oracles.serving import Served


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.close()

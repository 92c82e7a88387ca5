"""What one attention layer makes of data: for programs, for a terminal, and for a page."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rich.table import Table
from rich.text import Text

from lemmata.drawing import NamedGraph
from lemmata.settings import AbstractAnalysis, OrdersView, Selection

from ._dataset import Dataset
from ._document import document
from ._page import orders_view
from ._reading import Query, Reading
from ._wording import describe


@dataclass(frozen=True)
class MechanicsAnalysis(AbstractAnalysis):
    """What a dataset means to the paper.

    Attributes:
        dataset: with the limits ``W_mm`` and ``W_cyc``, and ``margin`` and ``correction`` that
            certify them.
    """

    dataset: Dataset

    @cached_property
    def reading(self) -> Reading:
        """What is read off the dataset."""
        return Reading(self.dataset)

    @property
    def graphs(self) -> dict[str, NamedGraph]:
        """The graphs by the name of their last token: ``graphs["c"].save("c.pdf")``."""
        return self.reading.graphs

    @property
    def queries(self) -> dict[int, Query]:
        """What is known about each last token, ties with their shares included."""
        return self.reading.queries

    @property
    def predictions(self) -> tuple[Selection, ...]:
        """What attention selects from each sample in the limit; nothing for many samples."""
        return self.reading.predictions

    def document(self) -> dict[str, Any]:
        return document(self.reading)

    def describe(self) -> Iterator[Text | Table]:
        return describe(self.reading)

    def orders_view(self) -> OrdersView:
        """The same for a page."""
        return orders_view(self.reading)

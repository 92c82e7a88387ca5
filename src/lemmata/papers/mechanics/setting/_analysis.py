"""What one attention layer makes of data: for programs, for a terminal, and for a page."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

from lemmata.settings import AbstractAnalysis, OrdersView

from ._document import document
from ._page import orders_view
from ._reading import Reading
from ._wording import describe


class MechanicsAnalysis(Reading, AbstractAnalysis):
    """What a dataset means to the paper; the limits and their certificates are the dataset's."""

    def document(self) -> dict[str, Any]:
        return document(self)

    def describe(self) -> Iterator[Text | Table]:
        return describe(self)

    def orders_view(self) -> OrdersView:
        """The same for a page."""
        return orders_view(self)

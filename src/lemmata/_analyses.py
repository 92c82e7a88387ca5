"""What ``lm.analyze`` returns: a setting's own analysis, with the theorems that apply."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from rich.table import Table
from rich.text import Text

from lemmata.papers import Theorem
from lemmata.settings import AbstractAnalysis, OrdersView

from ._html import Markup, element, join

STYLES = {True: "green", False: "bold red", None: "yellow"}
"""Of a theorem that applies, does not, or may."""


@dataclass(frozen=True, repr=False)
class Analysis(AbstractAnalysis):
    """What an instance means to a setting, and which theorems speak about it.

    Attributes of the setting's own analysis are attributes of this.

    Attributes:
        instance: what was analysed.
        own: the analysis of the setting.
        theorems: the main results of the setting's paper.
    """

    instance: Any
    own: AbstractAnalysis
    theorems: tuple[Theorem, ...]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "own" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.own, name)

    def document(self) -> dict[str, Any]:
        """The analysis as values that can be written as JSON."""
        theorems = {
            theorem.name: {
                "applies": theorem.applies,
                "broken": [hypothesis.name for hypothesis in theorem.broken],
                "open": [hypothesis.name for hypothesis in theorem.open],
            }
            for theorem in self.theorems
        }
        return ({"theorems": theorems} if theorems else {}) | self.own.document()

    def describe(self) -> Iterator[Any]:
        """The same for a person, item by item."""
        yield from self.own.describe()
        for theorem in self.theorems:
            yield Text(theorem.says, style=STYLES[theorem.applies])

    def orders_view(self) -> OrdersView | None:
        """The orders of the setting's analysis, with the theorems."""
        view = self.own.orders_view()
        if view is None:
            return None
        return replace(view, theorems={theorem.name: theorem.broken for theorem in self.theorems})

    def __repr__(self) -> str:
        applying = [theorem.name for theorem in self.theorems if theorem.applies]
        listed = ", ".join(applying) or "no theorem applies"
        return f"<Analysis of {self.instance.name}: {listed}>"

    def _repr_html_(self) -> str:
        blocks = [element("p", str(item)) for item in self.describe() if not _is_table(item)]
        return element("div", element("h4", str(self.instance.name)), *blocks)


def _is_table(item: Any) -> bool:
    return isinstance(item, Table)


class Analyses(tuple[Analysis, ...]):
    """The analyses of several instances, in order."""

    def _repr_html_(self) -> str:
        return join(*(Markup(analysis._repr_html_()) for analysis in self))

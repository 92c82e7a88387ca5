"""A paper as a folder: what every paper in this package offers, and how it is found."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from lemmata.drawing import Drawing


@dataclass(frozen=True)
class Figure:
    """A figure of a paper, as an experiment.

    ``module`` is imported when the figure is drawn, and its ``draw(bench)`` does the work, so
    that listing figures needs neither arrays nor plots.
    """

    name: str
    title: str
    module: str

    def draw(self, bench: Any) -> Drawing:
        """Run the experiment and draw it."""
        drawing: Callable[[Any], Drawing] = importlib.import_module(self.module).draw
        return drawing(bench)


@dataclass(frozen=True)
class Paper:
    """A paper, with its claims and figures."""

    key: str
    title: str
    authors: str
    year: int

    @property
    def claims(self) -> tuple[Any, ...]:
        """Every statement that can be checked."""
        return importlib.import_module(f"lemmata.papers.{self.key}.claims").CLAIMS

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure."""
        return importlib.import_module(f"lemmata.papers.{self.key}.figures").FIGURES


@cache
def papers() -> dict[str, Paper]:
    """All papers, found by their folders."""
    package = importlib.import_module("lemmata.papers")
    return {
        module.name: importlib.import_module(f"lemmata.papers.{module.name}").PAPER
        for module in pkgutil.iter_modules(package.__path__)
        if module.ispkg
    }

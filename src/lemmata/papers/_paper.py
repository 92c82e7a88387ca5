"""A paper: a setting, claims and figures, and how papers are found."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import entry_points
from typing import Any

from lemmata._errors import InputError, unknown_name
from lemmata.claims import Bench, Claim
from lemmata.drawing import Drawing
from lemmata.settings import AbstractSetting, Example

ENTRY_POINTS = "lemmata.papers"
"""The group in which an installed package announces its papers."""


class Named(dict[str, Any]):
    """Things by name, in order; a name that is not known is an error that lists the others."""

    def __init__(self, what: str, things: Iterable[tuple[str, Any]]):
        super().__init__(things)
        self.what = what

    def __missing__(self, name: str) -> Any:
        raise InputError(unknown_name(self.what, name, self))


class Listed(tuple[Any, ...]):
    """Claims or figures in order, which can also be asked for by name."""

    paper: str
    what: str

    @classmethod
    def of(cls, paper: str, what: str, things: Iterable[Any]) -> "Listed":
        """The things of a paper."""
        listed = cls(things)
        listed.what = f"{what} of {paper}"
        listed.paper = paper
        return listed

    @property
    def names(self) -> list[str]:
        """The name of each."""
        return [thing.name for thing in self]

    def __getitem__(self, at: Any) -> Any:
        if not isinstance(at, str):
            return super().__getitem__(at)
        for thing in self:
            if at in (thing.name, thing.name.removeprefix(f"{self.paper}/")):
                return thing
        raise InputError(unknown_name(self.what, at, self.names))


@dataclass(frozen=True)
class Figure:
    """A figure of a paper.

    ``source`` is a function from a bench to a drawing, or the module that has one called
    ``draw`` (or ``module:name`` for another name), which is imported when the figure is drawn.
    """

    name: str
    title: str
    source: Callable[[Bench], Drawing] | str

    def draw(self, bench: Bench) -> Drawing:
        """Run the experiments behind it and draw."""
        if isinstance(self.source, str):
            module, _, name = self.source.partition(":")
            return getattr(importlib.import_module(module), name or "draw")(bench)
        return self.source(bench)


@dataclass(frozen=True)
class Contents:
    """What a paper holds."""

    setting: AbstractSetting[Any] | None = None
    claims: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper, ours or a user's.

    Attributes:
        key: its name in commands.
        title, authors, year: where it stands.
        contents: what it holds, or the package whose rooms ``setting``, ``claims`` and
            ``figures`` hold it; these are imported when they are used.
    """

    key: str
    title: str
    authors: str
    year: int
    contents: Contents | str

    @property
    def has_setting(self) -> bool:
        """Whether it reads and trains something; a paper about formulas alone need not."""
        return isinstance(self.contents, str) or self.contents.setting is not None

    @cached_property
    def setting(self) -> AbstractSetting[Any]:
        """How its instances are read, drawn, analysed and trained."""
        if isinstance(self.contents, str):
            return importlib.import_module(f"{self.contents}.setting").SETTING
        if self.contents.setting is None:
            raise InputError(
                f"the paper '{self.key}' has no setting, so that it reads and trains nothing; "
                f"those that do: {', '.join(settings())}"
            )
        return self.contents.setting

    @cached_property
    def claims(self) -> Listed:
        """Every statement that can be checked; ``claims["theorem-1"]`` is one of them."""
        if isinstance(self.contents, str):
            claims = importlib.import_module(f"{self.contents}.claims").CLAIMS
        else:
            claims = self.contents.claims
        return Listed.of(self.key, "claim", claims)

    @cached_property
    def figures(self) -> Listed:
        """Every figure."""
        if isinstance(self.contents, str):
            figures = importlib.import_module(f"{self.contents}.figures").FIGURES
        else:
            figures = self.contents.figures
        return Listed.of(self.key, "figure", figures)

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        """Data to begin with."""
        if isinstance(self.contents, str):
            return importlib.import_module(f"{self.contents}.counterexamples").EXAMPLES
        return self.contents.examples


@cache
def papers() -> Named:
    """All papers: this package's own, and those of installed packages."""
    package = importlib.import_module("lemmata.papers")
    own = [
        importlib.import_module(f"lemmata.papers.{module.name}").PAPER
        for module in pkgutil.iter_modules(package.__path__)
        if module.ispkg
    ]
    others = [entry.load() for entry in entry_points(group=ENTRY_POINTS)]
    return Named("paper", ((paper.key, paper) for paper in (*own, *others)))


def settings() -> Named:
    """The settings of all papers that have one."""
    with_one = [paper for paper in papers().values() if paper.has_setting]
    return Named("setting", ((paper.key, paper.setting) for paper in with_one))

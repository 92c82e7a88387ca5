"""The interface that every setting implements, a paper's or a user's."""

import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from lemmata._errors import InputError, unknown_name
from lemmata.tokens import Problem
from lemmata.training import Store

from ._forecasts import Forecast, Look
from ._hypothesis import Hypothesis
from ._options import Option, Parameter, check_options
from ._orders import OrdersView
from ._pictures import Picture, Slider
from ._run import Run
from ._space import AbstractSpace

InstanceT = TypeVar("InstanceT")

Track = Callable[[str, int], Callable[[int], None]]
"""Called with a title and a number of steps; returns what is called with the steps done."""


def silent(title: str, total: int) -> Callable[[int], None]:
    """Show no progress."""
    return lambda done: None


@dataclass(frozen=True)
class Column:
    """Something that a setting records."""

    name: str
    title: str
    says: str = ""


class AbstractAnalysis(abc.ABC):
    """What an instance means to a setting.

    Attributes:
        problems: hypotheses that only the analysis finds broken, beside the instance's own.
    """

    problems: tuple[Problem, ...] = ()

    @abc.abstractmethod
    def document(self) -> dict[str, Any]:
        """The analysis as values that can be written as JSON."""

    @abc.abstractmethod
    def describe(self) -> Iterator[Any]:
        """The same for a person, item by item: texts and tables for a terminal."""

    def orders_view(self) -> OrdersView | None:
        """Orders among tokens, for a page that draws them; None where there are none to draw."""
        return None


class AbstractSetting(abc.ABC, Generic[InstanceT]):
    """How instances are read, drawn, analysed and trained.

    An instance is a frozen value with ``name``, ``problems`` (what is wrong with it) and
    ``document()`` (what ``read`` reads back).

    Attributes:
        key: the name of the setting.
        hypotheses: what statements may take for granted, by name.
        columns: what training records, in the order in which it is shown.
        options: what can be said about training; the first choice of ``algorithm`` is the usual.
        instance_type: the class of its instances.
        parameters: sizes with which instances can be made.
        space: how instances vary, for an adversary; None if statements cannot be attacked.
        about: what is learnt here, and what there is to see, for a newcomer.
    """

    key: ClassVar[str]
    instance_type: ClassVar[type] = object
    hypotheses: ClassVar[tuple[Hypothesis, ...]] = ()
    columns: ClassVar[tuple[Column, ...]] = ()
    options: ClassVar[tuple[Option, ...]] = ()
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    space: ClassVar[AbstractSpace[Any] | None] = None
    about: ClassVar[str] = ""

    @abc.abstractmethod
    def read(self, file: Path, embeddings: Path | None = None) -> list[InstanceT]:
        """The instances of a file; ``embeddings`` is a second file, if the setting takes one."""

    @abc.abstractmethod
    def draw(self, count: int, seed: int = 0) -> list[InstanceT]:
        """Random instances, on which a statement is checked unless it says where."""

    def make(self, sizes: Mapping[str, Any], seed: int = 0) -> InstanceT:
        """A random instance with these ``parameters``; the others have their usual values."""
        raise InputError(
            f"instances of the {self.key} setting are not made by sizes: it has no parameters"
        )

    @abc.abstractmethod
    def analyze(self, instance: InstanceT) -> AbstractAnalysis:
        """What the instance means to the setting."""

    @abc.abstractmethod
    def train(
        self,
        instances: Sequence[InstanceT],
        options: Mapping[str, Any],
        *,
        store: Store | None = None,
        track: Track = silent,
    ) -> Run:
        """Train all instances with options that ``check`` has let pass."""

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that do not exist or would have no effect."""
        check_options(self.key, self.options, options)

    def steps_of(self, options: Mapping[str, Any]) -> int | None:
        """How many steps training with these options takes, as far as that is known before."""
        known = {option.name: option for option in self.options}
        if "steps" not in known:
            return None
        usual = known["algorithm"].choices[0] if "algorithm" in known else None
        algorithm = options.get("algorithm", usual)
        steps = options.get("steps", known["steps"].usual_for(algorithm))
        return steps if isinstance(steps, int) else None

    def forecasts(self, run: Run, i: int) -> Sequence[Forecast]:
        """What theory says about the columns of instance i, to be drawn beside them."""
        return ()

    def looks(self, run: Run, i: int) -> Sequence[Look]:
        """Attention on some inputs of instance i, before and after training."""
        return ()

    def document(self, run: Run) -> dict[str, Any]:
        """The run, with what theory says about its columns and how it attends."""
        document = run.document()
        for i, entry in enumerate(document["instances"]):
            if entry["trained"]:
                entry["forecasts"] = [forecast.document() for forecast in self.forecasts(run, i)]
                entry["attention"] = [look.document() for look in self.looks(run, i)]
        return document

    def pictures(self, run: Run, i: int) -> Sequence[Picture]:
        """What can be seen of instance i at every record, if the run was filmed."""
        return ()

    def sliders(self, instance: InstanceT) -> Sequence[Slider]:
        """Numbers of an instance that can be moved, with what theory says about them."""
        return ()

    def hypothesis(self, name: str) -> Hypothesis:
        """A hypothesis by its name."""
        known = {hypothesis.name: hypothesis for hypothesis in self.hypotheses}
        if name not in known:
            raise InputError(unknown_name(f"hypothesis of the {self.key} setting", name, known))
        return known[name]

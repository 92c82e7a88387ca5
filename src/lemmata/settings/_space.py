"""What the instances of a setting are made of, and how they vary: what an adversary searches."""

import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from jaxtyping import Int

InstanceT = TypeVar("InstanceT")

Balls = Mapping[str, np.ndarray]
"""Columns of a run as balls (``flint.arb``) that contain the true values, one entry a record."""


@dataclass(frozen=True)
class Scope(Generic[InstanceT]):
    """A finite part of a space that can be gone through whole.

    Attributes:
        says: what it is, as a person would say it.
        limits: the same as numbers.
        instances: all of them, the smallest first.
    """

    says: str
    limits: Mapping[str, int]
    instances: Callable[[], Iterator[InstanceT]]


class AbstractSpace(abc.ABC, Generic[InstanceT]):
    """All instances of a setting.

    Everything random comes from the generator that is handed in.

    Attributes:
        limits: how far scopes go unless the user says otherwise.
    """

    limits: ClassVar[Mapping[str, int]]

    @abc.abstractmethod
    def scopes(self, limits: Mapping[str, int]) -> Sequence[Scope[InstanceT]]:
        """Growing scopes up to the limits, none containing instances of an earlier one."""

    @abc.abstractmethod
    def extremes(self) -> Iterator[InstanceT]:
        """Every parameter at both ends of many decades, alone and in pairs."""

    @abc.abstractmethod
    def draw(self, generator: np.random.Generator) -> InstanceT:
        """A random instance of small size, from which a climb starts."""

    @abc.abstractmethod
    def vary(self, instance: InstanceT, generator: np.random.Generator) -> InstanceT:
        """A neighbour of an instance."""

    @abc.abstractmethod
    def simpler(self, instance: InstanceT) -> Iterator[InstanceT]:
        """What is left if something is left out or made plainer, the boldest first."""

    @abc.abstractmethod
    def size(self, instance: InstanceT) -> tuple[float | int, ...]:
        """How large an instance is; smaller ones are better witnesses."""

    def degenerate(self, instance: InstanceT) -> str | None:
        """Why an instance is a case that nobody means, if it is."""
        return None

    def doubt(self, instance: InstanceT) -> float:
        """The relative error, beyond rounding, of what the instance knows about itself.

        A violation that is not clearly larger proves nothing where nothing is trained.
        """
        return 0.0

    def equivalents(self, instance: InstanceT) -> Iterator[InstanceT]:
        """The same instance written in other ways, so that everything rounds differently.

        Where nothing is trained, a violation that is not the same there is one of rounding.
        """
        return iter(())

    def enclosures(self, instance: InstanceT) -> Mapping[str, Any]:
        """Numbers of the instance, by attribute, as balls that contain the true values.

        What is left out is trusted to be right to a relative 2^-40.
        """
        return {}

    def changes(self, instance: InstanceT) -> Iterator[tuple[str, InstanceT]]:
        """The instance with something else in it that may not matter, and what that is."""
        return iter(())

    def trainings(self) -> Sequence[Mapping[str, Any]]:
        """Options of training at their extremes, alone and in pairs; the usual ones first."""
        return ({},)

    def replay(
        self, instance: InstanceT, options: Mapping[str, Any], steps: Int[np.ndarray, "records"]
    ) -> Balls | None:
        """The columns of a run again, in ball arithmetic, by code that training does not share.

        ``options`` are those of the training (its ``options``, in the words of the setting) with
        what the adversary changed. None where that has not been written: then nothing is proved.
        """
        return None

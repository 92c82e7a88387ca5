"""What an adversary found, or how hard it looked."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from lemmata._errors import InputError, unknown_name
from lemmata._files import write_json
from lemmata._html import table

from ._certify import Certificate


class Outcome(StrEnum):
    """How an attack ended."""

    FAILS = "fails"
    SURVIVED = "survived"
    UNDECIDED = "undecided"
    NOT_SEARCHABLE = "not searchable"


MEANING = {
    Outcome.FAILS: "broken, and the violation is proved",
    Outcome.SURVIVED: "nothing within its hypotheses was found to break it",
    Outcome.UNDECIDED: "broken in floating point, but that could not be proved; or nothing speaks",
    Outcome.NOT_SEARCHABLE: "no instance can break it",
}


@dataclass(frozen=True)
class Witness:
    """An instance that breaks a statement.

    Attributes:
        instance: the instance, and the options of training that differ from the usual ones.
        score: by how much, relative to the sides.
        place: where, with both sides.
        size: how large it is, as its space measures that.
        certificate: what proves it, if anything does.
        degenerate: why nobody would count it, if that is so.
        idle: what does not matter in it: changing this, the statement is still broken.
    """

    instance: Any
    options: Mapping[str, Any]
    score: float
    place: Mapping[str, Any]
    size: tuple[float | int, ...]
    certificate: Certificate
    degenerate: str | None = None
    idle: tuple[str, ...] = ()

    @property
    def file(self) -> dict[str, Any]:
        """What its file holds: the instance, and how it is trained if not as usual."""
        options = {"options": dict(self.options)} if self.options else {}
        return {**self.instance.document(), **options}

    def document(self) -> dict[str, Any]:
        """As values that can be written as JSON; ``instance`` is what its file would hold."""
        return {
            "instance": self.file,
            "options": dict(self.options),
            **self.place,
            "violation": -self.score,
            "certified": self.certificate.proved,
            "certificate": self.certificate.says,
            "degenerate": self.degenerate,
            "does_not_matter": list(self.idle),
        }


@dataclass(frozen=True, repr=False)
class Finding:
    """The outcome of an attack on one claim.

    Attributes:
        claim, statement: what was attacked.
        status, reason: how it ended, and in a sentence why.
        witness: the smallest instance that breaks it.
        worst: the one that breaks it most, if that is another one.
        tried: instances within the hypotheses that were evaluated; ``set_aside`` are outside.
        scopes: what was gone through whole.
        closest: the least distance from breaking it, relative to the sides, among those that
            do not; ``closest_to`` is the name of that instance.
        seconds: how long it took, and whether it was ``interrupted``.
    """

    claim: str
    statement: str
    status: Outcome
    reason: str
    witness: Witness | None = None
    worst: Witness | None = None
    tried: int = 0
    set_aside: int = 0
    scopes: tuple[str, ...] = ()
    closest: float | None = None
    closest_to: str | None = None
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def certified(self) -> bool:
        """Whether a violation is proved."""
        return self.witness is not None and self.witness.certificate.proved

    def document(self) -> dict[str, Any]:
        """As values that can be written as JSON."""
        return {
            "claim": self.claim,
            "statement": self.statement,
            "status": self.status.value,
            "reason": self.reason,
            "certified": self.certified,
            "witness": None if self.witness is None else self.witness.document(),
            "worst": None if self.worst is None else self.worst.document(),
            "size": None if self.witness is None else list(self.witness.size),
            "tried": self.tried,
            "set_aside": self.set_aside,
            "scopes": list(self.scopes),
            "closest": self.closest,
            "closest_to": self.closest_to,
            "seconds": round(self.seconds, 2),
        }

    def save(self, file: str | Path) -> Path:
        """The smallest witness as a file that ``check --data`` and ``train`` read."""
        if self.witness is None:
            raise InputError(f"{self.claim} has no witness: {self.reason}")
        write_json(Path(file), self.witness.file)
        return Path(file)

    def __repr__(self) -> str:
        return f"<Finding on {self.claim}: {self.status.value}; {self.reason}>"

    def _repr_html_(self) -> str:
        return Findings([self])._repr_html_()


class Findings(tuple[Finding, ...]):
    """Findings in order, which show themselves as a table in a notebook."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "<no findings>"

    def __getitem__(self, at: Any) -> Any:
        if not isinstance(at, str):
            return super().__getitem__(at)
        for finding in self:
            if finding.claim == at:
                return finding
        raise InputError(unknown_name("finding", at, [finding.claim for finding in self]))

    def _repr_html_(self) -> str:
        rows = [[f.status.value, f.claim, f.statement, f"{f.tried:,}", f.reason] for f in self]
        return table(["status", "claim", "statement", "tried", "reason"], rows)

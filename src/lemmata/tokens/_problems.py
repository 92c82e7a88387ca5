"""What is wrong with readable data, where, and what it means."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """A broken assumption.

    Attributes:
        code: a stable name for scripts, such as ``confused_token``.
        where: the sentence or sample at fault.
        message: what is wrong and what follows from it, for a person.
    """

    code: str
    where: str
    message: str

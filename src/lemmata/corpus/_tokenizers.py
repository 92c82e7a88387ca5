"""From text to tokens: words, characters, or the user's own tokenizer."""

import abc
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lemmata._errors import InputError

WORD = re.compile(r"\w+(?:['’]\w+)*")

LONGEST_WORD = 1 << 20
"""Characters without a blank, after which a text is taken for something else."""

MOST_UNKNOWN = 0.5
"""The share of unknown tokens from which on a tokenizer does not fit a text."""


class AbstractTokenizer(abc.ABC):
    """What turns text into tokens; tokens are strings, or numbers with a name."""

    @abc.abstractmethod
    def tokens(self, text: str) -> Iterable[Any]:
        """The tokens of a text that ends where it may be cut."""

    @abc.abstractmethod
    def cut(self, text: str) -> int:
        """Where the text can be cut, so that what follows may be joined to further text."""

    def name(self, token: Any) -> str:
        """How a token is called."""
        return str(token)

    def check_number(self, number: int, where: str) -> None:
        """Refuse a token number that there cannot be."""
        if number < 0:
            raise InputError(f"{where}: token number {number} is negative")

    def check_fit(self, tokens: Any, counts: Any) -> None:
        """Refuse a text that the tokenizer does not know; words and characters know any."""
        del tokens, counts


@dataclass(frozen=True)
class Words(AbstractTokenizer):
    """Runs of letters, digits and inner apostrophes, in lower case; nothing else counts."""

    def tokens(self, text: str) -> Iterable[str]:
        """The words."""
        return WORD.findall(text.lower())

    def cut(self, text: str) -> int:
        """After the last blank."""
        return _after_last_blank(text)


@dataclass(frozen=True)
class Characters(AbstractTokenizer):
    """Every character as it stands, blanks and line breaks included."""

    def tokens(self, text: str) -> Iterable[str]:
        """The characters."""
        return text

    def cut(self, text: str) -> int:
        """Anywhere."""
        return len(text)


@dataclass(frozen=True)
class FromFile(AbstractTokenizer):
    """A ``tokenizer.json`` of the ``tokenizers`` library; without the tokens it adds around."""

    path: Path

    @cached_property
    def _own(self) -> Any:
        try:
            import tokenizers
        except ImportError as error:
            words = "a tokenizer.json needs the tokenizers library: pip install 'lemmata[corpus]'"
            raise InputError(words) from error
        if not self.path.is_file():
            raise InputError(
                f"--tokenizer takes words, characters or a tokenizer.json; there is no {self.path}"
            )
        try:
            return tokenizers.Tokenizer.from_file(str(self.path))
        except Exception as error:  # the library raises nothing narrower
            raise InputError(f"{self.path} is no tokenizer: {error}") from error

    @cached_property
    def _unknown(self) -> int | None:
        model = json.loads(self._own.to_str())["model"]
        name = model.get("unk_token")
        if name is None and model.get("unk_id") is not None:
            return int(model["unk_id"])
        return None if name is None else self._own.token_to_id(name)

    def tokens(self, text: str) -> Iterable[int]:
        """The numbers of the tokens."""
        return self._own.encode(text, add_special_tokens=False).ids

    def cut(self, text: str) -> int:
        """After the last line break, else after the last blank."""
        line = text.rfind("\n") + 1
        return line or _after_last_blank(text)

    def name(self, token: int) -> str:
        """As the tokenizer calls it, with its own marks for blanks."""
        name = self._own.id_to_token(int(token))
        return str(token) if name is None else name

    def check_number(self, number: int, where: str) -> None:
        """It must be one of the tokenizer's."""
        size = self._own.get_vocab_size()
        if not 0 <= number < size:
            raise InputError(
                f"{where}: token number {number} is out of range; {self.path.name} has {size:,} "
                "tokens"
            )

    def check_fit(self, tokens: list[Any], counts: Any) -> None:
        """Most of a text must be known."""
        if self._unknown in tokens:
            unknown = int(counts[tokens.index(self._unknown)])
            if unknown > MOST_UNKNOWN * counts.sum():
                raise InputError(
                    f"{self.path.name} does not fit this text: {unknown:,} of {counts.sum():,} "
                    "tokens are unknown to it"
                )


def _after_last_blank(text: str) -> int:
    for place in range(len(text) - 1, -1, -1):
        if text[place].isspace():
            return place + 1
    if len(text) > LONGEST_WORD:
        raise InputError(
            f"{LONGEST_WORD:,} characters without a blank ('{text[:20]}...'): is this text? "
            "--tokenizer characters reads it all the same"
        )
    return 0


def tokenizer_of(name: str) -> AbstractTokenizer:
    """The tokenizer of this name, or in this file."""
    own = {"words": Words, "characters": Characters}
    return own[name]() if name in own else FromFile(Path(name))

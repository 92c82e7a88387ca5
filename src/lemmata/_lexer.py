"""A statement in pieces: words, numbers, letters, symbols."""

import re
import unicodedata
from dataclasses import dataclass

from ._symbols import NAMES


@dataclass(frozen=True)
class Token:
    """A piece of a statement."""

    kind: str
    text: str
    attached: bool
    """Whether nothing stands between it and the token before."""


_TOKEN = re.compile(
    r"""
    (?P<latex>\$(?=\S)[^$]+(?<=\S)\$(?!\d))
  | (?P<space>\s+)
  | (?P<word>(?<!\w)(?:
        (?<!\S)\((?:\d+|[*\#]+|[A-Z]{1,3}\d+|[a-z])\)(?:'s)?(?![\w(\[/^²])   # (17), (IH1), (a)
      | [A-Z]\.\d+ | \d+(?:st|nd|rd|th|'s)\b                    # Lemma E.8, 2nd
      | (?!(?:%s)_)[^\W\d_]{3,}(?:_[^\W\d_]{3,})+               # log_loss
      | [^\W\d_]{2,}'s\b | (?!(?:%s)')[^\W\d_]{3,}'(?!\w)       # the paper's
      | (?!(?:%s)-)[^\W\d_]{3,}-(?:\d[\d.]*|[a-z]\.\d+)         # acyclic-0.4, theorem-e.6
      | (?!.-(?:hat|bar|tilde)(?![a-z]))[^\W\d_]+(?:-[^\W\d_]{2,})+    # one-hot
    ))
  | (?P<number>\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]\d{2,}(?!\w))?)
  | (?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁱᵀⁿ]+)
  | (?P<lowered>[₀₁₂₃₄₅₆₇₈₉₊₋]+)
  | (?P<accented>[A-Za-z](?:-(?:hat|bar|tilde)(?![a-z])|~(?=\()|[\u0302\u0303\u0304\u0307]))
  | (?P<name>(?:[A-Za-z](?![\u0302\u0303\u0304\u0307]|-(?:hat|bar|tilde)(?![a-z])))+)
  | (?P<symbol>\|\||<=|>=|->|<-|>>|!=|\.\.\.|.)
    """
    % (("|".join(NAMES),) * 3),
    re.VERBOSE | re.DOTALL,
)

_INNER = re.compile(r"(?<![\w)])<(?=\S)([^<>=]*,[^<>=]*)>")
"""An inner product in angle brackets."""


def tokens_of(text: str) -> list[Token]:
    """A statement in pieces; nothing of it is lost."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(_INNER.sub(r"⟨\1⟩", _decomposed(text))):
        attached = bool(tokens) and tokens[-1].kind != "space"
        tokens.append(Token(match.lastgroup or "", match.group(), attached))
    return tokens


def _decomposed(text: str) -> str:
    """The same with accents after their letters; struck-out symbols stay whole."""
    text = unicodedata.normalize("NFD", text)
    return re.sub(".\u0338", lambda struck: unicodedata.normalize("NFC", struck.group()), text)

"""Words as the figures' font draws them: their widths, and what stands for missing characters."""

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

LONGEST = 28
"""Characters of a label that are drawn; a longer one ends in an ellipsis."""

_UNKNOWN = "□"
_EM = 1000

_JOINERS = "\u200c\u200d"
"""Without these, letters of some scripts take another shape."""


def legible(words: str, *, substitute: bool, longest: int = LONGEST) -> str:
    """A label that can be drawn: short, on one line, without invisible characters.

    Args:
        words: anything.
        substitute: put a square for each character that the font lacks; without this, whoever
            shows the picture must have fonts of their own.
        longest: how many characters are kept.

    Examples:
        >>> legible("tab\\there", substitute=True), legible("中文", substitute=True)
        ('tab□here', '□□')
    """
    short = words if len(words) <= longest else f"{words[: longest - 1]}…"
    return "".join(
        _UNKNOWN if _hidden(letter) or (substitute and not _known(letter)) else letter
        for letter in short
    )


def text_width(words: str) -> float:
    """The width of a line in ems; a character that the font lacks counts as a wide one."""
    return sum(map(_advance, words))


def _hidden(letter: str) -> bool:
    """Controls, marks that turn the direction of writing, halves of pairs: no letters at all."""
    hidden = unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return hidden and letter not in _JOINERS


def _known(letter: str) -> bool:
    return ord(letter) in _characters()


@cache
def _advance(letter: str) -> float:
    if not _known(letter):
        return 0.0 if unicodedata.combining(letter) else 1.3
    return _font().load_char(ord(letter)).linearHoriAdvance / (65536 * _EM)


@cache
def _font() -> "FT2Font":
    """The figures' font, opened once more: the plotting library resizes its own at will."""
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    font = FT2Font(findfont(FontProperties(family="DejaVu Sans")))
    font.set_size(_EM, 72)
    return font


@cache
def _characters() -> frozenset[int]:
    return frozenset(_font().get_charmap())

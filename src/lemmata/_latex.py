"""Words and statements that may stand in a LaTeX file."""

from ._notation import parts_of
from ._symbols import ATOMS, GREEK, OPERATORS

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}

_SYMBOLS = {
    symbol: f"${command}$"
    for symbol, command in (ATOMS | GREEK | OPERATORS).items()
    if not symbol.isascii()
}


def latex(text: str) -> str:
    r"""The same words, with every special character escaped.

    Examples:
        >>> print(latex("a_b & 50%, ≥ 1"))
        a\_b \& 50\%, $\ge$ 1
    """
    return "".join(_SPECIAL.get(letter) or _SYMBOLS.get(letter, letter) for letter in text)


def latex_statement(statement: str) -> str:
    r"""A statement with its formulas set as such.

    Examples:
        >>> print(latex_statement("100 % have ||W||^2 <= eta"))
        100 \% have $\|W\|^{2} \le \eta$
    """
    return "".join(
        latex(part) if isinstance(part, str) else f"${part.latex}$" for part in parts_of(statement)
    )

"""Words that may stand in a LaTeX file."""

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
}


def latex(text: str) -> str:
    r"""The same words, with every special character escaped.

    Examples:
        >>> print(latex("a_b & 50%"))
        a\_b \& 50\%
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in text)

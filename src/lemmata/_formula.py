"""Formulas as people type them, read from the left and turned into LaTeX."""

import re
from itertools import pairwise

from ._lexer import Token
from ._symbols import (
    ACCENTS,
    ATOMS,
    BRACKETED,
    FUNCTIONS,
    GREEK,
    LABELS,
    LOWERED,
    NAMES,
    OPERATORS,
    PAIRS,
    RAISED,
)

_BESIDE = frozenset({*GREEK, *"'/−‖|√"})
"""What stands beside a symbol, and not beside a word."""

_DEEPEST = 30
"""Brackets inside brackets; nobody types more, and each takes a few frames of the stack."""

_PROSE = frozenset({"Mr", "Dr", "Ms", "St", "vs", "ch", "th", "nd", "sd", "ms"})


class Reader:
    """Reads formulas from the left; what is none is left where it is."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.strong = False
        """Whether something that only mathematics has was met in this formula."""
        self.depth = 0
        """Brackets that are open."""
        self.bars = 0
        """Strokes so far; of ``||``, the first closes what an odd one opened."""

    @property
    def more(self) -> bool:
        return self.at < len(self.tokens)

    def peek(self, ahead: int = 0) -> Token:
        at = self.at + ahead
        return self.tokens[at] if 0 <= at < len(self.tokens) else Token("end", "", False)

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def formula(self) -> str | None:
        """The longest formula that starts here, or None."""
        if self.peek().kind == "latex":
            return self.take().text.strip("$").strip()
        if self.peek().kind == "space":
            return None
        start, self.strong, self.bars = self.at, False, 0
        latex, end = self.row()
        if latex and self.strong and latex.strip("|") and latex.count("|") % 2 == 0:
            self.at = end
            return latex
        self.at = start
        return None

    def row(self, closing: str | None = None) -> tuple[str, int]:
        """Atoms and operators up to the closing bracket, or as far as they go.

        Returns:
            The LaTeX, and where its last atom ends: an operator at the end is no part of it.
        """
        pieces: list[str] = []
        done, end = 0, self.at
        while self.more and self.peek().text != closing:
            token = self.peek()
            if token.kind == "space":
                self.take()
                continue
            after = self.peek(1)
            if pieces and not token.attached and after.attached and after.text == "=":
                break  # one of several settings, as in N=4 K=10
            atom = self.atom(bool(pieces))
            if atom is not None:
                apart = token.kind == "number" and pieces and done == len(pieces)
                pieces.append(rf"\;{atom}" if apart else atom)
                done, end = len(pieces), self.at
            elif token.text in OPERATORS and self.operates(bool(pieces)):
                self.take()
                self.strong |= token.text not in "-−+/*"
                sign = self.scripts(OPERATORS[token.text])
                pieces.append(sign if sign == "/" else f" {sign} " if done else sign)
            elif closing and token.text in ",;:" and token.text:
                self.take()
                pieces.append(f"{token.text} ")
            else:
                break
        if closing:
            done = len(pieces)
        return _spaced(pieces[:done]), end

    def operates(self, inside: bool) -> bool:
        """Whether an operator may stand here: between two sides, or as a sign."""
        token, after = self.peek(), self.peek(1)
        if inside:
            dash = token.text == "-" and not token.attached and after.kind == "space"
            return dash or token.text != "-" or after.kind != "space"
        sign = bool(self.depth) or token.text in "-−~<>="
        return sign and after.kind not in ("space", "end", "word")

    def atom(self, inside: bool) -> str | None:
        """A letter, a number, a group, each with what is raised and lowered beside it."""
        token, start = self.peek(), self.at
        base = self.base(token, inside)
        if base is None:
            self.at = start
            return None
        return self.scripts(base)

    def base(self, token: Token, inside: bool) -> str | None:
        self.take()
        text = token.text
        if token.kind == "number":
            return _number(text)
        if token.kind == "name" and text != "sqrt":
            return self.name(token, inside)
        if text in PAIRS:
            return self.group(text)
        if text in ("...", "…"):
            return r"\dots" if inside or self.depth else None
        if text == "|":
            self.bars += 1
            return text
        if text == "||" and self.bars % 2:
            return "|\\,|"
        if token.kind == "accented":
            latex = _accented(text)
        elif text in ("√", "sqrt"):
            latex = self.root()
        else:
            latex = GREEK.get(text) or ATOMS.get(text)
        self.strong |= latex is not None
        return latex

    def root(self) -> str | None:
        self.strong = True
        if self.peek().text == "(":
            inner = self.group(self.take().text)
            return None if inner is None else rf"\sqrt{{{inner[1:-1]}}}"
        inner = self.atom(True)
        return None if inner is None else rf"\sqrt{{{inner}}}"

    def group(self, opening: str) -> str | None:
        """A bracket and all that is in it, if all of that is mathematics."""
        left, closing, right = PAIRS[opening]
        start, strong = self.at, self.strong
        if self.depth == _DEEPEST:
            return None
        self.depth += 1
        inner, _ = self.row(closing)
        self.depth -= 1
        if self.peek().text != closing or not inner:
            self.at, self.strong = start, strong
            return None
        self.take()
        return f"{left}{inner}{right}"

    def name(self, token: Token, inside: bool) -> str | None:
        """Letters: a Greek letter's name, a function, a symbol, a product of symbols; or a word."""
        text, after = token.text, self.peek()
        scripted = after.attached and after.text in ("_", "^")
        if text in FUNCTIONS:
            latex = self.function(text, inside)
        elif text == "sum":
            latex = r"\sum" if scripted else None
        elif text == "grad":
            acts = after.kind == "space" and len(self.peek(1).text) == 1
            latex = r"\nabla" if scripted or acts else None
        elif text in NAMES:
            latex = NAMES[text]
        elif len(text) == 1:
            free = not (scripted or self.depth)
            latex = None if free and _is_article(text, self.tokens, self.at - 1) else text
        else:
            latex = self.product(token) or (rf"\mathrm{{{text}}}" if scripted else None)
        self.strong |= latex is not None
        return latex

    def product(self, token: Token) -> str | None:
        """Two or three letters that are symbols side by side, as in ``4dTq``; longer is a word."""
        text, after, before = token.text, self.peek(), self.peek(-2)
        if len(text) > 3 or text in _PROSE:
            return None
        left = before.kind in ("number", "raised", "lowered") or before.text in _BESIDE
        right = after.kind in ("raised", "lowered") or after.text in _BESIDE
        glued = (token.attached and left) or (after.attached and right)
        consonants = not set(text.lower()) & set("aeiouy")
        if glued and len(text) < 3 + consonants and (consonants or text.isupper()):
            return text
        mixed = any(a.islower() and b.isupper() for a, b in pairwise(text))
        if mixed or (consonants and len(text) == 2 and not text.isupper()):
            return text
        return rf"\mathrm{{{text}}}" if self.depth and len(text) == 3 else None

    def function(self, text: str, inside: bool) -> str | None:
        """A function needs something to act on, unless it stands for its value: 1 − cos."""
        after = self.peek()
        ahead = self.peek(1) if after.kind == "space" else after
        if after.kind in ("raised", "lowered") or after.text in ("_", "^", "("):
            acts = True
        elif text in BRACKETED:
            acts = inside and text == "corr"
        else:
            letters = len(ahead.text) == 1 or ahead.text in (*NAMES, *FUNCTIONS)
            acts = ahead.kind in ("number", "accented") or (ahead.kind == "name" and letters)
            acts = acts or ahead.text in (*GREEK, *ATOMS, *PAIRS) or (inside and text == "cos")
        acts = acts or (ahead.text in OPERATORS and ahead.text not in "-/")
        return FUNCTIONS[text] if acts else None

    def scripts(self, base: str) -> str:
        """The base with its indices, exponents, primes and stars."""
        sub, sup = "", ""
        while self.peek().attached or self.peek().kind in ("raised", "lowered"):
            token, after = self.peek(), self.peek(1)
            if token.kind == "raised":
                self.strong = True
                sup += "".join(RAISED[letter] for letter in self.take().text)
            elif token.kind == "lowered":
                self.strong = True
                sub += "".join(LOWERED[letter] for letter in self.take().text)
            elif token.text == "'" and not (after.text == "s" and after.attached):
                self.take()
                self.strong = True
                sup += r"\prime "
            elif token.text == "*" and (sub or after.kind not in ("name", "number", "accented")):
                self.take()
                self.strong = True
                sup += "*"
            elif token.text in ("_", "^") and (script := self.script()) is not None:
                self.strong = True
                if token.text == "^":
                    sup += script
                else:
                    sub = f"{sub}_{{{script}}}" if sub else script
            elif token.kind == "number" and base.isalpha() and len(base) == 1 and not (sub or sup):
                sub = self.take().text
            else:
                break
        return f"{base}{f'_{{{sub}}}' if sub else ''}{f'^{{{sup.strip()}}}' if sup else ''}"

    def script(self) -> str | None:
        """What stands after ``_`` or ``^``."""
        start = self.at
        kind = self.take().text
        token = self.peek()
        if not token.attached:
            self.at = start
            return None
        if token.text in ("(", "{"):
            inner = self.group(self.take().text)
            if inner is None:
                self.at = start
                return None
            braced = token.text == "{"
            inner = inner.removeprefix(r"\{").removesuffix(r"\}") if braced else inner
            grouped = not braced and kind == "^" and re.search(r"[-+/^]|\s", inner)
            return inner[1:-1] if grouped else inner
        if token.text in ("+", "-", "−", "*"):
            sign = "-" if token.text == "−" else token.text
            self.take()
            after = self.peek()
            if after.attached and sign in "+-" and after.kind in ("number", "name"):
                self.take()
                return f"{sign}{_index(after.text)}"
            return sign
        if token.kind in ("name", "number", "accented") or token.text in (*GREEK, *ATOMS):
            self.take()
            if token.kind == "accented":
                return _accented(token.text)
            latex = GREEK.get(token.text) or ATOMS.get(token.text) or _index(token.text)
            if self.peek().kind == "number" and self.peek().attached and len(token.text) == 1:
                latex += f"_{{{self.take().text}}}"
            if kind == "^" and latex == "T":
                return r"\top "
            return latex
        self.at = start
        return None


def _number(text: str) -> str:
    """A number; one as computers write it, 1.2e-05, with its power of ten."""
    digits, _, power = text.replace(",", "{,}").partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits


def _spaced(pieces: list[str]) -> str:
    """Pieces side by side, with a space after a command that a letter would lengthen."""
    latex = ""
    for piece in pieces:
        lengthened = piece[:1].isalpha() and re.search(r"\\[A-Za-z]+$", latex)
        latex += f" {piece}" if lengthened else piece
    return re.sub(r" +", " ", latex).strip()


def _accented(text: str) -> str:
    """A letter under its accent."""
    accent = ACCENTS.get(text[1]) or text[2:]
    return rf"\{accent}{{{text[0]}}}"


def _index(text: str) -> str:
    """An index or exponent of letters: several name something, or are an index each."""
    if text == "inf":
        return r"\infty"
    if text in NAMES:
        return NAMES[text]
    named = len(text) > 2 or text in LABELS
    return rf"\mathrm{{{text}}}" if named and text.isalpha() else text


def _is_article(letter: str, tokens: list[Token], at: int) -> bool:
    """Whether a letter is a word of its own: an article, or a number of a phase."""
    if letter not in "aAI":
        return False
    before = [token for token in tokens[:at] if token.kind != "space"][-1:]
    after = [token for token in tokens[at + 1 : at + 3] if token.kind != "space"][:1]
    if letter == "I":
        return bool(before) and before[0].text in ("Phase", "Part", "Type")
    operated = bool(after) and after[0].text in (*OPERATORS, "'", "*", "(")
    if letter == "A":
        return not operated and (not before or before[0].text in (".", ":"))
    return not operated

"""Statements on a page: words, and formulas as MathML."""

import re
from functools import cache
from html import unescape
from itertools import chain, groupby, pairwise
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

from ._html import Markup, element, join
from ._notation import parts_of

ROWS = frozenset({"math", "mrow", "msqrt", "mtd"})

TAGS = ROWS | {
    *("mi", "mn", "mo", "mtext", "mspace", "mroot", "mfrac", "mstyle", "mpadded", "mphantom"),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover", "mtable", "mtr"),
}

KEPT = {"mspace": ("width",), "mo": ("stretchy",), "mfrac": ("linethickness",)}
"""Attributes that matter; all others, and whatever a formula could smuggle in, are left out."""

TIGHT = frozenset("|‖⟨⟩/∞")
"""What a page would set with spaces around it if it were an operator."""

OPENING, CLOSING, SIGNS = frozenset("([{⟨⌈"), frozenset(")]}⟩⌉"), frozenset("+−")
RELATIONS = frozenset("=<>≤≥→≈∼≠≍")

OPENS, CLOSES = re.compile(r"[(\[]+$"), re.compile(r"[.,;:!?)\]]+")
"""Marks in the words around a formula that must not stand in another line than it."""

THIN = element("mspace", width=".17em")

UNBROKEN, UNBROKEN_BRACKETS = 24, 40
"""Symbols of a formula that is never broken into lines, and of one whose brackets are not."""


@cache
def mathematics(statement: str) -> Markup:
    """A statement as words and MathML; LaTeX that cannot be read is shown as it was typed.

    Examples:
        >>> mathematics("the norm is < η_0")
        'the norm is &lt; <math><msub><mi>η</mi><mn>0</mn></msub></math>'
    """
    pieces: list[str] = []
    for part in parts_of(statement):
        if isinstance(part, str):
            closes = CLOSES.match(part) if pieces else None
            if closes:
                pieces[-1] = _held(pieces[-1], closes[0])
            pieces.append(part[closes.end() if closes else 0 :])
        else:
            opens = OPENS.search(pieces[-1]) if pieces else None
            first, *others = _formula(part.latex)
            if opens:
                pieces[-1] = pieces[-1][: opens.start()]
                first = _held(opens[0], first)
            pieces += [first, *others]
    return join(*pieces)


def _held(*pieces: str) -> Markup:
    """Pieces in one line: a browser would break it between a formula and the dot behind it."""
    return element("span", *pieces, class_="held")


def _formula(latex: str) -> list[Markup]:
    """A formula in pieces: a long one may go on in the next line, as no browser lets it alone."""
    try:
        root = convert_to_element(latex)
    except Exception:  # a dozen classes of its own, and IndexError
        return [element("code", latex)]
    nodes = _unwrapped(root)
    children = _row(nodes)
    size = sum(len(_text(node)) for node in root.iter())
    if size <= UNBROKEN:
        return [element("math", *children)]
    ends = [i + 1 for i in _places_to_break(nodes, inside=size > UNBROKEN_BRACKETS)]
    pieces = [children[i:j] for i, j in pairwise([0, *ends, len(children)])]
    first, *others = [element("math", *piece) for piece in pieces if piece]
    return [first, *chain.from_iterable((Markup("<wbr>"), piece) for piece in others)]


def _places_to_break(nodes: list[Element], inside: bool) -> list[int]:
    """Relations and signs with a left side; those inside of brackets only if asked for."""
    places: list[int] = []
    depth, strokes = 0, 0
    for i, node in enumerate(nodes):
        text = _text(_head(node))
        depth += (text in OPENING) - (text in CLOSING)
        strokes += text in ("|", "‖")
        outside = depth == 0 and strokes % 2 == 0
        breaks = text in RELATIONS or (text in SIGNS and _joins(nodes, i))
        if node.tag == "mo" and breaks and i > 0 and (outside or inside):
            places.append(i)
    return places


def _row(nodes: list[Element]) -> list[Markup]:
    """Symbols side by side: as many pieces as there are nodes.

    The name of a function stands apart from what is beside it, unless that is in brackets.
    """
    row: list[Markup] = []
    for i, node in enumerate(nodes):
        piece = _node(node, form=_form(nodes, i))
        if re.fullmatch("[a-z]{2,}", _text(_head(node))):
            before = i > 0 and nodes[i - 1].tag != "mo"
            after = i + 1 < len(nodes) and _text(nodes[i + 1]) not in OPENING | CLOSING
            piece = join(THIN if before else None, piece, THIN if after else None)
        row.append(piece)
    return row


def _form(nodes: list[Element], i: int) -> str | None:
    """Whether plus and minus join two sides or are a sign, which position alone does not tell."""
    if _text(nodes[i]) not in SIGNS or len(nodes) == 1:
        return None
    return "infix" if _joins(nodes, i) else "prefix"


def _joins(nodes: list[Element], i: int) -> bool:
    """Whether a left side stands before this sign."""
    if i == 0:
        return False
    before = nodes[i - 1]
    return before.tag != "mo" or _text(before) in CLOSING | TIGHT


def _unwrapped(node: Element) -> list[Element]:
    """The children of a row, those of rows inside it among them; letters of a word are one."""
    nested = [_unwrapped(child) if child.tag == "mrow" else [child] for child in node]
    flat = [child for children in nested for child in children]
    merged: list[Element] = []
    for upright, group in groupby(flat, lambda child: child.get("mathvariant") == "normal"):
        nodes = list(group)
        if upright and len(nodes) > 1:
            word = Element("mi")
            word.text = "".join(map(_text, nodes))
            nodes = [word]
        merged += nodes
    return merged


def _head(node: Element) -> Element:
    """What indices and exponents are attached to."""
    return _head(node[0]) if node.tag in ("msub", "msup", "msubsup", "mrow") and len(node) else node


def _node(node: Element, form: str | None = None) -> Markup:
    text = _text(node)
    tag = node.tag if node.tag in TAGS else "mtext"
    children = _row(_unwrapped(node)) if tag in ROWS else [_node(child) for child in node]
    if tag == "mrow" and len(children) == 1:
        return children[0]
    if tag == "mo" and (text in TIGHT or text.isalpha()):
        tag = "mi"
    kept = {name: node.get(name) for name in KEPT.get(tag, ())}
    if tag == "mi" and node.get("mathvariant") == "normal" and len(text) == 1:
        kept["mathvariant"] = "normal"
    return element(tag, text, *children, form=form, **kept)


def _text(node: Element) -> str:
    return unescape(node.text or "").strip()

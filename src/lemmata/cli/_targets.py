"""Names that a user typed, and what they stand for."""

from collections.abc import Iterable
from difflib import get_close_matches

from lemmata._errors import InputError
from lemmata.old_claims import Claim
from lemmata.papers import Figure, Paper, papers


def find_claims(names: list[str]) -> list[Claim]:
    """The claims that the names stand for: a claim, a paper, or everything for no name."""
    known = {claim.name: claim for paper in papers().values() for claim in paper.claims}
    chosen: dict[str, Claim] = {}
    for name in names or list(papers()):
        if name in papers():
            chosen |= {claim.name: claim for claim in papers()[name].claims}
        elif name in known:
            chosen[name] = known[name]
        else:
            raise _unknown("claim", name, [*papers(), *known])
    return list(chosen.values())


def find_targets(names: list[str]) -> tuple[list[Figure], list[Claim]]:
    """The figures and claims to reproduce; a paper means all of its own."""
    known = {figure.name: figure for paper in papers().values() for figure in paper.figures}
    figures: dict[str, Figure] = {}
    claims: list[Claim] = []
    for name in names or list(papers()):
        if name in papers():
            figures |= {figure.name: figure for figure in papers()[name].figures}
            claims += [claim for claim in papers()[name].claims if claim not in claims]
        elif name in known:
            figures[name] = known[name]
        else:
            raise _unknown("target", name, [*papers(), *known])
    return list(figures.values()), claims


def find_paper(key: str) -> Paper:
    """The paper whose setting is asked for."""
    if key not in papers():
        raise _unknown("setting", key, papers())
    return papers()[key]


def _unknown(kind: str, name: str, known: Iterable[str]) -> InputError:
    close = get_close_matches(name, list(known), n=3, cutoff=0.4)
    hint = f"; did you mean {', '.join(close)}?" if close else ""
    return InputError(f"there is no {kind} '{name}'{hint} (`lemmata list` shows all)")

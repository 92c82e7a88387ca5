"""What files and documents of all settings say in the same way."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lemmata._errors import InputError
from lemmata.tokens import Problem, Token, TokenData


def encode(data: TokenData, words: str | Sequence[Token], shown: int | None = None) -> list[int]:
    """Tokens by name, for a prediction; words of a text have blanks between them.

    ``shown`` known tokens are listed where one is unknown; all of them if left out.
    """
    index = {data.name(i): i for i in range(data.size)}
    names = [str(word) for word in (words.split() if isinstance(words, str) else words)]
    unknown = [name for name in names if name not in index]
    if unknown or not names:
        raise InputError(
            f"cannot predict {' '.join(names)!r}: unknown token "
            f"{', '.join(map(repr, unknown)) or '(none given)'}; "
            f"known: {' '.join(list(index)[:shown])}"
        )
    return [index[name] for name in names]


def problems_document(
    problems: Sequence[Problem], assumptions: Mapping[str, Sequence[Problem]]
) -> dict[str, Any]:
    """Problems, and the assumptions that they break, as JSON has them."""
    return {
        "problems": [{"code": p.code, "where": p.where, "message": p.message} for p in problems],
        "assumptions": {
            name: {"holds": not broken, "problems": list(dict.fromkeys(p.code for p in broken))}
            for name, broken in assumptions.items()
        },
    }


def options_in(file: Path) -> dict[str, Any]:
    """How a JSON file says that its one instance is trained: its ``options``, if it has any."""
    if file.suffix != ".json" or not file.is_file():
        return {}
    try:
        document = json.loads(file.read_text(encoding="utf-8-sig"))
    except ValueError:  # whoever reads the instance will say what is wrong
        return {}
    options = document.get("options") if isinstance(document, dict) else None
    if options is None:
        return {}
    if not isinstance(options, dict):
        raise InputError(f'{file}: "options" must be an object such as {{"rate": 0.1}}')
    return {name: tuple(v) if isinstance(v, list) else v for name, v in options.items()}

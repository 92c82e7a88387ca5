"""What a page offers: settings with their options, data to begin with, claims to attack."""

from collections.abc import Mapping
from typing import Any

from lemmata._plain import plain
from lemmata.claims import KIND_MEANING
from lemmata.papers import Paper, papers
from lemmata.search import unsearchable
from lemmata.settings import AbstractSetting, Option

from ._formulas import with_formulas


def catalogue_of(settings: Mapping[str, AbstractSetting[Any]], first: str) -> dict[str, Any]:
    """Everything that does not depend on data."""
    known = {paper.key: paper for paper in papers().values() if paper.has_setting}
    offered = [_setting(setting, known.get(name)) for name, setting in settings.items()]
    kinds = {kind.value: says for kind, says in KIND_MEANING.items()}
    return with_formulas({"first": first, "settings": offered, "kinds": kinds})


def _setting(setting: AbstractSetting[Any], paper: Paper | None) -> dict[str, Any]:
    own = paper if paper is not None and paper.setting is setting else None
    return {
        "name": setting.key,
        "title": "" if own is None else f"{own.title} ({own.authors}, {own.year})",
        "about": setting.about,
        "options": [_option(option) for option in setting.options],
        "columns": [
            {"name": column.name, "title": column.title, "says": column.says}
            for column in setting.columns
        ],
        "examples": [] if own is None else [plain(example) for example in own.examples],
        "claims": []
        if own is None
        else [
            {
                "name": claim.name,
                "kind": None if claim.kind is None else claim.kind.value,
            }
            for claim in own.claims
            if unsearchable(claim, setting) is None
        ],
    }


def _option(option: Option) -> dict[str, Any]:
    return {
        "name": option.name,
        "flag": option.flag,
        "says": option.says,
        "expects": option.expects,
        "algorithms": list(option.algorithms),
        "choices": list(option.choices),
        "words": list(option.words),
        "closed": option.file,
        "many": option.many,
        "usual": plain(option.usual),
    }

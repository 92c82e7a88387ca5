"""``lemmata analyze``."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from lemmata._files import make_folder, write_whole
from lemmata.cli._files import setting_of
from lemmata.cli._terminal import answers, messages, print_json
from lemmata.report import plain, write_analysis
from lemmata.settings import AbstractAnalysis


@dataclass(frozen=True)
class _Told(AbstractAnalysis):
    """An answer of a paper that has no typed analysis."""

    room: ModuleType
    answer: dict[str, Any]

    def document(self) -> dict[str, Any]:
        return self.answer

    def describe(self) -> Iterator[Any]:
        return self.room.describe(self.answer)


def _analyses(room: ModuleType, file: Path, embeddings: Path | None) -> list[AbstractAnalysis]:
    if hasattr(room, "SETTING"):
        setting = room.SETTING
        return [setting.analyze(instance) for instance in setting.read(file, embeddings)]
    answer = plain(room.analyze(room.read(file, embeddings)))
    return [_Told(room, one) for one in answer.get("instances", [answer])]


def analyze(
    file: Path, setting: str, embeddings: Path | None, out: Path | None, as_json: bool
) -> None:
    """Analyze, print, and write the report; with ``--json``, only if a place is given."""
    analyses = _analyses(setting_of(setting), file, embeddings)
    documents = [plain(analysis.document()) for analysis in analyses]
    answer = {"setting": setting}
    answer |= documents[0] if len(documents) == 1 else {"instances": documents}
    if out is None and not as_json:
        out = Path("lemmata-out")
    if out is not None:
        folder = make_folder(out)
        text = json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False)
        write_whole(folder / "analysis.json", f"{text}\n".encode())
        page = write_analysis(folder, analyses, source=file.name)
        messages().print(f"report: [bold]{page}[/]", highlight=False)
    if as_json:
        print_json(answer)
        return
    console = answers()
    for analysis in analyses:
        for item in analysis.describe():
            console.print(item)

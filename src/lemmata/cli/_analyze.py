"""``lemmata analyze``."""

import json
from pathlib import Path

from lemmata._files import make_folder, write_whole
from lemmata.cli._files import setting_of
from lemmata.cli._terminal import answers, messages, print_json
from lemmata.report import plain, write_analysis


def analyze(
    file: Path, setting: str, embeddings: Path | None, out: Path | None, as_json: bool
) -> None:
    """Analyze, print, and write the report; with ``--json``, only if a place is given."""
    room = setting_of(setting)
    answer = plain(room.analyze(room.read(file, embeddings)))
    if out is None and not as_json:
        out = Path("lemmata-out")
    if out is not None:
        folder = make_folder(out)
        text = json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False)
        write_whole(folder / "analysis.json", f"{text}\n".encode())
        page = write_analysis(folder, answer, source=file.name, words=room.describe)
        messages().print(f"report: [bold]{page}[/]", highlight=False)
    if as_json:
        print_json(answer)
        return
    console = answers()
    for instance in answer.get("instances", [answer]):
        for item in room.describe(instance):
            console.print(item)

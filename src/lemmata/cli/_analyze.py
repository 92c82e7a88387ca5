"""``lemmata analyze``."""

from pathlib import Path
from typing import Any

from lemmata._errors import InputError
from lemmata._files import make_folder, write_json
from lemmata._plain import plain
from lemmata._verbs import analyze
from lemmata.drawing import GRAPH_FORMATS
from lemmata.papers import find_setting
from lemmata.report import write_analysis

from ._corpus import analyze_corpus, means_corpus
from ._terminal import answers, messages, print_json


def command(
    file: Path,
    setting: str,
    embeddings: Path | None,
    figures: str | None,
    out: Path | None,
    as_json: bool,
    **of_corpus: Any,
) -> None:
    """Analyze, print, and write the report; with ``--json``, only if a place is given."""
    if means_corpus(file, of_corpus):
        if setting != "mechanics":
            raise InputError(f"a corpus is analysed in the mechanics setting, not in '{setting}'")
        for flag, value in (("--embeddings", embeddings), ("--figures", figures)):
            if value is not None:
                raise InputError(f"{flag} has no effect on a corpus: its tokens are orthonormal")
        analyze_corpus(file, out, as_json, of_corpus)
        return
    formats = tuple((figures or "svg").split(","))
    for name in formats:
        if name not in GRAPH_FORMATS:
            raise InputError(f"--figures takes {', '.join(GRAPH_FORMATS)}; got '{name}'")
    home = find_setting(setting)
    analyses = analyze(home.read(file, embeddings), home)
    documents = [plain(analysis.document()) for analysis in analyses]
    one = documents[0] if len(documents) == 1 else {"instances": documents}
    document = {"setting": home.key} | one
    if out is None and not as_json:
        out = Path("lemmata-out")
    if out is not None:
        folder = make_folder(out / "analyze")
        write_json(folder / "analysis.json", document)
        page = write_analysis(folder, analyses, source=file.name, figures=formats)
        messages().print(f"report: [bold]{page}[/]", highlight=False)
    if as_json:
        print_json(document)
        return
    console = answers()
    for analysis in analyses:
        for item in analysis.describe():
            console.print(item)

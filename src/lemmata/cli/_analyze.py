"""``lemmata analyze``."""

import json
from pathlib import Path
from typing import Any

from rich.table import Table

from lemmata._files import make_folder, write_whole
from lemmata.cli._files import read, setting_of
from lemmata.cli._terminal import answers, messages, print_json
from lemmata.report import plain


def analyze(
    file: Path, setting: str, embeddings: Path | None, out: Path | None, as_json: bool
) -> None:
    """Analyze and print; with ``out``, also write ``analysis.json``."""
    room = setting_of(setting)
    answer = plain(room.analyze(read(file, embeddings, prefixes=True)))
    if out is not None:
        text = json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False)
        write_whole(make_folder(out) / "analysis.json", f"{text}\n".encode())
        messages().print(f"analysis: [bold]{out / 'analysis.json'}[/]")
    if as_json:
        print_json(answer)
        return
    for instance in answer.get("instances", [answer]):
        _show(instance)


def _show(answer: dict[str, Any]) -> None:
    console = answers()

    def say(text: str, **style: Any) -> None:
        console.print(text, highlight=False, markup=False, **style)

    words = answer["vocabulary"]
    say(
        f"{len(words)} tokens, {answer['samples']} samples, {answer['distinct_inputs']} distinct "
        f"inputs, sentences of up to {answer['longest_sentence']} tokens"
    )
    pairs = ", ".join(f"{x} → {after}" for x, after in answer["collocation"].items())
    say(f"collocation: {pairs or 'none'}")
    table = Table("under", "beats", *("optimal", "non-optimal", "non-comparable"), box=None)
    for query, order in answer["queries"].items():
        roles = answer["roles"][query]
        table.add_row(
            str(query),
            ", ".join(f"{a} > {b}" for a, b in order["edges"]) or "-",
            *(" ".join(map(str, roles[r])) for r in ("optimal", "non_optimal", "non_comparable")),
        )
    console.print(table, markup=False)
    for name, key in (("W_ov*", "max_margin_ov"), ("W_kq*", "max_margin")):
        margin = answer[key]
        exact = f", ‖·‖² = {margin['norm_squared_exact']}" if margin["norm_squared_exact"] else ""
        size = f", norm {margin['norm']:.9g}" if margin["norm"] is not None else ""
        say(f"{name}: {margin['status']}{size}{exact}")
        for row in margin.get("infeasibility", ()):
            text = f"  {row['winner']} > {row['loser']} under {row['query']}"
            say(f"{text}, weight {row['multiplier']}")
    for name, state in answer["assumptions"].items():
        say(f"{name}: {'holds' if state['holds'] else 'broken'}", style=_colour(state["holds"]))
    for problem in answer["problems"]:
        say(f"{problem['code']}: {problem['message']} ({problem['where']})", style="yellow")


def _colour(holds: bool) -> str:
    return "green" if holds else "bold red"

"""The analysis in words."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text


def describe(answer: dict[str, Any]) -> Iterator[Text | Table]:
    """Collocation, orders, both max-margin solutions, and which assumptions hold."""
    words = answer["vocabulary"]
    yield Text(
        f"{len(words)} tokens, {answer['samples']} samples, {answer['distinct_inputs']} distinct "
        f"inputs, sentences of up to {answer['longest_sentence']} tokens"
    )
    pairs = ", ".join(f"{x} → {after}" for x, after in answer["collocation"].items())
    yield Text(f"collocation: {pairs or 'none'}")
    table = Table("under", "beats", *("optimal", "non-optimal", "non-comparable"), box=None)
    for query, order in answer["queries"].items():
        roles = answer["roles"][query]
        table.add_row(
            Text(str(query)),
            Text(", ".join(f"{a} > {b}" for a, b in order["edges"]) or "-"),
            *(
                Text(" ".join(map(str, roles[r])))
                for r in ("optimal", "non_optimal", "non_comparable")
            ),
        )
    yield table
    for name, key in (("W_ov*", "max_margin_ov"), ("W_kq*", "max_margin")):
        margin = answer[key]
        exact = f", ‖·‖² = {margin['norm_squared_exact']}" if margin["norm_squared_exact"] else ""
        size = f", norm {margin['norm']:.9g}" if margin["norm"] is not None else ""
        yield Text(f"{name}: {margin['status']}{size}{exact}")
        for row in margin.get("infeasibility", ()):
            text = f"  {row['winner']} > {row['loser']} under {row['query']}"
            yield Text(f"{text}, weight {row['multiplier']}")
    for name, state in answer["assumptions"].items():
        style = "green" if state["holds"] else "bold red"
        yield Text(f"{name}: {'holds' if state['holds'] else 'broken'}", style=style)
    for problem in answer["problems"]:
        text = f"{problem['code']}: {problem['message']} ({problem['where']})"
        yield Text(text, style="yellow")

"""The analysis in words, for a person who has not read the paper."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

MOST_QUERIES = 12
MOST_LINES = 12

MEANS = {
    "theorem-1": "the regularization path turns towards W^mm",
    "theorem-2": "the regularization path turns towards W^mm, and settles ties at W^cyc",
    "theorem-3": "gradient descent (log loss, small steps) does the same",
    "theorem-4": "the weights of gradient descent grow without bound",
}

ASKS = {
    "assumption_2": "every label occurs in its sequence",
    "assumption_4": "the embeddings are linearly independent",
    "definition_2": "no tokens are tied",
    "feasible": "Graph-SVM is feasible",
    "max_margin_nonzero": "some token strictly beats another",
}


def _line(text: str, style: str = "") -> Text:
    """Text for a terminal; what does not print, such as control codes in tokens, is a dot."""
    return Text("".join(c if c.isprintable() else "·" for c in text), style=style)


def describe(answer: dict[str, Any]) -> Iterator[Text | Table]:
    """What one attention layer will learn: first the summary, then the graphs, then the limits."""
    words = answer["vocabulary"]
    yield _line(
        f"{len(words):,} tokens, {answer['samples']:,} samples, {len(answer['queries']):,} last "
        f"tokens, sequences of up to {answer['longest_sequence']} tokens"
    )
    yield _line(
        "A label beats the other tokens of its sequence, given the last token. Attention learns to "
        "select the tokens that nothing else beats; tokens that beat each other are tied and share "
        "the attention."
    )
    yield _queries(answer["queries"])
    hidden = len(answer["queries"]) - MOST_QUERIES
    if hidden > 0:
        yield _line(f"... and {hidden:,} more last tokens (--json lists all)", style="dim")
    yield from _limits(answer)
    for name, state in answer["theorems"].items():
        why = "; ".join(f"not so: {ASKS[needed]}" for needed in state["broken"])
        verdict = "applies" if state["applies"] else f"does not apply ({why})"
        style = "green" if state["applies"] else "bold red"
        yield _line(f"{name} {verdict}: {MEANS[name]}", style=style)
    for problem in answer["problems"][:MOST_LINES]:
        text = f"{problem['code']}: {problem['message']} ({problem['where']})"
        yield _line(text, style="yellow")
    hidden = len(answer["problems"]) - MOST_LINES
    if hidden > 0:
        yield _line(f"... and {hidden:,} more problems", style="yellow")


def _queries(queries: dict[str, Any]) -> Table:
    """The last tokens with the most samples, and what wins under each."""
    table = Table("after", "samples", "priority, highest first", "labels out of reach", box=None)
    busiest = sorted(queries.items(), key=lambda item: -item[1]["samples"])[:MOST_QUERIES]
    for query, found in busiest:
        table.add_row(
            _line(query),
            f"{found['samples']:,}",
            _line(_order(found)),
            _line(" ".join(map(str, found["unreachable_labels"])) or "-"),
        )
    return table


def _order(found: dict[str, Any]) -> str:
    """Layers from the top; tied tokens in braces with their shares of the attention."""
    shares = {
        token: f"{token} {share:.0%}"
        for tie in found["tied"]
        for token, share in zip(tie["tokens"], tie["probabilities"], strict=True)
    }
    layers = [
        ", ".join(
            "{" + ", ".join(shares[token] for token in tied) + "}"
            if len(tied) > 1
            else str(tied[0])
            for tied in layer
        )
        for layer in found["layers"]
    ]
    text = " > ".join(layers) or "-"
    return text if len(text) <= 300 else f"{text[:300]} ..."


def _limits(answer: dict[str, Any]) -> Iterator[Text]:
    margin, correction = answer["max_margin"], answer["cyclic_correction"]
    exact = margin["norm_squared_exact"]
    size = "" if margin["norm"] is None else f", norm {margin['norm']:.9g}"
    square = f", norm² = {exact}" if exact and len(exact) < 60 else ""
    yield _line(
        f"W^mm, the direction of training: {margin['status']}{size}{square}"
        f" (certified {margin['certified']})"
    )
    for row in margin.get("infeasibility", ())[:MOST_LINES]:
        yield _line(
            f"  {row['winner']} > {row['loser']} under {row['query']}, weight "
            f"{row['multiplier']}: together these constraints say 0 >= 1"
        )
    if answer["generalized"]:
        found = answer["generalized"]
        yield _line(
            f"  so training separates {len(found['separable'])} of "
            f"{len(found['separable']) + len(found['bound'])} pairs (direction of norm "
            f"{found['direction']['norm']:.6g}) and stays finite on the rest (norm "
            f"{found['finite_norm']:.6g})"
        )
    yield _line(
        f"W^cyc, what decides ties: norm {correction['norm']:.9g} from "
        f"{correction['tied_samples']:,} samples with ties"
    )

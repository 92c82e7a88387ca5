"""The analysis in words, for a person who has not read the paper."""

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from lemmata.settings import certificate_of
from lemmata.tokens import Token

from ._dataset import Dataset
from ._document import certified
from ._reading import Query, Reading

MOST_QUERIES = 12
MOST_LINES = 12


def _line(text: str, style: str = "") -> Text:
    """Text for a terminal; what does not print, such as control codes in tokens, is a dot."""
    return Text("".join(c if c.isprintable() else "·" for c in text), style=style)


def describe(reading: Reading) -> Iterator[Text | Table]:
    """What one attention layer will learn: first the summary, then the graphs, then the limits."""
    dataset = reading.dataset
    yield _line(
        f"{dataset.K:,} tokens, {dataset.data.total:,} samples, {len(reading.queries):,} last "
        f"tokens, sequences of up to {dataset.data.longest_input} tokens"
    )
    yield _line(
        "A label beats the other tokens of its sequence, given the last token. Attention learns to "
        "select the tokens that nothing else beats; tokens that beat each other are tied and share "
        "the attention."
    )
    yield _queries(reading)
    hidden = len(reading.queries) - MOST_QUERIES
    if hidden > 0:
        yield _line(f"... and {hidden:,} more last tokens (--json lists all)", style="dim")
    yield from _limits(dataset)
    for problem in dataset.problems[:MOST_LINES]:
        yield _line(f"{problem.code}: {problem.message} ({problem.where})", style="yellow")
    hidden = len(dataset.problems) - MOST_LINES
    if hidden > 0:
        yield _line(f"... and {hidden:,} more problems", style="yellow")


def _queries(reading: Reading) -> Table:
    """The last tokens with the most samples, and what wins under each."""
    table = Table("after", "samples", "priority, highest first", "labels out of reach", box=None)
    words = reading.dataset.data.vocabulary
    busiest = sorted(reading.queries.values(), key=lambda query: -query.samples)[:MOST_QUERIES]
    for query in busiest:
        table.add_row(
            _line(str(words[query.graph.query])),
            f"{query.samples:,}",
            _line(_order(query, words)),
            _line(" ".join(str(words[label]) for label in query.unreachable) or "-"),
        )
    return table


def _order(query: Query, words: tuple[Token, ...]) -> str:
    """Layers from the top; tied tokens in braces with their shares of the attention."""
    shares = query.shares

    def show(tied: list[int]) -> str:
        if len(tied) == 1:
            return str(words[tied[0]])
        return "{" + ", ".join(f"{words[token]} {shares[token]:.0%}" for token in tied) + "}"

    text = " > ".join(", ".join(map(show, layer)) for layer in query.graph.layers) or "-"
    return text if len(text) <= 300 else f"{text[:300]} ..."


def _limits(dataset: Dataset) -> Iterator[Text]:
    margin, words = dataset.margin, dataset.data.vocabulary
    exact = margin.norm_squared_exact
    size = "" if margin.norm is None else f", norm {margin.norm:.9g}"
    short = exact is not None and max(exact.numerator, exact.denominator) < 10**30
    square = f", norm² = {exact}" if short else ""
    yield _line(
        f"W^mm, the direction of training: {margin.status.value}{size}{square}"
        f" (certified {certified(margin)})"
    )
    if not dataset.feasible:
        for query, winner, loser, weight in list(certificate_of(margin))[:MOST_LINES]:
            yield _line(
                f"  {words[winner]} > {words[loser]} under {words[query]}, weight {weight}: "
                "together these constraints say 0 >= 1"
            )
        generalized = dataset.generalized
        yield _line(
            f"  so training separates {len(generalized.separable)} of "
            f"{len(generalized.separable) + len(generalized.bound)} pairs (direction of norm "
            f"{generalized.margin.norm:.6g}) and stays finite on the rest (norm "
            f"{dataset.finite_part.norm:.6g})"
        )
    yield _line(
        f"W^cyc, what decides ties: norm {dataset.correction.norm:.9g} from "
        f"{dataset.cyclic.total:,} samples with ties"
    )

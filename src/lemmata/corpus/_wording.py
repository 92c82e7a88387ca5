"""A corpus in words, for a person who has not read the paper."""

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from ._corpus import Corpus
from ._query import Choice, Fact, Query, times

MOST_IN_A_ROW = 10
MOST_LAYERS = 6
MOST_FACTS = 4
LONGEST_PLACE = 12
"""Words of a place that are shown."""

Lines = Iterator[Text | Table]


def line(text: str, style: str = "") -> Text:
    """Text for a terminal; what does not print, such as control codes in tokens, is a dot."""
    return Text("".join(c if c.isprintable() else "·" for c in text), style=style)


def share(part: int, whole: int) -> str:
    """A share in per cent."""
    return f"{part / whole:.1%}" if whole else "-"


def describe_corpus(corpus: Corpus) -> Lines:
    """What one attention layer will learn, in numbers."""
    n = corpus.numbers
    yield line(
        f"{n['tokens']:,} tokens, {n['vocabulary']:,} different, {n['documents']:,} document"
        f"{'s' * (n['documents'] != 1)}; windows of {n['window']}"
        + (f"; {n['rare']:,} tokens are too rare and only fill their place" if n["rare"] else "")
    )
    yield line(
        f"{n['samples']:,} samples; in {n['reached']:,} ({share(n['reached'], n['samples'])}) the "
        "label stands in its window: attention can learn from these alone"
    )
    yield line(
        f"{n['edges']:,} edges (who beats whom) after {n['queries']:,} last tokens; "
        f"{share(n['strict_edges'], n['edges'])} are strict"
    )
    yield line(
        f"{n['tied_tokens']:,} of {n['cells']:,} places in these orders "
        f"({share(n['tied_tokens'], n['cells'])}) are tied, but "
        f"{share(n['tied_samples'], n['reached'])} of the samples that can be learnt have a tie "
        f"around their label; the largest tie has {n['largest_component']:,} tokens"
    )
    yield line(
        f"W^mm, the direction of training: norm {n['norm']:.9g}, one exact program a last token, "
        f"all certified; {n['tight']:,} constraints are tight, {n['idle']:,} of them idle"
    )
    yield _unsolved(corpus)
    yield line(
        f"Last tokens: {n['acyclic']:,} without ties (a direction for each, Theorem 2), "
        f"{n['cyclic']:,} with ties (direction and finite part, Theorem 3), "
        f"{n['without_direction']:,} with ties alone or a single token, "
        f"{n['silent']:,} whose labels are all out of reach"
    )


def _unsolved(corpus: Corpus) -> Text:
    n = corpus.numbers
    rest = (
        f"; {n['unsolved']:,} last tokens have ties too large to be solved in passing: --query "
        "solves them"
        if n["unsolved"]
        else ""
    )
    return line(
        f"W^cyc, what decides ties: from {n['tied_samples']:,} samples, gradient at most "
        f"{n['tie_gradient']:.1e}{rest}"
    )


def describe_query(query: Query) -> Lines:
    """The order after one token, who beats whom and why."""
    n = query.numbers
    yield line(
        f"after '{query.name}': {n['samples']:,} samples, {n['reached']:,} "
        f"({share(n['reached'], n['samples'])}) with the label in its window"
    )
    yield line(
        f"{n['tokens']:,} tokens are compared, {n['edges']:,} edges, {n['layers']:,} layers, "
        f"{n['tied_tokens']:,} tokens in ties"
    )
    yield line(f"norm² of this column of W^mm: {query.norm_squared} (certified exactly)")
    yield _layers(query)
    for tie in query.ties[:MOST_FACTS]:
        yield line(f"tied: {_shares(tie)}")
    yield from _facts(query, "never contradicted", query.facts(MOST_FACTS))
    yield from _facts(query, "contested", query.contested(MOST_FACTS))
    lost = query.out_of_reach
    if lost:
        words = ", ".join(lost[:MOST_IN_A_ROW])
        yield line(f"{len(lost):,} labels are out of reach: {words}{_dots(lost)}")


def _layers(query: Query) -> Table:
    table = Table("layer", "tokens", "the most frequent winners first", box=None, padding=(0, 1))
    for number, layer in enumerate(query.layers[:MOST_LAYERS], 1):
        words = ", ".join(layer[:MOST_IN_A_ROW])
        table.add_row(str(number), f"{len(layer):,}", line(f"{words}{_dots(layer)}"))
    return table


def _dots(words: Sequence[str]) -> str:
    return ", ..." if len(words) > MOST_IN_A_ROW else ""


def _shares(tie: dict[str, float]) -> str:
    shown = [f"{token} {part:.1%}" for token, part in list(tie.items())[:MOST_IN_A_ROW]]
    rest = len(tie) - len(shown)
    return "{" + ", ".join(shown) + (f", and {rest:,} more" if rest else "") + "}"


def _facts(query: Query, title: str, facts: Sequence[Fact]) -> Lines:
    if facts:
        yield line(f"{title}:", style="bold")
    for fact in facts:
        yield line(f"  {fact}")
        for place in query.places(fact.winner, fact.loser, 1):
            words = " ".join(place.words[-LONGEST_PLACE:])
            yield line(f"    ... {words} [{place.label}]", style="dim")


def describe_choice(choice: Choice, query: Query) -> Lines:
    """What is selected from a context, and why."""
    if choice.unknown:
        yield line(f"not in the corpus, and left out: {', '.join(choice.unknown)}", style="yellow")
    first, *rest = choice.selected.items()
    shown = f"{first[0]} {first[1]:.1%}" + "".join(f", {t} {s:.1%}" for t, s in rest)
    yield line(f"attention selects: {shown}", style="bold")
    if len(choice.selected) > 1:
        yield line(
            "they are tied after this token, and share the attention as W^cyc says"
            if choice.decided
            else "they have the same value, but nothing compares them: theory does not say who wins"
        )
    values = ", ".join(f"{token} {value}" for token, value in choice.context.items())
    yield line(f"values of W^mm: {values}")
    winner = first[0]
    for loser in [token for token in choice.context if token not in choice.selected]:
        count = query.beats(winner, loser)
        if count:
            yield line(f"{winner} beats {loser} here {times(count)}")
            for place in query.places(winner, loser, 1):
                yield line(f"    {place}", style="dim")
            return

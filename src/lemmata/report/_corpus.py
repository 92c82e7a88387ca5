"""The page of a whole corpus: what stands out, in words, and a search over its last tokens."""

from pathlib import Path

from lemmata._files import write_whole
from lemmata._html import Markup, element, join
from lemmata.corpus import Corpus, Found, Highlights, describe_corpus

from ._page import document
from ._pieces import chip, clean, count, scrolled, separated, table
from ._words_page import article

MOST_LISTED = 10
MOST_SEARCHED = 2_000
"""Last tokens that can be searched on the page; the store knows all of them."""

LONGEST_PLACE = 14
"""Words of a place in the text."""

SEARCH = """
const box = document.getElementById("search");
const rows = [...document.querySelectorAll("#found tbody tr")];
box.addEventListener("input", () => {
  const wanted = box.value.trim().toLowerCase();
  let left = 60;
  for (const row of rows) {
    const name = row.dataset.token.toLowerCase();
    const fits = name.startsWith(wanted) && left-- > 0;
    row.hidden = !fits;
  }
});
box.dispatchEvent(new Event("input"));
"""


def write_corpus(corpus: Corpus) -> Path:
    """Write ``index.html`` into the store; it loads nothing."""
    title = f"What attention will learn from {clean(corpus.name, 120)}"
    found = Highlights(corpus)
    page = document(
        title,
        element("header", element("h1", title)),
        _in_words(corpus),
        _reach(found),
        _hubs(corpus, found),
        _pairs(corpus, "The clearest orders", CLEAR, found.clear(MOST_LISTED)),
        _pairs(corpus, "The most contested orders", CONTESTED, found.contested(MOST_LISTED)),
        _sizes(corpus, found),
        _search(corpus, found),
        element("section", element("h2", "In numbers"), article(describe_corpus(corpus))),
    )
    write_whole(corpus.folder / "index.html", page.encode())
    return corpus.folder / "index.html"


CLEAR = (
    "One fact for each last token: the label that was right most often while another token stood "
    "in the window, and that nothing contradicts, directly or through others. Trained long enough, "
    "attention gives the loser nothing when both are there."
)

CONTESTED = (
    "Pairs of tokens of which now one, now the other came next while both were in the window. They "
    "are tied: attention will never decide between them, and shares itself out."
)


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def _in_words(corpus: Corpus) -> Markup:
    n = corpus.numbers
    return element(
        "section",
        element("h2", "In plain words"),
        element(
            "p",
            f"One attention layer reads {n['window']} tokens and points at one of them: that is "
            "its guess of what comes next. It can only be right if the next token stands among "
            "them. Here this is so in ",
            element("strong", _percent(n["reached"], n["samples"])),
            f" of {count(n['samples'], 'sample')}.",
        ),
        element(
            "p",
            "From each of these it learns that, after this last token, the label beats the other "
            "tokens of the window. Of all that is learnt in this way, ",
            element("strong", _percent(n["strict_edges"], n["edges"])),
            " is never contradicted, directly or through others: long training separates these "
            "pairs for good, in a direction that is known exactly.",
        ),
        element(
            "p",
            f"But {_percent(n['tied_samples'], n['reached'])} of the samples that can be learnt "
            "have a tie around their label: it beats another token and is beaten by it, directly "
            "or through others. There attention does not learn who wins but how often. Tied tokens "
            f"take {n['tied_tokens'] / max(n['cells'], 1):.1%} of all places in the orders.",
        ),
    )


def _reach(found: Highlights) -> Markup:
    known = found.reach()
    rows = [
        [chip(one.query), _percent(one.reached, one.samples), one.samples]
        for one in known[:MOST_LISTED]
    ]
    last = [
        [chip(one.query), _percent(one.reached, one.samples), one.samples]
        for one in known[-MOST_LISTED:][::-1]
    ]
    head = ["after", "in reach", "samples"]
    return element(
        "section",
        element("h2", "Where looking back helps, and where it does not"),
        element(
            "p",
            "How often the next token stands in the window depends on the token before it. Most "
            "often it does after the tokens of the first table, least often after those of the "
            "second: what follows them is new, and no attention will find it.",
        ),
        element(
            "div",
            element("div", table(head, rows, len(rows), "tokens")),
            element("div", table(head, last, len(last), "tokens")),
            style="display:flex;gap:3rem;flex-wrap:wrap",
        ),
    )


def _hubs(corpus: Corpus, found: Highlights) -> Markup:
    rows = [[chip(hub.token), hub.firsts, hub.seen] for hub in found.hubs(MOST_LISTED)]
    head = ["token", "unbeaten after", "compared after"]
    return element(
        "section",
        element("h2", "Who wins"),
        element(
            "p",
            "Tokens that nothing beats, after how many last tokens, and after how many they were "
            "compared with anything. Attention runs to them wherever they stand in the window.",
        ),
        table(head, rows, len(rows), "tokens"),
    )


def _pairs(corpus: Corpus, title: str, says: str, facts: list[Found]) -> Markup:
    items = []
    for one in facts:
        fact = one.fact
        times = f"{fact.count:,} times" + (f", and loses {fact.against:,}" if fact.against else "")
        line = join("after ", chip(one.query), ": ", chip(fact.winner), " beats ")
        places = corpus[one.query].places(fact.winner, fact.loser, 1)
        example = [
            element("p", "… ", clean(" ".join(p.words[-LONGEST_PLACE:])), " ",
                    element("strong", clean(p.label)), class_="note")
            for p in places
        ]  # fmt: skip
        items.append(element("li", line, chip(fact.loser), f" {times}", *example))
    return element(
        "section",
        element("h2", title),
        element("p", says),
        element("ul", *items) if items else element("p", "There is none."),
    )


def _sizes(corpus: Corpus, found: Highlights) -> Markup:
    bins = [(1, 1), (2, 2), (3, 9), (10, 99), (100, 999), (1_000, 1 << 60)]
    total = corpus.numbers["reached"]
    rows = []
    for low, high in bins:
        inside = [(q, r) for size, q, r in found.sizes() if low <= size <= high]
        if inside:
            name = "no ties" if high == 1 else f"{low:,}" if low == high else f"{low:,} to {high:,}"
            name = f"{low:,} and more" if high == 1 << 60 else name
            samples = sum(r for _, r in inside)
            rows.append([name, sum(q for q, _ in inside), samples, _percent(samples, total)])
    head = ["tokens in the largest tie", "last tokens", "samples in reach", "share"]
    return element(
        "section",
        element("h2", "How large the ties are"),
        element(
            "p",
            "After how many last tokens so many tokens beat each other in circles, at most. After "
            "a rare one the order can be clear only because little is known.",
        ),
        table(head, rows, len(rows), "sizes"),
    )


def _search(corpus: Corpus, found: Highlights) -> Markup:
    winners = found.winners(MOST_SEARCHED)
    rows = []
    for one in found.reach_of(MOST_SEARCHED):
        best = winners.get(one.query, [])
        cells = [
            chip(one.query),
            f"{one.samples:,}",
            _percent(one.reached, one.samples),
            separated([chip(name, f"{wins:,}") for name, wins in best], " "),
        ]
        looks = (None, "number", "number", "prose")
        row = [element("td", x, class_=look) for x, look in zip(cells, looks, strict=True)]
        rows.append(element("tr", *row, data_token=clean(one.query)))
    head = [
        element("th", "after"),
        element("th", "samples", class_="number"),
        element("th", "in reach", class_="number"),
        element("th", "wins most often, and how often"),
    ]
    hidden = corpus.numbers["queries"] - len(rows)
    return element(
        "section",
        element("h2", "Ask for a token"),
        element(
            "p",
            element("input", id="search", type="search", placeholder="a last token …"),
            " ",
            f"{len(rows):,} last tokens" + (f"; the store has {hidden:,} more" if hidden else ""),
        ),
        scrolled(
            element(
                "table",
                element("thead", element("tr", *head)),
                element("tbody", *rows),
                id="found",
            ),
            "last tokens",
        ),
        element("script", Markup(SEARCH)),
    )

"""The page of a whole corpus."""

from pathlib import Path

from lemmata._files import write_whole
from lemmata._html import element
from lemmata.corpus import Corpus, describe_corpus

from ._page import document
from ._pieces import clean
from ._words_page import article


def write_corpus(corpus: Corpus) -> Path:
    """Write ``index.html`` into the store; it loads nothing."""
    title = f"What attention will learn from {clean(corpus.name, 120)}"
    page = document(
        title, element("header", element("h1", title)), article(describe_corpus(corpus))
    )
    write_whole(corpus.folder / "index.html", page.encode())
    return corpus.folder / "index.html"

"""One folder a paper; this is where the rooms are put together."""

from lemmata.papers._paper import Figure as Figure
from lemmata.papers._paper import Paper as Paper
from lemmata.papers._paper import papers as papers

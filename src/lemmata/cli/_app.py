"""The commands and their options.

The command NAME is the function ``command`` of the module ``_NAME``, which is loaded when it is
asked for; arguments and options are its parameters. The docstrings here are what ``--help`` shows.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from inspect import cleandoc
from pathlib import Path

from lemmata import __version__
from lemmata._errors import InputError, unknown_name
from lemmata._programs import keep_programs

from ._parser import Parser, at_least_zero
from ._terminal import BAD_INPUT, errors_for_people

CLAIM = "A claim, a paper, FILE.py or FILE.py::NAME."
DATA = "Token sequences, or plans: what the setting reads."


def main(words: Sequence[str] | None = None) -> None:
    """A laboratory for the training dynamics of one-layer transformers."""
    name, *rest = (sys.argv[1:] if words is None else words) or [""]
    page, commands = parsers()
    with errors_for_people():
        if name in commands:
            given = commands[name].read(rest)
            keep_programs()
            import_module(f"lemmata.cli._{name}").command(**given)
        elif name.startswith("-"):
            page.read([name])
        elif name:
            raise InputError(unknown_name("command", name, commands))
        else:
            page.print_help()
            sys.exit(BAD_INPUT)


def parsers() -> tuple[Parser, dict[str, Parser]]:
    """The page of all commands, and the parser of each."""
    page = Parser(prog="lemmata", description=main.__doc__)
    says = f"lemmata {__version__}"
    page.add_argument("--version", action="version", version=says, help="Print the version.")
    made = page.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    commands = {}
    for declare in (list_, reproduce, check, falsify, analyze, train, sweep, play):
        name = declare.__name__.rstrip("_")
        about = cleandoc(declare.__doc__ or "")
        parser = made.add_parser(name, help=about.split("\n\n")[0], description=about)
        declare(parser)
        commands[name] = parser
    return page, commands


def list_(parser: Parser) -> None:
    """List papers, figures and claims, and the options of each setting."""
    parser.add_argument("paper", metavar="PAPER", nargs="?", help="One paper only.")
    parser.switch("--coverage", "What each paper says, item by item, and what covers it.")
    _json(parser)


def reproduce(parser: Parser) -> None:
    """Draw figures, check claims and write the report; everything if no TARGET is given."""
    parser.add_argument("targets", metavar="TARGET", nargs="*", help="A paper, figure or claim.")
    says = "Seconds, or the paper's own sizes: quick or paper."
    parser.option("--scale", says, choices=("quick", "paper"), metavar="SCALE", default="quick")
    _seed(parser)
    _out(parser)
    _json(parser)
    _strict(parser)


def check(parser: Parser) -> None:
    """Check claims, ours or your own, and print the verdicts.

    Further options change the training of the claims, as far as their setting has them.
    """
    parser.add_argument("claims", metavar="CLAIM", nargs="*", help=CLAIM)
    parser.option("--data", "Check on this data instead.", type=Path, metavar="FILE")
    _embeddings(parser)
    parser.training(lr="Another step size.", steps="Another number of steps.")
    parser.option("--status", "Show only verdicts of this status: fails, holds, ...")
    parser.switch("--latex", "Print a LaTeX table.")
    _seed(parser)
    _out(parser, None)
    _json(parser)
    _strict(parser)


def falsify(parser: Parser) -> None:
    """Attack claims, ours or your own: look for the smallest instance that breaks them.

    Ctrl-C gives the best so far.
    """
    parser.add_argument("claims", metavar="CLAIM", nargs="+", help=CLAIM)
    seconds = at_least_zero(float, "a number")
    parser.option("--budget", "Seconds for all claims together.", type=seconds, default=60.0)
    parser.option("--scope", "Go through all instances up to this size.", metavar="K=3,T=3,n=4")
    _seed(parser)
    _out(parser, None)
    _json(parser)


def analyze(parser: Parser) -> None:
    """Say what your token sequences, your plans or a whole corpus mean to one attention layer.

    With --window, FILE is a corpus: text, JSON Lines, Parquet or a folder of these. Its store can
    be asked again with --query and --context.
    """
    _data(parser)
    says = "Formats in which graphs are saved: svg, pdf, png, tex (TikZ); svg if left out."
    parser.option("--figures", says, metavar="svg,pdf")
    _corpus(parser)
    _out(parser, None, "Where the report goes: lemmata-out, or nowhere with --json.")
    _json(parser)


def train(parser: Parser) -> None:
    """Train on your token sequences, or as planned, and watch the predicted limit appear.

    Further options are those of the setting: `lemmata list PAPER` shows them.
    """
    _data(parser)
    parser.training(
        algorithm="The setting's own if left out.",
        lr="The step size: a number, or a word.",
        steps="The number of steps.",
        record="Steps to record, as in 1,100,...; log-spaced if absent.",
    )
    _out(parser)
    _json(parser)


def sweep(parser: Parser) -> None:
    """Measure a setting, or judge a claim, at every point of a grid.

    What is there already is not run again; a sweep that was stopped goes on.
    """
    parser.advice = "; options of training are written like --over steps=2000"
    parser.add_argument("target", metavar="TARGET", help="A setting, a claim, FILE.py::NAME.")
    says = "Values: K=4..32..4, eta=1e-3..1e3..x10, d=1,2,5. Several make a grid."
    parser.option("--over", says, action="append", metavar="NAME=VALUES")
    parser.switch("--zip", "Walk through all values together.")
    parser.option("--seeds", "How many instances at each point.", type=int, default=1)
    says = "Columns, or numbers of the analysis, as in norm,max_margin.norm."
    parser.option("--measure", says, default="", metavar="NAMES")
    parser.option("--workers", "Processes; usually one a processor.", type=int, metavar="N")
    parser.option("--scheduler", "A running Dask scheduler does the work.", metavar="ADDRESS")
    _out(parser)
    _json(parser)


def play(parser: Parser) -> None:
    """Open a page to play with: type sentences, train, watch, attack.

    It is served to this machine only, and works without a network.
    """
    parser.add_argument("file", metavar="FILE", nargs="?", type=Path, help=DATA)
    says = "A paper, or FILE.py with a setting of your own."
    parser.option("--setting", says, default="mechanics")
    parser.option("--port", "Usually 8470, or the next one that is free.", type=int, metavar="N")
    parser.switch("--no-browser", "Print the address, and open nothing.", dest="quiet")


def _corpus(parser: Parser) -> None:
    """What is for a corpus only."""
    says = "A corpus: every T tokens in a row, and the next one, are a sample."
    parser.option("--window", says, type=int, metavar="T")
    says = "words, characters or a tokenizer.json; words if left out."
    parser.option("--tokenizer", says, metavar="NAME")
    parser.option("--min-count", "Rarer tokens only fill their place.", type=int, metavar="N")
    parser.option("--column", "Where text or token numbers stand in .jsonl and .parquet.")
    says = "The share of the corpus, at its end, that nothing is learnt from."
    parser.option("--held-out", says, type=float, metavar="SHARE")
    parser.option("--memory", "To stay within, as in 512MB; 2GB if left out.", metavar="SIZE")
    parser.option("--workers", "Processes; usually one a processor.", type=int, metavar="N")
    parser.option("--scheduler", "A running Dask scheduler does the work.", metavar="ADDRESS")
    parser.option("--query", "Tell about one last token of the corpus.", metavar="TOKEN")
    parser.option("--context", "Tell what attention selects from this text.", metavar="TEXT")


def _data(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help=DATA)
    says = "A paper, or FILE.py with a setting of your own."
    parser.option("--setting", says, default="mechanics")
    _embeddings(parser)


def _embeddings(parser: Parser) -> None:
    says = "One row a token or position: .npy or .json."
    parser.option("--embeddings", says, type=Path, metavar="FILE")


def _seed(parser: Parser) -> None:
    whole = at_least_zero(int, "a whole number")
    parser.option("--seed", "Everything random depends on it alone.", type=whole, default=0)


def _out(parser: Parser, place: str | None = "lemmata-out", says: str = "") -> None:
    usual = "a folder for each command" if place else "nowhere if left out"
    parser.option("--out", says or f"Where results go: {usual}.", type=Path, default=place)


def _json(parser: Parser) -> None:
    parser.switch("--json", "Print one JSON document and nothing else.", dest="as_json")


def _strict(parser: Parser) -> None:
    parser.switch("--strict", "Exit with 1 if any verdict is 'fails'.")

"""The commands and their options."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lemmata._errors import InputError

from ._terminal import errors_for_people

app = typer.Typer(
    name="lemmata",
    help="A laboratory for the training dynamics of one-layer transformers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 if any verdict is 'fails'.")]
Seed = Annotated[int, typer.Option(min=0, help="Everything random depends on it alone.")]
Out = Annotated[Path, typer.Option(help="Where results go: a folder for each command.")]
MaybeOut = Annotated[Path | None, typer.Option(help="Where results go; nowhere if left out.")]
Setting = Annotated[str, typer.Option(help="A paper, or FILE.py with a setting of your own.")]
DataFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Token sequences, or plans: what the setting reads.")
]
Embeddings = Annotated[
    Path | None, typer.Option(metavar="FILE", help="One row a token or position: .npy or .json.")
]

RESULTS = Path("lemmata-out")

FURTHER = {"ignore_unknown_options": True}
"""Options of training are those of the setting, which knows them and refuses all others.

The parser leaves them among the arguments, where ``split`` finds them.
"""


class Scale(StrEnum):
    """How large experiments are."""

    quick = "quick"
    paper = "paper"


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """A laboratory for the training dynamics of one-layer transformers."""
    if show:
        from lemmata import __version__

        typer.echo(f"lemmata {__version__}")
        raise typer.Exit


@app.command("list")
def list_(
    paper: Annotated[str | None, typer.Argument(metavar="[PAPER]", help="One paper only.")] = None,
    json: Json = False,
) -> None:
    """List papers, figures and claims, and the options of each setting."""
    from lemmata.cli._list import list_everything

    with errors_for_people():
        list_everything(paper, json)


@app.command()
def reproduce(
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="TARGET...", help="A paper, figure or claim.")
    ] = None,
    scale: Annotated[Scale, typer.Option(help="Seconds, or the paper's own sizes.")] = Scale.quick,
    seed: Seed = 0,
    out: Out = RESULTS,
    json: Json = False,
    strict: Strict = False,
) -> None:
    """Draw figures, check claims and write the report; everything if no TARGET is given."""
    with errors_for_people():
        from lemmata.cli._reproduce import reproduce

        reproduce(targets or [], scale.value, seed, out, json, strict)


@app.command(context_settings=FURTHER)
def check(
    claims: Annotated[
        list[str] | None,
        typer.Argument(metavar="CLAIM...", help="A claim, a paper, FILE.py or FILE.py::NAME."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Check on this data instead.")
    ] = None,
    embeddings: Embeddings = None,
    lr: Annotated[str | None, typer.Option(help="Another step size.")] = None,
    steps: Annotated[str | None, typer.Option(help="Another number of steps.")] = None,
    status: Annotated[
        str | None, typer.Option(help="Show only verdicts of this status: fails, holds, ...")
    ] = None,
    latex: Annotated[bool, typer.Option("--latex", help="Print a LaTeX table.")] = False,
    seed: Seed = 0,
    out: MaybeOut = None,
    json: Json = False,
    strict: Strict = False,
) -> None:
    """Check claims, ours or your own, and print the verdicts.

    Further options change the training of the claims, as far as their setting has them.
    """
    with errors_for_people():
        from lemmata.cli._check import CheckRequest, check

        names, flags = split(claims or [], {"--lr": lr, "--steps": steps})
        request = CheckRequest(names, data, embeddings, status, latex, seed, out, json, strict)
        check(request, flags)


@app.command()
def falsify(
    claims: Annotated[
        list[str],
        typer.Argument(metavar="CLAIM...", help="A claim, a paper, FILE.py or FILE.py::NAME."),
    ],
    budget: Annotated[float, typer.Option(min=0.0, help="Seconds for all claims together.")] = 60.0,
    scope: Annotated[
        str | None,
        typer.Option(metavar="K=3,T=3,n=4", help="Go through all instances up to this size."),
    ] = None,
    seed: Seed = 0,
    out: MaybeOut = None,
    json: Json = False,
) -> None:
    """Attack claims, ours or your own: look for the smallest instance that breaks them.

    Ctrl-C gives the best so far.
    """
    with errors_for_people():
        from lemmata.cli._falsify import FalsifyRequest, falsify

        falsify(FalsifyRequest(claims, budget, scope, seed, out, json))


@app.command()
def analyze(
    file: DataFile,
    setting: Setting = "mechanics",
    embeddings: Embeddings = None,
    figures: Annotated[
        str, typer.Option(metavar="svg,pdf", help="Formats in which graphs are saved.")
    ] = "svg",
    out: Annotated[
        Path | None,
        typer.Option(help="Where the report goes: lemmata-out, or nowhere with --json."),
    ] = None,
    json: Json = False,
) -> None:
    """Say what your token sequences, or your plans, mean to one attention layer."""
    with errors_for_people():
        from lemmata.cli._analyze import analyze

        analyze(file, setting, embeddings, tuple(figures.split(",")), out, json)


@app.command(context_settings=FURTHER)
def train(
    file: Annotated[
        list[str], typer.Argument(help="Token sequences, or plans: what the setting reads.")
    ],
    setting: Setting = "mechanics",
    algorithm: Annotated[str | None, typer.Option(help="The setting's own if left out.")] = None,
    lr: Annotated[str | None, typer.Option(help="The step size: a number, or a word.")] = None,
    steps: Annotated[str | None, typer.Option(help="The number of steps.")] = None,
    record: Annotated[
        str | None, typer.Option(metavar="1,100,...", help="Steps to record; log-spaced if absent.")
    ] = None,
    embeddings: Embeddings = None,
    out: Out = RESULTS,
    json: Json = False,
) -> None:
    """Train on your token sequences, or as planned, and watch the predicted limit appear.

    Further options are those of the setting: `lemmata list PAPER` shows them.
    """
    with errors_for_people():
        from lemmata.cli._train import train

        given = {"--algorithm": algorithm, "--lr": lr, "--steps": steps, "--record": record}
        names, flags = split(file, given)
        if len(names) != 1:
            raise InputError(f"train takes one file; got {len(names)}: {' '.join(names)}")
        train(Path(names[0]), setting, embeddings, flags, out, json)


def split(
    words: list[str], given: dict[str, str | None]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Names, and options as pairs of a flag and its value, in the order of typing."""
    names: list[str] = []
    flags = [(flag, value) for flag, value in given.items() if value is not None]
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            names.append(word)
            continue
        flag, equals, value = word.partition("=")
        if not equals:
            if not rest or rest[0].startswith("--"):
                raise InputError(f"{flag} needs a value")
            value = rest.pop(0)
        flags.append((flag, value))
    return names, flags


def main() -> None:
    """The entry point."""
    app()

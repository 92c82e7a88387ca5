"""The commands and their options."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lemmata.cli._terminal import errors_for_people

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
Out = Annotated[Path, typer.Option(help="Where results go.")]
Setting = Annotated[str, typer.Option(help="The paper whose setting to use.")]
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Tokens: .txt, .jsonl or .json; in the selection and context settings plans: .json.",
    ),
]
Embeddings = Annotated[
    Path | None, typer.Option(metavar="FILE", help="One row a token or position: .npy or .json.")
]
Steps = Annotated[int | None, typer.Option(help="Steps of the main stage.")]
Rate = Annotated[
    str | None, typer.Option(help="Step size of the main stage: a number, or 'paper' or 'tight'.")
]
FirstSteps = Annotated[int | None, typer.Option(help="Steps of the first stage.")]
FirstRate = Annotated[str | None, typer.Option(help="Step size of the first stage.")]

RESULTS = Path("lemmata-out")


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
def list_(json: Json = False) -> None:
    """List papers, figures and claims."""
    from lemmata.cli._list import list_everything

    list_everything(json)


@app.command()
def reproduce(
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="TARGET...", help="A paper or a figure.")
    ] = None,
    scale: Annotated[Scale, typer.Option(help="Seconds, or the paper's own sizes.")] = Scale.quick,
    seed: Seed = 0,
    out: Out = RESULTS,
    json: Json = False,
    strict: Strict = False,
) -> None:
    """Draw figures, check claims and write the report; everything if no TARGET is given."""
    from lemmata.cli._reproduce import reproduce

    with errors_for_people():
        reproduce(targets or [], scale is Scale.paper, seed, out, json, strict)


@app.command()
def check(
    claims: Annotated[
        list[str] | None, typer.Argument(metavar="CLAIM...", help="A claim or a paper.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Check on these tokens or plans instead.")
    ] = None,
    embeddings: Embeddings = None,
    stage1_steps: FirstSteps = None,
    stage1_lr: FirstRate = None,
    steps: Steps = None,
    lr: Rate = None,
    seed: Seed = 0,
    json: Json = False,
    strict: Strict = False,
) -> None:
    """Check claims and print the verdicts."""
    from lemmata.cli._check import check

    training = {
        "stage1_steps": stage1_steps,
        "stage1_rate": _rate(stage1_lr),
        "steps": steps,
        "rate": _rate(lr),
    }
    with errors_for_people():
        check(claims or [], data, embeddings, training, seed, json, strict)


@app.command()
def analyze(
    file: DataFile,
    setting: Setting = "mechanics",
    embeddings: Embeddings = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where the report goes: lemmata-out, or nowhere with --json."),
    ] = None,
    json: Json = False,
) -> None:
    """Say what your token sequences, or your plans, mean to one attention layer."""
    from lemmata.cli._analyze import analyze

    with errors_for_people():
        analyze(file, setting, embeddings, out, json)


@app.command()
def train(
    file: DataFile,
    setting: Setting = "mechanics",
    algorithm: Annotated[
        str | None,
        typer.Option(
            help="ngd (the default), gd; mechanics: block, factored, flow, path; convergence: "
            "joint; selection: gd (the default), sgd, adam; context: gd (the default), adam."
        ),
    ] = None,
    lr: Rate = None,
    steps: Steps = None,
    stage1_lr: FirstRate = None,
    stage1_steps: FirstSteps = None,
    loss: Annotated[
        str | None, typer.Option(help="log, squared, softmax-squared or cross-entropy.")
    ] = None,
    head: Annotated[
        str | None, typer.Option(help="identity, embedding, or a file with the matrix C.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Added to the gradient norm that ngd divides by.")
    ] = None,
    record: Annotated[
        str | None, typer.Option(metavar="1,100,...", help="Steps to record; log-spaced if absent.")
    ] = None,
    predict: Annotated[
        list[str] | None,
        typer.Option(metavar='"A B"', help="Predict the token after this input; repeatable."),
    ] = None,
    embeddings: Embeddings = None,
    out: Out = RESULTS,
    json: Json = False,
) -> None:
    """Train on your token sequences, or as planned, and watch the predicted limit appear."""
    from lemmata.cli._train import train

    options: dict[str, Any] = {
        "algorithm": algorithm,
        "rate": _rate(lr),
        "steps": steps,
        "stage1_rate": _rate(stage1_lr),
        "stage1_steps": stage1_steps,
        "loss": loss,
        "head": head,
        "epsilon": epsilon,
        "predict": tuple(predict or ()),
    }
    with errors_for_people():
        train(file, setting, embeddings, options, record, out, json)


def _rate(text: str | None) -> float | str | None:
    """A step size as typed: a number, or the name of a choice."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def main() -> None:
    """The entry point."""
    app()

"""A training run as a page: curves with what theory says, attention before and after, numbers."""

from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._files import write_whole
from lemmata._html import Markup, element, join
from lemmata._mathml import mathematics
from lemmata.drawing import Panel, percent, picture_bytes, plot_panels
from lemmata.settings import AbstractSetting, Look, Prediction, Run

from ._document import document, inline_svg
from ._pieces import (
    MOST_ROWS,
    chip,
    clean,
    count,
    facts,
    folded,
    more_line,
    scrolled,
    separated,
    table,
)

MOST_INSTANCES = 10

MOST_CAUTIONS = 5
"""Problems that are told at once; the others are folded away."""

MOST_POSITIONS = 40
"""Of an input that is shown."""

DIGITS = 6


def columns_of(setting: AbstractSetting[Any], run: Run, i: int) -> dict[str, np.ndarray]:
    """What was recorded of an instance, by title; columns without a title or a number are not."""
    recorded = run.evidence.columns
    columns = {
        column.title: recorded[column.name][i]
        for column in setting.columns
        if column.title and column.name in recorded and not np.isnan(recorded[column.name][i]).all()
    }
    extras = run.extras[i] if run.extras else {}
    return columns | {f"loss {task}": x for task, x in extras.get("tests", {}).items()}


def write_training(
    folder: Path, stem: str, setting: AbstractSetting[Any], run: Run, source: str
) -> Path:
    """Write ``STEM.html``, which loads nothing, and a figure of each instance.

    Args:
        folder: where they go.
        stem: the name of the page without its ending; figures are ``STEM.svg``, with the
            number of the instance if there are several.
        setting: how the run is to be read.
        run: what was trained.
        source: the name of what was trained on.

    Returns:
        The path of the page.
    """
    shown = range(min(len(run.instances), MOST_INSTANCES))
    names = [stem if len(run.instances) == 1 else f"{stem}-{i}" for i in shown]
    title = f"Training on {clean(source, 120)}"
    header = element("header", element("h1", title), element("p", mathematics(clean(run.rule))))
    articles = [_instance(folder, names[i], setting, run, i) for i in shown]
    hidden = more_line(len(run.instances) - len(shown), "instances")
    path = folder / f"{stem}.html"
    write_whole(path, document(title, header, *articles, hidden).encode())
    return path


def _instance(folder: Path, stem: str, setting: AbstractSetting[Any], run: Run, i: int) -> Markup:
    """Everything about one instance."""
    instance, reason = run.instances[i], run.reasons[i]
    head = element("h2", clean(instance.name))
    notes = [f"{problem.message} ({problem.where})" for problem in instance.problems]
    lines = [element("p", clean(text), class_="caution") for text in notes[:MOST_ROWS]]
    cautions, others = lines[:MOST_CAUTIONS], lines[MOST_CAUTIONS:]
    if others:
        cautions.append(folded(count(len(others), "more problem"), *others))
    if not run.trained[i]:
        return element("article", head, element("p", f"Not trained: {reason}"), *cautions)
    if reason is not None:
        cautions.insert(0, element("p", clean(reason), class_="caution"))
    return element(
        "article",
        head,
        *cautions,
        _curves(folder, stem, setting, run, i),
        _attention(setting, run, i),
        _answers(run, i),
        _numbers(run.steps, columns_of(setting, run, i)),
    )


def _curves(folder: Path, stem: str, setting: AbstractSetting[Any], run: Run, i: int) -> Markup:
    """One panel a column, with what theory says about it."""
    forecasts = setting.forecasts(run, i)
    titles = {column.title: column for column in setting.columns if column.title}
    panels = [
        Panel(
            title,
            values,
            [
                (f.values, f.says)
                for f in forecasts
                if title in titles and f.column == titles[title].name
            ],
        )
        for title, values in columns_of(setting, run, i).items()
        if title not in {forecast.says for forecast in forecasts}
    ]
    svg = picture_bytes(plot_panels(run.steps, panels), "svg")
    write_whole(folder / f"{stem}.svg", svg)
    said = "t counts the steps. Solid: what was recorded." if len(run.steps) else ""
    said += " Dashed: what theory says." if forecasts else ""
    meanings = [
        (panel.title, titles[panel.title].says) for panel in panels if panel.title in titles
    ]
    return element(
        "section",
        element("h3", "Curves"),
        element(
            "figure",
            scrolled(
                inline_svg(svg.decode(), f"{stem}-", f"curves of {run.instances[i].name}"),
                "curves",
                "wide curves",
            ),
        ),
        element("p", said, class_="note") if said else None,
        facts((mathematics(title), mathematics(says)) for title, says in meanings if says),
        element("p", element("a", "SVG", href=f"{stem}.svg"), class_="files"),
        class_="figure",
    )


def _attention(setting: AbstractSetting[Any], run: Run, i: int) -> Markup | None:
    looks = setting.looks(run, i)
    if not looks:
        return None
    return element(
        "section",
        element("h3", "Attention, before and after"),
        element("p", "The stronger the colour, the more.", class_="note"),
        *[
            join(
                element("h4", clean(look.title)),
                facts(
                    (when, _shaded(look, x))
                    for when, x in (("before", look.before), ("after", look.after))
                ),
            )
            for look in looks
        ],
    )


def _shaded(look: Look, attention: Float[np.ndarray, "positions"]) -> Markup:
    """The tokens of an input, each as dark as the attention on it."""
    pieces = [
        chip(token, percent(float(share)), shade=float(share))
        for token, share in zip(look.tokens[:MOST_POSITIONS], attention, strict=False)
    ]
    rest = len(look.tokens) - MOST_POSITIONS
    return join(separated(pieces, " "), f" and {rest} more" if rest > 0 else None)


def _answers(run: Run, i: int) -> Markup | None:
    asked = run.predictions[i] if run.predictions else ()
    if not asked:
        return None
    rows = [[clean(p.input), _next(p), f"{p.probability:.4f}"] for p in asked]
    head = ["input", "expected next", "with"]
    return element("section", element("h3", "Predictions"), table(head, rows, len(rows), "inputs"))


def _next(answer: Prediction) -> Markup | str:
    """The next token, or those that tie."""
    return clean(f"tie: {', '.join(map(str, answer.tied))}") if answer.tied else chip(answer.next)


def _numbers(steps: np.ndarray, columns: dict[str, np.ndarray]) -> Markup:
    rows = [
        [
            int(t) if float(t).is_integer() else f"{t:g}",
            *(cell(x[k], DIGITS) for x in columns.values()),
        ]
        for k, t in enumerate(steps)
    ]
    grid = table(["t", *columns], rows[:MOST_ROWS], len(rows), "records")
    return folded("The numbers", grid)


def cell(value: float, digits: int) -> str:
    """A number of a table; a dash for one that is not known."""
    return "-" if np.isnan(value) else f"{value:.{digits}g}"

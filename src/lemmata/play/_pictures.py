"""Pictures of a run as plain values, with as many digits as an eye can use."""

from typing import Any

import numpy as np

from lemmata._plain import plain
from lemmata.settings import Attention, Chart, Heat, Picture, Plane

DIGITS = 5


def picture_document(picture: Picture) -> dict[str, Any]:
    """One picture, under the name of its kind."""
    if isinstance(picture, Attention):
        return {
            "kind": "attention",
            "title": picture.title,
            "tokens": list(picture.tokens),
            "weights": _short(picture.weights),
            "goal": list(picture.goal),
        }
    if isinstance(picture, Heat):
        return {
            "kind": "heat",
            "title": picture.title,
            "says": picture.says,
            "rows": list(picture.rows),
            "columns": list(picture.columns),
            "values": _short(picture.values),
            "goal": None if picture.goal is None else _short(picture.goal),
            "goal_title": picture.goal_title,
        }
    if isinstance(picture, Plane):
        return {
            "kind": "plane",
            "title": picture.title,
            "says": picture.says,
            "x_title": picture.x_title,
            "y_title": picture.y_title,
            "x": _short(picture.x),
            "y": _short(picture.y),
            "phases": plain(picture.phases),
            "lines": [
                {"name": name, "x": _short(x), "y": _short(y)}
                for name, (x, y) in picture.lines.items()
            ],
        }
    return _chart(picture)


def _chart(picture: Chart) -> dict[str, Any]:
    return {
        "kind": "chart",
        "title": picture.title,
        "says": picture.says,
        "x_title": picture.x_title,
        "y_title": picture.y_title,
        "x": list(picture.x),
        "curves": [{"name": name, "y": _short(y)} for name, y in picture.curves.items()],
        "fixed": [{"name": name, "y": _short(y)} for name, y in picture.fixed.items()],
        "log_x": picture.log_x,
        "log_y": picture.log_y,
        "dots": picture.dots,
    }


def _short(values: Any) -> Any:
    """Numbers to a few significant digits; those that are not finite become None."""
    array = np.asarray(values, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.abs(array))))
        rounded = np.where(np.isfinite(size), np.rint(array * size) / size, 0.0)
    return plain(np.where(np.isfinite(array), rounded, np.nan))

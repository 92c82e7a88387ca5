"""Lemmata: a laboratory for the training dynamics of one-layer transformers.

    import lemmata as lm

``lm.read``, ``lm.draw``, ``lm.analyze``, ``lm.train``, ``lm.check`` and ``lm.falsify`` are the
verbs; ``lm.claim`` declares a lemma of your own; ``lm.mechanics``, ``lm.convergence``,
``lm.selection`` and ``lm.context`` are the settings of the four papers, and
``lm.papers["mechanics"]`` is a paper with its claims and figures. Whatever is named here is loaded
when it is used.
"""

import importlib
from typing import Any

__version__ = "0.2.0"

_HOMES = {
    "lemmata._verbs": ("analyze", "check", "draw", "falsify", "read", "train"),
    "lemmata._analyses": ("Analyses", "Analysis"),
    "lemmata._errors": ("InputError",),
    "lemmata.papers": ("claim", "experiment", "Contents", "Figure", "Paper"),
    "lemmata.claims": (
        *("at_least", "at_most", "equal", "tends_to", "share_at_least", "share_at_most"),
        *("Fact", "Identity", "Inequality", "Limit", "Share", "Silence", "mean_of", "judge"),
        *("AbstractInstances", "Bench", "Claim", "Experiment", "Version", "statements"),
        *("Kind", "Status", "Tightness", "Verdict", "Verdicts"),
    ),
    "lemmata.settings": (
        *("AbstractAnalysis", "AbstractSetting", "Column", "Evidence", "Hypothesis", "Option"),
        *("Prediction", "Run", "AbstractSpace", "Scope", "Forecast", "Look", "Parameter"),
    ),
    "lemmata.corpus": ("Corpus",),
    "lemmata.sweeps": ("sweep", "SweepTable"),
    "lemmata.search": ("Finding", "Findings", "Outcome", "Witness"),
    "lemmata.training": ("AbstractDynamics", "Recording", "Store", "log_spaced", "run"),
    "lemmata.attention": ("AbstractLoss", "Shape"),
    "lemmata.tokens": ("Problem",),
    "lemmata.drawing": ("Drawing",),
}

_PLACE = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("mechanics", "convergence", "selection", "context", "papers")

__all__ = ["__version__", *sorted(_PLACE), *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"lemmata.{name}")
    if name not in _PLACE:
        if name.startswith("_"):
            raise AttributeError(name)
        errors = importlib.import_module("lemmata._errors")
        raise AttributeError(errors.unknown_name("name", name, __all__))
    return getattr(importlib.import_module(_PLACE[name]), name)


def __dir__() -> list[str]:
    return __all__

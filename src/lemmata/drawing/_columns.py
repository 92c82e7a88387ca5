"""One recorded column against the steps, as a figure of its own."""

from typing import Any

import numpy as np
from jaxtyping import Float, Num

from lemmata._errors import InputError, unknown_name

from ._style import COLUMN_WIDTH, PALETTE, style

BANDS = ("quantiles", "ci95", "none")


def plot_column(
    steps: Num[np.ndarray, "records"],
    rows: Float[np.ndarray, "instances records"],
    name: str,
    *,
    band: str = "quantiles",
    log: bool = True,
) -> Any:
    """The mean over instances on a band: quantiles from 5 % to 95 %, or the mean's interval."""
    if band not in BANDS:
        raise InputError(unknown_name("band", band, BANDS))
    from matplotlib.figure import Figure

    known = rows[~np.isnan(rows).all(axis=1)]
    mean = known.mean(axis=0)
    with style():
        picture = Figure(figsize=(COLUMN_WIDTH, 0.7 * COLUMN_WIDTH))
        axes = picture.subplots()
        if band != "none" and len(known) > 1:
            low, high = np.quantile(known, [0.05, 0.95], axis=0)
            if band == "ci95":
                error = 1.96 * known.std(axis=0, ddof=1) / np.sqrt(len(known))
                low, high = mean - error, mean + error
            axes.fill_between(steps, low, high, color=PALETTE["blue"], alpha=0.25, linewidth=0)
        axes.plot(steps, mean, color=PALETTE["blue"])
        axes.set_xlabel("t")
        axes.set_ylabel(name)
        if log and steps[-1] > 0:
            axes.set_xscale("symlog", linthresh=max(1, int(steps[steps > 0][0])))
            if (mean > 0).all() and mean.max() > 100 * mean.min():
                axes.set_yscale("log")
    return picture

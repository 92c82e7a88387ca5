"""Measure everything in one process and print one table."""

import argparse

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks import checking, context, mechanics, selection, solvers, sweeps, training
from benchmarks._rows import Row
from lemmata.papers.convergence.setting import Realizable, Samples, generate


def main() -> None:
    """Run every benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="datasets to train (100)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the datasets (0)")
    options = parser.parse_args()
    datasets = generate(Realizable(), options.count, options.seed)
    seconds = training.measure(datasets)
    rows = [
        *seconds.rows(),
        *training.against_numpy(datasets, seconds),
        checking.all_claims(datasets),
        *solvers.against_clarabel("realizable", generate(Realizable(), 20, options.seed)),
        *solvers.against_clarabel("sample-level", generate(Samples(), 20, options.seed)),
        *mechanics.figure_4(options.count, options.seed),
        mechanics.large_program(options.seed),
        *mechanics.scaling(options.seed),
        *selection.training_step(options.seed),
        *context.training_step(options.seed),
        context.side_by_side(options.seed),
        *sweeps.against_loops(),
    ]
    console = Console()
    console.width = max(console.width, 152)
    console.print(_table(rows))
    console.print(
        "First the convergence paper: Algorithm 1, |V| = 20, 900 + 900 steps, every step recorded; "
        "then the mechanics, the selection and the in-context paper, and sweeps. Cold includes "
        "compiling. Megabytes are the peak of this process above its size before; what it had "
        "freed and used again does not show.\n"
        f"After 900 + {training.CHECK_STEPS} steps W_kq of Lemmata and of the NumPy loops differ "
        f"by at most {training.disagreement(datasets[0]):.1e}."
    )


def _table(rows: list[Row]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("first", "second"):
        table.add_column(heading)
    for heading in ("first, s", "second, s", "second/first", "first, MB", "second, MB"):
        table.add_column(heading, justify="right")
    table.add_column("note")
    for row in rows:
        numbers = (f"{row.first_seconds:.3g}", f"{row.second_seconds:.3g}", f"{row.ratio:.3g}")
        peaks = ["–" if peak is None else f"{peak:.0f}" for peak in row.memory]
        table.add_row(row.first, row.second, *numbers, *peaks, row.note)
    return table


if __name__ == "__main__":
    main()

"""The analysis in words."""

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from lemmata.margin import Status
from lemmata.tokens import Problem, Role

from ._dataset import Dataset

ROLES = {
    "optimal": Role.OPTIMAL,
    "non-optimal": Role.NON_OPTIMAL,
    "non-comparable": Role.NON_COMPARABLE,
}


def describe(
    dataset: Dataset, assumptions: Mapping[str, Sequence[Problem]]
) -> Iterator[Text | Table]:
    """Collocation, orders, both max-margin solutions, and which assumptions hold."""
    data, name = dataset.data, dataset.data.name
    yield Text(
        f"{dataset.K} tokens, {data.total} samples, {dataset.N} distinct inputs, sentences of up "
        f"to {dataset.L_max} tokens"
    )
    pairs = [f"{name(x)} → {name(y)}" for x, y in dataset.collocation.following.items()]
    yield Text(f"collocation: {', '.join(pairs) or 'none'}")
    yield _orders(dataset)
    yield from _solutions(dataset)
    for assumption, broken in assumptions.items():
        style = "bold red" if broken else "green"
        yield Text(f"{assumption}: {'broken' if broken else 'holds'}", style=style)
    for problem in dataset.problems:
        yield Text(f"{problem.code}: {problem.message} ({problem.where})", style="yellow")


def _orders(dataset: Dataset) -> Table:
    """One row a query: who beats whom, and the role of each token."""
    name = dataset.data.name
    table = Table("under", "beats", *ROLES, box=None)
    for query, graph in dataset.orders.graphs.items():
        edges = ", ".join(f"{name(a)} > {name(b)}" for a, b in graph.edges)
        roles = (dataset.orders.having(query, role) for role in ROLES.values())
        cells = [name(query), edges or "-", *(" ".join(map(name, tokens)) for tokens in roles)]
        table.add_row(*map(Text, cells))
    return table


def _solutions(dataset: Dataset) -> Iterator[Text]:
    name = dataset.data.name
    for title, margin in (("W_ov*", dataset.value_margin), ("W_kq*", dataset.attention_margin)):
        square = margin.norm_squared_exact
        exact = "" if square is None else f", ‖·‖² = {square}"
        size = "" if margin.norm is None else f", norm {margin.norm:.9g}"
        yield Text(f"{title}: {margin.status.value}{size}{exact}")
        if margin is dataset.attention_margin and margin.status is Status.INFEASIBLE:
            for query, table in margin.multipliers.items():
                for (a, b), weight in table.items():
                    yield Text(f"  {name(a)} > {name(b)} under {name(query)}, weight {weight}")

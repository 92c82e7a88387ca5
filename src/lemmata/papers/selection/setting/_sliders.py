"""The numbers of a plan that can be moved, with the ranges of Theorems 3.1 and 3.3."""

from collections.abc import Sequence

from lemmata.settings import Slider

from ._plan import Plan, largest_epsilon, largest_rate

LONGEST, LARGEST_D, WIDEST = 200, 20, 400
LEAST = 1e-6


def sliders(plan: Plan) -> Sequence[Slider]:
    """T, q, d, eta and eps; and d_e of random encodings."""
    T, q, d = plan.T, plan.q, plan.d
    allowed, small = largest_rate(plan.task, plan.d_e), largest_epsilon(plan.task)
    theorem = "Theorem 3.1" if plan.kind == "one-hot" else "Theorem 3.3"
    sparse = (2, (T - 1) // 4, "2 ≤ q < T/4")
    moved = [
        Slider("q", "how many are chosen", q, 1, max(T - 1, 2), True, (sparse,)),
        Slider("d", "dimensions of a token", d, 1, LARGEST_D, True),
        Slider(
            "eta",
            "the step size",
            plan.rate,
            1e-3,
            4.0 * q,
            False,
            ((0.0, allowed, f"{theorem}: eta ≤ {allowed:.3g}"), (0.0, 2.0 * q, "stable: eta < 2q")),
        ),
        Slider(
            "eps",
            "the loss to reach",
            plan.epsilon,
            LEAST,
            max(1.0, 2 * small),
            False,
            ((0.0, small, f"{theorem}: eps < {small:.3g}"),),
        ),
    ]
    if plan.encodings is None:
        moved.insert(0, Slider("T", "how many tokens", T, q + 1, LONGEST, True))
    if plan.kind == "random":
        says = "dimensions of an encoding"
        moved.append(Slider("d_e", says, plan.d_e or 1, max(q, 8), WIDEST, True))
    return moved

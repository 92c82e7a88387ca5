"""Powers with which something grows: how statements with O and O~ are judged."""

import numpy as np
from jaxtyping import Float

from lemmata.claims import Inequality, at_most

Column = Float[np.ndarray, "cases 1"]


def fitted_exponents(
    values: Column, parameters: dict[str, Column]
) -> tuple[Float[np.ndarray, "parameters"], Float[np.ndarray, "parameters"]]:
    """The powers of the parameters whose product fits the values best, and their errors.

    Least squares of logarithms; the errors are those that the residuals leave.
    """
    logs = np.log(np.concatenate(list(parameters.values()), axis=1))
    design = np.concatenate([np.ones_like(logs[:, :1]), logs], axis=1)
    target = np.log(values[:, 0])
    found, *_ = np.linalg.lstsq(design, target, rcond=None)
    left = target - design @ found
    spread = np.sqrt(left @ left / max(len(left) - design.shape[1], 1))
    errors = spread * np.sqrt(np.diag(np.linalg.inv(design.T @ design)))
    return found[1:], errors[1:]


def of_a_logarithm(values: Column) -> float:
    """The power that a factor log(1 + x) looks like over these x: what O~ hides."""
    low, high = float(values.min()), float(values.max())
    return float(np.log(np.log1p(high) / np.log1p(low)) / np.log(high / low))


def grows_like(
    part: str, values: Column, parameters: dict[str, tuple[Column, float]], *, logs: bool = False
) -> Inequality:
    """The values grow at most like these powers of the parameters; ``logs`` allows a logarithm."""
    columns = {name: column for name, (column, _) in parameters.items()}
    found, errors = fitted_exponents(values, columns)
    powers = [
        power + (of_a_logarithm(column) if logs else 0.0) for column, power in parameters.values()
    ]
    return at_most(
        found[:, None],
        np.array(powers)[:, None],
        error=errors[:, None],
        part=part,
        cases=[f"power of {name}" for name in parameters],
    )


def spans(values: Column, factor: float = 4.0) -> bool:
    """Whether the cases reach over so large a factor that a power can be fitted."""
    return len(values) > 0 and float(values.max() / values.min()) >= factor

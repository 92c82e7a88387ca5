"""Arrays of balls that a statement can be evaluated on as if they were arrays of numbers."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from lemmata._errors import InputError
from lemmata.settings import Balls, Evidence, Nudged, Whole, with_numbers

TRUSTED = 2.0**-40
"""Relative error of a number that an instance knows in floating point; whole numbers are exact."""

NOTHING = 2.0**-200
"""A zero that balls give is so small, relative to the other numbers of its column."""


SAFETY = 4.0
"""A number in floating point may be off by so many times what moving its terms does to it."""

UNFIT = (InputError, ArithmeticError, LookupError, ValueError)
"""What a statement raises on evidence that it is not written for."""


class CannotTellError(Exception):
    """A comparison inside a statement cannot be decided: the balls are too wide."""


def ball(value: Any) -> arb:
    """A number as a ball: exactly what it is."""
    if isinstance(value, np.ndarray):
        value = value.item()
    if isinstance(value, arb):
        return value
    if isinstance(value, Fraction):
        return arb(value.numerator) / value.denominator
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return arb(int(value))
    return arb(float(value))


def known_by(instance_value: Any) -> arb:
    """A number that an instance knows: exact if it is whole or a fraction, else nearly so."""
    exact = ball(instance_value)
    whole = isinstance(instance_value, arb | Fraction | bool | int | np.integer)
    if whole or not exact.is_finite() or float(instance_value).is_integer():
        return exact
    return arb(exact, abs(float(instance_value)) * TRUSTED)


def _decided(yes: Callable[[arb, arb], Any], no: Callable[[arb, arb], Any]) -> Any:
    """A comparison that is true, or false, and else an error; false with something unknown."""

    def compare(a: Any, b: Any) -> bool:
        left, right = ball(a), ball(b)
        if left.is_nan() or right.is_nan():
            return False
        if yes(left, right):
            return True
        if no(left, right):
            return False
        raise CannotTellError

    return compare


_same = _decided(lambda a, b: a == b, lambda a, b: a != b)


def _power(base: Any, exponent: Any) -> arb:
    if not isinstance(exponent, arb) and float(exponent).is_integer():
        return ball(base) ** int(exponent)
    return ball(base) ** ball(exponent)


def _either(a: Any, b: Any, choose: Callable[[arb, arb], arb]) -> arb:
    """Of two numbers one of which may be unknown."""
    left, right = ball(a), ball(b)
    if left.is_nan():
        return right
    return left if right.is_nan() else choose(left, right)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.maximum: lambda a, b: ball(a).max(ball(b)),
    np.minimum: lambda a, b: ball(a).min(ball(b)),
    np.fmax: lambda a, b: _either(a, b, arb.max),
    np.fmin: lambda a, b: _either(a, b, arb.min),
    np.greater: _decided(lambda a, b: a > b, lambda a, b: a <= b),
    np.greater_equal: _decided(lambda a, b: a >= b, lambda a, b: a < b),
    np.less: _decided(lambda a, b: a < b, lambda a, b: a >= b),
    np.less_equal: _decided(lambda a, b: a <= b, lambda a, b: a > b),
    np.equal: _same,
    np.not_equal: lambda a, b: not _same(a, b),
    np.isfinite: lambda a: ball(a).is_finite(),
    np.isnan: lambda a: ball(a).is_nan(),
    np.sign: lambda a: ball(a).sgn(),
    np.power: _power,
    np.float_power: _power,
    np.square: lambda a: ball(a) * ball(a),
    np.log: lambda a: ball(a).log(),
    np.log1p: lambda a: ball(a).log1p(),
    np.log2: lambda a: ball(a).log() / arb(2).log(),
    np.log10: lambda a: ball(a).log() / arb(10).log(),
    np.exp: lambda a: ball(a).exp(),
    np.expm1: lambda a: ball(a).expm1(),
    np.exp2: lambda a: arb(2) ** ball(a),
    np.sqrt: lambda a: ball(a).sqrt(),
    np.logaddexp: lambda a, b: (ball(a).exp() + ball(b).exp()).log(),
    np.tanh: lambda a: ball(a).tanh(),
    np.cosh: lambda a: ball(a).cosh(),
    np.sinh: lambda a: ball(a).sinh(),
    np.sin: lambda a: ball(a).sin(),
    np.cos: lambda a: ball(a).cos(),
    np.arctan: lambda a: ball(a).atan(),
    np.true_divide: lambda a, b: ball(a) / ball(b),
}
"""What balls do differently from other objects, or under another name."""


ARRANGING = {
    *(np.where, np.concatenate, np.stack, np.hstack, np.vstack, np.append, np.roll, np.flip),
    *(np.reshape, np.ravel, np.squeeze, np.expand_dims, np.transpose, np.repeat, np.tile, np.split),
    *(np.broadcast_to, np.broadcast_arrays, np.atleast_1d, np.atleast_2d, np.take, np.delete),
    *(
        np.zeros_like,
        np.ones_like,
        np.full_like,
        np.empty_like,
        np.copyto,
        np.ndim,
        np.shape,
        np.size,
    ),
    *(np.diff, np.cumsum, np.cumprod, np.sum, np.prod, np.mean, np.max, np.min, np.dot),
}
"""Functions that do nothing with balls but move them, or what ``FUNCTIONS`` are for."""


TRUTH = {np.logical_and, np.logical_or, np.logical_not, np.logical_xor}
"""Functions that take numbers for true unless they are zero, which a ball may contain."""


class BallArray(np.ndarray):
    """Balls in the shape of an array; functions of NumPy act on them one by one.

    A single ball is an array too, so that no comparison is left to the balls themselves: theirs
    is false where it cannot be decided.
    """

    def __getitem__(self, at: Any) -> Any:
        return as_balls(super().__getitem__(at))

    def __float__(self) -> float:
        """Of an exact ball, such as a step."""
        if not self.item() == float(self.item()):
            raise TypeError("a ball is not one number")
        return float(self.item())

    def __bool__(self) -> bool:
        raise TypeError("a ball is neither true nor false")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc in TRUTH:
            raise TypeError(f"numpy.{ufunc.__name__} is not written for balls")
        plain = [np.asarray(x, dtype=object) if isinstance(x, np.ndarray) else x for x in inputs]
        options.pop("dtype", None)
        if method == "reduce" and options.get("axis", 0) is None:
            plain, options["axis"] = [np.ravel(plain[0])], 0
        if ufunc in FUNCTIONS:
            ufunc = np.frompyfunc(FUNCTIONS[ufunc], ufunc.nin, 1)
        target = options.pop("out", None)
        result = as_balls(getattr(ufunc, method)(*plain, **options))
        if target is None:
            return result
        target[0][...] = result
        return target[0]

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        chosen_by_balls = function is np.where and isinstance(inputs[0], BallArray)
        if function not in ARRANGING or chosen_by_balls:
            raise TypeError(f"numpy.{function.__name__} is not written for balls")
        result = super().__array_function__(function, types, inputs, options)
        return tuple(map(as_balls, result)) if isinstance(result, tuple) else as_balls(result)


def _comparing_in_secret(self: BallArray, *inputs: Any, **options: Any) -> Any:
    raise TypeError("methods of arrays that compare are not written for balls")


for _name in (
    "argmax",
    "argmin",
    "sort",
    "argsort",
    "partition",
    "argpartition",
    "searchsorted",
    "nonzero",
):
    setattr(BallArray, _name, _comparing_in_secret)


class BallInstance:
    """An instance whose numbers are balls: those that are enclosed, else trusted to 2^-40."""

    def __init__(self, instance: Any, enclosed: Mapping[str, Any]) -> None:
        self._instance, self._enclosed = instance, enclosed

    def __getattr__(self, name: str) -> Any:
        if name in self._enclosed:
            return as_balls(self._enclosed[name])
        return in_balls(getattr(self._instance, name))


def in_balls(value: Any) -> Any:
    """The value with balls for its floating-point numbers; all that is exact stays as it is."""

    def enclose(number: Any) -> Any:
        balls = np.array([known_by(entry) for entry in np.ravel(number)], dtype=object)
        return as_balls(balls.reshape(np.shape(number)))

    return with_numbers(
        value,
        enclose,
        lambda inner: BallInstance(inner, {}),
        lambda number: Whole(number, lambda exact: as_balls(arb(exact))),
    )


class BallRun:
    """A run of one instance whose columns are balls, with the interface of evidence.

    Attributes:
        cases: the instance, with balls for its numbers.
    """

    def __init__(
        self,
        instance: Any,
        steps: np.ndarray | None,
        columns: Balls,
        enclosed: Mapping[str, Any],
    ) -> None:
        self._instance = instance
        self.cases = (BallInstance(instance, enclosed),)
        self.steps = None
        if steps is not None:
            self.steps = as_balls(np.array([arb(int(step)) for step in steps], dtype=object))
        self.columns = {name: as_balls(np.atleast_2d(grid)) for name, grid in columns.items()}

    def __getattr__(self, name: str) -> Any:
        columns = self.__dict__.get("columns", {})
        if name not in columns:
            raise AttributeError(f"{name} is not known in ball arithmetic")
        return columns[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.cases)

    def __len__(self) -> int:
        return 1

    @property
    def records(self) -> np.ndarray:
        """The recorded steps."""
        assert self.steps is not None, "nothing was followed"
        return self.steps

    def each(self, value: Callable[[Any], Any]) -> Any:
        """A number, or a row of numbers, of the instance."""
        try:
            row = _row(value(self.cases[0]))
            in_floats = any(isinstance(x, float | np.floating) and x % 1 for x in row)
            numbers = self._nearly(value) if in_floats else [known_by(number) for number in row]
        except (AttributeError, TypeError, *UNFIT):  # it is not written for balls
            numbers = self._nearly(value)
        return as_balls(np.array([numbers], dtype=object))

    def _nearly(self, value: Callable[[Any], Any]) -> list[arb]:
        """The same in floating point, with the error that its terms may have."""
        exact = [known_by(number) for number in _row(value(self._instance))]
        moved = [
            _row(value(Nudged(self._instance, np.random.default_rng(seed)))) for seed in (1, 2)
        ]
        return [
            arb(number, SAFETY * max(float(abs(other - number).upper()) for other in others))
            if number.is_finite()
            else number
            for number, *others in zip(exact, *moved, strict=True)
        ]

    def rounded(self) -> Evidence[Any]:
        """The same in floating point: every number is the nearest one, up to rounding.

        Columns whose balls are too wide for that are left out.
        """
        narrow = {name: grid for name, grid in self.columns.items() if is_narrow(grid)}
        columns = {name: midpoints(grid) for name, grid in narrow.items()}
        steps = None if self.steps is None else midpoints(self.steps)
        return Evidence((self._instance,), steps, columns)


def _row(values: Any) -> np.ndarray:
    return np.ravel(np.asarray(values, dtype=object))


def as_balls(values: Any) -> Any:
    """Balls as an array of them; truth values stay what they are."""
    if not isinstance(values, np.ndarray | arb):
        return values
    plain = np.asarray(values, dtype=object)
    if all(isinstance(v, bool) for v in plain.ravel()):
        return plain.astype(bool)
    return plain.view(BallArray)


def is_narrow(balls: np.ndarray) -> bool:
    """Whether every ball is as good as one number, also next to the others of its column.

    What was never known may stay unknown; what was, and is no longer, was lost to wide balls.
    """
    for row in np.atleast_2d(np.asarray(balls, dtype=object)):
        largest = max((abs(value.mid()) for value in row if value.is_finite()), default=arb(0))
        known = False
        for value in row:
            if value.is_finite():
                known = True
                if value.rad() > TRUSTED * abs(value.mid()) and value.rad() > NOTHING * largest:
                    return False
            elif (known and value.is_nan()) or not (value.is_nan() or value.is_exact()):
                return False
    return True


def midpoints(balls: np.ndarray) -> np.ndarray:
    """The numbers in the middle, in floating point."""
    plain = np.asarray(balls, dtype=object)
    return np.array([float(ball(value).mid()) for value in plain.ravel()]).reshape(plain.shape)

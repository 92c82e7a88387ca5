"""Importing this checks types and shapes of every call into the package while tests run.

`jaxtyping` offers an import hook for that, which wraps every function so that the axes of its
arrays are compared with each other. That costs some microseconds a call: nothing for a function of
arrays, and half of the time of the tests for all others (an order is asked millions of times who
beats whom). Here arrays are compared by `jaxtyping`, and functions that have none are left to
`beartype` alone, which takes a tenth of that. A function is checked in its first calls of every
test: a descent of a thousand steps on small arrays would otherwise take four times as long.
"""

import ast
import functools
import sys
from collections import Counter
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any, ForwardRef, get_args

import beartype
import jaxtyping

PLAIN = beartype.beartype(conf=beartype.BeartypeConf(violation_type=jaxtyping.TypeCheckError))
"""Both say the same of a wrong type: ``TypeCheckError``, which is a ``TypeError``."""


FIRST_CALLS = 50
"""Of a function in a test; all later ones go through unchecked."""

_calls: Counter[int] = Counter()


def begin_test() -> None:
    """From here on all first calls are checked again."""
    _calls.clear()


def checked(thing: Callable | type) -> Any:
    """A function or a dataclass that looks at what it is given: shapes too where there are any."""
    if isinstance(thing, type):
        return jaxtyping.jaxtyped(typechecker=beartype.beartype)(thing)
    shaped = any(map(_has_shape, thing.__annotations__.values()))
    strict = jaxtyping.jaxtyped(typechecker=beartype.beartype)(thing) if shaped else PLAIN(thing)
    number = id(thing)

    @functools.wraps(thing)
    def in_first_calls(*arguments: Any, **named: Any) -> Any:
        if _calls[number] >= FIRST_CALLS:
            return thing(*arguments, **named)
        _calls[number] += 1
        return strict(*arguments, **named)

    return in_first_calls


def _has_shape(annotation: object) -> bool:
    """Whether arrays occur in a type, however deep, or might behind a name that comes later."""
    if isinstance(annotation, str | ForwardRef):
        return True
    own = type(annotation).__module__.startswith("jaxtyping")
    return own or any(map(_has_shape, get_args(annotation)))


class _Finder(MetaPathFinder):
    def __init__(self, package: str):
        self.package = package

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname.split(".")[0] != self.package:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    """Reads a module with `checked` on every function (nearest to it) and class (outermost)."""

    def path_stats(self, path: str) -> Any:
        raise OSError("the bytecode that is stored has no checks, and must not get any")

    def source_to_code(self, data: Any, path: Any, **options: Any) -> Any:
        tree = ast.parse(data, path)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                last = 0 if isinstance(node, ast.ClassDef) else len(node.decorator_list)
                node.decorator_list.insert(last, _decorator(node))
        name = ast.parse("from checked_types import checked as __checked__").body[0]
        tree.body.insert(_after_docstring(tree), name)
        return super().source_to_code(ast.fix_missing_locations(tree), path, **options)


def _decorator(node: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name("__checked__", ast.Load()), node)


def _after_docstring(tree: ast.Module) -> int:
    return 0 if ast.get_docstring(tree) is None else 1


assert "lemmata" not in sys.modules, "the package is loaded already: too late to check it"
sys.meta_path.insert(0, _Finder("lemmata"))

"""How hard the compiler tries: a program that runs for a moment should be compiled in a moment.

Most programs here are small and run for less time than XLA takes to make them fast. Two of its
options decide: the fusion emitters, more than half of the time of a compilation, and the level of
optimization of LLVM. They change how fast a program is and the last bits of what it computes.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_WITHOUT_EMITTERS = {
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 2,  # 32, as is usual, takes a fifth more in all
}


def compiled_once(function: FunctionT) -> FunctionT:
    """For what runs once: a third of the time to compile, three times slower to run."""
    return _compiled(function, {**_WITHOUT_EMITTERS, "xla_backend_optimization_level": 0})


def compiled_briefly(function: FunctionT) -> FunctionT:
    """For what runs for seconds: half the time to compile, a tenth slower to run."""
    return _compiled(function, {**_WITHOUT_EMITTERS, "xla_backend_optimization_level": 1})


def compiled_well(function: FunctionT) -> FunctionT:
    """For what runs for minutes: as XLA does by itself."""
    return _compiled(function, {})


def _compiled(function: FunctionT, options: dict[str, Any]) -> FunctionT:
    return eqx.filter_jit(function, compiler_options=options)  # pyright: ignore[reportCallIssue]

"""Every test runs in the strictest mode there is, and the same way each time."""

import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import checked_types  # first of all: what is imported from here on is checked
import jax
import pytest
from hypothesis import settings
from oracles.golden import GOLDEN, Case, cases

gc.disable()  # until all is loaded, there is nothing to free

CACHE = Path(tempfile.gettempdir()) / f"lemmata-test-programs-{jax.__version__}"
"""Compiled programs on disk, which the workers share, and commands in processes of their own."""

jax.config.update("jax_compilation_cache_dir", str(CACHE))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
os.environ["JAX_COMPILATION_CACHE_DIR"] = str(CACHE)
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

settings.register_profile("lemmata", derandomize=True, deadline=None, database=None)
settings.load_profile("lemmata")


def pytest_collection_finish() -> None:
    """What is loaded now stays: the garbage collector need not look at it again and again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def check_first_calls() -> None:
    """Types and shapes are looked at anew in each test."""
    checked_types.begin_test()


@pytest.fixture(scope="module", autouse=True)
def forget_programs() -> Iterator[None]:
    """Compiled programs of one file serve no other; kept, they fill the memory."""
    yield
    jax.clear_caches()
    gc.collect()


@pytest.fixture(scope="session")
def golden() -> dict:
    """The reference numbers of the convergence paper, computed once elsewhere."""
    return GOLDEN


@pytest.fixture(params=sorted(cases()))
def case(request) -> Case:
    """Each dataset of the reference numbers in turn."""
    return cases()[request.param]

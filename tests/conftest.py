"""Pytest's hooks, which choose the code that the tests import (`grader.child.plugin`), and the fixture `device`."""

import os

import pytest

from grader.child.device import resolve
from grader.child.plugin import (
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_terminal_summary,
)

__all__ = ["pytest_addoption", "pytest_collection_modifyitems", "pytest_configure", "pytest_terminal_summary"]

os.environ["MINI_TRITON_CACHE_PROGRAMS"] = "0"
os.environ["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = "0"  # this takes longer than compiling the tests' few files


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """Where kernels run in this session: `cpu` or `cuda`."""
    return resolve(request.config.getoption("--device"))

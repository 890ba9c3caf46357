"""A plugin for pytest: tests that import Triton, unchanged, run on mini_triton. (Given.)

    pytest -p mini_triton.pytest test_kernels.py

The plugin has the options of `mini-triton run`, such as `--mini-triton-bounds warn`.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from mini_triton.tools import cuda, run

PREFIX = "--mini-triton-"


def pytest_addoption(parser: pytest.Parser) -> None:
    run.add_options(parser.getgroup("mini_triton", "mini_triton runs programs written for Triton").addoption, PREFIX)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Prepare before any file of the tests is imported."""
    known = vars(early_config.known_args_namespace)
    start = PREFIX.strip("-").replace("-", "_") + "_"
    run.prepare({name.removeprefix(start): value for name, value in known.items() if name.startswith(start)})


def pytest_report_header(config: pytest.Config) -> str:
    """Say what runs the kernels, and where."""
    return f"mini_triton: in place of Triton; CUDA tensors are {cuda.PLACES[config.getoption('mini_triton_device')]}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Explain an error about a missing GPU."""
    try:
        return (yield)
    except BaseException as error:
        cuda.explain(error)
        raise

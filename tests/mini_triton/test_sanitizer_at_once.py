"""Programs run at once under the sanitizer, with coarse checks: these suspect every defect, and little else."""

import contextlib
import io
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
from mini_triton import sanitizer
from mini_triton.environment import SANITIZE
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.ir.storage import Buffer, OutOfBounds
from mini_triton.sanitizer.at_once import passes
from mini_triton.sanitizer.facts import KernelFacts
from mini_triton.sanitizer.launch import SanitizedKernel, as_declared
from mini_triton.sanitizer.memory import Memory
from mini_triton.sanitizer.reports import KINDS

from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.corpus.inputs import inputs
from tests.corpus.themes import read
from tests.oracles import values
from tests.support import sources
from tests.support.m06_codegen.numpy_backend import prepare
from tests.support.sanitizer.planted import FOLDER, reports

(HARMLESS,) = read(FOLDER / "harmless.txt").values()
"""Bodies of kernels with nothing to suspect."""


@contextlib.contextmanager
def slow_runs() -> Iterator[mock.MagicMock]:
    """Inside the `with`, record the calls that run programs one by one."""
    run = SanitizedKernel.run_one_by_one
    with mock.patch.object(SanitizedKernel, "run_one_by_one", autospec=True, side_effect=run) as one_by_one:
        yield one_by_one


@pytest.mark.parametrize("body", HARMLESS, ids=str)
def test_nothing_is_suspected_of_harmless_kernels(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SANITIZE, "1")
    with slow_runs() as one_by_one:
        found, _ = reports(body + "  # here", wrong=False)
    assert not found and not one_by_one.called


# --- kernels that are wrong, or may be


def without_others(module: Module) -> None:
    """Let loads have no value where they are masked off."""
    for load in list(module.walk()):
        if load.name == "tt.load" and len(load.operands) == 3:
            replaced(load, Operation("tt.load", load.operands[:2], [load.result.type], load.attributes, loc=load.loc))


def without_masks(module: Module) -> None:
    """Let stores write all that they have."""
    for store in list(module.walk()):
        if store.name == "tt.store" and len(store.operands) == 3:
            replaced(store, Operation("tt.store", store.operands[:2], (), store.attributes, loc=store.loc))


def without_programs(module: Module) -> None:
    """Let all programs do the work of the first one."""
    for program in list(module.walk()):
        if program.name == "tt.get_program_id":
            replaced(program, Operation("arith.constant", (), [program.result.type], {"value": 0}, loc=program.loc))


def replaced(old: Operation, new: Operation) -> None:
    """Replace an operation by another one."""
    assert old.parent is not None
    old.parent.insert(old.parent.operations.index(old), new)
    for before, after in zip(old.results, new.results, strict=True):
        before.replace_all_uses_with(after)
    old.erase()


def nothing(module: Module) -> None:
    """Leave a kernel as it is; half of the memory was never written."""


@pytest.mark.parametrize("change", [without_others, without_masks, without_programs, nothing])
@pytest.mark.parametrize("case", [case for case in CASES if "lock" not in str(case)], ids=str)
def test_what_is_wrong_is_suspected(case: Case, change: Any) -> None:
    module = parse_module(print_module(sources.compiled(case.source(), str(case.path)), locations=True))
    change(module)
    kernel = SanitizedKernel(KernelFacts(module), frozenset(KINDS))

    def launch() -> tuple[list[Any], Memory]:
        arrays, given, reachable = prepare(module, *inputs(case, values.SEED))
        for array in arrays if change is nothing else ():
            if isinstance(array, np.ndarray):
                before = array.copy()
                sanitizer.uninitialized(array)[: array.size // 2] = before[: array.size // 2]
        types = [argument.type for argument in kernel.facts.block.arguments]
        arguments = [as_declared(type, value) for type, value in zip(types, given, strict=True)]
        buffers = [value for value in arguments if isinstance(value, Buffer)]
        return arguments, Memory([*buffers, *reachable], kernel.kinds)

    x, y, z = (*case.grid, 1, 1)[:3]
    with contextlib.redirect_stdout(io.StringIO()):
        with contextlib.suppress(OutOfBounds):
            kernel.run_one_by_one((x, y, z), *launch())
            if not kernel.reports:
                return
        arguments, memory = launch()
        assert not passes(kernel.facts, (x, y, z), arguments, memory), f"wrong, but not suspected: {kernel.reports}"

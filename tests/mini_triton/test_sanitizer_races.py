"""Races between reads and writes: random kernels, judged by sets of elements, and patterns that are correct."""

import functools
import itertools
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton import sanitizer
from mini_triton.environment import SANITIZE
from mini_triton.ir.printer import print_module
from mini_triton.ir.storage import Buffer
from mini_triton.sanitizer.at_once import passes
from mini_triton.sanitizer.facts import facts_of
from mini_triton.sanitizer.launch import SanitizedKernel, as_declared
from mini_triton.sanitizer.memory import Memory

from tests.corpus.themes import read
from tests.mini_triton.test_sanitizer_at_once import slow_runs
from tests.support import sources
from tests.support.m05_frontend import random_kernels
from tests.support.m06_codegen.numpy_backend import prepare
from tests.support.sanitizer.planted import FOLDER
from tests.support.sources import load

RACES = frozenset({"races"})
HEADER = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, out, ready, n, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    pid, lane = tl.program_id(0), tl.arange(0, BLOCK)
    at = pid * BLOCK + lane
"""


def kernel_of(body: str) -> Any:
    """The kernel with this body."""
    return load(HEADER + "".join(f"    {line}\n" for line in body.split("\n")))["kernel"]


# --- random kernels

SIZE, PROGRAMS, BLOCK = 64, 4, 4
Access = tuple[str, int, int, int, int, bool]
"""How it accesses memory; the factors of program and lane; the first element; how many lanes; if it has a remainder."""
accesses = st.tuples(
    *(
        st.sampled_from(["write", "read", "read a view"]),
        st.sampled_from([0, 1, 2, 4, 8]),
        st.sampled_from([0, 1, 3, 4]),
    ),
    *(st.integers(8, 19), st.integers(1, BLOCK), st.booleans()),
)


def line_of(number: int, access: Access) -> str:
    """The line of the kernel that performs an access to `x`, or to `y`, which is `x` without its first 8 elements."""
    how, of_program, of_lane, first, lanes, has_remainder = access
    base, first = ("y", first - 8) if how == "read a view" else ("x", first)
    pointer = f"{base} + (pid * {of_program} + lane * {of_lane} + {first}){' % n' if has_remainder else ''}"
    if how == "write":
        return f"tl.store({pointer}, {number + 1} * 100 + pid * 10 + lane, mask=lane < {lanes})"
    return f"total += tl.load({pointer}, mask=lane < {lanes}, other=0)"


def has_race(drawn: list[Access]) -> bool:
    """Whether a lane writes an element that another program accesses, or that another lane writes at the same time."""
    read: set[tuple[int, int]] = set()
    written: set[tuple[int, int]] = set()
    for how, of_program, of_lane, first, lanes, has_remainder in drawn:
        skipped = 8 if how == "read a view" else 0
        for program in range(PROGRAMS):
            elements = [program * of_program + lane * of_lane + first - skipped for lane in range(lanes)]
            elements = [(at % 48 if has_remainder else at) + skipped for at in elements]
            if how == "write" and len(set(elements)) < len(elements):
                return True
            (written if how == "write" else read).update((element, program) for element in elements)
    return any(a == b and p != q for (a, p), (b, q) in itertools.product(written, read | written))


@given(st.lists(accesses, min_size=1, max_size=5))
def test_random_kernels(drawn: list[Access]) -> None:
    lines = [line_of(number, access) for number, access in enumerate(drawn)]
    body = "\n".join(["total = lane * 0", *lines, "tl.store(out + at, total)"])
    compiled = kernel_of(body).warmup(*[np.int32] * 4, 48, PROGRAMS=PROGRAMS, BLOCK=BLOCK)
    kernel = SanitizedKernel(facts_of(str(compiled.texts["ttir"])), RACES)

    def launch() -> tuple[list[Any], Memory]:
        x = np.zeros(SIZE, np.int32)
        arrays = {"x": x, "y": x[8:], "out": np.zeros(PROGRAMS * BLOCK, np.int32), "ready": np.zeros(1, np.int32)}
        given = [*(Buffer.of(name, array) for name, array in arrays.items()), 48]
        types = [argument.type for argument in kernel.facts.block.arguments]
        arguments = [as_declared(type, value) for type, value in zip(types, given, strict=True)]
        return arguments, Memory(arguments[:4], RACES)

    expected = has_race(drawn)
    kernel.run_one_by_one((PROGRAMS, 1, 1), *launch())
    assert bool(kernel.reports) == expected, f"{'missed' if expected else kernel.reports[0]}\n{body}"
    if expected:
        assert not passes(kernel.facts, (PROGRAMS, 1, 1), *launch()), f"not suspected:\n{body}"


@given(drawn=random_kernels.kernels(), seed=st.integers(0, 2**32 - 1))
def test_programs_with_memory_of_their_own(drawn: random_kernels.Kernel, seed: int) -> None:
    asked = random_kernels.launch(drawn, seed, 2)
    module = sources.compiled(asked.kernel)  # type: ignore[arg-type]
    kernel = SanitizedKernel(facts_of(print_module(module, locations=True)), RACES)
    for run in (kernel, functools.partial(run_one_by_one, kernel)):
        _, arguments, _ = prepare(module, asked.arguments)
        run(asked.grid, arguments)
        assert not kernel.reports, f"{kernel.reports[0]}\n{drawn}"


def run_one_by_one(kernel: SanitizedKernel, grid: Any, arguments: list[Any]) -> None:
    """Run the programs of a kernel with exact checks."""
    x, y, z = (*grid, 1, 1)[:3]
    types = [argument.type for argument in kernel.facts.block.arguments]
    arguments = [as_declared(type, value) for type, value in zip(types, arguments, strict=True)]
    buffers = [argument for argument in arguments if isinstance(argument, Buffer)]
    kernel.run_one_by_one((x, y, z), arguments, Memory(buffers, kernel.kinds))


# --- correct patterns, and each of them with its order lost

PATTERNS = {name: body for name, (body,) in read(FOLDER / "patterns.txt").items()}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_correct_patterns(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SANITIZE, "races")
    at_once = pattern.startswith("at once")
    for side, wrong in ((1, True), (2, False)):
        kernel = kernel_of(re.sub(r"{([^|{}]*)\|([^{}]*)}", lambda match: match[side], PATTERNS[pattern]))  # noqa: B023
        arrays = [np.zeros(SIZE, np.int32) for _ in range(4)]
        with slow_runs() as one_by_one, sanitizer.collect() as found:
            kernel[(PROGRAMS,)](*arrays, SIZE, PROGRAMS=PROGRAMS, BLOCK=BLOCK)
        if wrong:
            assert found and all(report.other not in (None, report.program) for report in found), f"missed: {pattern}"
        else:
            assert not found, str(found[0])
            assert one_by_one.called != at_once

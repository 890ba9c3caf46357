"""Task 13.1, a vector addition by hand: the emulator runs it, and NumPy judges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.by_hand import add, kernel
from mini_triton.emulator import emulate
from mini_triton.emulator.report import Report

from tests.checks import described
from tests.oracles import triton

BEYOND = -1.5
"""What is in memory beyond the last element."""


def ran(size: int, programs: int, warps: int, count: int | None = None) -> Report:
    """Add vectors of `count` elements in arrays of `size`, by these programs, and compare all of `out`."""
    __tracebackhide__ = True
    count = size if count is None else count
    x = np.linspace(-3, 5, size, dtype=np.float32)
    y = np.linspace(1, 1.1, size, dtype=np.float32) ** 9
    out = np.full(size, BEYOND, np.float32)
    expected = out.copy()
    stop = max(0, min(count, 32 * warps * programs))
    expected[:stop] = x[:stop] + y[:stop]
    report = emulate(kernel(warps), (programs, 1, 1), [x, y, out, count], names=["x", "y", "out", "count"])
    name = f"add of {count} elements by {programs} programs of {32 * warps} threads, in arrays of {size}"
    asked = described(name, add)
    for error in report.errors:
        who = f"thread {error.threads[0]} of program {error.ctas[0]}"
        because = f"{who} runs `{error.instruction}`, line {error.ptx_line} of `print(kernel(warps={warps}))`"
        asked.fail("no error in the emulator's report", f"{error.kind}: {error.message}", because)
    if (wrong := np.flatnonzero(out != expected)).size:
        first = wrong[0]
        because = "this element is beyond the last" if first >= stop else f"x[{first}] + y[{first}]"
        asked.fail(f"out[{first}] = {expected[first]}", f"{out[first]}; {wrong.size} elements are wrong", because)
    return report


def test_one_warp() -> None:
    ran(32, programs=1, warps=1)


def test_threads_of_several_warps() -> None:
    ran(128, programs=1, warps=4)


def test_several_programs() -> None:
    ran(160, programs=5, warps=1)


def test_threads_beyond_the_last_element_do_nothing() -> None:
    ran(20, programs=1, warps=1)
    ran(33, programs=2, warps=1)
    ran(1, programs=3, warps=2)
    ran(64, programs=2, warps=1, count=10)
    ran(32, programs=1, warps=1, count=0)


def test_too_few_programs_add_the_first_elements() -> None:
    ran(100, programs=1, warps=2)


@given(warps=st.sampled_from([1, 2, 4, 8]), programs=st.integers(1, 5), short=st.integers(-3, 300))
def test_any_size(warps: int, programs: int, short: int) -> None:
    ran(max(1, 32 * warps * programs - short), programs, warps)


def test_neighboring_threads_access_neighboring_elements() -> None:
    total = ran(1024, programs=2, warps=16).total
    assert total.sectors == total.least_sectors, (
        f"the threads of a warp touch {total.sectors} sectors of 32 bytes, but {total.least_sectors} would suffice"
    )


@pytest.mark.parametrize("warps", [1, 4])
def test_nvidias_assembler_accepts_the_kernel(warps: int) -> None:
    text = kernel(warps)
    refusal = triton.refusal_of_ptxas(text)
    assert not refusal, f"NVIDIA's assembler refuses this kernel:\n{text}\n{refusal}"

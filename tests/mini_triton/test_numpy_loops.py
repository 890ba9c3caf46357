"""A loop that programs leave at different times: the arrays in it become shorter, and each program keeps its ids."""

from typing import Any

import numpy as np
import pytest
from mini_triton.codegen.library.lazy import Affine, Box, stored
from mini_triton.codegen.library.programs import LazyPrograms, Programs
from mini_triton.ir.storage import OutOfBounds

from tests.support.m06_codegen.kernels import compiled, counted, judge
from tests.support.m06_codegen.numpy_backend import MODES, Mode, run

BATCHED = [mode for mode in MODES if mode != "interpreted"]
COUNTS = [2, 0, 3, 1, 0, 3]


def launch(lines: str, mode: Mode, x: list[int] | None = None) -> Any:
    arguments = [np.array(COUNTS, np.int32), np.array(x or range(8), np.int32), np.zeros(64, np.int32), 3]
    return run(counted(lines), (len(COUNTS),), arguments, mode=mode)


@pytest.mark.parametrize("mode", BATCHED)
def test_prints_name_their_program(mode: Mode, capsys: pytest.CaptureFixture[str]) -> None:
    launch('for i in range(0, n):\n    for j in range(i, n):\n        tl.device_print("ij", i * 10 + j)', mode)
    rounds = [(p, i, j) for i in range(3) for j in range(i, 3) for p, n in enumerate(COUNTS) if j < n]
    said = [f"pid ({p}, 0, 0) idx () ij: {i * 10 + j}" for p, i, j in rounds]
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(said)


@pytest.mark.parametrize("mode", BATCHED)
@pytest.mark.parametrize("loop", ["for i in range(0, n):", "i = 0\nwhile i < n:\n    i += 1"])
@pytest.mark.parametrize("wrong", ["tl.load(x + (i + pid * 2))", "tl.atomic_add(x + (i + pid * 2), 1)"])
def test_errors_name_their_program(mode: Mode, loop: str, wrong: str) -> None:
    """Programs 0 to 2 stay inside of x, and program 5 goes outside at once."""
    with pytest.raises(OutOfBounds) as caught:
        launch(f"{loop}\n    {wrong}", mode)
    assert (caught.value.program, caught.value.element >= 8) == ((5, 0, 0), True)


@pytest.mark.parametrize("mode", BATCHED)
def test_a_kernel_may_use_the_names_of_builtins(mode: Mode) -> None:
    lines = """
        len = tl.program_id(0)
        map = len + 1
        for range in tl.range(0, n):
            map += range
        tl.store(out + len, map)
    """
    judge(compiled(lines, out="*i32", n="i32"), (3,), [np.zeros(3, np.int32), 4], mode=mode)


def test_messages_show_a_program_without_numpys_types() -> None:
    grid: Any = (np.int64(3), np.int64(2), np.int64(1))
    assert repr(Programs(grid, 2, 6).place(2)) == "(1, 1, 0)"


def test_atomics_keep_the_order_of_programs() -> None:
    lines = """
        total = 0
        if pid != 2:
            while n > 0:
                total = total * 10 + tl.atomic_add(out, 1)
                n -= 1
        tl.store(out + 8 + pid, total)
    """
    for mode in BATCHED:
        out = launch(lines, mode)[2]
        assert out[8:14].tolist() == [3, 0, 0, 1, 0, 245]  # programs 0, 3 and 5, then 0 and 5, then 5


def test_what_is_chosen_stays_lazy() -> None:
    programs, chosen = LazyPrograms((8, 2, 1), 4, 12), np.array([2, 3, 4])
    ids = programs.id(0)
    some, count, box = programs.loop().go_on(np.isin(np.arange(8), chosen), (), Box.full((8, 4)))
    assert (count, len(some), some.place(0), stored(some.numbers()).tolist()) == (3, 3, (6, 0, 0), [6, 7, 8])
    assert stored(some.id(0)).tolist() == stored(ids)[chosen].tolist()
    assert isinstance(some.numbers(), Affine) and some.numbers().strides == (1,)
    assert isinstance(box, Box) and box.is_full() and box.shape == (3, 4)


def test_a_wrong_value_shows_the_lines_that_ran() -> None:
    text = counted("if n == 2:\n    tl.store(out, pid)")
    arrays = [np.array([0, 2], np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32), 3]
    with pytest.raises(AssertionError) as failure:
        judge(text, (2,), arrays, expected=[*arrays[:2], np.array([9], np.int32), 3])
    lines = str(failure.value).partition("generated code ran\n")[2].splitlines()
    assert any("if then.any():" in line for line in lines) and any("memory.store(out" in line for line in lines)


WAIT_FOR_THE_NEXT = """
    pid, last = tl.program_id(0), tl.num_programs(0) - 1
    found = 0
    if pid < last:
        while tl.atomic_cas(flags + pid + 1, 1, 2) != 1:
            pass
        found = tl.load(x + pid + 1)
    tl.store(x + pid, found + 1)
    tl.atomic_xchg(flags + pid, 1)
"""
MEET = """
    tl.atomic_add(flags, 1)
    count = tl.load(flags)
    while count < tl.num_programs(0):
        count = tl.load(flags)
    tl.store(x + tl.program_id(0), count)
"""
SHARE_THE_WORK = """
    mine = 0
    while tl.atomic_add(flags, 1) < 1000:
        mine += 1
    tl.store(x + tl.program_id(0), mine)
"""


@pytest.mark.parametrize("programs", [1, 2, 7, 60])
def test_programs_that_wait_for_later_ones(programs: int) -> None:
    """Real Triton's interpreter would never end."""
    for lines, expected in ((WAIT_FOR_THE_NEXT, range(programs, 0, -1)), (MEET, [programs] * programs)):
        flags, x = np.zeros(programs, np.int32), np.zeros(programs, np.int32)
        _, found = run(compiled(lines, flags="*i32", x="*i32"), (programs,), [flags, x], mode="fast")
        assert found.tolist() == list(expected)
    flags, x = np.zeros(1, np.int32), np.zeros(programs, np.int32)
    _, found = run(compiled(SHARE_THE_WORK, flags="*i32", x="*i32"), (programs,), [flags, x], mode="fast")
    assert found.sum() == 1000


def test_an_error_while_another_program_waits() -> None:
    """Program 0 waits when program 3 goes outside of `x`."""
    flags, x = np.zeros(4, np.int32), np.zeros(3, np.int32)
    with pytest.raises(OutOfBounds) as caught:
        run(compiled(WAIT_FOR_THE_NEXT, flags="*i32", x="*i32"), (4,), [flags, x], mode="fast")
    assert caught.value.program == (3, 0, 0)

"""Task 6.5: all programs of a grid run at once; each program has its own entry in every varying array."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.ir.storage import OutOfBounds

from tests.checks import one_in
from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.support.m05_frontend.random_kernels import Kernel
from tests.support.m06_codegen.kernels import addition, compiled, judge, judge_corpus, judge_counted, kernel, running
from tests.support.m06_codegen.random_programs import STRAIGHT, judge_random, kernels

# --- whole kernels


@one_in(4)
@given(kernel=kernels(STRAIGHT), seed=st.integers(0, 9))
def test_random_kernels(kernel: Kernel, seed: int) -> None:
    """All programs at once store what the programs store one by one."""
    judge_random(kernel, seed)


NAMES = "add_kernel adam constant_branches_double constant_branches_square dropout_low_memory gather_rows".split()
NAMES += "messages pairwise rotary transpose".split()


@pytest.mark.parametrize("case", [case for case in CASES if str(case) in NAMES], ids=str)
def test_kernels_of_the_corpus(case: Case) -> None:
    """The results equal a GPU's recorded results."""
    judge_corpus(case)


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 997, 20000])
def test_vector_addition(size: int) -> None:
    """Vectors of any length. The last program has idle lanes, and no program may touch memory after the arrays."""
    x, y = np.arange(size + 5, dtype=np.float32), np.full(size + 5, 1000, np.float32)
    out = np.full(size + 5, -1, np.float32)
    blocks, text = -(-size // 16), addition()
    for grid in ((blocks,), (blocks + 2,), (blocks, 1, 1)):
        judge(text, grid, [x, y, out, size], [x, y, np.where(np.arange(size + 5) < size, x + y, out), size])


@pytest.mark.parametrize("grid", [(0,), (3, 0), (2, 3, 0), (0, 0, 0)])
def test_no_programs(grid: tuple[int, ...]) -> None:
    """No program runs, so nothing is written or out of bounds."""
    arguments = [np.full(4, 7, np.float32)] * 3
    judge(addition(), grid, [*arguments, 1000], [*arguments, 1000])


@pytest.mark.parametrize("programs", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("shape", [(4,), (2, 4), (4, 1), (2, 2, 2)], ids=str)
def test_a_number_beside_a_tensor(shape: tuple[int, ...], programs: int) -> None:
    """A program's id is the same for all elements of its tensor, even if there are as many programs as elements."""
    size = math.prod(shape)
    lines = f"""
        lanes = tl.arange(0, {size}).reshape{shape}
        big = tl.full({shape}, 100, tl.int32)
        tl.store(out + pid * {size} + lanes, tl.where(pid < 1, big, pid * big + lanes))
    """
    judge_counted(lines, [0] * programs, "a program's id is the same for all elements of its tensor", out=64)


SCALARS = {
    "one number for each": """
        a = tl.load(x + pid, mask=pid < 2, other=k)
        tl.store(out + pid, tl.where(pid < 2, a + tl.load(x), k))
    """,
    "masks and `other`s that vary along more axes than offsets": """
        lanes = tl.arange(0, 4)
        a = tl.load(x + lanes, mask=lanes <= pid, other=pid)
        b = tl.load(x + lanes, mask=tl.full((4,), 1, tl.int1), other=pid)
        tl.store(out + pid * 4 + lanes, a + b)
    """,
    "each reads from an array of its own": """
        chosen = tl.where(pid & 1 == 1, x, counts)
        lanes = tl.arange(0, 2)
        tl.store(out + pid * 2 + lanes, tl.load(chosen + (pid & 1) + lanes))
    """,
    "each writes to an array of its own": """
        chosen = tl.where(pid & 1 == 1, x, out)
        tl.store(chosen + (pid & 3), pid)
    """,
}


@pytest.mark.parametrize("what", SCALARS)
def test_numbers_of_each_program(what: str) -> None:
    """Kernels load, compare, select and store a number for each program. Programs may use different arrays."""
    judge_counted(SCALARS[what], [7, 6, 5, 4], f"each program has its own values ({what})")


@pytest.mark.parametrize("programs", [1, 3, 4])
def test_the_only_element(programs: int) -> None:
    """`unsplat` turns a tensor of one element into a scalar, which varies between programs if the tensor does."""
    text = kernel(
        "x: *i32, out: *i32",
        "%pid = tt.get_program_id x : i32",
        "%zero = tt.make_range {end = 1 : i32, start = 0 : i32} : tensor<1xi32>",
        "%pids = tt.splat %pid : i32 -> tensor<1xi32>",
        "%at = arith.addi %pids, %zero : tensor<1xi32>",
        "%a = tt.unsplat %at : tensor<1xi32>",
        "%b = tt.unsplat %zero : tensor<1xi32>",
        "%p = tt.addptr %x, %a : !tt.ptr<i32>, i32",
        "%first = tt.addptr %x, %b : !tt.ptr<i32>, i32",
        "%u = tt.load %p : !tt.ptr<i32>",
        "%v = tt.load %first : !tt.ptr<i32>",
        "%sum = arith.addi %u, %v : i32",
        "%q = tt.addptr %out, %pid : !tt.ptr<i32>, i32",
        "tt.store %q, %sum : !tt.ptr<i32>",
    )
    judge(text, (programs,), [np.array([5, 60, 700, 8000], np.int32), np.zeros(4, np.int32)])


# --- errors


@pytest.mark.parametrize(("name", "line"), [("x", 9), ("y", 10), ("out", 11)])
def test_one_element_too_few(name: str, line: int) -> None:
    """The error names the array, the element, the program and the line of the kernel."""
    sizes = {"x": 50, "y": 50, "out": 50} | {name: 49}
    call = running(addition(), (4,), [*(np.zeros(size, np.float32) for size in sizes.values()), 50])
    call.raises(OutOfBounds, f"{name}[49]", "(3, 0, 0)", f".py:{line}")


def test_the_program_is_named_by_its_ids() -> None:
    """The error names the program by its three ids, even if each program accesses a single element."""
    text = compiled("at = tl.program_id(0) + tl.program_id(1) + 3 * tl.program_id(2)\ntl.store(x + at, at)", x="*i32")
    call = running(text, (2, 3, 2), [np.zeros(6, np.int32)])
    call.raises(OutOfBounds, "x[6]", "(1, 2, 1)", because="x + y + 3 z is 6 in program (1, 2, 1) only")

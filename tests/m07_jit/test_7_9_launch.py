"""Task 7.9: a launch from beginning to end."""

import math
import traceback
from typing import Any

import mini_triton
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.ir.storage import Buffer
from mini_triton.runtime.arguments import MockTensor

from tests.checks import described
from tests.support.sources import load

KERNELS = """
import triton
import triton.language as tl
@triton.jit
def stores(x, out, n, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)
@triton.jit
def adds(x, out, n, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.atomic_add(out + at, tl.load(x + at, mask=at < n), mask=at < n)
"""
FILE = "kernels_to_launch.py"
kernels = load(KERNELS, FILE)


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def launch(name: str, words: str, grid: int, *arguments: Any) -> described:
    return described(f"{name}[({grid},)]({words}, SIZE=8) in\n{KERNELS}", kernels[name][(grid,)], *arguments, SIZE=8)


def test_memory_that_cannot_be_used() -> None:
    for name in ("stores", "adds"):
        x, out = np.arange(4.0), np.zeros(4)
        launch(name, "x, out, 4", 1, read_only(x), out, 4).succeeds()
        assert (out == x).all(), f"{name} gives {out}, expected {x}"
        launch(name, "x, out, 4", 1, x, read_only(out), 4).raises(ValueError, name, "out")
        elsewhere = MockTensor(np.dtype("float64"))
        elsewhere.device = "meta"
        launch(name, "<a tensor on meta>, out, 4", 1, elsewhere, np.zeros(4), 4).raises(ValueError, name, "x", "meta")


# --- launches that work

NUMBERED = """
import triton
import triton.language as tl
@triton.jit
def numbered(out, X, Y, Z: tl.constexpr = 1):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    tl.store(out + (x * tl.num_programs(1) + y) * tl.num_programs(2) + z, 100 * x + 10 * y + z)
"""
numbered = load(NUMBERED, "kernel_of_many_programs.py")["numbered"]


def launched(grid: Any, shown: str, sizes: tuple[int, int, int]) -> None:
    """Each program of a launch runs once, and records its ids."""
    x, y, z = sizes
    out = np.full(math.prod(sizes) + 1, -1, np.int32)
    words = f"the programs that run in numbered[{shown}](out, {x}, {y}, Z={z}), for\n{NUMBERED}"

    def run() -> list[int]:
        numbered[grid](out, x, y, Z=z)
        return out.tolist()

    ids = [100 * x + 10 * y + z for x, y, z in np.ndindex(*sizes)]
    described(words, run).returns([*ids, -1], because="each program stores its ids x, y and z as three digits")


@given(st.lists(st.integers(0, 5), min_size=1, max_size=3))
@example([5])
@example([2, 3, 4])
@example([3, 0, 2])
def test_every_program_runs(sizes: list[int]) -> None:
    x, y, z = (*sizes, 1, 1)[:3]
    launched(tuple(sizes), repr(tuple(sizes)), (x, y, z))
    launched(
        lambda meta: (meta["X"], meta["Y"], meta["Z"]), "lambda meta: (meta['X'], meta['Y'], meta['Z'])", (x, y, z)
    )


def test_a_grid_of_defaults() -> None:
    out = np.full(3, -1, np.int32)
    asked = described(
        f"numbered[lambda meta: (2, meta['Z'])](out, 2, 1) in\n{NUMBERED}",
        *(numbered[lambda meta: (2, meta["Z"])], out, 2, 1),
    )
    asked.succeeds("a launch: the grid function gets the parameters' defaults, too")
    assert out.tolist() == [0, 100, -1], f"{asked} stores {out}"


COMPUTES = """
import triton
import triton.language as tl
@triton.jit
def computes(x, out):
    tl.store(out, x * x + x)
"""


@pytest.mark.parametrize("x", [np.uint8(200), np.int64(-3), np.float64(0.1), np.float32(0.5), np.bool_(True), 7])
def test_the_arguments_of_the_generated_code(x: Any) -> None:
    out, taken = np.zeros(1), []
    compiled = load(COMPUTES, "computes.py")["computes"].warmup(x, out, grid=(1,))
    compiled.run = lambda grid, arguments, known: taken.extend(arguments)
    compiled.launch((1, 1, 1), {"x": x, "out": out})
    asked = described(f"the number that `run` takes in computes[(1,)]({x!r}, out) for\n{COMPUTES}", lambda: taken[0])
    asked.returns(x.item() if isinstance(x, np.generic) else x, because="`run` takes Python's numbers, in order")
    assert isinstance(taken[1], Buffer) and taken[1].name == "out", f"`run` takes a Buffer named 'out', not {taken[1]}"


def test_launches_that_are_not_possible() -> None:
    x = np.zeros(8)
    for grid, arguments, error, named in (
        ((1,), {"x": x, "out": x, "n": 8}, TypeError, "SIZE"),
        ((1,), {"x": x, "out": x, "n": "8", "SIZE": 8}, TypeError, "n"),
        ((1,), {"x": x, "out": x, "n": 8, "SIZE": 8, "num_wraps": 8}, TypeError, "num_wraps"),
        (5, {"x": x, "out": x, "n": 8, "SIZE": 8}, TypeError, "(5,)"),
        ((-1,), {"x": x, "out": x, "n": 8, "SIZE": 8}, ValueError, "-1"),
    ):
        words = f"stores[{grid}]({', '.join(f'{name}=...' for name in arguments)}) in\n{KERNELS}"
        described(words, lambda g=grid, a=arguments: kernels["stores"][g](**a)).raises(error, "stores", named)


# --- accesses out of bounds

BEFORE = """
import triton
import triton.language as tl
@triton.jit
def before(x):
    tl.store(x + tl.program_id(0) - 2, 1.0)
"""
GATHER = """
import triton
import triton.language as tl
@triton.jit
def gather(out, addresses, n, BLOCK: tl.constexpr):
    pid, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(addresses + pid).to(tl.pointer_type(tl.float32))
    tl.store(out + pid * BLOCK + at, tl.load(x + at, mask=at < n, other=-1.0))
"""


@given(st.integers(1, 40), st.integers(1, 8), st.sampled_from(["stores", "adds"]))
@example(8, 1, "stores")
@example(16, 1, "adds")
def test_an_argument_with_too_few_elements(count: int, more: int, name: str) -> None:
    x, out = np.zeros(count + more), np.zeros((1, count))
    words = f"x, out, {count + more} where out has {count} elements"
    line = next(line for line in KERNELS.splitlines() if ("atomic" if name == "adds" else "store(") in line)
    place = f"{FILE}:{KERNELS.splitlines().index(line) + 1}"
    asked = launch(name, words, math.ceil((count + more) / 8), x, out, count + more)
    asked.raises(IndexError, name, f"out[{count}]", f"(1, {count})", f"({count // 8}, 0, 0)", place, line.strip())


@pytest.mark.parametrize("dtype", ["float64", "bool", "uint16"])
def test_a_load_beyond_the_end(dtype: str) -> None:
    """The back end may copy an array that the kernel only reads, or view its elements as another type."""
    x, out = np.ones(5, dtype), np.zeros(8, dtype)
    asked = launch("stores", f"x, out, 8 where x has 5 elements of {dtype}", 1, x, out, 8)
    asked.raises(IndexError, "stores", "x[5]", "(5,)", "(0, 0, 0)", f"{FILE}:7")


class Shape(list[int]):
    """A shape that prints as PyTorch's do."""

    def __repr__(self) -> str:
        return f"torch.Size({super().__repr__()})"


class Tensor:
    """A stand-in for a PyTorch tensor, over an array's memory."""

    device, dtype = "cpu", "torch.float32"

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.shape = array, Shape(array.shape)

    def data_ptr(self) -> int:
        return self.array.ctypes.data


def test_the_shape_of_a_tensor() -> None:
    x, out = Tensor(np.ones(5, np.float32)), np.zeros(8, np.float32)
    asked = launch("stores", "x, out, 8 where x = torch.ones(5)", 1, x, out, 8)
    asked.raises(IndexError, "x[5]", "shape (5,)", because="messages show the shape of a tensor as that of an array")


def test_a_slice() -> None:
    x = np.arange(64.0).reshape(8, 8)[:, :3]
    asked = launch("stores", "x, out, 8 where x = np.arange(64.0).reshape(8, 8)[:, :3]", 1, x, np.zeros(8), 8)
    because = "`bounds.complete` explains the slice, if it finds the `OutOfBounds` in the context of the error"
    asked.raises(IndexError, "x[3]", "(8, 3)", "gap of the slice", "strides are (8, 1)", f"{FILE}:7", because=because)


def test_before_the_beginning() -> None:
    x = np.zeros(8)
    asked = described(f"before[(4,)](x) in\n{BEFORE}", load(BEFORE, "before.py")["before"][(4,)], x)
    asked.raises(IndexError, "x[-2]", "(8,)", "(0, 0, 0)", "before.py:6", "tl.store(x + tl.program_id(0) - 2, 1.0)")
    assert not x.any(), f"a kernel must write nothing if an access is out of bounds, but x is {x}"
    with pytest.raises(IndexError) as raised:
        asked()
    shown = "".join(traceback.format_exception(raised.value))
    frames = [line for line in shown.splitlines() if line.startswith("  File ")]
    inside = [frame for frame in frames if "codegen" in frame or "<before" in frame]
    assert not inside, f"the traceback must not show the compiler's own frames:\n{shown}"


def test_memory_that_is_reached_by_addresses() -> None:
    a, b, out = np.arange(6, dtype=np.float32), 10 + np.arange(6, dtype=np.float32), np.zeros(16, np.float32)
    addresses = np.array([b.ctypes.data, a.ctypes.data])
    gather = load(GATHER, "gather.py")["gather"]
    words = (
        f"gather[(2,)](out, <addresses of b and a>, {{n}}, BLOCK=8) within `with reachable({{known}})`, for\n{GATHER}"
    )
    asked = described(words.format(n=6, known="b"), gather[(2,)], out, addresses, 6, BLOCK=8)
    asked.raises(
        IndexError, f"{addresses[0]:#x}", because="the address is outside all memory that the kernel may access"
    )
    with mini_triton.reachable(b):
        asked.raises(
            IndexError, f"{addresses[1]:#x}", "(1, 0, 0)", because="the address lies in a, and only b is reachable"
        )
        with mini_triton.reachable(a):
            described(words.format(n=7, known="b, a"), gather[(2,)], out, addresses, 7, BLOCK=8).raises(IndexError)
            assert not out.any(), "a kernel must store nothing if an access is out of bounds"
            asked.succeeds()
    assert out.tolist() == [*b, -1, -1, *a, -1, -1], f"{asked} gives {out}"


# --- warmup


FILLS = """
import triton
import triton.language as tl
@triton.jit
def fills(x, VALUE: tl.constexpr):
    tl.store(x, VALUE)
"""


def warm(kernel: Any, words: str, *arguments: Any, **keywords: Any) -> described:
    return described(f"stores.warmup({words}) in\n{KERNELS}", kernel.warmup, *arguments, **keywords)


def test_warmup_does_not_run_the_kernel() -> None:
    x, out = np.ones(8), np.zeros(8)
    kernel = load(KERNELS)["stores"]
    compiled = warm(kernel, "x, out, 8, SIZE=8, grid=(1,)", x, out, 8, SIZE=8, grid=(1,)).succeeds()
    assert not out.any(), f"a warmup must not run the kernel, but out is {out}"
    assert kernel[(1,)](x, out, 8, SIZE=8) is compiled, "the launch after a warmup must find the compiled kernel"
    assert out.all(), f"the launch after a warmup should run the kernel, but out is {out}"
    described("list(compiled.asm)", lambda: list(compiled.asm)).returns(["source", "ttir", "passes", "numpy"])
    assert compiled.asm["source"] == kernel.source
    assert compiled.name == compiled.metadata.name == "stores"


def test_options_and_constants() -> None:
    options = {"num_warps": 8, "num_stages": 2, "maxnreg": 64}
    asked = described(
        f"fills.warmup(x=np.int32, VALUE=5, **{options}) in\n{FILLS}", load(FILLS, "fills.py")["fills"].warmup
    )
    asked.options = {"x": np.int32, "VALUE": 5, **options}
    compiled = asked.succeeds()
    assert "arith.constant 5 : i32" in compiled.asm["ttir"], (
        f"VALUE should become the constant 5 in\n{compiled.asm['ttir']}"
    )
    for option, value in options.items():
        described(
            f"the {option} in the metadata after {asked}", lambda o=option: getattr(compiled.metadata, o)
        ).returns(value)

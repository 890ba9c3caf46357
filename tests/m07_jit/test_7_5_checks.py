"""Task 7.5: launches that cannot work, and what a user is told of an access out of bounds."""

from __future__ import annotations

import math
import traceback
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.runtime.checks import check_devices, check_writable

from tests.checks import NO_ANSWER, described
from tests.support.sources import load

# --- devices


class Tensor:
    """Memory on some device, as PyTorch's tensors are."""

    dtype = "torch.float32"
    shape = (4,)

    def __init__(self, device: str) -> None:
        self.device = device

    def data_ptr(self) -> int:
        return 4096


def on(**devices: str) -> described:
    """The call of `check_devices` for arguments on these devices; arrays are NumPy's."""
    memory = {name: np.zeros(4) if device == "array" else Tensor(device) for name, device in devices.items()}
    shown = ", ".join(
        f"{name} on {device}" if device != "array" else f"{name} an array" for name, device in devices.items()
    )
    return described(f"check_devices('my_kernel', {shown})", check_devices, "my_kernel", memory)


def test_memory_of_the_cpu() -> None:
    for devices in ({}, {"x": "array"}, {"x": "cpu"}, {"x": "array", "y": "cpu", "out": "array"}):
        on(**devices).returns(None, because="all is the CPU's")


def test_memory_of_a_gpu() -> None:
    on(weights="cuda:0").raises(ValueError, "my_kernel", "weights", "cuda:0", "milestone 10")
    on(x="cuda:1", y="cuda:1").raises(ValueError, "my_kernel", "cuda:1", "milestone 10")


def test_memory_of_other_devices() -> None:
    on(weights="meta").raises(ValueError, "my_kernel", "weights", "meta")
    on(x="mps:0", y="mps:0").raises(ValueError, "my_kernel", "mps:0")


def test_memory_of_two_devices() -> None:
    for weights, bias in (("cuda:0", "array"), ("cpu", "cuda:0"), ("cuda:0", "cuda:1"), ("array", "meta")):
        names = [device for device in (weights, bias) if device != "array"]
        on(weights=weights, bias=bias).raises(
            ValueError, "my_kernel", "weights", "bias", *names, because="they are on two devices"
        )
    on(x="cpu", y="array", bias="cuda:0").raises(ValueError, "bias", "cuda:0")


# --- arrays that are read-only


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def writable(stored: tuple[str, ...], **memory: Any) -> described:
    shown = ", ".join(
        f"{name} a tensor" if isinstance(value, Tensor) else f"{name} {'' if value.flags.writeable else 'read-only'}"
        for name, value in memory.items()
    )
    return described(
        f"check_writable('my_kernel', {shown}; stored={stored})", check_writable, "my_kernel", memory, stored
    )


def test_what_is_only_read() -> None:
    writable(("out",), x=read_only(np.zeros(4)), out=np.zeros(4)).returns(None, because="x is only read")
    writable((), x=read_only(np.zeros(4))).returns(None)


def test_what_is_stored_to() -> None:
    writable(("out",), x=np.zeros(4), out=read_only(np.zeros(4))).raises(ValueError, "my_kernel", "out")
    writable(("a", "weights"), a=np.zeros(4), weights=read_only(np.zeros(4))).raises(ValueError, "weights")


def test_tensors_can_be_written_to() -> None:
    writable(("out",), out=Tensor("cpu")).returns(None)


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
FILE = "kernels_of_the_checks.py"
kernels = load(KERNELS, FILE)


def launch(name: str, words: str, grid: int, *arguments: Any) -> described:
    return described(f"{name}[({grid},)]({words}, SIZE=8) in\n{KERNELS}", kernels[name][(grid,)], *arguments, SIZE=8)


def test_launches_with_read_only_arrays() -> None:
    for name in ("stores", "adds"):
        x, out = np.arange(4.0), np.zeros(4)
        launch(name, "x, out, 4", 1, read_only(x), out, 4).succeeds()
        assert (out == x).all(), f"{name} gives {out}, expected {x}"
        launch(name, "x, out, 4", 1, x, read_only(out), 4).raises(ValueError, name, "out")


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
    """Each program of a launch writes down its numbers, once."""
    x, y, z = sizes
    out = np.full(math.prod(sizes) + 1, -1, np.int32)
    words = f"the programs that run in numbered[{shown}](out, {x}, {y}, Z={z}), for\n{NUMBERED}"

    def run() -> list[int]:
        numbered[grid](out, x, y, Z=z)
        return out.tolist()

    ids = [100 * x + 10 * y + z for x, y, z in np.ndindex(*sizes)]
    described(words, run).returns([*ids, -1], because="each program is x, y, z, written as digits")


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


# --- accesses out of bounds


def told(name: str, words: str, grid: int, *arguments: Any) -> str:
    """The message of the error that a launch ends with, which has to be an IndexError."""
    asked = launch(name, words, grid, *arguments)
    try:
        asked()
    except NO_ANSWER:
        raise
    except IndexError as error:
        return str(error)
    except Exception as error:
        asked.fail("an IndexError", error)
    asked.fail("an IndexError, for there are fewer elements", "no error")


def says(message: str, words: str, *facts: str) -> None:
    missing = [fact for fact in facts if fact not in message]
    assert not missing, f"{words}\n  expected  a message with {' and '.join(missing)} in it\n  got       {message}"


@given(st.integers(1, 40), st.integers(1, 8), st.sampled_from(["stores", "adds"]))
@example(8, 1, "stores")
@example(16, 1, "adds")
def test_an_error_of_a_few(count: int, more: int, name: str) -> None:
    x, out = np.zeros(count + more), np.zeros(count)
    grid = math.ceil((count + more) / 8)
    words = f"x, out, {count + more} where out has {count} elements"
    message = told(name, words, grid, x, out, count + more)
    line = next(line for line in KERNELS.splitlines() if ("atomic" if name == "adds" else "store(") in line)
    number = KERNELS.splitlines().index(line) + 1
    facts = (name, f"out[{count}]", f"({count},)", f"({count // 8}, 0, 0)", f"{FILE}:{number}", line.strip())
    says(message, f"{name}[({grid},)]({words})", *facts)


def test_the_one_that_is_loaded_from_is_named() -> None:
    message = told("stores", "x, out, 16 where x has 3 elements", 2, np.zeros(3), np.zeros(16), 16)
    says(message, "stores[(2,)](x, out, 16) where x has 3 elements", "x[3]", "(3,)", "(0, 0, 0)")


def test_shapes() -> None:
    shapes: dict[str, np.ndarray] = {
        "np.zeros((3, 4))": np.zeros((3, 4)),
        "np.zeros((2, 3, 2))": np.zeros((2, 3, 2)),
        "np.zeros((4, 3)).T": np.zeros((4, 3)).T,
        "np.zeros(16)[4:]": np.zeros(16)[4:],
    }
    for shown, out in shapes.items():
        words = f"x, {shown}, 16"
        says(told("stores", words, 2, np.zeros(16), out, 16), f"stores[(2,)]({words})", "out[12]", "12", str(out.shape))


def test_before_the_beginning() -> None:
    text = """
import triton
import triton.language as tl
@triton.jit
def before(x):
    tl.store(x + tl.program_id(0) - 2, 1.0)
"""
    x = np.zeros(8)
    asked = described(f"before[(4,)](x) in\n{text}", load(text, "before.py")["before"][(4,)], x)
    asked.raises(IndexError, "x[-2]", "(8,)", "(0, 0, 0)", "before.py:6", "tl.store(x + tl.program_id(0) - 2, 1.0)")
    assert not x.any(), f"nothing may be written when an access is out of bounds: {x}"


def test_nothing_of_the_inside_shows() -> None:
    asked = launch("stores", "x, out, 8 where out has 2 elements", 1, np.zeros(8), np.zeros(2), 8)
    try:
        asked()
    except NO_ANSWER:
        raise
    except IndexError as error:
        shown = "".join(traceback.format_exception(error))
    else:
        asked.fail("an IndexError", "no error")
    frames = [line.strip() for line in shown.splitlines() if line.startswith("  File ")]
    inside = [frame for frame in frames if "codegen" in frame or "<stores" in frame]
    assert not inside, f"the traceback shows the user what is not theirs:\n{shown}"

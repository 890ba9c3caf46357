"""Task 7.8: launches that cannot work, and the message for an out-of-bounds access."""

import math
from collections.abc import Collection
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.ir.storage import Buffer, OutOfBounds
from mini_triton.runtime.checks import REASONS, AccessError, check_devices, check_writable, explain_access

from tests.checks import described
from tests.support.sources import load

# --- devices


class Tensor:
    """A stand-in for a PyTorch tensor on some device."""

    dtype = "torch.float32"
    shape = (4,)

    def __init__(self, device: str) -> None:
        self.device = device

    def data_ptr(self) -> int:
        return 4096


def on(**devices: str) -> described:
    """The call of `check_devices` for arguments on these devices. An argument on the CPU is a NumPy array."""
    memory = {name: np.zeros(4) if device == "array" else Tensor(device) for name, device in devices.items()}
    shown = ", ".join(
        f"{name} on {device}" if device != "array" else f"{name} an array" for name, device in devices.items()
    )
    return described(f"check_devices('my_kernel', {shown})", check_devices, "my_kernel", memory)


def test_memory_of_the_cpu() -> None:
    for devices in ({}, {"x": "array"}, {"x": "cpu"}, {"x": "array", "y": "cpu", "out": "array"}):
        on(**devices).returns(None, because="all memory belongs to the CPU")


@pytest.mark.parametrize(
    "devices, named",
    [
        ({"weights": "mps:0"}, ["weights", "mps:0", "Apple's"]),
        ({"x": "mps:1", "y": "mps:1"}, ["mps:1", "Apple's"]),
        ({"x": "mps"}, ["mps", "Apple's"]),
        ({"weights": "meta"}, ["weights", "meta", "no data"]),
        ({"x": "xpu:0", "y": "xpu:0"}, ["xpu:0"]),
        ({"weights": "cuda:0", "bias": "array"}, ["weights", "bias", "cuda:0"]),
        ({"weights": "cuda:0", "bias": "cuda:1"}, ["weights", "bias", "cuda:0", "cuda:1"]),
        ({"weights": "array", "bias": "meta"}, ["weights", "bias", "meta"]),
        ({"x": "cpu", "y": "array", "bias": "cuda:0"}, ["bias", "cuda:0"]),
    ],
)
def test_memory_of_another_device(devices: dict[str, str], named: list[str]) -> None:
    on(**devices).raises(ValueError, "my_kernel", *named)


def test_the_reason_for_each_kind_of_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REASONS, "xpu", "there is no back end for Intel's GPUs")
    for device in ("xpu:0", "mps", "mps:0", "meta", "hpu:0"):
        with pytest.raises(ValueError) as caught:
            on(x=device)()
        for kind, reason in REASONS.items():
            assert (reason in str(caught.value)) == device.startswith(kind), (
                f"the error for memory on {device} should give the reason for {kind!r} only if {kind!r} is its kind"
                f"\n  REASONS   {REASONS}\n  got        {caught.value}"
            )


# --- arrays that are read-only


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def writable(stored: Collection[str], **memory: Any) -> described:
    shown = ", ".join(
        f"{name} a tensor" if isinstance(value, Tensor) else f"{name} {'' if value.flags.writeable else 'read-only'}"
        for name, value in memory.items()
    )
    return described(
        f"check_writable('my_kernel', {shown}; stored={stored})", check_writable, "my_kernel", memory, stored
    )


def test_read_only_arrays_that_are_only_read() -> None:
    writable(("out",), x=read_only(np.zeros(4)), out=np.zeros(4)).returns(None, because="x is only read")
    writable((), x=read_only(np.zeros(4))).returns(None)


def test_read_only_arrays_that_are_stored_to() -> None:
    writable(("out",), x=np.zeros(4), out=read_only(np.zeros(4))).raises(ValueError, "my_kernel", "out")
    writable(("a", "weights"), a=np.zeros(4), weights=read_only(np.zeros(4))).raises(ValueError, "weights")
    writable(("a", "weights"), a=Tensor("cpu"), weights=read_only(np.zeros(4))).raises(ValueError, "weights")
    writable({"out"}, out=read_only(np.zeros(4))).raises(ValueError, "out", because="`stored` may be any collection")


def test_views_of_arrays() -> None:
    writable(("out",), out=np.zeros(8)[::2]).returns(None, because="a slice is as writable as its array")
    mapped, broadcast = read_only(np.zeros(4).view(np.memmap)), np.broadcast_to(np.zeros(1), 4)
    writable(("out",), out=mapped).raises(ValueError, "out", because="a memory-mapped file may be read-only")
    writable(("out",), out=broadcast).raises(ValueError, "out", because="a broadcast array is a read-only view")


def test_tensors_can_be_written_to() -> None:
    writable(("out",), out=Tensor("cpu")).returns(None)


# --- accesses out of bounds

KERNEL = """
import triton
import triton.language as tl
@triton.jit
def add(x, y, out, n):
    at = tl.program_id(0) * 8 + tl.arange(0, 8)
    tl.store(out + at, tl.load(x + at) + tl.load(y + at))
"""
FILE = "kernels_of_the_checks.py"
load(KERNEL, FILE)


@given(
    st.sampled_from(["x", "weights", "out"]),
    st.integers(-100, 2**40),
    st.tuples(*[st.integers(0, 50)] * 3),
    st.sampled_from([6, 7]),
    st.lists(st.integers(0, 9), max_size=3).map(tuple),
)
@example("x", 1024, (7, 0, 0), 7, (1000,))
def test_messages(name: str, element: int, program: tuple[int, int, int], line: int, shape: tuple[int, ...]) -> None:
    error = OutOfBounds(Buffer(name, np.zeros(4)), element, (0,))
    error.program, error.place = program, f"{FILE}:{line}"
    words = (
        f"explain_access('add', error, {shape}), where error.buffer.name is {name!r}, error.element {element}, "
        f"error.program {program}, error.place '{FILE}:{line}'"
    )
    got = described(words, explain_access, "add", error, shape).succeeds("an AccessError")
    assert isinstance(got, AccessError), f"{words}\n  expected  an AccessError\n  got       {got!r}"
    source = KERNEL.splitlines()[line - 1].strip()
    facts = ("add", f"{name}[{element}]", str(math.prod(shape)), f"shape {shape}", str(program), f"{FILE}:{line}")
    missing = [fact for fact in (*facts, source) if fact not in str(got)]
    assert not missing, f"{words}\n  expected  a message that contains {' and '.join(missing)}\n  got       {got}"

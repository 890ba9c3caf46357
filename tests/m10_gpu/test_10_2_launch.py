"""Task 10.2: machine code launched on a GPU. Without one, stand-ins record the launches."""

import contextlib
import re
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.backends import launch
from mini_triton.backends.launch import Launcher, gpu_of

from tests.checks import described
from tests.oracles import triton
from tests.support.sources import load

DEVICES = st.integers(-1, 3)


class Somewhere:
    """Stands for a tensor on a GPU, or on the CPU, at an address."""

    is_cuda = True
    shape = (64,)
    dtype = np.dtype("float32")

    def __init__(self, device: int = 0, address: int = 4096) -> None:
        self.device, self.address = device, address

    def data_ptr(self) -> int:
        return self.address

    def get_device(self) -> int:
        return self.device

    def __repr__(self) -> str:
        return f"a tensor on {spelled(self.device)} at {self.address}"


def spelled(device: int) -> str:
    return "cpu" if device < 0 else f"cuda:{device}"


@given(st.lists(DEVICES, min_size=1, max_size=4), st.booleans())
@example([2, 2, 2], False)
@example([0, 1], False)
@example([-1], False)
@example([0, -1], True)
def test_the_gpu_of_all_memory(devices: list[int], array: bool) -> None:
    memory: dict[str, Any] = {f"argument{i}": Somewhere(device) for i, device in enumerate(devices)}
    if array:
        memory["array"] = np.zeros(3)
        devices = [*devices, -1]
    call = described(f"gpu_of('my_kernel', {memory})", gpu_of, "my_kernel", memory)
    places = sorted(set(devices))
    if len(places) == 1 and places[0] >= 0:
        call.returns(places[0], because="all memory is on this GPU")
        return
    call.raises(ValueError, "my_kernel", *map(spelled, places), because="all memory must be on one GPU")
    with pytest.raises(ValueError) as refusal:
        call()
    for place in places:
        named = [name for name, device in zip(memory, devices, strict=True) if device == place]
        if not any(name in str(refusal.value) for name in named):
            call.fail(f"a message with the name of an argument on {spelled(place)}", refusal.value)


class Recorder:
    """Stands for a compiled kernel: records launches, and the GPU of each."""

    def __init__(self) -> None:
        self.current = 0
        self.launches: list[Any] = []

    def launch(self, grid: Any, arguments: Any) -> None:
        self.launches.append((tuple(grid), self.current, list(arguments)))

    @contextlib.contextmanager
    def selected(self, gpu: int) -> Iterator[None]:
        before, self.current = self.current, gpu
        yield
        self.current = before


@given(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)),
    st.integers(0, 3),
    st.lists(st.one_of(st.integers(), st.floats(allow_nan=False)), max_size=4),
)
@example((0, 1, 1), 0, [])
@example((2, 1, 0), 0, [])
@example((2, 3, 4), 2, [1, 2.5])
def test_what_is_launched(grid: tuple[int, int, int], gpu: int, arguments: list[Any]) -> None:
    recorder = Recorder()
    with mock.patch.object(launch, "selected", recorder.selected):
        Launcher(mock.Mock(kernel=recorder), gpu)(grid, arguments)
    expected = [] if 0 in grid else [(grid, gpu, arguments)]
    assert recorder.launches == expected, (
        f"Launcher(lowered, gpu={gpu})({grid}, {arguments})\n"
        f"  expected  {expected or 'no launch: the grid is empty'}\n"
        f"  got       {recorder.launches}\n"
        "  Each launch is written as (grid, selected GPU, arguments)."
    )
    assert recorder.current == 0, f"the launch should leave GPU 0 selected, not {recorder.current}"


@pytest.mark.parametrize("n, passed", [(1024, [1024]), (1000, [1000]), (1, [])])
@pytest.mark.parametrize("aligned", [True, False])
def test_a_kernel_called_with_tensors_of_a_gpu(n: int, passed: list[int], aligned: bool) -> None:
    triton.version()  # without Triton, the test ends as unavailable
    from mini_triton.backends import triton_api
    from mini_triton.runtime import warm

    kernel = load(COPY)["copy"]
    out, x = Somewhere(), Somewhere(address=4096 if aligned else 4100)
    recorder = Recorder()
    with (
        mock.patch.object(launch, "selected", recorder.selected),
        mock.patch.object(launch, "capability_here", lambda gpu: 80),
        mock.patch.object(triton_api.Kernel, "launch", lambda self, grid, arguments: recorder.launch(grid, arguments)),
    ):
        for _ in range(2):  # the second launch repeats the first
            compiled = kernel[(3, 2)](out, x, n, 2.5, BLOCK=1024)
    shown = f"copy[(3, 2)]({out}, {x}, n={n}, 2.5, BLOCK=1024)"
    expected = [((3, 2, 1), 0, [out, x, *passed, 2.5])] * 2
    assert recorder.launches == expected, (
        f"{shown}, twice\n  expected  {expected}\n  got       {recorder.launches}\n"
        "  Each launch is written as (grid, selected GPU, arguments). An argument that is 1 is a constant, like BLOCK."
    )
    widths = sorted(set(re.findall(r"ld\.global\.?(v4)?", compiled.asm["ptx"])))
    wide = aligned and n % 16 == 0
    assert widths == ["v4" if wide else ""], (
        f"{shown}: its PTX should load {4 if wide else 1} elements at a time, but its loads have the widths {widths}"
    )
    assert isinstance(kernel.warm, warm.WarmLaunches)


COPY = """import triton
import triton.language as tl


@triton.jit
def copy(out, x, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)
"""

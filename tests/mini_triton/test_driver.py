"""Launches of the back end "ptx" on a GPU, up to the driver: what a stand-in for NVIDIA's library receives."""

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mini_triton.backends.threads import driver, launch
from mini_triton.backends.threads.back_end import Code
from mini_triton.backends.threads.copy_engine import Box
from mini_triton.backends.threads.launch import preparation


class Library:
    """Keeps the last launch: its configuration, and 8 bytes at the address of each argument."""

    def __init__(self, count: int, code: int = 0) -> None:
        self.count, self.code = count, code
        self.cuModuleLoadData = self.cuModuleGetFunction = self.cuFuncSetAttribute = lambda *_: 0
        self.cuFuncGetAttribute = lambda *_: 0

    def cuCtxGetCurrent(self, context: Any) -> int:
        context._obj.value = 77
        return 0

    def cuCtxSetCurrent(self, context: Any) -> int:
        self.code = 0 if context.value == 77 else 1
        return 0

    def cuLaunchKernelEx(self, config: Any, function: Any, pointers: Any, extra: Any) -> int:
        self.config = ctypes.cast(config, ctypes.POINTER(ctypes.c_uint * 7)).contents[:]
        self.stream = ctypes.cast(config, ctypes.POINTER(ctypes.c_uint64 * 5)).contents[4]
        self.arguments = [ctypes.string_at(pointers[number], 8) for number in range(self.count)]
        return self.code

    def cuGetErrorString(self, code: int, message: Any) -> None:
        ctypes.cast(message, ctypes.POINTER(ctypes.c_char_p))[0] = b"no such kernel"


def test_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    pointer = SimpleNamespace(data_ptr=lambda: 1 << 63)
    given = [("*fp32", pointer), ("i32", -2), ("u64", 2**64 - 1), ("i1", True)]
    given += [("fp32", 1e300), ("fp64", -0.0), ("fp16", 0.1), ("bf16", -1.5)]
    library = Library(len(given))
    monkeypatch.setattr(driver, "library", lambda: library)
    function = driver.Function(b"", "kernel", 128, 1 << 16, len(given))
    function.launch((7, 1, 1), 5, [0] * len(given))
    function.launch((4, 2, 3), 1 << 40, [preparation(type)(value) for type, value in given])
    assert library.config == [4, 2, 3, 128, 1, 1, 1 << 16]
    assert library.stream == 1 << 40
    types = ["u8", "i4", "u8", "u1", "f4", "f8", "f2", "u2"]
    found = [np.frombuffer(bits, type)[0] for bits, type in zip(library.arguments, types, strict=True)]
    assert found == [1 << 63, -2, 2**64 - 1, 1, np.inf, 0, np.float16(0.1), 0xBFC0]
    assert np.signbit(found[5])


def test_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(1, code=1)
    monkeypatch.setattr(driver, "library", lambda: library)
    function = driver.Function(b"", "kernel", 128, 0, 1)
    with pytest.raises(RuntimeError, match="cuLaunchKernelEx: no such kernel"):
        function.launch((1, 1, 1), 0, [3])
    with pytest.raises(ValueError, match="size"):
        function.launch((1, 1, 1), 0, [3, 4])


def test_a_thread_without_a_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Autograd starts threads of its own, which launch kernels before they use the GPU otherwise."""
    library = Library(1, code=driver.INVALID_CONTEXT)
    monkeypatch.setattr(driver, "library", lambda: library)
    driver.Function(b"", "kernel", 128, 0, 1).launch((1, 1, 1), 0, [3])
    assert library.code == 0
    assert library.arguments == [(3).to_bytes(8, "little")]


@pytest.mark.parametrize("shape", [(100, 72), (1, 72), (0, 72), (100, 0)], ids=str)
def test_tensor_maps(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver refuses an empty matrix. A launch with one still needs a map, although no program uses it."""
    encoded = []

    def encode(*arguments: Any) -> int:
        encoded.append((arguments[0].value, arguments[4][:], arguments[5][:]))
        return int(0 in arguments[4])

    monkeypatch.setattr(driver, "library", lambda: SimpleNamespace(cuTensorMapEncodeTiled=encode))
    map = driver.TensorMap(1 << 40, shape, 80, Box(64, 32, 2))
    assert map.start % 64 == 0
    assert encoded == ([] if 0 in shape else [(map.start, [*reversed(shape)], [160])])


@pytest.mark.parametrize(
    "registers, warps, shared, second, programs",
    [
        (178, 4, 66_560, "fits", 3),
        (178, 4, 66_560, "spills", None),
        (178, 4, 66_560, "is refused", None),
        (168, 4, 66_560, "fits", None),  # three programs fit already
        (178, 4, 82_432, "fits", None),  # shared memory has no room for a third program
        (150, 8, 82_432, "fits", 2),
        (128, 4, 0, "fits", None),  # four programs
        (255, 16, 0, "fits", 1),
    ],
)
def test_registers_make_room(
    registers: int, warps: int, shared: int, second: str, programs: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel gets fewer registers if a further program then fits on a multiprocessor, unless threads spill.

    The assembler refuses the second text if an instruction needs more registers.
    """

    def assemble(ptx: str, *_: Any) -> str:
        if second == "is refused" and "minnctapersm" in ptx:
            raise RuntimeError("Insufficient registers")
        return ptx

    def loaded(ptx: str, *_: Any) -> Any:
        return SimpleNamespace(ptx=ptx, registers=registers, local=8 * (second == "spills" and "minnctapersm" in ptx))

    monkeypatch.setattr(launch, "assemble", assemble)
    monkeypatch.setattr(launch, "Function", loaded)
    head = f".visible .entry k()\n.reqntid {32 * warps}\n"
    body = "{ wgmma.… }"
    found: Any = launch.load(Code("k", head + body, "sm_90a", 32 * warps, shared), 0, True)
    assert found.ptx == head + (f".minnctapersm {programs}\n" if programs else "") + body
    for others in (head + "{ add.… }", f"{head}.maxnreg 255\n{body}"):
        found = launch.load(Code("k", others, "sm_90a", 32 * warps, shared), 0, True)
        assert found.ptx == others, "only kernels with tensor cores, and no maxnreg"

"""NVIDIA's driver: load machine code, and launch it on a stream. (Given.)"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mini_triton.backends.threads.copy_engine import Box

STATIC_SHARED = 48 << 10
"""Bytes of shared memory that a program may use without a request."""
MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
"""`CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` of the driver's interface."""
LOCAL_SIZE_BYTES, NUM_REGS = 3, 4
"""`CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES` and `CU_FUNC_ATTRIBUTE_NUM_REGS`: of a thread."""
INVALID_CONTEXT = 201
"""`CUDA_ERROR_INVALID_CONTEXT`."""

MAP_BYTES, MAP_ALIGNMENT = 128, 64
UNSIGNED = {1: 0, 2: 1, 4: 2, 8: 4}
"""`CUtensorMapDataType` of unsigned integers, by their bytes: the engine only moves elements."""
CACHE_LINES = 2
"""`CU_TENSOR_MAP_L2_PROMOTION_L2_128B`: lines to fetch into the cache."""


@functools.cache
def library() -> ctypes.CDLL:
    return ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")


def call(name: str, *arguments: Any) -> None:
    """Call a function of the driver. Raises `RuntimeError`, with the driver's message, if it fails."""
    code = getattr(library(), name)(*arguments)
    if code:
        message = ctypes.c_char_p()
        library().cuGetErrorString(code, ctypes.byref(message))
        raise RuntimeError(f"{name}: {(message.value or b'unknown error').decode()}")


def attribute(function: ctypes.c_void_p, number: int) -> int:
    """What the driver knows about a function."""
    value = ctypes.c_int()
    call("cuFuncGetAttribute", ctypes.byref(value), number, function)
    return value.value


class Config(ctypes.Structure):
    """`CUlaunchConfig`: what the driver wants to know besides the arguments."""

    _fields_ = (
        *((name, ctypes.c_uint) for name in ("x", "y", "z", "threads", "threads_y", "threads_z", "shared")),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_uint),
    )


class TensorMap:
    """A matrix as the copy engine sees it, and boxes of it, with rows of up to 128 bytes. Sizes are in elements."""

    def __init__(self, address: int, shape: tuple[int, int], stride: int, box: Box) -> None:
        self.room = ctypes.create_string_buffer(MAP_BYTES + MAP_ALIGNMENT)
        self.start = -(-ctypes.addressof(self.room) // MAP_ALIGNMENT) * MAP_ALIGNMENT
        if 0 in shape:  # the driver encodes no empty matrix, and no program copies from one
            return
        sizes, strides = (ctypes.c_uint64 * 2)(*reversed(shape)), (ctypes.c_uint64 * 1)(stride * box.size)
        boxes, steps = (ctypes.c_uint32 * 2)(box.columns, box.rows), (ctypes.c_uint32 * 2)(1, 1)
        array = ctypes.c_void_p(self.start), UNSIGNED[box.size], 2, ctypes.c_void_p(address), sizes, strides
        call("cuTensorMapEncodeTiled", *array, boxes, steps, 0, box.swizzle, CACHE_LINES, 0)


tensor_map = functools.lru_cache(2**10)(TensorMap)


class Function:
    """A kernel loaded onto the current GPU. It takes `count` arguments, then tensor maps.

    A thread has so many `registers`, and so many bytes of `local` memory.
    """

    def __init__(self, code: bytes, name: str, threads: int, shared: int, count: int, maps: int = 0) -> None:
        module, function, self.context = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        call("cuCtxGetCurrent", ctypes.byref(self.context))
        call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(code))
        call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        if shared > STATIC_SHARED:
            call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
        self.local, self.registers = (attribute(function, number) for number in (LOCAL_SIZE_BYTES, NUM_REGS))
        self.words = (ctypes.c_uint64 * count)()  # one for each argument, which is in the low bytes
        start = ctypes.addressof(self.words)
        self.pointers = (ctypes.c_void_p * (count + maps))(*range(start, start + ctypes.sizeof(self.words), 8))
        self.config = Config(threads=threads, threads_y=1, threads_z=1, shared=shared)
        self.operands = ctypes.byref(self.config), function, self.pointers, None
        self.start, self.lock = library().cuLaunchKernelEx, threading.Lock()

    def launch(
        self,
        grid: tuple[int, int, int],
        stream: int,
        arguments: list[Any],
        maps: Sequence[TensorMap] = (),
    ) -> None:
        """Run every program of the grid.

        The call may return before the programs finish.
        """
        with self.lock:
            for number, map in enumerate(maps, len(self.words)):
                self.pointers[number] = map.start
            self.words[:] = arguments
            self.config.x, self.config.y, self.config.z = grid
            self.config.stream = stream
            if code := self.start(*self.operands):
                if code == INVALID_CONTEXT:  # of a thread that has not used the GPU yet
                    call("cuCtxSetCurrent", self.context)
                call("cuLaunchKernelEx", *self.operands)

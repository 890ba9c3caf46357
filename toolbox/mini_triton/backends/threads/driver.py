"""NVIDIA's driver: load machine code, and launch it on a stream. (Given.)"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Sequence
from typing import Any

STATIC_SHARED = 48 << 10
"""Bytes of shared memory that a program may use without a request."""
MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
"""`CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` of the driver's interface."""


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


class Function:
    """A kernel loaded onto the current GPU."""

    def __init__(self, code: bytes, name: str, threads: int, shared: int, types: Sequence[Any]) -> None:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(code))
        call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        if shared > STATIC_SHARED:
            call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
        self.function, self.threads, self.shared = function, threads, shared
        self.values = [type() for type in types]  # argument values, and their addresses
        self.pointers = (ctypes.c_void_p * len(self.values))(*map(ctypes.addressof, self.values))
        self.start = library().cuLaunchKernel

    def launch(self, grid: tuple[int, int, int], stream: int, arguments: Sequence[Any]) -> None:
        """Run every program of the grid. The call may return before the programs finish."""
        for place, value in zip(self.values, arguments, strict=True):
            place.value = value
        stream_ = ctypes.c_void_p(stream)
        if self.start(self.function, *grid, self.threads, 1, 1, self.shared, stream_, self.pointers, None):
            call("cuLaunchKernel", self.function, *grid, self.threads, 1, 1, self.shared, stream_, self.pointers, None)

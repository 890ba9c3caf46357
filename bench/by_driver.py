"""PTX on a GPU, without Triton's launcher: NVIDIA's assembler makes machine code, and CUDA's driver launches it.

    gpu = Gpu()
    after = gpu.launch(Job(ptx, assemble(ptx), grid, arguments, shared))

The launches happen in another process: one that fails or hangs ends only that process.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import multiprocessing
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from mini_triton.backends.threads import driver
from mini_triton.backends.threads.assembler import assembler
from mini_triton.emulator.launch import parse_once
from mini_triton.emulator.parser import Kernel

PAD = 512
"""Bytes before and after each buffer that a kernel must not change."""
FILLING = 0xA5
SECONDS = 60.0


@dataclass(frozen=True)
class Addresses:
    """A buffer with the addresses of other buffers."""

    of: Sequence[int]


@dataclass(frozen=True)
class Job:
    """A launch. Arguments are arrays, numbers and `Addresses`; `hidden` arrays are reached by their addresses only."""

    ptx: str
    code: bytes
    grid: Sequence[int]
    arguments: Sequence[Any]
    shared: int = 0
    hidden: Sequence[Any] = ()

    @property
    def kernel(self) -> Kernel:
        return parse_once(self.ptx)

    def numbers(self) -> list[bytes | None]:
        """The bytes of each parameter; None for a buffer. Parameters that Triton adds are zero."""
        found: list[bytes | None] = []
        for n, parameter in enumerate(self.kernel.parameters):
            value, kind = self.arguments[n] if n < len(self.arguments) else 0, parameter.type
            if isinstance(value, np.ndarray | Addresses):
                found.append(None)
            elif isinstance(value, float) and not kind.is_float:  # Triton passes fp32 as .b32
                found.append(np.array(value, f"f{kind.width // 8}").tobytes())
            elif kind.is_float:
                found.append(np.array(value, kind.value).tobytes())
            else:
                found.append((int(value) % (1 << kind.width)).to_bytes(kind.width // 8, "little"))
        return found


def assemble(ptx: str, target: str = "sm_90a") -> bytes | str:
    """Machine code, or the assembler's message. Products and sums are not fused, as the emulator does not fuse them."""
    with tempfile.TemporaryDirectory() as folder:
        text, code = Path(folder, "k.ptx"), Path(folder, "k.cubin")
        text.write_text(ptx, encoding="utf-8")
        command = [str(assembler()), f"-arch={target}", "--fmad=false", "-o", str(code), str(text)]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stderr.strip() if done.returncode else code.read_bytes()


class Gpu:
    """A GPU, used by a process that starts again after each failure."""

    def __init__(self) -> None:
        self.process: Any = None
        self.pipe: Any = None

    def launch(self, job: Job) -> list[np.ndarray] | str:
        """All buffers after a launch, or why it failed."""
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, other = context.Pipe()
            self.process = context.Process(target=serve, args=(other,), daemon=True)
            self.process.start()
            other.close()
        answer: Any = "the launch took too long"
        try:
            self.pipe.send(job)
            if self.pipe.poll(SECONDS):
                answer = self.pipe.recv()
        except (EOFError, OSError) as error:
            answer = f"the process of the GPU ended: {error}"
        if isinstance(answer, str):
            self.close()
        return answer

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def serve(pipe: Connection) -> None:
    """Launch what arrives, until the other side closes the pipe."""
    with contextlib.suppress(EOFError):
        while True:
            job = pipe.recv()
            try:
                pipe.send(run(job))
            except Exception as error:
                pipe.send(f"{type(error).__name__}: {error}")


@functools.cache
def start() -> str:
    """Make a GPU ready for this thread. Returns its name."""
    call, device, context = driver.call, ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    name = ctypes.create_string_buffer(100)
    call("cuDeviceGetName", name, 100, device)
    return name.value.decode()


def run(job: Job) -> list[np.ndarray]:
    """Launch on the GPU of this process. Returns all buffers. Raises `RuntimeError` if the launch fails."""
    start()
    values = [*job.arguments, *job.hidden]
    arrays = {n: value for n, value in enumerate(values) if isinstance(value, np.ndarray)}
    arrays |= {n: np.zeros(len(v.of), np.int64) for n, v in enumerate(values) if isinstance(v, Addresses)}
    places, size = {}, 0
    for n, array in arrays.items():
        places[n] = size + PAD
        size += 2 * PAD + -(-array.nbytes // PAD) * PAD
    base = ctypes.c_uint64()
    driver.call("cuMemAlloc_v2", ctypes.byref(base), ctypes.c_size_t(max(size, PAD)))
    for n, value in enumerate(values):
        if isinstance(value, Addresses):
            arrays[n] = np.array([base.value + places[other] for other in value.of], np.int64)
    before = np.full(max(size, PAD), FILLING, np.uint8)
    for n, array in arrays.items():
        before[places[n] :][: array.nbytes] = np.frombuffer(array.tobytes(), np.uint8)
    after = np.empty_like(before)
    length = ctypes.c_size_t(before.nbytes)
    driver.call("cuMemcpyHtoD_v2", base, before.ctypes.data_as(ctypes.c_void_p), length)

    raw = [
        (base.value + places[n]).to_bytes(8, "little") if number is None else number
        for n, number in enumerate(job.numbers())
    ]
    threads = job.kernel.threads
    assert threads, "the text does not say the number of threads"
    function = driver.Function(job.code, job.kernel.name, threads, job.shared, len(raw))
    x, y, z = (*map(int, job.grid), 1, 1)[:3]
    function.launch((x, y, z), 0, [int.from_bytes(r, "little") for r in raw])
    driver.call("cuCtxSynchronize")
    driver.call("cuMemcpyDtoH_v2", after.ctypes.data_as(ctypes.c_void_p), base, length)
    driver.call("cuMemFree_v2", base)

    outside = np.ones(len(before), bool)
    results = []
    for n, array in arrays.items():
        outside[places[n] :][: array.nbytes] = False
        results.append(after[places[n] :][: array.nbytes].view(array.dtype).copy())
    if (after[outside] != FILLING).any():
        raise RuntimeError("the kernel has written outside of its buffers")
    return results

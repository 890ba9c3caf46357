"""Compile a program's kernels for a GPU when the program is loaded, several at once. (Given.)

This thread runs our front end and passes. Only real Triton's part runs in other threads: LLVM releases Python's lock,
and NVIDIA's assembler is a process of its own.

Source: `AsyncCompileMode` in Triton's `python/triton/runtime/_async_compile.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import torch

from mini_triton.backends.launch import capability_here
from mini_triton.runtime.arguments import mock
from mini_triton.runtime.binding import bind
from mini_triton.runtime.compiled_kernel import CompiledKernel
from mini_triton.runtime.jit import JITFunction
from mini_triton.runtime.options import Options

if TYPE_CHECKING:
    from mini_triton.fusion.source import Kernel


def list_kernels(kernels: Iterable[Kernel]) -> str:
    """The statement of a program that compiles its kernels for a GPU; "" if there are none.

    Kernels that take numbers are left out, because the values of the numbers specialize them.
    """
    lines: dict[str, None] = {}
    for kernel in kernels:
        gpus = [tensor.device.index for tensor in kernel.tensors if tensor.device.type == "cuda"]
        if gpus and not kernel.numbers:
            dtypes = ", ".join(str(tensor.dtype) for tensor in kernel.tensors)
            lines[f"    ({kernel.name}, {gpus[0]}, [{dtypes}], {kernel.constants}),\n"] = None
    return f"\ncompile_ahead(\n{''.join(lines)})\n" if lines else ""


def compile_ahead(*kernels: tuple[JITFunction, int, list[torch.dtype], dict[str, Any]]) -> None:
    """Compile kernels, each for a GPU, a dtype for each pointer, and its compile-time arguments and options."""
    targets = {}
    for function, gpu, dtypes, constants in kernels:
        values, options = bind(function.fn.__name__, function.parameters, tuple(map(mock, dtypes)), constants)
        targets[function.find(values, Options(**options))] = f"sm_{capability_here(gpu)}"
    lower_all(targets)


def lower_all(targets: Mapping[CompiledKernel, str]) -> None:
    """Let real Triton compile each kernel for its target. An error occurs again where the kernel is launched.

    The first kernel is compiled alone. It imports Triton's modules, which other threads could find unfinished.
    """
    kernels = list(targets)
    with ThreadPoolExecutor(min(16, os.cpu_count() or 1)) as pool:
        for turn in (kernels[:1], kernels[1:]):
            wait([pool.submit(kernel.lower, targets[kernel]) for kernel in turn])

"""Products by warp groups: instructions and registers in PTX, descriptors in registers, and kernels with a text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from mini_triton.backends.threads.back_end import Code, compile_module
from mini_triton.backends.threads.fragments import Arrangement, sum_layout
from mini_triton.backends.threads.layouts import Index
from mini_triton.backends.threads.tiles import Tile
from mini_triton.backends.threads.warp_groups import Matrix
from mini_triton.emulator import emulate
from mini_triton.emulator.report import Report

from tests.checks import described
from tests.support.m13_threads import probing
from tests.support.m13_threads.kernels import module_of, source

PRODUCT = re.compile(r"wgmma\.mma_async\S*\.m64n(\d+)k\d+\S* \{(.*?)\}, (.*);")
LOOP = re.compile(r"^(\S+):\n(.*?)\bbra(?:\.uni)? \1;", re.MULTILINE | re.DOTALL)


def instructions(ptx: str) -> list[tuple[int, tuple[str, ...]]]:
    """The columns and the registers of the sums of each `wgmma`."""
    return [(int(found[1]), tuple(found[2].split(", "))) for found in PRODUCT.finditer(ptx)]


def loop_of(ptx: str) -> str:
    """The instructions of a kernel's only loop."""
    ((_, found),) = LOOP.findall(ptx)
    return str(found)


def without(code: Code, pattern: str) -> Iterator[tuple[str, Code]]:
    """Each line of a kernel's only loop in which a pattern occurs, and the kernel without this line."""
    before, loop, after = code.ptx.partition(loop_of(code.ptx))
    lines = loop.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if re.search(pattern, line):
            rest = "".join(lines[:number] + lines[number + 1 :])
            yield line.strip(), replace(code, ptx=before + rest + after)


def others(ptx: str) -> list[str]:
    """The instructions of the loop, except for products, that read or write a product's sums."""
    sums = {register for _, registers in instructions(ptx) for register in registers}
    lines = [line for line in loop_of(ptx).splitlines() if "wgmma.mma" not in line]
    return [line.strip() for line in lines if sums.intersection(re.findall(r"%\w+", line))]


def descriptors(tile: Tile, axis: int, warps: Arrangement, indices: Sequence[Index]) -> np.ndarray:
    """The descriptors of a tile's parts, by thread: int[threads, indices]. Their addresses count from shared memory."""
    shape = (16 * warps.rows, tile.shape[1]) if axis else (tile.shape[0], 32 * warps.columns)
    text = "module { tt.func public @k(%out: !tt.ptr<i64>) { tt.return } }"
    threads, _ = probing.threads_of(text, warps.rows * warps.columns)
    threads.shared = tile.start + tile.bytes
    matrix = Matrix(threads, tile, sum_layout(shape, warps), axis)
    before = len(threads.lists[0])
    found = [matrix.descriptor(index) for index in indices]
    made = len(threads.lists[0]) - before
    if made > len(indices):
        described(f"{len(indices)} descriptors of {tile}", lambda: None).fail(
            f"at most {len(indices)} instructions", str(made)
        )
    base = threads.op("cvt.u64.u32", threads.op("shr.u32", threads.op("mov.b32", "shared_memory"), 4))
    looked, _ = probing.look(threads, [*found, base])
    return (looked[0, :, :-1] - looked[0, :, -1:]).astype(np.uint64)


def compiled(text: str, signature: dict[str, str], warps: int = 4, stages: int = 1, **constants: Any) -> Code:
    """A kernel `k` for a Hopper GPU. All parameters but those whose name begins with `n` are multiples of 16."""
    asked = source(text, signature, [name for name in signature if name[0] != "n"], **constants)
    return described(f"the kernel\n{text}", compile_module, module_of(asked), warps, 90, stages).succeeds("PTX")


def launched(code: Code, arguments: Sequence[Any]) -> Report:
    """The report of one program, which the emulator must run without errors."""
    report = emulate(code.ptx, (1, 1, 1), arguments, shared=code.shared)
    if report.errors:
        described("the launch", lambda: None).fail("no error on the emulator", str(report.errors[0]))
    return report

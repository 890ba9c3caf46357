"""Compile a kernel ahead of time: write a C source that contains the machine code, and a header.

    mini-triton compile kernel.py --kernel-name add --out-name add --target cuda:90 \\
        --signature "*fp32:16, *fp32:16, *fp32:16, i32, 1024" --grid "(n + 1023) / 1024, 1, 1"

This command writes `add.d9384e65_0d1d2d.c` and `add.d9384e65_0d1d2d.h`. A C program calls

    CUresult add_d9384e65_0d1d2d(CUstream stream, CUdeviceptr x, CUdeviceptr y, CUdeviceptr out, int32_t n);

This function does not check that its arguments match the signature. A function that `link.py` writes checks this.

Source: Triton's `python/triton/tools/compile.py`.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from mini_triton.backends.handoff import Lowered
from mini_triton.compat import driver
from mini_triton.compat.compiler import ASTSource, compile
from mini_triton.errors import TritonError
from mini_triton.frontend.function import KernelSource
from mini_triton.tools.loading import kernel_in, load_file
from mini_triton.tools.templates import HEADER, SOURCE
from mini_triton.tools.variant import Variant, declare, prototype, read_entry

SCRATCH = ("global_scratch", "profile_scratch")
"""Pointers that Triton's machine code takes after the kernel's arguments: to scratch memory, or null."""
NAME = re.compile(r"\b[A-Za-z_]\w*", re.ASCII)
"""A name in C."""
INTEGERS = ("int", "unsigned", "long", "int32_t", "uint32_t", "int64_t", "uint64_t", "size_t")
"""Types of C to which a grid may convert its values."""


@dataclass
class CompileArgs:
    """The command line."""

    path: str
    kernel_name: str
    signature: str
    grid: str
    target: str | None = None
    num_warps: int = 1
    num_stages: int = 3
    out_name: str | None = None
    out_path: Path | None = None


def compile_kernel(args: CompileArgs) -> tuple[str, list[Path]]:
    """Write the C source and the header. Return the name of the C function, and the paths of both files.

    Raises `ValueError` if the command line does not match the kernel, and `CompilationError` for an invalid kernel.
    """
    kernel = load_kernel(Path(args.path), args.kernel_name)
    capability = capability_of_target(args.target)
    # Task 10.4: What turns the command line into a kernel for one set of arguments?
    raise NotImplementedError("Task 10.4: Ahead of time")


def load_kernel(path: Path, name: str) -> KernelSource:
    """The kernel of this name in a Python file, which is executed. The kernel may use real Triton's `@jit`. (Given.)"""
    return kernel_in(load_file(path), name)


def capability_of_target(target: str | None) -> int:
    """The compute capability of a target: 90 for "cuda:90"; for None, that of this machine's GPU. (Given.)"""
    if target is None:
        here = driver.active.get_current_target()
        if here.backend != "cuda":
            raise ValueError("this machine does not have a GPU: name a target, such as --target cuda:90")
        return int(here.arch)
    match = re.fullmatch(r"cuda:(\d{2,3})(:32)?", target, re.ASCII)
    if match is None:
        raise ValueError(f"a target is spelled like cuda:90 or cuda:90:32, not {target!r}")
    return int(match[1])


def variant_of(kernel: KernelSource, args: CompileArgs) -> Variant:
    """The variant of the kernel that the command line describes. (Given.)

    Raises `ValueError` for a name that C cannot use, for unknown names in the grid, and for a signature that does not
    match the kernel.
    """
    names, out_name = list(kernel.signature.parameters), args.out_name or args.kernel_name
    if not NAME.fullmatch(out_name):
        raise ValueError(f"{out_name!r} cannot be the name of a function in C")
    if unknown := set(NAME.findall(args.grid)).difference(names, INTEGERS):
        raise ValueError(f"the grid {args.grid!r} names {', '.join(sorted(unknown))}; it can name {', '.join(names)}")
    texts = [text.strip() for text in args.signature.split(",")]
    if len(texts) != len(names):
        raise ValueError(
            f"{args.kernel_name} has {len(names)} parameters, {', '.join(names)}, but the signature has {len(texts)}"
        )
    entries = dict(zip(names, map(read_entry, texts), strict=True))
    return Variant(out_name, texts, entries, args.num_warps, args.num_stages)


def lower(kernel: KernelSource, variant: Variant, capability: int) -> Lowered:
    """Compile a variant to machine code. Raises `RuntimeError` for a kernel that needs scratch memory."""
    # Task 10.4: The machine code must keep the promises of the variant's hints, but not make others. Given:
    # `ASTSource`, `compile`; a `Lowered` has `kernel.scratch`, in bytes.
    raise NotImplementedError("Task 10.4: Ahead of time")


def sizes_of(grid: str, known: Mapping[str, Any]) -> list[str]:
    """The three sizes of the grid, as expressions in C: `["(n + 1023) / 1024", "1", "1"]`.

    A grid may name any parameter, but only some parameters are passed to the C function. `known` maps the names of the
    other parameters to their values; in the result, these values replace the names. Raises `ValueError` if there are
    not three sizes, if one of them is empty, or if a grid names a value that is not an integer, such as None.
    """
    # Task 10.4: Replace whole names only: `BLOCK_M` is not `BLOCK`. What would C make of `n-M` if M is -1?
    raise NotImplementedError("Task 10.4: Ahead of time")


def write_launch(variant: Variant, sizes: Sequence[str], num_warps: int, shared: int) -> str:
    """The last lines of a variant's C function, which launch the kernel with the function's arguments.

    The C function returns the result of `cuLaunchKernel`. CUDA rejects an empty grid; for such a grid, the function
    returns `CUDA_SUCCESS` without a launch. `shared` is in bytes.
    """
    # Task 10.4: The chapter shows these lines for a variant with one warp. Given: `SCRATCH`, the pointers to memory
    # that only other kernels need; `variant.passed`.
    raise NotImplementedError("Task 10.4: Ahead of time")


def write_files(variant: Variant, lowered: Lowered, args: CompileArgs) -> list[Path]:
    """Write the C files, and return their paths. (Given.)"""
    path = args.out_path or Path(variant.out_name)
    header, source = (path.with_suffix(f".{variant.hash}_{variant.suffix}{end}") for end in (".h", ".c"))
    kernel, cubin = lowered.kernel, lowered.asm["cubin"]
    signature = {"name": variant.name, "prototype": prototype(declare(variant.passed))}
    header.write_text(
        HEADER.substitute(
            signature,
            arguments=declare(variant.arguments),
            algorithm=variant.algorithm,
            hints=" ".join(str(entry.hint or "-") for entry in variant.arguments.values()),
        )
    )
    known = [f"{name}={value}" for name, value in variant.known.items()]
    source.write_text(
        SOURCE.substitute(
            signature,
            description=", ".join([f"{kernel.name} for sm_{lowered.capability}", *known, variant.options]),
            header=header.name,
            size=len(cubin),
            cubin=fill(", ".join(map(str, cubin)), 120),
            kernel=kernel.name,
            shared=kernel.shared,
            launch=write_launch(variant, sizes_of(args.grid, variant.known), kernel.num_warps, kernel.shared),
        )
    )
    return [source, header]


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = ArgumentParser(
        prog="mini-triton compile", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("path", help="a Python file with the kernel, which is executed")
    parser.add_argument("--kernel-name", "-n", required=True, help="the kernel's name in the file")
    parser.add_argument("--target", "-t", help="cuda:90 for sm_90; by default, this machine's GPU")
    parser.add_argument("--num-warps", "-w", type=int, default=1, help="the number of warps of each program")
    parser.add_argument("--num-stages", "-ns", type=int, default=3, help="the number of stages of pipelined loops")
    parser.add_argument("--out-name", "-on", help="the kernel's name in C")
    parser.add_argument("--out-path", "-o", type=Path, help="the path of the files, without suffix")
    parser.add_argument("--signature", "-s", required=True, help='an entry for each parameter: "*fp32:16, i32, 1024"')
    parser.add_argument("--grid", "-g", required=True, help='three expressions in C: "(n + 1023) / 1024, 1, 1"')
    options = parser.parse_args(arguments)
    try:
        compile_kernel(CompileArgs(**vars(options)))
    except NotImplementedError:
        raise  # a task that is not written yet
    except (AssertionError, OSError, RuntimeError, TritonError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()

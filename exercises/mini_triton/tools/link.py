"""Link variants of a kernel into one C function that chooses the best variant for its arguments.

    mini-triton link add.*.h -o add

This command reads headers that `compile.py` wrote, and writes `add.c` and `add.h`. A C program calls

    CUresult add_default(CUstream stream, CUdeviceptr x, CUdeviceptr y, CUdeviceptr out, int32_t n);

Variants may also differ in constants or options, which the arguments do not show. All variants with the same constants
and options form an *algorithm*. `add` takes an additional argument `algo_id`, the number of an algorithm in the order
of the headers; `add_default` calls the first algorithm.

Source: Triton's `python/triton/tools/link.py`.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mini_triton.tools.templates import ALGORITHM, LINKED, LINKED_HEADER
from mini_triton.tools.variant import prototype

DIRECTIVES = re.compile(r"// tt-linker: (\w+):(.*):(\w+)\n// tt-linker-hints: ?(.*)\n")


class LinkError(ValueError):
    """Headers that do not belong together."""


@dataclass(frozen=True)
class Compiled:
    """A variant, as its header describes it."""

    name: str  # add_d9384e65_0d1d2d
    algorithm: str  # 1024_warps1xstages3
    arguments: Mapping[str, str]  # C types of all arguments, by name
    hints: Sequence[int | None]  # for each argument, 16, 1 or None

    @property
    def kernel(self) -> str:
        """The kernel's name in C: "add". (Given.)"""
        return self.name.rsplit("_", 2)[0]

    @property
    def declared(self) -> list[str]:
        """All arguments as C declares them. (Given.)"""
        return [f"{type} {name}" for name, type in self.arguments.items()]

    @property
    def passed(self) -> list[str]:
        """The names of the arguments that this variant's function takes: those not known to be 1. (Given.)"""
        return [name for name, hint in zip(self.arguments, self.hints, strict=True) if hint != 1]


def read_header(text: str) -> list[Compiled]:
    """The variants that a header declares; an empty list if `compile.py` did not write the header. (Given.)"""
    found = []
    for name, arguments, algorithm, hints in DIRECTIVES.findall(text):
        pairs = [argument.split() for argument in arguments.split(",") if argument]
        numbers = [None if hint == "-" else int(hint) for hint in hints.split()]
        found.append(Compiled(name, algorithm, {name: type for type, name in pairs}, numbers))
    return found


def group(variants: Iterable[Compiled]) -> dict[str, list[Compiled]]:
    """The variants of each algorithm, by `variant.algorithm`. Algorithms and variants are in the order of the headers.

    Raises `LinkError` if there are no variants. Also raises `LinkError`, with the names of both variants in the
    message, if two variants have different kernels or arguments.
    """
    # Task 10.4: Two arguments are the same if their names and types are the same.
    raise NotImplementedError("Task 10.4: Ahead of time")


def condition(variant: Compiled) -> str:
    """The condition, in C, under which a variant may be called: "n == 1 && x % 16 == 0", or "1" without hints."""
    # Task 10.4: All hints must hold. A negative number can also be a multiple of 16.
    raise NotImplementedError("Task 10.4: Ahead of time")


def write_dispatcher(name: str, variants: Sequence[Compiled]) -> str:
    """The C function `name` of an algorithm: it takes all arguments, and calls one of the variants.

    Among the variants whose conditions hold, it calls the one with the most hints; if several have equally many, the
    first of these. If no condition holds, it returns CUDA_ERROR_INVALID_VALUE.
    """
    # Task 10.4: A variant's function takes the stream and its `passed` arguments. `prototype(*declared)` returns the
    # parameters of the function `name`; `declared` may come from any variant.
    raise NotImplementedError("Task 10.4: Ahead of time")


def link_headers(headers: Sequence[Path], out: Path) -> list[Path]:
    """Write the C files that link the variants in these headers, and return their paths. (Given.)"""
    variants = [variant for header in headers for variant in read_header(header.read_text())]
    algorithms = group(variants)
    first = variants[0]
    names = {f"{first.kernel}_{algorithm}": chosen for algorithm, chosen in algorithms.items()}
    whole = {"name": first.kernel, "prototype": prototype(*first.declared)}
    header, source = out.with_suffix(".h"), out.with_suffix(".c")
    declared = (ALGORITHM.substitute(name=name, prototype=whole["prototype"]) for name in names)
    header.write_text(LINKED_HEADER.substitute(whole, algorithms="\n\n".join(declared)))
    source.write_text(
        LINKED.substitute(
            whole,
            header=header.name,
            kernels="\n\n".join(map(declare_variant, variants)),
            algorithms="\n\n".join(write_algorithm(name, chosen) for name, chosen in names.items()),
            names=", ".join(names),
            passed=", ".join(["stream", *first.arguments]),
            load="\n".join(f"    load_{name}();" for name in names),
            unload="\n".join(f"    unload_{name}();" for name in names),
        )
    )
    return [source, header]


def declare_variant(variant: Compiled) -> str:
    """The declarations, in C, of a variant's three functions. (Given.)"""
    pairs = zip(variant.declared, variant.hints, strict=True)
    passed = [declared for declared, hint in pairs if hint != 1]
    return ALGORITHM.substitute(name=variant.name, prototype=prototype(*passed))


def write_algorithm(name: str, variants: Sequence[Compiled]) -> str:
    """The source, in C, of an algorithm's three functions. (Given.)"""
    functions = [write_dispatcher(name, variants)]
    for verb in ("load", "unload"):
        lines = (f"    {verb}_{variant.name}();" for variant in variants)
        functions.append("\n".join([f"void {verb}_{name}(void) {{", *lines, "}"]))
    return "\n\n".join(functions)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = ArgumentParser(prog="mini-triton link", description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="+", type=Path, help="headers that compile.py has written")
    parser.add_argument("--out", "-o", type=Path, required=True, help="the path of the files, without suffix")
    options = parser.parse_args(arguments)
    try:
        link_headers(options.headers, options.out)
    except (OSError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()

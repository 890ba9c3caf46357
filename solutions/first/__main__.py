"""What the slice makes of the kernel `add`, stage by stage, up to the first open task: `python -m first`."""

from __future__ import annotations

import ast
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from first import real_triton
from first.kernels import add
from first.slice import I32, POINTER, Kernel, compile_kernel, execute, launch, multiples_of_16, read, text

N = 100_000
BLOCK = 128
GRID = -(-N // BLOCK)


def show() -> None:
    """Print each stage, and which task is next."""
    for stage in (tree, operands, splat, operations, ttir, ptx, one_program, grid):
        print(f"\n{stage.__doc__}")
        try:
            for shown in stage():
                print("    " + shown.replace("\n", "\n    "))
        except NotImplementedError as error:
            print(f"    {error} is next.")
            return


def tree() -> Iterator[str]:
    """0.1  The syntax tree of `inside = at < n`:"""
    yield ast.dump(read(add).body[1], indent=2)


def operands() -> Iterator[str]:
    """0.2  The operations of `i * 1024 + j`:"""
    yield listed("i * 1024 + j")


def splat() -> Iterator[str]:
    """0.3  The operations of `i + tl.arange(0, 8)`:"""
    yield listed("i + tl.arange(0, 8)")


def operations() -> Iterator[str]:
    """0.4  The operations of the whole kernel:"""
    counts = Counter(op.name for op in compiled(1024).ops)
    yield ", ".join(f"{name} {count}x" for name, count in counts.items())


def ttir() -> Iterator[str]:
    """0.5  The kernel as text:"""
    shown = text(compiled(1024))
    yield shown.rstrip()
    if real_triton.is_installed("triton"):
        real_triton.parse(shown)
        yield "Real Triton accepts this text."


def ptx() -> Iterator[str]:
    """0.6  Its accesses to memory, in the machine code (PTX) for an H100 or for your GPU:"""
    arrays = arguments()
    for n in (N, N + 1):
        multiples = multiples_of_16({**arrays, "n": n})
        yield f"n = {n}, multiples of 16: {', '.join(sorted(multiples)) or 'none'}"
        if real_triton.is_installed("triton"):
            machine_code = real_triton.compile(text(compiled(1024), multiples)).asm["ptx"]
            accesses = Counter(re.findall(r"(?:ld|st)\.global\S*", machine_code))
            yield "    " + ", ".join(f"{name} {count}x" for name, count in accesses.items())


def one_program() -> Iterator[str]:
    """0.7  `out` after program 2 of blocks of 8, where n is 20:"""
    few = {name: a[:24].copy() if isinstance(a, np.ndarray) else 20 for name, a in arguments().items()}
    execute(compiled(8), few, np.int32(2))
    yield str(few["out"])


def grid() -> Iterator[str]:
    """0.8  The whole grid:"""
    kernel, given = compiled(BLOCK), arguments()
    ours = best_of_three(lambda: launch(kernel, GRID, given))
    yield f"NumPy: {ours * 1000:.1f} ms for {GRID} programs, {judged(given)}"
    if real_triton.is_installed("triton", "torch"):
        theirs = best_of_three(lambda: real_triton.interpret(add, GRID, {**given, "BLOCK": BLOCK}))
        yield f"Triton's interpreter: {theirs * 1000:.1f} ms, which is {theirs / ours:.0f} times as long"
    if real_triton.has_gpu():
        given["out"][:] = 0
        real_triton.launch(text(kernel, multiples_of_16(given)), GRID, given)
        yield f"Your GPU: {judged(given)}"


def compiled(block: int) -> Kernel:
    """The kernel `add` with blocks of this size."""
    return compile_kernel(add, x=POINTER, y=POINTER, out=POINTER, n=I32, BLOCK=block)


def listed(expression: str) -> str:
    """The operations of an expression of the integers i and j."""
    kernel = Kernel("expression", i=I32, j=I32)
    kernel.expression(ast.parse(expression, mode="eval").body)
    return "\n".join(f"{op.name}: {op.type}" for op in kernel.ops)


def arguments() -> dict[str, Any]:
    """What the kernel is launched with."""
    x, y = np.random.default_rng(0).random((2, N), np.float32)
    return {"x": x, "y": y, "out": np.zeros(N, np.float32), "n": N}


def judged(given: Mapping[str, Any]) -> str:
    """Whether the kernel did what it should."""
    return "right" if np.array_equal(given["out"], given["x"] + given["y"]) else "wrong"


def best_of_three(run: Callable[[], None]) -> float:
    """The seconds that a call takes."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    show()

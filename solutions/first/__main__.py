"""`python -m first` shows the kernel `add` at each stage of the slice, up to the first open task."""

from __future__ import annotations

import ast
import re
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from first import real_triton
from first.kernels import add
from first.slice import I32, NOTHING, POINTER, Kernel, Op, compile_kernel, execute, launch, multiples_of_16, read, text

N = 100_000
BLOCK = 128
GRID = -(-N // BLOCK)
Run = Callable[[dict[str, Any]], None]
PARAMETERS = {"x": POINTER, "y": POINTER, "out": POINTER, "n": I32}


def show() -> None:
    """Print each stage. Stop at the first open task or the first error."""
    for stage in (tree, operands, splat, operations, programs, grid, ttir, ptx):
        print(f"\n{stage.__doc__}")
        try:
            for shown in stage():
                print("    " + shown.replace("\n", "\n    "))
        except NotImplementedError as error:
            print(f"    {error} is next.")
            return
        except Exception as error:
            print("    " + explained(error).replace("\n", "\n    "))
            return


def tree() -> Iterator[str]:
    """0.1  The syntax tree of the kernel's second statement:"""
    statement = read(add).body[1]
    yield f"line {statement.lineno}: {ast.dump(statement, indent=2)}"


def operands() -> Iterator[str]:
    """0.2  The operations of `i * 1024 + j`:"""
    yield from of_expression("i * 1024 + j")


def splat() -> Iterator[str]:
    """0.3  The operations of `i + tl.arange(0, 8)`:"""
    yield from of_expression("i + tl.arange(0, 8)")


def operations() -> Iterator[str]:
    """0.4  The kernel, and the operations of each line:"""
    kernel = Kernel("add", **PARAMETERS, BLOCK=1024)
    for statement in read(add).body:
        yield f"{statement.lineno:>2}  {ast.unparse(statement)}"
        before = len(kernel.ops)
        kernel.statement(statement)
        yield from ("        " + shown for shown in listed(kernel)[before:])


def programs() -> Iterator[str]:
    """0.5  The array `out` after each program, with tiles of 8 elements and n = 20:"""
    kernel, out, given = compiled(8), np.zeros(24, np.float32), arguments()
    for program in range(3):
        execute(kernel, {**given, "out": out, "n": 20}, np.int32(program))
        yield f"program {program}:  " + " ".join(f"{number:.1f}" if number else " · " for number in out)


def grid() -> Iterator[str]:
    """0.6  The whole grid, on 100000 elements:"""
    kernel = compiled(BLOCK)

    def loop(given: dict[str, Any]) -> None:
        for program in range(GRID):
            execute(kernel, given, np.int32(program))

    slow, expected = best_of_three(loop)
    ours, got = best_of_three(lambda given: launch(kernel, GRID, given))
    numpy, _ = best_of_three(lambda given: np.add(given["x"], given["y"], out=given["out"]))
    yield timed(f"a loop over {GRID} programs", slow)
    yield timed("your launch", ours) + f", {slow / ours:.0f} times as fast; {compared(got, expected, 'the loop')}"
    yield timed("NumPy's own x + y", numpy) + ": one call, and no mask"
    if not real_triton.is_installed("triton"):
        yield "Triton is not installed: no comparison with its interpreter."
        return
    theirs, expected = best_of_three(lambda given: real_triton.interpret(read(add), GRID, {**given, "BLOCK": BLOCK}))
    yield timed("Triton's interpreter", theirs) + f"; {compared(got, expected, 'the interpreter')}"


def timed(what: str, seconds: float) -> str:
    """A row of the table of times."""
    return f"{what:<24}{seconds * 1000:8.2f} ms"


def ttir() -> Iterator[str]:
    """0.7  The kernel as text:"""
    shown = text(compiled(1024))
    yield shown.rstrip()
    if not real_triton.is_installed("triton"):
        yield "Triton is not installed: nothing checks this text."
        return
    real_triton.parse(shown)
    yield "Real Triton accepts this text."


def ptx() -> Iterator[str]:
    """0.8  The loads and stores in PTX, for an H100 or for your GPU:"""
    arrays = arguments()
    yield "Each of 128 threads loads 8 elements of x and 8 of y. v4.b32 stands for 4 values of 32 bits."
    for n in (N, N + 1):
        multiples = multiples_of_16({**arrays, "n": n})
        yield f"n = {n}, multiples of 16: {', '.join(sorted(multiples)) or 'none'}"
        if real_triton.is_installed("triton"):
            machine_code = real_triton.compile(text(compiled(1024), multiples)).asm["ptx"]
            accesses = Counter(re.findall(r"(?:ld|st)\.global\S*", machine_code))
            yield "    " + ", ".join(f"{count} times {name}" for name, count in accesses.items())
    if not real_triton.is_installed("triton"):
        yield "Triton is not installed: no PTX."
    if real_triton.has_gpu():
        ours, theirs = arguments(), arguments()
        launch(compiled(BLOCK), GRID, ours)
        real_triton.launch(text(compiled(BLOCK), multiples_of_16(theirs)), GRID, theirs)
        yield f"Your GPU: {compared(theirs, ours, 'NumPy')}"


def compiled(block: int) -> Kernel:
    """The kernel `add`, compiled with `BLOCK=block`."""
    return compile_kernel(add, **PARAMETERS, BLOCK=block)


def of_expression(expression: str) -> list[str]:
    """The operations of an expression, in which the names `i` and `j` stand for integers."""
    kernel = Kernel("expression", i=I32, j=I32)
    kernel.expression(ast.parse(expression, mode="eval").body)
    return listed(kernel)


def listed(kernel: Kernel) -> list[str]:
    """A short text for each operation of a kernel."""
    names = {op: name for name, op in kernel.parameters.items()}
    names |= {op: f"%{number}" for number, op in enumerate(kernel.ops)}
    return [summary(op, names) for op in kernel.ops]


def summary(op: Op, names: Mapping[Op, str]) -> str:
    """An operation as a short text."""
    inputs = [names.get(operand, "?") for operand in op.operands]
    inputs += [f"{name}={value}" for name, value in op.attributes.items() if name != "operandSegmentSizes"]
    call = f"{op.name}({', '.join(inputs)})"
    return call if op.type == NOTHING else f"{names[op]} = {call}  {op.type}"


def arguments() -> dict[str, Any]:
    """The arguments of the launch."""
    x, y = np.random.default_rng(0).random((2, N), np.float32)
    return {"x": x, "y": y, "out": np.zeros(N, np.float32), "n": N}


def best_of_three(run: Run) -> tuple[float, dict[str, Any]]:
    """The shortest time of three calls, in seconds, and the arguments after the last call."""
    seconds = []
    for _ in range(3):
        given = arguments()
        start = time.perf_counter()
        run(given)
        seconds.append(time.perf_counter() - start)
    return min(seconds), given


def compared(got: Mapping[str, Any], expected: Mapping[str, Any], judge: str) -> str:
    """A text that says whether two launches leave the same arrays in memory, up to rounding."""
    for name in ("x", "y", "out"):
        different = ~np.isclose(got[name], expected[name], rtol=1e-5, equal_nan=True)
        if different.any():
            at = int(different.argmax())
            return f"other results: {name}[{at}] is {got[name][at]}; by {judge}, {expected[name][at]}"
    return "the same results"


def explained(error: Exception) -> str:
    """An error as a short text, with the innermost line of `slice.py` in its traceback."""
    if isinstance(error, real_triton.Refused):
        return f"Real Triton refuses this text: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).name == "slice.py"]
    return f"{type(error).__name__}: {error}" + (f"  (slice.py, line {lines[-1]})" if lines else "")


if __name__ == "__main__":
    show()

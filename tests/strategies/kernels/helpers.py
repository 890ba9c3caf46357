"""Functions that the kernel calls: each is written for the call, and maybe called again with other values."""

from __future__ import annotations

from dataclasses import replace

from tests.strategies.kernels.functions import another
from tests.strategies.kernels.memory import is_pointer
from tests.strategies.kernels.operators import condition, is_number
from tests.strategies.kernels.program import Value
from tests.strategies.kernels.writer import Function

LETTERS = ("a", "b", "c")


def call(k: Function) -> bool:
    """`v = helper(x, y, scale=3)`, `v, w = helper(x)`."""
    if k.helper:
        return False
    arguments = [k.pick(is_number) or k.pid() for _ in range(k.of((1, 2, 3)))]
    if (pointer := k.pick(is_pointer)) and k.chance(50):
        arguments[-1] = pointer
    parameters = [replace(value, text=letter, level=0) for letter, value in zip(LETTERS, arguments, strict=False)]
    header, passed = list(LETTERS[: len(arguments)]), [value.text for value in arguments]
    if len(passed) > 1 and k.chance(30):
        passed[-1] = f"{header[-1]}={passed[-1]}"
    if k.chance(30):
        header.append("scale=2")
        passed += k.of(([], ["scale=3"]))
        parameters.append(Value("scale", "int", fixed=True))
    if k.chance(20):
        header.append("SIZE: tl.constexpr = 4")
        passed += k.of(([], ["SIZE=2"]))
        parameters.append(Value("SIZE", "int", fixed=True))
    name = k.program.fresh("f")
    results = _write(k, f"def {name}({', '.join(header)}):", parameters)
    k.emit(f"{', '.join(value.text for value in results)} = {name}({', '.join(passed)})")
    for value in results:
        k.declare(value, value.text)
    return True


def _write(k: Function, header: str, parameters: list[Value]) -> list[Value]:
    """Write the function; gives the names of its results in the caller."""
    inner = Function(k.program, k.grammar, parameters, helper=True)
    inner.steps(2)
    count = k.of((1, 1, 2))
    results = [inner.pick(is_number) or inner.pid() for _ in range(count)]
    if k.chance(15) and not k.depth:  # real Triton inlines no early return into a loop
        with inner.body(f"if {condition(inner).text}:"):
            inner.emit(f"return {', '.join(another(inner, value).text for value in results)}")
    inner.emit(f"return {', '.join(value.text for value in results)}")
    k.program.helpers.append("\n".join(["@triton.jit", header, *inner.prologue, *inner.lines]))
    return [Value(k.program.fresh("v"), value.dtype, value.shape) for value in results]

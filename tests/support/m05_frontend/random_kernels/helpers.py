"""Functions that the kernel calls: each is written for a call, and maybe called again with other values."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tests.support.m05_frontend.random_kernels.functions import another
from tests.support.m05_frontend.random_kernels.memory import is_pointer
from tests.support.m05_frontend.random_kernels.operators import condition, is_number
from tests.support.m05_frontend.random_kernels.program import Helper, Value
from tests.support.m05_frontend.random_kernels.writer import Function

LETTERS = ("a", "b", "c")


def call(k: Function) -> bool:
    """`v = helper(x, y, scale=3)`, `v, w = helper(x)`."""
    if k.helper:
        return False
    return (k.chance(30) and _again(k)) or _anew(k)


def _anew(k: Function) -> bool:
    """Call a new helper."""
    arguments = [k.pick(is_number) or k.pid() for _ in range(k.of((1, 2, 3)))]
    if (pointer := k.pick(is_pointer)) and k.chance(50):
        arguments[-1] = pointer
    parameters = [replace(value, text=letter, level=0) for letter, value in zip(LETTERS, arguments, strict=False)]
    header, passed = list(LETTERS[: len(arguments)]), [value.text for value in arguments]
    if len(passed) > 1 and k.chance(30):
        passed[-1] = f"{header[-1]}={passed[-1]}"
    numbers = []
    if k.chance(30):
        header.append("scale=2")
        passed += k.of(([], ["scale=3"]))
        numbers.append(Value("scale", "int", fixed=True))
    if k.chance(20):
        header.append("SIZE: tl.constexpr = 4")
        passed += k.of(([], ["SIZE=2"]))
        numbers.append(Value("SIZE", "int", fixed=True))
    early = k.chance(15) and not k.depth  # real Triton inlines no early return into a loop
    helper = _write(k, header, parameters, numbers, early)
    if not early and pointer not in arguments:  # pointers are known to be in bounds here only
        k.program.known.append(helper)
    _call(k, helper, passed)
    return True


def _again(k: Function) -> bool:
    """Call a helper that was called before, with values of the same types."""
    if not k.program.known:
        return False
    helper = k.of(k.program.known)
    passed = []
    for parameter in helper.parameters:
        if not (found := k.pick(partial(_may_replace, parameter))):
            return False
        passed.append(found.text)
    _call(k, helper, passed)
    return True


def _may_replace(parameter: Value, value: Value) -> bool:
    """Whether the value may be passed, too."""
    return value.type == parameter.type and value.tame >= parameter.tame


def _call(k: Function, helper: Helper, passed: list[str]) -> None:
    names = [k.program.fresh("v") for _ in helper.results]
    k.emit(f"{', '.join(names)} = {helper.name}({', '.join(passed)})")
    for name, value in zip(names, helper.results, strict=True):
        k.declare(Value(name, value.dtype, value.shape), name)


def _write(k: Function, header: list[str], parameters: list[Value], numbers: list[Value], early: bool) -> Helper:
    """Write the function, maybe with an early return."""
    name = k.program.fresh("f")
    inner = Function(k.program, k.grammar, [*parameters, *numbers], helper=True)
    inner.steps(2)
    results = [inner.pick(is_number) or inner.pid() for _ in range(k.of((1, 1, 2)))]
    if early:
        with inner.body(f"if {condition(inner).text}:"):
            inner.emit(f"return {', '.join(another(inner, value).text for value in results)}")
    inner.emit(f"return {', '.join(value.text for value in results)}")
    k.program.helpers[name] = "\n".join([f"def {name}({', '.join(header)}):", *inner.written()])
    return Helper(name, parameters, results)

"""Facts of axis analysis, compared with the elements that they describe.

of(add, up(16), same(8)).knows(contiguity=16, divisibility=8)       and the facts are true of 24 25 26 ...

Elements stand along one axis, of `SIZE` elements unless a test says otherwise.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
from mini_triton.analysis.axis_info import MOST, AxisAnalysis, Facts, power_of_two, unit_of
from mini_triton.ir import interpreter
from mini_triton.ir.core import Block, Module, Value
from mini_triton.ir.ops.elementwise import is_integer
from mini_triton.ir.types import is_pointer, shape_of

from tests.checks import described

SIZE = 16


def up(first: int, size: int = SIZE) -> np.ndarray:
    """Consecutive numbers."""
    return first + np.arange(size)


def same(number: int, size: int = SIZE) -> np.ndarray:
    """The same number in all elements."""
    return np.full(size, number)


def runs(length: int, *firsts: int) -> np.ndarray:
    """Runs of consecutive numbers, which start at these numbers."""
    return np.concatenate([up(first, length) for first in firsts])


def steps(length: int, *numbers: int) -> np.ndarray:
    """Runs of equal numbers."""
    return np.repeat(numbers, length)


def observed(array: np.ndarray, unit: int = 1, known: bool = True) -> Facts:
    """The strongest facts about elements along the last axis, with the `value` of constant elements if `known`."""
    size = array.shape[-1]
    lengths = [2**i for i in range(size.bit_length()) if 2**i <= size]
    contiguity = max(length for length in lengths if counts_by(array, length, unit))
    constancy = max(length for length in lengths if counts_by(array, length, 0))
    firsts = array.reshape(-1, contiguity)[:, 0]
    divisibility = min(MOST, *(power_of_two(int(first)) for first in firsts))
    value = int(array.flat[0]) if known and (array == array.flat[0]).all() else None
    return Facts(contiguity, divisibility, constancy, value)


def counts_by(array: np.ndarray, length: int, step: int) -> bool:
    """Whether elements in runs of this length increase by `step`."""
    return bool((np.diff(array.reshape(-1, length)) == step).all())


def untrue(facts: Facts, array: np.ndarray, unit: int = 1) -> str:
    """A fact that does not hold for the elements along the last axis; "" if all facts hold."""
    size = array.shape[-1]
    for name in ("contiguity", "divisibility", "constancy"):
        number = getattr(facts, name)
        if number < 1 or number != power_of_two(number):
            return f"{name} {number}, which is not a power of two,"
        if name != "divisibility" and number > size:
            return f"{name} {number}, which exceeds the axis of {size},"
    if not counts_by(array, facts.contiguity, unit):
        return f"contiguity {facts.contiguity}"
    if not counts_by(array, facts.constancy, 0):
        return f"constancy {facts.constancy}"
    firsts = array.reshape(-1, facts.contiguity)[:, 0]
    if (firsts % facts.divisibility).any():
        return f"divisibility {named(facts.divisibility)}"
    return "" if facts.value is None or (array == facts.value).all() else f"value {facts.value}"


def named(number: int) -> str:
    """A divisibility in words: `MOST` by its name."""
    return "MOST" if number == MOST else str(number)


def shown(array: np.ndarray) -> str:
    """Elements in a line."""
    return " ".join(map(str, array.reshape(-1, array.shape[-1])[0]))


class divisor(described):
    """A call that returns a divisibility."""

    def shown(self, value: Any) -> str:
        """A result, with `MOST` by its name."""
        return named(value) if isinstance(value, int) else super().shown(value)


class of(described):
    """The call to a rule with the strongest facts about its operands."""

    def __init__(self, rule: Callable[..., Facts], *operands: np.ndarray, result: np.ndarray, extra: Any = ()) -> None:
        known = [observed(operand) for operand in operands]
        size = operands[0].shape[-1]
        words = ", ".join(map(repr, (size, *known, *extra)))
        super().__init__(f"{rule.__name__}({words})", rule, size, *known, *extra)
        self.operands, self.result = operands, result

    def __repr__(self) -> str:
        elements = [f"{name} = {shown(array)}" for name, array in zip("xyz", self.operands, strict=False)]
        return "\n    ".join([self.words, *elements, f"result = {shown(self.result)}"])

    def knows(self, **least: int) -> None:
        """Require facts that hold for the result, and that are at least as strong as these."""
        __tracebackhide__ = True
        lower = " and ".join(f"{name} {named(number)} or more" for name, number in least.items() if number > 1)
        wanted = f"facts that hold, with {lower}" if lower else "facts that hold"
        facts = self.succeeds(wanted)
        if false := untrue(facts, self.result):
            self.fail(wanted, facts, f"{false} does not hold for the result")
        for name, number in least.items():
            if getattr(facts, name) < number:
                self.fail(wanted, facts, f"{name} {named(number)} holds for the result")


@contextlib.contextmanager
def interpreted(module: Module) -> Iterator[None]:
    """Let the interpreter check that the facts about each integer and pointer of a module are true."""
    analysis = AxisAnalysis(module)
    run = interpreter.Program.run

    def check(value: Value, array: np.ndarray) -> None:
        if array.shape != shape_of(value.type):
            return  # a reduction's region runs on whole slices
        for axis, facts in enumerate(analysis[value]):
            along = np.moveaxis(array, axis, -1) if array.ndim else array.reshape(1)
            false = untrue(facts, along, unit_of(value.type))
            assert not false, f"%{value.name}, axis {axis}: {false} does not hold for {shown(along)[:100]}, {facts}"

    def checked(program: interpreter.Program, block: Block, *arguments: Any) -> Any:
        ends = run(program, block, *arguments)
        results = [result for operation in block.operations for result in operation.results]
        computed = [(result, program.values[result]) for result in results if result in program.values]
        for value, array in (*zip(block.arguments, arguments, strict=True), *computed):
            if is_integer(value.type) or is_pointer(value.type):
                check(value, np.asarray(array).astype(np.int64))
        return ends

    with mock.patch.object(interpreter.Program, "run", checked):
        yield

"""A compiler in one file: from a Python function to text that real Triton compiles, and to NumPy.

    read              a function       ->  its syntax tree
    compile_kernel    the syntax tree  ->  operations
    text              operations       ->  TTIR, the text that real Triton compiles for a GPU
    launch            operations       ->  calls of NumPy, for all programs at once
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


@dataclass(frozen=True)
class Type:
    """A number or a pointer; with a size, a block of them."""

    element: str  # "i1", "i32", "f32" or "!tt.ptr<f32>"
    size: int | None = None

    def __str__(self) -> str:
        return self.element if self.size is None else f"tensor<{self.size}x{self.element}>"


I32, F32, POINTER = Type("i32"), Type("f32"), Type("!tt.ptr<f32>")
NOTHING = Type("()")  # the type of an operation without a result


@dataclass(eq=False)
class Op:
    """An operation, and at the same time the value that it computes."""

    name: str
    operands: tuple[Op, ...] = ()
    type: Type = NOTHING
    attributes: dict[str, Any] = field(default_factory=dict)


class Pointer(NamedTuple):
    """An address, as NumPy can have it: an array and a place in it. Or a block of them."""

    array: np.ndarray
    at: Any


OPERATORS: dict[tuple[str, str], tuple[str, Callable[..., Any]]] = {  # the operation, and what it computes
    ("Add", "i32"): ("arith.addi", np.add),
    ("Add", "f32"): ("arith.addf", np.add),
    ("Add", "!tt.ptr<f32>"): ("tt.addptr", lambda pointer, offset: Pointer(pointer.array, pointer.at + offset)),
    ("Sub", "i32"): ("arith.subi", np.subtract),
    ("Sub", "f32"): ("arith.subf", np.subtract),
    ("Mult", "i32"): ("arith.muli", np.multiply),
    ("Mult", "f32"): ("arith.mulf", np.multiply),
    ("Lt", "i32"): ("arith.cmpi", lambda left, right, predicate: np.less(left, right)),
}


def read(function: Callable[..., Any]) -> Any:
    """The syntax tree of a Python function, which is not called. The function may stand inside another one."""
    # Task 0.1: Of `def f(x): return x` the result has the `name` "f", and one `ast.Return` as its `body`.
    raise NotImplementedError("Task 0.1: Read the kernel")


def compile_kernel(function: Callable[..., Any], **arguments: Type | int) -> Kernel:
    """Compile a function: `compile_kernel(add, x=POINTER, y=POINTER, out=POINTER, n=I32, BLOCK=1024)`."""
    tree = read(function)
    kernel = Kernel(tree.name, **arguments)
    for statement in tree.body:
        kernel.statement(statement)
    return kernel


class Kernel:
    """A kernel as operations, in the order in which they run, and the walk over its syntax tree that emits them."""

    def __init__(self, name: str, /, **arguments: Type | int) -> None:
        self.name, self.ops = name, list[Op]()
        types = {name: type for name, type in arguments.items() if isinstance(type, Type)}
        self.parameters = {name: Op("parameter", type=type) for name, type in types.items()}
        self.names: dict[str, Any] = {**arguments, **self.parameters}  # each stands for an `Op`, or for a number

    def emit(self, name: str, *operands: Op, type: Type, **attributes: Any) -> Op:
        """Append an operation."""
        self.ops.append(Op(name, operands, type, attributes))
        return self.ops[-1]

    def expression(self, node: ast.expr) -> Any:
        """Emit what an expression needs, from left to right. Return its value: an `Op`, or a number known now."""
        # Task 0.2: Anything but these is a `SyntaxError`, a chain `a < b < c` too:
        #   8 or 2.0                      the number itself
        #   a                             what `self.names` has for it
        #   a + b, a - b, a * b, a < b    `self.operate("Add", left, right)`, or "Sub", "Mult", "Lt": ast's own names
        #   tl.f(a, mask=b)               a call of the method `f` of this class
        raise NotImplementedError("Task 0.2: Operands first")

    def statement(self, node: ast.stmt) -> None:
        """Compile a statement: `name = expression`, or an expression that stands alone, such as `tl.store(…)`."""
        # Task 0.4: Whatever else stands in a kernel is a `SyntaxError`. Later lines find the name in `self.names`.
        raise NotImplementedError("Task 0.4: Names emit nothing")

    def operate(self, operator: str, left: Any, right: Any) -> Op:
        """Emit an operator of `OPERATORS`. A pointer stands on the left of its offset."""
        left, right = self.operand(left), self.operand(right)
        if left.type.size != right.type.size:
            left, right = self.alike(left, right)
        if (operator, left.type.element) not in OPERATORS:
            raise SyntaxError(f"cannot compile {operator} of {left.type} and {right.type}")
        name, _ = OPERATORS[operator, left.type.element]
        if operator == "Lt":
            return self.emit(name, left, right, type=Type("i1", left.type.size), predicate=np.int64(2))
        return self.emit(name, left, right, type=left.type)

    def operand(self, value: Any) -> Op:
        """A number becomes a constant when an operation needs it."""
        if isinstance(value, Op):
            return value
        type, number = (F32, np.float32(value)) if isinstance(value, float) else (I32, np.int32(value))
        return self.emit("arith.constant", type=type, value=number)

    def alike(self, left: Op, right: Op) -> tuple[Op, Op]:
        """Return a scalar and a block, which may come in either order, as two blocks of one size, in that order."""
        # Task 0.3: Real Triton refuses to add an `i32` to a `tensor<8xi32>`. Its operation `tt.splat` takes a scalar,
        # of any type, and computes a block that repeats it.
        raise NotImplementedError("Task 0.3: A number meets a block")

    def program_id(self, axis: int) -> Op:
        return self.emit("tt.get_program_id", type=I32, axis=np.int32(axis))

    def arange(self, start: int, end: int) -> Op:
        return self.emit("tt.make_range", type=Type("i32", end - start), start=np.int32(start), end=np.int32(end))

    def load(self, pointer: Op, mask: Op) -> Op:
        segments = "array<i32: 1, 1, 0>"  # one pointer, one mask, no default value
        return self.emit("tt.load", pointer, mask, type=Type("f32", pointer.type.size), operandSegmentSizes=segments)

    def store(self, pointer: Op, value: Op, mask: Op) -> Op:
        return self.emit("tt.store", pointer, value, mask, type=NOTHING)


def text(kernel: Kernel, multiples: Collection[str] = ()) -> str:
    """The kernel as TTIR. It promises that the parameters in `multiples` are multiples of 16."""
    names = {op: f"%{name}" for name, op in kernel.parameters.items()}
    names |= {op: f"%{number}" for number, op in enumerate(kernel.ops)}
    promise = " {tt.divisibility = 16 : i32}"
    parameters = [f"%{name}: {op.type}{promise * (name in multiples)}" for name, op in kernel.parameters.items()]
    lines = [f"tt.func public @{kernel.name}({', '.join(parameters)}) {{"]
    return "\n".join([*lines, *(f"  {line(op, names)}" for op in kernel.ops), "  tt.return", "}\n"])


def line(op: Op, names: Mapping[Op, str]) -> str:
    """One operation as text. `names` has the name of each value, and `spell` spells an attribute."""
    # Task 0.5: One form fits all operations. These three show which of its parts may be missing:
    #   %4 = "arith.addi"(%2, %n) : (i32, i32) -> i32
    #   %3 = "tt.make_range"() <{start = 0 : i32, end = 8 : i32}> : () -> tensor<8xi32>
    #   "tt.store"(%9, %8, %5) : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> ()
    raise NotImplementedError("Task 0.5: Text that Triton accepts")


def spell(value: Any) -> str:
    """An attribute as MLIR spells it."""
    if isinstance(value, np.float32):
        return f"{value:.8e} : f32"
    return f"{value} : i{8 * value.itemsize}" if isinstance(value, np.integer) else value


def multiples_of_16(arguments: Mapping[str, Any]) -> set[str]:
    """The names of the arguments that are multiples of 16, so that a launch may promise it to the compiler."""
    # Task 0.6: An argument is an `int` or an array. What a GPU gets of an array is the address.
    raise NotImplementedError("Task 0.6: A promise makes loads wide")


def load(array: np.ndarray, at: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """`array[at]` where `mask` is true, and 0 elsewhere. `at`, `mask` and the result have the same shape."""
    # Task 0.7: Where the mask is false, `at` may be any number: out of bounds, or negative.
    raise NotImplementedError("Task 0.7: Masks protect memory")


def store(array: np.ndarray, at: np.ndarray, value: np.ndarray, mask: np.ndarray) -> None:
    """Write `value` to `array[at]` where `mask` is true. `at`, `value` and `mask` have the same shape."""
    # Task 0.7: The rest of the array does not change.
    raise NotImplementedError("Task 0.7: Masks protect memory")


MEANING = dict(OPERATORS.values()) | {
    "arith.constant": lambda value: value,
    "tt.splat": lambda scalar: scalar,  # NumPy repeats a scalar by itself
    "tt.make_range": lambda start, end: np.arange(start, end, dtype=np.int32),
    "tt.load": lambda pointer, mask, **_: load(pointer.array, *np.broadcast_arrays(pointer.at, mask)),
    "tt.store": lambda pointer, value, mask: store(pointer.array, *np.broadcast_arrays(pointer.at, value, mask)),
}


def execute(kernel: Kernel, arguments: Mapping[str, Any], program: Any) -> None:
    """Run the operations by NumPy. `program` is what `tl.program_id(0)` gives, and arrays stand for pointers."""
    meaning = MEANING | {"tt.get_program_id": lambda axis: program}
    taken: dict[Type, Any] = {I32: np.int32, F32: np.float32, POINTER: lambda array: Pointer(array, np.int32(0))}
    values = {op: taken[op.type](arguments[name]) for name, op in kernel.parameters.items()}
    for op in kernel.ops:
        values[op] = meaning[op.name](*(values[operand] for operand in op.operands), **op.attributes)


def launch(kernel: Kernel, grid: int, arguments: Mapping[str, Any]) -> None:
    """Run a whole grid: the programs 0 to `grid - 1`."""
    # Task 0.8: Each operation of the kernel should be one call of NumPy for all programs together. A loop over the
    # programs gives the same results, but it takes ten times as long where blocks are small.
    raise NotImplementedError("Task 0.8: The whole grid at once")

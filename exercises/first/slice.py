"""A compiler in one file: it turns a Python function into calls to NumPy, and into text that real Triton compiles.

read              a function       ->  its syntax tree
compile_kernel    the syntax tree  ->  operations
launch            operations       ->  calls to NumPy, for all programs at once
text              operations       ->  TTIR, the text that real Triton compiles for a GPU
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


@dataclass(frozen=True)
class Type:
    """The type of a number or a pointer; with a `size`, the type of a tile of numbers or pointers."""

    element: str  # "i1", "i32", "f32" or "!tt.ptr<f32>"
    size: int | None = None

    def __str__(self) -> str:
        return self.element if self.size is None else f"tensor<{self.size}x{self.element}>"


I32, F32, POINTER = Type("i32"), Type("f32"), Type("!tt.ptr<f32>")
NOTHING = Type("()")  # the type of an operation without a result


@dataclass(eq=False)
class Op:
    """An operation, which also represents the value that it computes."""

    name: str
    operands: tuple[Op, ...] = ()
    type: Type = NOTHING
    attributes: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<{self.name} {self.type}>"


class Pointer(NamedTuple):
    """An address for NumPy, or a tile of addresses: an array, and one or more positions in it."""

    array: np.ndarray
    at: Any


LANGUAGE = ("program_id", "arange", "load", "store")  # functions of `tl`; `Kernel` has a method for each
OPERATORS: dict[tuple[str, str, str], tuple[str, Callable[..., Any]]] = {  # operation, and meaning in NumPy
    ("Add", "i32", "i32"): ("arith.addi", np.add),
    ("Add", "f32", "f32"): ("arith.addf", np.add),
    ("Add", "!tt.ptr<f32>", "i32"): ("tt.addptr", lambda x, offset: Pointer(x.array, x.at + offset)),
    ("Sub", "i32", "i32"): ("arith.subi", np.subtract),
    ("Sub", "f32", "f32"): ("arith.subf", np.subtract),
    ("Mult", "i32", "i32"): ("arith.muli", np.multiply),
    ("Mult", "f32", "f32"): ("arith.mulf", np.multiply),
    ("Lt", "i32", "i32"): ("arith.cmpi", lambda left, right, predicate: np.less(left, right)),
}


def read(function: Callable[..., Any]) -> Any:
    """The syntax tree of a function, even one defined inside another. A node's `lineno` is its line in the file."""
    # Task 0.1: For `def f(x): return x` on line 8 of a file, the result is an `ast.FunctionDef` whose `name` is "f".
    # Its `body` is a list with one `ast.Return`. The `lineno` of both nodes is 8.
    raise NotImplementedError("Task 0.1: Read the kernel")


def compile_kernel(function: Callable[..., Any], **arguments: Type | int) -> Kernel:
    """Compile a function: `compile_kernel(add, x=POINTER, y=POINTER, out=POINTER, n=I32, BLOCK=1024)`."""
    tree = read(function)
    kernel = Kernel(tree.name, **arguments)
    for statement in tree.body:
        try:
            kernel.statement(statement)
        except SyntaxError as error:  # Python shows the file and the line with the message
            error.filename, error.lineno = function.__code__.co_filename, statement.lineno
            raise
    return kernel


class Kernel:
    """A kernel: its operations in the order in which they run, and methods that emit them from its syntax tree."""

    def __init__(self, name: str, /, **arguments: Type | int) -> None:
        self.name, self.ops = name, list[Op]()
        self.parameters = {name: Op("parameter", type=t) for name, t in arguments.items() if isinstance(t, Type)}
        self.names: dict[str, Any] = {**arguments, **self.parameters}  # each name stands for an `Op` or for a number

    def emit(self, name: str, *operands: Op, type: Type, **attributes: Any) -> Op:
        """Append an operation, and return it."""
        self.ops.append(Op(name, operands, type, attributes))
        return self.ops[-1]

    def expression(self, node: ast.expr) -> Any:
        """Emit an expression's operations, operands first. Return its value: an `Op` or a Python number."""
        # Task 0.2: For `a * 2 + b`, emit a constant, a product and a sum, and return the sum. An expression is a
        # number, a name in `self.names`, one of the operators `+ - * <` with its operands, or a call to a function in
        # `LANGUAGE`, such as `tl.load(a, mask=b)`. Raise a `SyntaxError` for an unknown name, a chain such as
        # `a < b < c`, a string, and anything else that you do not compile; you may compile more expressions than
        # these. Tests never omit a required argument: no test compiles `tl.load(a)`.
        raise NotImplementedError("Task 0.2: Operands first")

    def statement(self, node: ast.stmt) -> None:
        """Emit the operations of a statement."""
        # Task 0.4: Accept three kinds of statements: `name = expression`, an expression alone (such as `tl.store(…)`),
        # and a docstring. After `at = …`, `at + 1` must compile. Raise a `SyntaxError` for anything that you do not
        # compile.
        raise NotImplementedError("Task 0.4: Names emit nothing")

    def operate(self, operator: str, left: Any, right: Any) -> Op:
        """Emit the operation for `operator`, the name that `ast` gives an operator, such as "Add"."""
        left, right = self.operand(left), self.operand(right)
        if left.type.size != right.type.size:
            left, right = self.alike(left, right)
        if (found := OPERATORS.get((operator, left.type.element, right.type.element))) is None:
            raise SyntaxError(f"cannot compile {operator} of {left.type} and {right.type}")
        if operator == "Lt":  # MLIR numbers the comparisons of `arith.cmpi`: 2 is `<` of signed integers
            return self.emit(found[0], left, right, type=Type("i1", left.type.size), predicate=np.int64(2))
        return self.emit(found[0], left, right, type=left.type)

    def operand(self, value: Any) -> Op:
        """The `Op` for a value. For a number, emit a constant."""
        if isinstance(value, Op):
            return value
        type, number = (F32, np.float32(value)) if isinstance(value, float) else (I32, np.int32(value))
        return self.emit("arith.constant", type=type, value=number)

    def alike(self, left: Op, right: Op) -> tuple[Op, Op]:
        """Make two operands of different sizes fit one operation. Return them in their original order."""
        # Task 0.3: Real Triton refuses to add an `i32` and a `tensor<8xi32>`. What must replace the `i32`, and which
        # operation of `MEANING` computes it? Raise a `SyntaxError` for tiles of different sizes, such as 8 and 16.
        raise NotImplementedError("Task 0.3: A number meets a tile")

    def program_id(self, axis: int) -> Op:
        return self.emit("tt.get_program_id", type=I32, axis=np.int32(axis))

    def arange(self, start: int, end: int) -> Op:
        if isinstance(start, Op) or isinstance(end, Op):
            raise SyntaxError("tl.arange takes numbers known at compile time, not results of operations")
        return self.emit("tt.make_range", type=Type("i32", end - start), start=np.int32(start), end=np.int32(end))

    def load(self, pointer: Op, mask: Op) -> Op:
        segments = "array<i32: 1, 1, 0>"  # one pointer, one mask, no default value
        return self.emit("tt.load", pointer, mask, type=Type("f32", pointer.type.size), operandSegmentSizes=segments)

    def store(self, pointer: Op, value: Op | float, mask: Op) -> Op:
        value = self.operand(value)
        if value.type.size is None and pointer.type.size is not None:
            value, _ = self.alike(value, pointer)
        return self.emit("tt.store", pointer, value, mask, type=NOTHING)


def load(array: np.ndarray, at: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """`array[at]` where `mask` is true, and 0 elsewhere. `at` and `mask` have the same shape, 1-D or 2-D."""
    # Task 0.5: Where the mask is false, `at` may have any value, even one that is negative or too large.
    raise NotImplementedError("Task 0.5: Masks protect memory")


def store(array: np.ndarray, at: np.ndarray, value: np.ndarray, mask: np.ndarray) -> None:
    """Write `value` to `array[at]` where `mask` is true. `at`, `value` and `mask` have the same shape, 1-D or 2-D."""
    # Task 0.5: Every other element of the array stays unchanged.
    raise NotImplementedError("Task 0.5: Masks protect memory")


MEANING = dict(OPERATORS.values()) | {
    "arith.constant": lambda value: value,
    "tt.splat": lambda scalar: scalar,  # NumPy broadcasts scalars
    "tt.make_range": lambda start, end: np.arange(start, end, dtype=np.int32),
    "tt.load": lambda pointer, mask, **_: load(pointer.array, *np.broadcast_arrays(pointer.at, mask)),
    "tt.store": lambda pointer, value, mask: store(pointer.array, *np.broadcast_arrays(pointer.at, value, mask)),
}


def execute(kernel: Kernel, arguments: Mapping[str, Any], program: Any) -> None:
    """Run the operations in NumPy. Arrays represent pointers. `tl.program_id(0)` returns the int32 `program`."""
    meaning = MEANING | {"tt.get_program_id": lambda axis: program}
    taken: dict[Type, Any] = {I32: np.int32, F32: np.float32, POINTER: lambda array: Pointer(array, np.int32(0))}
    values = {op: taken[op.type](arguments[name]) for name, op in kernel.parameters.items()}
    for op in kernel.ops:
        values[op] = meaning[op.name](*(values[operand] for operand in op.operands), **op.attributes)


def launch(kernel: Kernel, grid: int, arguments: Mapping[str, Any]) -> None:
    """Run a whole grid: the programs 0 to `grid - 1`."""
    # Task 0.6: A loop that calls `execute` for each program stores the right results. Store the same results in less
    # than a quarter of the loop's time. Integers in a kernel have 32 bits.
    raise NotImplementedError("Task 0.6: The whole grid at once")


def text(kernel: Kernel, multiples: Collection[str] = ()) -> str:
    """The kernel as TTIR, with the promise that the parameters in `multiples` are multiples of 16."""
    names = {op: f"%{name}" for name, op in kernel.parameters.items()}
    names |= {op: f"%{number}" for number, op in enumerate(kernel.ops)}
    promise = " {tt.divisibility = 16 : i32}"
    parameters = [f"%{name}: {op.type}{promise * (name in multiples)}" for name, op in kernel.parameters.items()]
    lines = [f"tt.func public @{kernel.name}({', '.join(parameters)}) {{"]
    return "\n".join([*lines, *(f"  {line(op, names)}" for op in kernel.ops), "  tt.return", "}\n"])


def line(op: Op, names: Mapping[Op, str]) -> str:
    """One operation as text. If it has a result, `names[op]` is the result's name. `spell` formats an attribute."""
    # Task 0.7: Write the operation in MLIR's generic form, whose grammar is in the chapter. Spaces and the order of
    # the attributes are free.
    raise NotImplementedError("Task 0.7: Text that Triton accepts")


def spell(value: Any) -> str:
    """The value of an attribute as text. In MLIR, a number is followed by its type."""
    if isinstance(value, np.float32):
        return f"{value:.8e} : f32"
    return f"{value} : i{8 * value.itemsize}" if isinstance(value, np.integer) else value


def multiples_of_16(arguments: Mapping[str, Any]) -> set[str]:
    """The names of the arguments that are multiples of 16."""
    # Task 0.8: An argument is an `int` or a NumPy array, for which the kernel receives a pointer. An array may be a
    # view: its first element may be any element of a larger array.
    raise NotImplementedError("Task 0.8: A promise makes loads wide")

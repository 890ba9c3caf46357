"""The meaning of every operation, and an interpreter, which runs programs one by one.

    run(module, (4,), [Buffer.of("x", x), Buffer.of("out", out), 1000])

This is the simple back end; generated code computes the same results faster. A value is a NumPy array with the shape of
its type, and a pointer is an address (int64). One row of a table defines each operation: an expression in `meaning`
(`ops/elementwise.py`), a function of the operands in `PURE`, or a function of the program and the operands in
`EFFECTS`. The structure is that of xDSL's interpreter.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from mini_triton import exact
from mini_triton.errors import CompilationError
from mini_triton.exact.floats import multiply
from mini_triton.formats import FORMATS
from mini_triton.ir.core import Block, Module, Operation, Value
from mini_triton.ir.device_assert import DeviceAssertionError, check
from mini_triton.ir.device_print import show
from mini_triton.ir.moves import moved
from mini_triton.ir.ops.definition import definitions
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.ops.memory import pointee
from mini_triton.ir.ops.scaled import sides
from mini_triton.ir.storage import ATOMICS, Buffer, OutOfBounds, dtype_text, numpy_dtype, reach, swap
from mini_triton.ir.types import shape_of

Array = Any
"""A NumPy array, or a NumPy scalar for a value without dimensions."""
GPUS_ONLY = "inline PTX runs on GPUs only"
"""The error for inline PTX on a CPU."""
TERMINATORS = frozenset(name for name, declared in definitions().items() if declared.terminator)
NAMES = {"np": np, "exact": exact, **{row.array: getattr(ml_dtypes, row.array) for row in FORMATS if not row.native}}
"""The names that expressions in `meaning` may use."""


def evaluate(operation: Operation, operands: Sequence[Array]) -> Sequence[Array] | None:
    """The results of an operation on these operands; None if the results depend on anything else.

    `arith.addi` of `[np.int8(100), np.int8(100)]` gives `[np.int8(-56)]`.
    """
    # Task 6.1: Operations in `PURE` return several results; an operation with an expression has one. Return a list or
    # a tuple in both cases.
    raise NotImplementedError("Task 6.1: An interpreter")


@functools.cache
def compile_expression(text: str, count: int, dtype: str, attributes: tuple[Any, ...]) -> Callable[..., Array]:
    """Compile a template such as `{0} + {1}` to a function of `count` operands. (Given.)

    `dtype` is the text of the result's dtype, such as "np.int8" (`dtype_text`). `attributes` are the pairs (name,
    value) of the operation's attributes: a tuple, because the cache hashes them.
    """
    names = [f"x{number}" for number in range(count)]
    words = {"rounding": "", **dict(attributes), "dtype": dtype, "operands": ", ".join(names)}
    return eval(f"lambda {', '.join(names)}: {text.format(*names, **words)}", NAMES)


def fill(operation: Operation, value: Any) -> np.ndarray:
    """An array for the result, filled with this value. (Given.)"""
    return np.full(shape_of(operation.result.type), value, numpy_dtype(operation.result.type))


def count(bins: int, values: Array, mask: Array = True) -> Array:
    """How often each number from 0 up to, but not including, `bins` occurs. (Given.)"""
    return np.bincount(values[(values >= 0) & (values < bins) & mask], minlength=bins).astype(np.int32)


PURE: dict[str, Callable[..., Sequence[Array]]] = {
    "arith.constant": lambda o: [fill(o, o.attributes["value"])[()]],
    "ub.poison": lambda o: [fill(o, 0)[()]],
    "arith.select": lambda o, condition, x, y: [np.where(condition, x, y)],
    "tt.make_range": lambda o: [np.arange(o.attributes["start"], o.attributes["end"], dtype=np.int32)],
    **{name: lambda o, *xs: moved(o, xs) for name, declared in definitions().items() if declared.moves},
    "tt.gather": lambda o, x, index: [np.take_along_axis(x, index, o.attributes["axis"])],
    "tt.addptr": lambda o, p, n: [p + n.astype(np.int64) * numpy_dtype(pointee(o.result.type)).itemsize],
    **dict.fromkeys(("tt.int_to_ptr", "tt.ptr_to_int"), lambda o, x: [x]),
    "tt.dot": lambda o, a, b, c: [multiply(a, b, c)],
    "tt.dot_scaled": lambda o, *xs: [multiply(*(*(exact.scaled(*side) for side in sides(o, xs)), xs[2]))],
    "tt.histogram": lambda o, *operands: [count(*shape_of(o.result.type), *operands)],
}


def run(module: Module, grid: Sequence[int], arguments: Sequence[Any], reachable: Sequence[Buffer] = ()) -> None:
    """Run every program of a grid, in order. Each argument of the kernel is a `Buffer` or a number. (Given.)

    `reachable` is memory that the kernel reaches only through addresses. Raises `OutOfBounds`.
    """
    functions = {function.attributes["sym_name"]: function for function in module.body.operations}
    kernel = next(f for f in functions.values() if f.attributes.get("sym_visibility") != "private")
    block = kernel.regions[0].block
    buffers = [*(argument for argument in arguments if isinstance(argument, Buffer)), *reachable]
    values = [
        given.address(0) if isinstance(given, Buffer) else np.asarray(given).astype(numpy_dtype(parameter.type))[()]
        for parameter, given in zip(block.arguments, arguments, strict=True)
    ]
    x, y, z = (*grid, 1, 1)[:3]
    for k, j, i in itertools.product(range(z), range(y), range(x)):
        program = Program(buffers, functions, (x, y, z), (i, j, k))
        try:
            program.run(block, *values)
        except (OutOfBounds, DeviceAssertionError) as error:
            error.program = program.ids
            raise


@dataclass
class Program:
    """One program of a launch grid: its ids, the memory that it may access, and the values computed so far."""

    buffers: Sequence[Buffer] = ()
    functions: Mapping[Any, Operation] = field(default_factory=dict)
    grid: tuple[int, int, int] = (1, 1, 1)
    ids: tuple[int, int, int] = (0, 0, 0)
    values: dict[Value, Array] = field(default_factory=dict)

    def run(self, block: Block, *arguments: Array) -> Sequence[Array]:
        """Run a block with these arguments. Returns the values of its terminator's operands; () without a terminator.

        Records the arguments and all results in `self.values`. Raises `NotImplementedError` for an operation without a
        meaning. Arithmetic wraps around and overflows without a warning (`np.errstate`).
        """
        # Task 6.1: With the argument 3, the block `^bb0(%x): %y = addi %x, %x; scf.yield %y` returns [6]. A block may
        # contain any operation: with an expression, in `PURE`, or in `EFFECTS`.
        raise NotImplementedError("Task 6.1: An interpreter")

    def reach(self, dtype: Any, address: Array, mask: Array) -> list[Any]:
        """The memory at these addresses, as elements of this dtype. (Given.)

        For each buffer that some lane reaches: the buffer, an index into `buffer.data` for every lane, and a mask of
        the lanes that reach this buffer. All other lanes have the index 0.
        """
        return list(reach([buffer.read_as(dtype) for buffer in self.buffers], address, mask))


def run_for(program: Program, operation: Operation, lower: Array, upper: Array, step: Array, *inits: Array) -> Any:
    """The carried values after the last iteration of an `scf.for`."""
    carried: Sequence[Array] = inits
    # Task 6.1: The block's arguments are the induction variable, which is a NumPy scalar with the dtype of the bounds,
    # and the carried values.
    raise NotImplementedError("Task 6.1: An interpreter")


def run_while(program: Program, operation: Operation, *inits: Array) -> Any:
    """The values that the first block of an `scf.while` forwards when its condition is false."""
    carried: Sequence[Array] = inits
    before, after = (region.block for region in operation.regions)
    # Task 6.1: `scf.condition(%go) %a, %b` forwards `%a` and `%b` to `after`, which yields the next arguments of
    # `before`.
    raise NotImplementedError("Task 6.1: An interpreter")


def run_if(program: Program, operation: Operation, condition: Array) -> Any:
    """The values that the taken branch of an `scf.if` yields; () for a region without a block."""
    # Task 6.1: The first region runs if the condition is true, and the second if it is false.
    raise NotImplementedError("Task 6.1: An interpreter")


def combine(program: Program, operation: Operation, sources: Sequence[Array]) -> list[Sequence[Array]]:
    """A list of steps: the first elements along the axis, their combination with the second elements, and so on.

    For example, the sums of the source `[1, 2, 3]` are `[[1], [3], [6]]`. Each step has a value for each source. A
    constant that the operation's block returns stays a single number.
    """
    # Task 6.2: The operation's block takes the left elements of all sources, then the right elements. For sources of
    # shape (2, 3) and axis 1, there are three steps with values of shape (2,).
    raise NotImplementedError("Task 6.2: Memory and reductions")


def reduce(program: Program, operation: Operation, *sources: Array) -> Any:
    """The last step of `combine`, with the shapes of the first. (Given.)"""
    steps = combine(program, operation, sources)
    return [np.broadcast_to(last, np.shape(first))[()] for first, last in zip(steps[0], steps[-1], strict=True)]


def scan(program: Program, operation: Operation, *sources: Array) -> Any:
    """All steps of `combine`, stacked along the axis; with `reverse`, they start at the end. (Given.)"""
    axis: Any = operation.attributes["axis"]
    backwards = bool(operation.attributes["reverse"])
    steps = combine(program, operation, [np.flip(source, axis) if backwards else source for source in sources])
    results = [np.stack(np.broadcast_arrays(*values), axis) for values in zip(*steps, strict=True)]
    return [np.flip(result, axis) if backwards else result for result in results]


def load(program: Program, operation: Operation, address: Array, mask: Array = True, other: Array = 0) -> Any:
    """The elements at these addresses; `other` where the mask is false."""
    result = fill(operation, other)
    # Task 6.2: Complete `result`. Lanes of one load may read different buffers, and a masked-off lane may have any
    # address. Given: `program.reach`.
    raise NotImplementedError("Task 6.2: Memory and reductions")
    return [result[()]]


def store(program: Program, operation: Operation, address: Array, value: Array, mask: Array = True) -> Any:
    """Write where the mask is true. Nothing is written if any of these addresses is out of bounds. (Given.)"""
    for buffer, index, lanes in program.reach(value.dtype, address, mask):
        buffer.data[index[lanes]] = np.asarray(value)[lanes]
    return []


def replace(program: Program, operation: Operation, mask: Array, step: Any, address: Array, *operands: Array) -> Any:
    """For each lane whose mask is true, in order, replace its element with `step(element, *operands)`.

    `step` takes the lane's operands. Returns the old elements, and 0 where the mask is false.
    """
    result, arrays = fill(operation, 0), list(map(np.asarray, operands))
    # Task 6.2: If four lanes each add 1 to the same element, initially 0, the result is [0, 1, 2, 3].
    raise NotImplementedError("Task 6.2: Memory and reductions")
    return [result[()]]


def assert_true(program: Program, operation: Operation, condition: Array) -> Any:
    """Raise `DeviceAssertionError` unless the condition is true everywhere. (Given.)"""
    try:
        check(condition, str(operation.attributes["message"]), np.ndim(condition))
    except DeviceAssertionError as error:
        error.place = f"{operation.loc.file}:{operation.loc.line}" if operation.loc else ""
        raise
    return []


def refuse(program: Any, operation: Operation, *_: Any) -> Any:
    """Reject an operation that only GPUs run. (Given.)"""
    raise CompilationError(GPUS_ONLY, operation.loc)


EFFECTS: dict[str, Callable[..., Any]] = {
    "tt.get_program_id": lambda program, o: [np.int32(program.ids["xyz".index(o.attributes["axis"])])],
    "tt.get_num_programs": lambda program, o: [np.int32(program.grid["xyz".index(o.attributes["axis"])])],
    "scf.for": run_for,
    "scf.while": run_while,
    "scf.if": run_if,
    "tt.call": lambda program, o, *xs: program.run(program.functions[o.attributes["callee"]].regions[0].block, *xs),
    "tt.reduce": reduce,
    "tt.scan": scan,
    "tt.load": load,
    "tt.store": store,
    "tt.atomic_rmw": lambda program, o, address, value, mask=True: replace(
        program, o, mask, ATOMICS[o.attributes["atomic_rmw_op"]], address, value
    ),
    "tt.atomic_cas": lambda program, o, *operands: replace(program, o, True, swap, *operands),
    "tt.elementwise_inline_asm": refuse,
    "tt.print": lambda program, o, *values: show(program.ids, o.attributes, values) or [],  # type: ignore[func-returns-value]
    "tt.assert": assert_true,
    **dict.fromkeys(("llvm.intr.assume", "gpu.barrier"), lambda program, o, *condition: []),
}

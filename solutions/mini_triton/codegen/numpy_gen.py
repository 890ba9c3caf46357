"""From IR to the source of a Python function that runs many programs at once.

    def vector_add(grid, program, x, y, out, n): ...

`program` holds the numbers of the programs to run, `grid` the shape of the launch grid. A pointer argument is a
`Buffer`, all others are NumPy scalars. Every value of the kernel becomes a variable of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mini_triton.codegen.axes import PROGRAM, Axes, varying_axes
from mini_triton.codegen.expressions import dtype_of, expression
from mini_triton.codegen.pointers import origins
from mini_triton.codegen.writer import Writer
from mini_triton.ir.core import Block, Module, Operation, OpResult, Value
from mini_triton.ir.ops.definition import definition
from mini_triton.ir.types import PointerType, Type, element_type, shape_of

HEADER = '''\
import numpy as np
from ml_dtypes import bfloat16, float8_e4m3fn, float8_e5m2

from mini_triton.codegen.library import atomics, combine, exact, memory

'''

TERMINATORS = ("scf.yield", "scf.condition", "tt.return", "tt.reduce.return", "tt.scan.return")

UFUNCS = {
    "arith.addi": "np.add",
    "arith.addf": "np.add",
    "arith.muli": "np.multiply",
    "arith.mulf": "np.multiply",
    "arith.maxsi": "np.maximum",
    "arith.minsi": "np.minimum",
    "arith.maximumf": "np.maximum",
    "arith.minimumf": "np.minimum",
    "arith.maxnumf": "np.fmax",
    "arith.minnumf": "np.fmin",
    "arith.andi": "np.bitwise_and",
    "arith.ori": "np.bitwise_or",
    "arith.xori": "np.bitwise_xor",
}
"""Combinations of two elements that NumPy knows how to reduce and to accumulate."""


def generate(module: Module, batched: bool = True) -> str:
    """The source for the kernel of a module whose functions are inlined."""
    (function,) = module.body.operations
    return NumpyGenerator(function, batched).source()


class Values(Writer):
    """What the variables of the generated source hold: see `axes.py`."""

    def __init__(self, function: Operation, batched: bool) -> None:
        super().__init__()
        self.function = function
        self.batched = batched
        self.axes = varying_axes(function, batched)
        self.origins = origins(function)
        self.active = ""  # the variable that says which programs take part, if not all do

    def shape(self, type: Type, axes: Axes) -> str:
        """The shape of the array that holds a value of `type` which varies along `axes`."""
        sizes = [str(size) if i in axes else "1" for i, size in enumerate(shape_of(type))]
        if not axes:
            return "()"
        return f"({', '.join(['programs'] * (PROGRAM in axes) + sizes)},)"

    def spread(self, value: Value, axes: Axes) -> str:
        """A value in an array that varies along `axes`, which are more than its own."""
        name, own = self.name(value), self.axes[value]
        if own == axes:
            return name
        return f"np.broadcast_to({name}, {self.shape(value.type, axes)})"

    def full(self, value: Value, programs: bool | None = None) -> str:
        """A value with all of its elements, and with all programs if it varies from one to the next (or `programs`)."""
        dimensions = frozenset(range(len(shape_of(value.type))))
        program = PROGRAM in self.axes[value] if programs is None else programs
        return self.spread(value, dimensions | ({PROGRAM} if program else frozenset()))

    def lifted(self, name: str, axes: Axes, rank: int) -> str:
        """A scalar that may vary from program to program, for use beside tensors of this rank."""
        return f"{name}[:{', None' * rank}]" if PROGRAM in axes and rank else name


class NumpyGenerator(Values):
    """Writes a function, operation by operation."""

    def source(self) -> str:
        """The whole source text."""
        block = self.function.regions[0].block
        arguments = []
        for argument in block.arguments:
            self.axes[argument] = frozenset()
            arguments.append(self.name(argument))
        if self.batched:
            self.write("programs = len(program)")
        self.block(block)
        header = f"def {self.function.attributes['sym_name']}(grid, program, {', '.join(arguments)}):"
        return HEADER + "\n" + header + "\n" + "\n".join(self.lines) + "\n"

    def block(self, block: Block) -> None:
        """All operations of a block but its terminator."""
        for operation in block.operations:
            if operation.name not in TERMINATORS:
                self.comment(operation.loc)
                self.operation(operation)

    def assign(self, value: Value, text: str) -> None:
        """Give a value a variable; or none, if its text is a name, or is used once, right here, and has no name."""
        if re.fullmatch(r"[\w.]+", text):
            self.names[value] = text
        elif self.used_once_here(value):
            self.names[value] = text if re.fullmatch(r"[\w.]+\([^()]*\)", text) else f"({text})"
        else:
            self.write(f"{self.name(value)} = {text}")

    def used_once_here(self, value: Value) -> bool:
        """Whether the only use of a nameless value is in its own block, and its text may move there."""
        assert isinstance(value, OpResult)
        operation = value.owner
        declared = definition(operation.name)
        if value.name or len(value.uses) != 1 or declared is None or not declared.pure:
            return False
        user = value.uses[0].user
        repeated = user.name in ("tt.reduce", "tt.scan", "scf.for", "scf.while", "tt.split", "tt.reshape", "tt.unsplat")
        return user.parent is operation.parent and not repeated and user.name not in TERMINATORS

    def operation(self, operation: Operation) -> None:
        """One operation: by its name, or as an expression."""
        method = getattr(self, operation.name.replace(".", "_"), None)
        if method is not None:
            method(operation)
            return
        text = expression(operation, [self.operand(operand) for operand in operation.operands])
        if text is None:
            raise NotImplementedError(f"the NumPy back end has no {operation.name}")
        self.assign(operation.result, text)

    def operand(self, value: Value) -> str:
        """A value in an expression."""
        return self.pointer(value) if isinstance(element_type(value.type), PointerType) else self.name(value)

    # --- where values come from

    def arith_constant(self, operation: Operation) -> None:
        value, dtype = operation.attributes["value"], dtype_of(operation.result.type)
        number = f'float("{value}")' if isinstance(value, float) and (value != value or abs(value) == float("inf")) else value
        self.assign(operation.result, f"{dtype}({number})")

    def ub_poison(self, operation: Operation) -> None:
        self.assign(operation.result, f"{dtype_of(operation.result.type)}(0)")

    def tt_get_program_id(self, operation: Operation) -> None:
        text = {
            "x": "program % grid[0]",
            "y": "program // grid[0] % grid[1]",
            "z": "program // (grid[0] * grid[1])",
        }[operation.attributes["axis"]]
        self.assign(operation.result, f"({text}).astype(np.int32)")

    def tt_get_num_programs(self, operation: Operation) -> None:
        self.assign(operation.result, f"np.int32(grid[{'xyz'.index(operation.attributes['axis'])}])")

    def tt_make_range(self, operation: Operation) -> None:
        start, end = operation.attributes["start"], operation.attributes["end"]
        self.assign(operation.result, f"np.arange({start}, {end}, dtype=np.int32)")

    # --- shapes

    def tt_splat(self, operation: Operation) -> None:
        (source,) = operation.operands
        self.assign(operation.result, self.lifted(self.operand(source), self.axes[source], len(shape_of(operation.result.type))))

    def tt_unsplat(self, operation: Operation) -> None:
        (source,) = operation.operands
        axes = self.axes[source]
        text = self.name(source)
        if axes:
            text = f"{text}.reshape({'programs' if PROGRAM in axes else '()'})"
        self.assign(operation.result, text)

    def tt_broadcast(self, operation: Operation) -> None:
        self.assign(operation.result, self.operand(operation.operands[0]))

    def tt_expand_dims(self, operation: Operation) -> None:
        (source,) = operation.operands
        name = self.operand(source)
        if not self.axes[source]:
            self.assign(operation.result, name)
            return
        axis = operation.attributes["axis"] - len(shape_of(operation.result.type))
        self.assign(operation.result, f"np.expand_dims({name}, {axis})")

    def tt_trans(self, operation: Operation) -> None:
        (source,) = operation.operands
        order, axes = operation.attributes["order"], self.axes[source]
        if not axes:
            self.assign(operation.result, self.operand(source))
            return
        order = (0, *(i + 1 for i in order)) if PROGRAM in axes else order
        self.assign(operation.result, f"np.transpose({self.operand(source)}, {tuple(order)})")

    def tt_reshape(self, operation: Operation) -> None:
        (source,) = operation.operands
        if not self.axes[source]:
            self.assign(operation.result, self.operand(source))
            return
        self.assign(operation.result, f"{self.full(source)}.reshape({self.shape_of_result(operation)})")

    def shape_of_result(self, operation: Operation) -> str:
        return self.shape(operation.results[0].type, self.axes[operation.results[0]])

    def tt_join(self, operation: Operation) -> None:
        program = PROGRAM in self.axes[operation.result]
        x, y = (self.full(operand, program) for operand in operation.operands)
        self.assign(operation.result, f"np.stack(({x}, {y}), axis=-1)")

    def tt_cat(self, operation: Operation) -> None:
        program = PROGRAM in self.axes[operation.result]
        x, y = (self.full(operand, program) for operand in operation.operands)
        self.assign(operation.result, f"np.concatenate(({x}, {y}), axis=-1)")

    def tt_split(self, operation: Operation) -> None:
        (source,) = operation.operands
        for i, result in enumerate(operation.results):
            self.assign(result, f"{self.full(source)}[..., {i}]" if self.axes[source] else self.name(source))

    def tt_gather(self, operation: Operation) -> None:
        program = PROGRAM in self.axes[operation.result]
        source, indices = (self.full(operand, program) for operand in operation.operands)
        axis = operation.attributes["axis"] - len(shape_of(operation.result.type))
        self.assign(operation.result, f"np.take_along_axis({source}, {indices}, axis={axis})")

    def tt_histogram(self, operation: Operation) -> None:
        program = PROGRAM in self.axes[operation.result]
        operands = ", ".join(self.full(operand, program) for operand in operation.operands)
        (bins,) = shape_of(operation.result.type)
        self.assign(operation.result, f"combine.histogram({bins}, {operands})")

    # --- pointers and memory

    def place(self, operation: Operation) -> str:
        return f"{operation.loc.file}:{operation.loc.line}" if operation.loc else ""

    def tt_addptr(self, operation: Operation) -> None:
        pointer, offset = operation.operands
        if self.origins[pointer] is None:
            size = element_type(operation.result.type).pointee.width // 8 or 1
            self.assign(operation.result, f"{self.pointer(pointer)} + {self.name(offset)} * np.int64({size})")
        else:
            self.assign(operation.result, f"{self.pointer(pointer)} + {self.name(offset)}")

    def pointer(self, value: Value) -> str:
        """An offset into the argument that the pointer leads into: for the argument itself 0."""
        if self.origins.get(value) is value:
            return "np.int64(0)"
        return self.name(value)

    def tt_int_to_ptr(self, operation: Operation) -> None:
        self.assign(operation.result, self.name(operation.operands[0]))

    def tt_ptr_to_int(self, operation: Operation) -> None:
        self.assign(operation.result, self.address(operation.operands[0]))

    def address(self, value: Value) -> str:
        """A pointer as an address in bytes."""
        origin = self.origins[value]
        return self.name(value) if origin is None else f"{self.name(origin)}.address({self.pointer(value)})"

    def tt_bitcast(self, operation: Operation) -> None:
        (source,) = operation.operands
        if isinstance(element_type(source.type), PointerType):
            old, new = (element_type(v.type).pointee.width for v in (source, operation.result))
            scale = "" if max(old, 8) == max(new, 8) or self.origins[source] is None else f" * {old} // {new}"
            self.assign(operation.result, f"{self.pointer(source)}{scale}")
        else:
            self.assign(operation.result, f"exact.bitcast({self.name(source)}, {dtype_of(operation.result.type)})")

    def buffer(self, pointer: Value) -> str:
        """The memory that a pointer leads into, read as what it points to."""
        origin = self.origins[pointer]
        dtype = dtype_of(element_type(pointer.type).pointee)
        if origin is None:
            return f"memory.Anywhere(({', '.join(self.pointers())},), {dtype})"
        same = dtype == dtype_of(element_type(origin.type).pointee)
        return self.name(origin) if same else f"{self.name(origin)}.read_as({dtype})"

    def pointers(self) -> list[str]:
        arguments = self.function.regions[0].block.arguments
        return [self.name(argument) for argument in arguments if isinstance(argument.type, PointerType)]

    def mask(self, values: Sequence[Value], mask: Value | None) -> str:
        """The mask of an access, with the programs that take part, if the access differs from program to program."""
        text = self.name(mask) if mask is not None else ""
        varies = any(PROGRAM in self.axes[value] for value in values)
        if self.active and varies:
            active = self.lifted(self.active, frozenset({PROGRAM}), len(shape_of(values[0].type)))
            text = f"{text} & {active}" if text else active
        return text

    def tt_load(self, operation: Operation) -> None:
        pointer, *rest = operation.operands
        mask = self.mask([pointer, *rest[:1]], rest[0] if rest else None)
        other = f", other={self.name(rest[1])}" if len(rest) > 1 else ""
        mask = f", mask={mask}" if mask else ""
        text = f"memory.load({self.buffer(pointer)}, {self.pointer(pointer)}{mask}{other}, place={self.place(operation)!r})"
        self.assign(operation.result, text)

    def tt_store(self, operation: Operation) -> None:
        pointer, value, *rest = operation.operands
        text = self.mask([pointer, value, *rest], rest[0] if rest else None)
        mask = f", mask={text}" if text else ""
        offset = self.full(pointer) if self.pointer(pointer) != "np.int64(0)" else "np.int64(0)"
        call = f"memory.store({self.buffer(pointer)}, {offset}, {self.operand(value)}{mask}, place={self.place(operation)!r})"
        self.write(call)

    def tt_atomic_rmw(self, operation: Operation) -> None:
        pointer, value, *rest = operation.operands
        self.atomic(operation, f"rmw({operation.attributes['atomic_rmw_op']!r}, ", [value], rest[0] if rest else None)

    def tt_atomic_cas(self, operation: Operation) -> None:
        _, expected, value = operation.operands
        self.atomic(operation, "cas(", [expected, value], None)

    def atomic(self, operation: Operation, call: str, values: Sequence[Value], mask: Value | None) -> None:
        """An atomic happens once for each program and element: nothing is kept once for all."""
        pointer = operation.operands[0]
        text = self.mask([operation.result, pointer], mask)
        mask_text = f", mask={text}" if text else ""
        shape = self.shape(operation.result.type, self.axes[operation.result] | frozenset(range(len(shape_of(operation.result.type)))))
        operands = ", ".join([self.buffer(pointer), self.pointer(pointer), *(self.operand(value) for value in values)])
        text = f"atomics.{call}{operands}, {shape}{mask_text}, place={self.place(operation)!r})"
        if operation.result.uses:
            self.assign(operation.result, text)
        else:
            self.write(text)

    # --- combining elements

    def tt_dot(self, operation: Operation) -> None:
        a, b, c = (self.full(operand) for operand in operation.operands)
        self.assign(operation.result, f"combine.dot({a}, {b}, {c})")

    def tt_reduce(self, operation: Operation) -> None:
        self.combined(operation, "reduce")

    def tt_scan(self, operation: Operation) -> None:
        self.combined(operation, "scan")

    def combined(self, operation: Operation, function: str) -> None:
        """A reduction or a scan: by a ufunc if the region is a single operation that has one, else by a function."""
        axis = operation.attributes["axis"]
        rank = len(shape_of(operation.operands[0].type))
        sources = []
        for source in operation.operands:
            axes = self.axes[source]
            shape = self.shape(source.type, axes | {axis}) if axes else f"({shape_of(source.type)[axis]},)"
            sources.append(self.name(source) if axis in axes else f"np.broadcast_to({self.name(source)}, {shape})")
        at = axis - rank if any(self.axes[source] for source in operation.operands) else -1
        combination = self.combination(operation)
        reverse = ", reverse=True" if operation.attributes.get("reverse") else ""
        results = ", ".join(self.name(result) for result in operation.results)
        comma = "," if len(operation.results) == 1 else ""
        self.write(f"{results}{comma} = combine.{function}({combination}, ({', '.join(sources)},), {at}{reverse})")

    def combination(self, operation: Operation) -> str:
        """What combines two elements: the name of a ufunc, or of a function written here from the region."""
        block = operation.regions[0].block
        first, end = block.operations[0], block.terminator
        assert end is not None
        if len(block.operations) == 2 and first.name in UFUNCS and set(first.operands) == set(block.arguments):
            return UFUNCS[first.name]
        name = self.fresh("combined")
        with self.indented(f"def {name}({', '.join(self.name(argument) for argument in block.arguments)}):"):
            for argument in block.arguments:
                self.axes[argument] = frozenset()
            self.block(block)
            self.write(f"return ({', '.join(self.name(value) for value in end.operands)},)")
        return name

    # --- for people

    def tt_assert(self, operation: Operation) -> None:
        """Device assertions are for debugging."""

    def tt_print(self, operation: Operation) -> None:
        """Printing from programs that run at once would say little."""

    def llvm_intr_assume(self, operation: Operation) -> None:
        """A promise needs no code."""

    def gpu_barrier(self, operation: Operation) -> None:
        """The threads of a program are one here."""

    def arith_select(self, operation: Operation) -> None:
        condition, *values = operation.operands
        rank = len(shape_of(operation.result.type)) - len(shape_of(condition.type))
        text = self.lifted(self.name(condition), self.axes[condition], rank)
        x, y = map(self.operand, values)
        self.assign(operation.result, f"np.where({text}, {x}, {y})")

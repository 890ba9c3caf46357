"""From IR to the source of a Python function that runs one program, for Numba to compile.

    def add(pid_x, pid_y, pid_z, grid_x, grid_y, grid_z, x, y, out, n): ...

A pointer argument is represented by its array, and any other pointer by an offset from the array's start. The function
returns True, or False before an access that would be out of bounds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from mini_triton.analysis.flow import carried_by
from mini_triton.analysis.pointers import Origins, origins, waits
from mini_triton.codegen.numba_gen import combining, control_flow, straight_line
from mini_triton.codegen.numba_gen.expressions import TRUE, ZERO, Expression, Name, Number, apply
from mini_triton.codegen.numba_gen.plan import Nest, Next, Plan, Unsupported, Work, Write, is_tensor
from mini_triton.codegen.numba_gen.roots import NestBody, innermost, is_first_factor
from mini_triton.codegen.numba_gen.scalars import constant, elementwise, kind, memory_dtype
from mini_triton.codegen.numba_gen.statements import Assign, Call, Comment, Return, Statement, printed
from mini_triton.codegen.writer import Names
from mini_triton.errors import Loc
from mini_triton.ir.core import Block, Module, Operation, OpResult, Value
from mini_triton.ir.types import PointerType, Type, element_type, shape_of

NUMBERS = "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
FUNCTIONS = "bits_of exp float_of floordivsi from_bf16 from_f16 log log2 odd32 round_bf16 round_f16 to_bf16 to_f16"
ROWS = "end_of_run on_stack pairwise_sum row_maximumf row_maxnumf row_minimumf row_minnumf vectors_of"
HEADER = f"""\
# Numba runs this kernel: {{programs}}.
import numpy as np
from numba import njit, prange
from numpy import {", ".join(NUMBERS)}

from mini_triton import exact
from mini_triton.codegen.numba_gen.library import {", ".join(FUNCTIONS.split())}
from mini_triton.codegen.numba_gen.products import add_product
from mini_triton.codegen.numba_gen.rows import {", ".join(ROWS.split())}

"""
DEFINITIONS = """
@njit(cache=True, error_model="numpy", nogil=True, no_cpython_wrapper=True)
def {name}({ids}{given}):
{body}


@njit(cache=True, error_model="numpy", nogil=True{parallel})
def launch(first, grid_x, grid_y, grid_z, failed{given}):
    for number in {loop}(first, grid_x * grid_y * grid_z):
        if not {name}(int32(number % grid_x), int32(number // grid_x % grid_y), int32(number // (grid_x * grid_y)), \
int32(grid_x), int32(grid_y), int32(grid_z){given}):
            {stop}
    return -1
"""
ORDERS = {
    "prange": ("the programs of a grid in parallel", ", parallel=True", "failed[number] = True"),
    "range": ("one program after the other, because they share memory by atomics", "", "return number"),
}
"""For each loop over programs: a comment, an option, and what follows a program that gave up."""
IDS = [f"{name}_{axis}" for name in ("pid", "grid") for axis in "xyz"]
WORDS = "np njit prange exact add_product range min max len launch failed first i0 i1 i2 i3 i4 i5"
RESERVED = {*NUMBERS, *FUNCTIONS.split(), *ROWS.split(), *IDS, *WORDS.split()}
STACK = 2**18
"""Bytes of arrays that a program may put on the stack. On some systems, the stack is not much larger."""
Handler = Callable[["ProgramEmitter", Operation], None]
"""A function that writes the statements of one operation."""
Form = tuple[tuple[int, ...], str, bool]
"""Shape and dtype of an array, and whether it is stored by columns."""
HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("arith.constant", "ub.poison"), straight_line.constant),
    **dict.fromkeys(("tt.get_program_id", "tt.get_num_programs"), straight_line.place_in_grid),
    "tt.load": straight_line.load,
    "tt.unsplat": straight_line.unsplat,
    "tt.reduce": combining.reduce,
    "tt.scan": combining.scan,
    "tt.dot": combining.dot,
    "tt.histogram": combining.histogram,
    **dict.fromkeys(("tt.atomic_rmw", "tt.atomic_cas"), combining.atomic),
    "scf.if": control_flow.if_,
    "scf.for": control_flow.for_,
    "scf.while": control_flow.while_,
}
"""The handlers of operations that do not belong to a nest. All other operations become expressions."""


class ProgramEmitter(Names):
    """Writes the function."""

    def __init__(self, function: Operation, leads: Origins) -> None:
        super().__init__(RESERVED)
        self.statements: list[Statement] = []  # of the block that is being written
        self.function, self.leads = function, leads
        self.plan = Plan(function, leads)
        self.allocated: list[Statement] = []
        self.on_stack = 0  # bytes
        self.forms: dict[str, Form] = {}  # shape and dtype of the arrays
        self.spare: dict[Form, list[str]] = defaultdict(list)  # arrays that were given back
        self.arrays: dict[object, str] = {}
        self.same: dict[Value, Value] = {}  # values that share another value's array
        self.ready: set[Value] = set()
        self.steps: dict[Value, Expression] = {}
        self.known: dict[Value, Expression] = {}  # scalars without a variable
        self.parameters = [self.name(argument) for argument in function.regions[0].block.arguments]
        if None in leads.values():
            raise Unsupported("pointers of unknown origin")

    # --- the text

    def source(self) -> str:
        """The whole module."""
        name = self.fresh(str(self.function.attributes["sym_name"]))
        self.find_shared()
        self.block(self.function.regions[0].block)
        body = printed([Call(apply("vectors_of", 512)), *self.allocated, *self.statements, Return(TRUE)], "    ")
        given = "".join(f", {parameter}" for parameter in self.parameters)
        loop = "range" if self.plan.writes and self.is_sequential() else "prange"
        programs, parallel, stop = ORDERS[loop]
        return HEADER.format(programs=programs) + DEFINITIONS.format(
            name=name, ids=", ".join(IDS), given=given, body="\n".join(body), loop=loop, parallel=parallel, stop=stop
        )

    def is_sequential(self) -> bool:
        """Whether the programs of a grid run one after the other."""
        atomics = any(write.name.startswith("tt.atomic") for write in self.plan.writes)
        return atomics or waits(self.function, self.leads)

    def add(self, *statements: Statement) -> None:
        self.statements += statements

    @contextmanager
    def body(self) -> Iterator[list[Statement]]:
        """Inside the `with`, statements go to a list of their own, which is the result."""
        outer, self.statements = self.statements, []
        yield self.statements
        self.statements = outer

    def comment(self, loc: Loc | None) -> None:
        """Write the kernel's source line as a comment, unless the previous comment shows the same line."""
        if text := self.comment_on(loc):
            self.add(Comment(text))

    # --- arrays

    def find_shared(self) -> None:
        """Let a value reuse the array of a value that is no longer needed."""
        plan = self.plan
        for operation in self.function.walk():
            if operation.name == "scf.for":
                for carried, result, _, value in carried_by(operation):
                    if carried in plan.arrays:
                        self.same[result] = carried
                        if self.accumulates(operation, carried, value):
                            self.same[value] = carried
            if operation.name == "scf.while":
                for result, carried in zip(operation.results, operation.regions[1].block.arguments, strict=True):
                    self.same[result] = carried

    def accumulates(self, loop: Operation, carried: Value, value: Value) -> bool:
        """Whether a value is a product that a loop adds to a carried value, which nothing else uses."""
        if not isinstance(value, OpResult) or value.owner.name != "tt.dot" or value not in self.plan.arrays:
            return False
        if value.owner.parent is not loop.regions[0].block or len(carried.uses) != 1 or len(value.uses) != 1:
            return False
        root, index = Write(value, value.owner.operands[2], 0), self.plan.index(shape_of(carried.type))
        return (carried, index) in set(self.plan.pulled(root))

    def home(self, value: Value) -> Value:
        while value in self.same:
            value = self.same[value]
        return value

    def array(self, value: Value) -> str:
        """The name of the array of a value."""
        home = self.home(value)
        if home not in self.arrays:
            self.arrays[home] = self.allocate(home.name or value.name or "t", shape_of(home.type), kind(home.type))
        return self.arrays[home]

    def allocate(self, wish: str, shape: Sequence[int], dtype: str, by_columns: bool = False) -> str:
        """A new array, stored by rows or by columns."""
        name = self.fresh(wish)
        self.forms[name] = tuple(shape), dtype, by_columns
        size = Number(shape[0]) if len(shape) == 1 else apply("", *(reversed(shape) if by_columns else shape))
        self.on_stack += math.prod(shape) * np.dtype(dtype).itemsize
        where = "on_stack" if self.on_stack <= STACK else "np.empty"
        memory = apply(where, size, f"np.{dtype}")
        self.allocated.append(Assign(Name(name), Name(f"{memory}.T") if by_columns else memory))
        return name

    def work(self, operation: Operation, number: int) -> str | None:
        """A work array for an operand; None if the operand already has an array."""
        return self.arrays.get(Work(operation, number))

    def row(self, operation: Operation, number: int) -> str:
        """The array that holds an operand of an operation."""
        return self.work(operation, number) or self.array(operation.operands[number])

    def give_back(self, names: Iterable[str | None]) -> None:
        """Make arrays that an operation no longer needs available for reuse."""
        for name in filter(None, names):
            self.spare[self.forms[name]].append(name)

    def target(self, target: Value | Work | Next) -> str:
        return self.array(target) if isinstance(target, Value) else self.arrays[target]

    def memory(self, pointer: Value) -> str:
        """The array to which a pointer points."""
        origin = self.leads[pointer]
        assert origin is not None
        mine, its = dtype_of(pointer.type), dtype_of(origin.type)
        if mine == its:
            return self.name(origin)
        view = origin, mine
        if view not in self.arrays:
            self.arrays[view] = self.fresh(f"{origin.name} as {mine}")
            whole = apply(f"{self.name(origin)}.view", f"np.{mine}")
            self.allocated.append(Assign(Name(self.arrays[view]), whole))
        return self.arrays[view]

    # --- values

    def text(self, value: Value) -> Expression:
        """A scalar; for a pointer argument, its offset from itself."""
        if self.leads.get(value) is value:
            return ZERO
        return self.known.get(value) or Name(self.name(value))

    def constant(self, operation: Operation) -> Expression:
        return constant(operation.result.type, operation.attributes.get("value", 0))  # type: ignore[arg-type]

    def element(self, pointer: Value, offset: Expression) -> Expression:
        """The element of memory to which a pointer points."""
        return apply("[]", self.memory(pointer), apply("uint64", offset))

    def length(self, pointer: Value) -> Expression:
        """The number of elements of the memory to which a pointer points."""
        return apply("len", self.memory(pointer))

    # --- blocks

    def block(self, block: Block) -> None:
        for item in self.plan.items[block]:
            if isinstance(item, Nest):
                self.nest(item)
            elif item.name in ("scf.yield", "scf.condition"):
                continue
            else:
                self.comment(item.loc)
                self.operation(item)

    def nest(self, nest: Nest) -> None:
        roots = []
        for root in nest.roots:
            if isinstance(root, Write) and root.target not in self.arrays:
                self.prepare(root)
            if not isinstance(root, Write) or not self.is_in_place(root):
                roots.append(root)
        nest.roots = roots
        if not roots:
            return
        self.comment(self.plan.operations[roots[-1].order].loc)
        self.add(*NestBody(self, nest).emit())
        self.ready.update(root.target for root in roots if isinstance(root, Write) and isinstance(root.target, Value))

    def is_in_place(self, root: Write) -> bool:
        """Whether a value is already in its target."""
        if root.value not in self.plan.arrays or root.value not in self.ready:
            return False
        return self.target(root.target) == self.array(root.value)

    def prepare(self, root: Write) -> None:
        """Allocate an array for a root without an array."""
        match root.target:
            case Next(carried):
                name = self.array(carried)
                if self.home(root.value) is not self.home(carried) and not self.is_elementwise_update(root, carried):
                    name = self.allocate(f"next_{name}", shape_of(carried.type), kind(carried.type))
                self.arrays[root.target] = name
            case Work(operation, number):
                wish = root.value.name or ("ab"[number] if operation.name == "tt.dot" else "row")
                dtype, shape, nest = kind(root.value.type), shape_of(root.value.type), self.plan.nests[root]
                by_columns = is_first_factor(root.target) and len(shape) == 2 and innermost(self.plan, nest) == 0
                spare = self.spare[shape, dtype, by_columns]
                self.arrays[root.target] = spare.pop() if spare else self.allocate(wish, shape, dtype, by_columns)

    def is_elementwise_update(self, root: Write, target: Value) -> bool:
        """Whether the next value may overwrite a carried value: each element is read only before it is written."""
        index, nest = self.plan.index(shape_of(target.type)), self.plan.nests[root]
        return not any(
            value is target and (where is not nest or at != index)
            for other, where in self.plan.nests.items()
            if where is nest or other.order == root.order
            for value, at in self.plan.pulled(other)
        )

    def operation(self, operation: Operation) -> None:
        handler = HANDLERS.get(operation.name)
        if handler:
            handler(self, operation)
            self.ready.update(operation.results)
            return
        if operation.regions or len(operation.results) != 1 or is_tensor(operation.result):
            raise Unsupported(operation.name)
        self.assign(operation.result, elementwise(operation, [self.text(o) for o in operation.operands]))

    def assign(self, value: Value, computed: Expression) -> None:
        """Assign an expression to a scalar's variable."""
        self.add(Assign(Name(self.name(value)), computed))

    def line_of(self, origin: Value | Operation) -> int:
        """The number of the source line; 0 if the last comment shows this line."""
        operation = origin.owner if isinstance(origin, OpResult) else origin
        loc = operation.loc if isinstance(operation, Operation) else None
        return loc.line if loc and (loc.file, loc.line) != self.commented else 0


def generate(module: Module) -> str:
    """The source for a module whose calls are inlined. Raises `Unsupported` if only the NumPy back end can run it."""
    (function,) = module.body.operations
    return ProgramEmitter(function, origins(function)).source()


def dtype_of(type: Type) -> str:
    """The dtype of an argument of the generated function; for an array, the dtype of its elements."""
    pointer = element_type(type)
    return memory_dtype(pointer.pointee) if isinstance(pointer, PointerType) else kind(type)

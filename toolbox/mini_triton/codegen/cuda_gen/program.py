"""From IR to the source of a kernel for Numba: the work of one thread of a program.

    @cuda.jit
    def add(x, y, out, n): ...

Each thread has its own part of an array of the plan, which the compiler keeps in registers. Elements that other threads
need go through shared memory: all threads write, wait for each other, and read. Scalars are the same in all threads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mini_triton.analysis.pointers import WRITES, Origins, origins
from mini_triton.codegen.cuda_gen import atomics, combining
from mini_triton.codegen.cuda_gen.layout import Layout, flat, indented
from mini_triton.codegen.cuda_gen.nest import Line, ThreadNestBody, without_unused
from mini_triton.codegen.cuda_gen.reduction import reduce
from mini_triton.codegen.cuda_gen.scalars import elementwise, kept_as, loaded
from mini_triton.codegen.numba_gen import control_flow, straight_line
from mini_triton.codegen.numba_gen.expressions import TRUE, ZERO, Expression, Index, Name, apply
from mini_triton.codegen.numba_gen.plan import Nest, Unsupported, is_tensor
from mini_triton.codegen.numba_gen.program import IDS, NUMBERS, ProgramEmitter
from mini_triton.codegen.numba_gen.scalars import kind, narrow
from mini_triton.codegen.numba_gen.statements import Assign, printed
from mini_triton.codegen.writer import tidy
from mini_triton.ir.core import Block, Module, Operation, Value
from mini_triton.ir.types import PointerType, Type, element_type, shape_of
from mini_triton.transforms.coalescing import accesses

LIBRARY = "mini_triton.codegen.cuda_gen.library"
FUNCTIONS = (
    "absolute acos as_float32 as_float64 as_int16 as_int32 as_int64 as_int8 as_uint16 atomic_add atomic_and "
    "atomic_cas atomic_exch atomic_fadd atomic_max atomic_min atomic_or atomic_umax atomic_umin atomic_xor "
    "bits_of_32 bits_of_64 ceil ceildivsi cos divsi divui erf exp exp2 float_of_32 float_of_64 floor "
    "floordivsi fma fmod from_bf16 from_f16 load_16 load_2 load_4 load_8 log log2 maximumf maxnumf minimumf "
    "minnumf mulhi_64 odd32 quotient remsi remui round_bf16 round_f16 select shuffle_xor sin sqrt store_16 "
    "store_2 store_4 store_8 times to_bf16 to_f16"
).split()
MOST_REGISTERS = 64
"""The largest number of a tile's elements per thread. A larger tile gets more threads."""
MOST_THREADS = 1024
MOST_SHARED = 200 << 10
"""Bytes of shared memory that a program may use."""
RESERVED = {*NUMBERS, *FUNCTIONS, *IDS, "np", "cuda", "range", "min", "max", "thread", "sweep", "k"}
RESERVED |= {f"i{axis}{end}" for axis in range(6) for end in ("", "_first")}
Handler = Callable[["ThreadEmitter", Operation], None]
HANDLERS: dict[str, Handler] = {
    "arith.constant": straight_line.constant,
    "ub.poison": straight_line.constant,
    "tt.get_program_id": straight_line.program_id,
    "tt.get_num_programs": straight_line.num_programs,
    "tt.load": lambda emit, operation: emit.load(operation),
    "tt.unsplat": lambda emit, operation: emit.unsplat(operation),
    "tt.reduce": reduce,
    "tt.scan": combining.scan,
    "tt.dot": combining.dot,
    "tt.histogram": combining.histogram,
    "tt.atomic_rmw": atomics.atomic,
    "tt.atomic_cas": atomics.atomic,
    "scf.if": control_flow.if_,
    "scf.for": control_flow.for_,
    "scf.while": control_flow.while_,
}
"""The handlers of operations that do not belong to a nest. All other operations become expressions."""


class Pool(NamedTuple):
    """Shared memory for elements: an array, and an offset into it."""

    memory: str
    start: int
    booleans: bool

    def at(self, where: str) -> str:
        start = [str(self.start)] if self.start else []
        return f"{self.memory}[{' + '.join(start + [where])}]"

    def kept(self, text: str) -> str:
        return f"int8({text})" if self.booleans else text

    def read(self, where: str) -> str:
        return f"({self.at(where)} != 0)" if self.booleans else self.at(where)


class ThreadEmitter(ProgramEmitter):
    """Writes the function."""

    reloads = False  # registers are faster than the cache
    reserved = RESERVED

    def __init__(self, module: Module, function: Operation, leads: Origins, warps: int, fused: bool) -> None:
        super().__init__(function, leads)
        self.fused = fused  # whether a multiplication and an addition may become one instruction, which rounds once
        largest = max((shape_of(v.type) for o in function.walk() for v in o.results), key=np.prod, default=())
        self.threads = min(MOST_THREADS, max(32 * warps, int(np.prod(largest)) // MOST_REGISTERS))
        self.widths = self.find_widths(module)
        self.layouts: dict[tuple[int, ...], Layout] = {}
        self.counts: dict[str, int] = {}  # elements of the arrays of registers
        self.shared_bytes = 0  # needed by the program
        self.taken_bytes = 0  # by values currently shared
        self.shared_now: dict[Value, Callable[[Sequence[object]], str]] = {}
        self.pools: set[str] = set()
        self.reads: set[Value | None] = set()  # the arguments that the current item reads
        self.writes: set[Value | None] = set()
        self.read_before: set[Value | None] = set()  # the arguments that items since the last barrier have read
        self.written_before: set[Value | None] = set()
        self.stored = {leads[o.operands[0]] for o in function.walk() if o.name in WRITES}

    # --- layouts

    def find_widths(self, module: Module) -> dict[Operation, tuple[int, int]]:
        """For each load and store, its fastest axis, and the number of elements that one instruction may move."""
        found = accesses(module, self.threads // 32)
        return {access.operation: (access.axis, access.bytes // access.element) for access in found}

    def layout(self, shape: Sequence[int]) -> Layout:
        """The layout of a tile of this shape. It depends only on the shape, so that no element has to move."""
        shape = tuple(shape)
        if shape not in self.layouts:
            bare = [n for n in shape if n > 1]
            alike = [
                (axis, width)
                for operation, (axis, width) in self.widths.items()
                if [n for n in shape_of(operation.operands[0].type) if n > 1] == bare
            ]
            order = list(reversed(range(len(shape))))
            widest = max((width for _, width in alike), default=1)
            axes = [axis for axis, width in alike if width == widest]
            if axes and widest > 1 and len(bare) == len(shape):
                first = max(set(axes), key=lambda axis: (axes.count(axis), axis))
                order = [first, *(axis for axis in order if axis != first)]
            share = max(1, int(np.prod(shape)) // self.threads)
            if any(o.name == "tt.dot" and shape_of(o.result.type) == shape for o in self.function.walk()):
                widest = max(widest, 4)
            fastest = next((shape[axis] for axis in order if shape[axis] > 1), 1)
            self.layouts[shape] = Layout(shape, tuple(order), min(widest, share, fastest), self.threads)
        return self.layouts[shape]

    def width(self, operation: Operation) -> int:
        """The number of elements that one instruction moves for a thread."""
        layout = self.layout(shape_of(operation.operands[0].type))
        axis, width = self.widths.get(operation, (0, 1))
        return min(width, layout.vector) if axis == layout.fastest or not layout.shape else 1

    def owns(self, layout: Layout) -> Expression:
        """A test that this thread does not hold copies."""
        return apply("<", "thread", layout.owners) if layout.owners < self.threads else TRUE

    # --- registers and shared memory

    def allocate(self, wish: str, shape: Sequence[int], dtype: str) -> str:
        return self.registers(wish, self.layout(shape).registers, dtype)

    def registers(self, wish: str, count: int, dtype: str) -> str:
        name = self.fresh(wish)
        self.counts[name] = count
        self.allocated.append(Assign(Name(name), apply("cuda.local.array", count, dtype)))
        return name

    def pool_of(self, type: Type, count: int) -> Pool:
        """Shared memory for `count` elements of a type, until the end of this item."""
        dtype = kind(type).replace("bool_", "int8")
        size = np.dtype(dtype.rstrip("_")).itemsize
        start = -(-self.taken_bytes // 16) * 16
        self.taken_bytes = start + size * count
        self.shared_bytes = max(self.shared_bytes, self.taken_bytes)
        if self.shared_bytes > MOST_SHARED:
            raise Unsupported(f"its tiles need {self.shared_bytes} bytes of shared memory; the limit is {MOST_SHARED}")
        self.pools.add(dtype)
        return Pool(f"shared_{dtype}", start // size, kind(type) == "bool_")

    def share(self, value: Value) -> Callable[[Sequence[object]], str]:
        """Write lines by which all threads share their elements. Returns a function for the source of an element."""
        if value not in self.shared_now:
            self.shared_now[value] = self.put(self.array(value), value)
        return self.shared_now[value]

    def put(self, registers: str, value: Value) -> Callable[[Sequence[object]], str]:
        """Write lines that copy registers with elements of a value to shared memory."""
        layout, shape = self.layout(shape_of(value.type)), shape_of(value.type)
        pool = self.pool_of(value.type, layout.size)
        if pool.start == 0:
            self.barrier()
        width = min(layout.vector, 16 // np.dtype(kind(value.type).rstrip("_")).itemsize)
        if width > 1 and layout.fastest == len(shape) - 1 and not pool.booleans:
            lines = self.vectors(layout, registers, width, pool)
        else:
            lines = self.each(layout, lambda i, r: [f"{pool.at(flat(shape, i))} = {pool.kept(f'{registers}[{r}]')}"])
        self.emit(lines)
        return lambda index: pool.read(flat(shape, index))

    def vectors(self, layout: Layout, registers: str, width: int, pool: Pool) -> list[str]:
        """Lines that write a thread's elements to shared memory, `width` at a time."""
        where = flat(layout.shape, layout.texts())
        at = f"sweep * {layout.vector} + " if layout.sweeps > 1 else ""
        body = [
            f"store_{width}({registers}, {at}{first}, {pool.memory}, {pool.start + first} + {where})"
            for first in range(0, layout.vector, width)
        ]
        if layout.sweeps > 1:
            body = [f"for sweep in range({layout.sweeps}):", *indented(body)]
        return [f"if {test}:", *indented(body)] if (test := self.owns(layout)) != TRUE else body

    def each(self, layout: Layout, lines: Callable[[Index, str], list[str]], own: bool = True) -> list[str]:
        """Write `lines(index, register)` for each element of a thread; without copies if `own`."""
        axes = range(len(layout.shape))
        index: Index = tuple(Name(f"i{axis}") if layout.shape[axis] > 1 else ZERO for axis in axes)
        texts = layout.texts()
        vector = layout.vector
        terms = [f"sweep * {vector}" if vector > 1 else "sweep"] if layout.sweeps > 1 else []
        register = " + ".join(terms + ["k"] * (vector > 1)) or "0"
        outer = [f"i{axis} = {texts[axis]}" for axis in axes if axis != layout.fastest]
        inner = [f"i{layout.fastest} = {texts[layout.fastest]}{' + k' if vector > 1 else ''}", *lines(index, register)]
        body = inner if vector == 1 else [f"for k in range({vector}):", *indented(inner)]
        body = without_unused([*outer, *body])
        if layout.sweeps > 1:
            body = [f"for sweep in range({layout.sweeps}):", *indented(body)]
        if own and (test := self.owns(layout)) != TRUE:
            body = [f"if {test}:", *indented(body)]
        return body

    def barrier(self) -> None:
        """Make all threads of the program wait for each other."""
        self.line("cuda.syncthreads()")
        self.read_before.clear()
        self.written_before.clear()

    def keep_order(self, reads: set[Value | None], writes: set[Value | None]) -> None:
        """Write a barrier if a memory access must not overtake an earlier access by a different thread."""
        if reads & self.written_before or writes & (self.read_before | self.written_before):
            self.barrier()
        self.read_before |= reads
        self.written_before |= writes

    # --- the text

    def source(self) -> str:
        """The whole module."""
        name = self.fresh(str(self.function.attributes["sym_name"]))
        self.find_shared()
        self.block(self.function.regions[0].block)
        inside = [*printed([*self.allocated, *self.statements], "    ")]
        body = [*(f"    {line}" for line in self.beginning("\n".join(inside))), *inside]
        words = set(re.findall(r"\w+", "\n".join(body)))
        numbers = [number for number in NUMBERS if number in words]
        functions = [function for function in FUNCTIONS if function in words]
        header = ["import numpy as np"] * ("np" in words) + [f"from numba import {', '.join(['cuda', *numbers])}"]
        header += ["", f"from {LIBRARY} import {', '.join(functions)}"] if functions else []
        facts = f"THREADS, SHARED = {self.threads}, {self.shared_bytes}"
        decorated = ["@cuda.jit", f"def {name}({', '.join(self.parameters)}):"]
        return "\n".join([*header, "", facts, "", "", *decorated, *body, ""])

    def beginning(self, body: str) -> list[str]:
        """The first lines of the function: the numbers of the thread and the program, and shared memory."""
        words = set(re.findall(r"\w+", body))
        places = {"pid": "blockIdx", "grid": "gridDim"}
        found = [f"{id} = int32(cuda.{places[id[:-2]]}.{id[-1]})" for id in IDS if id in words]
        if "thread" in words:
            found.append("thread = cuda.threadIdx.x")
        return found + [f"shared_{dtype} = cuda.shared.array(0, {dtype})" for dtype in sorted(self.pools)]

    def block(self, block: Block) -> None:
        parent = block.parent.parent if block.parent else None
        if parent is not None and parent.name in ("scf.for", "scf.while"):
            for operation in parent.walk():
                if operation.name in WRITES:
                    self.written_before.add(self.leads[operation.operands[0]])
                elif operation.name == "tt.load":
                    self.read_before.add(self.leads[operation.operands[0]])
        super().block(block)

    def emit(self, lines: Sequence[str]) -> None:
        """Write lines."""
        for line in lines:
            bare = line.lstrip()
            code, *mark = bare.partition("  # ")
            self.add(Line("".join([line[: len(line) - len(bare)], tidy(code), *mark])))

    def line(self, text: str) -> None:
        self.emit([text])

    def loops(self, nest: Nest) -> None:
        self.begin()
        lines = ThreadNestBody(self, nest).emit()
        self.wait_for_shared()
        self.keep_order(self.reads, self.writes)
        self.emit(lines)

    def begin(self) -> None:
        """Begin a new item: all shared memory is free."""
        self.shared_now.clear()
        self.taken_bytes = 0
        self.reads, self.writes = set(), set()

    def wait_for_shared(self) -> None:
        """Write a barrier if this item has written to shared memory."""
        if self.taken_bytes:
            self.barrier()

    def operation(self, operation: Operation) -> None:
        parent = operation.parent.parent if operation.parent else None
        if parent is None or parent.parent is None or parent.parent.name not in ("tt.reduce", "tt.scan"):
            self.begin()
        handler = HANDLERS.get(operation.name)
        if handler:
            handler(self, operation)
            return
        if operation.regions or len(operation.results) != 1 or is_tensor(operation.result):
            raise Unsupported(operation.name)
        self.assign(operation.result, self.elementwise(operation, [self.text(o) for o in operation.operands]))

    def elementwise(self, operation: Operation, operands: Sequence[Expression]) -> Expression:
        """The expression of an elementwise operation."""
        if operation.name == "arith.mulf" and not self.fused and not narrow(operation.result.type):
            return apply("times", *operands)
        return elementwise(operation, operands)

    def element(self, pointer: Value, offset: Expression) -> Expression:
        return apply("[]", self.memory(pointer), offset)

    def memory(self, pointer: Value) -> str:
        origin = self.leads[pointer]
        assert origin is not None
        mine = kept_as(pointee(pointer))
        if mine == kept_as(pointee(origin)):
            return self.name(origin)
        view = origin, mine
        if view not in self.arrays:
            self.arrays[view] = self.fresh(f"{origin.name} as {mine}")
            self.allocated.append(Assign(Name(self.arrays[view]), apply(f"as_{mine}", self.name(origin))))
        return self.arrays[view]

    def swap(self, one: str, other: str) -> None:
        """Copy one array to the other, element by element, because registers do not have addresses."""
        k = self.fresh("register")
        self.emit([f"for {k} in range({self.counts[one]}):", f"    {one}[{k}] = {other}[{k}]"])

    # --- scalars of memory

    def load(self, operation: Operation) -> None:
        """Load a scalar. If the kernel also writes this memory, one thread loads the scalar for all threads."""
        pointer, *rest = operation.operands
        origin = self.leads[pointer]
        element = loaded(operation.result.type, self.element(pointer, self.text(pointer)))
        if rest:
            other = self.text(rest[1]) if len(rest) > 1 else apply(kind(operation.result.type), 0)
            element = apply("if", self.text(rest[0]), element, other)
        if origin in self.stored:
            self.computed_once(operation.result, [f"{{0}} = {element}"])
        else:
            self.assign(operation.result, element)

    def computed_once(self, result: Value, lines: list[str]) -> None:
        """Write lines by which one thread computes a scalar, `{0}`, and passes it to all others."""
        pool = self.pool_of(result.type, 1)
        self.barrier()
        self.emit(["if thread == 0:", *indented([line.format(pool.at("0")) for line in lines])])
        self.barrier()
        self.line(f"{self.name(result)} = {pool.read('0')}")

    def unsplat(self, operation: Operation) -> None:
        (source,) = operation.operands
        body = ThreadNestBody(self, Nest(shape_of(source.type)))
        element = body.at(source, (ZERO,) * len(body.shape))
        self.wait_for_shared()
        self.add(*body.levels[0])
        self.assign(operation.result, element)


def pointee(value: Value) -> Type:
    pointer = element_type(value.type)
    assert isinstance(pointer, PointerType)
    return pointer.pointee


def generate(module: Module, warps: int = 4, fused: bool = True) -> str:
    """The source for a module whose calls are inlined. Raises `Unsupported` for an operation that this back end lacks.

    If `fused`, a multiplication and an addition may become one instruction, as for the option `enable_fp_fusion`.
    """
    (function,) = module.body.operations
    return ThreadEmitter(module, function, origins(function), warps, fused).source()


def unsupported(module: Module, warps: int = 4) -> list[str]:
    """The reasons why there is no source for a module; empty if there is source."""
    try:
        generate(module, warps)
    except Unsupported as reason:
        return [str(reason)]
    return []

"""The plan of a function: which values need arrays, and which loop nests compute a block.

Pure operations are not executed where the IR places them. The elements of their results are computed for a *root*: a
store, the operand of a reduction, or a value that needs an array. A root opens a loop nest over its shape. Consecutive
roots of the same shape share a nest, unless a later root reads values that the nest has not finished.

A value needs an array if its elements are written and read at different indices, or if they are expensive to recompute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mini_triton.analysis.flow import carried_by, flow
from mini_triton.analysis.pointers import WRITES, Origins
from mini_triton.codegen.numba_gen.expressions import ZERO, Expression, Index, Name, apply, expression
from mini_triton.ir.core import Block, Operation, OpResult, Value
from mini_triton.ir.interpreter import TERMINATORS
from mini_triton.ir.ops.definition import traits
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.ops.shape import axis_of, order_of
from mini_triton.ir.types import TensorType, shape_of

EXPENSIVE = {"tt.load", "tt.gather", "tt.mulhiui", "tt.precise_divf", "tt.precise_sqrt"}
EXPENSIVE |= {f"arith.{name}" for name in "divf remf divsi remsi divui remui floordivsi ceildivsi".split()}
"""Operations that should not be repeated, in addition to those of the dialect `math`."""
DIRECT = ("tt.reduce", "tt.scan", "tt.dot", "tt.histogram", "tt.atomic_rmw", "tt.atomic_cas")
"""Operations that have their own loops, and whose results need arrays."""
ALONE = ("tt.histogram", "tt.atomic_rmw", "tt.atomic_cas", "tt.unsplat")
"""Operations that compute the elements of their operands in their own loops, without a root."""
IN_LINE = {"tt.make_range", "tt.splat", "tt.addptr", "arith.constant", "arith.addi", "arith.extsi", "arith.cmpi"}
"""Operations that compute addresses and masks of consecutive elements."""
NOTHING = ("llvm.intr.assume", "gpu.barrier")
ANYWHERE = Name("anywhere", 0)
"""The index of an element that `tt.gather` chooses at run time."""
LEAST_SPLIT = 8
"""A loop with fewer iterations than this is not split."""
LONG = 16
"""The largest number of operations that may be recomputed instead of stored."""


class Unsupported(Exception):
    """The kernel contains operations that only the NumPy back end supports."""


def is_tensor(value: Value) -> bool:
    return isinstance(value.type, TensorType)


def defining(value: Value, name: str) -> Operation | None:
    """The operation that computes a value, if it has this name."""
    return value.owner if isinstance(value, OpResult) and value.owner.name == name else None


@dataclass(frozen=True)
class Work:
    """A work array for an operand of an operation."""

    operation: Operation
    number: int


@dataclass(frozen=True)
class Next:
    """The array for the next value of a carried value."""

    carried: Value


@dataclass(eq=False)
class Write:
    """A root that writes every element of `value` to the array `target`."""

    target: Value | Work | Next  # a value stands for its own array
    value: Value
    order: int


@dataclass(eq=False)
class Store:
    """A root: a `tt.store`."""

    operation: Operation
    order: int


Root = Write | Store


def stores(roots: Sequence[Root]) -> list[Operation]:
    """The stores among some roots."""
    return [root.operation for root in roots if isinstance(root, Store)]


@dataclass(frozen=True)
class Access:
    """A load, a store or an atomic operation: the addresses, and a mask of those that it uses."""

    operation: Operation
    pointer: Value
    mask: Value | None

    @property
    def places(self) -> list[Value]:
        """The values that decide which elements the operation accesses."""
        return [self.pointer] if self.mask is None else [self.pointer, self.mask]

    @classmethod
    def of(cls, operation: Operation) -> Access:
        """The access of an operation."""
        pointer, *rest = operation.operands
        masks = rest[MASKS[operation.name] :] if operation.name in MASKS else []
        return cls(operation, pointer, masks[0] if masks else None)


MASKS = {"tt.load": 0, "tt.store": 1, "tt.atomic_rmw": 1}
"""The place of an optional mask among the operands after the pointer."""


@dataclass(eq=False)
class Nest:
    """Loops over a shape, with the roots to compute at each index."""

    block: Block
    shape: tuple[int, ...]
    roots: list[Root] = field(default_factory=list)
    late: set[Value] = field(default_factory=set)  # computed behind the nest, from its results

    def computes(self, values: Sequence[Value]) -> bool:
        """Whether the nest writes all of these values to arrays."""
        return {*values} <= {root.value for root in self.roots if isinstance(root, Write)}


Item = Nest | Operation
"""A step of a block: a nest, or a single operation."""


def operands_at(operation: Operation, result: Value, index: Index) -> Iterator[tuple[Value, Index]]:
    """Operands and indices of the elements from which a pure operation computes the result's element at `index`."""
    operands = operation.operands
    match operation.name:
        case "tt.splat" | "tt.broadcast" | "tt.expand_dims" | "tt.trans":
            yield operands[0], tuple(i if isinstance(i, Expression) else ZERO for i in source_index(operation, index))
        case "tt.reshape":
            yield operands[0], reshaped(shape_of(result.type), shape_of(operands[0].type), index)
        case "tt.join":
            yield operands[0], index[:-1]
            yield operands[1], index[:-1]
        case "tt.cat":
            size = shape_of(operands[0].type)[0]
            yield operands[0], (apply("min", index[0], size - 1),)
            yield operands[1], (apply("max", apply("-", index[0], size), 0),)
        case "tt.gather":
            axis = axis_of(operation)
            yield operands[0], (*index[:axis], ANYWHERE, *index[axis + 1 :])
            yield operands[1], index
        case _ if moves := traits(operation).moves:
            assert isinstance(result, OpResult)
            number, where = moves(operation, result.index, index)
            yield operands[number], tuple(map(expression, where))
        case _:
            for operand in operands:
                yield operand, index if is_tensor(operand) else ()


def source_index(operation: Operation, index: tuple[Expression | str, ...]) -> tuple[Expression | str, ...]:
    """The index in the operand that corresponds to `index` in the result, for an operation that only moves elements.

    These are some operations, with `index` and the result:

        tt.splat          f32 to 4                            ("i0",)               ()
        tt.expand_dims    8 to 1x8, axis 0                    ("0", "i1")           ("i1",)
        tt.broadcast      1x8 to 4x8                          ("i0", "i1")          ("0", "i1")
        tt.trans          2x4x8 to 8x2x4, order (2, 0, 1)     ("i0", "i1", "i2")    ("i1", "i2", "i0")
    """
    # [task 10.5] Given: `shape_of`, `axis_of`, `order_of`.
    sizes = shape_of(operation.operands[0].type)
    match operation.name:
        case "tt.broadcast":
            return tuple("0" if size == 1 else i for size, i in zip(sizes, index, strict=True))
        case "tt.expand_dims":
            at = axis_of(operation)
            return index[:at] + index[at + 1 :]
        case "tt.trans":
            moved = dict(zip(order_of(operation), index, strict=True))
            return tuple(moved[axis] for axis in range(len(index)))
    return ()
    # [end]


def is_repeated(index: Index) -> bool:
    """Whether an outer loop repeats the computation of an element that depends only on inner loops, as at `("i1",)`."""
    levels = {i.level for i in index} - {0}
    return len(levels) < max(levels, default=0)


def reshaped(shape: Sequence[int], source: Sequence[int], index: Index) -> Index:
    """The index, in a tensor of shape `source`, of the element at `index` in the reshaped tensor."""
    if [n for n in shape if n > 1] == [n for n in source if n > 1]:
        left = [i for i, n in zip(index, shape, strict=True) if n > 1]
        return tuple(left.pop(0) if n > 1 else ZERO for n in source)
    flat = index[0]
    for i, n in zip(index[1:], shape[1:], strict=True):
        flat = apply("+", apply("*", flat, n), i) if n > 1 else flat
    result: list[Expression] = []
    after = 1
    for axis in reversed(range(len(source))):
        size = source[axis]
        place = apply("//", flat, after) if after > 1 else flat
        outermost = all(n == 1 for n in source[:axis])
        result.append(ZERO if size == 1 else place if outermost else apply("%", place, size))
        after *= size
    return tuple(reversed(result))


class Plan:
    """The arrays and the nests of a kernel. Rows may be loaded twice: the second time from the cache."""

    def __init__(self, function: Operation, leads: Origins) -> None:
        self.function, self.leads = function, leads
        self.operations = list(function.walk())
        self.order = {operation: number for number, operation in enumerate(self.operations)}
        self.writes = [o for o in self.operations if o.name in WRITES]
        self.arrays: set[Value] = set()  # values stored in arrays
        self.growing: dict[Value, tuple[Value, list[Value]]] = {}  # carried tensors: initial value, scalars added
        self.keys: dict[Value, int] = {}
        self.known_keys: dict[object, int] = {}
        self.items: dict[Block, list[Item]] = {}
        self.nests: dict[Root, Nest] = {}
        for operation in self.operations:
            self.find_arrays(operation)
        while True:
            self.items.clear()
            self.nests.clear()
            self.schedule(function.regions[0].block)
            more = self.recomputed()
            if more is None:
                break
            self.arrays.add(more)

    # --- arrays

    def find_arrays(self, operation: Operation) -> None:
        """Record which of an operation's values need arrays in any case."""
        if operation.name in ("tt.cat", "tt.gather"):
            self.arrays.update(operation.operands[: 2 if operation.name == "tt.cat" else 1])
        if operation.name in DIRECT:
            self.arrays.update(filter(is_tensor, operation.results))
        if operation.name == "scf.for":
            for carried, result, init, value in carried_by(operation):
                uses = *carried.uses, *result.uses
                needs_array = any(use.user.name in ("tt.cat", "tt.gather") for use in uses)
                if is_tensor(carried) and not needs_array and (steps := self.steps(carried, value)) is not None:
                    self.growing[carried] = self.growing[result] = init, steps
        self.arrays.update(value for value, _ in flow(operation) if is_tensor(value) and value not in self.growing)

    def steps(self, carried: Value, value: Value) -> list[Value] | None:
        """The scalars added to a carried tensor before it is yielded; None if any other operation changes it."""
        found: list[Value] = []
        while value is not carried:
            if not isinstance(value, OpResult) or value.owner.name not in ("tt.addptr", "arith.addi"):
                return None
            first, second = value.owner.operands
            if value.owner.name == "arith.addi" and self.scalar_of(first) is not None:
                first, second = second, first
            step = self.scalar_of(second)
            if step is None:
                return None
            found.append(step)
            value = first
        return found

    def scalar_of(self, value: Value) -> Value | None:
        """The scalar that every element of a tensor equals; None if none is found."""
        while isinstance(value, OpResult):
            if value.owner.name == "tt.splat":
                return value.owner.operands[0]
            if value.owner.name == "arith.constant":
                return value
            if value.owner.name not in ("tt.broadcast", "tt.expand_dims"):
                return None
            value = value.owner.operands[0]
        return None

    def key(self, value: Value) -> int:
        """A number that is equal for two values computed in the same way."""
        if value not in self.keys:
            form: object = value
            if isinstance(value, OpResult) and not value.owner.regions and value.owner.name not in (*WRITES, "tt.load"):
                owner = value.owner
                attributes = tuple(sorted((name, repr(a)) for name, a in owner.attributes.items()))
                operands = tuple(self.key(operand) for operand in owner.operands)
                form = owner.name, attributes, operands, str(value.type), value.index
            self.keys[value] = self.known_keys.setdefault(form, len(self.known_keys))
        return self.keys[value]

    # --- what a root requests

    def pulled(self, root: Root | Operation, innermost: int = -1) -> Iterator[tuple[Value, Index]]:
        """All values computed or read for a root, or for an operation without a root, with their indices."""
        if isinstance(root, Write):
            start = [root.value]
        else:
            start = list((root.operation if isinstance(root, Store) else root).operands)
        seen: set[tuple[Value, Index]] = set()
        index = self.index(shape_of(start[0].type), innermost)
        for value in start:
            if isinstance(root, Write) and root.target is value and isinstance(value, OpResult):
                yield value, index  # computed here, not read from its array
                for operand, at in operands_at(value.owner, value, index):
                    yield from self.tree(operand, at, seen)
            else:
                yield from self.tree(value, index if is_tensor(value) else (), seen)

    def index(self, shape: Sequence[int], innermost: int = -1) -> Index:
        """The loop variables, numbered from the outermost loop; 0 for an axis of one element."""
        order = [axis for axis, n in enumerate(shape) if n > 1]
        order.sort(key=lambda axis: axis == innermost)  # stable: the other axes keep their order
        return tuple(Name(f"i{i}", order.index(i) + 1) if n > 1 else ZERO for i, n in enumerate(shape))

    def step(self, value: Value, axis: int) -> int | None:
        """How much an element grows from each index to the next along an axis; None if this is not known.

        A quotient `at // n` grows by 0, and a remainder `at % n` by as much as `at`, except where they start anew.
        """
        if not is_tensor(value):
            return 0
        if not isinstance(value, OpResult) or value in self.growing:
            return self.step(self.growing[value][0], axis) if value in self.growing else None
        operation, operands = value.owner, value.owner.operands
        variable = Name("step")
        match operation.name:
            case "tt.make_range":
                return 1
            case "tt.splat" | "arith.constant" | "arith.divsi":
                return 0
            case "arith.remsi" if self.is_short(operands[1]):
                return None
            case "arith.remsi" | "arith.extsi":
                return self.step(operands[0], axis)
            case "tt.broadcast" | "tt.expand_dims" | "tt.trans":
                index: Index = tuple(variable if i == axis else ZERO for i in range(len(shape_of(value.type))))
                ((operand, at),) = operands_at(operation, value, index)
                return self.step(operand, at.index(variable)) if variable in at else 0
            case "arith.addi" | "tt.addptr":
                steps = [self.step(operand, axis) for operand in operands]
                return None if None in steps else sum(steps)  # type: ignore[arg-type]
            case "arith.muli":
                return 0 if all(self.step(operand, axis) == 0 for operand in operands) else None
        return None

    def is_short(self, length: Value) -> bool:
        """Whether a run of this length is too short for a loop of its own."""
        known = self.scalar_of(length)
        constant = defining(known, "arith.constant") if known else None
        return constant is not None and int(constant.attributes["value"]) < LEAST_SPLIT  # type: ignore[arg-type]

    def tree(self, value: Value, index: Index, seen: set[tuple[Value, Index]]) -> Iterator[tuple[Value, Index]]:
        """A tensor and the values from which it is computed, back to values in arrays."""
        if not is_tensor(value) or (value, index) in seen:
            return
        seen.add((value, index))
        yield value, index
        if value in self.arrays:
            return
        if value in self.growing:
            yield from self.tree(self.growing[value][0], index, seen)
        elif isinstance(value, OpResult):
            for operand, at in operands_at(value.owner, value, index):
                yield from self.tree(operand, at, seen)

    def is_expensive(self, value: Value) -> bool:
        """Whether to compute a value only once: it is expensive, or an array holds it anyway, for a reduction."""
        if value in self.arrays or value in self.growing or not isinstance(value, OpResult):
            return False
        name = value.owner.name
        if name in EXPENSIVE or name.startswith("math.") and name not in ("math.absf", "math.absi"):
            return True
        if any(use.user.name == "tt.reduce" for use in value.uses):
            return True
        return (
            meaning(value.owner) is not None
            and sum(1 for _ in self.tree(value, self.index(shape_of(value.type)), set())) > LONG
        )

    def is_row(self, value: OpResult) -> bool:
        """Whether the elements come from consecutive memory, so that reading them from an array is not faster."""
        if value.owner.name != "tt.load" or len(shape_of(value.type)) != 1:
            return False
        return all(isinstance(v, OpResult) and v.owner.name in IN_LINE for v in self.behind(value.owner.operands))

    def recomputed(self) -> Value | None:
        """The last value that needs an array; None if there is none.

        It is expensive and computed in two nests, or repeatedly in a loop; or memory may change before its use.
        """
        found: dict[Value, set[Nest]] = {}
        latest: OpResult | None = None
        users: list[Root | Operation] = [*self.nests, *(each for each in self.operations if each.name in ALONE)]
        for user in users:
            nest = None if isinstance(user, Operation) else self.nests[user]
            block = user.parent if isinstance(user, Operation) else self.nests[user].block
            for value, at in self.pulled(user):
                if not isinstance(value, OpResult) or value in self.arrays:
                    continue
                again = value.owner.parent is not block
                if nest is not None:
                    nests = found.setdefault(value, set())
                    nests.add(nest)
                    again |= (len(nests) > 1 or is_repeated(at)) and not self.is_row(value)
                if (again and self.is_expensive(value)) or self.is_overwritten(value, at, user):
                    if latest is None or self.order[value.owner] > self.order[latest.owner]:
                        latest = value
        return latest

    def is_overwritten(self, value: OpResult, at: Index, user: Root | Operation) -> bool:
        """Whether memory may change between a load and the root or the operation that needs it."""
        if value.owner.name != "tt.load":
            return False
        together = [user] if isinstance(user, Operation) else stores(self.nests[user].roots)
        used = self.order[user] if isinstance(user, Operation) else user.order
        return any(
            self.is_disturbed(value.owner, write, at)
            if write in together
            else self.order[write] < used and self.may_meet(value.owner, write)
            for write in self.writes
            if self.order[value.owner] < self.order[write]
        )

    def may_meet(self, load: Operation, write: Operation) -> bool:
        """Whether two accesses may touch the same memory. Arguments do not overlap."""
        return self.leads[load.operands[0]] is self.leads[write.operands[0]]

    # --- nests

    def schedule(self, block: Block) -> None:
        """Turn the operations of a block into items."""
        items = self.items[block] = list[Item]()
        self.open: Nest | None = None
        for operation in block.operations:
            if operation.name in TERMINATORS:
                self.finish(block, operation)
            elif operation.name in NOTHING:
                continue
            elif operation.name == "tt.store":
                self.add(block, Store(operation, self.order[operation]))
            elif operation.name in DIRECT or operation.regions:
                for root in self.operand_roots(operation):
                    self.add(block, root)
                items.append(operation)
                if operation.name.startswith("scf."):
                    for region in operation.regions:
                        for inner in region.blocks:
                            self.schedule(inner)
                if operation.name == "tt.reduce" and self.open and self.open.computes(operation.operands):
                    self.open.late.update(operation.results)
                else:
                    self.open = None
            elif any(map(is_tensor, operation.results)):
                for result in operation.results:
                    if result in self.arrays:
                        self.add(block, Write(result, result, self.order[operation]))
            else:
                self.add_scalar(block, operation)

    def add_scalar(self, block: Block, operation: Operation) -> None:
        """Put a scalar before the open nest, unless the scalar needs a result of the nest, or memory that it writes."""
        items, nest = self.items[block], self.open
        is_late = nest is not None and not nest.late.isdisjoint(operation.operands)
        if nest is not None and operation.name in ("tt.load", "tt.unsplat"):
            writes = any(isinstance(root, Store) for root in nest.roots)
            if writes or is_late or operation.name == "tt.unsplat":
                self.open = nest = None
        if nest is not None and is_late:
            nest.late.update(operation.results)
        items.insert(len(items) if nest is None or is_late else items.index(nest), operation)

    def operand_roots(self, operation: Operation) -> Iterator[Root]:
        """Roots that write the operands of an operation to arrays."""
        order = self.order[operation]
        if operation.name in ("tt.reduce", "tt.scan"):
            for number, operand in enumerate(operation.operands):
                if operation.name == "tt.scan":
                    yield Write(operation.results[number], operand, order)
                elif operand not in self.arrays:
                    yield Write(Work(operation, number), operand, order)
        if operation.name == "tt.dot":
            for number, (factor, _) in enumerate(self.factors(operation)):
                if factor not in self.arrays:
                    yield Write(Work(operation, number), factor, order)
            if not self.is_zero(operation.operands[2]):
                yield Write(operation.result, operation.operands[2], order)
        if operation.name in ("scf.for", "scf.while"):
            for carried, (init, *yielded) in flow(operation):
                if yielded and carried in self.arrays and not isinstance(carried, OpResult):
                    yield Write(carried, init, order)

    def factors(self, product: Operation) -> Iterator[tuple[Value, bool]]:
        """The factors of a product, and whether each is transposed. The rows of b must be contiguous."""
        a, b = product.operands[:2]
        moved = defining(a, "tt.trans")
        if moved and a not in self.arrays and order_of(moved) == (1, 0):
            yield moved.operands[0], True
        else:
            yield a, False
        yield b, False

    def is_zero(self, value: Value) -> bool:
        constant = defining(value, "arith.constant")
        return constant is not None and constant.attributes["value"] == 0

    def finish(self, block: Block, terminator: Operation) -> None:
        """End a block: write the values that it yields to the arrays of the values that receive them."""
        parent = block.parent.parent if block.parent else None
        if parent is None or parent.name not in ("scf.for", "scf.if", "scf.while"):
            return
        receivers: Sequence[Value] = parent.results if parent.name == "scf.if" else block.arguments[1:]
        if parent.name == "scf.while":
            before, after = (region.block for region in parent.regions)
            receivers = after.arguments if block is before else before.arguments
        yielded = terminator.operands[terminator.name == "scf.condition" :]
        for target, value in zip(receivers, yielded, strict=True):
            if is_tensor(value) and target in self.arrays:
                array = target if parent.name == "scf.if" else Next(target)
                self.add(block, Write(array, value, self.order[terminator]))
        self.open = None
        self.items[block].append(terminator)

    def add(self, block: Block, root: Root) -> None:
        """Put a root into the open nest, or into a new one."""
        value = root.value if isinstance(root, Write) else root.operation.operands[0]
        shape = shape_of(value.type)
        if self.open is None or self.open.shape != shape or not self.fits(self.open, root):
            self.open = Nest(block, shape)
            self.items[block].append(self.open)
        self.open.roots.append(root)
        self.nests[root] = self.open

    def fits(self, nest: Nest, root: Root) -> bool:
        """Whether the nest can compute a root at each index together with its other roots."""
        index = self.index(nest.shape)
        written = {other.target for other in nest.roots if isinstance(other, Write)}
        for value, at in self.pulled(root):
            needed = {value, *value.owner.operands} if isinstance(value, OpResult) else {value}
            if value in written and at != index or needed & nest.late:
                return False
        places = [operand for load, _ in self.loads(root) for operand in load.operands]
        if isinstance(root, Store):
            places += Access.of(root.operation).places
        return not written & set(self.behind(places)) and self.keeps_order(nest, root)

    def keeps_order(self, nest: Nest, root: Root) -> bool:
        """Whether accesses to the same memory keep their order if a root joins a nest."""
        earlier, later = stores(nest.roots), stores([root])
        if any(self.clash(store, new) for store in earlier for new in later):
            return False
        loads = [(load, at, earlier) for load, at in self.loads(root)]
        loads += [(load, at, later) for other in nest.roots for load, at in self.loads(other)] if later else []
        return not any(self.is_disturbed(load, store, at) for load, at, others in loads for store in others)

    def loads(self, root: Root) -> Iterator[tuple[Operation, Index]]:
        """The loads that a nest executes for a root, with their indices."""
        for value, at in self.pulled(root):
            load = defining(value, "tt.load")
            if load and (value not in self.arrays or isinstance(root, Write) and value is root.value):
                yield load, at

    def is_disturbed(self, load: Operation, write: Operation, at: Index) -> bool:
        """Whether a write in the same loops may come too early for a load at this index, or too late.

        At each index, all loads precede all writes. So a load may only read what a later write overwrites at the same
        index.
        """
        if self.order[load] < self.order[write] and at == self.index(shape_of(load.operands[0].type)):
            return self.clash(load, write)
        return self.may_meet(load, write)

    def is_distinct(self, pointer: Value) -> bool:
        """Whether the elements of a tensor of pointers are known to differ; they may repeat in a tile of two axes."""
        axes = [axis for axis, size in enumerate(shape_of(pointer.type)) if size > 1]
        repeats = any(defining(value, "arith.remsi") for value in self.behind([pointer]))
        return not repeats and len(axes) < 2 and all(self.step(pointer, axis) for axis in axes)

    def behind(self, values: Sequence[Value]) -> Iterator[Value]:
        """The values from which addresses and masks are computed."""
        seen: set[tuple[Value, Index]] = set()
        for value in values:
            for found, _ in self.tree(value, self.index(shape_of(value.type)), seen):
                yield found

    def clash(self, one: Operation, other: Operation) -> bool:
        """Whether two accesses at different indices may touch the same memory."""
        pointer = one.operands[0]
        are_equal = self.key(pointer) == self.key(other.operands[0])
        return self.may_meet(one, other) and not (are_equal and self.is_distinct(pointer))

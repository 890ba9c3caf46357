"""Operations on pointers and memory."""

from __future__ import annotations

from collections.abc import Sequence

from mini_triton.codegen.axes import ALL_PROGRAMS
from mini_triton.codegen.emission import Emission
from mini_triton.codegen.expressions import dtype_of, expression, numpy_dtype
from mini_triton.codegen.values import ZERO, is_pointer
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import PointerType, Type, element_type, shape_of


def pointee(type: Type) -> Type:
    """What a pointer, or each of a tensor of pointers, points to."""
    pointer = element_type(type)
    assert isinstance(pointer, PointerType)
    return pointer.pointee


def bytes_of(type: Type) -> int:
    """The size of one element in memory: an `i1` has a byte of its own."""
    return numpy_dtype(pointee(type)).itemsize


class Accesses(Emission):
    """Writes addptr, load, store, atomics, conversions of pointers, and choices between them."""

    def tt_addptr(self, operation: Operation) -> None:
        pointer, offset = operation.operands
        if self.origins[pointer] is None:
            scaled = f"np.int64({bytes_of(pointer.type)}) * {self.name(offset)}"
            self.assign(operation.result, f"{self.text(pointer)} + {scaled}")
        elif self.text(pointer) == ZERO:
            self.assign(operation.result, f"{self.name(offset)}.astype(np.int64)")  # or further sums would wrap around
        else:
            self.assign(operation.result, f"{self.text(pointer)} + {self.name(offset)}")

    def tt_int_to_ptr(self, operation: Operation) -> None:
        self.assign(operation.result, self.name(operation.operands[0]))

    def tt_ptr_to_int(self, operation: Operation) -> None:
        self.assign(operation.result, self.address(operation.operands[0]))

    def tt_bitcast(self, operation: Operation) -> None:
        (source,) = operation.operands
        if not is_pointer(source):
            self.assign(operation.result, str(expression(operation, [self.text(source)])))
            return
        old, new = bytes_of(source.type), bytes_of(operation.result.type)
        scale = "" if old == new or self.origins[source] is None else f" * {old} // {new}"
        self.assign(operation.result, f"{self.text(source)}{scale}")

    def address(self, value: Value) -> str:
        """A pointer as an address in bytes."""
        origin = self.origins[value]
        if origin is None:
            return self.name(value)
        size = bytes_of(value.type)
        buffer = (
            f"{self.name(origin)}.read_as({dtype_of(pointee(value.type))})" if size != bytes_of(origin.type) else ""
        )
        return f"{buffer or self.name(origin)}.address({self.text(value)})"

    def arith_select(self, operation: Operation) -> None:
        condition, x, y = operation.operands
        result = operation.result
        rank = len(shape_of(result.type)) - len(shape_of(condition.type))
        mask = self.lifted(self.text(condition), self.axes[condition], rank)
        by_address = is_pointer(result) and self.origins[result] is None
        texts = [self.address(value) if by_address else self.text(value) for value in (x, y)]
        self.assign(result, f"{self.arrays}.where({mask}, {', '.join(texts)})")

    def buffer(self, pointer: Value) -> str:
        """The memory that a pointer leads into, read as what it points to."""
        origin, dtype = self.origins[pointer], dtype_of(pointee(pointer.type))
        if origin is None:
            return f"programs.memory({dtype})"  # any of it
        same = dtype == dtype_of(pointee(origin.type))
        return self.name(origin) if same else f"{self.name(origin)}.read_as({dtype})"

    def library(self, pointer: Value, module: str = "memory") -> str:
        """The module with the functions for accesses: addresses have their own."""
        return "addresses" if self.origins[pointer] is None else module

    def mask(self, values: Sequence[Value], mask: Value | None) -> str:
        """The mask of an access with these operands; the programs that take no part are masked off. Or nothing."""
        text = self.text(mask) if mask is not None else ""
        if not self.active:
            return text
        vary = any(map(self.varies, values))
        active = self.lifted(self.active, ALL_PROGRAMS, len(shape_of(values[0].type)))
        return {
            (False, False): "",
            (False, True): active,
            (True, False): text,
            (True, True): f"({text}) & {active}",
        }[bool(text), vary]

    def tt_load(self, operation: Operation) -> None:
        pointer, *rest = operation.operands
        mask, other = (*rest, None, None)[:2]
        words = {
            "buffer": self.buffer(pointer),
            "offset": self.text(pointer),
            "mask": self.mask([pointer, mask] if mask else [pointer], mask),
            "other": other and f"other={self.text(other)}",
        }
        text = ", ".join(word for word in words.values() if word)
        self.assign(operation.results[0], f"{self.library(pointer)}.load({text})")

    def tt_store(self, operation: Operation) -> None:
        pointer, value, *rest = operation.operands
        words = {
            "buffer": self.buffer(pointer),
            "offset": self.text(pointer),
            "value": self.text(value),
            "mask": self.mask(operation.operands, rest[0] if rest else None),
        }
        text = ", ".join(word for word in words.values() if word)
        self.write(f"{self.library(pointer)}.store({text})")

    # --- atomics: each happens once for each program and element, so nothing is kept once for all

    def tt_atomic_rmw(self, operation: Operation) -> None:
        _, value, *rest = operation.operands
        self.atomic(operation, "rmw", [repr(operation.attributes["atomic_rmw_op"])], [value], rest[0] if rest else None)

    def tt_atomic_cas(self, operation: Operation) -> None:
        _, expected, value = operation.operands
        self.atomic(operation, "cas", [], [expected, value], None)

    def atomic(
        self, operation: Operation, function: str, first: list[str], values: Sequence[Value], mask: Value | None
    ) -> None:
        """`old = atomics.rmw("add", buffer, offset, value, shape, mask)`; without `old` if nobody asks for it."""
        pointer, result = operation.operands[0], operation.result
        dimensions = frozenset(range(len(shape_of(result.type))))
        shape = self.shape(result.type, self.axes[result] | dimensions)
        arguments = [*first, self.buffer(pointer), self.text(pointer), *map(self.text, values), shape]
        taking_part = self.mask([result, pointer], mask)
        if taking_part:
            arguments.append(taking_part)
        module = self.library(pointer, "atomics")
        if result.uses:
            self.write(f"{self.name(result)} = {module}.{function}({', '.join(arguments)})")
            return
        if (module, function) == ("atomics", "rmw"):
            arguments.append("result=False")
        self.write(f"{module}.{function}({', '.join(arguments)})")

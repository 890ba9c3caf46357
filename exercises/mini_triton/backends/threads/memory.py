"""Loads, stores and atomic operations on global memory."""

from __future__ import annotations

from collections.abc import Sequence

from mini_triton.backends.threads import words
from mini_triton.backends.threads.conversions import exchange
from mini_triton.backends.threads.instructions import Address, Register, Unsupported, is_float, kind_of, width_of
from mini_triton.backends.threads.layouts import SCALAR, Layout
from mini_triton.backends.threads.threads import ANCHORED, Threads, rule
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.ops.definition import operand_of
from mini_triton.ir.types import element_type

BF16_ATOMICS = 90
"""The first compute capability that adds bf16 atomically."""
ATOMICS = {"add": "add.u", "max": "max.s", "min": "min.s", "umax": "max.u", "umin": "min.u"}
ATOMICS |= {"and": "and.b", "or": "or.b", "xor": "xor.b", "exch": "exch.b"}


def vectors(threads: Threads, operation: Operation, layout: Layout) -> list[list[int]]:
    """The numbers of the distinct registers, grouped by the instruction that moves their elements.

    In a layout for an access, the elements of a thread that are neighbors in memory are in registers 0, 1, 2, ...

        registers      in `threads.choice.accesses`                groups
        0, 1, 2, 3     an `Access` of 4 bytes, of fp32             [0], [1], [2], [3]
        0, 1, 2, 3     an `Access` of 4 bytes, of fp16             [0, 1], [2, 3]
        0              none, because the operation moves a number  [0]
    """
    # Task 13.7: Group the registers.
    raise NotImplementedError("Task 13.7: Memory")


def guard_of(threads: Threads, mask: Value | None, layout: Layout, number: int) -> Register | None:
    """The mask of the element in a register; None without a mask."""
    return threads.register(mask, layout, number) if mask else None


def cached(threads: Threads, operation: Operation) -> tuple[str, tuple[Register, ...]]:
    """Global memory with the cache hints of an access: the middle of the opcode, and the operands that the hints add.

        cache = "cg"             ld.global.cg.b32 %r1, [%rd1];
        evict = "evict_last"     ld.global.L1::evict_last.L2::cache_hint.b32 %r1, [%rd1], %rd2;

    `createpolicy` makes the policy in %rd2. PTX allows only one of volatile, a cache modifier and an eviction priority.
    """
    cache, evict = (operation.attributes.get(name) for name in ("cache", "evict"))
    if operation.attributes.get("isVolatile"):
        return "volatile.global", ()
    if cache:
        return f"global.{cache}", ()
    if evict:
        policy = threads.only_once(evict, lambda: threads.op(f"createpolicy.fractional.L2::{evict}.b64"))
        return f"global.L1::{evict}.L2::cache_hint", (policy,)
    return "global", ()


@rule(ANCHORED, "tt.load")
def load(threads: Threads, operation: Operation) -> None:
    """Load a tensor, or a number that all threads need, and hold it in the layout of the access.

    One instruction loads each group of `vectors`, whose elements share one mask value. Where the mask is false, no
    thread accesses memory, and the element is that of `other`, or 0. Without a mask, `other` has no effect.
    """
    pointers, type = operation.operands[0], operation.result.type
    mask, other = operand_of(operation, "mask"), operand_of(operation, "other")
    layout = threads.choice.of_access(operation)
    space, policy = cached(threads, operation)
    # Task 13.7: Load the elements, and keep them in registers.
    raise NotImplementedError("Task 13.7: Memory")


@rule(ANCHORED, "tt.store")
def store(threads: Threads, operation: Operation) -> None:
    """Store a tensor or a number, in the layout of the access, where the mask is true.

    Of several threads that hold an element, only the first stores it.
    """
    pointers, value = operation.operands[:2]
    space, policy = cached(threads, operation)
    # Task 13.7: Store the elements.
    raise NotImplementedError("Task 13.7: Memory")


# --- atomic operations


@rule(ANCHORED, "tt.atomic_rmw")
def update(threads: Threads, operation: Operation) -> None:
    """Read, combine and write in one step."""
    name, type = str(operation.attributes["atomic_rmw_op"]), operation.result.type
    width = width_of(type)
    if name == "fadd":
        if str(element_type(type)) == "bf16" and threads.capability < BF16_ATOMICS:
            raise Unsupported(operation, f"on bf16 for sm_{threads.capability}")
        opcode = f"add.{'noftz.' * (width == 16)}{element_type(type)}"
    elif width < 32:
        raise Unsupported(operation, f"on {width}-bit numbers")
    elif name not in ATOMICS or (is_float(type) and name != "exch"):
        raise Unsupported(operation, name)
    else:
        opcode = f"{ATOMICS[name]}{width}"
    atomic(threads, operation, opcode, operation.operands[1:2], operand_of(operation, "mask"))


@rule(ANCHORED, "tt.atomic_cas")
def compare_and_swap(threads: Threads, operation: Operation) -> None:
    """Write a value where memory holds an expected value."""
    width = width_of(operation.result.type)
    if width < 16:
        raise Unsupported(operation, f"on {width}-bit numbers")
    atomic(threads, operation, f"cas.b{width}", operation.operands[1:3], None)


def atomic(threads: Threads, operation: Operation, opcode: str, operands: Sequence[Value], mask: Value | None) -> None:
    """Update memory by one atomic instruction for each element, and hold the old elements in registers.

    The first of several threads that hold an element updates it; all of them hold the old element. Where the mask is
    false, memory stays, and the result is 0. Shared memory is used only if several threads hold the same element and
    something uses the result. The instruction's name is `atom.{semantics}.{scope}.global.{opcode}`, where the
    operation's attribute "sem" contains the semantics; its operands are the address, then `operands`, and its result is
    the old element.

    An operation on a number often tells other programs that this program's elements are in memory, or waits for theirs.
    So the program's earlier accesses must be done before it, and its later accesses must wait for it: "bar.sync" stands
    before the instruction and after it. If all threads get the result through shared memory, it does not matter whether
    the second barrier comes before or after this exchange.
    """
    type, pointers = operation.result.type, operation.operands[0]
    layout = threads.choice.of_value(operation.result)
    # Task 13.12: Update memory, and keep the results in registers.
    raise NotImplementedError("Task 13.12: Scans and lookups")


def scope(operation: Operation) -> str:
    """The threads that see the operation in order, as PTX names them."""
    return str(operation.attributes["scope"]).replace("system", "sys")

"""Copies from global to shared memory that need no registers, and run beside the computation: `cp.async`."""

from __future__ import annotations

from collections.abc import Callable

from mini_triton.backends.threads import words
from mini_triton.backends.threads.choice import Choice
from mini_triton.backends.threads.instructions import Address, Register, size_of, width_of
from mini_triton.backends.threads.layouts import Layout
from mini_triton.backends.threads.memory import guard_of, vectors
from mini_triton.backends.threads.threads import ANCHORED, PLACED, Threads, rule
from mini_triton.backends.threads.tiles import CHUNK, HOPPER, SWIZZLED, Tile, in_matrix, neighbors
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.ops.asynchronous import RingType
from mini_triton.ir.ops.definition import operand_of, traits
from mini_triton.ir.types import TensorType
from mini_triton.transforms.rewriting import constant_of


@rule(ANCHORED, "ttg.local_alloc")
def allocate(threads: Threads, operation: Operation) -> None:
    """Reserve shared memory for a ring of tiles."""
    ring = operation.result
    assert isinstance(ring.type, RingType)
    matrix, slots = ring.type.matrix, ring.type.slots
    (copy,) = {user.name: user for user, _ in ring.uses if "async_copy" in user.name}.values()
    shape, fast = (1, *matrix.shape)[-2:], 2 - matrix.rank + threads.choice.accesses[copy].axis
    size = slots * matrix.numel * size_of(matrix)
    start = threads.reserve(size, SWIZZLED)
    threads.kept[start] = start + size
    threads.tiles[ring] = Tile(shape, size_of(matrix), fast, start, room=threads.room(start, size, False))


@rule(ANCHORED, "ttg.local_dealloc")
def free(threads: Threads, operation: Operation) -> None:
    """Give the bytes of a ring back."""
    del threads.kept[threads.tiles[operation.operands[0]].start]


def slot_of(threads: Threads, ring: Value, slot: Value) -> Tile:
    """A tile of a ring."""
    return threads.tiles[ring].at(threads.register(slot))


@rule(ANCHORED, "ttg.async_copy_global_to_local")
def copy(threads: Threads, operation: Operation) -> None:
    """Start to copy a matrix, or a vector, from global memory to a slot of a ring. Where the mask is false, zeros land.

    One instruction copies each group of `vectors`. No two threads copy the same elements.
    """
    pointers, ring, slot = operation.operands[:3]
    layout, mask = threads.choice.of_access(operation), operand_of(operation, "mask")
    bytes, tile = threads.choice.accesses[operation].bytes, slot_of(threads, ring, slot)
    assert tile.room
    room = tile.room._replace(writes=True)
    opcode = f"cp.async.{'cg' if bytes == 16 else 'ca'}.shared.global"
    # [task 14.4] Emit the instructions.
    for numbers in vectors(threads, operation, layout):
        guard = guard_of(threads, mask, layout, numbers[0])
        target = tile.address(threads, layout.threads, layout.index(numbers[0]))
        source = Address(threads.register(pointers, layout, numbers[0]))
        count = threads.op("selp.b32", bytes, 0, guard) if guard else bytes
        threads.do(opcode, target, source, bytes, count, guard=threads.speaker(layout), room=room)
    # [end]


@rule(ANCHORED, "ttg.async_commit_group")
def commit(threads: Threads, operation: Operation) -> None:
    """End a group of copies."""
    threads.do("cp.async.commit_group")


@rule(ANCHORED, "ttg.async_wait")
def wait(threads: Threads, operation: Operation) -> None:
    """Wait for copies: each thread for its own, then all threads for each other."""
    threads.do("cp.async.wait_group", int(operation.attributes["num"]))  # type: ignore[arg-type]
    if threads.capability == HOPPER:
        threads.do("fence.proxy.async.shared::cta")
    threads.do("bar.sync", 0)


@rule(ANCHORED, "ttng.warp_group_dot_wait")
def wait_for_products(threads: Threads, operation: Operation) -> None:
    """Wait for products by warp groups."""
    threads.do("wgmma.wait_group.sync.aligned", int(operation.attributes["pendings"]))  # type: ignore[arg-type]


@rule(ANCHORED, "ttg.local_load")
def load(threads: Threads, operation: Operation) -> None:
    """A tile, which products and elementwise operations read where it is."""
    threads.tiles[operation.result] = slot_of(threads, *operation.operands)


@rule(PLACED, "ttg.local_load")
def load_element(threads: Threads, operation: Operation, result: int, layout: Layout, number: int) -> Register:
    """An element of a tile, with its neighbors in the same 16 bytes."""
    tile = threads.tiles[operation.result]
    count = neighbors(layout.map(in_matrix), tile)
    first = number - number % count
    address = tile.address(threads, layout.threads, layout.index(first))
    found = words.load(threads, "shared", operation.result.type, address, count, room=tile.room)
    threads.registers[operation.result, layout].update(enumerate(found, first))
    return found[number - first]


def copied_loads(choice: Choice) -> Callable[[Operation], bool]:
    """A function that selects the loads that `cp.async` replaces, of at least four bytes at a time.

    They load factors that tensor cores multiply, and the vectors that a loop loads beside these.
    """

    def is_factor(value: Value) -> bool:
        """Whether all users of a value multiply by tensor cores, or compute factors from it."""
        return bool(value.uses) and all(
            bool(choice.arrangement(user)) and number < 2
            if user.name == "tt.dot"
            else (user.name == "tt.trans" or traits(user).elementwise) and all(map(is_factor, user.results))
            for user, number in value.uses
        )

    def is_beside_factor(load: Operation) -> bool:
        """Whether a load is of a vector, in a block that also loads a factor."""
        assert load.parent
        vector, loads = load.result.type, [other for other in load.parent.operations if other.name == "tt.load"]
        is_vector = isinstance(vector, TensorType) and vector.rank == 1 and vector.numel * size_of(vector) >= CHUNK
        return is_vector and any(is_factor(other.result) for other in loads)

    def may_copy(load: Operation) -> bool:
        access, other = choice.accesses.get(load), operand_of(load, "other")
        plain = other is None or constant_of(other) == 0
        return bool(access and plain and access.bytes >= 4 and (is_factor(load.result) or is_beside_factor(load)))

    return may_copy


def late_products(choice: Choice) -> Callable[[Operation], bool]:
    """A function that selects the products that groups of warps compute in the registers of the sums.

    Their first factor is not stored in each iteration: the next iteration would overwrite it too early.
    """
    may_copy = copied_loads(choice)

    def may_wait(product: Operation) -> bool:
        arranged, left = choice.arrangement(product), product.operands[0]
        made = left.owner if isinstance(left, OpResult) and left.parent_block is product.parent else None
        if made and made.name == "tt.load" and not may_copy(made):
            return False
        return arranged is not None and arranged.groups and width_of(product.result.type) == 32

    return may_wait

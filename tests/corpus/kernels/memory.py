"""Atomics of all kinds, pointers of all kinds."""

import triton
import triton.language as tl


@triton.jit
def atomic_integers(out, wide, unsigned, old, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    values = tl.load(x + at, mask=inside, other=0)
    slot = at % 8
    tl.atomic_add(out + slot, values, mask=inside)
    tl.atomic_max(out + 8 + slot, values, mask=inside, sem="relaxed")
    tl.atomic_min(out + 16 + slot, values, mask=inside, sem="acquire", scope="sys")
    tl.atomic_and(out + 24 + slot, values | 15, mask=inside, sem="release")
    tl.atomic_or(out + 32 + slot, values & 255, mask=inside)
    tl.atomic_xor(out + 40 + slot, values, mask=inside, scope="gpu")
    tl.atomic_add(wide + slot, values.to(tl.int64) * 65537, mask=inside)
    tl.atomic_max(wide + 8, tl.max(values.to(tl.int64)))
    tl.atomic_max(unsigned + slot, values.to(tl.uint32, bitcast=True), mask=inside)
    tl.atomic_min(unsigned + 8 + slot, values.to(tl.uint32, bitcast=True), mask=inside)
    before = tl.atomic_xchg(old + at, values, mask=inside)
    tl.store(old + n + at, before, mask=inside)


@triton.jit
def atomic_floats(out, halves, doubles, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    values = tl.load(x + at, mask=inside, other=0.0)
    tl.atomic_add(out, tl.sum(values))
    tl.atomic_add(out + 1 + at % 4, values, mask=inside)
    tl.atomic_max(out + 5 + at % 4, values, mask=inside)
    tl.atomic_min(out + 9, tl.min(values))
    tl.atomic_add(halves + at % 4, values, mask=inside)
    tl.atomic_add(doubles + at % 4, values, mask=inside)


@triton.jit
def compare_and_swap(out, winners, n, BLOCK: tl.constexpr):
    """Each slot keeps its first value. A loop increments a counter, until no other program changes it in between."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    free = tl.full([BLOCK], -1, tl.int32)
    tl.atomic_cas(winners + at, free, at, sem="acq_rel", scope="gpu")
    seen = tl.load(out)
    expected = seen - 1
    while seen != expected:
        expected = seen
        seen = tl.atomic_cas(out, expected, expected + 3)
    tl.debug_barrier()


@triton.jit
def last_block_sums(total, partial, counter, x, n, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    """The last program that arrives adds up the sums of all programs."""
    program = tl.program_id(0)
    at = program * BLOCK + tl.arange(0, BLOCK)
    tl.store(partial + program, tl.sum(tl.load(x + at, mask=at < n, other=0.0)))
    tl.debug_barrier()
    arrived = tl.atomic_add(counter, 1)
    if arrived == PROGRAMS - 1:
        tl.store(total, tl.sum(tl.load(partial + tl.arange(0, PROGRAMS))))


@triton.jit
def gather_rows(out, table, ids, n, width, PADDING: tl.constexpr, BLOCK: tl.constexpr):
    """Rows of a table, by number. A row is 0 if its number is PADDING."""
    row = tl.program_id(0)
    number = tl.load(ids + row, mask=row < n, other=PADDING)
    at = tl.arange(0, BLOCK)
    keep = (at < width) & (number != PADDING)
    values = tl.load(table + number.to(tl.int64) * width + at, mask=keep, other=0.0)
    tl.store(out + row * width + at, values, mask=(at < width) & (row < n))


@triton.jit
def cache_hints(out, x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    streamed = tl.load(x + at, mask=inside, cache_modifier=".cg")
    kept = tl.load(y + at, mask=inside, eviction_policy="evict_last")
    half = tl.load(y + at, mask=at < n // 2, other=0.0, eviction_policy="evict_first")
    fresh = tl.load(y + at, mask=inside, volatile=True)
    tl.store(out + at, streamed + kept * fresh - half, mask=inside, cache_modifier=".wt")


@triton.jit
def pointer_kinds(out, x, flags, addresses, backwards: tl.constexpr, BLOCK: tl.constexpr):
    """Pointers: cast to numbers, cast to other pointers, with negative offsets, selected, and not in a tensor."""
    at = tl.arange(0, BLOCK)
    from_behind = x + BLOCK - 1
    values = tl.load(from_behind - at) if backwards else tl.load(x + at)
    bits = tl.load((x + at).to(tl.pointer_type(tl.int32), bitcast=True))
    flag = tl.load(flags)
    chosen = x if flag > 0 else out
    values += tl.load(chosen + at)
    distance = (from_behind.to(tl.int64) - x.to(tl.int64)) // 4
    table = tl.load(addresses + at % 2).to(tl.pointer_type(tl.float32))
    values += tl.load(tl.where(at % 2 == 0, table, x + at))
    tl.store(out + at, values + distance + (bits & 1))
    tl.store(flags + 1, distance)


@triton.jit
def pointer_walk(out, x, steps, BLOCK: tl.constexpr):
    """Pointers that loops and branches carry."""
    source = x + tl.arange(0, BLOCK)
    target = out
    total = tl.zeros([BLOCK], tl.float32)
    for step in range(steps):
        total += tl.load(source)
        if step % 2 == 0:
            source += BLOCK
            target += 1
        else:
            source += 2 * BLOCK
        tl.store(target, tl.sum(total))

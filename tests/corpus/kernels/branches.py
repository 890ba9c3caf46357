"""Branches of every shape."""

import triton
import triton.language as tl


@triton.jit
def branch_results(out, x, mode, n, BLOCK: tl.constexpr):
    """if, elif and else, with values from each; names of one branch only; nested branches."""
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0.0)
    count = 0
    if mode == 0:
        result = values + 1.0
    elif mode == 1:
        result = values * 2.0
        count += 1
    elif mode < 10:
        inner = tl.sum(values)
        if inner > 0:
            result = values / inner
            count = 7
        else:
            result = values - inner
    else:
        result = -values
        count = -1
    if n > 4:
        tl.store(out + BLOCK, count)
    if mode == 3:
        pass
    else:
        result += count
    tl.store(out + at, result, mask=at < n)


@triton.jit
def conditions(out, a, b, p, LIMIT: tl.constexpr):
    """Conditions: and, or, not, numbers, loaded values, and constants with run-time values."""
    x = tl.load(p)
    total = 0
    if a > 0 and b > 0:
        total += 1
    if a > 100 or b > 100 or x > 100:
        total += 2
    if not (a == b):
        total += 4
    if a:
        total += 8
    if LIMIT > 3 and a > LIMIT:
        total += 16
    if LIMIT < 3 or x == 7:
        total += 32
    if (a > b) != (x > b):
        total += 64
    if not LIMIT:
        total += 128
    if 3 < x:
        total += 256
    total += 512 if a < b else 0
    total += (1024 if b > 0 else 2048) if a > 0 else 4096
    tl.store(out, total)


@triton.jit
def constant_branches(out, x, bias, KIND: tl.constexpr, BIAS: tl.constexpr, DEPTH: tl.constexpr, BLOCK: tl.constexpr):
    """Branches that the compiler takes. The other branches may contain any code."""
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at)
    if KIND == "double":
        values *= 2
    elif KIND == "square":
        values *= values
    else:
        values = no_such_function(values)  # type: ignore[name-defined]  # noqa: F821
    if BIAS is not None:
        values += tl.load(bias + at)
    if DEPTH > 0:
        if DEPTH > 1:
            values += DEPTH
        else:
            values = not_here  # type: ignore[name-defined]  # noqa: F821
    half: tl.constexpr = BLOCK // 2
    scale: tl.constexpr = 0.5 if KIND == "square" and half >= 8 else 4
    name: tl.constexpr = f"{KIND}_{half}"
    if name == "square_32":
        values -= 1
    tl.store(out + at, values * scale + (at >= half).to(tl.float32))


@triton.jit
def ternaries(out, x, n, FLIP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    sign = -1 if FLIP else 1
    values = tl.load(x + at, mask=at < n) if n < BLOCK else tl.load(x + at)
    middle = n // 2 if n > 10 else n
    base = x if middle > 3 else x + 1
    offset = tl.load(base) if FLIP else 0.0
    tl.store(out + at, values * sign + offset + middle)


@triton.jit
def early_exits(out, x, n, mode, BLOCK: tl.constexpr):
    """Returns at several depths of a kernel."""
    program = tl.program_id(0)
    if program * BLOCK >= n:
        return
    at = program * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0.0)
    if mode == 1:
        tl.store(out + at, values, mask=at < n)
        return
    if mode == 2:
        values = values * 3.0
        tl.store(out + at, values, mask=at < n)
        if tl.sum(values) > 0:
            tl.store(out + n + program, program)
        return
    else:
        values += 1.0
    tl.store(out + at, values, mask=at < n)


@triton.jit
def branch_in_loop(out, x, n, BLOCK: tl.constexpr):
    """A branch in a loop that changes some of the carried values, and a loop in a branch."""
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    skipped = 0
    last = -1
    for i in range(n):
        values = tl.load(x + i * BLOCK + at)
        if tl.sum(values) > 0:
            total += values
            last = i
        else:
            skipped += 1
            if skipped > 2:
                total = total * 0.5
    if skipped > 0:
        for _ in range(skipped):
            total += 1.0
        last = skipped
    tl.store(out + at, total + last)

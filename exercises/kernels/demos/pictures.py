"""What the demo of each module shows. (Given.) Sizes are small in pictures, and larger where something is timed."""

from __future__ import annotations

import copy
import itertools
from functools import partial
from typing import Any

from kernels.demos.demo import SYMBOLS, Demo, lines, reached, writers

BLOCKS = "·░█"  # of numbers from 0 to 2


def vector_add(demo: Demo) -> None:
    """Blocks, and the tail that is masked off."""
    from kernels import vector_add as ours

    x, y = demo.normal(3000), demo.normal(3000)  # of several programs
    demo.check("add(x, y)", ours.add(x, y), torch=x + y, plain=ours.plain(x, y))

    def blocks(n: int) -> Any:
        return writers(lambda programs, out: ours.add_kernel[(programs,)](x, y, out, n, BLOCK=8), 3, demo.normal(32))

    numbers, unmasked = blocks(20), blocks(24)
    numbers[(numbers < 0) & (unmasked >= 0)] = -2
    title = "Which program writes which of 20 elements, in blocks of 8, in memory for 32?"
    demo.picture(title, ("", lines(numbers[None])))
    demo.say("~ in the last block, but masked off    · in no block")

    x, y = (demo.normal(1 << (26 if demo.on_gpu else 21)) for _ in range(2))
    size = 3 * x.numel() * x.itemsize
    demo.times(f"{x.numel():,} elements", size, "GB/s", kernel=lambda: ours.add(x, y), torch=lambda: x + y)


def softmax(demo: Demo) -> None:
    """Rows and programs; what an element reaches; the sum of powers as it grows."""
    import torch

    from kernels import softmax as ours

    x = demo.normal(300, 500)
    expected = {"torch": torch.softmax(x.double(), 1), "plain": ours.plain(x)}
    demo.check("softmax(x), a row in one block", ours.softmax(x), **expected)
    demo.check("softmax(x, block=64), online", ours.softmax(x, block=64), **expected)

    x = demo.normal(5, 40)
    owners = writers(
        lambda programs, out: ours.online_softmax_kernel[(programs,)](out, x, 40, 40, 40, BLOCK=16), 5, x.clone()
    )
    nan = reached(lambda: ours.softmax(x, block=16), x, (2, 11)).long() * 2
    demo.picture(
        "Rows and programs: 5 rows of 40 elements",
        ("who writes what", lines(owners)),
        ("what depends on x[2, 11]", lines(nan, BLOCKS.__getitem__)),
    )
    demo.title("Online: a row, had it ended after the first, the second or the third block of 16")
    x[0] = x[0].sort().values
    for columns in (16, 32, 40):
        out = x.clone()
        ours.online_softmax_kernel[(1,)](out, x, 40, 40, columns, BLOCK=16)
        highest, total = float(x[0, :columns].max()), 1 / float(out[0, :columns].max())
        demo.say(f"{columns} elements: highest {highest:6.3f}, sum of powers {total:6.3f}")

    x = demo.normal(*(8192, 8192) if demo.on_gpu else (1000, 1000))
    demo.times(
        f"{x.shape[0]} rows of {x.shape[1]}",
        2 * x.numel() * x.itemsize,
        "GB/s",
        kernel=lambda: ours.softmax(x),
        online=lambda: ours.softmax(x, block=256),
        torch=lambda: torch.softmax(x, 1),
        plain=lambda: ours.plain(x),
    )


def matmul(demo: Demo) -> None:
    """The order of programs, and what the first of them load."""
    from kernels import matmul as ours

    a, b = demo.normal(100, 70), demo.normal(70, 90)
    exact = a.double() @ b.double()
    demo.check("matmul(a, b)", ours.matmul(a, b), torch=exact, plain=ours.plain(a, b))
    demo.check('matmul(a, b, "relu")', ours.matmul(a, b, "relu"), torch=exact.relu(), plain=ours.plain(a, b, "relu"))

    a, b, programs = demo.normal(70, 16), demo.normal(16, 64), 5 * 4  # the last row of tiles is cut off

    def launch(programs: int, out: Any, group: int) -> Any:
        ours.matmul_kernel[(programs,)](
            a, b, out, 70, 64, 16, 16, 1, 64, 1, 64, 1,
            BLOCK_M=16, BLOCK_N=16, BLOCK_K=16, GROUP=group, ACTIVATION="", TOTAL=ours.tl.float32,
        )  # fmt: skip
        return out

    def strips(group: int, x: Any, axis: int) -> int:
        """How many strips of 16 along an axis of x the first four programs load."""
        corners = [(i, 0) if axis == 0 else (0, i) for i in range(0, x.shape[axis], 16)]
        return sum(bool(reached(lambda: launch(4, (a @ b).fill_(0), group), x, corner).any()) for corner in corners)

    panels = []
    for group in (1, 2, 3):
        owners = writers(partial(launch, group=group), programs, a @ b)
        panels.append((f"GROUP={group}", lines(owners[::16, ::16], lambda n: f"{n if n >= 0 else SYMBOLS[n]:>3}")))
    demo.picture("Which program has which tile of c?", *panels)
    demo.say("· no program's")
    for group in (1, 2, 3):
        loaded = f"strips of a: {strips(group, a, 0)}, of b: {strips(group, b, 1)}"
        demo.say(f"GROUP={group}: the first 4 programs load {loaded}")

    size = 4096 if demo.on_gpu else 512
    a, b = demo.normal(size, size), demo.normal(size, size)
    if demo.on_gpu:
        a, b = a.half(), b.half()
    demo.times(
        f"{size} by {size}, {a.dtype}", 2 * size**3, "GFLOP/s", kernel=lambda: ours.matmul(a, b), torch=lambda: a @ b
    )


def dropout(demo: Demo) -> None:
    """The elements that two seeds keep."""
    import torch

    from kernels import dropout as ours

    x = demo.normal(1000)
    kept = (ours.dropout(torch.ones_like(x), 0.3, 7) > 0).float()
    expected = ours.plain(x, 0.3, kept)
    demo.check("dropout(x, 0.3, seed=7)", ours.dropout(x, 0.3, 7), plain=expected)
    demo.check("dropout(x, 0.3, seed=7, block=64)", ours.dropout(x, 0.3, 7, block=64), plain=expected)
    ones = torch.ones(100, device=demo.device)

    def kept_of(seed: int, block: int) -> Any:
        return lines((ours.dropout(ones, 0.3, seed, block) > 0).long().view(5, 20) * 2, BLOCKS.__getitem__)

    panels = [
        (f"seed {seed}, blocks of {block}", kept_of(seed, block)) for seed, block in ((7, 1024), (7, 16), (8, 16))
    ]
    demo.picture("Which of 100 elements are kept?", *panels)


def layer_norm(demo: Demo) -> None:
    """Which program of the backward pass adds up which rows."""
    import torch

    from kernels import layer_norm as ours

    x, weight, bias = demo.normal(300, 200), demo.normal(200), demo.normal(200)
    right = torch.nn.functional.layer_norm(x, (200,), weight, bias)
    out = ours.layer_norm(x, weight, bias)[0]
    demo.check("layer_norm(x, weight, bias)", out, torch=right, plain=ours.plain(x, weight, bias))

    shape = (8192, 8192) if demo.on_gpu else (1000, 1000)
    large, w, b = demo.normal(*shape), demo.normal(shape[1]), demo.normal(shape[1])
    demo.times(
        f"forward, {shape[0]} rows of {shape[1]}",
        2 * large.numel() * large.itemsize,
        "GB/s",
        kernel=lambda: ours.layer_norm(large, w, b),
        torch=lambda: torch.nn.functional.layer_norm(large, shape[1:], w, b),
        plain=lambda: ours.plain(large, w, b),
    )

    rows, programs = 20, 6
    x, dy, w = demo.normal(rows, 16), demo.normal(rows, 16), demo.normal(16)
    _, mean, rstd = ours.layer_norm(x, w, w)

    def parts() -> Any:
        dx, dweight, dbias = x.clone(), demo.normal(programs, 16), demo.normal(programs, 16)
        arguments = (dx, dweight, dbias, dy, x, w, mean, rstd, rows, 16)
        ours.backward_kernel[(programs,)](*arguments, BLOCK=16)
        return dweight[:, 0]

    shared = torch.stack([reached(parts, dy, (row, 0)) for row in range(rows)], 1).long() * 2
    title = f"dweight: which of {rows} rows (across) are in the sum of which of {programs} programs (down)?"
    demo.picture(title, ("", lines(shared, BLOCKS.__getitem__)))


def flash_attention(demo: Demo) -> None:
    """Which blocks of scores are computed, and which scores count."""
    import torch

    from kernels import flash_attention as ours

    torchs = torch.nn.functional.scaled_dot_product_attention
    q, k, v = (demo.normal(1, 2, 100, 32) for _ in range(3))
    for causal in (False, True):
        exact = torchs(q.double(), k.double(), v.double(), is_causal=causal)
        expected = {"torch": exact, "plain": ours.plain(q, k, v, causal)}
        demo.check(f"attention(q, k, v, causal={causal})", ours.attention(q, k, v, causal)[0], **expected)

    length, step, tiles = 64, 4, {"BLOCK_M": 32, "BLOCK_N": 16}
    q, k, v = (demo.normal(1, 1, length, 16) for _ in range(3))
    panels = []
    for causal in (False, True):

        def result(causal: bool = causal) -> Any:
            return ours.attention(q, k, v, causal, tiles=tiles)[0][0, 0, ::step, 0]

        # A score that is masked off has the weight 0: a NaN in its key is gone, but 0 times a NaN in its value is not.
        places = [(0, 0, key, 0) for key in range(0, length, step)]
        seen, visited = (torch.stack([reached(result, x, place) for place in places], 1).long() for x in (k, v))
        panels.append((f"causal={causal}", lines(seen + visited, BLOCKS.__getitem__)))
    out = writers(
        lambda count, out: ours.forward_kernel[(count, 1)](
            q, k, v, out, q.new_empty(length), 0.25, length, CAUSAL=True, D=16, **tiles
        ),
        length // tiles["BLOCK_M"],
        q.clone(),
    )
    title = f"Queries (down) and keys (across), every {step}th of {length}, in blocks of 32 by 16"
    demo.picture(title, ("by", lines(out[0, 0, ::step, :1])), *panels)
    demo.say("by: the program    █ the score counts    ░ computed, and masked off    · never computed")

    shape = (4, 32, 4096, 64) if demo.on_gpu else (1, 4, 512, 64)
    q, k, v = (demo.normal(*shape) for _ in range(3))
    if demo.on_gpu:
        q, k, v = q.half(), k.half(), v.half()
    work = 4 * shape[0] * shape[1] * shape[2] ** 2 * shape[3]
    demo.times(
        f"forward, {shape}, {q.dtype}",
        work,
        "GFLOP/s",
        kernel=lambda: ours.attention(q, k, v),
        causal=lambda: ours.attention(q, k, v, True),
        torch=lambda: torchs(q, k, v),
    )


def conv2d(demo: Demo) -> None:
    """Which program has which output pixels, and how often it loads each input pixel."""
    import torch

    from kernels import conv2d as ours

    torchs = torch.nn.functional.conv2d
    x, w = demo.normal(2, 3, 17, 13), demo.normal(5, 3, 3, 2)
    sizes: Any = {"stride": 2, "padding": 1, "dilation": 2}
    expected = {"torch": torchs(x.double(), w.double(), **sizes), "plain": ours.plain(x, w, **sizes)}
    demo.check("conv2d(x, w, direct=True)", ours.conv2d(x, w, **sizes, direct=True), **expected)
    demo.check("conv2d(x, w)", ours.conv2d(x, w, **sizes), **expected)

    x, w, size, chosen, pixels = demo.normal(1, 1, 10, 10), demo.normal(1, 1, 3, 3), 10, 3, 16

    def launch(programs: int, out: Any, dilation: int) -> Any:
        geometry = (1, 1, size, size, 1, size, size, 1, dilation, dilation, 1)  # the padding that keeps the size
        tiles = {"BLOCK_M": pixels, "BLOCK_N": 16, "BLOCK_K": 16}
        ours.implicit_gemm_kernel[(programs, 1, 1)](out, x, w, *geometry, R=3, S=3, **tiles)
        return out

    programs = -(-size * size // pixels)
    owners = writers(partial(launch, dilation=1), programs, x.clone())[0, 0]

    def needed(dilation: int) -> Any:
        """For how many output pixels of the chosen program each input pixel is needed."""
        counts = torch.zeros(size, size, dtype=torch.int64)
        for h, v in itertools.product(range(size), repeat=2):
            results = reached(lambda: launch(programs, x.clone(), dilation), x, (0, 0, h, v))[0, 0]
            counts[h, v] = results[owners == chosen].sum()
        return counts

    counts = {dilation: needed(dilation) for dilation in (1, 2)}
    panels = [(f"dilation {dilation}", lines(n, lambda n: str(n) if n else "·")) for dilation, n in counts.items()]
    title = (
        f"Output pixels, {pixels} a program, and for how many of program {chosen} each input pixel is needed (3 by 3)"
    )
    demo.picture(title, ("who writes what", lines(owners)), *panels)
    for dilation, n in counts.items():
        demo.say(f"dilation {dilation}: {int(n.sum())} elements of patches, {int((n > 0).sum())} pixels")

    shape = (32, 128, 56, 56) if demo.on_gpu else (2, 16, 32, 32)
    x, w = demo.normal(*shape), demo.normal(2 * shape[1], shape[1], 3, 3)
    if demo.on_gpu:
        x, w = x.half(), w.half()
    work = 2 * x.numel() * w.shape[0] * 9
    demo.times(
        f"{shape}, {w.shape[0]} filters of 3 by 3, {x.dtype}",
        work,
        "GFLOP/s",
        implicit=lambda: ours.conv2d(x, w, padding=1),
        direct=lambda: ours.conv2d(x, w, padding=1, direct=True),
        torch=lambda: torchs(x, w, padding=1),
    )


def modules(demo: Demo) -> None:
    """A layer of GPT-2 computes what torch's own functions do."""
    import torch

    from kernels import modules as ours

    torch.manual_seed(0)
    block = ours.TransformerBlock(32, heads=2, p=0.0).to(demo.device)
    x, exact = demo.normal(4, 16, 32), copy.deepcopy(block).double()
    demo.check("TransformerBlock(x)", block(x), torch=by_torch(exact, x.double()))


def by_torch(block: Any, x: Any) -> Any:
    """What a `TransformerBlock` without dropout computes, by torch's own functions, with its weights."""
    import torch.nn.functional as functions

    norm, attention, _ = block.attention
    y = functions.layer_norm(x, norm.weight.shape, norm.weight, norm.bias, norm.eps)
    q, k, v = (part.unflatten(2, (attention.heads, -1)).transpose(1, 2) for part in attention.qkv(y).chunk(3, 2))
    y = functions.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + attention.out(y.transpose(1, 2).flatten(2))
    norm, up, gelu, down, _ = block.network
    return x + down(gelu(up(functions.layer_norm(x, norm.weight.shape, norm.weight, norm.bias, norm.eps))))

"""Demos: `python -m kernels.softmax` compares a kernel with PyTorch, and shows which elements programs access. (Given.)

Pictures show measurements. To find which program writes an element, a demo launches the kernel with 1, 2, 3, ...
programs on memory filled with NaN. To find which results depend on an element, a demo sets the element to NaN: these
results become NaN. `bench/` measures times.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

try:
    import torch
    from torch.nn import functional
except ModuleNotFoundError as error:
    raise SystemExit("the demos need PyTorch, which is not installed: run `pip install torch`") from error

from kernels.compiler import tl, triton

SYMBOLS = {-2: "~", -1: "·"} | dict(enumerate("0123456789abcdefghijklmnopqrstuvwxyz"))
BLOCKS = "·░█"  # for numbers from 0 to 2
NEAR = 1e-5  # largest error of an fp32 result, relative to the largest element
OF_KERNELS = {"AccessError", "CompilationError"}  # errors that need no traceback; real Triton uses the same names


def run(name: str) -> None:
    """Run the demo of a module, or explain that its task is unwritten or its kernel has an error."""
    demo = Demo()
    try:
        DEMOS[name](demo)
    except Exception as error:
        if task := unwritten(error):
            print(f"{task}: not written yet.")
        elif OF_KERNELS & {kind.__name__ for kind in type(error).__mro__}:
            print(f"{type(error).__name__}: {error}")
        else:
            raise
        raise SystemExit(1) from None
    if not demo.right:
        raise SystemExit(1)


def unwritten(error: BaseException | None) -> str:
    """The task whose stub caused an error, such as `Task 8.2: Softmax`; "" if no stub caused the error."""
    while error:
        if found := re.search(r"Task \d+\.\d+: [^\"'\n]+", str(error)):
            return found.group()
        error = error.__cause__ or error.__context__
    return ""


class Demo:
    """Helpers that the demos share: arrays, and printing."""

    def __init__(self) -> None:
        real = triton.__name__ == "triton"
        self.device = "cuda" if real and torch.cuda.is_available() else "cpu"
        self.random = torch.Generator().manual_seed(0)
        self.right = True
        if real and self.device == "cpu" and not triton.knobs.runtime.interpret:
            raise SystemExit("Real Triton needs a GPU here, or TRITON_INTERPRET=1.")
        print(f"compiler: {'real Triton' if real else 'mini_triton'}, on {self.device}")

    def normal(self, *shape: int) -> Any:
        """Random numbers, the same in every run."""
        return torch.randn(shape, generator=self.random).to(self.device)

    def check(self, what: str, got: Any, expected: Any) -> None:
        """Print how far a result is from PyTorch's."""
        off = float((got.double() - expected.double()).abs().max() / expected.double().abs().max())
        print(f"{what}: {'✓ agrees' if off <= NEAR else '✗ disagrees'} with PyTorch (off by {off:.0e})")
        self.right &= off <= NEAR


def picture(title: str, *panels: tuple[str, list[str]]) -> None:
    """Print panels side by side, each with a caption. All panels have the same number of lines."""
    print(f"\n{title}")
    columns = [[caption, *lines] for caption, lines in panels]
    widths = [max(map(len, column)) for column in columns]
    for parts in zip(*columns, strict=True):
        if any(parts):
            print(f"  {'    '.join(map(str.ljust, parts, widths))}".rstrip())


def lines(numbers: Any, symbol: Callable[[int], str] = SYMBOLS.__getitem__) -> list[str]:
    """A matrix of small numbers, such as program numbers, with one symbol for each."""
    return ["".join(map(symbol, row)) for row in numbers.tolist()]


def writers(launch: Callable[[int, Any], Any], programs: int, out: Any) -> Any:
    """For each element of `out`, the number of the program that writes it; -1 if no program does.

    `launch(n, out)` launches the first n programs.
    """
    numbers = out.new_full(out.shape, -1).long()
    for program in range(programs):
        out.fill_(float("nan"))
        launch(program + 1, out)
        numbers[(numbers < 0) & ~out.isnan()] = program
    return numbers


def reached(function: Callable[[], Any], x: Any, place: Sequence[int]) -> Any:
    """For each element of a function's result, whether it depends on the element of `x` at `place`."""
    before = x[tuple(place)].clone()
    x[tuple(place)] = float("nan")
    result = function().isnan()
    x[tuple(place)] = before
    return result


def vector_add(demo: Demo) -> None:
    """Tiles, and the tail that is masked off."""
    from kernels import vector_add as ours

    x, y = demo.normal(3000), demo.normal(3000)  # enough for several programs
    demo.check("add(x, y)", ours.add(x, y), x + y)

    def blocks(n: int) -> Any:
        return writers(lambda programs, out: ours.add_kernel[(programs,)](x, y, out, n, BLOCK=8), 3, demo.normal(32))

    numbers, unmasked = blocks(20), blocks(24)
    numbers[(numbers < 0) & (unmasked >= 0)] = -2
    title = "Which program writes each of 20 elements? Tiles of 8, memory for 32"
    picture(title, ("", lines(numbers[None])))
    print("  ~ masked off, in the last tile    · in no tile")


def softmax(demo: Demo) -> None:
    """The sum of exponentials as it grows."""
    from kernels import softmax as ours

    x = demo.normal(300, 500)
    expected = torch.softmax(x.double(), 1)
    demo.check("softmax(x), a row in one tile", ours.softmax(x), expected)
    demo.check("softmax(x, block=64), online", ours.softmax(x, block=64), expected)

    print("\nOnline softmax of a row that ends after its first, second or third tile of 16")
    x = demo.normal(1, 40).sort().values
    for columns in (16, 32, 40):
        out = x.clone()
        ours.online_softmax_kernel[(1,)](out, x, 40, 40, columns, BLOCK=16)
        highest, total = float(x[0, :columns].max()), 1 / float(out[0, :columns].max())
        expected = float((x[0, :columns] - highest).exp().sum())
        numbers = f"highest {highest:6.3f}, sum of exponentials {total:6.3f}, expected {expected:6.3f}"
        print(f"  {columns} elements: {numbers}")


def matmul(demo: Demo) -> None:
    """The order of programs, and what the first of them load."""
    from kernels import matmul as ours

    a, b = demo.normal(100, 70), demo.normal(70, 90)
    exact = a.double() @ b.double()
    demo.check("matmul(a, b)", ours.matmul(a, b), exact)
    demo.check('matmul(a, b, "relu")', ours.matmul(a, b, "relu"), exact.relu())

    a, b, programs = demo.normal(70, 16), demo.normal(16, 64), 5 * 4  # the last row of tiles is cut off

    def launch(programs: int, out: Any, group: int) -> Any:
        ours.matmul_kernel[(programs,)](
            a, b, out, 70, 64, 16, 16, 1, 64, 1, 64, 1,
            BLOCK_M=16, BLOCK_N=16, BLOCK_K=16, GROUP=group, ACTIVATION="", TOTAL=tl.float32,
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
    picture("Which program computes each tile of c?", *panels)
    print("  · no program")
    for group in (1, 2, 3):
        loaded = f"strips of a: {strips(group, a, 0)}, of b: {strips(group, b, 1)}"
        print(f"  GROUP={group}: the first 4 programs load {loaded}")


def dropout(demo: Demo) -> None:
    """Which elements a seed drops."""
    from kernels import dropout as ours

    x = demo.normal(100_000)
    out = ours.dropout(x, 0.25, seed=1)
    kept = out != 0
    demo.check("dropout(x, 0.25, seed=1), the elements that are not 0", out[kept], x[kept] / 0.75)
    same = bool((ours.dropout(x[:4096], 0.25, seed=1, block=64) == out[:4096]).all())
    drops = f"block=64 drops {'the same' if same else 'OTHER'} elements"
    print(f"  {float((~kept).double().mean()):.1%} of them are 0; {drops}")
    demo.right &= same

    x = demo.normal(40).abs() + 1
    chances = (0.25, 0.5, 0.75)
    kept = {p: torch.stack([ours.dropout(x, p, seed) for seed in (1, 2, 3)]) != 0 for p in chances}
    panels = [(f"p={p}", lines(kept[p].long() * 2, BLOCKS.__getitem__)) for p in chances]
    picture("Which of 40 elements remain, for seeds 1, 2 and 3 (down)?", ("seed", ["1", "2", "3"]), *panels)
    nested = all(bool((kept[low] | ~kept[high]).all()) for low, high in itertools.pairwise(chances))
    print(f"  █ remains    · dropped    What a low p drops, a high p {'also' if nested else 'does NOT always'} drops")


def layer_norm(demo: Demo) -> None:
    """Which program of the backward pass adds up which rows."""
    from kernels import layer_norm as ours

    x, weight, bias = demo.normal(300, 200), demo.normal(200), demo.normal(200)
    expected = functional.layer_norm(x, (200,), weight, bias)
    demo.check("layer_norm(x, weight, bias)", ours.layer_norm(x, weight, bias)[0], expected)

    rows, programs = 20, 6
    x, dy, w = demo.normal(rows, 16), demo.normal(rows, 16), demo.normal(16)
    _, mean, rstd = ours.layer_norm(x, w, w)

    def parts() -> Any:
        dx, dweight, dbias = x.clone(), demo.normal(programs, 16), demo.normal(programs, 16)
        arguments = (dx, dweight, dbias, dy, x, w, mean, rstd, rows, 16)
        ours.backward_kernel[(programs,)](*arguments, BLOCK=16)
        return dweight[:, 0]

    shared = torch.stack([reached(parts, dy, (row, 0)) for row in range(rows)], 1).long() * 2
    title = f"dweight: which of {rows} rows (across) does each of {programs} programs (down) sum?"
    picture(title, ("", lines(shared, BLOCKS.__getitem__)))


def flash_attention(demo: Demo) -> None:
    """Which tiles of scores are computed, and which scores count."""
    from kernels import flash_attention as ours

    q, k, v = (demo.normal(1, 2, 100, 32) for _ in range(3))
    for causal in (False, True):
        exact = functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=causal)
        demo.check(f"attention(q, k, v, causal={causal})", ours.attention(q, k, v, causal)[0], exact)

    length, step, tiles = 64, 4, {"BLOCK_M": 32, "BLOCK_N": 16}
    q, k, v = (demo.normal(1, 1, length, 16) for _ in range(3))
    panels = []
    for causal in (False, True):

        def result(causal: bool = causal) -> Any:
            return ours.attention(q, k, v, causal, tiles=tiles)[0][0, 0, ::step, 0]

        # A score that is masked off has the weight 0: a NaN in its key has no effect, but 0 times a NaN in its value is
        # NaN.
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
    title = f"Queries (down) and keys (across), every {step}th of {length}, in tiles of 32 by 16"
    picture(title, ("program", lines(out[0, 0, ::step, :1])), *panels)
    print("  █ the score counts    ░ computed, but masked off    · never computed")


def conv2d(demo: Demo) -> None:
    """Which program computes which output pixels, and how often a program loads each input pixel."""
    from kernels import conv2d as ours

    x, w = demo.normal(2, 3, 17, 13), demo.normal(5, 3, 3, 2)
    sizes: Any = {"stride": 2, "padding": 1, "dilation": 2}
    expected = functional.conv2d(x.double(), w.double(), **sizes)
    demo.check("conv2d(x, w, direct=True)", ours.conv2d(x, w, **sizes, direct=True), expected)
    demo.check("conv2d(x, w)", ours.conv2d(x, w, **sizes), expected)

    x, w, size, chosen, pixels = demo.normal(1, 1, 10, 10), demo.normal(1, 1, 3, 3), 10, 3, 16

    def launch(programs: int, out: Any, dilation: int) -> Any:
        geometry = (1, 1, size, size, 1, size, size, 1, dilation, dilation, 1)  # the padding that keeps the size
        tiles = {"BLOCK_M": pixels, "BLOCK_N": 16, "BLOCK_K": 16}
        ours.implicit_gemm_kernel[(programs, 1, 1)](out, x, w, *geometry, R=3, S=3, **tiles)
        return out

    programs = -(-size * size // pixels)
    owners = writers(partial(launch, dilation=1), programs, x.clone())[0, 0]

    def needed(dilation: int) -> Any:
        """How many output pixels of the chosen program need each input pixel."""
        counts = torch.zeros(size, size, dtype=torch.int64)
        for h, v in itertools.product(range(size), repeat=2):
            results = reached(lambda: launch(programs, x.clone(), dilation), x, (0, 0, h, v))[0, 0]
            counts[h, v] = results[owners == chosen].sum()
        return counts

    counts = {dilation: needed(dilation) for dilation in (1, 2)}
    panels = [(f"dilation {dilation}", lines(n, lambda n: str(n) if n else "·")) for dilation, n in counts.items()]
    uses = f"for each input pixel, how many pixels of program {chosen} need it (3 by 3 filter)"
    picture(f"Output pixels, {pixels} per program; {uses}", ("writer", lines(owners)), *panels)
    for dilation, n in counts.items():
        print(f"  dilation {dilation}: {int(n.sum())} elements of patches, {int((n > 0).sum())} pixels")


def modules(demo: Demo) -> None:
    """Which inputs each output depends on, and a network that learns."""
    from kernels import modules as ours

    def gradient(function: Callable[[Any], Any], x: Any) -> Any:
        leaf = x.clone().requires_grad_()
        (function(leaf) * weights).sum().backward()
        return leaf.grad

    def attention(x: Any) -> Any:
        q, k, v = (part.unflatten(2, (2, 16)).transpose(1, 2) for part in causal.qkv(x).chunk(3, dim=2))
        result = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return causal.out(result.transpose(1, 2).flatten(2))

    torch.manual_seed(0)
    x, weights = demo.normal(2, 12, 32), demo.normal(2, 12, 32)
    norm, causal = ours.LayerNorm(32).to(demo.device), ours.SelfAttention(32, heads=2).to(demo.device)
    for name, mine, theirs in (
        ("LayerNorm(32)", norm, lambda x: functional.layer_norm(x, (32,))),
        ("SelfAttention(32, heads=2)", causal, attention),
    ):
        demo.check(name, mine(x).detach(), theirs(x).detach())
        demo.check(f"{name}, the gradient of x", gradient(mine, x), gradient(theirs, x))

    def dependence(module: Any) -> list[str]:
        before = module(x).detach()[0]
        moved = [module(x + (positions == i)[:, None] * step).detach()[0] for i in range(12)]
        return lines(torch.stack([(out != before).any(1) for out in moved], 1).long() * 2, BLOCKS.__getitem__)

    positions, step = torch.arange(12, device=x.device), demo.normal(32)
    around = ours.SelfAttention(32, heads=2, causal=False).to(demo.device)
    shown = {"LayerNorm": norm, "SelfAttention": causal, "causal=False": around}
    panels = [(name, dependence(module)) for name, module in shown.items()]
    picture("Which of 12 outputs (down) depend on which of 12 inputs (across)?", *panels)

    block = ours.TransformerBlock(32, heads=2, p=0.0).to(demo.device)
    goal = x.cumsum(1) / (positions + 1)[:, None]
    losses = []
    for _ in range(31):
        loss = functional.mse_loss(block(x), goal)
        gradients = torch.autograd.grad(loss, list(block.parameters()))
        for parameter, change in zip(block.parameters(), gradients, strict=True):
            parameter.data -= 0.3 * change
        losses.append(loss.item())
    print("\nA TransformerBlock learns the mean of all inputs so far, by gradient descent")
    print(f"  step{''.join(f'{number:9}' for number in range(0, 31, 10))}")
    print(f"  loss{''.join(f'{loss:9.4f}' for loss in losses[::10])}")
    demo.right &= losses[-1] < losses[0] / 2


ALL = (vector_add, softmax, matmul, dropout, layer_norm, flash_attention, conv2d, modules)
DEMOS = {show.__name__: show for show in ALL}
"""The demos by name, in the order of the tasks."""

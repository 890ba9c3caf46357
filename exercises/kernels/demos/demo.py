"""Demos: `python -m kernels.softmax` checks a kernel, shows which program touches what, and times it. (Given.)

Pictures are measured, not drawn. Who writes an element? The kernel is launched with 1, 2, 3, ... programs, on memory
full of NaN. Who reads one? It is made NaN, and what becomes NaN has read it.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from kernels.compiler import triton

COLOURS = ("red", "green", "yellow", "blue", "magenta", "cyan")
SYMBOLS = {-2: "~", -1: "·"} | dict(enumerate("0123456789abcdefghijklmnopqrstuvwxyz"))
NEAR = 1e-5  # in fp32, how far off a result may be, relative to the largest element
ROUNDS, PATIENCE = 9, 1.0  # turns that are timed on the CPU, and after how many seconds there are no more
BAR = 30  # characters
OF_KERNELS = {"AccessError", "CompilationError"}  # errors that say all that is to say; real Triton's has the same name


def run(name: str) -> None:
    """The demo of a module; or a few words, if its task is not written yet, or its kernel is refused."""
    from kernels.demos import pictures

    demo = Demo()
    try:
        getattr(pictures, name)(demo)
    except Exception as error:
        if task := unwritten(error):
            words = f"{task}: not written yet."
        elif OF_KERNELS & {kind.__name__ for kind in type(error).__mro__}:
            words = f"{type(error).__name__}: {error}"
        else:
            raise
        demo.console.print(words, markup=False, soft_wrap=True)
        raise SystemExit(1) from None
    if not demo.right:
        raise SystemExit(1)


def unwritten(error: BaseException | None) -> str:
    """`Task 8.2: Softmax`, if an error came of a stub: either raised by it, or by a compiler that met its `raise`."""
    while error:
        if found := re.search(r"Task \d+\.\d+: [^\"'\n]+", str(error)):
            return found.group()
        error = error.__cause__ or error.__context__
    return ""


class Demo:
    """What the demos share: arrays, and what is printed."""

    def __init__(self) -> None:
        import torch

        real = triton.__name__ == "triton"
        self.device = "cuda" if real and torch.cuda.is_available() else "cpu"
        self.on_gpu = self.device == "cuda"
        self.random = torch.Generator().manual_seed(0)
        self.console = Console(highlight=False)
        self.right = True
        self.interpreted = real and not self.on_gpu
        if self.interpreted and not triton.knobs.runtime.interpret:
            raise SystemExit("Real Triton needs a GPU here, or TRITON_INTERPRET=1.")
        self.console.print(f"compiler: {'real Triton' if real else 'mini_triton'}, on {self.device}")

    def normal(self, *shape: int) -> Any:
        """Random numbers, the same in each run."""
        import torch

        return torch.randn(shape, generator=self.random).to(self.device)

    def check(self, what: str, got: Any, **expected: Any) -> None:
        """Say how far a result is from what torch and `plain` make of the same."""
        words = []
        for who, right in expected.items():
            got, right = got.detach(), right.detach()
            off = float((got.double() - right.double()).abs().max() / right.double().abs().max())
            words.append(f"{'[green]✓' if off <= NEAR else '[bold red]✗ not'} as {who}[/] (off by {off:.0e})")
            self.right &= off <= NEAR
        self.console.print(f"{what}: {', '.join(words)}", soft_wrap=True)

    def title(self, text: str) -> None:
        """What comes next."""
        self.console.print(f"\n[bold]{text}[/]", soft_wrap=True)

    def picture(self, title: str, *panels: tuple[str, list[Text]]) -> None:
        """Panels of equally many lines side by side, each with a caption."""
        self.title(title)
        columns = [[Text(caption), *lines] for caption, lines in panels]
        for column in columns:
            width = max(line.cell_len for line in column)
            for line in column:
                line.pad_right(width - line.cell_len)
        for parts in zip(*columns, strict=True):
            line = Text("  ") + Text("    ").join(parts)
            line.rstrip()
            if line:
                self.console.print(line, soft_wrap=True)

    def say(self, text: str) -> None:
        """A line below a picture."""
        self.console.print(f"  {text}", soft_wrap=True)

    def times(self, what: str, amount: float = 0, unit: str = "", **functions: Callable[[], Any]) -> None:
        """The median time of each function, and how much of `amount` it does in a second."""
        if self.interpreted:
            return  # seconds to minutes, which say nothing of a kernel
        taken = self._on_gpu(functions) if self.on_gpu else self._in_turns(functions)
        self.title(f"Times: {what}")
        for number, (name, seconds) in enumerate(taken.items()):
            bar = "█" * max(round(BAR * seconds / max(taken.values())), 1)
            speed = f"{amount / seconds / 1e9:9.3g} {unit}" if amount else ""
            self.console.print(f"  {name:8}{seconds * 1e3:9.3f} ms{speed}  [{COLOURS[number]}]{bar}[/]", soft_wrap=True)

    def _on_gpu(self, functions: dict[str, Callable[[], Any]]) -> dict[str, float]:
        return {
            name: triton.testing.do_bench(function, return_mode="median") / 1e3 for name, function in functions.items()
        }

    def _in_turns(self, functions: dict[str, Callable[[], Any]]) -> dict[str, float]:
        """Turns make sure that what else the machine does meanwhile is everybody's loss."""
        taken: dict[str, list[float]] = {name: [] for name in functions}
        for function in functions.values():
            function()
        begin = time.perf_counter()
        for _ in range(ROUNDS):
            for name, function in functions.items():
                start = time.perf_counter()
                function()
                taken[name].append(time.perf_counter() - start)
            if time.perf_counter() - begin > PATIENCE:
                break
        return {name: statistics.median(seconds) for name, seconds in taken.items()}


def writers(launch: Callable[[int, Any], Any], programs: int, out: Any) -> Any:
    """For each element of `out`, the number of the program that writes it; -1 if none does.

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


def lines(numbers: Any, symbol: Callable[[int], str] = lambda number: SYMBOLS[number]) -> list[Text]:
    """A matrix of small numbers, such as those of programs, a symbol each; the same numbers have the same colour."""
    rows = []
    for row in numbers.tolist():
        cells = [(symbol(n), COLOURS[n % len(COLOURS)] if n >= 0 else "dim") for n in row]
        rows.append(Text.assemble(*cells))
    return rows

"""The layouts of a kernel's tensors as text: the module, and after each operation the layouts of its results. (Given.)

    #layout0 = #ttg.linear<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64], [128]], block = []}>
    module {
      ...
      %5 = tt.load %4 : tensor<256x!tt.ptr<f32>> in #layout0

A result with several layouts is computed in the first, and converted to the others. A range or a constant is computed
in each of its layouts.
"""

from __future__ import annotations

from collections.abc import Iterable

from mini_triton.backends.threads.layouts import SCALAR, Index, Layout
from mini_triton.ir.core import Module, Operation, Value
from mini_triton.ir.printer import Printer, quoted


class Listing(Printer):
    """Prints operations with the layouts of their results."""

    def __init__(self, layouts: Iterable[tuple[Value, Layout]]) -> None:
        super().__init__()
        self.layouts: dict[Value, list[Layout]] = {}
        for value, layout in layouts:
            if layout != SCALAR:
                self.layouts.setdefault(value, []).append(layout)
        self.aliases: dict[Layout, str] = {}

    def operation(self, operation: Operation, indent: str) -> str:
        text, loc = super().operation(operation, indent), operation.loc
        found = [layout for result in operation.results for layout in self.layouts.get(result, ())]
        aliases = [self.aliases.setdefault(layout, f"#layout{len(self.aliases)}") for layout in dict.fromkeys(found)]
        text += f" in {', '.join(aliases)}" if aliases else ""
        return f"{text} loc({quoted(loc.file)}:{loc.line}:{loc.column})" if loc else text


def spell(layout: Layout) -> str:
    """A layout as real Triton spells it."""

    def vectors(part: Iterable[Index]) -> str:
        return str([list(vector) for vector in part])

    parts = {"register": layout.registers, "lane": layout.lanes, "warp": layout.warps, "block": ()}
    return f"#ttg.linear<{{{', '.join(f'{name} = {vectors(part)}' for name, part in parts.items())}}}>"


def list_layouts(module: Module, layouts: Iterable[tuple[Value, Layout]]) -> str:
    """The text of a module with these layouts."""
    listing = Listing(layouts)
    text = listing.operation(module, "")
    return "\n".join([*(f"{alias} = {spell(layout)}" for layout, alias in listing.aliases.items()), text, ""])

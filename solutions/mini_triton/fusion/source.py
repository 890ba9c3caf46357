"""The source of a kernel: a body's lines, written in the language that this compiler compiles.

An elementwise kernel has one loop, `x`, whose steps are spread over programs. A kernel with reductions has a tile with
rows `x` and columns `r`. A row that fits in a block is read once. A longer row is read in a loop, and in one more loop
for each reduction that needs the result of another.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import sympy
import torch
from sympy.core.function import Application

from mini_triton.fusion.body import Body, Chosen, Line, Space, index_in
from mini_triton.fusion.grouping import Group
from mini_triton.fusion.indexing import Coordinate, Quotient, Remainder, bracket, numel, ravel, write, write_for_host
from mini_triton.fusion.operators import apply, identity
from mini_triton.fusion.tensors import Tensor, hint, overwritten_by
from mini_triton.fusion.tiles import MOST_STRIDED, Tiling, fits, largest_row, tile_crossed, tile_elements, tile_rows

Loops = list[tuple[sympy.Expr, sympy.Expr]]
"""Coordinates with their sizes."""

COMBINED = {
    "sum": "{0} + {1}",
    "prod": "{0} * {1}",
    "any": "{0} | {1}",
    "all": "{0} & {1}",
    "max": "helpers.maximum({0}, {1})",
    "min": "helpers.minimum({0}, {1})",
}
REDUCED = {
    "sum": "tl.sum({0}, 1)[:, None]",
    "prod": "tl.reduce({0}, 1, helpers.multiply)[:, None]",
    "any": "(tl.max({0}.to(tl.int32), 1) > 0)[:, None]",
    "all": "(tl.min({0}.to(tl.int32), 1) > 0)[:, None]",
    "max": "tl.reduce({0}, 1, helpers.maximum)[:, None]",
    "min": "tl.reduce({0}, 1, helpers.minimum)[:, None]",
}
FIRST = {"argmax": "helpers.first_largest", "argmin": "helpers.first_smallest"}


def spell(dtype: torch.dtype) -> str:
    """The name of a PyTorch dtype in the language: `tl.float32`."""
    return "tl.int1" if dtype == torch.bool else str(dtype).replace("torch.", "tl.")


@dataclass
class Kernel:
    """A kernel's source, and how to launch it."""

    name: str
    text: str
    tensors: list[Tensor]  # the arguments that are pointers
    numbers: list[str]  # the arguments that are numbers, as the program computes them
    grid: str
    constants: dict[str, int] = field(default_factory=dict)  # compile-time sizes, and launch options


class Writer:
    """Writes the lines of a group."""

    def __init__(self, group: Group) -> None:
        self.group, self.body, self.space = group, group.body, group.space
        self.pointers: dict[Tensor, str] = {}
        self.numbers: dict[str, str] = {}  # names of scalar arguments, and the expressions that the program passes
        self.indent = 1
        self.prefix = "t"
        self.prefixes: set[sympy.Symbol] = set()  # positions that have a name
        self.text: list[str] = []
        self.scopes: list[set[str]] = [set()]  # names defined outside loops, and in the current loop
        self.axes: list[frozenset[str]] = []
        for line in self.body.lines:
            self.axes.append(self.axes_of(line))

    # --- what is known about a line

    def axes_of(self, line: Line) -> frozenset[str]:
        """The axes along which a line's value varies: a subset of "xr"."""
        found = set().union(*(self.axes[number] for number in line.operands))
        if line.condition is not None:
            found |= self.axes[line.condition]
        if line.op == "reduce":
            return frozenset("x")
        if line.op == "product":
            return frozenset("x")
        symbols = line.place.free_symbols if line.place is not None else ()
        return frozenset(found | {"r" if s.reduced else "x" for s in symbols if isinstance(s, Coordinate)})

    # --- names

    def pointer(self, tensor: Tensor) -> str:
        target = getattr(tensor, "into", None) or tensor
        return self.pointers.setdefault(target, f"p{len(self.pointers)}")

    def put(self, text: str) -> None:
        self.text.append("    " * self.indent + text)

    def define(self, name: str, text: str) -> str:
        """Define a name for an expression, unless the name is already defined."""
        if not any(name in scope for scope in self.scopes):
            self.scopes[-1].add(name)
            self.put(f"{name} = {text}")
        return name

    def index_text(self, expr: sympy.Expr) -> str:
        """The source of an index. Coordinates are defined when they are first needed."""
        for reduced, flat in ((False, "x"), (True, "r")):
            expr = self.flatten(expr, reduced, flat)
        coordinates = [s for s in expr.free_symbols if isinstance(s, Coordinate)]
        for coordinate in sorted(coordinates, key=lambda c: c.name):
            self.define_coordinate(coordinate)
        names = {s: sympy.Symbol(f"{self.prefix}{s.number}") for s in expr.free_symbols if isinstance(s, Chosen)}
        return self.size_text(expr.xreplace(names), set(names.values()) | self.prefixes | set(coordinates))

    def loops(self, reduced: bool) -> Loops:
        """The coordinates of all reduced loops, or of all other loops, with their sizes."""
        every = zip(self.space.coordinates, self.space.sizes, self.space.reduced, strict=True)
        return [(c, size) for c, size, is_reduced in every if is_reduced == reduced]

    def flatten(self, expr: sympy.Expr, reduced: bool, flat: str) -> sympy.Expr:
        """Replace several coordinates in an expression by one: 30 * x0 + x1 becomes x, and x0 becomes x // 30."""
        parts = expr.atoms(Quotient, Remainder)
        expr = expr.xreplace(
            {p: p.func(*(self.flatten(argument, reduced, flat) for argument in p.args)) for p in parts}
        )
        loops = self.loops(reduced)
        present = [number for number, (c, _) in enumerate(loops) if c in expr.free_symbols]
        if not present:
            return expr
        outer = loops[: present[-1] + 1]
        whole = ravel([c for c, _ in outer], [size for _, size in outer])
        multiple = sympy.expand(expr).coeff(outer[-1][0], 1)
        rest = sympy.expand(expr - multiple * whole)
        if {c for c, _ in loops} & rest.free_symbols:
            return expr
        return rest + multiple * self.define_position(flat, present[-1], loops)

    def define_position(self, flat: str, last: int, loops: Loops) -> sympy.Symbol:
        """Define the flat position in the loops up to `last`: x, or x // 30."""
        inner = numel([size for _, size in loops[last + 1 :]])
        name = flat if inner == 1 else f"{flat}0_{last}"
        if inner != 1:
            self.define(name, f"{flat} // {bracket(self.size_text(inner))}")
        symbol = sympy.Symbol(name, integer=True, nonnegative=True)
        self.prefixes.add(symbol)
        return symbol

    def define_coordinate(self, coordinate: Coordinate) -> None:
        """Define a coordinate, computed from the flat position: x // 30 % 20."""
        loops = self.loops(coordinate.reduced)
        number = [c for c, _ in loops].index(coordinate)
        flat = "r" if coordinate.reduced else "x"
        inner, outer = (numel([s for _, s in part]) for part in (loops[number + 1 :], loops[:number]))
        text = flat if inner == 1 else f"{flat} // {bracket(self.size_text(inner))}"
        self.define(coordinate.name, text if outer == 1 else f"{text} % {bracket(self.size_text(coordinate.size))}")

    def size_text(self, size: sympy.Expr, local: Collection[sympy.Expr] = ()) -> str:
        """The source of an expression over sizes. Symbols that are not local, and functions that kernels lack, become
        arguments."""
        size = self.with_numbers(size)
        for symbol in sorted(size.free_symbols - set(local), key=str):
            self.numbers.setdefault(symbol.name, symbol.name)
        return write(size)

    def with_numbers(self, expr: sympy.Expr) -> sympy.Expr:
        """Replace functions that kernels lack, such as the maximum of two sizes, by arguments."""
        if isinstance(expr, Application) and not isinstance(expr, Quotient | Remainder):
            return self.number(expr)
        return expr.func(*map(self.with_numbers, expr.args)) if expr.args else expr

    def number(self, expr: sympy.Expr) -> sympy.Symbol:
        """An argument whose value the program computes before the launch."""
        text = write_for_host(expr)
        known = {argument: name for name, argument in self.numbers.items()}
        name = known.get(text, f"n{len(self.numbers)}")
        self.numbers[name] = text
        return sympy.Symbol(name, integer=True, nonnegative=True)

    # --- lines

    def literal(self, line: Line) -> str | None:
        """The literal of a constant, if it can be used in an expression directly."""
        if line.op == "index" and not line.place.free_symbols:
            return write(line.place)
        if line.op != "constant" or line.dtype not in (torch.float32, torch.int32, torch.int64, torch.bool):
            return None
        return constant_text(line)

    def operand(self, number: int, others: tuple[int, ...] = ()) -> str:
        """The source of an operand: a name, or a literal if another operand determines the dtype."""
        literal = self.literal(self.body.lines[number])
        if literal is not None and any(self.literal(self.body.lines[n]) is None for n in others):
            return literal
        return self.name(number)

    def name(self, number: int) -> str:
        """The name of a value. The first call writes its line, and all lines that it needs."""
        name, line = f"{self.prefix}{number}", self.body.lines[number]
        if not any(name in scope for scope in self.scopes):
            self.define(name, self.line_text(line))
        return name

    def line_text(self, line: Line) -> str:
        """The source of one line. (Given.)"""
        if line.op == "load":
            text = f"tl.load({self.access(line)})"
            return text if line.detail.dtype == line.dtype != torch.bool else f"{text}.to({spell(line.dtype)})"
        if line.op == "constant":
            return f"tl.full((), {constant_text(line)}, {spell(line.dtype)})"
        if line.op == "index":
            for number in line.operands:
                self.name(number)
            return f"tl.cast({self.index_text(line.place)}, {spell(line.dtype)})"
        if line.op == "number":
            return f"tl.cast({self.number(line.place)}, {spell(line.dtype)})"
        if line.op == "cast":
            (source,) = line.operands
            if line.dtype == torch.bool:
                return f"{self.name(source)} != 0"
            return f"{self.name(source)}.to({spell(line.dtype)})"
        values = line.operands[1:] if line.op == "where" else line.operands
        texts = [self.operand(number, tuple(n for n in values if n != number)) for number in line.operands]
        return apply(line.op, self.body.lines[values[0]].dtype, texts)

    def access(self, line: Line) -> str:
        """The address and the mask of a load."""
        for number in line.operands:
            self.name(number)
        axes = self.axes_of(line)
        place, mask = self.index_text(line.place), self.mask(axes, line.condition)
        for axis in sorted(axes - self.axes_of(line._replace(condition=None))):  # the condition's shape
            place += f" + 0 * {axis}"
        return f"{address(self.pointer(line.detail), place)}{mask}"

    def mask(self, axes: frozenset[str], condition: int | None = None) -> str:
        """The mask of an access, as an argument: true where the loops are in bounds and the condition holds."""
        parts = [f"{axis}_inside" for axis in sorted(axes, reverse=True)]
        if condition is not None:
            parts.append(self.name(condition))
        return f", mask={' & '.join(parts)}" if parts else ""

    def store_all(self, tensors: Sequence[Tensor]) -> None:
        """Store members. If one overwrites an argument, compute all values first, as they may need old elements."""
        if any(overwritten_by(tensor) for tensor in tensors):
            for tensor in tensors:
                self.name(self.body.value(tensor, index_in(self.space, tensor)).number)
        for tensor in tensors:
            self.store(tensor)

    def store(self, tensor: Tensor) -> None:
        """Store a member. (Given.)"""
        index = index_in(self.space, tensor)
        name, place = self.name(self.body.value(tensor, index).number), tensor.offset(index)
        axes = self.axes_of(Line("store", (), tensor.dtype, place=place))
        text = self.index_text(place)
        axes, text = self.spread(axes, text)
        self.put(f"tl.store({address(self.pointer(tensor), text)}, {name}{self.mask(axes)})")

    def spread(self, axes: frozenset[str], place: str) -> tuple[frozenset[str], str]:
        """The axes and the position of a store. Even a single element is stored as a block. (Given.)"""
        return (axes, place) if "x" in axes else (axes | {"x"}, "x" if place == "0" else f"{place} + x")


def write_kernel(group: Group) -> Kernel:
    """Write the kernel of a group."""
    if any(group.space.reduced):
        return ReductionWriter(group).write()
    if crossing := find_crossing(group):
        return write_crossed(group, crossing)
    writer = Writer(group)
    writer.put("x = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)")
    writer.put(f"x_inside = x < {writer.size_text(group.space.extent(False))}")
    writer.store_all(group.stored)
    tiling = tile_elements()
    return finish(writer, f"({count_tiles(group.space.extent(False), tiling.sizes['XBLOCK'])},)", tiling)


def count_tiles(size: sympy.Expr, block: int) -> str:
    """The number of blocks that cover a size: a number, if known, or an expression that the program computes."""
    return str(-(-int(size) // block)) if size.is_number else f"cdiv({write_for_host(size)}, {block})"


def find_crossing(group: Group) -> int:
    """The number of the first loop along which the columns of a tile should run; 0 if one loop is enough. (Given.)

    Neighboring steps of the innermost loop store neighboring elements, but may load elements that are far apart, as
    in `x.t() + y`. If these loads are contiguous along a different loop, a tile along both loops reads and writes whole
    cache lines.
    """
    loops = [number for number, size in enumerate(group.space.sizes) if hint(size) >= MOST_STRIDED]
    if not loops or loops[-1] != max(number for number, size in enumerate(group.space.sizes) if size != 1):
        return 0
    for line in group.body.lines:
        if line.op == "load" and line.place.coeff(group.space.coordinates[loops[-1]]) != 1:
            for number in loops[:-1]:
                if line.place.coeff(group.space.coordinates[number]) == 1:
                    return number + 1
    return 0


def write_crossed(group: Group, first: int) -> Kernel:
    """Write an elementwise kernel with tiles: rows along the loops before `first`, columns along the other loops."""
    space = Space(group.space.sizes, tuple(number >= first for number in range(len(group.space.sizes))))
    crossed = Group(group.members, space, Body(space, set(group.members)), group.stored)
    for tensor in group.stored:
        crossed.body.value(tensor, index_in(space, tensor))
    writer, tiling = Writer(crossed), tile_crossed()
    rows, columns = space.extent(False), space.extent(True)
    writer.put(f"tiles = tl.cdiv({writer.size_text(columns)}, RBLOCK)")
    writer.put("x = (tl.program_id(0) // tiles * XBLOCK + tl.arange(0, XBLOCK))[:, None]")
    writer.put("r = (tl.program_id(0) % tiles * RBLOCK + tl.arange(0, RBLOCK))[None, :]")
    writer.put(f"x_inside = x < {writer.size_text(rows)}")
    writer.put(f"r_inside = r < {writer.size_text(columns)}")
    writer.store_all(group.stored)
    tall, wide = (count_tiles(size, tiling.sizes[name]) for size, name in ((rows, "XBLOCK"), (columns, "RBLOCK")))
    return finish(writer, f"({tall} * {wide},)", tiling)


def finish(writer: Writer, grid: str, tiling: Tiling) -> Kernel:
    """Write the function around the lines."""
    names = [*writer.pointers.values(), *writer.numbers, *(f"{name}: tl.constexpr" for name in tiling.sizes)]
    text = "\n".join([f"def NAME({', '.join(names)}):", *writer.text])
    numbers = list(writer.numbers.values())
    return Kernel("", text, list(writer.pointers), numbers, grid, {**tiling.sizes, **tiling.options})


class ReductionWriter(Writer):
    """Writes a kernel with reductions. Its tile has a row for each result."""

    @functools.cached_property
    def levels(self) -> list[int]:
        """The level of each line of the body."""
        return self.body.levels()

    def write(self) -> Kernel:
        rows, columns = self.space.extent(False), self.space.extent(True)
        sizes = zip(self.space.sizes, self.space.reduced, strict=True)
        is_inner = [reduced for size, reduced in sizes if size != 1][-1:] != [False]
        largest = largest_row(self.group.members[0].device, max(self.levels))
        tiling = tile_rows(rows, columns, is_inner, largest)
        if self.group.across:
            return self.write_across(Tiling({**tiling.sizes, "XBLOCK": 1}, tiling.options))
        self.put("x = (tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK))[:, None]")
        self.put(f"x_inside = x < {self.size_text(rows)}")
        if fits(columns, is_inner, largest):
            self.put("r = tl.arange(0, RBLOCK)[None, :]")
            self.put(f"r_inside = r < {self.size_text(columns)}")
            self.store_all(self.group.stored)
        else:
            self.write_loops()
        return finish(self, f"({count_tiles(rows, tiling.sizes['XBLOCK'])},)", tiling)

    def line_text(self, line: Line) -> str:
        if line.op == "reduce":
            return self.cast_place(line, self.reduce_text(line))
        return super().line_text(line)

    def cast_place(self, line: Line, text: str) -> str:
        """The source of a reduction's result. A place in a row is an int32; PyTorch computes with it as an int64."""
        return f"{text}.to({spell(line.dtype)})" if line.detail in FIRST else text

    def reduce_text(self, line: Line) -> str:
        """The source of an expression that reduces whole rows at once, to the shape [XBLOCK, 1].

        A row consists of the elements where `r_inside` is true. The operand is a tile of shape [XBLOCK, RBLOCK], but
        has the size 1 along an axis on which its value does not depend; such a value counts for each element of a row.
        For argmax and argmin, the result is a position: `line.place` of the best element.
        """
        # [task 12.4] Given: `identity`, `number_text`, `reduce_tile`, `self.name`, `self.index_text`.
        kind, (operand,) = line.detail, line.operands
        dtype = self.body.lines[operand].dtype
        tile = f"tl.broadcast_to({self.name(operand)}, [XBLOCK, RBLOCK])"
        tile = f"tl.where(r_inside, {tile}, {number_text(identity(kind, dtype))})"
        place = ""
        if kind in FIRST:
            place = f"tl.broadcast_to(tl.where(r_inside, {self.index_text(line.place)}, 2147483647), [XBLOCK, RBLOCK])"
        return reduce_tile(kind, tile, place)
        # [end]

    def write_loops(self) -> None:
        """Write loops over rows that do not fit in a block, as few as possible, and store all members in `stored`.

        Tensors with one element per row are stored after the last loop, because they may overwrite arguments that a
        loop reads.
        """
        # [task 12.4] Given: `write_loop`, `store_all`.
        reductions = [number for number, line in enumerate(self.body.lines) if line.op == "reduce"]
        stores: dict[int, list[Tensor]] = {}
        after: list[Tensor] = []
        for tensor in self.group.stored:
            index = index_in(self.space, tensor)
            value = self.body.value(tensor, index)
            by_element = any(isinstance(s, Coordinate) and s.reduced for part in index for s in part.free_symbols)
            if by_element:
                stores.setdefault(self.levels[value.number], []).append(tensor)
            else:
                after.append(tensor)
        last = max([*(self.levels[number] for number in reductions), *(level + 1 for level in stores)])
        for level in range(last):
            self.write_loop([n for n in reductions if self.levels[n] == level + 1], stores.get(level, []))
        self.store_all(after)
        # [end]

    def write_across(self, tiling: Tiling) -> Kernel:
        """Write a kernel whose programs each take several rows in turn, and also add up their columns. (Given.)"""
        pieces, length, columns = next(iter(self.group.across)).source.shape
        self.put("r = tl.arange(0, RBLOCK)[None, :]")
        self.put(f"r_inside = r < {columns}")
        for number, line in enumerate(self.body.lines):
            if line.op == "load" and "x" not in self.axes[number]:  # the same for all rows
                self.name(number)
        for value in self.group.across.values():
            self.put(f"c{value.number} = tl.zeros([1, RBLOCK], {spell(value.dtype)})")
        self.put(f"for step in range({length}):")
        self.indent += 1
        self.scopes.append(set())
        self.put(f"x = (tl.program_id(0) * {length} + step + tl.arange(0, XBLOCK))[:, None]")
        self.put(f"x_inside = x < {pieces * length}")
        self.store_all([tensor for tensor in self.group.stored if tensor not in self.group.across])
        for value in self.group.across.values():
            self.put(f"c{value.number} += {self.name(value.number)}")
        self.scopes.pop()
        self.indent -= 1
        for tensor, value in self.group.across.items():
            place = f"tl.program_id(0) * {columns} + r"
            self.put(f"tl.store({self.pointer(tensor)} + ({place}), c{value.number}, mask=r_inside)")
        return finish(self, f"({pieces},)", tiling)

    def write_loop(self, reductions: list[int], stores: list[Tensor]) -> None:
        """Write a loop over the rows. It computes the reductions in these lines, and stores these tensors. (Given.)"""
        for number in sorted(self.reached(reductions, stores)):  # lines that do not vary along r come first
            if "r" not in self.axes[number]:
                self.name(number)
        for number in reductions:
            line = self.body.lines[number]
            kind, dtype = line.detail, self.body.lines[line.operands[0]].dtype
            self.put(f"a{number} = tl.full([XBLOCK, RBLOCK], {number_text(identity(kind, dtype))}, {spell(dtype)})")
            if kind in FIRST:
                self.put(f"i{number} = tl.full([XBLOCK, RBLOCK], 2147483647, tl.int32)")
        extent = self.size_text(self.space.extent(True))
        self.put(f"for start in range(0, {extent}, RBLOCK):")
        self.indent += 1
        self.scopes.append(set())
        self.put("r = start + tl.arange(0, RBLOCK)[None, :]")
        self.put(f"r_inside = r < {extent}")
        for number in reductions:
            line = self.body.lines[number]
            tile, kind = self.name(line.operands[0]), line.detail
            if kind in FIRST:
                place = self.index_text(line.place)
                best = f"{FIRST[kind]}(a{number}, i{number}, {tile}, {place})"
                self.put(f"b{number}, j{number} = {best}")
                self.put(f"a{number} = tl.where(r_inside, b{number}, a{number})")
                self.put(f"i{number} = tl.where(r_inside, j{number}, i{number})")
            else:
                combined = COMBINED[kind].format(f"a{number}", tile)
                self.put(f"a{number} = tl.where(r_inside, {combined}, a{number})")
        self.store_all(stores)
        self.scopes.pop()
        self.indent -= 1
        for number in reductions:
            line = self.body.lines[number]
            text = reduce_tile(line.detail, f"a{number}", f"i{number}")
            self.define(f"t{number}", self.cast_place(line, text))

    def reached(self, reductions: list[int], stores: list[Tensor]) -> set[int]:
        """The lines that a loop needs, up to reductions that earlier loops have computed."""
        pending = [number for n in reductions for number in self.body.lines[n].operands]
        pending += [self.body.value(tensor, index_in(self.space, tensor)).number for tensor in stores]
        found: set[int] = set()
        while pending:
            number = pending.pop()
            if number in found:
                continue
            found.add(number)
            line = self.body.lines[number]
            if line.op != "reduce":
                pending += line.needed
        return found


def reduce_tile(kind: str, tile: str, place: str) -> str:
    """The source that reduces a tile of shape [XBLOCK, RBLOCK] to the shape [XBLOCK, 1]. (Given.)

    The result of a kind in `FIRST` is a position: that of the best element, and the lowest of several. For these kinds,
    `place` is the source of a tile with the elements' positions, as int32.
    """
    if kind in FIRST:
        return f"tl.reduce(({tile}, {place}), 1, {FIRST[kind]})[1][:, None]"
    return REDUCED[kind].format(tile)


def constant_text(line: Line) -> str:
    """The Python source of a constant's number."""
    return number_text(line.detail[1])


def number_text(number: float | str) -> str:
    """The Python source of a number, given as a number or as text."""
    text = str(number)
    return f'float("{text}")' if text.lstrip("-") in ("inf", "nan") else text


def address(pointer: str, place: str) -> str:
    """The source of an element's address."""
    return pointer if place == "0" else f"{pointer} + {place if place.isidentifier() else f'({place})'}"

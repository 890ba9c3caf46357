"""The kernel of a matrix product: tiles of its result, and what is fused to them.

Its operands are functions of an index like all tensors: one that is a transposition or a slice is read where it is, and
nothing is copied. What is computed of the product's elements is computed before they are stored.
"""

from __future__ import annotations

import sympy

from mini_triton.fusion.body import Body, Line, Space
from mini_triton.fusion.grouping import Group
from mini_triton.fusion.indexing import Coordinate, Index, write_for_host
from mini_triton.fusion.source import Kernel, Writer, finish, next_power_of_2, spell
from mini_triton.fusion.tensors import Product, Tensor, hint


class ProductWriter(Writer):
    """Writes a kernel whose axes are tiles: rows and columns of the result, and steps along what is summed."""

    def __init__(self, group: Group, prefix: str = "t") -> None:
        super().__init__(group)
        (self.product,) = (tensor for tensor in group.members if isinstance(tensor, Product))

        self.tile_axes: set[str] = set()

    def axes_of(self, line: Line) -> frozenset[str]:
        if line.op == "product":
            return frozenset(c.name for c in self.space.coordinates[-2:] if isinstance(c, Coordinate))
        found = set().union(*(self.axes[number] for number in line.operands))
        if line.condition is not None:
            found |= self.axes[line.condition]
        symbols = line.place.free_symbols if line.place is not None else ()
        return frozenset(found | {s.name for s in symbols if isinstance(s, Coordinate) and s.name in self.tiled})

    @property
    def tiled(self) -> set[str]:
        """The coordinates that differ within a tile: all but that of the batch."""
        return {c.name for c in self.space.coordinates[-2:] if isinstance(c, Coordinate)} | {"ka", "kb"}

    def flatten(self, expr: sympy.Expr, reduced: bool, flat: str) -> sympy.Expr:
        return expr

    def define_coordinate(self, coordinate: Coordinate) -> None:
        """They are defined at the beginning."""

    def write(self) -> Kernel:
        a, b = self.product.inputs
        *batch, m, k = a.shape
        n = b.shape[-1]
        rows, columns = self.space.coordinates[-2:]
        tiles = tiles_for(self.product)
        self.put(f"M, N, K = {', '.join(self.size_text(size) for size in (m, n, k))}")
        self.put("tile_m, tile_n = helpers.tile_of(tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP)")
        if batch and isinstance(self.space.coordinates[0], Coordinate):
            self.put(f"{self.space.coordinates[0].name} = tl.program_id(1)")
        high, wide = (
            c.name if isinstance(c, Coordinate) else only for c, only in ((rows, "only_m"), (columns, "only_n"))
        )
        self.tile_axes |= {high, wide}
        for name, tile, size, block, shape in (
            (high, "tile_m", "M", "BLOCK_M", "[:, None]"),
            (wide, "tile_n", "N", "BLOCK_N", "[None, :]"),
        ):
            self.put(f"{name} = ({tile} * {block} + tl.arange(0, {block})){shape}")
            self.put(f"{name}_inside = {name} < {size}")
        self.put("total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)")
        self.put("for start in range(0, K, BLOCK_K):")
        self.indent += 1
        self.scopes.append(set())
        ka, kb = Coordinate("ka", k), Coordinate("kb", k)
        outer = self.space.coordinates[: len(batch)]
        self.put("ka = start + tl.arange(0, BLOCK_K)[None, :]")
        self.put("kb = start + tl.arange(0, BLOCK_K)[:, None]")
        self.put("ka_inside = ka < K")
        self.put("kb_inside = kb < K")
        self.put(f"a = {self.operand_tile(a, (*outer, rows, ka), f'{high}_inside & ka_inside', 'BLOCK_M', 'BLOCK_K')}")
        self.put(
            f"b = {self.operand_tile(b, (*outer, kb, columns), f'kb_inside & {wide}_inside', 'BLOCK_K', 'BLOCK_N')}"
        )
        self.put('total = tl.dot(a, b, total, input_precision="ieee")')
        self.scopes.pop()
        self.indent -= 1
        for tensor in self.group.stored:
            self.store(tensor)
        tall, broad = (
            f"triton.cdiv({write_for_host(size)}, {tiles[f'BLOCK_{x}']})" for size, x in ((m, "M"), (n, "N"))
        )
        grid = f"({tall} * {broad},"
        grid += f" {write_for_host(batch[0])})" if batch else ")"
        return finish(self, grid, {name: str(size) for name, size in tiles.items()})

    def line_text(self, line: Line) -> str:
        return "total" if line.op == "product" else super().line_text(line)

    def mask(self, axes: frozenset[str], condition: int | None = None) -> str:
        parts = [f"{axis}_inside" for axis in sorted(axes)]
        if condition is not None:
            parts.append(self.name(condition))
        return f", mask={' & '.join(parts)}" if parts else ""

    def spread(self, axes: frozenset[str], place: str) -> tuple[frozenset[str], str]:
        return frozenset(self.tile_axes), " + ".join([place, *sorted(self.tile_axes - axes)])

    def operand_tile(self, tensor: Tensor, index: Index, inside: str, high: str, wide: str) -> str:
        """One tile of an operand, with 0 outside: its own body, in this kernel."""
        # [task 12.5] A body of its own, whose lines have names of their own (`prefix`).
        body, axes = self.body, self.axes
        self.body = Body(Space((), ()), set())
        value = self.body.value(tensor, index)
        self.axes = []
        for line in self.body.lines:
            self.axes.append(self.axes_of(line))
        self.prefix, before = f"{high[-1].lower()}{wide[-1].lower()}", self.prefix
        text = self.name(value.number)
        self.prefix = before
        self.body, self.axes = body, axes
        return f"tl.where({inside}, {text}, 0.0).to({spell(tensor.dtype)}).broadcast_to({high}, {wide})"
        # [end]


def tiles_for(product: Product) -> dict[str, int]:
    """Tiles that suit the sizes; a dimension that is small gets a small one. (Given.)"""
    a, b = product.inputs
    m, k, n = hint(a.shape[-2]), hint(a.shape[-1]), hint(b.shape[-1])
    most = (128, 128, 64) if product.dtype.itemsize == 2 else (64, 64, 32)
    sizes = [min(max(next_power_of_2(size), 16), limit) for size, limit in zip((m, n, k), most, strict=True)]
    return dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), sizes, strict=True)) | {"GROUP": 8}

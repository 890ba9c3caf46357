"""The kernel of a matrix product: tiles of its result, and the operators fused to the product.

The operands of the product are functions of an index, like all tensors. A transposed or sliced operand is read in
place, without a copy. Operators fused to the product are applied before its elements are stored.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import sympy
import torch

from mini_triton.fusion.body import Body, Line, Space
from mini_triton.fusion.grouping import Group
from mini_triton.fusion.indexing import Coordinate, Index, write_for_host
from mini_triton.fusion.source import Kernel, Writer, count_tiles, finish, spell
from mini_triton.fusion.tensors import Product, Tensor
from mini_triton.fusion.tiles import tile_product


class ProductWriter(Writer):
    """Writes a kernel with tiles along three axes: rows of the result, columns of the result, and steps along K."""

    def __init__(self, group: Group, prefix: str = "t") -> None:
        super().__init__(group)
        (self.product,) = (tensor for tensor in group.members if isinstance(tensor, Product))

        self.tile_axes: set[str] = set()
        self.full: set[str] = set()  # axes whose tiles are all full: they need no mask

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
        """The coordinates that vary within a tile: all coordinates except that of the batch."""
        return {c.name for c in self.space.coordinates[-2:] if isinstance(c, Coordinate)} | {"ka", "kb"}

    def flatten(self, expr: sympy.Expr, reduced: bool, flat: str) -> sympy.Expr:
        return expr

    def define_coordinate(self, coordinate: Coordinate) -> None:
        """Do nothing: `write` defines all coordinates at the start."""

    def write(self) -> Kernel:
        a, b = self.product.inputs
        *batch, m, k = a.shape
        n = b.shape[-1]
        rows, columns = self.space.coordinates[-2:]
        tiling = tile_product(self.product, is_plain=len(self.group.members) <= 3)
        tiles = tiling.sizes
        self.put(f"M, N, K = {', '.join(self.size_text(size) for size in (m, n, k))}")
        self.put("tile = tl.program_id(0)")
        if batch and isinstance(self.space.coordinates[0], Coordinate):
            # A batch may be larger than 65,535, the limit of the grid's other axes.
            self.put("tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)")
            self.put(f"{self.space.coordinates[0].name}, tile = tile // tiles, tile % tiles")
        self.put("tile_m, tile_n = helpers.tile_of(tile, tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP)")
        high, wide = (
            c.name if isinstance(c, Coordinate) else only for c, only in ((rows, "only_m"), (columns, "only_n"))
        )
        self.tile_axes |= {high, wide}
        self.put(f"{high} = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M))[:, None]")
        self.put(f"{wide} = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N))[None, :]")
        self.check_inside(high, "M", m, tiles["BLOCK_M"])
        self.check_inside(wide, "N", n, tiles["BLOCK_N"])
        self.put("total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)")
        self.put("for start in range(0, K, BLOCK_K):")
        self.indent += 1
        self.scopes.append(set())
        ka, kb = Coordinate("ka", k), Coordinate("kb", k)
        self.put("ka = start + tl.arange(0, BLOCK_K)[None, :]")
        self.put("kb = start + tl.arange(0, BLOCK_K)[:, None]")
        self.check_inside("ka", "K", k, tiles["BLOCK_K"])
        self.check_inside("kb", "K", k, tiles["BLOCK_K"])
        self.write_step(ka, kb, high, wide)
        self.scopes.pop()
        self.indent -= 1
        self.store_all(self.group.stored)
        tall, broad = (count_tiles(size, tiles[f"BLOCK_{name}"]) for size, name in ((m, "M"), (n, "N")))
        many = [f"({write_for_host(size)})" for size in batch if size != 1]
        return finish(self, f"({' * '.join([tall, broad, *many])},)", tiling)

    def write_step(self, ka: Coordinate, kb: Coordinate, high: str, wide: str) -> None:
        """Write a step of the loop over K: lines that multiply the operands' tiles and add the product to `total`.

        The last two coordinates of the space are a row and a column of the result; their names are `high` and `wide`. A
        batch coordinate precedes them if there is a batch. `ka` and `kb` are positions along K: `ka` varies along the
        columns of the first operand's tile, `kb` along the rows of the second operand's tile.
        """
        # [task 12.5] The block sizes are `BLOCK_M`, `BLOCK_N` and `BLOCK_K`. Given: `precision_of`, for `tl.dot`.
        a, b = self.product.inputs
        *outer, row, column = self.space.coordinates
        self.put(f"a = {self.operand_tile(a, (*outer, row, ka), (high, 'ka'), ('BLOCK_M', 'BLOCK_K'))}")
        self.put(f"b = {self.operand_tile(b, (*outer, kb, column), ('kb', wide), ('BLOCK_K', 'BLOCK_N'))}")
        self.put(f'total = tl.dot(a, b, total, input_precision="{precision_of(self.product)}")')
        # [end]

    def check_inside(self, axis: str, size_name: str, size: sympy.Expr, block: int) -> None:
        """Define the mask of an axis, if its last tile is not full."""
        if size.is_number and size % block == 0:
            self.full.add(axis)
        else:
            self.put(f"{axis}_inside = {axis} < {size_name}")

    def line_text(self, line: Line) -> str:
        return "total" if line.op == "product" else super().line_text(line)

    def mask(self, axes: frozenset[str], condition: int | None = None) -> str:
        parts = [f"{axis}_inside" for axis in sorted(axes - self.full)]
        if condition is not None:
            parts.append(self.name(condition))
        return f", mask={' & '.join(parts)}" if parts else ""

    def spread(self, axes: frozenset[str], place: str) -> tuple[frozenset[str], str]:
        return frozenset(self.tile_axes), " + ".join([place, *sorted(self.tile_axes - axes)])

    def operand_tile(self, tensor: Tensor, index: Index, axes: tuple[str, str], blocks: tuple[str, str]) -> str:
        """The source of an operand's tile: the elements at `index`, which varies along the two `axes`. (Given.)

        `blocks` names the block sizes of these axes. An operand may be a loaded tensor, a view, or a few operators
        applied to loaded tensors. A tile that is only loaded keeps its dtype. Writes the lines that the tile needs.
        """
        with self.operand_body("".join(block[-1].lower() for block in blocks)) as body:
            number = body.value(tensor, index).number
            for line in body.lines:
                self.axes.append(self.axes_of(line))
            line = body.lines[number]
            if line.op == "load" and line.detail.dtype == tensor.dtype and self.axes[number] == frozenset(axes):
                return f"tl.load({self.access(line)}{'' if self.full.issuperset(axes) else ', other=0.0'})"
            return self.tile_text(number, tensor.dtype, axes, blocks)

    @contextlib.contextmanager
    def operand_body(self, prefix: str) -> Iterator[Body]:
        """A body for an operand alone, without members of the group. Names of its lines begin with `prefix`.
        (Given.)"""
        before = self.body, self.axes, self.prefix
        self.body, self.axes, self.prefix = Body(Space((), ()), set()), [], prefix
        yield self.body
        self.body, self.axes, self.prefix = before

    def tile_text(self, number: int, dtype: torch.dtype, axes: tuple[str, str], blocks: tuple[str, str]) -> str:
        """The source of a tile for `tl.dot`, with the values of line `number`, this dtype and the shape `blocks`.

        `self.name(number)` is the source of the values. Their dtype may be wider, and they may be constant along one or
        both of the `axes`, as in `torch.full((4, 5), 2.0) @ x[:, :1].expand(5, 3)`. The last tile along an axis may
        extend beyond the end of the matrix.
        """
        # [task 12.5] `kb_inside` is true in bounds of axis "kb"; an axis in `self.full` does not have such a name.
        text = self.name(number)
        if outside := [axis for axis in axes if axis not in self.full]:
            text = f"tl.where({' & '.join(f'{axis}_inside' for axis in outside)}, {text}, 0.0)"
        return f"{text}.to({spell(dtype)}).broadcast_to({', '.join(blocks)})"
        # [end]


def precision_of(product: Product) -> str:
    """The precision of products of fp32; on a GPU, as set by `torch.set_float32_matmul_precision`. (Given.)"""
    is_exact = product.device.type == "cpu" or torch.get_float32_matmul_precision() == "highest"
    return "ieee" if is_exact else "tf32"

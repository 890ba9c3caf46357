"""Operations that move elements, or say that they are the same all along an axis."""

from __future__ import annotations

from mini_triton.codegen.axes import axis_of, order_of
from mini_triton.codegen.emission import Emission
from mini_triton.codegen.values import ZERO
from mini_triton.ir.core import Operation
from mini_triton.ir.types import shape_of


class Shapes(Emission):
    """Writes splat, broadcast, expand_dims, trans, reshape, join, cat, split, gather."""

    def tt_splat(self, operation: Operation) -> None:
        (source,), result = operation.operands, operation.result
        if self.origins.get(source) is source:
            self.assign(result, ZERO)
            return
        text = self.lifted(self.text(source), self.axes[source], len(shape_of(result.type)))
        self.assign(result, self.repeated(text, result.type, self.axes[source], self.axes[result]))

    def tt_unsplat(self, operation: Operation) -> None:
        (source,) = operation.operands
        text = self.text(source)
        if self.axes[source]:
            text = f"{text}.reshape({'P' if self.varies(source) else '()'})"
        self.assign(operation.result, text)

    def tt_broadcast(self, operation: Operation) -> None:
        """Nothing to do, but for an axis of size 1 that counts as one that the value varies along: it is longer now."""
        (source,), result = operation.operands, operation.result
        sizes = zip(shape_of(source.type), shape_of(result.type), strict=True)
        longer = {axis for axis, (before, after) in enumerate(sizes) if before != after}
        self.assign(
            result, self.repeated(self.text(source), result.type, self.axes[source] - longer, self.axes[result])
        )

    def tt_expand_dims(self, operation: Operation) -> None:
        (source,) = operation.operands
        keys = [":"] * len(shape_of(source.type))
        keys.insert(axis_of(operation), "None")
        if self.varies(source):
            keys.insert(0, ":")
        text = self.text(source)
        self.assign(operation.result, f"{text}[{', '.join(keys)}]" if self.axes[source] else text)

    def tt_trans(self, operation: Operation) -> None:
        (source,) = operation.operands
        order = order_of(operation)
        if self.varies(source):
            order = (0, *(axis + 1 for axis in order))
        text = self.text(source)
        self.assign(operation.result, f"np.transpose({text}, {order})" if self.axes[source] else text)

    def tt_reshape(self, operation: Operation) -> None:
        (source,), result = operation.operands, operation.result
        if not self.axes[source]:
            self.assign(result, self.text(source))
        else:
            self.assign(result, f"{self.full(source)}.reshape({self.shape(result.type, self.axes[result])})")

    def tt_join(self, operation: Operation) -> None:
        x, y = (self.full(operand, self.varies(operation.result)) for operand in operation.operands)
        self.assign(operation.result, f"np.stack(({x}, {y}), axis=-1)")

    def tt_cat(self, operation: Operation) -> None:
        x, y = (self.full(operand, self.varies(operation.result)) for operand in operation.operands)
        self.assign(operation.result, f"np.concatenate(({x}, {y}), axis=-1)")

    def tt_split(self, operation: Operation) -> None:
        (source,) = operation.operands
        for i, result in enumerate(operation.results):
            self.assign(result, f"{self.full(source)}[..., {i}]" if self.axes[source] else self.text(source))

    def tt_gather(self, operation: Operation) -> None:
        source, indices = (self.full(operand, self.varies(operation.result)) for operand in operation.operands)
        axis = axis_of(operation) - len(shape_of(operation.result.type))
        self.assign(operation.result, f"np.take_along_axis({source}, {indices}, axis={axis})")

"""Operations that move elements, or say that they are the same all along an axis."""

from __future__ import annotations

from mini_triton.codegen.emission import Emission
from mini_triton.ir.core import Operation
from mini_triton.ir.types import shape_of


class Shapes(Emission):
    """Writes splat, broadcast, expand_dims, trans, reshape, join, cat, split, gather."""

    def tt_splat(self, operation: Operation) -> None:
        (source,) = operation.operands
        rank = len(shape_of(operation.result.type))
        self.assign(operation.result, self.lifted(self.text(source), self.axes[source], rank))

    def tt_unsplat(self, operation: Operation) -> None:
        (source,) = operation.operands
        text = self.text(source)
        if self.axes[source]:
            text = f"{text}.reshape({'P' if self.varies(source) else '()'})"
        self.assign(operation.result, text)

    def tt_broadcast(self, operation: Operation) -> None:
        """Nothing to do: axes of size 1 are broadcast when they meet others."""
        self.assign(operation.result, self.text(operation.operands[0]))

    def tt_expand_dims(self, operation: Operation) -> None:
        # [task 6.3] As text: `x[:, :, None]`, with one `:` for each axis that the variable of the operand has, the axis
        # for programs among them. A scalar stays a scalar.
        (source,) = operation.operands
        keys = [":"] * len(shape_of(source.type))
        keys.insert(operation.attributes["axis"], "None")
        if self.varies(source):
            keys.insert(0, ":")
        text = self.text(source)
        self.assign(operation.result, f"{text}[{', '.join(keys)}]" if self.axes[source] else text)
        # [end]

    def tt_trans(self, operation: Operation) -> None:
        # [task 6.3] `np.transpose(x, order)`. The axis for programs stays where it is.
        (source,) = operation.operands
        order = tuple(operation.attributes["order"])
        if self.varies(source):
            order = (0, *(axis + 1 for axis in order))
        text = self.text(source)
        self.assign(operation.result, f"np.transpose({text}, {order})" if self.axes[source] else text)
        # [end]

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
        axis = operation.attributes["axis"] - len(shape_of(operation.result.type))
        self.assign(operation.result, f"np.take_along_axis({source}, {indices}, axis={axis})")

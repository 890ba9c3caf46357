"""A rewrite of TTIR for threads: products in the microscaling formats become products of bf16 or TF32. (Given.)

    c + (a * scales) @ b                x = bf16(a) * bf16(scales)
                                        c + x @ bf16(b)

Only Blackwell's tensor cores read these formats. A number times a power of two is a bf16. If a matrix has the format
fp16, both become TF32, which has as many bits of mantissa and more of exponent.

Source: Triton's `DecomposeScaledBlocked.cpp`.
"""

from __future__ import annotations

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.ops.scaled import Side, sides
from mini_triton.ir.types import I8, element_type
from mini_triton.language.context import building
from mini_triton.language.dot import dot
from mini_triton.language.dtypes import bfloat16, dtype, float16, float32, uint8, uint16
from mini_triton.language.scaled import E4M3, ELEMENTS
from mini_triton.language.shape import join, reshape, trans
from mini_triton.language.tensor import tensor
from mini_triton.transforms.structure import replace_by


def decompose_scaled(module: Operation) -> None:
    """Replace the products in the microscaling formats of a module."""
    builder = Builder()
    for operation in [operation for operation in module.walk() if operation.name == "tt.dot_scaled"]:
        with building(builder), builder.before(operation), builder.location(operation.loc):
            left, right = sides(operation, operation.operands)
            type = float32 if "fp16" in (left[2], right[2]) else bfloat16
            total = dot(decoded(left, type), trans(decoded(right, type)), tensor(operation.operands[2], float32))
        replace_by(operation, [total.handle])


def decoded(side: Side[Value], type: dtype) -> tensor:
    """The scaled numbers of a matrix, (rows, K), or of a transposed right matrix."""
    matrix, scales, format, along, packed = side
    x = tensor(matrix, ELEMENTS[format])
    if along == -2:
        x, packed = trans(x), -3 - packed
    if format == "e2m1":
        x = unpacked(x, packed)
    if scales is None:
        return x.to(type)
    factors = powers(tensor(scales, uint8)) if element_type(scales.type) == I8 else tensor(scales, E4M3)
    groups = reshape(x, (*factors.shape, x.shape[-1] // factors.shape[-1]))
    return reshape(groups.to(type) * factors.to(type).expand_dims(-1), x.shape)


def unpacked(bytes: tensor, axis: int) -> tensor:
    """The numbers of "e2m1" in bytes, two along an axis: -1 or -2.

    A sign, two bits of exponent and one of mantissa are a float16, except for the bias of the exponent: 15, not 1.
    """
    shape = list(bytes.shape)
    shape[axis] *= 2
    pairs = join(bytes & 15, bytes >> 4).to(uint16)
    bits = reshape(pairs if axis == -1 else trans(pairs), shape)
    return ((bits & 8) << 12 | (bits & 7) << 9).to(float16, bitcast=True) * 2.0**14


def powers(exponents: tensor) -> tensor:
    """Powers of two: 2^-127 for 0, which bf16 has without a leading 1, to 2^127 for 254; and NaN for 255."""
    special = (exponents == 0) | (exponents == 255)
    return (exponents.to(uint16) << 7 | special.to(uint16) << 6).to(bfloat16, bitcast=True)

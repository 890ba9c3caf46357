"""Functions for generated code on a GPU: instructions that Numba lacks, and short names for others. (Given.)"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba import cuda, types
from numba.cuda import libdevice

try:
    from numba.cuda.extending import intrinsic
except ImportError:
    from numba.extending import intrinsic

device = cuda.jit(device=True)


def _address(context, builder, type, memory, at):
    """The address of an element. `memory` is a bare pointer or a Numba array."""
    if isinstance(type, types.CPointer):
        return builder.gep(memory, [at])
    return builder.gep(context.make_array(type)(context, builder, memory).data, [at])


def _number(count):
    return ir.Constant(ir.IntType(32), count)


# --- vectors: `count` elements at once, between memory and a buffer of registers


def _load(count):
    @intrinsic
    def load(typing, buffer, first, memory, at):
        def build(context, builder, signature, arguments):
            source = _address(context, builder, memory, arguments[2], arguments[3])
            target = _address(context, builder, buffer, arguments[0], arguments[1])
            vector = ir.VectorType(context.get_data_type(memory.dtype), count)
            size = count * memory.dtype.bitwidth // 8
            values = builder.load(builder.bitcast(source, vector.as_pointer()), align=size)
            for k in range(count):
                builder.store(builder.extract_element(values, _number(k)), builder.gep(target, [_number(k)]))
            return context.get_dummy_value()

        return types.void(buffer, types.int64, memory, types.int64), build

    return load


def _store(count):
    @intrinsic
    def store(typing, buffer, first, memory, at):
        def build(context, builder, signature, arguments):
            source = _address(context, builder, buffer, arguments[0], arguments[1])
            target = _address(context, builder, memory, arguments[2], arguments[3])
            vector = ir.VectorType(context.get_data_type(memory.dtype), count)
            size = count * memory.dtype.bitwidth // 8
            values = ir.Constant(vector, ir.Undefined)
            for k in range(count):
                element = builder.load(builder.gep(source, [_number(k)]))
                values = builder.insert_element(values, element, _number(k))
            builder.store(values, builder.bitcast(target, vector.as_pointer()), align=size)
            return context.get_dummy_value()

        return types.void(buffer, types.int64, memory, types.int64), build

    return store


# --- between threads


@intrinsic
def shuffle_xor(typing, value, distance):
    """The value of the thread whose number in the warp differs from the caller's in the bits of `distance`.

    All threads must call it.
    """

    def build(context, builder, signature, arguments):
        half = ir.IntType(32)
        function = ir.FunctionType(half, (half,) * 4)
        name = "llvm.nvvm.shfl.sync.bfly.i32"
        callee = builder.module.globals.get(name) or ir.Function(builder.module, function, name)
        distance = builder.trunc(arguments[1], half) if signature.args[1].bitwidth > 32 else arguments[1]
        type = context.get_value_type(value)
        width = {"i1": 1, "float": 32, "double": 64}.get(str(type)) or type.width

        def shuffle(bits):
            return builder.call(callee, (half(0xFFFFFFFF), bits, distance, half(31)))

        bits = builder.bitcast(arguments[0], ir.IntType(width))
        if width <= 32:
            bits = shuffle(bits if width == 32 else builder.zext(bits, half))
            return builder.bitcast(bits if width == 32 else builder.trunc(bits, ir.IntType(width)), type)
        whole = bits.type
        low, high = (shuffle(builder.trunc(builder.lshr(bits, whole(shift)), half)) for shift in (0, 32))
        high = builder.shl(builder.zext(high, whole), whole(32))
        return builder.bitcast(builder.or_(high, builder.zext(low, whole)), type)

    return value(value, distance), build


def _atomic(name):
    @intrinsic
    def atomic(typing, memory, at, value):
        def build(context, builder, signature, arguments):
            address = _address(context, builder, memory, *arguments[:2])
            return builder.atomic_rmw(name, address, arguments[2], "monotonic")

        return memory.dtype(memory, types.int64, memory.dtype), build

    return atomic


@intrinsic
def atomic_fadd(typing, memory, at, value):
    def build(context, builder, signature, arguments):
        address = _address(context, builder, memory, *arguments[:2])
        width = memory.dtype.bitwidth
        function = ir.FunctionType(address.type.pointee, (address.type, address.type.pointee))
        name = f"llvm.nvvm.atomic.load.add.f{width}.p0f{width}"
        callee = builder.module.globals.get(name) or ir.Function(builder.module, function, name)
        return builder.call(callee, (address, arguments[2]))

    return memory.dtype(memory, types.int64, memory.dtype), build


@intrinsic
def atomic_cas(typing, memory, at, expected, value):
    def build(context, builder, signature, arguments):
        address = _address(context, builder, memory, *arguments[:2])
        pair = builder.cmpxchg(address, arguments[2], arguments[3], "monotonic", "monotonic")
        return builder.extract_value(pair, 0)

    return memory.dtype(memory, types.int64, memory.dtype, memory.dtype), build


atomic_add, atomic_and, atomic_or, atomic_xor = (_atomic(name) for name in ("add", "and", "or", "xor"))
atomic_max, atomic_min, atomic_exch = (_atomic(name) for name in ("max", "min", "xchg"))
atomic_umax, atomic_umin = (_atomic(name) for name in ("umax", "umin"))


def _as(dtype):
    @intrinsic
    def as_dtype(typing, memory):
        result = types.CPointer(getattr(types, dtype))

        def build(context, builder, signature, arguments):
            return builder.bitcast(arguments[0], context.get_value_type(result))

        return result(memory), build

    return as_dtype


# --- numbers


@intrinsic
def select(typing, condition, x, y):
    """`x if condition else y`, without a branch."""
    type = typing.unify_types(types.unliteral(x), types.unliteral(y))

    def build(context, builder, signature, arguments):
        condition, x, y = arguments
        return builder.select(condition, x, y)

    return type(types.boolean, type, type), build


def _of_two(name):
    @intrinsic
    def operation(typing, x, y):
        type = types.unliteral(x)

        def build(context, builder, signature, arguments):
            form = context.get_value_type(type)
            function = ir.FunctionType(form, (form, form))
            instruction = f"llvm.nvvm.{name}.{'f' if type.bitwidth == 32 else 'd'}"
            callee = builder.module.globals.get(instruction) or ir.Function(builder.module, function, instruction)
            return builder.call(callee, arguments)

        return type(type, type), build

    return operation


@intrinsic
def quotient(typing, x, y):
    """`x / y` as in Triton: within 2 ulp, in half the instructions."""

    def build(context, builder, signature, arguments):
        form = ir.FloatType()
        return builder.asm(ir.FunctionType(form, (form, form)), "div.full.f32 $0, $1, $2;", "=f,f,f", arguments, False)

    return types.float32(types.float32, types.float32), build


maxnumf, minnumf = _of_two("fmax"), _of_two("fmin")
times = _of_two("mul.rn")  # never fused with an addition

bits_of_32, bits_of_64 = libdevice.float_as_int, libdevice.double_as_longlong
float_of_32, float_of_64 = libdevice.int_as_float, libdevice.longlong_as_double


@device
def from_f16(bits):
    """The fp16 number with these bits, as a float32."""
    return libdevice.half2float(np.int16(bits))


@device
def to_f16(x):
    """The bits of the nearest fp16."""
    return np.uint16(libdevice.float2half_rn(x))


exp, exp2, log, log2, sin, cos, acos = math.exp, math.exp2, math.log, math.log2, math.sin, math.cos, math.acos
sqrt, floor, ceil, absolute, fmod, erf = math.sqrt, math.floor, math.ceil, abs, math.fmod, math.erf
mulhi_64 = libdevice.umul64hi


@device
def fma(x, y, z):
    return cuda.fma(x, y, z)


load_2, load_4, load_8, load_16 = (_load(count) for count in (2, 4, 8, 16))
store_2, store_4, store_8, store_16 = (_store(count) for count in (2, 4, 8, 16))

as_int8, as_int16, as_int32, as_int64 = (_as(f"int{width}") for width in (8, 16, 32, 64))
as_uint16, as_float32, as_float64 = (_as(dtype) for dtype in ("uint16", "float32", "float64"))

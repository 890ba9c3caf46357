"""What generated code calls: vectors, shuffles, atomics, arithmetic of single numbers. (Given.)

There are two versions of what CPUs do not have: instructions for a GPU, and Python for Numba's simulator, which runs
each thread of a program as a thread of Python. The simulator is taken where there is no driver for a GPU, or where
`NUMBA_ENABLE_CUDASIM=1` asks for it.
"""

from __future__ import annotations

import math
import os
import sys
import threading

import numpy as np
from numba import types
from numba.core import config

from mini_triton.codegen.cuda_gen.driver import is_here

if "NUMBA_ENABLE_CUDASIM" not in os.environ and "numba.cuda" not in sys.modules and not is_here():
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # read when numba.cuda is imported
    config.ENABLE_CUDASIM = 1
SIMULATED = bool(config.ENABLE_CUDASIM)
"""Whether Numba simulates a GPU in this process."""

from numba import cuda  # noqa: E402

if SIMULATED:
    from mini_triton import exact

    def device(function):
        return function

    # --- vectors

    def _load(count):
        def load(buffer, first, memory, at):
            buffer[first : first + count] = memory[at : at + count]

        return load

    def _store(count):
        def store(buffer, first, memory, at):
            memory[at : at + count] = buffer[first : first + count]

        return store

    # --- between threads

    _slots: dict[int, object] = {}

    def shuffle_xor(value, distance):
        """What the thread has whose number in the warp differs in these bits; all threads must ask."""
        me = threading.current_thread()
        _slots[me.thread_id] = value
        me.syncthreads()
        other = _slots[me.thread_id ^ distance]
        me.syncthreads()
        return other

    _lock = threading.Lock()

    def _atomic(combine):
        def atomic(memory, at, value):
            with _lock, np.errstate(all="ignore"):
                old = memory[at]
                memory[at] = combine(old, value)
            return old

        return atomic

    def atomic_cas(memory, at, expected, value):
        with _lock:
            old = memory[at]
            if old == expected:
                memory[at] = value
        return old

    atomic_add, atomic_fadd = _atomic(np.add), _atomic(np.add)
    atomic_and, atomic_or, atomic_xor = _atomic(np.bitwise_and), _atomic(np.bitwise_or), _atomic(np.bitwise_xor)
    atomic_max, atomic_min = _atomic(np.maximum), _atomic(np.minimum)
    atomic_umax, atomic_umin = _atomic(exact.maxui), _atomic(exact.minui)
    atomic_exch = _atomic(lambda old, value: value)

    def _as(dtype):
        return lambda memory: memory.view(dtype)

    # --- bits, and functions

    def bits_of_32(x):
        return np.float32(x).view(np.int32)

    def bits_of_64(x):
        return np.float64(x).view(np.int64)

    def float_of_32(x):
        return np.int32(x).view(np.float32)

    def float_of_64(x):
        return np.int64(x).view(np.float64)

    def from_f16(bits):
        return np.float32(np.uint16(bits).view(np.float16))

    def to_f16(x):
        return np.float16(x).view(np.uint16)

    exp, exp2, log, log2, sin, cos, acos = np.exp, exact.exp2, np.log, np.log2, np.sin, np.cos, np.arccos
    sqrt, floor, ceil, absolute, fmod, erf, fma = np.sqrt, np.floor, np.ceil, np.abs, np.fmod, exact.erf, exact.fma
    mulhi_64 = exact.mulhiui
else:
    from llvmlite import ir
    from numba.cuda import libdevice

    try:
        from numba.cuda.extending import intrinsic
    except ImportError:
        from numba.extending import intrinsic

    device = cuda.jit(device=True)

    def _address(context, builder, type, memory, at):
        """Of an element: `memory` is a bare pointer, or an array of Numba's."""
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
        """What the thread has whose number in the warp differs in these bits; all threads must ask."""

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

    # --- bits, and functions

    bits_of_32, bits_of_64 = libdevice.float_as_int, libdevice.double_as_longlong
    float_of_32, float_of_64 = libdevice.int_as_float, libdevice.longlong_as_double

    @device
    def from_f16(bits):
        """The fp16 with these bits, as a float32."""
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


# --- integers


@device
def divsi(x, y):
    """`x / y`, rounded toward zero."""
    if y == 0:
        return 0
    quotient = x // y
    return quotient + (quotient * y != x and (x < 0) != (y < 0))


@device
def remsi(x, y):
    """What is left of `x` after `divsi`."""
    if y == 0:
        return 0
    rest = x % y
    return rest - y if rest != 0 and (x < 0) != (y < 0) else rest


@device
def floordivsi(x, y):
    """`x / y`, rounded down."""
    return 0 if y == 0 else x // y


@device
def ceildivsi(x, y):
    """`x / y`, rounded up."""
    return 0 if y == 0 else x // y + (x % y != 0)


@device
def divui(x, y):
    return x if y == 0 else x // y


@device
def remui(x, y):
    return y if y == 0 else x % y


# --- floats: the larger and the smaller


@device
def maximumf(x, y):
    """The larger number; NaN if one is NaN."""
    return x if x != x or x > y else y


@device
def minimumf(x, y):
    """The smaller number; NaN if one is NaN."""
    return x if x != x or x < y else y


@device
def maxnumf(x, y):
    """The larger number; the other one if one is NaN."""
    return x if y != y or x > y else y


@device
def minnumf(x, y):
    """The smaller number; the other one if one is NaN."""
    return x if y != y or x < y else y


# --- narrow floats: held as float32, stored in 16 bits


@device
def round_f16(x):
    """A float32 rounded to fp16, as a float32."""
    return from_f16(to_f16(x))


@device
def to_bf16(x):
    """The bits of the nearest bf16."""
    bits = np.uint32(bits_of_32(x))
    if x != x:
        return np.uint16((bits >> np.uint32(16)) | np.uint32(0x40))
    return np.uint16((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16))


@device
def from_bf16(bits):
    """The bf16 with these bits, as a float32."""
    return float_of_32(np.int32(np.uint32(bits) << np.uint32(16)))


@device
def round_bf16(x):
    """A float32 rounded to bf16, as a float32."""
    return from_bf16(to_bf16(x))


@device
def odd32(x):
    """A float64 as a float32, rounded to odd: see `exact.to_odd`."""
    near = np.float32(x)
    if np.float64(near) == x or x != x:
        return near
    bits = np.uint32(bits_of_32(near))
    if abs(np.float64(near)) > abs(x):
        bits = bits - np.uint32(1)
    return float_of_32(np.int32(np.uint32(bits) | np.uint32(1)))

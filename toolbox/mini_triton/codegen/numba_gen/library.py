"""Functions for generated code: scalar arithmetic that Numba lacks, and narrow floats. (Given.)

Generated code calls the functions of `mini_triton.exact`, as in the NumPy back end. This module implements them for
scalars in Numba.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

from mini_triton import exact

UNSIGNED = {types.int8: np.uint8, types.int16: np.uint16, types.int32: np.uint32, types.int64: np.uint64}
SIGNED = {types.int8: np.int8, types.int16: np.int16, types.int32: np.int32, types.int64: np.int64}
quick = njit(cache=False, error_model="numpy", inline="never", forceinline=True)


# Numba identifies a cached function by its qualified name, its types, and a number that differs between processes. Two
# functions with the same qualified name could be confused, so each has its own.
def named(name, function):
    """A function with a qualified name of its own."""
    function.__qualname__ = name
    return function


def _bits(x):
    """The unsigned and the signed NumPy integer of the size of `x`, a Numba type."""
    return UNSIGNED[x], SIGNED[x]


# --- the bits of a float


def _reinterpreting(results):
    """An intrinsic that returns a number with the bits of its argument. `results` maps types to types."""

    @intrinsic
    def reinterpret(typing, x):
        def build(context, builder, signature, arguments):
            return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

        return (results[x](x), build) if x in results else None

    return reinterpret


bits_of = _reinterpreting({types.float32: types.int32, types.float64: types.int64})
float_of = _reinterpreting({types.int32: types.float32, types.int64: types.float64})


# --- integers


@overload(exact.unsigned)
def _unsigned(x):
    if x == types.boolean:
        return lambda x: np.uint8(x)
    wide = UNSIGNED[x]
    return lambda x: wide(x)


@overload(exact.divsi)
def _divsi(x, y):
    _, signed = _bits(x)

    def divide_wide(x, y):
        quotient = x // y
        return signed(quotient + (quotient * y != x and (x < 0) != (y < 0)))

    # Processors divide vectors of floats only. With up to 32 bits, no quotient is so close to an integer that float64
    # rounds it to this integer.
    divide = quick(divide_wide if x == types.int64 else lambda x, y: signed(np.float64(x) / np.float64(y)))
    return lambda x, y: signed(x < 0) if y == 0 else signed(-x) if y == -1 else divide(x, y)


@overload(exact.remsi)
def _remsi(x, y):
    _, signed = _bits(x)
    return lambda x, y: signed(0) if y == 0 else signed(x - exact.divsi(x, y) * y)


def floordivsi(x, y):
    """`x // y`, rounded down."""
    return x // y


@overload(floordivsi)
def _floordivsi(x, y):
    _, signed = _bits(x)
    return lambda x, y: signed(0) if y == 0 else signed(-x) if y == -1 else signed(x // y)


@overload(exact.ceildivsi)
def _ceildivsi(x, y):
    _, signed = _bits(x)
    return lambda x, y: signed(0) if y == 0 else signed(-x) if y == -1 else signed(x // y + (x % y != 0))


@overload(exact.shli)
def _shli(x, y):
    wide, signed = _bits(x)
    width = x.bitwidth
    return lambda x, y: signed(wide(x) << wide(y)) if wide(y) < width else signed(0)


@overload(exact.shrui)
def _shrui(x, y):
    wide, signed = _bits(x)
    width = x.bitwidth
    return lambda x, y: signed(wide(x) >> wide(y)) if wide(y) < width else signed(0)


@overload(exact.shrsi)
def _shrsi(x, y):
    wide, signed = _bits(x)
    last = x.bitwidth - 1
    return lambda x, y: signed(x >> min(wide(y), wide(last)))


def _implement_unsigned(function, compute):
    """Implement a function of two integers by `compute`, a function of two unsigned integers."""
    compute = quick(named(f"unsigned_{function.__name__}", compute))

    @overload(function)
    def implement(x, y):
        wide, signed = _bits(x)
        return named(function.__name__, lambda x, y: signed(compute(wide(x), wide(y))))


_implement_unsigned(exact.divui, lambda x, y: y if y == 0 else x // y)
_implement_unsigned(exact.remui, lambda x, y: y if y == 0 else x % y)
_implement_unsigned(exact.maxui, lambda x, y: x if x > y else y)
_implement_unsigned(exact.minui, lambda x, y: x if x < y else y)


@overload(exact.mulhiui)
def _mulhiui(x, y):
    if x == types.int32:
        return lambda x, y: np.int32((np.uint64(np.uint32(x)) * np.uint64(np.uint32(y))) >> np.uint64(32))

    def on_paper(x, y):
        half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
        a, b = np.uint64(x), np.uint64(y)
        x_high, x_low, y_high, y_low = a >> half, a & mask, b >> half, b & mask
        middle = x_high * y_low + (x_low * y_low >> half)
        carry = x_low * y_high + (middle & mask)
        return np.int64(x_high * y_high + (middle >> half) + (carry >> half))

    return on_paper


# --- floats: the larger and the smaller


def _joined(name):
    """An intrinsic that combines the bits of two floats into a float of the same type."""

    @intrinsic
    def join(typing, x, y):
        if x != y or x not in (types.float32, types.float64):
            return None

        def build(context, builder, signature, arguments):
            integer = ir.IntType(x.bitwidth)
            bits = (builder.bitcast(argument, integer) for argument in arguments)
            return builder.bitcast(getattr(builder, name)(*bits), context.get_value_type(x))

        return x(x, x), build

    return join


_both_signs, _either_sign = _joined("and_"), _joined("or_")


@quick
def _larger(x, y):
    """The larger number; `y` if either is NaN; +0 if both are zeros of different signs."""
    return _both_signs(x, y) if x == y else x if x > y else y


@quick
def _smaller(x, y):
    """The smaller number; `y` if either is NaN; -0 if both are zeros of different signs."""
    return _either_sign(x, y) if x == y else x if x < y else y


def _implement_binary(function, compute):
    """Implement a function of two numbers of any type."""
    named(function.__name__, compute)
    overload(function)(lambda x, y: compute)


_implement_binary(exact.maximumf, lambda x, y: x if x != x else _larger(x, y))
_implement_binary(exact.minimumf, lambda x, y: x if x != x else _smaller(x, y))
_implement_binary(exact.maxnumf, lambda x, y: x if y != y else _larger(x, y))
_implement_binary(exact.minnumf, lambda x, y: x if y != y else _smaller(x, y))


@intrinsic
def fma(typing, x, y, z):
    """`x * y + z`, rounded once."""
    return x(x, x, x), lambda context, builder, signature, arguments: builder.fma(*arguments)


@overload(exact.fma)
def _exact_fma(x, y, z):
    return lambda x, y, z: fma(x, y, z)


# --- floats to integers


@overload(exact.fptosi)
def _fptosi(x, dtype):
    return _saturated(x, "int", dtype.dtype)


@overload(exact.fptoui)
def _fptoui(x, dtype):
    return _saturated(x, "uint", dtype.dtype)


def _saturated(x, kind, target):
    """`exact.saturated` for a scalar. The integer type `within` limits the range; bytes have the range of 16 bits."""
    within = getattr(types, f"{kind}{max(target.bitwidth, 16)}")
    lowest, highest = int(within.minval), int(within.maxval)
    make = getattr(np, str(within))
    result = getattr(np, str(target))
    least, most = float(lowest - 1), float(highest + 1)
    low, high = make(lowest), make(highest)
    wide = within.bitwidth == 64 or x == types.float64
    nan = make((lowest or highest // 2 + 1) if wide else 0)

    def cut(x, dtype):
        if x > least and x < most:
            return result(make(x))
        return result(high) if x > 0 else result(low) if x < 0 else result(nan)

    return named(f"saturated_{x}_{within}_{target}", cut)


# --- narrow floats: held as float32, stored in 16 bits


@intrinsic
def to_f16(typing, x):
    """The bits of the nearest fp16."""

    def build(context, builder, signature, arguments):
        return builder.bitcast(builder.fptrunc(*arguments, ir.HalfType()), ir.IntType(16))

    return types.uint16(x), build


@intrinsic
def from_f16(typing, bits):
    """The fp16 number with these bits, as a float32."""

    def build(context, builder, signature, arguments):
        return builder.fpext(builder.bitcast(*arguments, ir.HalfType()), ir.FloatType())

    return types.float32(bits), build


@quick
def round_f16(x):
    """A float32 rounded to fp16, as a float32."""
    return from_f16(to_f16(x))


@quick
def to_bf16(x):
    """The bits of the nearest bf16."""
    bits = np.uint32(bits_of(np.float32(x)))
    near = np.uint32(bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))
    return np.uint16((bits | np.uint32(0x400000)) >> np.uint32(16)) if x != x else np.uint16(near >> np.uint32(16))


@quick
def from_bf16(bits):
    return float_of(np.int32(np.uint32(np.uint16(bits)) << np.uint32(16)))


@quick
def round_bf16(x):
    return from_bf16(to_bf16(x))


@quick
def odd32(x):
    """A float64 as a float32, rounded to odd: see `exact.to_odd`."""
    near = np.float32(x)
    if np.float64(near) == x or x != x:
        return near
    bits = np.uint32(bits_of(near))
    if abs(np.float64(near)) > abs(x):
        bits -= np.uint32(1)
    return float_of(np.int32(bits | np.uint32(1)))


# --- functions with a stated error: float32, without a branch, so that LLVM makes vectors of them


def _in_memory(builder, number):
    """A float32 that LLVM does not recognize as a constant: it loads and broadcasts the number before a loop.

    `exp` needs more constants than some processors have registers for vectors. LLVM would load and broadcast all of
    them in each iteration, because it never saves constants that it recognizes to the stack.
    """
    name = f"mini_triton.{float(number).hex()}"
    if (variable := builder.module.globals.get(name)) is None:
        variable = ir.GlobalVariable(builder.module, ir.FloatType(), name)
        variable.initializer, variable.linkage = ir.Constant(ir.FloatType(), number), "linkonce_odr"
    constant = builder.load(variable)
    constant.set_metadata("invariant.load", builder.module.add_metadata([]))
    return constant


def _polynomial(*coefficients):
    """A function that evaluates a polynomial by Horner's rule. The coefficient of the highest power comes first.

    A single coefficient is a constant from memory.
    """

    @intrinsic
    def evaluate(typing, x):
        def build(context, builder, signature, arguments):
            (x,) = arguments
            total, *rest = (_in_memory(builder, coefficient) for coefficient in coefficients)
            for term in rest:
                total = builder.fadd(builder.fmul(total, x), term)
            return total

        return x(x), build

    return evaluate


def _estrin(*coefficients):
    """The same for seven coefficients, by Estrin's scheme: fewer of the fused operations wait for each other."""

    @intrinsic
    def evaluate(typing, x):
        def build(context, builder, signature, arguments):
            (x,) = arguments
            fma, square = builder.fma, builder.fmul(x, x)
            c6, c5, c4, c3, c2, c1, c0 = (_in_memory(builder, coefficient) for coefficient in coefficients)
            high = fma(fma(c6, square, fma(c5, x, c4)), square, fma(c3, x, c2))
            return fma(fma(high, x, c1), x, c0)

        return x(x), build

    return evaluate


# fmt: off
_EXP2 = _estrin(1.5461447765e-4, 1.3390866807e-3, 9.6180569381e-3, 5.5503569543e-2, 2.4022650719e-1,
                6.9314718246e-1, 1)
_EXP = _estrin(1.38145986e-3, 8.3687167e-3, 4.1668388e-2, 1.6666521e-1, 4.9999993e-1, 1, 1)
_LOG = _polynomial(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                   -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
_ERF_FAR = _polynomial(-1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2, -1.06777877e-1,
                       -6.34846687e-1, -1.28717512e-1)
_ERF_NEAR = _polynomial(-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1)
_LEAST, _MOST, _LEAST2, _MOST2, _LOG2E, _LN2, _LN2_REST, _SHIFT = map(
    _polynomial, (-110, 110, -160, 160, 1.44269504088896341, -0.693359375, 2.12194440e-4, 1.5 * 2**23 + 254)
)
# fmt: on


@quick
def _scaled(p, shifted):
    """`p` times 2 to the power of n, in two steps, because the result may be subnormal.

    `shifted` is n + _SHIFT. A float of this size has no fraction, and its last bits are n + 254, the sum of the biased
    exponents of both factors.
    """
    bits = np.uint32(bits_of(shifted))
    half = np.uint32(bits >> np.uint32(1))
    rest = np.uint32(bits - half)
    return p * float_of(np.int32(half << np.uint32(23))) * float_of(np.int32(rest << np.uint32(23)))


@quick
def exp2_f32(x):
    """2 to the power of `x`, to within 0.92 ulp."""
    x = _LEAST2(x) if _LEAST2(x) > x else x
    x = _MOST2(x) if _MOST2(x) < x else x
    shifted = x + _SHIFT(x)
    return _scaled(_EXP2(x - (shifted - _SHIFT(x))), shifted)


@quick
def exp_f32(x):
    """e to the power of `x`, to within 0.92 ulp."""
    x = _LEAST(x) if _LEAST(x) > x else x
    x = _MOST(x) if _MOST(x) < x else x
    shifted = fma(x, _LOG2E(x), _SHIFT(x))
    whole = shifted - _SHIFT(x)
    r = fma(whole, _LN2_REST(x), fma(whole, _LN2(x), x))
    return _scaled(_EXP(r), shifted)


@quick
def _log_parts(x):
    """`x` as `(1 + f) * 2**e`, with `1 + f` between sqrt(1/2) and sqrt(2); and the logarithm of `1 + f`, minus `f`."""
    small = x < np.float32(1.17549435e-38)
    y = x * np.float32(8388608.0) if small else x
    bits = bits_of(y)
    e = np.int32((bits >> np.int32(23)) - np.int32(126))
    m = float_of(np.int32((bits & np.int32(0x7FFFFF)) | np.int32(0x3F000000)))
    below = m < np.float32(0.70710678118654752440)
    e = np.int32(e - np.int32(below) - (np.int32(23) if small else np.int32(0)))
    f = (m + m if below else m) - np.float32(1)
    z = f * f
    return f, np.float32(e), _LOG(f) * f * z - np.float32(0.5) * z


@quick
def _log_special(x, result):
    if x == np.float32(0):
        return np.float32(-np.inf)
    return result if x > np.float32(0) and x < np.float32(np.inf) else x if x > np.float32(0) else np.float32(np.nan)


@quick
def log_f32(x):
    """The natural logarithm, to within 0.9 ulp."""
    f, e, rest = _log_parts(x)
    result = f + (rest + e * np.float32(-2.12194440e-4)) + e * np.float32(0.693359375)
    return _log_special(x, result)


@quick
def log2_f32(x):
    """The logarithm to base 2, to within 1.4 ulp."""
    f, e, rest = _log_parts(x)
    more = np.float32(0.44269504088896340735992)
    result = ((rest * more + f * more) + rest + f) + e
    return _log_special(x, result)


@quick
def erf_f32(x):
    """The error function: the polynomials of `exact.erf`, to within 1.2 ulp."""
    t, s = abs(x), x * x
    far = np.float32(1) - exp_f32(_ERF_FAR(t) * t - t)
    return (far if x > 0 else -far) if t > np.float32(0.927734375) else _ERF_NEAR(s) * x + x


def _implement(function, double, single):
    """Implement a function of a float by one for each type: `double` for float64 and `single` for float32."""

    @overload(function)
    def implement(x):
        compute = double if x == types.float64 else single
        return named(f"{single.__name__}_{x}", lambda x: compute(x))

    return function


exp = _implement(lambda x: np.exp(x), math.exp, exp_f32)
log = _implement(lambda x: np.log(x), np.log, log_f32)
log2 = _implement(lambda x: np.log2(x), np.log2, log2_f32)
_implement(exact.exp2, np.exp2, exp2_f32)
_implement(exact.erf, math.erf, erf_f32)

"""Functions of floats, from the GPU's approximations and from polynomials.

Source: N. Juffa's polynomials for fp32, as in NVIDIA's device library.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from mini_triton.backends.threads.elementwise import FLOATS, choose, narrow, widen
from mini_triton.backends.threads.instructions import Register, Unsupported, width_of
from mini_triton.backends.threads.threads import PURE, Threads, rule
from mini_triton.ir.core import Operation

LOG2_E, LN_2, TWO_OVER_PI = 1.4426950408889634, 0.6931471805599453, 0.6366197723675814
HALF_PI = (1.57079601e0, 3.13916473e-7, 5.39030253e-15)
"""Three numbers whose sum is almost exactly pi / 2; products of the first with small integers are exact."""
SIN = (2.86567956e-6, -1.98559923e-4, 8.33338592e-3, -1.66666672e-1)
COS = (2.44677067e-5, -1.38877297e-3, 4.16666567e-2, -0.5, 1.0)
ERF_FAR = (-1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2, -1.06777877e-1, -6.34846687e-1, -1.28717512e-1)
ERF_NEAR = (-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1)
TANH = (1.57394409e-2, -5.23025580e-2, 1.33152470e-1, -3.33327681e-1)


def number(value: float) -> str:
    """A 32-bit float as an operand."""
    return f"0f{struct.pack('>f', value).hex().upper()}"


def polynomial(threads: Threads, x: Register, coefficients: Sequence[float]) -> Register:
    """A polynomial by Horner's rule; the last coefficient is the constant."""
    value = threads.op("mov.b32", number(coefficients[0]))
    for coefficient in coefficients[1:]:
        value = threads.op("fma.rn.f32", value, x, number(coefficient))
    return value


def exp(threads: Threads, x: Register) -> Register:
    return threads.op("ex2.approx.ftz.f32", threads.op("mul.f32", x, number(LOG2_E)))


def log(threads: Threads, x: Register) -> Register:
    return threads.op("mul.f32", threads.op("lg2.approx.f32", x), number(LN_2))


def turn(threads: Threads, x: Register, quarters: int) -> Register:
    """The sine of `x` plus some quarter turns, to two units in the last place for |x| < 10^5.

    `x` is a number of quarter turns and a rest, which goes into one of two polynomials.
    """
    turns = threads.op("cvt.rni.f32.f32", threads.op("mul.f32", x, number(TWO_OVER_PI)))
    for part in HALF_PI:
        x = threads.op("fma.rn.f32", turns, number(-part), x)
    quarter = threads.op("add.s32", threads.op("cvt.rzi.s32.f32", turns), quarters)
    square = threads.op("mul.f32", x, x)
    sine = threads.op("fma.rn.f32", polynomial(threads, square, SIN), threads.op("mul.f32", x, square), x)
    is_odd, is_negative = (threads.op("setp.ne.s32", threads.op("and.b32", quarter, bit), 0) for bit in (1, 2))
    value = choose(threads, is_odd, polynomial(threads, square, COS), sine)
    return choose(threads, is_negative, threads.op("neg.f32", value), value)


def sin(threads: Threads, x: Register) -> Register:
    return turn(threads, x, 0)


def cos(threads: Threads, x: Register) -> Register:
    return turn(threads, x, 1)


def erf(threads: Threads, x: Register) -> Register:
    """The error function: a polynomial near 0, and far from 0 a polynomial in an exponent."""
    size, square = threads.op("abs.f32", x), threads.op("mul.f32", x, x)
    power = threads.op("fma.rn.f32", polynomial(threads, size, ERF_FAR), size, threads.op("neg.f32", size))
    far = threads.op("copysign.f32", x, threads.op("sub.f32", number(1.0), exp(threads, power)))
    near = threads.op("fma.rn.f32", polynomial(threads, square, ERF_NEAR), x, x)
    return choose(threads, threads.op("setp.gt.f32", size, number(0.927734375)), far, near)


def tanh(threads: Threads, x: Register) -> Register:
    """The hyperbolic tangent: a polynomial near 0, and far from 0 a quotient of exponentials."""
    size, square = threads.op("abs.f32", x), threads.op("mul.f32", x, x)
    power = threads.op("ex2.approx.ftz.f32", threads.op("mul.f32", size, number(-2 * LOG2_E)))
    one = number(1.0)
    ratio = threads.op("div.rn.f32", threads.op("sub.f32", one, power), threads.op("add.f32", power, one))
    odd = threads.op("mul.f32", polynomial(threads, square, TANH), square)
    near = threads.op("fma.rn.f32", odd, x, x)
    is_far = threads.op("setp.gt.f32", size, number(0.55))
    return choose(threads, is_far, threads.op("copysign.f32", x, ratio), near)


FUNCTIONS = {function.__name__: function for function in (exp, log, sin, cos, erf, tanh)}
EXACT = {"floor": "cvt.rmi.f32.f32", "ceil": "cvt.rpi.f32.f32", "trunc": "cvt.rzi.f32.f32", "rint": "cvt.rni.f32.f32"}
EXACT |= {"fabs": "abs.f32", "sqrt": "sqrt.rn.f32"}
INSTRUCTIONS = EXACT | {"exp2": "ex2.approx.ftz.f32", "log2": "lg2.approx.f32", "rsqrt": "rsqrt.approx.f32"}
"""Functions that are one instruction; `EXACT` ones exist for 64 bits, too."""


@rule(PURE, "tt.extern_elementwise")
@rule(PURE, *(f"math.{name}" for name in FUNCTIONS | INSTRUCTIONS if f"math.{name}" not in FLOATS))
def function(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """A function of one float, also of NVIDIA's device library: "__nv_tanhf" is the hyperbolic tangent for 32 bits."""
    type, wide = operation.result.type, width_of(operation.result.type) == 64
    name = operation.name.removeprefix("math.")
    if symbol := operation.attributes.get("symbol"):
        name = str(symbol).removeprefix("__nv_").removeprefix("fast_").removesuffix("" if wide else "f")
    if len(operands) > 1 or name not in (EXACT if wide else FUNCTIONS | INSTRUCTIONS):
        raise Unsupported(operation, f"{name} of {operation.operands[0].type}")
    if wide:
        return threads.op(EXACT[name].replace("32", "64"), *operands)
    operand = widen(threads, type, operands[0])
    found = FUNCTIONS[name](threads, operand) if name in FUNCTIONS else threads.op(INSTRUCTIONS[name], operand)
    return narrow(threads, type, found)

"""Mathematical functions of Triton and of the GPU library."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def gelu(x):
    return 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))


@triton.jit
def gelu_tanh(x):
    return 0.5 * x * (1 + libdevice.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


@triton.jit
def activations(out, x, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    if KIND == "gelu":
        result = gelu(values)
    elif KIND == "gelu_tanh":
        result = gelu_tanh(values)
    else:
        result = values * tl.sigmoid(values)
    tl.store(out + at, result.to(tl.float16), mask=at < n)


@triton.jit
def elementary(out, x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.abs(tl.load(x + at)) + 0.5
    b = tl.load(y + at)
    result = tl.exp(b) + tl.exp2(b) + tl.log(a) + tl.log2(a) + tl.sin(b) + tl.cos(b)
    result += tl.sqrt(a) + tl.rsqrt(a) + tl.floor(b) + tl.ceil(b) + tl.sqrt_rn(a) + tl.div_rn(a, b + 10.0)
    result += tl.fma(a, b, a) + a.exp() + tl.math.log(a) + tl.math.abs(b) + tl.fdiv(a, b + 9.0)
    tl.store(out + at, result)


@triton.jit
def library(out, x, y, BLOCK: tl.constexpr):
    """Functions of the GPU library, with one and two arguments, on two dtypes."""
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at)
    b = tl.load(y + at)
    result = libdevice.pow(tl.abs(a) + 1.0, b) + libdevice.atan2(a, b) + libdevice.log1p(tl.abs(a))
    result += libdevice.expm1(b) + libdevice.fast_expf(b) + tl.extra.libdevice.rint(a)
    tl.store(out + at, result)
    tl.store(out + BLOCK + at, libdevice.tanh(a.to(tl.float64)).to(tl.float32))

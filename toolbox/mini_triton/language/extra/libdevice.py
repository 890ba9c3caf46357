"""Functions of NVIDIA's device library, such as `libdevice.tanh`. (Given.)

Each function has a symbol in the library for every list of dtypes that it accepts; operands are not promoted. Most
functions have two versions, such as `__nv_tanhf` for fp32 and `__nv_tanh` for fp64.

Source: Triton's `third_party/nvidia/language/cuda/libdevice.py`; NVIDIA's libdevice user's guide.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from mini_triton.compat.missing import explain_missing
from mini_triton.ir.types import TensorType
from mini_triton.language.context import builtin
from mini_triton.language.dtypes import dtype, float32, float64, int1, int32, int64, uint32, uint64
from mini_triton.language.tensor import broadcast_together, build, convert, tensor, to_tensor

Signature = tuple[dtype, ...]
Versions = dict[Signature, tuple[str, dtype]]

UNARY = """
acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erf erfc erfcinv erfcx erfinv exp
exp10 exp2 expm1 floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf normcdfinv rcbrt rint round rsqrt sin
sinh sinpi sqrt tan tanh tgamma trunc y0 y1
""".split()
BINARY = "atan2 copysign fdim fmod hypot nextafter remainder rhypot".split()
TERNARY = "fma norm3d rnorm3d".split()
QUATERNARY = "norm4d rnorm4d".split()
ROUNDINGS = ("rn", "rz", "rd", "ru")  # to nearest, toward zero, down, up
FAST = "cosf exp10f expf log10f log2f logf sinf tanf".split()
C_TYPES = {"int": int32, "uint": uint32, "ll": int64, "ull": uint64, "float": float32, "double": float64}


def _of_floats(name: str, operands: int) -> Versions:
    return {
        (float32,) * operands: (f"__nv_{name}f", float32),
        (float64,) * operands: (f"__nv_{name}", float64),
    }


def _to(name: str, result: dtype, narrow: str = "f", wide: str = "") -> Versions:
    return {(float32,): (f"__nv_{name}{narrow}", result), (float64,): (f"__nv_{name}{wide}", result)}


def _with_int(name: str, int_first: bool = False) -> Versions:
    return {
        (int32, float) if int_first else (float, int32): (f"__nv_{name}{suffix}", float)
        for float, suffix in ((float32, "f"), (float64, ""))
    }


def _rounded(rounding: str) -> dict[str, Versions]:
    """The functions with this rounding."""
    table: dict[str, Versions] = {f"double2float_{rounding}": {(float64,): (f"__nv_double2float_{rounding}", float32)}}
    table[f"fma_{rounding}"] = {
        (float32,) * 3: (f"__nv_fmaf_{rounding}", float32),
        (float64,) * 3: (f"__nv_fma_{rounding}", float64),
    }
    for name, operands in {"add": 2, "sub": 2, "mul": 2, "div": 2, "sqrt": 1, "rcp": 1}.items():
        table[f"{name}_{rounding}"] = {
            (float32,) * operands: (f"__nv_f{name}_{rounding}", float32),
            (float64,) * operands: (f"__nv_d{name}_{rounding}", float64),
        }
    for floating, integer in itertools.product(("float", "double"), ("int", "uint", "ll", "ull")):
        name = f"{floating}2{integer}_{rounding}"
        signed = C_TYPES[integer.removeprefix("u")]  # Triton calls unsigned results signed
        table[name] = {(C_TYPES[floating],): (f"__nv_{name}", signed)}
        if floating == "float" or integer.endswith("ll"):  # a double holds every int
            name = f"{integer}2{floating}_{rounding}"
            table[name] = {(C_TYPES[integer],): (f"__nv_{name}", C_TYPES[floating])}
    return table


TABLE: dict[str, Versions] = {
    **{name: _of_floats(name, 1) for name in UNARY},
    **{name: _of_floats(name, 2) for name in BINARY},
    **{name: _of_floats(name, 3) for name in TERNARY},
    **{name: _of_floats(name, 4) for name in QUATERNARY},
    **{f"fast_{name}": {(float32,): (f"__nv_fast_{name}", float32)} for name in FAST},
    "fast_powf": {(float32, float32): ("__nv_fast_powf", float32)},
    "fast_dividef": {(float32, float32): ("__nv_fast_fdividef", float32)},
    "saturatef": {(float32,): ("__nv_saturatef", float32)},
    "rsqrt_rn": {(float32,): ("__nv_frsqrt_rn", float32)},
    "pow": _with_int("powi") | _of_floats("pow", 2),
    "ldexp": _with_int("ldexp"),
    "scalbn": _with_int("scalbn"),
    "jn": _with_int("jn", int_first=True),
    "yn": _with_int("yn", int_first=True),
    "ilogb": _to("ilogb", int32),
    "llrint": _to("llrint", int64),
    "llround": _to("llround", int64),
    "signbit": _to("signbit", int32, "f", "d"),
    "isnan": _to("isnan", int32, "f", "d"),
    "isinf": _to("isinf", int32, "f", "d"),
    "finitef": {(float32,): ("__nv_finitef", int32)},
    "isfinited": {(float64,): ("__nv_isfinited", int32)},
    "abs": {(int32,): ("__nv_abs", int32), (int64,): ("__nv_llabs", int64), **_of_floats("fabs", 1)},
    "clz": {(int32,): ("__nv_clz", int32), (int64,): ("__nv_clzll", int32)},
    "popc": {(int32,): ("__nv_popc", int32), (int64,): ("__nv_popcll", int32)},
    "ffs": {(int32,): ("__nv_ffs", int32), (int64,): ("__nv_ffsll", int32)},
    "brev": {(int32,): ("__nv_brev", int32), (int64,): ("__nv_brevll", int64)},
    "byte_perm": {(int32, int32, int32): ("__nv_byte_perm", int32)},
    "mul24": {(int32, int32): ("__nv_mul24", int32), (uint32, uint32): ("__nv_umul24", uint32)},
    "hadd": {(int32, int32): ("__nv_hadd", int32), (uint32, uint32): ("__nv_uhadd", uint32)},
    "rhadd": {(int32, int32): ("__nv_rhadd", int32), (uint32, uint32): ("__nv_urhadd", uint32)},
    "sad": {(int32, int32, uint32): ("__nv_sad", int32), (uint32, uint32, uint32): ("__nv_usad", uint32)},
    "mulhi": {
        (int32, int32): ("__nv_mulhi", int32),
        (uint32, uint32): ("__nv_umulhi", uint32),
        (int64, int64): ("__nv_mul64hi", int64),
        (uint64, uint64): ("__nv_umul64hi", uint64),
    },
    "int_as_float": {(int32,): ("__nv_int_as_float", float32)},
    "uint_as_float": {(uint32,): ("__nv_uint_as_float", float32)},
    "float_as_int": {(float32,): ("__nv_float_as_int", int32)},
    "float_as_uint": {(float32,): ("__nv_float_as_uint", int32)},
    "longlong_as_double": {(int64,): ("__nv_longlong_as_double", float64)},
    "double_as_longlong": {(float64,): ("__nv_double_as_longlong", int64)},
    "double2hiint": {(float64,): ("__nv_double2hiint", int32)},
    "double2loint": {(float64,): ("__nv_double2loint", int32)},
    "hiloint2double": {(int32, int32): ("__nv_hiloint2double", float64)},
    "int2double_rn": {(int32,): ("__nv_int2double_rn", float64)},
    "uint2double_rn": {(uint32,): ("__nv_uint2double_rn", float64)},
    **{name: versions for rounding in ROUNDINGS for name, versions in _rounded(rounding).items()},
}

PREDICATES = ("isnan", "isinf", "finitef", "isfinited")
"""The symbols of these functions return an int32, which becomes an int1."""


def call(name: str, *xs: Any) -> tensor:
    """Call function `name` of the device library on broadcast operands.

    Raises `ValueError` if the function has no version for these dtypes.
    """
    tensors = broadcast_together(*map(to_tensor, xs))
    dtypes = tuple(x.dtype for x in tensors)
    if dtypes not in TABLE[name]:
        known = ", ".join(map(spelled, TABLE[name]))
        raise ValueError(
            f"input arg type does not match. Expect one of {known}, got {spelled(dtypes)} for libdevice.{name}"
        )
    symbol, dtype = TABLE[name][dtypes]
    shape = tensors[0].shape
    result = TensorType(shape, dtype.ir_type) if shape else dtype.ir_type
    called = build(
        "tt.extern_elementwise", *tensors, dtype=dtype, result=result, symbol=symbol, libname="", libpath="", pure=True
    )
    return convert(called, int1) if name in PREDICATES else called


def _function(name: str) -> Callable[..., tensor]:
    def function(*operands: Any) -> tensor:
        return call(name, *operands)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"NVIDIA's function `{name}`."
    return builtin(function)


def __getattr__(name: str) -> Any:
    if name not in TABLE:
        raise AttributeError(explain_missing("tl.extra.libdevice", name))
    globals()[name] = _function(name)
    return globals()[name]


def spelled(dtypes: Iterable[Any]) -> str:
    """Dtypes as text, for messages: `(fp32, fp32)`."""
    return f"({', '.join(map(str, dtypes))})"

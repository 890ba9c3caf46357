"""The language's dtypes, by pattern matching and single dispatch."""

import functools


def precedence(operand: dtype) -> tuple[int, ...]:
    """Sorts the dtype that prevails to the front."""
    floats = (float64, float32, float16, bfloat16)
    rung = floats.index(operand) if operand in floats else 4 + operand.is_int()
    return rung, -operand.width, operand.signed


@functools.singledispatch
def dtype_of(value: float) -> dtype:
    """The dtype of a number by its Python type."""
    magnitude = abs(value)
    normal = SMALLEST_NORMAL_FP32 <= magnitude <= LARGEST_FP32
    return float32 if normal or magnitude in (0.0, math.inf) or math.isnan(value) else float64


@dtype_of.register
def _(value: bool) -> dtype:
    return int1


@dtype_of.register
def _(value: int) -> dtype:
    holders = [d for d in (int32, uint32, int64, uint64) if d.int_range()[0] <= value <= d.int_range()[1]]
    if holders:
        return holders[0]
    raise ValueError(f"no integer dtype holds {value}")


def promote(lhs: dtype, rhs: dtype, div_or_mod: bool = False) -> dtype:
    match sorted((lhs, rhs), key=precedence):
        case [dtype(name="fp64" | "fp32") as strongest, _]:
            return strongest
        case [dtype(name="fp16" | "bf16"), _] if div_or_mod:
            return float32
        case [dtype(name="fp16"), _]:
            return float16
        case [dtype(name="bf16") as first, second]:
            return first if first == second else float32
        case [dtype(kind=Kind.FLOAT) as first, dtype(kind=Kind.FLOAT) as second]:
            return first if first == second else float16
        case [dtype(kind=Kind.FLOAT), _]:
            raise TypeError(f"unexpected type {lhs} and {rhs}")
        case [first, second] if div_or_mod and first.signed is not second.signed:
            raise TypeError(f"{lhs} and {rhs} have different signedness")
        case [first, _]:
            return first


def literal_dtype(value: bool | int | float) -> dtype:
    return dtype_of(value)


def cast_steps(src: dtype | pointer_type, dst: dtype | pointer_type) -> list[CastStep]:
    if src == dst:
        return []
    if src.is_ptr() or dst.is_ptr():
        return _pointer_cast_steps(src, dst)
    assert isinstance(src, dtype) and isinstance(dst, dtype)
    match src, dst:
        case (dtype(kind=Kind.FLOAT), dtype(kind=Kind.FLOAT)) if 8 in (src.width, dst.width):
            return [("tt.fp_to_fp", dst)]
        case _ if src.is_fp8() or dst.is_fp8():
            raise TypeError(f"no cast from {src} to {dst}")
        case (dtype(name="fp16" | "bf16"), dtype(name="fp32")):
            return [("arith.extf", dst)]
        case (dtype(name="fp16" | "bf16"), _):
            return cast_steps(src, float32) + cast_steps(float32, dst)
        case (_, dtype(kind=Kind.BOOL)):
            op = "cmpf" if src.is_floating() else "cmpi"
        case (dtype(kind=Kind.FLOAT), dtype(kind=Kind.FLOAT)):
            op = "truncf" if src.width > dst.width else "extf"
        case (dtype(kind=Kind.FLOAT), dtype(signed=signed)):
            op = "fptosi" if signed else "fptoui"
        case (dtype(signed=signed), dtype(kind=Kind.FLOAT)):
            op = "sitofp" if signed else "uitofp"
        case _ if src.ir_type == dst.ir_type:
            return []
        case (dtype(signed=signed), _) if src.width < dst.width:
            op = "extsi" if signed else "extui"
        case _:
            op = "trunci"
    return [(f"arith.{op}", dst)]

"""The language's dtypes, with one `if` for every case."""


def promote(lhs: dtype, rhs: dtype, div_or_mod: bool = False) -> dtype:
    if lhs == float64 or rhs == float64:
        return float64
    if lhs == float32 or rhs == float32:
        return float32
    if lhs == float16 or rhs == float16:
        if div_or_mod:
            return float32
        else:
            return float16
    if lhs == bfloat16 and rhs == bfloat16:
        if div_or_mod:
            return float32
        else:
            return bfloat16
    if lhs == bfloat16 or rhs == bfloat16:
        return float32
    lhs_is_fp8 = lhs == float8e5 or lhs == float8e4nv
    rhs_is_fp8 = rhs == float8e5 or rhs == float8e4nv
    if lhs_is_fp8 and rhs_is_fp8:
        if lhs == rhs:
            return lhs
        else:
            return float16
    if lhs_is_fp8 or rhs_is_fp8:
        raise TypeError("unexpected type " + lhs.name + " and " + rhs.name)
    if div_or_mod and lhs.signed != rhs.signed:
        raise TypeError(lhs.name + " and " + rhs.name + " have different signedness")
    if lhs.signed == rhs.signed:
        if lhs.width > rhs.width:
            return lhs
        else:
            return rhs
    if lhs.signed:
        if rhs.width >= lhs.width:
            return rhs
        else:
            return lhs
    else:
        if lhs.width >= rhs.width:
            return lhs
        else:
            return rhs


def literal_dtype(value: bool | int | float) -> dtype:
    if value is True or value is False:
        return int1
    if type(value) is int:
        if value >= -(2**31) and value < 2**31:
            return int32
        elif value >= 0 and value < 2**32:
            return uint32
        elif value >= -(2**63) and value < 2**63:
            return int64
        elif value >= 0 and value < 2**64:
            return uint64
        else:
            raise ValueError("no dtype holds " + str(value))
    if value != value:
        return float32
    if value == 0.0:
        return float32
    if value == float("inf") or value == float("-inf"):
        return float32
    if value < 0:
        value = -value
    if value < SMALLEST_NORMAL_FP32:
        return float64
    if value > LARGEST_FP32:
        return float64
    return float32


def promote_literal(tensor: dtype, value: bool | int | float, div_or_mod: bool = False) -> dtype:
    own = literal_dtype(value)
    if own.kind <= tensor.kind:
        result = tensor
        if div_or_mod:
            if result == float16 or result == bfloat16:
                result = float32
    else:
        result = promote(tensor, own, div_or_mod)
    if result.is_floating():
        return result
    smallest, largest = result.int_range()
    if value < 0:
        if smallest == 0:
            raise ValueError("Cannot perform a binary operation between an unsigned tensor and a negative scalar")
    if value < smallest or value > largest:
        raise ValueError("Scalar " + str(value) + " is out of range for type " + result.name)
    return result


def cast_steps(src: dtype | pointer_type, dst: dtype | pointer_type) -> list[CastStep]:
    if src == dst:
        return []
    if src.is_ptr() or dst.is_ptr():
        return _pointer_cast_steps(src, dst)
    assert isinstance(src, dtype) and isinstance(dst, dtype)
    steps: list[CastStep] = []
    src_is_fp8 = src == float8e5 or src == float8e4nv
    dst_is_fp8 = dst == float8e5 or dst == float8e4nv
    if src_is_fp8 or dst_is_fp8:
        if not src.is_floating() or not dst.is_floating():
            raise TypeError("cannot cast " + src.name + " to " + dst.name)
        steps.append(("tt.fp_to_fp", dst))
        return steps
    if src == float16 or src == bfloat16:
        steps.append(("arith.extf", float32))
        src = float32
        if dst == float32:
            return steps
    if dst == int1:
        if src.is_floating():
            steps.append(("arith.cmpf", dst))
        else:
            steps.append(("arith.cmpi", dst))
    elif src.is_floating():
        if dst.is_floating():
            if dst.width > src.width:
                steps.append(("arith.extf", dst))
            else:
                steps.append(("arith.truncf", dst))
        else:
            if dst.signed:
                steps.append(("arith.fptosi", dst))
            else:
                steps.append(("arith.fptoui", dst))
    else:
        if dst.is_floating():
            if src.signed:
                steps.append(("arith.sitofp", dst))
            else:
                steps.append(("arith.uitofp", dst))
        elif dst.width < src.width:
            steps.append(("arith.trunci", dst))
        elif dst.width > src.width:
            if src.signed:
                steps.append(("arith.extsi", dst))
            else:
                steps.append(("arith.extui", dst))
    return steps

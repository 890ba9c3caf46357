def apply(name: str, *xs: Any, accepted: tuple[dtype, ...] = (float32, float64)) -> tensor:
    for x in xs:
        if isinstance(x, tensor):
            found = False
            for good in accepted:
                if x.dtype == good:
                    found = True
            if not found:
                names = []
                for good in accepted:
                    names.append(good.name)
                raise ValueError("Expected dtype " + str(names) + " but got " + repr(x.dtype))
    if len(xs) == 1:
        return build(name, to_tensor(xs[0]))
    left = to_tensor(xs[0])
    right = to_tensor(xs[1])
    left, right = operands(left, right)
    return build(name, left, right)


def abs(x: Any) -> tensor:
    x = to_tensor(x)
    if x.dtype.is_ptr():
        raise TypeError("unexpected type " + repr(x.dtype))
    if x.dtype.is_floating():
        return build("math.absf", x)
    if x.dtype.signed:
        return build("math.absi", x)
    return x


def extremum(word: str, x: Any, y: Any, propagate_nan: PropagateNan) -> tensor:
    x = without_bfloat16(x)
    y = without_bfloat16(y)
    x, y = operands(x, y)
    if x.dtype.is_floating():
        if propagate_nan == PropagateNan.ALL:
            return build("arith." + word + "imumf", x, y)
        elif propagate_nan == PropagateNan.NONE:
            return build("arith." + word + "numf", x, y)
        else:
            raise ValueError("Unexpected propagate_nan " + str(propagate_nan))
    elif x.dtype.signed:
        return build("arith." + word + "si", x, y)
    else:
        return build("arith." + word + "ui", x, y)


def clamp(x: Any, min: Any, max: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> tensor:
    x = without_bfloat16(x)
    lower = without_bfloat16(min)
    upper = without_bfloat16(max)
    lower, upper = operands(lower, upper)
    x, lower = operands(x, lower)
    x, upper = operands(x, upper)
    if x.dtype.is_int():
        raise TypeError("clamp takes floats, not " + repr(x.dtype))
    if propagate_nan == PropagateNan.ALL:
        words = "all"
    elif propagate_nan == PropagateNan.NONE:
        words = "none"
    else:
        raise ValueError(f"propagate_nan cannot be {propagate_nan!r}")
    return build("tt.clampf", x, lower, upper, propagateNan=words)


def fma(x: Any, y: Any, z: Any) -> tensor:
    x = to_tensor(x)
    y = to_tensor(y)
    z = to_tensor(z)
    x, y = operands(x, y)
    z, x = operands(z, x)
    z, y = operands(z, y)
    if x.dtype.is_int():
        raise TypeError("fma takes floats, not " + repr(x.dtype))
    return build("math.fma", x, y, z)


def where(condition: Any, x: Any, y: Any) -> tensor:
    condition = to_tensor(condition)
    if condition.dtype != int1:
        condition = convert(condition, int1)
    x, y = operands(x, y, pointers=True)
    if x.dtype != y.dtype:
        raise TypeError("where cannot choose between " + repr(x.dtype) + " and " + repr(y.dtype))
    condition, x = broadcast_together(condition, x)
    x, y = broadcast_together(x, y)
    condition, x = broadcast_together(condition, x)
    return build("arith.select", condition, x, y, dtype=x.dtype)

def kind_of(x: tensor) -> str:
    """How the elements are computed with; `TypeError` for pointers."""
    return choose(x.dtype, "float", "signed", "unsigned")


ABSOLUTE: dict[str, Any] = {
    "float": lambda x: build("math.absf", x),
    "signed": lambda x: build("math.absi", x),
    "unsigned": lambda x: x,
}

EXTREMA = {
    ("float", PropagateNan.NONE): "numf",
    ("float", PropagateNan.ALL): "imumf",
    ("signed", None): "si",
    ("unsigned", None): "ui",
}


def _together(values: list[tensor], pairs: tuple[tuple[int, int], ...]) -> None:
    """Promote and broadcast these pairs, in this order."""
    for i, j in pairs:
        values[i], values[j] = operands(values[i], values[j])


def _only_floats(what: str, x: tensor) -> None:
    if kind_of(x) != "float":
        raise TypeError(f"Unexpected dtype {x.dtype} for {what}")


def apply(name: str, *xs: Any, accepted: tuple[dtype, ...] = (float32, float64)) -> tensor:
    names = [d.name for d in accepted]
    refused = [x.dtype for x in xs if isinstance(x, tensor) and x.dtype not in accepted]
    if refused:
        raise ValueError(f"Expected dtype {names} but got {refused[0]}")
    fit = {1: lambda x: (x,), 2: operands}[len(xs)]
    return build(name, *fit(*map(to_tensor, xs)))


def abs(x: Any) -> tensor:
    x = to_tensor(x)
    return ABSOLUTE[kind_of(x)](x)


def extremum(word: str, x: Any, y: Any, propagate_nan: PropagateNan) -> tensor:
    x, y = operands(without_bfloat16(x), without_bfloat16(y))
    kind = kind_of(x)
    key = propagate_nan if kind == "float" else None
    if (kind, key) not in EXTREMA:
        raise ValueError(f"Unexpected propagate_nan {propagate_nan}")
    return build(f"arith.{word}{EXTREMA[kind, key]}", x, y)


def clamp(x: Any, min: Any, max: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> tensor:
    values = [*map(without_bfloat16, (x, min, max))]
    _together(values, ((1, 2), (0, 1), (0, 2)))
    _only_floats("clamp", values[0])
    if not isinstance(propagate_nan, PropagateNan):
        raise ValueError(f"propagate_nan cannot be {propagate_nan!r}")
    return build("tt.clampf", *values, propagateNan=propagate_nan.value)


def fma(x: Any, y: Any, z: Any) -> tensor:
    values = [*map(to_tensor, (x, y, z))]
    _together(values, ((0, 1), (2, 0), (2, 1)))
    _only_floats("fma", values[0])
    return build("math.fma", *values)


def where(condition: Any, x: Any, y: Any) -> tensor:
    condition = convert(to_tensor(condition), int1)
    pair = operands(x, y, pointers=True)
    dtypes = {value.dtype for value in pair}
    if len(dtypes) > 1:
        raise TypeError(f"where cannot choose between {pair[0].dtype} and {pair[1].dtype}")
    return build("arith.select", *broadcast_together(condition, *pair), dtype=dtypes.pop())

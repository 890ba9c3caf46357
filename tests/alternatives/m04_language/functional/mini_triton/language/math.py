def _floats(*xs: tensor) -> tuple[tensor, ...]:
    if any(not x.dtype.is_floating() for x in xs):
        raise TypeError(f"Unexpected dtype {xs[0].dtype}: only floats are supported")
    return xs


def apply(name: str, *xs: Any, accepted: tuple[str, ...]) -> tensor:
    def checked(x: Any) -> Any:
        if isinstance(x, tensor) and not any(repr(x.dtype) == d for d in accepted):
            raise ValueError(f"Expected dtype {[*accepted]} but got {x.dtype}")
        return x

    ready = [to_tensor(x) for x in [*map(checked, xs)]]
    return build(name, *ready) if len(ready) == 1 else build(name, *unify(*ready))


def abs(x: Any) -> tensor:
    x = to_tensor(x)
    name = choose(x.dtype, "math.absf", "math.absi", " ")
    return build(name, x) if name.strip() else x


def extremum(word: str, x: Any, y: Any, propagate_nan: PropagateNan) -> tensor:
    def name(dtype: Any) -> str:
        if not dtype.is_floating():
            return f"{word}{'s' if dtype.signed else 'u'}i"
        try:
            return word + {PropagateNan.NONE: "num", PropagateNan.ALL: "imum"}[propagate_nan] + "f"
        except KeyError:
            raise ValueError(f"Unexpected propagate_nan {propagate_nan}") from None

    pair = unify(*map(without_bfloat16, (x, y)))
    return build(f"arith.{name(pair[0].dtype)}", *pair)


def clamp(x: Any, min: Any, max: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> tensor:
    low, high = unify(without_bfloat16(min), without_bfloat16(max))
    value, low = unify(without_bfloat16(x), low)
    value, high = unify(value, high)
    if not value.dtype.is_floating():
        raise TypeError(f"only floats can be clamped, not {value.dtype}")
    if propagate_nan not in (PropagateNan.ALL, PropagateNan.NONE):
        raise ValueError(f"propagate_nan cannot be {propagate_nan!r}")
    return build("tt.clampf", value, low, high, propagateNan="all" if propagate_nan is PropagateNan.ALL else "none")


def fma(x: Any, y: Any, z: Any) -> tensor:
    a, b = unify(*map(to_tensor, (x, y)))
    c, a = unify(to_tensor(z), a)
    c, b = unify(c, b)
    return build("math.fma", *_floats(a, b, c))


def where(condition: Any, x: Any, y: Any) -> tensor:
    def same(a: tensor, b: tensor) -> tuple[tensor, tensor]:
        if repr(a.dtype) != repr(b.dtype):
            raise TypeError(f"{a.dtype} and {b.dtype}: where takes one dtype")
        return a, b

    values = same(*unify(x, y, pointers=True))
    return build(
        "arith.select", *broadcast_together(convert(to_tensor(condition), int1), *values), dtype=values[0].dtype
    )

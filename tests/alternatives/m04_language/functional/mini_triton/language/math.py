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


def where(condition: Any, x: Any, y: Any) -> tensor:
    def same(a: tensor, b: tensor) -> tuple[tensor, tensor]:
        if repr(a.dtype) != repr(b.dtype):
            raise TypeError(f"{a.dtype} and {b.dtype}: where takes one dtype")
        return a, b

    values = same(*unify(x, y, pointers=True))
    return build(
        "arith.select", *broadcast_together(convert(to_tensor(condition), int1), *values), dtype=values[0].dtype
    )

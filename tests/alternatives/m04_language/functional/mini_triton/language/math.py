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

def unify(x: Any, y: Any, *, div_or_mod: bool = False, pointers: bool = False) -> tuple[tensor, tensor]:
    x, y = unwrap(x), unwrap(y)

    def common() -> Any:
        match [value for value in (x, y) if isinstance(value, tensor)]:
            case [one]:
                return promote_literal(one.dtype, y if one is x else x, div_or_mod)
        return promote(*map(dtype_of, (x, y)), div_or_mod)

    def fitted(value: Any, dtype: Any) -> tensor:
        return convert(value, dtype) if isinstance(value, tensor) else make_scalar(value, dtype)

    if _check_pointers(dtype_of(x), dtype_of(y), pointers):
        pair = map(to_tensor, (x, y))
    else:
        dtype = common()
        pair = (fitted(value, dtype) for value in (x, y))
    left, right = broadcast_together(*pair)
    return left, right


def made(name: Callable[[Any], str], **options: Any) -> Callable[[Any, Any], tensor]:
    """An operator: its operands as `unify` gives them, then the operation whose name depends on the dtype."""

    def apply(x: Any, y: Any) -> tensor:
        pair = unify(x, y, **options)
        return build(name(pair[0].dtype), *pair)

    return apply


def refuse(words: str) -> Any:
    """A `TypeError`, as an expression."""
    raise TypeError(words)


def add(x: Any, y: Any) -> tensor:
    pair = sorted(unify(x, y, pointers=True), key=lambda operand: not operand.dtype.is_ptr())
    first, second = pair if pair[0].dtype.is_ptr() else unify(x, y)
    if second.dtype.is_ptr():
        refuse("cannot add pointers together")
    if not first.dtype.is_ptr():
        return build(choose(first.dtype, "arith.addf", "arith.addi"), first, second)
    low, _ = second.dtype.int_range()
    return build("tt.addptr", first, convert(second, int64) if low == 0 and second.dtype.width < 64 else second)


def mul(x: Any, y: Any) -> tensor:
    return made(lambda dtype: choose(dtype, "arith.mulf", "arith.muli"))(x, y)

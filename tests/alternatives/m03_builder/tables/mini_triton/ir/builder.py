from functools import reduce


def _wrapped(value: bool | int, width: int) -> int:
    """The signed integer with these bits."""
    if value not in range(-(2**width) // 2, 2**width):
        raise ValueError(f"{value} does not fit into {width} bits")
    return (int(value) + 2**width // 2) % 2**width - 2**width // 2


def _truth(value: bool | int, width: int) -> bool:
    if value not in (0, 1):
        raise ValueError(f"{value} is neither true nor false")
    return value == 1


_STORE: dict[tuple[type, bool], Callable[..., bool | int | float]] = {
    (FloatType, False): lambda value, width: float(value),
    (IntegerType, False): _wrapped,
    (IntegerType, True): _truth,
}


class Builder:
    @contextmanager
    def _with(self, **new: Any) -> Iterator[None]:
        """Inside the `with`, these attributes have other values."""
        old = {name: getattr(self, name) for name in new}
        vars(self).update(new)
        try:
            yield
        finally:
            vars(self).update(old)

    def at_end(self, block: Block) -> Iterator[None]:
        with self._with(block=block, anchor=None):
            yield

    def before(self, operation: Operation) -> Iterator[None]:
        if not operation.parent:
            raise ValueError(f"there is no place before {operation.name}: it is in no block")
        with self._with(block=operation.parent, anchor=operation):
            yield

    def location(self, loc: Loc | None) -> Iterator[None]:
        with self._with(loc=loc):
            yield

    def constant(self, value: bool | int | float, type: Type) -> OpResult:
        element = element_type(type)
        store = _STORE.get((element.__class__, element == I1))
        if store is None or isinstance(value, float) and not isinstance(element, FloatType):
            raise TypeError(f"no constant of type {type} is {value!r}")
        return self.create("arith.constant", value=store(value, element.width), result=type)

    def cast(self, value: Value, steps: Iterable[tuple[str, HasIRType]]) -> Value:
        special = {
            "arith.cmpi": lambda v, _: self.compare("ne", v, self.constant(0, v.type)),
            "arith.cmpf": lambda v, _: self.compare("une", v, self.constant(0, v.type)),
            "tt.fp_to_fp": lambda v, target: self.create(
                "tt.fp_to_fp", v, result=target, **({"rounding": "rtne"} if width(target) < width(v.type) else {})
            ),
        }

        def apply(v: Value, step: tuple[str, HasIRType]) -> Value:
            name, target = step[0], with_element(v.type, step[1].ir_type)
            return special.get(name, lambda v, target: self.create(name, v, result=target))(v, target)

        return reduce(apply, steps, value)

LENGTHS = tuple(2**i for i in range(21))


def starts(facts: Facts, run: int, unit: int = 1) -> int:
    if run >= facts.contiguity:
        return facts.divisibility
    first, stride = facts.divisibility, run * unit
    while stride % first:
        first //= 2
    return first


def longest(*facts: int) -> int:
    """The longest run that fits into all of these."""
    return max(length for length in LENGTHS if all(fact % length == 0 for fact in facts))


def add(size: int, x: Facts, y: Facts, unit: int = 1) -> Facts:
    ways = [longest(x.contiguity, y.constancy), longest(y.contiguity, x.constancy)]
    run = sorted(ways)[-1]
    first, second = starts(x, run, unit), starts(y, run) * unit
    return Facts(constancy=longest(x.constancy, y.constancy), contiguity=run, divisibility=min(first, second))


def multiply(size: int, x: Facts, y: Facts) -> Facts:
    match x.value, y.value:
        case 1, _:
            return y
        case _, 1:
            return x
    exponents = (starts(x, 1).bit_length() - 1) + (starts(y, 1).bit_length() - 1)
    return Facts(1, 1 << min(62, exponents), longest(x.constancy, y.constancy))


def between(x: Facts, y: Facts) -> int:
    """Runs of `x` that begin at its multiples, as the runs of multiples of `y` do. Also of parts of an axis."""
    return longest(x.contiguity, y.constancy, x.divisibility, y.divisibility)


def divide(size: int, x: Facts, y: Facts) -> Facts:
    steady = max(longest(x.constancy, y.constancy), between(x, y) if y.contiguity == 1 else 1)
    divisor = y.value or 0
    exact = divisor > 0 and divisor.bit_count() == 1
    return Facts(1, max(starts(x, 1) // divisor, 1) if exact else 1, steady)


def remainder(size: int, x: Facts, y: Facts) -> Facts:
    run = between(x, y) if y.contiguity == 1 else 1
    return Facts(run, longest(starts(x, run), starts(y, run)), longest(x.constancy, y.constancy))


def compare(size: int, x: Facts, y: Facts, predicate: str) -> Facts:
    order = predicate.lstrip("su") if predicate not in ("eq", "ne") else predicate
    runs = [longest(x.constancy, y.constancy)]
    if order in ("lt", "ge") and y.contiguity == 1:
        runs.append(between(x, y))
    if order in ("gt", "le") and x.contiguity == 1:
        runs.append(between(y, x))
    return Facts(constancy=max(runs))


def join(x: Facts, y: Facts, unit: int = 1) -> Facts:
    run = longest(x.contiguity, y.contiguity)
    value = x.value if x.value is not None and x.value == y.value else None
    both = (starts(facts, run, unit) for facts in (x, y))
    return Facts(run, min(both), longest(x.constancy, y.constancy), value)


def range_info(operation: Operation, infos: Sequence[Info]) -> Info:
    first, last = operation.attributes["start"], operation.attributes["end"]
    return (Facts(contiguity=last - first, divisibility=power_of_two(first)),)


def constant_info(operation: Operation, infos: Sequence[Info]) -> Info:
    type, value = operation.result.type, operation.attributes["value"]
    if is_integer(type):
        one = Facts(divisibility=power_of_two(value), value=value)
        return tuple(one._replace(constancy=size) for size in sizes(type))
    return unknown(type)


def expand_info(operation: Operation, infos: Sequence[Info]) -> Info:
    (old,) = infos
    alone = [starts(facts, 1, unit_of(operation.result.type)) for facts in old]
    result = list(old)
    result.insert(operation.attributes["axis"], Facts(divisibility=sorted(alone)[-1], value=old[-1].value))
    return tuple(result)


def broadcast_info(operation: Operation, infos: Sequence[Info]) -> Info:
    def repeat(axis: int, facts: Facts) -> Facts:
        size = sizes(operation.result.type)[axis]
        repeated = sizes(operation.operands[0].type)[axis] < size
        return Facts(facts.contiguity, facts.divisibility, size, facts.value) if repeated else facts

    return tuple(repeat(axis, facts) for axis, facts in enumerate(infos[0]))


class AxisAnalysis:
    def visit_if(self, operation: Operation, infos: Sequence[Info]) -> Sequence[Info]:
        if not operation.results:
            for region in operation.regions:
                for block in region.blocks:
                    self.visit(block)
            return []
        then, otherwise = (self.visit(region.block) for region in operation.regions)
        return merge(operation.results, then, otherwise)

    def visit_for(self, operation: Operation, infos: Sequence[Info]) -> Sequence[Info]:
        bounds, initial = infos[:3], list(infos[3:])
        block = operation.regions[0].block
        first, step = (bounds[i][0].divisibility for i in (0, 2))
        self.infos[block.arguments[0]] = (Facts(1, min(first, step)),)

        def settle(carried: list[Info]) -> list[Info]:
            for argument, info in zip(block.arguments[1:], carried, strict=True):
                self.infos[argument] = info
            weaker = merge(block.arguments[1:], self.visit(block), carried)
            return carried if weaker == carried else settle(weaker)

        return settle(initial)

    def visit_while(self, operation: Operation, infos: Sequence[Info]) -> Sequence[Info]:
        condition, body = (region.block for region in operation.regions)

        def settle(carried: list[Info]) -> list[Info]:
            self.infos |= dict(zip(condition.arguments, carried, strict=True))
            forwarded = self.visit(condition)[1:]
            self.infos |= dict(zip(body.arguments, forwarded, strict=True))
            weaker = merge(condition.arguments, self.visit(body), carried)
            return forwarded if weaker == carried else settle(weaker)

        return settle(list(infos))

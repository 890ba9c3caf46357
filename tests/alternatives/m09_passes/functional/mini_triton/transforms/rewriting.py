def match(pattern: Pattern | str | Number, value: Value, found: Match) -> bool:
    match pattern, value:
        case Pattern(), OpResult():
            return match_operation(pattern, value.owner, found)
        case str(), _ if pattern in found:
            return found[pattern] is value
        case str(), _ if pattern.isupper() and constant_of(value) is None:
            return False
        case str(), _:
            found[pattern] = value
            return True
        case bool() | int() | float(), _:
            return is_number(value, pattern)
    return False


def match_operation(pattern: Pattern, operation: Operation, found: Match) -> bool:
    same_shape = (pattern.name, len(pattern.operands)) == (operation.name, len(operation.operands))
    if not same_shape or not pattern.attributes.items() <= operation.attributes.items():
        return False
    for number, inner in enumerate(pattern.operands):
        if not match(inner, operation.operands[number], found):
            return False
    return True


def build(rewriter: Rewriter, pattern: Pattern | str | Number, found: Match, type: Type) -> Value:
    match pattern:
        case str():
            return found[pattern]
        case Pattern():
            named = [found[operand].type for operand in pattern.operands if isinstance(operand, str)]
            inner = [build(rewriter, operand, found, [type, *named][-1]) for operand in pattern.operands]
            return rewriter.create(pattern.name, *inner, result=type, **pattern.attributes)
        case _ if element_type(type) == I1:
            return rewriter.constant(pattern % 2 == 1, type)
        case _:
            return rewriter.constant(pattern, type)


class Rewriter:
    def rewrite(self, root: Operation) -> bool:
        everything = list(root.walk())
        for operation in everything[::-1]:
            self.worklist[operation] = None
        applied: list[Rule] = []
        while len(applied) <= PATIENCE * len(everything):
            if not self.worklist:
                return self.changed
            operation = self.worklist.popitem()[0]
            if is_dead(operation):
                self.erase(operation)
                continue
            fitting = self.apply(operation)
            applied += [fitting] if fitting else []
        raise RewriteError(explain(applied))

    def apply(self, operation: Operation) -> Rule | None:
        for rule in self.candidates(operation):
            with self.location(operation.loc), self.before(operation):
                made = rule.rewrite(self, operation)
            match made:
                case None:
                    continue
                case Value():
                    self.replace(operation, (made,))
                case _:
                    self.replace(operation, made)
            return rule
        return None

    def replace(self, operation: Operation, values: Sequence[Value]) -> None:
        for index, value in enumerate(values):
            result = operation.results[index]
            for user, _ in result.uses:
                self.worklist[user] = None
            if not value.name:
                value.name = result.name
            result.replace_all_uses_with(value)
        self.erase(operation)

class Branches:
    def runtime_if(self, node: ast.If, condition: tensor, rest: Sequence[ast.stmt]) -> Any:
        if self.in_loop and (found := contains_return(node)):  # even if it is never reached
            message = "Cannot have `return` statements inside `while` or `for` statements"
            raise UnsupportedLanguageConstruct(message, self.loc(found))
        rest_inside = list(rest) if contains_return(node) else []
        ways = self.compile([partial(self.run, [*way, *rest_inside]) for way in (node.body, node.orelse)])
        if contains_return(node):
            return self.choose(node, condition, ways, "Return type mismatch: {} and {}")
        self.merge(node, condition, ways)
        return self.run(rest)

    def join(self, condition: tensor, branches: Sequence[Branch], values: Sequence[Any]) -> Any:
        def closed(branch: Branch, value: Any) -> Region:
            with self.builder.at_end(branch[0]):
                yield_(self.builder, *[part.handle for part in parts(value)])
            return Region([branch[0]])

        regions = list(map(closed, branches, values))
        return rebuilt(values[1], self.builder.operation("scf.if", condition.handle, regions=regions).results)

    def choose(self, node: ast.expr | ast.stmt, condition: tensor, branches: Sequence[Branch], mismatch: str) -> Any:
        def value(branch: Branch) -> Any:
            with self.builder.at_end(branch[0]):
                return run_time(returned(branch[2]))

        values = tuple(map(value, branches))
        types = tuple(map(spelled, values))
        if len({*types}) > 1:
            raise self.error(node, mismatch.format(*types))
        return self.join(condition, branches, values)

    def merge(self, node: ast.If, condition: tensor, branches: Sequence[Branch]) -> None:
        (_, then, _), (_, otherwise, _) = branches
        names = written([*node.body, *node.orelse])
        both = {
            name: (then.values[name], otherwise.values[name])
            for name in names
            if {name} <= then.values.keys() & otherwise.values.keys()
        }
        same = {name: pair[0] for name, pair in both.items() if pair[0] is pair[1]}
        crossing = {name: pair for name, pair in both.items() if name not in same and parts(pair)}
        for name in crossing:
            if not self.agree(name, *crossing[name]):
                raise self.disagreement(name, then, otherwise)
        values = tuple(zip(*crossing.values(), strict=True)) or ((), ())
        results = dict(zip(crossing, self.join(condition, branches, values), strict=True))
        for name in names:
            if name in same or name in results:
                self.scope.bind(name, {**same, **results}[name], otherwise.places[name])
            else:
                self.scope.lose(name, f"it has one value at most after the `if` on line {self.loc(node).line}")

    def disagreement(self, name: str, then: Scope, otherwise: Scope) -> CompilationError:
        first, second = then.places[name], otherwise.places[name]
        value, other = spelled(then.values[name]), spelled(otherwise.values[name])
        if value == other:
            before = f"{spelled(self.scope.values[name])} (line {self.scope.places[name].line})"
            message = f"initial value for {name} is of type {before}, but the branches redefine it as {value}"
            return CompilationError(message, first)
        where = f"then block ({value}, line {first.line}) and else block ({other}, line {second.line})"
        later = first if first.line > second.line else second
        return CompilationError(f"Mismatched type for {name} between {where}", later)

    def scalar(self, node: ast.expr, condition: Any) -> tensor:
        if condition.numel > 1:
            message = "Boolean value of Tensor with more than one value is ambiguous"
            raise UnsupportedLanguageConstruct(message, self.loc(node))
        handle = self.builder.create("tt.unsplat", condition.handle) if condition.shape else condition.handle
        return self.evaluate(node, lambda: convert(tensor(handle, condition.dtype), int1))

    def visit_not(self, node: ast.UnaryOp) -> Any:
        value = self.visit(node.operand)
        if not isinstance(value, tensor):
            return constexpr(not bool(value))
        return self.evaluate(node, lambda: invert(self.boolean(node, value)))

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        name, decides = ("arith.ori", True) if isinstance(node.op, ast.Or) else ("arith.andi", False)

        def combined(left: Any, operands: Sequence[ast.expr]) -> Any:
            """What comes of `left`, a value with its node, and of the operands after it."""
            if not isinstance(left[1], tensor) and (bool(left[1]) is decides or not operands):
                return left[1]
            if not operands:
                return left[1]
            right = operands[0], self.visit(operands[0])
            if not isinstance(right[1], tensor) and bool(right[1]) is decides:
                return right[1]
            if isinstance(left[1], tensor) and isinstance(right[1], tensor):
                result = self.evaluate(node, bitwise, name, self.boolean(*left), self.boolean(*right))
                return combined((node, result), operands[1:])
            return combined(
                right if isinstance(right[1], tensor) or not isinstance(left[1], tensor) else left, operands[1:]
            )

        first, *others = node.values
        return combined((first, self.visit(first)), others)

class Branches:
    def runtime_if(self, node: ast.If, condition: tensor, rest: Sequence[ast.stmt]) -> Any:
        if self.in_loop and (found := contains_return(node)):  # even if it is never reached
            message = "Cannot have `return` statements inside `while` or `for` statements"
            raise UnsupportedLanguageConstruct(message, self.loc(found))
        then, otherwise = node.body, node.orelse
        match contains_return(node) is not None:
            case True:
                ways = self.compile([lambda: self.run([*then, *rest]), lambda: self.run([*otherwise, *rest])])
                return self.choose(node, condition, ways, "Return type mismatch: {} and {}")
            case False:
                ways = self.compile([lambda: self.run(then), lambda: self.run(otherwise)])
                self.merge(node, condition, ways)
                return self.run(rest)

    def choose(self, node: ast.expr | ast.stmt, condition: tensor, branches: Sequence[Branch], mismatch: str) -> Any:
        match branches:
            case [(first, _, one), (second, _, two)]:
                with self.builder.at_end(first):
                    one = run_time(returned(one))
                with self.builder.at_end(second):
                    two = run_time(returned(two))
        if (types := (spelled(one), spelled(two))) and types[0] == types[1]:
            return self.join(condition, branches, (one, two))
        raise self.error(node, mismatch.format(*types))

    def merge(self, node: ast.If, condition: tensor, branches: Sequence[Branch]) -> None:
        (_, then, _), (_, otherwise, _) = branches
        missing, line = object(), self.loc(node).line
        pairs: dict[str, tuple[Any, Any]] = {}
        for name in dict.fromkeys([*written(node.body), *written(node.orelse)]):
            match then.values.get(name, missing), otherwise.values.get(name, missing):
                case value, other if value is other and value is not missing:
                    self.scope.bind(name, value, otherwise.places[name])
                case value, other if value is missing or other is missing or not (parts(value) or parts(other)):
                    self.scope.lose(name, f"after the `if` on line {line}, not every run has given it a value")
                case value, other if self.agree(name, value, other):
                    pairs[name] = value, other
                case _:
                    raise self.disagreement(name, then, otherwise)
        joined = self.join(condition, branches, list(zip(*pairs.values(), strict=True)) or [(), ()])
        for name, value in zip(pairs, joined, strict=True):
            self.scope.bind(name, value, then.places[name])

    def scalar(self, node: ast.expr, condition: Any) -> tensor:
        match condition.numel, condition.shape:
            case 1, ():
                return self.evaluate(node, convert, condition, int1)
            case 1, _:
                handle = self.builder.create("tt.unsplat", condition.handle)
                return self.scalar(node, tensor(handle, condition.dtype))
            case _:
                raise UnsupportedLanguageConstruct(
                    "Boolean value of Tensor with more than one value is ambiguous", self.loc(node)
                )

    def visit_not(self, node: ast.UnaryOp) -> Any:
        match self.visit(node.operand):
            case tensor() as value:
                return self.evaluate(node, invert, self.boolean(node, value))
            case value:
                return constexpr(not value)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        match node.op:
            case ast.And():
                name, decides = "arith.andi", False
            case ast.Or():
                name, decides = "arith.ori", True
        value: Any = None
        running: list[tuple[ast.expr, tensor]] = []
        for operand in node.values:
            match self.visit(operand):
                case tensor() as value:
                    running.append((operand, value))
                case value if bool(value) == decides:
                    return value
                case value:
                    pass
        match running:
            case []:
                return value
            case [(_, only)]:
                return only
            case [first, *others]:
                result = self.boolean(*first)
                for other in others:
                    result = self.evaluate(node, bitwise, name, result, self.boolean(*other))
                return result

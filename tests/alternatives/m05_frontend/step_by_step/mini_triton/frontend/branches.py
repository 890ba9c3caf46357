class Branches:
    def runtime_if(self, node: ast.If, condition: tensor, rest: Sequence[ast.stmt]) -> Any:
        if self.in_loop and (found := contains_return(node)):  # even if it is never reached
            message = "Cannot have `return` statements inside `while` or `for` statements"
            raise UnsupportedLanguageConstruct(message, self.loc(found))

        def then() -> Any:
            if returning:
                return self.run([*node.body, *rest])
            return self.run(node.body)

        def otherwise() -> Any:
            if returning:
                return self.run([*node.orelse, *rest])
            return self.run(node.orelse)

        returning = contains_return(node)
        branches = self.compile([then, otherwise])
        if returning:
            return self.choose(node, condition, branches, "Return type mismatch: {} and {}")
        self.merge(node, condition, branches)
        return self.run(rest)

    def join(self, condition: tensor, branches: Sequence[Branch], values: Sequence[Any]) -> Any:
        regions = []
        for i in range(2):
            block = branches[i][0]
            handles = []
            for part in parts(values[i]):
                handles.append(part.handle)
            with self.builder.at_end(block):
                yield_(self.builder, *handles)
            region = Region([block])
            regions.append(region)
        operation = self.builder.operation("scf.if", condition.handle, regions=regions)
        return rebuilt(values[0], operation.results)

    def choose(self, node: ast.expr | ast.stmt, condition: tensor, branches: Sequence[Branch], mismatch: str) -> Any:
        first_block, _, first = branches[0]
        second_block, _, second = branches[1]
        first = returned(first)
        second = returned(second)
        with self.builder.at_end(first_block):
            first = run_time(first)
        with self.builder.at_end(second_block):
            second = run_time(second)
        first_type = spelled(first)
        second_type = spelled(second)
        if first_type != second_type:
            raise self.error(node, mismatch.format(first_type, second_type))
        return self.join(condition, branches, [first, second])

    def merge(self, node: ast.If, condition: tensor, branches: Sequence[Branch]) -> None:
        then = branches[0][1]
        otherwise = branches[1][1]
        names = []
        lefts = []
        rights = []
        for name in written([*node.body, *node.orelse]):
            if name not in then.values:
                self._lose(name, node)
                continue
            if name not in otherwise.values:
                self._lose(name, node)
                continue
            left = then.values[name]
            right = otherwise.values[name]
            if left is right:
                self.scope.bind(name, left, then.places[name])
                continue
            if len(parts(left)) == 0 and len(parts(right)) == 0:
                self._lose(name, node)
                continue
            if not self.agree(name, left, right):
                raise self.disagreement(name, then, otherwise)
            names.append(name)
            lefts.append(left)
            rights.append(right)
        results = self.join(condition, branches, [tuple(lefts), tuple(rights)])
        for i in range(len(names)):
            self.scope.bind(names[i], results[i], self.loc(node))

    def _lose(self, name: str, node: ast.If) -> None:
        self.scope.lose(name, f"only one branch of the `if` on line {self.loc(node).line} gives it a value")

    def disagreement(self, name: str, then: Scope, otherwise: Scope) -> CompilationError:
        first, second = then.places[name], otherwise.places[name]
        value, other = spelled(then.values[name]), spelled(otherwise.values[name])
        if value == other:
            before = f"{spelled(self.scope.values[name])} (line {self.scope.places[name].line})"
            message = f"initial value for {name} is of type {before}, but the branches redefine it as {value}"
            return CompilationError(message, first)
        message = "Mismatched type for " + name
        message = message + f" between then block ({value}, line {first.line})"
        message = message + f" and else block ({other}, line {second.line})"
        if first.line > second.line:
            return CompilationError(message, first)
        return CompilationError(message, second)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        condition = self.visit(node.test)
        if isinstance(condition, tensor):
            decision = self.scalar(node.test, condition)
            first = partial(self.visit, node.body)
            second = partial(self.visit, node.orelse)
            branches = self.compile([first, second])
            message = "Ternary expression with dynamic condition has inconsistent types {} and {}"
            return self.choose(node, decision, branches, message)
        if self.truth(node.test, condition):
            return self.visit(node.body)
        else:
            return self.visit(node.orelse)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        is_or = isinstance(node.op, ast.Or)
        last: Any = None
        result: Any = None
        only_one: Any = None
        for operand in node.values:
            value = self.visit(operand)
            if not isinstance(value, tensor):
                if is_or and bool(value):
                    return value
                if not is_or and not bool(value):
                    return value
                last = value
                continue
            if only_one is None:
                only_one = (operand, value)
                result = value
                continue
            result = self.boolean(only_one[0], result)
            value = self.boolean(operand, value)
            if is_or:
                result = self.evaluate(node, bitwise, "arith.ori", result, value)
            else:
                result = self.evaluate(node, bitwise, "arith.andi", result, value)
        if result is None:
            return last
        return result

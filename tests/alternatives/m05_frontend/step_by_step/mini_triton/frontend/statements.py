class Statements:
    def run(self, statements: Sequence[ast.stmt]) -> Any:
        number = 0
        while number < len(statements):
            statement = statements[number]
            number += 1
            if isinstance(statement, ast.Return):
                return self.visit_Return(statement)
            elif isinstance(statement, ast.If):
                rest = statements[number:]
                with self.builder.location(self.loc(statement)):
                    return self.visit_If(statement, rest)
            else:
                self.visit(statement)
        return NOTHING

    def visit_Return(self, node: ast.Return) -> Any:
        if self.in_loop:
            raise UnsupportedLanguageConstruct(
                "Cannot have `return` statements inside `while` or `for` statements", self.loc(node)
            )
        if node.value is None:
            return constexpr(None)
        value = self.visit(node.value)
        return value

    def visit_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) > 1:
            raise self.error(node.targets[1], "simultaneous multiple assignment is not supported")
        value = self.visit(node.value)
        target = node.targets[0]
        self.assign(target, value)

    def assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Attribute):
            raise self.error(target, "Attribute assignment is not supported")
        if isinstance(target, ast.Subscript):
            raise self.error(target, "__setitem__ is not supported")
        if isinstance(target, ast.Name):
            value = self.evaluate(target, run_time, value)
            if not can_be_named(value):
                raise self.error(target, f"{unwrap(value)!r} cannot have a name")
            self.scope.bind(target.id, value, self.loc(target))
            return
        if not isinstance(target, ast.Tuple):
            raise self.unsupported(target, target)
        if not isinstance(value, tuple):
            raise self.error(target, f"this is no tuple: {value!r}")
        wanted = len(target.elts)
        if wanted != len(value):
            raise self.error(target, f"there are {wanted} names, but {len(value)} values")
        for number in range(wanted):
            self.assign(target.elts[number], value[number])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            return
        is_constant = "constexpr" in ast.unparse(node.annotation)
        value = self.visit(node.value)
        if not is_constant:
            self.assign(node.target, value)
        else:
            if not isinstance(node.target, ast.Name):
                raise self.error(node.target, "a constexpr needs a name")
            if node.target.id in self.scope.values:
                raise self.error(node.target, f"{node.target.id} is already defined. constexpr cannot be reassigned.")
            if isinstance(value, tensor):
                raise self.error(node.target, f"{node.target.id} cannot be {value!r}, which nobody knows yet")
            if not isinstance(value, tuple):
                value = constexpr(value)
            self.scope.bind(node.target.id, value, self.loc(node.target))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            old = ast.Name(id=node.target.id, ctx=ast.Load())
            ast.copy_location(old, node.target)
            new = ast.BinOp(left=old, op=node.op, right=node.value)
            ast.copy_location(new, node)
            value = self.visit(new)
            self.assign(node.target, value)
        else:
            raise self.error(node, "only a name can be updated")

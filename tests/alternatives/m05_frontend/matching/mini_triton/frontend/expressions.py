class Expressions:
    def located(self, error: Exception, node: ast.expr | ast.stmt) -> CompilationError:
        match error:
            case CompilationError(loc=None):
                return error.__class__(error.message, self.loc(node))
            case CompilationError():
                return error
            case _:
                return CompilationError(f"{error}", self.loc(node))

    def visit_Name(self, node: ast.Name) -> Any:
        values = self.scope.values
        return values[node.id] if node.id in values else self.global_value(node)

    def global_value(self, node: ast.Name) -> Any:
        name = node.id
        seen_from_here = self.function.globals
        match (name in self.scope.lost, name in seen_from_here, getattr(builtins, name, None) in PYTHON):
            case (True, _, _):
                raise self.error(node, f"{name} is not defined here: {self.scope.lost[name]}")
            case (_, True, _) if is_visible(seen_from_here[name]):
                return seen_from_here[name]
            case (_, True, _):
                raise self.error(node, f"Cannot access global variable {name}")
            case (_, _, True):
                return vars(builtins)[name]
            case _:
                raise self.error(node, f"{name} is not defined")

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        return (*map(self.visit, node.elts),)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        match OPERATORS.get(type(node.op)):
            case None:
                raise self.unsupported(node, node.op)
            case function:
                return self.evaluate(node, function, *map(self.visit, (node.left, node.right)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        match node.op:
            case ast.Not():
                return self.visit_not(node)
            case op:
                return self.evaluate(node, OPERATORS[type(op)], self.visit(node.operand))

    def visit_Compare(self, node: ast.Compare) -> Any:
        match node:
            case ast.Compare(left, [comparison], [right]):
                a, b = self.visit(left), self.visit(right)
            case _:
                raise self.error(node, "simultaneous multiple comparison is not supported")
        match comparison:
            case ast.Is():
                return constexpr(unwrap(a) is unwrap(b))
            case ast.IsNot():
                return constexpr(unwrap(a) is not unwrap(b))
            case ast.In() | ast.NotIn():
                raise self.unsupported(node, comparison)
        return self.evaluate(node, OPERATORS[type(comparison)], a, b)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        match self.visit(node.value), node.attr:
            case constexpr(value=value), "value":
                return self.evaluate(node, unwrap, value)
            case constexpr(value=value), name:
                return self.evaluate(node, getattr, value, name)
            case value, name:
                return self.evaluate(node, getattr, value, name)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        match self.visit(node.value):
            case constexpr(value=value) | value:
                return self.evaluate(node, lambda: value[unwrap(self.visit(node.slice))])

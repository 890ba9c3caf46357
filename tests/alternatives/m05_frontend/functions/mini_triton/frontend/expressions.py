class Expressions:
    def located(self, error: Exception, node: ast.expr | ast.stmt) -> CompilationError:
        given = error if isinstance(error, CompilationError) else CompilationError(str(error))
        return given if given.loc else type(given)(given.message, self.loc(node))

    def visit_Name(self, node: ast.Name) -> Any:
        try:
            return self.scope.values[node.id]
        except KeyError:
            return self.global_value(node)

    def global_value(self, node: ast.Name) -> Any:
        name = node.id
        if reason := self.scope.lost.get(name):
            raise self.error(node, f"{name} is not defined here: {reason}")
        places = ({k: v for k, v in self.function.globals.items() if k == name}, {f.__name__: f for f in PYTHON})
        found = [place[name] for place in places if name in place]
        if not found:
            raise self.error(node, f"{name} is not defined")
        if not is_visible(found[0]):
            raise self.error(node, f"Cannot access global variable {name}")
        return found[0]

    def visit_Constant(self, node: ast.Constant) -> Any:
        return compile_time(node.value) if node.value is not ... else constexpr(...)

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(map(self.visit, node.elts))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        operands = [self.visit(operand) for operand in (node.left, node.right)]
        try:
            function = OPERATORS[type(node.op)]
        except KeyError:
            raise self.unsupported(node, node.op) from None
        return self.evaluate(node, function, *operands)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        negated = isinstance(node.op, ast.Not)
        return (
            self.visit_not(node) if negated else self.evaluate(node, OPERATORS[type(node.op)], self.visit(node.operand))
        )

    def visit_Compare(self, node: ast.Compare) -> Any:
        if node.ops[1:]:
            raise self.error(node, "simultaneous multiple comparison is not supported")
        identity = {
            ast.Is: lambda a, b: unwrap(a) is unwrap(b),
            ast.IsNot: lambda a, b: unwrap(a) is not unwrap(b),
        }
        function = {**OPERATORS, **identity}.get(type(node.ops[0]))
        if not function:
            raise self.unsupported(node, node.ops[0])
        return self.evaluate(node, function, self.visit(node.left), self.visit(node.comparators[0]))

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        owner = self.visit(node.value)
        if node.attr != "value":
            owner = unwrap_tuple(owner)
        return self.evaluate(node, operator.attrgetter(node.attr), owner)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        value, index = unwrap_tuple(self.visit(node.value)), unwrap(self.visit(node.slice))
        return self.evaluate(node, operator.itemgetter(index), value)

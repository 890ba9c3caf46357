class Expressions:
    def located(self, error: Exception, node: ast.expr | ast.stmt) -> CompilationError:
        if isinstance(error, CompilationError):
            if error.loc is not None:
                return error
            message = error.message
            kind = type(error)
        else:
            message = str(error)
            kind = CompilationError
        return kind(message, self.loc(node))

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id not in self.scope.values:
            return self.global_value(node)
        return self.scope.values[node.id]

    def global_value(self, node: ast.Name) -> Any:
        name = node.id
        if name in self.scope.lost:
            reason = self.scope.lost[name]
            raise self.error(node, name + " is not defined here: " + reason)
        names = self.function.globals
        if name in names:
            value = names[name]
            if not is_visible(value):
                raise self.error(node, "Cannot access global variable " + name + " from within a kernel")
            return value
        for function in PYTHON:
            if function.__name__ == name:
                return function
        raise self.error(node, name + " is not defined")

    def visit_Constant(self, node: ast.Constant) -> Any:
        value = node.value
        return constexpr(value)

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        values = []
        for element in node.elts:
            values.append(self.visit(element))
        return tuple(values)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        left = self.visit(node.left)
        right = self.visit(node.right)
        kind = type(node.op)
        if kind in OPERATORS:
            function = OPERATORS[kind]
            return self.evaluate(node, function, left, right)
        raise self.unsupported(node, node.op)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return self.visit_not(node)
        operand = self.visit(node.operand)
        function = OPERATORS[type(node.op)]
        return self.evaluate(node, function, operand)

    def visit_Compare(self, node: ast.Compare) -> Any:
        if len(node.comparators) > 1:
            raise self.error(node, "simultaneous multiple comparison is not supported")
        kind = type(node.ops[0])
        left = self.visit(node.left)
        right = self.visit(node.comparators[0])
        if kind is ast.Is:
            same = unwrap(left) is unwrap(right)
            return constexpr(same)
        if kind is ast.IsNot:
            same = unwrap(left) is unwrap(right)
            return constexpr(not same)
        if kind not in OPERATORS:
            raise self.unsupported(node, node.ops[0])
        return self.evaluate(node, OPERATORS[kind], left, right)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        owner = self.visit(node.value)
        if isinstance(owner, constexpr):
            if node.attr == "value":
                return self.evaluate(node, getattr, owner, "value")
            owner = owner.value
        return self.evaluate(node, getattr, owner, node.attr)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        value = self.visit(node.value)
        if isinstance(value, constexpr):
            value = value.value
        index = self.visit(node.slice)
        index = unwrap(index)
        return self.evaluate(node, operator.getitem, value, index)

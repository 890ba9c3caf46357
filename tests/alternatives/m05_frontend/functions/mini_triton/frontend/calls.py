class Calls:
    def visit_Call(self, node: ast.Call) -> Any:
        function = unwrap(self.visit(node.func))
        if any(keyword.arg is None for keyword in node.keywords):
            raise UnsupportedLanguageConstruct("** is not supported", self.loc(node))
        arguments = self.positional(node)
        keywords = {str(keyword.arg): self.visit(keyword.value) for keyword in node.keywords}
        if isinstance(function, JITFunction):
            return self.inline(node, function, arguments, keywords)
        return self.evaluate(node, lambda: self.callee(node, function)(*arguments, **keywords))

    def inline(self, node: ast.Call, function: JITFunction, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        def enter() -> Any:
            inner = type(self)(function, self.builder, (*self.callers, key))
            for name, value in bound.items():
                inner.scope.bind(name, value, function.loc(function.tree))
            return returned(inner.run(function.tree.body))

        bound = self.evaluate(node, lambda: self.bound_arguments(function, *arguments, **keywords))
        key = repr([function, *bound.values()])
        if key in self.callers:
            raise self.error(node, f"{function!r}: recursion is not supported")
        try:
            return enter()
        except CompilationError as error:
            raise self.called_from(error, node) from error.__cause__

    def called_from(self, error: CompilationError, node: ast.Call) -> CompilationError:
        error.add_note(f"called from {self.loc(node)}\n{self.loc(node).excerpt()}")
        return error

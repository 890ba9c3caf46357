class Calls:
    def visit_Call(self, node: ast.Call) -> Any:
        function = unwrap(self.visit(node.func))
        positional, named = self.positional(node), {}
        for keyword in node.keywords:
            match keyword:
                case ast.keyword(arg=None):
                    raise UnsupportedLanguageConstruct("** is not supported in a call", self.loc(node))
                case ast.keyword(arg=name, value=value):
                    named[name] = self.visit(value)
        match function:
            case KernelSource():
                return self.inline(node, function, positional, named)
            case _:
                return self.evaluate(node, self.callee(node, function), *positional, **named)

    def inline(self, node: ast.Call, function: KernelSource, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        bound = self.evaluate(node, partial(self.bound_arguments, function), *arguments, **keywords)
        match (function.fn, *map(repr, bound.values())):
            case call if call in self.callers:
                raise self.error(node, f"{function.fn.__name__} calls itself: recursion is not supported")
            case call:
                inner = type(self)(function, self.builder, (*self.callers, call))  # type: ignore[arg-type]
        for name in bound:
            inner.scope.bind(name, bound[name], function.loc(function.tree))
        try:
            result = inner.run(function.tree.body)
        except CompilationError as error:
            raise self.called_from(error, node) from error.__cause__
        return returned(result)

    def called_from(self, error: CompilationError, node: ast.Call) -> CompilationError:
        error.add_note("\n".join([f"called from {self.loc(node)}", self.loc(node).excerpt()]))
        return error

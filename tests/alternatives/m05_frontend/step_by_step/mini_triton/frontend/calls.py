class Calls:
    def visit_Call(self, node: ast.Call) -> Any:
        function = unwrap(self.visit(node.func))
        arguments = self.positional(node)
        keywords = {}
        for keyword in node.keywords:
            name = keyword.arg
            if name is None:
                raise UnsupportedLanguageConstruct("** cannot be used in a call", self.loc(keyword.value))
            value = self.visit(keyword.value)
            keywords[name] = value
        if isinstance(function, JITFunction):
            return self.inline(node, function, arguments, keywords)
        called = self.callee(node, function)
        return self.evaluate(node, called, *arguments, **keywords)

    def inline(self, node: ast.Call, function: JITFunction, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        def bind(*xs: Any, **ys: Any) -> dict[str, Any]:
            return self.bound_arguments(function, *xs, **ys)

        bound = self.evaluate(node, bind, *arguments, **keywords)
        words = [function.fn.__qualname__]
        for value in bound.values():
            words.append(repr(value))
        call = " ".join(words)
        for other in self.callers:
            if other == call:
                raise self.error(node, "recursion: this call would never end")
        inner = type(self)(function, self.builder, list(self.callers) + [call])
        place = function.loc(function.tree)
        for name in bound:
            inner.scope.bind(name, bound[name], place)
        try:
            result = inner.run(function.tree.body)
        except CompilationError as error:
            self.called_from(error, node)
            raise
        if result is NOTHING:
            return constexpr(None)
        return result

    def called_from(self, error: CompilationError, node: ast.Call) -> CompilationError:
        place = self.loc(node)
        note = "called from " + str(place) + "\n" + place.excerpt()
        error.add_note(note)
        return error

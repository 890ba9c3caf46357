class Loops:
    def carried(self, node: ast.For | ast.While) -> Carried:
        result: Carried = {}
        for name in written(node.body):
            if name in targets(node):
                continue
            if name not in self.scope.values:
                continue
            value = self.scope.values[name]
            if len(parts(value)) > 0:
                result[name] = value
        return result

    def visit_body(self, node: ast.For | ast.While, carried: Carried) -> list[Value]:
        before = self.scope.copy()
        was_in_a_loop = self.in_loop
        self.in_loop = True
        self.run(node.body)
        self.in_loop = was_in_a_loop
        self.check_known(node, before)
        handles = []
        for name in carried:
            old = carried[name]
            new = self.scope.values.get(name)
            if spelled(old) != spelled(new):
                raise self.changed(name, old, before, new)
            for part in parts(new):
                handles.append(part.handle)
        return handles

    def changed(self, name: str, initial: Any, before: Scope, value: Any) -> CompilationError:
        if name in self.scope.lost:  # the target of a loop inside
            return CompilationError(f"{name} is lost in the loop: {self.scope.lost[name]}", before.places[name])
        old_line = before.places[name].line
        old_type = spelled(initial)
        new_type = spelled(value)
        message = f"Loop-carried variable {name} has initial type {old_type} (line {old_line})"
        message = message + f" but is re-assigned to {new_type} in loop!"
        message = message + " Please make sure that the type stays consistent."
        return CompilationError(message, self.scope.places[name])

    def runtime_for(self, node: ast.For, target: ast.Name, iterator: tl_range) -> None:
        if is_negative(iterator.step):
            lower, upper, step = self.bounds(node.iter, iterator, True)
        else:
            lower, upper, step = self.bounds(node.iter, iterator, False)
        outside = self.scope
        carried = self.carried(node)
        inits = []
        for name in carried:
            for part in parts(carried[name]):
                inits.append(part.handle)
        with for_(self.builder, lower.handle, upper.handle, step.handle, inits) as loop:
            inside = outside.copy()
            self.scope = inside
            self.enter(carried, loop.carried)
            value = tensor(loop.variable, lower.dtype)
            if is_negative(iterator.step):
                value = sub(upper, value)
                value = add(value, lower)
            inside.bind(target.id, value, self.loc(target))
            yielded = self.visit_body(node, carried)
            yield_(self.builder, *yielded)
        annotate(loop.variable, iterator)
        self.leave(node, carried, outside, loop.results)

    def visit_While(self, node: ast.While) -> None:
        if len(node.orelse) > 0:
            raise UnsupportedLanguageConstruct("`while` with `else`", self.loc(node))
        outside = self.scope
        carried = self.carried(node)
        inits = []
        for name in carried:
            for part in parts(carried[name]):
                inits.append(part.handle)
        with while_(self.builder, inits) as loop:
            with loop.before() as arguments:
                self.scope = outside.copy()
                self.enter(carried, arguments)
                test = self.visit(node.test)
                if isinstance(test, tensor):
                    test = self.boolean(node.test, test)
                    test = self.scalar(node.test, test)
                    condition(self.builder, test.handle, *arguments)
                else:
                    raise UnsupportedLanguageConstruct(
                        "this `while` would never end, or never begin", self.loc(node.test)
                    )
            with loop.after() as arguments:
                self.scope = outside.copy()
                self.enter(carried, arguments)
                yielded = self.visit_body(node, carried)
                yield_(self.builder, *yielded)
        self.leave(node, carried, outside, loop.results)

class Loops:
    def carried(self, node: ast.For | ast.While) -> Carried:
        changing = [name for name in written(node.body) if name in self.scope.values and name not in targets(node)]
        return {name: self.scope.values[name] for name in sorted(changing) if parts(self.scope.values[name])}

    def visit_body(self, node: ast.For | ast.While, carried: Carried) -> list[Value]:
        before, outer = self.scope.copy(), self.in_loop
        self.in_loop = True
        try:
            self.run(node.body)
        finally:
            self.in_loop = outer
        self.check_known(node, before)
        after = [self.scope.values.get(name) for name in carried]
        for (name, old), new in zip(carried.items(), after, strict=True):
            if spelled(old) != spelled(new):
                raise self.changed(name, old, before, new)
        return [part.handle for part in parts(tuple(after))]

    def changed(self, name: str, initial: Any, before: Scope, value: Any) -> CompilationError:
        if name in self.scope.lost:  # the target of a loop inside
            return CompilationError(f"{name} is lost in the loop: {self.scope.lost[name]}", before.places[name])
        places = before.places[name], self.scope.places[name]
        return CompilationError(
            f"Loop-carried variable {name} has initial type {spelled(initial)} (line {places[0].line}) "
            f"but is re-assigned to {spelled(value)} in loop! Please make sure that the type stays consistent.",
            places[1],
        )

    def runtime_for(self, node: ast.For, target: ast.Name, iterator: tl_range) -> None:
        down = is_negative(iterator.step)
        lower, upper, step = self.bounds(node.iter, iterator, down)
        carried, before = self.carried(node), self.scope
        inits = [part.handle for part in parts(tuple(carried.values()))]
        with for_(self.builder, lower.handle, upper.handle, step.handle, inits) as loop:
            self.scope = before.copy()
            self.enter(carried, loop.carried)
            variable = tensor(loop.variable, lower.dtype)
            self.scope.bind(target.id, upper - variable + lower if down else variable, self.loc(target))
            yield_(self.builder, *self.visit_body(node, carried))
        annotate(loop.variable, iterator)
        self.leave(node, carried, before, loop.results)

    def visit_While(self, node: ast.While) -> None:
        if node.orelse:
            raise self.error(node, "a `while` in a kernel has no `else`")
        carried, before = self.carried(node), self.scope

        def inside(arguments: Iterable[Value]) -> None:
            self.scope = before.copy()
            self.enter(carried, arguments)

        with while_(self.builder, [part.handle for part in parts(tuple(carried.values()))]) as loop:
            with loop.before() as arguments:
                inside(arguments)
                if not isinstance(test := self.visit(node.test), tensor):
                    raise self.error(node.test, f"{test!r} never changes: this is no test for a `while`")
                condition(self.builder, self.scalar(node.test, self.boolean(node.test, test)).handle, *arguments)
            with loop.after() as arguments:
                inside(arguments)
                yield_(self.builder, *self.visit_body(node, carried))
        self.leave(node, carried, before, loop.results)

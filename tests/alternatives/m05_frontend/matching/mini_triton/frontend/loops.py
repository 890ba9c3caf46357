class Loops:
    def carried(self, node: ast.For | ast.While) -> Carried:
        return {
            name: value
            for name, value in self.scope.values.items()
            if parts(value) and name in written(node.body) and name not in targets(node)
        }

    def visit_body(self, node: ast.For | ast.While, carried: Carried) -> list[Value]:
        before, was = self.scope.copy(), self.in_loop
        self.in_loop = True
        self.run(node.body)
        self.in_loop = was
        self.check_known(node, before)
        now = {name: self.scope.values.get(name) for name in carried}
        for name, value in now.items():
            match spelled(carried[name]), spelled(value):
                case first, second if first != second:
                    raise self.changed(name, carried[name], before, value)
        return [part.handle for part in parts(tuple(now.values()))]

    def runtime_for(self, node: ast.For, target: ast.Name, iterator: tl_range) -> None:
        down = is_negative(iterator.step)
        operands = self.bounds(node.iter, iterator, down)
        lower, upper, _ = operands
        carried, outside = self.carried(node), self.scope
        handles = [value.handle for value in operands]
        with for_(self.builder, *handles, [part.handle for part in parts(tuple(carried.values()))]) as loop:
            self.scope = outside.copy()
            self.enter(carried, loop.carried)
            match down, tensor(loop.variable, lower.dtype):
                case True, variable:
                    self.scope.bind(target.id, add(sub(upper, variable), lower), self.loc(target))
                case False, variable:
                    self.scope.bind(target.id, variable, self.loc(target))
            yield_(self.builder, *self.visit_body(node, carried))
        annotate(loop.variable, iterator)
        self.leave(node, carried, outside, loop.results)

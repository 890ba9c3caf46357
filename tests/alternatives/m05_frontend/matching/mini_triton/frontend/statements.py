class Statements:
    def run(self, statements: Sequence[ast.stmt]) -> Any:
        match statements:
            case []:
                return NOTHING
            case [ast.Return() as statement, *_]:
                return self.visit(statement)
            case [ast.If() as statement, *rest]:
                with self.builder.location(self.loc(statement)):
                    return self.visit_If(statement, rest)
            case [statement, *rest]:
                self.visit(statement)
                return self.run(rest)

    def visit_Return(self, node: ast.Return) -> Any:
        match node:
            case _ if self.in_loop:
                words = "Cannot have `return` statements inside `while` or `for` statements in a kernel"
                raise UnsupportedLanguageConstruct(words, self.loc(node))
            case ast.Return(value=None):
                return constexpr(None)
            case ast.Return(value=value):
                return self.visit(value)

    def visit_Assign(self, node: ast.Assign) -> None:
        match node.targets:
            case [target]:
                self.assign(target, self.visit(node.value))
            case _:
                raise self.error(node, "simultaneous multiple assignment is not supported")

    def assign(self, target: ast.expr, value: Any) -> None:
        match target, value:
            case ast.Name(id=name), _:
                value = self.evaluate(target, run_time, value)
                if not can_be_named(value):
                    raise self.error(target, f"{unwrap(value)!r} cannot be called {name}")
                self.scope.bind(name, value, self.loc(target))
            case ast.Tuple(elts=elements), tuple() if len(elements) == len(value):
                for element, part in zip(elements, value, strict=True):
                    self.assign(element, part)
            case ast.Tuple(elts=elements), tuple():
                raise self.error(target, f"{len(elements)} names for {len(value)} elements")
            case ast.Tuple(elts=elements), _:
                raise self.error(target, f"{len(elements)} names for {value!r}")
            case ast.Subscript(), _:
                raise self.error(target, "__setitem__ is not supported")
            case ast.Attribute(), _:
                raise self.error(target, "Attribute assignment is not supported")
            case _:
                raise self.unsupported(target, target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            return
        value = self.visit(node.value)
        match node.target, value:
            case target, _ if "constexpr" not in ast.unparse(node.annotation):
                self.assign(target, value)
            case ast.Name(id=name), _ if name in self.scope.values:
                raise self.error(node, f"{name} is already defined. constexpr cannot be reassigned.")
            case ast.Name(id=name), tensor():
                raise self.error(node, f"{name} is constexpr, {value!r} is not")
            case ast.Name(id=name), tuple():
                self.scope.bind(name, value, self.loc(node.target))
            case ast.Name(id=name), _:
                self.scope.bind(name, constexpr(value), self.loc(node.target))
            case target, _:
                raise self.error(target, "only a name can be constexpr")

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        match node:
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                read = ast.copy_location(ast.Name(name, ast.Load()), target)
                self.visit(
                    ast.copy_location(ast.Assign([target], ast.copy_location(ast.BinOp(read, op, value), node)), node)
                )
            case _:
                raise self.error(node.target, "only a name can be updated")

class Visitor:
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

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        match node.op:
            case ast.And():
                name, decides = "arith.andi", False
            case ast.Or():
                name, decides = "arith.ori", True
        value: Any = None
        running: list[tuple[ast.expr, tensor]] = []
        for operand in node.values:
            match self.visit(operand):
                case tensor() as value:
                    running.append((operand, value))
                case value if bool(value) == decides:
                    return value
                case value:
                    pass
        match running:
            case []:
                return value
            case [(_, only)]:
                return only
            case [first, *others]:
                result = self.boolean(*first)
                for other in others:
                    result = self.evaluate(node, bitwise, name, result, self.boolean(*other))
                return result

    def run(self, statements: Sequence[ast.stmt]) -> Any:
        match statements:
            case []:
                return constexpr(None)
            case [ast.Return() as statement, *_]:
                return self.visit(statement)
            case [ast.If() as statement, *rest]:
                with self.builder.location(self.loc(statement)):
                    return control_flow.visit_If(self, statement, rest)
            case [statement, *rest]:
                self.visit(statement)
                return self.run(rest)

    def assign(self, target: ast.expr, value: Any) -> None:
        match target, value:
            case ast.Name(id=name), _:
                value = self.evaluate(target, to_run_time, value)
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

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        match node:
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                read = ast.copy_location(ast.Name(name, ast.Load()), target)
                self.visit(
                    ast.copy_location(ast.Assign([target], ast.copy_location(ast.BinOp(read, op, value), node)), node)
                )
            case _:
                raise self.error(node.target, "only a name can be updated")

class Visitor:
    def locate(self, error: Exception, node: ast.expr | ast.stmt) -> CompilationError:
        match error:
            case CompilationError(loc=None):
                return error.__class__(error.message, self.loc(node))
            case CompilationError():
                return error
            case _:
                return CompilationError(f"{error}", self.loc(node))

    def visit_Name(self, node: ast.Name) -> Any:
        values = self.scope.values
        return values[node.id] if node.id in values else self.global_value(node)

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

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        return (*map(self.visit, node.elts),)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        match OPERATORS.get(type(node.op)):
            case None:
                raise self.unsupported(node, node.op)
            case function:
                return self.evaluate(node, function, *map(self.visit, (node.left, node.right)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        match node.op:
            case ast.Not():
                return self.visit_not(node)
            case op:
                return self.evaluate(node, OPERATORS[type(op)], self.visit(node.operand))

    def visit_Compare(self, node: ast.Compare) -> Any:
        match node:
            case ast.Compare(left, [comparison], [right]):
                a, b = self.visit(left), self.visit(right)
            case _:
                raise self.error(node, "simultaneous multiple comparison is not supported")
        match comparison:
            case ast.Is():
                return constexpr(unwrap(a) is unwrap(b))
            case ast.IsNot():
                return constexpr(unwrap(a) is not unwrap(b))
            case ast.In() | ast.NotIn():
                raise self.unsupported(node, comparison)
        return self.evaluate(node, OPERATORS[type(comparison)], a, b)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        match self.visit(node.value), node.attr:
            case constexpr(value=value), "value":
                return self.evaluate(node, unwrap, value)
            case constexpr(value=value), name:
                return self.evaluate(node, getattr, value, name)
            case value, name:
                return self.evaluate(node, getattr, value, name)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        match self.visit(node.value):
            case constexpr(value=value) | value:
                return self.evaluate(node, lambda: value[unwrap(self.visit(node.slice))])

    def visit_not(self, node: ast.UnaryOp) -> Any:
        match self.visit(node.operand):
            case tensor() as value:
                return self.evaluate(node, invert, self.boolean(node, value))
            case value:
                return constexpr(not value)

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

    def visit_Call(self, node: ast.Call) -> Any:
        function = unwrap(self.visit(node.func))
        arguments, keywords = self.visit_arguments(node)
        match function:
            case KernelSource():
                return self.inline(node, function, arguments, keywords)
            case _:
                return self.evaluate(node, self.find_callee(node, function), *arguments, **keywords)

    def inline(self, node: ast.Call, function: KernelSource, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        bound = self.evaluate(node, partial(bind_arguments, function), *arguments, **keywords)
        match (function.fn, *map(repr, bound.values())):
            case call if call in self.callers:
                raise self.error(node, f"{function.fn.__name__} calls itself: recursion is not supported")
            case call:
                inner = Visitor(function, self.builder, (*self.callers, call))  # type: ignore[arg-type]
        for name in bound:
            inner.scope.bind(name, bound[name], function.loc(function.tree))
        try:
            result = inner.run(function.tree.body)
        except CompilationError as error:
            raise self.add_call(error, node) from error.__cause__
        return result

    def add_call(self, error: CompilationError, node: ast.Call) -> CompilationError:
        error.add_note("\n".join([f"called from {self.loc(node)}", self.loc(node).excerpt()]))
        return error

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

    def visit_Return(self, node: ast.Return) -> Any:
        match node:
            case _ if self.in_loop:
                control_flow.refuse_return(self, node)
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

from contextlib import ExitStack


class While:
    def after(self) -> Iterator[tuple[BlockArgument, ...]]:
        types = [value.type for value in self.regions[0].block.operations[-1].operands]
        block = Block(types[1:])
        with region(self.builder, self.regions[1], block):
            yield tuple(block.arguments)


class _Loop:
    """An `scf.for`, made when its `with` ends without an error."""

    def __init__(self, builder: Builder, *operands: Value) -> None:
        self.builder, self.operands, self.body, self.stack = builder, operands, Region(), ExitStack()

    def __enter__(self) -> For:
        lower, _, _, *inits = self.operands
        block = Block([lower.type] + [init.type for init in inits])
        self.stack.enter_context(region(self.builder, self.body, block))
        self.loop = For(block.arguments[0], tuple(block.arguments[1:]))
        return self.loop

    def __exit__(self, *error: object) -> None:
        self.stack.__exit__(*error)
        if error[0] is None:
            self.loop.results = self.builder.operation("scf.for", *self.operands, regions=[self.body]).results


class _Made:
    """An operation whose regions are built inside, made when its `with` ends without an error."""

    def __init__(self, builder: Builder, name: str, operands: Sequence[Value], scope: If | While) -> None:
        self.builder, self.name, self.operands, self.scope = builder, name, operands, scope

    def __enter__(self) -> If | While:
        return self.scope

    def __exit__(self, error: object, *_: object) -> None:
        if not error:
            made = self.builder.operation(self.name, *self.operands, regions=self.scope.regions)
            self.scope.results = made.results


class _Definition:
    """A function, made when its `with` ends without an error."""

    def __init__(self, builder, module, name, inputs, results, public, divisibility) -> None:
        self.builder, self.module, self.body, self.stack = builder, module, Region(), ExitStack()
        self.block = Block(tuple(inputs.values()), tuple(inputs))
        for argument in self.block.arguments:
            if value := divisibility.get(argument.name):
                argument.attributes.update({"tt.divisibility": value})
        type = FunctionType(tuple(inputs.values()), tuple(results))
        self.function = Function(name, type, tuple(self.block.arguments))
        self.visibility = "public" if public else "private"

    def __enter__(self) -> Function:
        self.stack.enter_context(region(self.builder, self.body, self.block, "tt.return"))
        return self.function

    def __exit__(self, *error: object) -> None:
        self.stack.__exit__(*error)
        if error[0] is None:
            name, type = self.function.name, self.function.type
            with self.builder.at_end(self.module.body):
                self.builder.operation(
                    "tt.func",
                    function_type=type,
                    sym_name=name,
                    sym_visibility=self.visibility,
                    regions=(self.body,),
                )


def for_(builder: Builder, lower: Value, upper: Value, step: Value, inits: Sequence[Value] = ()) -> Iterator[For]:
    with _Loop(builder, lower, upper, step, *inits) as loop:
        yield loop


def if_(builder: Builder, condition: Value) -> Iterator[If]:
    with _Made(builder, "scf.if", [condition], If(builder)) as branch:
        yield branch


def while_(builder: Builder, inits: Sequence[Value] = ()) -> Iterator[While]:
    with _Made(builder, "scf.while", inits, While(builder, tuple(inits))) as loop:
        yield loop


def function(
    builder: Builder,
    module: Module,
    name: str,
    inputs: Mapping[str, Type],
    results: Sequence[Type] = (),
    *,
    public: bool = True,
    divisibility: Mapping[str, int] | None = None,
) -> Iterator[Function]:
    with _Definition(builder, module, name, inputs, results, public, divisibility or {}) as made:
        yield made


def call(builder: Builder, callee: Function, *arguments: Value) -> tuple[OpResult, ...]:
    expected, given = callee.type.inputs, tuple(argument.type for argument in arguments)
    if expected == given:
        return builder.operation("tt.call", *arguments, callee=callee.name, result=callee.type.results).results
    raise TypeError(f"{callee.name} takes ({', '.join(map(str, expected))}), not ({', '.join(map(str, given))})")

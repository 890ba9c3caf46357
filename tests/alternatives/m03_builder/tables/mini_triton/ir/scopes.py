class While:
    def after(self) -> Iterator[tuple[BlockArgument, ...]]:
        (block,) = self.regions[0].blocks
        forwarded = block.operations[-1].operands[1:]
        block = Block([value.type for value in forwarded])
        with region(self.builder, self.regions[1], block):
            yield (*block.arguments,)


def for_(builder: Builder, lower: Value, upper: Value, step: Value, inits: Sequence[Value] = ()) -> Iterator[For]:
    block, body = Block([value.type for value in (lower, *inits)]), Region()
    variable, *carried = block.arguments
    with region(builder, body, block):
        yield (loop := For(variable, (*carried,)))
    loop.results = builder.operation("scf.for", lower, upper, step, *inits, regions=(body,)).results


def if_(builder: Builder, condition: Value) -> Iterator[If]:
    yield (branch := If(builder))
    branch.results = builder.operation("scf.if", condition, regions=branch.regions).results


def while_(builder: Builder, inits: Sequence[Value] = ()) -> Iterator[While]:
    yield (loop := While(builder, (*inits,)))
    loop.results = builder.operation("scf.while", *loop.inits, regions=loop.regions).results


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
    names, types = [*inputs.keys()], [*inputs.values()]
    block, body = Block(types, names), Region()
    known = {name: {"tt.divisibility": value} for name, value in (divisibility or {}).items()}
    for argument in block.arguments:
        argument.attributes |= known.get(argument.name, {})
    attributes = {
        "sym_name": name,
        "function_type": FunctionType((*types,), (*results,)),
        "sym_visibility": ("private", "public")[public],
    }
    with region(builder, body, block, terminator="tt.return"):
        yield Function(name, attributes["function_type"], (*block.arguments,))
    with builder.at_end(module.regions[0].block):
        builder.operation("tt.func", regions=[body], **attributes)


def call(builder: Builder, callee: Function, *arguments: Value) -> tuple[OpResult, ...]:
    if [argument.type for argument in arguments] != [*callee.type.inputs]:
        raise TypeError(f"{callee.name} cannot be called with {[str(argument.type) for argument in arguments]}")
    return builder.operation("tt.call", *arguments, callee=callee.name, result=callee.type.results).results

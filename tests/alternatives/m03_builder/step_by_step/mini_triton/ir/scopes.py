class While:
    def after(self) -> Iterator[tuple[BlockArgument, ...]]:
        types = []
        for block in self.regions[0].blocks:
            last = block.operations[-1]
            for i in range(1, len(last.operands)):
                types.append(last.operands[i].type)
        block = Block(types)
        with region(self.builder, self.regions[1], block):
            yield tuple(block.arguments)


def for_(builder: Builder, lower: Value, upper: Value, step: Value, inits: Sequence[Value] = ()) -> Iterator[For]:
    block = Block()
    variable = block.add_argument(lower.type)
    carried = []
    for init in inits:
        carried.append(block.add_argument(init.type))
    loop = For(variable, tuple(carried))
    body = Region()
    with region(builder, body, block):
        yield loop
    operands = [lower, upper, step]
    operands.extend(inits)
    made = builder.operation("scf.for", *operands, regions=[body])
    loop.results = made.results


def if_(builder: Builder, condition: Value) -> Iterator[If]:
    branch = If(builder)
    yield branch
    made = builder.operation("scf.if", condition, regions=[branch.regions[0], branch.regions[1]])
    branch.results = made.results


def while_(builder: Builder, inits: Sequence[Value] = ()) -> Iterator[While]:
    loop = While(builder, tuple(inits))
    yield loop
    made = builder.operation("scf.while", *inits, regions=[loop.regions[0], loop.regions[1]])
    loop.results = made.results


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
    block = Block()
    for parameter in inputs:
        argument = block.add_argument(inputs[parameter], parameter)
        if divisibility is not None:
            if parameter in divisibility:
                argument.attributes["tt.divisibility"] = divisibility[parameter]
    type = FunctionType(tuple(inputs.values()), tuple(results))
    body = Region()
    built = Function(name, type, tuple(block.arguments))
    with region(builder, body, block, "tt.return"):
        yield built
    if public:
        visibility = "public"
    else:
        visibility = "private"
    with builder.at_end(module.body):
        builder.operation("tt.func", sym_name=name, function_type=type, sym_visibility=visibility, regions=[body])


def call(builder: Builder, callee: Function, *arguments: Value) -> tuple[OpResult, ...]:
    if len(arguments) != len(callee.type.inputs):
        raise TypeError("wrong number of arguments for " + callee.name)
    for i in range(len(arguments)):
        if arguments[i].type != callee.type.inputs[i]:
            raise TypeError("argument " + str(i) + " of " + callee.name + " has a wrong type")
    made = builder.operation("tt.call", *arguments, callee=callee.name, result=callee.type.results)
    return made.results

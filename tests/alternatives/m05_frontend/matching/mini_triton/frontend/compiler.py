import contextlib


def build_module(
    kernel: KernelSource,
    types: Mapping[str, dtype | pointer_type],
    constants: Mapping[str, Any],
    divisible: Collection[str],
) -> Module:
    module, place = Module(), kernel.loc(kernel.tree)
    visitor = Visitor(kernel, Builder())
    inputs = {name: types[name].ir_type for name in types}
    known = {name: to_compile_time(constexpr(constants[name])) for name in constants}
    with contextlib.ExitStack() as stack:
        stack.enter_context(building(visitor.builder))
        stack.enter_context(visitor.builder.location(place))
        name = kernel.fn.__name__
        built = stack.enter_context(function(visitor.builder, module, name, inputs, public=True))
        handles = dict(zip(types, built.arguments, strict=True))
        for name, value in (known | {name: tensor(handles[name], types[name]) for name in types}).items():
            visitor.scope.bind(name, value, place)
        finish(kernel, visitor.run(kernel.tree.body), built.arguments, divisible)
    return module

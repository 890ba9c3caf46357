class JITFunction:
    def warmup(self, *arguments: Any, grid: Any = None, **keywords: Any) -> CompiledKernel:
        make = functools.partial(self.run, grid=grid, warmup=True)
        return make(
            *[mocked(argument) for argument in arguments],
            **dict(zip(keywords, map(mocked, keywords.values()), strict=True)),
        )

    def compiled(self, values: Mapping[str, Any], options: Options) -> CompiledKernel:
        names = [parameter.name for parameter in self.parameters]
        found = [specialize(self.fn.__name__, parameter, values[parameter.name]) for parameter in self.parameters]
        for reference in filter(Reference.has_changed, self.references.values()):
            raise RuntimeError(changed(self.fn.__name__, reference))
        try:
            return self.kernels[tuple(found), options]
        except KeyError:
            given = functions_in([specialized.value for specialized in found])
            for reference in references(self, *given):
                self.references.setdefault((reference.function.fn, reference.path), reference)
        return self.kernels.setdefault(
            (tuple(found), options), self.new(dict(zip(names, found, strict=True)), values, options)
        )

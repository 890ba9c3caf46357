class JITFunction:
    def warmup(self, *arguments: Any, grid: Any = None, **keywords: Any) -> CompiledKernel:
        by_name = {name: mocked(value) for name, value in keywords.items()}
        return self.launch(COMPILE_ONLY, *map(mocked, arguments), **by_name)

    def compiled(self, values: Mapping[str, Any], options: Options) -> CompiledKernel:
        match next((reference for reference in self.references.values() if reference.has_changed()), None):
            case None:
                pass
            case reference:
                raise RuntimeError(changed(self.fn.__name__, reference))
        arguments = {p.name: specialize(self.fn.__name__, p, values[p.name]) for p in self.parameters}
        match self.kernels.get((tuple(arguments.values()), options)):
            case None:
                called = [function for argument in arguments.values() for function in functions_in(argument.value)]
                found = {(reference.function.fn, reference.path): reference for reference in references(self, *called)}
                self.references = found | self.references
                made = self.kernels[tuple(arguments.values()), options] = self.new(arguments, values, options)
                return made
            case kernel:
                return kernel

class JITFunction:
    def warmup(self, *arguments: Any, grid: Any = None, **keywords: Any) -> CompiledKernel:
        new_arguments = []
        for argument in arguments:
            new_arguments.append(mocked(argument))
        new_keywords = {}
        for name in keywords:
            new_keywords[name] = mocked(keywords[name])
        return self.run(*new_arguments, grid=(1,), warmup=True, **new_keywords)

    def compiled(self, values: Mapping[str, Any], options: Options) -> CompiledKernel:
        for name in self.references:
            if self.references[name].has_changed():
                raise RuntimeError(changed(self.fn.__name__, self.references[name]))
        arguments = {}
        for parameter in self.parameters:
            arguments[parameter.name] = specialize(self.fn.__name__, parameter, values[parameter.name])
        key = (tuple(arguments.values()), options)
        if key in self.kernels:
            return self.kernels[key]
        functions = [self]
        for argument in arguments.values():
            functions = functions + functions_in(argument.value)
        for reference in references(*functions):
            name = (reference.function.fn, reference.path)
            if name not in self.references:
                self.references[name] = reference
        kernel = self.new(arguments, values, options)
        self.kernels[key] = kernel
        return kernel

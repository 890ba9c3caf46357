import dataclasses


class JITFunction:
    def launch(self, grid: Any, /, *arguments: Any, **keywords: Any) -> CompiledKernel:
        try:
            if self.warm is not None and grid is not COMPILE_ONLY:
                if kernel := self.warm.repeat(grid, arguments, keywords):
                    return kernel
            values, given = bind(self.fn.__name__, self.parameters, arguments, keywords)
            kernel = self.find(values, dataclasses.replace(DEFAULTS, **given))
            match grid:
                case _ if grid is not COMPILE_ONLY:
                    sizes = grid_of(self.fn.__name__, grid, values)
                    kernel.launch(sizes, values)
            if kernel.launchers and grid is not COMPILE_ONLY:
                self.remember(kernel, arguments, keywords)
        except CompilationError as error:
            raise without_internals(error) from error.__cause__
        except AccessError as error:
            raise error.with_traceback(None) from None
        return kernel

    def find(self, values: Mapping[str, Any], options: Options) -> CompiledKernel:
        match next((reference for reference in self.references.values() if reference.has_changed()), None):
            case Reference() as reference:
                raise RuntimeError(explain_change(self.fn.__name__, reference))
        arguments = {p.name: specialize(self.fn.__name__, p, values[p.name]) for p in self.parameters}
        match self.kernels.get((tuple(arguments.values()), options)):
            case None:
                called = [function for argument in arguments.values() for function in functions_in(argument.value)]
                found = references(self, *called)
                for reference in found:
                    self.references[reference.function.fn, reference.path] = reference
                made = self.compile(arguments, values, options, found)
                self.kernels[tuple(arguments.values()), options] = made
                return made
            case kernel:
                return kernel

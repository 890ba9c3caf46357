"""One pass over the parameters."""


class InductorKernel:
    def launch(self, config, arguments):
        rest = iter(arguments)
        values, constants = {}, {}
        for parameter in self.function.parameters:
            if parameter.name in config.kwargs:
                constants[parameter.name] = config.kwargs[parameter.name]
            else:
                values[parameter.name] = next(rest)
        programs = inductor_private.grid_for(self.meta, config, values)
        options = {"num_warps": config.num_warps, "num_stages": config.num_stages}
        self.function[programs](**values, **constants, **options)

"""The arguments of the program, then the constants and the configuration in their places."""


class InductorKernel:
    def bind(self, config, arguments):
        names = [parameter.name for parameter in self.function.parameters]
        unset = [name for name in names if name not in config.kwargs]
        known = {**dict(zip(unset, arguments, strict=True)), **self.facts["constants"], **config.kwargs}
        return {name: known[name] for name in names}

    def launch(self, config, arguments):
        values = self.bind(config, arguments)
        programs = inductor_private.grid_for(self.meta, config, values)
        options = {"num_warps": config.num_warps, "num_stages": config.num_stages}
        self.function[programs](**values, **options)

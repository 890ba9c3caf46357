class Emitter:
    def operation(self, operation: Operation) -> None:
        def elementwise(emit: Emitter, operation: Operation) -> None:
            if (text := meaning(operation)) is None:
                raise NotImplementedError(f"no NumPy code for {operation.name}")
            emit.assign(operation.results[0], emit.expression(operation, text))

        self.handlers.get(operation.name, elementwise)(self, operation)

    def expression(self, operation: Operation, template: str) -> str:
        texts = list(map(self.text, operation.operands))
        names = {"dtype": dtype_text(operation.results[0].type), "rounding": "", **operation.attributes}
        return template.format(*texts, operands=", ".join(texts), **names)

    def lift(self, text: str, axes: Axes, rank: int) -> str:
        if PROGRAM not in axes:
            return text
        return f"np.expand_dims({text}, {tuple(range(1, rank + 1))})" if rank else text

class Emission:
    def block(self, block: Block) -> None:
        outside = self.operation_now
        try:
            for operation in filter(lambda each: each.name not in TERMINATORS, block.operations):
                self.operation_now = operation
                self.comment(operation.loc)
                self.operation(operation)
        finally:
            self.operation_now = outside

    def operation(self, operation: Operation) -> None:
        method = getattr(self, operation.name.replace(".", "_"), None)
        write = method or self.elementwise
        write(operation)

    def elementwise(self, operation: Operation) -> None:
        """An operation that has a template."""
        match expression(operation, [*map(self.text, operation.operands)]):
            case None:
                raise NotImplementedError(f"{operation.name}: neither a method nor a template writes it")
            case text:
                self.assign(operation.results[0], text)

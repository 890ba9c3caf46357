import collections


class Emission:
    def block(self, block: Block) -> None:
        def write(operation: Operation) -> None:
            self.operation_now = operation
            self.comment(operation.loc)
            self.operation(operation)

        before = self.operation_now
        collections.deque(map(write, (o for o in block.operations if o.name not in TERMINATORS)), maxlen=0)
        self.operation_now = before

    def operation(self, operation: Operation) -> None:
        method = getattr(self, operation.name.replace(".", "_"), None)

        def elementwise(operation: Operation) -> None:
            text = expression(operation, [self.text(operand) for operand in operation.operands])
            if not text:
                raise NotImplementedError(f"no NumPy code for {operation.name}")
            self.assign(operation.results[0], text)

        (method or elementwise)(operation)

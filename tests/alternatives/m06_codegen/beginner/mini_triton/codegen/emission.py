class Emission:
    def block(self, block: Block) -> None:
        saved = self.operation_now
        for operation in block.operations:
            if operation.name in TERMINATORS:
                continue
            self.operation_now = operation
            self.comment(operation.loc)
            self.operation(operation)
        self.operation_now = saved

    def operation(self, operation: Operation) -> None:
        method = getattr(self, operation.name.replace(".", "_"), None)
        if method is None:
            texts = []
            for operand in operation.operands:
                texts.append(self.text(operand))
            text = expression(operation, texts)
            if text is None:
                raise NotImplementedError("there is no line for " + operation.name)
            self.assign(operation.results[0], text)
        else:
            method(operation)

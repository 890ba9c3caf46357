class Threads:
    def register(self, value: Value, layout: Layout = SCALAR, number: int = 0) -> Register:
        number = layout.first(number)
        known = self.registers.setdefault((value, layout), {})
        if number in known:
            return known[number]
        place = value.owner.loc if isinstance(value, OpResult) else None
        with self.on(self.level_of(value), place):
            own = self.own_layout(value) or layout
            if own == layout:
                return known.setdefault(number, self.compute(value, layout, number))
            if value not in self.homes:
                computed = {}
                for other in own.distinct:
                    computed[other] = self.register(value, own, other)
                self.hold(value, own, computed)
            self.convert(value, layout)
        return self.registers[value, layout][number]

    def compute(self, value: Value, layout: Layout, number: int) -> Register:
        assert isinstance(value, OpResult)
        operation = value.owner
        if placed := PLACED.get(operation.name):
            return placed(self, operation, value.index, layout, number)
        pure = PURE.get(operation.name)
        if pure is None:
            raise Unsupported(operation)
        registers = []
        for operand in operation.operands:
            if isinstance(operand.type, TensorType):
                registers.append(self.register(operand, layout, number))
            else:
                registers.append(self.register(operand))
        return pure(self, operation, registers)

    def inline(self, block: Block, arguments: Sequence[Register]) -> list[Register]:
        found: dict[Value, Register] = {}
        found.update(zip(block.arguments, arguments, strict=True))
        for operation in block.operations[:-1]:
            name = operation.name
            if name != "arith.constant" and name not in PURE:
                raise Unsupported(operation, "inside a combination")
            if name == "arith.constant":
                found[operation.result] = self.constant(operation.result.type, operation.attributes["value"])
                continue
            given = [found.get(value) or self.register(value) for value in operation.operands]
            found[operation.result] = PURE[name](self, operation, given)
        return [found.get(value) or self.register(value) for value in block.operations[-1].operands]

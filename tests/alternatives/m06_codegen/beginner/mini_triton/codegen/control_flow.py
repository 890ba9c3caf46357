class ControlFlow:
    def uniform_for(self, operation: Operation) -> None:
        block = operation.regions[0].block
        variable, *carried = block.arguments
        bounds = [self.text(bound) for bound in operation.operands[:3]]
        counter = self.fresh("counter")
        name = self.name(variable)
        with self.indented("for " + counter + " in range(" + bounds[0] + ", " + bounds[1] + ", " + bounds[2] + "):"):
            self.write(name + " = " + self.dtype(variable) + "(" + counter + ")")
            self.block(block)
            self.pass_on(carried, end_of(block))

    def divergent_for(self, operation: Operation) -> None:
        block = operation.regions[0].block
        variable, *carried = block.arguments
        lower, upper, step = operation.operands[:3]
        outer = self.active
        name = self.name(variable)
        rounds = self.fresh("rounds")
        running = self.fresh("running")
        trips = self.fresh("trips")
        bounds = [self.text(lower), self.text(upper), self.text(step)]
        self.write(trips + " = loops.trips(" + ", ".join(bounds) + ")")
        self.write(rounds + " = " + self.dtype(variable) + "(0)")
        with self.indented("while True:"):
            self.write(name + " = " + self.text(lower) + " + " + rounds + " * " + self.text(step))
            condition = rounds + " < " + trips
            if outer != "":
                condition = outer + " & (" + condition + ")"
            self.write(running + " = " + condition)
            with self.indented("if not np.any(" + running + "):"):
                self.write("break")
            self.active = running
            self.block(block)
            self.pass_on(carried, end_of(block), running)
            self.active = outer
            self.write(rounds + " = " + rounds + " + " + self.dtype(variable) + "(1)")

    def divergent_while(self, before: Block, after: Block) -> None:
        condition, *forwarded = end_of(before)
        outer, self.active = self.active, self.fresh("running")
        self.zeros(after.arguments)
        self.write(f"{self.active} = {outer or 'np.ones(P, bool)'}")
        running = self.active
        with self.indented("while True:"):
            self.block(before)
            self.pass_on(after.arguments, forwarded, running)
            self.write(running + " = " + running + " & " + self.text(condition))
            with self.indented("if np.sum(" + running + ") == 0:"):
                self.write("break")
            self.block(after)
            self.pass_on(before.arguments, end_of(after), running)
        self.active = outer

    def divergent_if(self, condition: str, blocks: Sequence[Block], results: Sequence[Value]) -> None:
        outer = self.active
        self.zeros(results)
        taken = self.fresh("taken")
        self.write(taken + " = " + condition)
        if outer != "":
            self.write(taken + " = " + outer + " & " + taken)
        self.active = taken
        with self.indented("if np.any(" + taken + "):"):
            self.block(blocks[0])
            self.pass_on(results, end_of(blocks[0]), taken)
        if len(blocks) == 2:
            left = self.fresh("left")
            if outer == "":
                self.write(left + " = ~" + taken)
            else:
                self.write(left + " = " + outer + " & ~" + taken)
            self.active = left
            with self.indented("if np.any(" + left + "):"):
                self.block(blocks[1])
                self.pass_on(results, end_of(blocks[1]), left)
        self.active = outer

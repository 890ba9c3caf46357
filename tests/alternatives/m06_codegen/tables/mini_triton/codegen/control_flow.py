class ControlFlow:
    def uniform_for(self, operation: Operation) -> None:
        block = operation.regions[0].block
        variable, *carried = block.arguments
        bounds = [self.text(bound) for bound in operation.operands[:3]]
        names = {"i": self.fresh("index"), "v": self.name(variable), "t": self.dtype(variable)}
        with self.indented("for {i} in range({}, {}, {}):".format(*bounds, **names)):
            self.write("{v} = {t}({i})".format(**names))
            self.block(block)
            self.pass_on(carried, end_of(block))

    def divergent_for(self, operation: Operation) -> None:
        block = operation.regions[0].block
        variable, *carried = block.arguments
        lower, upper, step = operation.operands[:3]
        names = {
            "trips": self.fresh("trips"),
            "round": self.fresh("round"),
            "running": self.fresh("running"),
            "variable": self.name(variable),
            "type": self.dtype(variable),
            "lower": self.text(lower),
            "upper": self.text(upper),
            "step": self.text(step),
        }
        outer = self.active
        self.write("{trips} = loops.trips({lower}, {upper}, {step})".format(**names))
        with self.indented("for {round} in itertools.count():".format(**names)):
            self.write("{variable} = {lower} + {type}({round}) * {step}".format(**names))
            self.write("{running} = {}".format(self.both(outer, "({round} < {trips})".format(**names)), **names))
            with self.indented("if not {running}.any():".format(**names)):
                self.write("break")
            self.active = names["running"]
            self.block(block)
            self.pass_on(carried, end_of(block), only=self.active)
        self.active = outer

    def divergent_while(self, before: Block, after: Block) -> None:
        condition, *forwarded = end_of(before)
        outer, self.active = self.active, self.fresh("running")
        self.zeros(after.arguments)
        self.write(f"{self.active} = {outer or 'np.ones(P, bool)'}")
        names = {"running": self.active}
        with self.indented("while True:"):
            self.block(before)
            self.pass_on(after.arguments, forwarded, only=names["running"])
            names["condition"] = self.text(condition)
            self.write("{running} = {running} & {condition}".format(**names))
            with self.indented("if not {running}.any():".format(**names)):
                self.write("break")
            self.block(after)
            self.pass_on(before.arguments, end_of(after), only=names["running"])
        self.active = outer

    def divergent_if(self, condition: str, blocks: Sequence[Block], results: Sequence[Value]) -> None:
        outer = self.active
        self.zeros(results)
        ways = dict(zip((self.fresh("yes"), self.fresh("no")), ((condition, 0), (f"~{condition}", 1)), strict=True))
        for way, (taken, number) in list(ways.items())[: len(blocks)]:
            self.write(f"{way} = {self.both(outer, taken)}")
            self.active = way
            with self.indented(f"if {way}.any():"):
                self.block(blocks[number])
                self.pass_on(results, end_of(blocks[number]), only=way)
        self.active = outer

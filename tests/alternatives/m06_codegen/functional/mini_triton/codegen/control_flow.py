import collections
import functools


class ControlFlow:
    def uniform_for(self, operation: Operation) -> None:
        block = operation.regions[0].block
        variable, *carried = block.arguments
        bounds = [self.text(bound) for bound in operation.operands[:3]]
        number = self.fresh(f"{self.name(variable)}_number")
        with self.indented(f"for {number} in range({', '.join(bounds)}):"):
            self.write(f"{self.name(variable)} = np.asarray({number}).astype({self.dtype(variable)})[()]")
            self.block(block)
            self.pass_on(carried, end_of(block))

    def divergent_for(self, operation: Operation) -> None:
        block = operation.regions[0].block
        variable, *carried = block.arguments
        lower, upper, step = operation.operands[:3]
        trips, rounds, running = map(self.fresh, ("trips", "rounds", "running"))
        outer, self.active = self.active, running
        start, end, by, dtype = *map(self.text, (lower, upper, step)), self.dtype(variable)
        self.write(f"{trips} = loops.trips({start}, {end}, {by})")
        with self.indented(f"for {rounds} in itertools.count():"):
            self.write(f"{self.name(variable)} = {start} + {dtype}({rounds}) * {by}")
            self.write(f"{running} = {self.both(f'({trips} > {rounds})', outer)}")
            with self.indented(f"if not np.any({running}):"):
                self.write("break")
            self.block(block)
            self.pass_on(carried, end_of(block), only=running)
        self.active = outer

    def divergent_while(self, before: Block, after: Block) -> None:
        condition, *forwarded = end_of(before)
        outer, self.active = self.active, self.fresh("running")
        self.zeros(after.arguments)
        self.write(f"{self.active} = {outer or 'np.ones(P, bool)'}")
        running = self.active
        pass_on = functools.partial(self.pass_on, only=running)
        with self.indented("while True:"):
            self.block(before)
            pass_on(after.arguments, forwarded)
            self.write(f"{running} = np.logical_and({self.text(condition)}, {running})")
            with self.indented(f"if not {running}.any():"):
                self.write("break")
            self.block(after)
            pass_on(before.arguments, end_of(after))
        self.active = outer

    def divergent_if(self, condition: str, blocks: Sequence[Block], results: Sequence[Value]) -> None:
        outer = self.active
        self.zeros(results)

        def way(block: Block, mask: str, wish: str) -> None:
            self.active = self.fresh(wish)
            self.write(f"{self.active} = {self.both(mask, outer)}")
            with self.indented(f"if {self.active}.any():"):
                self.block(block)
                self.pass_on(results, end_of(block), self.active)

        collections.deque(map(way, blocks, (condition, f"~{condition}"), ("yes", "no")), maxlen=0)
        self.active = outer

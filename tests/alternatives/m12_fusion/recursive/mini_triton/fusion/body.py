"""`try` and `finally` put the condition aside; levels are computed by recursion."""


class Body:
    def reduced(self, tensor):
        step = elements_in(self.space, tensor.source)
        outside, self.condition = self.condition, None
        try:
            element = self.value(tensor.source, step)
        finally:
            self.condition = outside
        kept = Line("reduce", (element.number,), computed_in(tensor.dtype), tensor.kind, tensor.place_in_row(step))
        return self.add(kept)

    def levels(self):
        known = {}

        def level(number):
            if number not in known:
                line = self.lines[number]
                known[number] = max(map(level, line.needed), default=0) + int(line.op == "reduce")
            return known[number]

        return list(map(level, range(len(self.lines))))

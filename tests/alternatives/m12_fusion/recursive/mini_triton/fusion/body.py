"""The condition is put aside by `try` and `finally`."""


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

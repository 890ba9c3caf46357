"""Both operands by one loop."""


class ProductWriter:
    def write_step(self, ka, kb, high, wide):
        *batch, m, n = self.space.coordinates
        first, second = self.product.inputs
        for name, tensor, index, axes, blocks in (
            ("a", first, (m, ka), (high, "ka"), "MK"),
            ("b", second, (kb, n), ("kb", wide), "KN"),
        ):
            named = f"BLOCK_{blocks[0]}", f"BLOCK_{blocks[1]}"
            self.put(f"{name} = {self.operand_tile(tensor, (*batch, *index), axes, named)}")
        self.put(f"total += tl.dot(a, b, input_precision={precision_of(self.product)!r})")

    def tile_text(self, number, dtype, axes, blocks):
        text = f"{self.name(number)}.broadcast_to({blocks[0]}, {blocks[1]})"
        for axis in {"ka", "kb"}.intersection(axes) - self.full:
            text = f"tl.where({axis}_inside, {text}, 0)"
        return f"({text}).to({spell(dtype)})"

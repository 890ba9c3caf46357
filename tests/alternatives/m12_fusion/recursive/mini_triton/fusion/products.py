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

    def operand_tile(self, tensor, index, axes, blocks):
        letters = [block.lower()[-1] for block in blocks]
        with self.operand_body("".join(letters)) as body:
            number = body.value(tensor, index).number
            return self.tile_text(number, tensor, axes, blocks)

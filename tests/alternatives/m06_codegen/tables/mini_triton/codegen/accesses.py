class Accesses:
    def mask(self, values: Sequence[Value], mask: Value | None) -> str:
        text = self.text(mask) if mask is not None else ""
        if not self.active:
            return text
        vary = any(map(self.varies, values))
        active = self.lifted(self.active, ALL_PROGRAMS, len(shape_of(values[0].type)))
        return {
            (False, False): "",
            (False, True): active,
            (True, False): text,
            (True, True): f"({text}) & {active}",
        }[bool(text), vary]

    def tt_load(self, operation: Operation) -> None:
        pointer, *rest = operation.operands
        mask, other = (*rest, None, None)[:2]
        words = {
            "buffer": self.buffer(pointer),
            "offset": self.text(pointer),
            "mask": self.mask([pointer, mask] if mask else [pointer], mask),
            "other": other and f"other={self.text(other)}",
        }
        text = ", ".join(word for word in words.values() if word)
        self.assign(operation.results[0], f"{self.library(pointer)}.load({text})")

    def tt_store(self, operation: Operation) -> None:
        pointer, value, *rest = operation.operands
        words = {
            "buffer": self.buffer(pointer),
            "offset": self.text(pointer),
            "value": self.text(value),
            "mask": self.mask(operation.operands, rest[0] if rest else None),
        }
        text = ", ".join(word for word in words.values() if word)
        self.write(f"{self.library(pointer)}.store({text})")

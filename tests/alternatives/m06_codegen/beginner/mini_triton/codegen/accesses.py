class Accesses:
    def mask(self, values: Sequence[Value], mask: Value | None) -> str:
        text = self.text(mask) if mask is not None else ""
        if not self.active:
            return text
        all_the_same = True
        for value in values:
            if self.varies(value):
                all_the_same = False
        if all_the_same:
            return text
        rank = len(shape_of(values[0].type))
        active = self.lifted(self.active, ALL_PROGRAMS, rank)
        if text == "":
            return active
        return text + " & " + active

    def tt_load(self, operation: Operation) -> None:
        pointer, *rest = operation.operands
        mask_value = None
        other_value = None
        if len(rest) >= 1:
            mask_value = rest[0]
        if len(rest) >= 2:
            other_value = rest[1]
        deciding = [pointer]
        if mask_value is not None:
            deciding.append(mask_value)
        text = self.library(pointer) + ".load(" + self.buffer(pointer) + ", " + self.text(pointer)
        mask = self.mask(deciding, mask_value)
        if mask != "":
            text = text + ", " + mask
        if other_value is not None:
            text = text + ", other=" + self.text(other_value)
        self.assign(operation.results[0], text + ")")

    def tt_store(self, operation: Operation) -> None:
        pointer, value, *rest = operation.operands
        mask_value = None
        deciding = [pointer, value]
        if len(rest) >= 1:
            mask_value = rest[0]
            deciding.append(mask_value)
        text = self.library(pointer) + ".store(" + self.buffer(pointer) + ", " + self.text(pointer)
        text = text + ", " + self.text(value)
        mask = self.mask(deciding, mask_value)
        if mask != "":
            text = text + ", " + mask
        self.write(text + ")")

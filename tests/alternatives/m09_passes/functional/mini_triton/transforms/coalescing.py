class Access:
    def bytes(self) -> int:
        elements = 1
        while 2 * elements <= min(self.limits) and 2 * elements * self.element <= WIDEST:
            elements *= 2
        return elements * self.element


def limits(operation: Operation, analysis: AxisAnalysis, axis: int, threads: int) -> Limits:
    pointers, mask = operation.operands[0], mask_of(operation)
    facts = analysis[pointers][axis]
    same = pointers.type.shape[axis] if mask is None else analysis[mask][axis].constancy
    aligned, each = facts.divisibility // unit_of(pointers.type), pointers.type.numel // threads
    return Limits(facts.contiguity, aligned or 1, each or 1, same)

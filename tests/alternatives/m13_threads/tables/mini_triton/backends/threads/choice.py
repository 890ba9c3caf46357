from functools import partial

from mini_triton.backends.threads.layouts import LANE_BITS


class Choice:
    def of_access(self, operation: Operation) -> Layout:
        access = self.accesses.get(operation)
        if not access:
            return self.default(operation.operands[0].type)
        return beginning_with(access.axis, operation, self.elements(access), self.warps)

    def elements(self, access: Access) -> int:
        is_store = access.operation.name == "tt.store"
        counted = [access] if is_store else filter(partial(are_alike, access), self.accesses.values())
        return max(each.bytes // each.element for each in counted)

    def of_scan(self, operation: Operation) -> Layout:
        axis = operation.attributes["axis"]
        shape = operation.operands[0].type.shape
        size = shape[axis] >> LANE_BITS
        if shape == (shape[axis],):
            size //= self.warps
        return beginning_with(axis, operation, size or 1, self.warps)


def beginning_with(axis: int, operation: Operation, size: int, warps: int) -> Layout:
    """Threads lie along one axis first, with `size` neighbors each, and then along the others, from the last."""
    shape = operation.operands[0].type.shape
    order = sorted(range(len(shape)), key=lambda other: (other != axis, -other))
    return blocked(shape, order, {axis: size}, warps)


def are_alike(one: Access, other: Access) -> bool:
    """Whether two accesses are to tensors of the same shape, with threads along the same axis."""
    shapes = [access.operation.operands[0].type.shape for access in (one, other)]
    return shapes[0] == shapes[1] and one.axis == other.axis

np.empty(2**24, np.uint8)  # freed at once: from now on glibc keeps freed blocks of this size instead of returning them


def waits(function: Operation) -> bool:
    for operation in function.walk():
        if operation.name != "scf.while":
            continue
        for inside in operation.regions[0].block.operations:
            for each in inside.walk():
                if each.name == "tt.load":
                    return True
                if each.name == "tt.atomic_rmw" or each.name == "tt.atomic_cas":
                    return True
    return False


class NumpyKernel:
    def most(self) -> int:
        if self.largest > CHUNK:
            return 1
        return CHUNK // max(self.largest, 1)

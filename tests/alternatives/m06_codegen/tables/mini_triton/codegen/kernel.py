np.empty(2**24, np.uint8)  # freed at once: from now on glibc keeps freed blocks of this size instead of returning them


def waits(function: Operation) -> bool:
    looking = {"tt.load", "tt.atomic_rmw", "tt.atomic_cas"}
    conditions = [operation.regions[0].block for operation in function.walk() if operation.name == "scf.while"]
    names = {inside.name for block in conditions for operation in block.operations for inside in operation.walk()}
    return not looking.isdisjoint(names)


class NumpyKernel:
    def most(self) -> int:
        return {True: 1, False: CHUNK // (self.largest or 1)}[self.largest > CHUNK]

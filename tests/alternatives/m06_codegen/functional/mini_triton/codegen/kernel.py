np.empty(2**24, np.uint8)  # freed at once: from now on glibc keeps freed blocks of this size instead of returning them


def waits(function: Operation) -> bool:
    return any(
        each.name in ("tt.load", "tt.atomic_cas", "tt.atomic_rmw")
        for loop in function.walk()
        if loop.name == "scf.while"
        for top in loop.regions[0].block.operations
        for each in top.walk()
    )


class NumpyKernel:
    def most(self) -> int:
        return next(filter(None, (CHUNK // max(1, self.largest), 1)))

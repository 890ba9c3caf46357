class Values:
    def lifted(self, text: str, axes: Axes, rank: int) -> str:
        if PROGRAM not in axes:
            return text
        if rank == 0:
            return text
        keys = ":"
        for _ in range(rank):
            keys = keys + ", None"
        return text + "[" + keys + "]"

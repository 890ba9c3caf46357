class Values:
    def lifted(self, text: str, axes: Axes, rank: int) -> str:
        if PROGRAM not in axes:
            return text
        return f"np.expand_dims({text}, {tuple(range(1, rank + 1))})" if rank else text

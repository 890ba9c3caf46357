class Values:
    def lifted(self, text: str, axes: Axes, rank: int) -> str:
        if PROGRAM not in axes:
            return text
        return {0: text}.get(rank, f"{text}[{', '.join([':', *['None'] * rank])}]")

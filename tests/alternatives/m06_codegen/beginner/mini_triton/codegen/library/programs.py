class Programs:
    def id(self, axis: int) -> Array:
        numbers = np.arange(self.first, self.last)
        x, y, _ = self.grid
        if axis == 0:
            numbers = numbers % x
        elif axis == 1:
            numbers = numbers // x % y
        else:
            numbers = numbers // (x * y)
        return numbers.astype(np.int32)

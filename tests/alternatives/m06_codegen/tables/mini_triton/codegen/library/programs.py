class Programs:
    def id(self, axis: int) -> Array:
        x, y, z = self.grid
        table = np.indices((z, y, x), dtype=np.int32)[::-1] if self.first == 0 and len(self) == x * y * z else None
        if table is not None:
            return table[axis].ravel()
        places = np.unravel_index(np.arange(self.first, self.last), (z, y, x))
        return places[2 - axis].astype(np.int32)

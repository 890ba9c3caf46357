class Box:
    def lazily(self, ufunc: np.ufunc, x: Any, y: Any) -> Array | None:
        if ufunc is not np.bitwise_and:
            return None
        for box, other in ((x, y), (y, x)):
            if isinstance(box, Box) and box.is_full() and common(box.shape, np.shape(other)) == np.shape(other):
                return other
        a, b = Box.of(x), Box.of(y)
        if a is None or b is None:
            return None
        shape = common(a.shape, b.shape)
        a, b = a.broadcast_to(shape), b.broadcast_to(shape)
        if not (isinstance(a, Box) and isinstance(b, Box)):
            return None
        ranges = []
        for axis in range(len(shape)):
            begin = max(a.ranges[axis][0], b.ranges[axis][0])
            end = min(a.ranges[axis][1], b.ranges[axis][1])
            if begin >= end:
                begin = 0
                end = 0
            ranges.append((begin, end))
        if a.rows is None:
            rows = b.rows
        elif b.rows is None:
            rows = a.rows
        else:
            rows = a.rows & b.rows
        return Box(tuple(ranges), shape, rows)

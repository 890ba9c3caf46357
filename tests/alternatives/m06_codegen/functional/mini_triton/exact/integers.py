def remsi(x: Array, y: Array) -> Array:
    return x - y * divsi(x, y)


def shrsi(x: Array, y: Array) -> Array:
    return ~np.right_shift(~x, y)
